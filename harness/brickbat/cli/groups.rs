//! The commands in groups, as `brickbat --help` lists them.

use std::fmt::Write;

/// The tasks, and the commands for each, with a short description.
const GROUPS: [(&str, &[(&str, &str)]); 8] = [
    (
        "Test an agent",
        &[
            ("init", "write an adapter to start from"),
            ("verify-adapter", "check that an adapter follows the protocol"),
            ("run", "run scenarios against systems and judge the results"),
            ("show", "show what happened in one case"),
            ("replay", "run one case again: fixed, or still failing?"),
            ("explain", "explain a word, a case, or a pasted error"),
        ],
    ),
    (
        "Test any program",
        &[
            ("acp", "test an agent that speaks ACP, without an adapter"),
            ("wrap", "run a program against a strict provider"),
            ("serve", "serve a strict provider for any program"),
            ("proxy", "check, break and record the traffic between a program and a server"),
        ],
    ),
    (
        "Judge requests",
        &[
            ("check", "check whether a provider would accept a request or a stream"),
            ("recordings", "compare the rules with recorded provider responses"),
        ],
    ),
    ("Test a filter", &[("filters", "judge repairers, trimmers, compactors, converters and gateways")]),
    (
        "Repair sessions",
        &[
            ("session", "find stored sessions that are bricked, and show where"),
            ("repair", "repair a bricked session"),
            ("import", "turn a bricked session into a scenario, without its text"),
        ],
    ),
    (
        "Discover",
        &[
            ("fuzz", "generate scenarios and minimise the failures"),
            ("shrink", "minimise a failing scenario"),
            ("events", "send an SDK's own stream events out of order"),
        ],
    ),
    (
        "Keep and compare",
        &[
            ("export", "turn a finding into a test and an issue for the project that has the bug"),
            ("keep", "keep a request, a session or a scenario as a regression of your project"),
            ("promote", "keep a found scenario as a regression"),
            ("merge", "merge the reports from all shards"),
            ("diff", "show how two systems differ"),
            ("matrix", "compare many systems in a table"),
            ("site", "make a static site of dated results"),
            ("systems", "list the built-in systems"),
        ],
    ),
    (
        "For Brickbat's developers and for tools",
        &[
            ("agent", "serve the reference agent"),
            ("canaries", "prove the checks with planted bugs"),
            ("classes", "list the failure classes and what covers them"),
            ("closed-loop", "brick real products, repair their stores, and check whether they continue"),
            ("lint", "check rule vectors"),
            ("schema", "print a JSON Schema"),
            ("completions", "print a completion script for a shell"),
            ("man", "print man pages"),
        ],
    ),
];

/// The help, with the groups instead of clap's list.
pub(super) const TEMPLATE: &str =
    "{about-with-newline}\n{usage-heading} {usage}\n\n{before-help}Options:\n{options}{after-help}";

/// The groups, as text.
pub(super) fn text() -> String {
    let mut text = String::new();
    for (title, commands) in GROUPS {
        let _ = writeln!(text, "{title}:");
        for (name, words) in commands {
            let _ = writeln!(text, "  {name:<15} {words}");
        }
        text.push('\n');
    }
    text.push_str("For details, see `brickbat COMMAND --help`.");
    text
}

/// The key for equal options: name, value and help.
pub(super) fn signature(argument: &clap::Arg) -> String {
    format!("{} {}", written(argument), help(argument))
}

/// Options as a table.
pub(super) fn table<'a>(arguments: impl Iterator<Item = &'a clap::Arg>) -> String {
    let rows: String = arguments
        .filter(|argument| {
            !argument.is_hide_set() && argument.get_id() != "help" && argument.get_id() != "version"
        })
        .map(|argument| format!("| `{}` | {} |\n", written(argument), help(argument)))
        .collect();
    if rows.is_empty() {
        "No other options.\n".to_owned()
    } else {
        format!("| option | meaning |\n|---|---|\n{rows}")
    }
}

/// The option as the user types it.
fn written(argument: &clap::Arg) -> String {
    let names = argument.get_value_names().unwrap_or_default();
    let value: Vec<&str> = names.iter().map(|name| name.as_str()).collect();
    let takes_value = argument.get_action().takes_values();
    match argument.get_long() {
        Some(long) if takes_value && argument.is_require_equals_set() => {
            format!("--{long}[={}]", value.join(" "))
        }
        Some(long) if takes_value => format!("--{long} {}", value.join(" ")),
        Some(long) => format!("--{long}"),
        None => value.join(" "),
    }
}

/// The help text for an option on one line, with its default.
fn help(argument: &clap::Arg) -> String {
    let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
    let default: Vec<String> =
        argument.get_default_values().iter().map(|value| value.to_string_lossy().into_owned()).collect();
    let takes_value = argument.get_action().takes_values();
    let default = match default.join(" ") {
        default if default.is_empty() || !takes_value => String::new(),
        default => format!(" (default: `{default}`)"),
    };
    format!("{}{default}", help.replace('\n', " ").replace('|', "\\|"))
}

/// The exit codes in the help after a command's options, on one line. `None` if it lists none.
pub(super) fn exit_codes(help: &str) -> Option<String> {
    let (_, codes) = help.split_once("Exit codes:")?;
    let codes = codes.split("\n\n").next().unwrap_or_default();
    // A code on a line of its own begins after two spaces; other lines continue the one before.
    let is_code = |line: &str| {
        line.strip_prefix("  ").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    let mut text = String::new();
    for line in codes.lines() {
        let gap = match (text.is_empty(), is_code(line)) {
            (true, _) => "",
            (false, true) => "; ",
            (false, false) => " ",
        };
        text.push_str(gap);
        text.push_str(&line.split_whitespace().collect::<Vec<_>>().join(" "));
    }
    Some(text.trim_end_matches('.').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;
    use std::collections::BTreeSet;

    #[test]
    fn exit_codes_are_read_from_both_forms_of_help() {
        let listed = "Examples:\n  x\n\nExit codes:\n  0  all is\n     well\n  3  unknown\n\nMore.";
        assert_eq!(exit_codes(listed).as_deref(), Some("0 all is well; 3 unknown"));
        assert_eq!(exit_codes("Exit codes: 0 done, 1 not.").as_deref(), Some("0 done, 1 not"));
        assert_eq!(exit_codes("Examples:\n  x"), None);
    }

    #[test]
    fn each_command_is_in_one_group() {
        let mut grouped = BTreeSet::new();
        for (name, _) in GROUPS.iter().flat_map(|(_, commands)| commands.iter()) {
            assert!(grouped.insert(*name), "{name} is in two groups");
        }
        let command = super::super::CommandLine::command();
        let known = command.get_subcommands().filter(|command| !command.is_hide_set());
        assert_eq!(known.map(clap::Command::get_name).collect::<BTreeSet<_>>(), grouped);
    }
}
