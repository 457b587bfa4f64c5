//! The definition of the command line with its help: what most need on one screen, all options behind `--help-all`.

use clap::{Arg, ArgAction, Command, CommandFactory};
use serde_json::{Value, json};

use super::args::Cli;

/// Options that only `--help-all` lists, in every command. Commands below another one have options of their own.
const RARE: [&str; 31] = [
    "si",
    "max_memory",
    "metric",
    "pattern",
    "pattern_file",
    "io_names",
    "bytes_arg",
    "kind",
    "unit",
    "time_unit",
    "row_stamp",
    "sep",
    "time_step",
    "threads",
    "all_files",
    "exact_names",
    "size",
    "sampling_rate",
    "sampling",
    "detector",
    "tolerance",
    "components",
    "fourier_fit",
    "filter",
    "cutoff",
    "order",
    "wavelet",
    "level",
    "scores",
    "stripe",
    "all_remedies",
];

/// Help of a command beside its arguments: options that only `--help-all` lists, and two examples.
struct Page {
    command: &'static str,
    rare: &'static [&'static str],
    examples: [&'static str; 2],
}

const PAGES: &[Page] = &[
    Page { command: "overview", rare: &[], examples: ["iophase job.darshan", "iophase logs/ -r"] },
    Page {
        command: "analyze",
        rare: &["figure", "fields"],
        examples: ["iophase analyze job.darshan --svg figures", "iophase analyze -r logs --csv periods.csv -q"],
    },
    Page {
        command: "patterns",
        rare: &["window", "max_age"],
        examples: ["iophase patterns job.darshan --ranks 0-3", "iophase patterns job.st --next 5"],
    },
    Page {
        command: "dfg",
        rare: &["path_levels", "alias", "events", "color", "timeline", "max_nodes", "by"],
        examples: [
            "iophase dfg job.st --match '^/scratch' --svg graph.svg",
            "iophase dfg run1 run2 --green run1 --red run2",
        ],
    },
    Page {
        command: "classify",
        rare: &["window", "stripe"],
        examples: ["iophase classify job.darshan --svg figures", "iophase classify --train run1 run2 -o model.json"],
    },
    Page {
        command: "findings",
        rare: &["set", "ignore"],
        examples: ["iophase findings job.darshan", "iophase findings job.darshan --mtbf 24h --fail-on warning"],
    },
    Page {
        command: "compare",
        rare: &[],
        examples: [
            "iophase compare before.darshan after.darshan",
            "iophase compare old.darshan new.darshan --fail-if 'slower>10%'",
        ],
    },
    Page {
        command: "report",
        rare: &["set", "only", "ignore", "stamp", "max_size", "min_period", "config", "mtbf"],
        examples: ["iophase report job.darshan -o job.html", "iophase report -r logs -o pages"],
    },
    Page { command: "explain", rare: &[], examples: ["iophase explain IOP-POSIX-002", "iophase explain"] },
    Page {
        command: "predict",
        rare: &["change", "allow_remote", "max_jobs", "max_message", "max_rate", "queue", "follow", "min_period"],
        examples: ["iophase predict run.jsonl --state run.state", "iophase predict zmq://127.0.0.1:5555"],
    },
    Page {
        command: "watch",
        rare: &["min_period", "by_process"],
        examples: ["iophase watch -- ./program input", "iophase watch --pid 4711 -o samples.jsonl"],
    },
    Page {
        command: "info",
        rare: &[],
        examples: ["iophase info job.darshan", "iophase info -r logs --json info.jsonl"],
    },
    Page {
        command: "generate",
        rare: &[],
        examples: [
            "iophase generate checkpoint --period 12 -o trace.csv --truth truth.json",
            "iophase generate ior --help",
        ],
    },
    Page {
        command: "convert",
        rare: &["input_order"],
        examples: ["iophase convert job.darshan -o job.csv", "iophase convert job.st -o part.msgpack --ranks 0-3"],
    },
    Page {
        command: "serve",
        rare: &["change", "max_body", "max_jobs", "min_period"],
        examples: ["iophase serve", "curl --data-binary @run.darshan http://127.0.0.1:8642/api/analyze"],
    },
];

/// The definition of the command line; the whole also shows the values of options.
pub(super) fn definition(whole: bool) -> Command {
    with_help(Cli::command(), whole, true)
}

/// `--help` without rare options, and `--help-all` with them, for a command and those below it; `common`: it has the options of
/// all commands.
fn with_help(command: Command, whole: bool, common: bool) -> Command {
    let page = PAGES.iter().find(|p| p.command == command.get_name());
    let is_rare = |id: &str| (common && RARE.contains(&id)) || page.is_some_and(|p| p.rare.contains(&id));
    let short = |a: Arg| match a.get_id().as_str() {
        // alone under their headings
        "columns" => a.help_heading("Input"),
        "method" => a.help_heading(None).hide_possible_values(true),
        "mode" | "layer" | "classifier" => a.hide_possible_values(true),
        _ => a,
    };
    let shown = |a: Arg| {
        let hidden = is_rare(a.get_id().as_str());
        let a = if whole || !common { a } else { short(a) };
        if hidden { a.hide_short_help(true) } else { a }
    };
    let flag = |name: &'static str| Arg::new(name).long(name).help_heading("Output");
    let is_root = command.get_name() == "iophase";
    // `fleet` hands its arguments on
    let below = |c: Command| if c.is_disable_help_flag_set() { c } else { with_help(c, whole, is_root) };
    let command = command.mut_subcommands(below);
    let command = match page.map(|p| p.examples) {
        Some([first, second]) => {
            let examples = format!("Examples:\n  {first}\n  {second}");
            let notes = command.get_after_long_help().or(command.get_after_help());
            let long = notes.map_or_else(|| examples.clone(), |notes| format!("{examples}\n\n{notes}"));
            command.after_help(examples).after_long_help(long)
        }
        None => command,
    };
    command
        .mut_args(shown)
        .disable_help_flag(true)
        .arg(flag("help").short('h').action(ArgAction::HelpShort).help("Print help"))
        .arg(flag("help-all").action(ArgAction::HelpLong).help("Print help with all options"))
}

/// The options of a command, or of the program, with their help, defaults and values, and the commands below it; `None` if there is no
/// such command.
pub fn options(command: &str) -> Option<Value> {
    let mut all = Cli::command();
    all.build();
    let found = command.split_whitespace().try_fold(&all, |c, word| c.find_subcommand(word))?;
    let option = |a: &Arg| {
        let values: Vec<Value> = (a.get_possible_values().iter())
            .map(|v| json!([v.get_name(), v.get_help().map(ToString::to_string)]))
            .collect();
        json!({
            "name": a.get_long(),
            "help": a.get_help().map(ToString::to_string),
            "heading": a.get_help_heading(),
            "default": a.get_default_values().iter().map(|d| d.to_string_lossy()).collect::<Vec<_>>(),
            "value": a.get_value_names().and_then(|n| n.first()).map(ToString::to_string),
            "values": values,
            "flag": matches!(a.get_action(), ArgAction::SetTrue),
            "several": matches!(a.get_action(), ArgAction::Append) || a.get_value_delimiter().is_some(),
        })
    };
    let about = found.get_about().map(ToString::to_string);
    let options: Vec<Value> = found.get_arguments().filter(|a| a.get_long().is_some()).map(option).collect();
    let commands: Vec<&str> = found.get_subcommands().map(Command::get_name).collect();
    Some(json!({ "about": about, "options": options, "commands": commands }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines of a screen.
    const SCREEN: usize = 40;

    #[test]
    fn help_fits_a_screen_and_names_what_is_there() {
        let mut root = definition(false);
        root.build();
        for page in PAGES {
            let Some(command) = root.find_subcommand_mut(page.command) else { continue };
            let help = command.render_help().to_string();
            let lines = help.lines().count();
            assert!(lines <= SCREEN, "help of {} has {lines} lines:\n{help}", page.command);
            for id in page.rare {
                assert!(command.get_arguments().any(|a| a.get_id() == id), "{} has no option {id}", page.command);
            }
        }
    }

    #[test]
    fn commands_below_others_have_help() {
        let mut root = definition(false);
        root.build();
        let generate = root.find_subcommand_mut("generate").unwrap();
        let help = generate.find_subcommand_mut("checkpoint").unwrap().render_help().to_string();
        assert!(help.contains("--help-all") && help.contains("--period"), "{help}");
    }

    #[test]
    fn every_command_has_examples() {
        let root = definition(true);
        let named = |name: &str| PAGES.iter().any(|p| p.command == name);
        let without = ["schema", "completions", "man", "fleet"];
        for c in root.get_subcommands().filter(|c| !without.contains(&c.get_name())) {
            assert!(named(c.get_name()), "{}", c.get_name());
        }
    }
}
