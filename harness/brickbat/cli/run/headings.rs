//! The headings under which `run --help` lists its options.

/// Each heading, with the options under it.
const HEADINGS: [(&str, &[&str]); 6] = [
    (
        "Which plans",
        &["filter", "exclude", "seed", "premises", "list", "requirements", "shard", "rerun_failed"],
    ),
    ("Which system", &["systems", "manifest", "command", "mode", "sdk_version", "patience"]),
    ("Which provider", &["dialects", "profiles", "model"]),
    ("How plans run", &["jobs", "repeat", "no_confirm", "fail_fast", "timeout", "repair"]),
    (
        "What is red, printed and kept",
        &["fail_on", "files", "write", "reports", "format", "verbose", "quiet", "out", "no_out"],
    ),
    ("Explore", &["explore", "base", "from", "limit"]),
];

/// The option under its heading.
pub(super) fn headed(argument: clap::Arg) -> clap::Arg {
    let id = argument.get_id().as_str();
    match HEADINGS.iter().find(|(_, ids)| ids.contains(&id)) {
        Some((heading, _)) => argument.help_heading(*heading),
        None => argument,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::CommandLine;
    use clap::CommandFactory;
    use std::collections::BTreeSet;

    #[test]
    fn each_option_of_run_has_one_heading() {
        let command = CommandLine::command();
        let run = command.find_subcommand("run").unwrap();
        let options = run.get_arguments().filter(|argument| !argument.is_positional());
        let options: Vec<&clap::Arg> = options.collect();
        assert!(options.iter().all(|option| option.get_help_heading().is_some()));
        let mut known: BTreeSet<&str> = options.iter().map(|option| option.get_id().as_str()).collect();
        for id in HEADINGS.iter().flat_map(|(_, ids)| ids.iter()) {
            assert!(known.remove(id), "{id} is under two headings, or no option");
        }
        assert_eq!(known, BTreeSet::new());
    }
}
