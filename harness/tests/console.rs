//! Checks that the console blocks of README and of the book are what the program prints.
//!
//! The commands of a page run one after the other in a folder of their own, which begins with the files of
//! `docs/fixtures/PAGE`. A block gives the expected output: `...` stands for any lines, `[..]` for anything
//! within one, and `<!-- exit: N -->` above it for an exit code other than 0. A block marked `nightly` needs
//! a system that has to be installed, or takes minutes, and runs if `BRICKBAT_NIGHTLY` is set;
//! `BRICKBAT_PROGRAM` is then a program that is faster than the one of the tests.

#![expect(clippy::unwrap_used, reason = "a test may fail anywhere, also outside its own function")]

use std::path::{Path, PathBuf};
use std::process::Command;

use snapbox::filter::{Filter, FilterNewlines};
use snapbox::{Assert, IntoData, Redactions};
use tempfile::TempDir;

use crate::program::BRICKBAT;

/// A command of a block, with its expected output.
#[derive(Debug)]
struct Step {
    line: usize,
    command: String,
    expected: String,
    exit: i32,
}

#[test]
fn readme_and_book_show_what_the_program_prints() {
    run_pages(|page| !needs_node(page));
}

#[test]
#[cfg_attr(not(has_node), ignore = "needs Node.js 20 or later")]
fn pages_with_programs_in_javascript_show_what_the_program_prints() {
    run_pages(needs_node);
}

/// Pages with commands that start programs in JavaScript.
const IN_JAVASCRIPT: [&str; 3] = ["any-program.md", "filters.md", "proxy.md"];

fn needs_node(page: &Path) -> bool {
    IN_JAVASCRIPT.iter().any(|name| page.ends_with(name))
}

#[track_caller]
fn run_pages(is_run: impl Fn(&Path) -> bool) {
    let mut wrong = Vec::new();
    let mut n_run = 0;
    for page in pages().into_iter().filter(|page| is_run(page)) {
        let text = std::fs::read_to_string(&page).unwrap();
        let steps = steps(&text, std::env::var_os("BRICKBAT_NIGHTLY").is_some());
        n_run += steps.len();
        wrong.extend(run(&page, &steps));
    }
    assert!(n_run >= 5, "only {n_run} commands were found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_wrong_block_is_detected() {
    let page = "<!-- exit: 2 -->\n```console\n$ brickbat explain nothing-of-that-name\n```\n\n```console\n$ brickbat schema x\nno\n```\n";
    let steps = steps(page, false);
    assert_eq!(steps.len(), 2);
    let wrong = run(Path::new("some/page.md"), &steps);
    assert_eq!(wrong.len(), 1, "{wrong:#?}");
    assert!(wrong[0].contains("page.md:7"), "{wrong:#?}");
}

/// README and every page of the book.
fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut pages = vec![root.join("README.md")];
    let mut folders = vec![root.join("docs/src")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "md") {
                pages.push(path);
            }
        }
    }
    pages.sort();
    pages
}

/// The commands of all console blocks of a page.
fn steps(page: &str, nightly: bool) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let (mut exit, mut is_block, mut is_run) = (0, false, false);
    for (line, text) in (1..).zip(page.lines()) {
        if is_block && text == "```" {
            (is_block, exit) = (false, 0);
        } else if is_block {
            if let (Some(command), true) = (text.strip_prefix("$ "), is_run) {
                steps.push(Step { line, command: command.to_owned(), expected: String::new(), exit });
            } else if let (Some(step), true) = (steps.last_mut(), is_run) {
                step.expected.push_str(text);
                step.expected.push('\n');
            }
        } else if let Some(kind) = text.strip_prefix("```console") {
            assert!(matches!(kind, "" | ",nightly"), "line {line}: `{text}` is no kind of block");
            (is_block, is_run) = (true, kind.is_empty() || nightly);
        } else if let Some(code) = text.strip_prefix("<!-- exit: ") {
            exit = code.trim_end_matches(" -->").parse().unwrap();
        }
    }
    steps
}

/// The folder with the files of a page.
fn fixtures(page: &Path) -> PathBuf {
    let name = page.file_stem().unwrap().to_string_lossy().to_lowercase();
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/fixtures").join(name)
}

/// Runs the commands, and returns which ones print something else.
fn run(page: &Path, steps: &[Step]) -> Vec<String> {
    let folder = TempDir::new().unwrap();
    for entry in std::fs::read_dir(fixtures(page)).into_iter().flatten() {
        let path = entry.unwrap().path();
        std::fs::copy(&path, folder.path().join(path.file_name().unwrap())).unwrap();
    }
    // The folder of the program comes first, so that a command is exactly what a reader types.
    let program = std::env::var("BRICKBAT_PROGRAM").unwrap_or_else(|_| BRICKBAT.to_owned());
    let programs = Path::new(&program).parent().unwrap().to_owned();
    let path = std::env::var_os("PATH").unwrap();
    let path = std::env::join_paths(std::iter::once(programs).chain(std::env::split_paths(&path))).unwrap();
    let mut wrong = Vec::new();
    for step in steps {
        let mut shell = Command::new("sh");
        shell.args(["-c", &step.command]).current_dir(folder.path()).env("PATH", &path);
        shell.env("COLUMNS", "80");
        // A cache apart from that of other tests, because their runs would evict those of a page from it.
        if std::env::var_os("BRICKBAT_CACHE").is_none() {
            shell.env("BRICKBAT_CACHE", concat!(env!("CARGO_TARGET_TMPDIR"), "/console"));
        }
        let ran = shell.output().unwrap();
        let out = String::from_utf8(ran.stdout).unwrap();
        let err = String::from_utf8(ran.stderr).unwrap();
        // Progress is not shown, but errors are: a command with bad input prints nothing else.
        let said = if out.is_empty() { &err } else { &out };
        let place = format!("{}:{} `{}`", page.display(), step.line, step.command);
        if ran.status.code() != Some(step.exit) {
            wrong.push(format!("{place}: {}\n{out}{err}", ran.status));
        } else if !is_as_shown(said, &step.expected) {
            wrong.push(format!("{place} prints something else:\n{said}\nexpected:\n{}", step.expected));
        }
    }
    wrong
}

/// True if an output is what a block shows; a block without output accepts any.
fn is_as_shown(said: &str, expected: &str) -> bool {
    if expected.is_empty() {
        return true;
    }
    let said = FilterNewlines.filter(format!("{}\n", said.trim_end()).into_data());
    let expected = format!("{}\n", expected.trim_end()).into_data();
    let assert = Assert::new().redact_with(Redactions::new());
    assert.try_eq(None, said, expected).is_ok()
}
