//! The `iophase` program.

fn main() -> std::process::ExitCode {
    iophase::cli::run()
}
