//! The `--help` of all commands in one file, so that a change of it can be read as a whole.

use std::path::Path;

use crate::program::{command, finish};

/// Commands below commands; none is deeper.
const MAX_DEPTH: usize = 3;

#[test]
fn the_help_of_all_commands_is_one_page() {
    let mut page = String::new();
    add(&mut page, &[]);
    let n_commands = page.matches("\n## brickbat ").count();
    assert!(n_commands > 20, "{n_commands} commands");
    insta::assert_snapshot!("help", page);
}

/// Adds the help of a command, and of those below it, to a page.
fn add(page: &mut String, names: &[&str]) {
    let mut program = command(Path::new("."), &[names, &["--help"]].concat());
    program.env("COLUMNS", "100");
    let said = finish(program, b"");
    assert_eq!(said.code, Some(0), "{names:?}: {}", said.err);
    let title = [&["brickbat"], names].concat().join(" ");
    page.push_str(&format!("## {title}\n\n{}\n\n", said.out.trim_end()));
    if names.len() + 1 < MAX_DEPTH {
        for name in commands(&said.out) {
            add(page, &[names, &[name]].concat());
        }
    }
}

/// The commands that a page of help lists, under the titles of its groups.
fn commands(help: &str) -> Vec<&str> {
    let list = help.lines().skip_while(|line| !line.starts_with("Usage:")).skip(1);
    let list = list.take_while(|line| !line.starts_with("Options") && !line.starts_with("Arguments"));
    let named =
        list.filter_map(|line| line.strip_prefix("  ")).filter(|line| !line.starts_with([' ', '-', '[']));
    named.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help").collect()
}
