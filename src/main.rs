//! The `iophase` program.
fn main() {}
