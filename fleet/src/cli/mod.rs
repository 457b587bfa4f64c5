//! The command line: arguments to runs and questions, errors to exit codes.

mod output;
mod run;

use std::path::PathBuf;
use std::process::ExitCode;

use chrono::{DateTime, Utc};
use clap::{Args, Parser, Subcommand, ValueHint};

use iophase::Result;
#[cfg(feature = "cluster")]
use iophase_fleet::cluster;
use iophase_fleet::query::{self, Engine, Format};
use iophase_fleet::{batch, convert, forecast, make_logs, page, regressions, tables, worker};

/// Reads many I/O logs into Parquet tables, and answers questions over all of them.
#[derive(Debug, Parser)]
#[command(name = "iophase-fleet", bin_name = "iophase fleet", version, about, max_term_width = 110, after_help = HELP)]
#[command(args_conflicts_with_subcommands = true, arg_required_else_help = true)]
struct Cli {
    /// Queries and exports of a fleet that exists
    #[command(subcommand)]
    command: Option<Command>,
    /// Logs
    #[command(flatten)]
    run: run::RunArgs,
}

const HELP: &str = "Run again with the same output, only logs that are new are read.
Exit codes: 0 done, 2 wrong usage, 3 a log cannot be read (it has a row with the reason) or the run cannot go on (an error says why), 4 nothing to read, 5 an output cannot be written.
Example: iophase fleet logs/ -o fleet/ && iophase fleet page fleet/ -o fleet.html";

#[derive(Debug, Subcommand)]
enum Command {
    /// Reads logs into a fleet, as without a command
    Run(run::RunArgs),
    /// SQL over the tables logs, signals, periods, bursts, minutes, layers, files, findings, patterns
    Sql {
        /// Folder of the fleet
        #[arg(value_hint = ValueHint::DirPath)]
        fleet: PathBuf,
        /// The query; `@FILE` reads it from a file
        query: String,
        #[command(flatten)]
        form: Form,
        #[command(flatten)]
        engine: Engine,
    },
    /// A question that has a name
    Ask {
        /// Name of the question
        #[arg(required_unless_present = "list")]
        name: Option<String>,
        /// Folder of the fleet
        #[arg(required_unless_present = "list", value_hint = ValueHint::DirPath)]
        fleet: Option<PathBuf>,
        /// List the questions
        #[arg(long)]
        list: bool,
        /// Show the SQL instead of the answer
        #[arg(long)]
        show: bool,
        #[command(flatten)]
        form: Form,
        #[command(flatten)]
        engine: Engine,
    },
    /// The fleet as one HTML page
    Page {
        /// Folder of the fleet
        #[arg(value_hint = ValueHint::DirPath)]
        fleet: PathBuf,
        /// The page; `-` is standard output
        #[arg(short, long, default_value = "fleet.html", value_hint = ValueHint::FilePath)]
        output: PathBuf,
        /// Only jobs that started then or later: 2026-01-31, or 2026-01-31T12:00:00Z
        #[arg(long, value_name = "TIME", value_parser = run::time)]
        from: Option<DateTime<Utc>>,
        /// Only jobs that started before
        #[arg(long, value_name = "TIME", value_parser = run::time)]
        until: Option<DateTime<Utc>>,
        /// Show who ran jobs
        #[arg(long)]
        with_user: bool,
        #[command(flatten)]
        engine: Engine,
    },
    /// I/O that is expected of jobs that run now, by minute
    Forecast(forecast::Arguments),
    /// Runs that got worse: the last ones of each application, user and size against those before
    Regressions(regressions::Arguments),
    /// Few large files in place of those of every batch
    Compact {
        /// Folder of the fleet
        #[arg(value_hint = ValueHint::DirPath)]
        fleet: PathBuf,
        /// Seconds for which files that are no longer part of the fleet stay, for queries that run
        #[arg(long, default_value_t = 600.0, value_name = "SECONDS")]
        grace: f64,
        /// Delete the rows of jobs that started more days ago
        #[arg(long, value_name = "DAYS")]
        keep_days: Option<u32>,
    },
    /// A fleet of an earlier form becomes one of Delta tables; its files stay
    Convert {
        /// Folder of the fleet
        #[arg(value_hint = ValueHint::DirPath)]
        fleet: PathBuf,
    },
    /// The tables and their columns
    Schema {
        /// One table only
        table: Option<String>,
    },
    /// Many Darshan logs made of few, with known identity and damage
    MakeLogs(make_logs::Arguments),
    /// The scheduler of a cluster
    #[cfg(feature = "cluster")]
    Scheduler(cluster::SchedulerArguments),
    /// A machine of a cluster: reads logs for runs with --scheduler
    #[cfg(feature = "cluster")]
    Executor(cluster::ExecutorArguments),
    /// Reads logs for a driver; not for people
    #[command(hide = true)]
    Worker,
}

/// Form of an answer.
#[derive(Debug, Args)]
struct Form {
    /// Form of the answer
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
    /// File of the answer; standard output if it is not given
    #[arg(short, long, value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,
}

/// Runs the program on the arguments of the process.
pub fn run() -> ExitCode {
    let cli = Cli::parse();
    let done = match &cli.command {
        None => run::run(&cli.run),
        Some(Command::Run(arguments)) => run::run(arguments),
        Some(command) => answer(command).map(|()| 0),
    };
    ExitCode::from(done.unwrap_or_else(|e| {
        output::error(&e);
        e.exit_code()
    }))
}

fn answer(command: &Command) -> Result<()> {
    match command {
        Command::Sql { fleet, query, form, engine } => {
            let sql = match query.strip_prefix('@') {
                Some(path) => query::read_sql(path.as_ref())?,
                None => query.clone(),
            };
            output::answer(&engine.open(fleet)?.sql(&sql)?, form)
        }
        Command::Ask { list: true, .. } => output::print(&output::questions()),
        Command::Ask { name, fleet, show, form, engine, .. } => {
            let question = query::question(name.as_deref().unwrap_or_default())?;
            if *show {
                return output::print(question.sql);
            }
            let fleet = fleet.clone().unwrap_or_default();
            output::answer(&engine.open(&fleet)?.sql(question.sql)?, form)
        }
        Command::Page { fleet, output, from, until, with_user, engine } => {
            output::file(output, &page::page(&engine.open(fleet)?, fleet, (*from, *until), *with_user)?)
        }
        Command::Forecast(a) => output::print(&forecast::run(a)?),
        Command::Regressions(a) => output::print(&regressions::run(a)?),
        Command::Convert { fleet } => {
            let batches = convert::convert(fleet)?;
            output::message(&format!("{batches} batches converted"));
            Ok(())
        }
        Command::Compact { fleet, grace, keep_days } => {
            let since = keep_days.map(|days| Utc::now() - chrono::Duration::days(days.into()));
            let (before, after) = batch::compact(fleet, *grace, since, batch::FILE_BYTES)?;
            output::message(&format!("{before} files before, {after} now"));
            Ok(())
        }
        Command::Schema { table } => output::print(&output::schema(&tables::all(), table.as_deref())?),
        Command::MakeLogs(a) => make_logs::run(a).map(|n| output::message(&format!("{n} logs in {}", a.out.display()))),
        #[cfg(feature = "cluster")]
        Command::Scheduler(a) => cluster::scheduler(a),
        #[cfg(feature = "cluster")]
        Command::Executor(a) => cluster::executor(a),
        Command::Worker => worker::run(),
        Command::Run(_) => Ok(()),
    }
}

/// Whether an error is of writing to a reader that is gone, which is no failure.
fn is_gone(e: &std::io::Error) -> bool {
    e.kind() == std::io::ErrorKind::BrokenPipe
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn definition_is_sound() {
        Cli::command().debug_assert();
        assert_eq!(query::question("x").unwrap_err().exit_code(), 2);
    }
}
