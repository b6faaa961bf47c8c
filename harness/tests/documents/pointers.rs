//! Follows the pointers in the documents: links, paths, identifiers and names of tests.

use std::path::{Path, PathBuf};

use super::{documents, read, root};

/// The documents that guide a reader through the code. Each of their list items, table rows and paragraphs
/// that names a path names the identifiers in it.
const GUIDES: [&str; 4] = ["ARCHITECTURE.md", "CONTRIBUTING.md", "harness/README.md", "scenarios/README.md"];

#[test]
fn links_and_paths_lead_somewhere() {
    let mut wrong = Vec::new();
    for document in documents() {
        let text = prose(&read(&document));
        let folder = root().join(&document).parent().unwrap().to_owned();
        let links = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        let files = links.filter_map(|link| link.split('#').next());
        let local = files.filter(|link| !link.is_empty() && !link.contains("://"));
        let lost = local.filter(|link| !folder.join(link).exists());
        let paths = spans(&text).filter(|span| is_path(span));
        let lost = lost.chain(paths.filter(|path| named_by(path).is_empty()));
        wrong.extend(lost.map(|path| format!("{document}: {path}")));
    }
    assert_eq!(wrong, [""; 0]);
    assert!(is_path("harness/no-such-file.rs") && !is_path("abort/mid-batch") && !is_path("harness"));
    assert!(named_by("harness/no-such-file.rs").is_empty());
    assert!(named_by("harness/systems/<name>/no-such-file.yaml").is_empty());
    assert!(named_by("harness/systems/<name>/system.yaml").len() > 10);
    assert_eq!(named_by("harness/engine/src/chec*.rs").len(), 1);
}

/// A pointer names an identifier and the file that has it: `NAME` in `path`.
#[test]
fn a_file_has_the_identifier_that_a_pointer_names() {
    let wrong = |document: &str, text: &str| -> Vec<String> {
        let spans: Vec<&str> = text.split('`').collect();
        let pointers = spans.windows(3).skip(1).step_by(2);
        let pointers = pointers.filter(|span| matches!(span[1], " in " | " of ") && is_path(span[2]));
        let is_false = |span: &&[&str]| word(span[0]).is_some_and(|name| !has(&named_by(span[2]), name));
        pointers.filter(is_false).map(|span| format!("{document}: `{}` in `{}`", span[0], span[2])).collect()
    };
    let found: Vec<String> =
        documents().iter().flat_map(|document| wrong(document, &prose(&read(document)))).collect();
    assert_eq!(found, [""; 0]);
    assert_eq!(wrong("-", "see `Nowhere::to_be_found` in `harness/brickbat/cli.rs`").len(), 1);
}

/// In the guides, the identifier and the file may be in any order, and a file may be named after its folder or
/// after another file in it.
#[test]
fn a_guide_names_each_identifier_with_the_file_that_has_it() {
    let wrong = |document: &str, text: &str| -> Vec<String> {
        let wrong = blocks(text).into_iter().flat_map(|block| {
            let paths: Vec<PathBuf> = spans(&block).filter(|span| is_path(span)).flat_map(named_by).collect();
            let is_near = |file: &str| {
                paths.iter().any(|path| path.with_file_name(file).exists() || path.join(file).exists())
            };
            let files = spans(&block).filter(|span| span.ends_with(".rs") && !is_path(span));
            let lost = files.filter(|file| !is_near(file));
            let is_false = |span: &&str| identifier(span).is_some_and(|name| !has(&paths, name));
            let lost = lost.chain(spans(&block).filter(|_| !paths.is_empty()).filter(is_false));
            lost.map(|span| format!("{document}: `{span}` in: {block}")).collect::<Vec<_>>()
        });
        wrong.collect()
    };
    let found: Vec<String> =
        GUIDES.iter().flat_map(|document| wrong(document, &prose(&read(document)))).collect();
    assert_eq!(found, [""; 0]);
    let n_wrong = |text: &str| wrong("-", text).len();
    assert_eq!(n_wrong("- `harness/engine/src/checks.rs`: its line in `CHECKS`\n- `Nowhere`"), 0);
    assert_eq!(n_wrong("- `harness/engine/src/checks.rs`: its line in `HECKS`"), 1);
    assert_eq!(n_wrong("- `harness/engine/src/checks/`: a `Check`, \n  or an `UnCheck`"), 1);
    assert_eq!(n_wrong("- `harness/engine/src/checks.rs` and `interpreter.rs`"), 0);
    assert_eq!(n_wrong("- `harness/engine/src/checks.rs` and `no_such_file.rs`"), 1);
}

#[test]
fn a_command_names_tests_that_exist() {
    for document in GUIDES {
        let text = read(document);
        let modules = text.split([' ', '\n', '`']).filter_map(|word| word.strip_suffix("::"));
        for module in modules {
            assert!(root().join(format!("harness/tests/{module}.rs")).is_file(), "{document}: {module}::");
        }
    }
}

/// True if a code span is a path from the top of the repository.
fn is_path(span: &str) -> bool {
    const TOP: [&str; 8] =
        [".ci", ".clusterfuzzlite", ".github", "corpora", "dist", "docs", "fuzz", "harness"];
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./<>*".contains(c);
    span.split_once('/').is_some_and(|(top, _)| TOP.contains(&top)) && span.chars().all(is_plain)
        || span.starts_with("scenarios/") && span.ends_with(".yaml")
}

/// The existing files and folders that a path names. A placeholder matches each name.
fn named_by(path: &str) -> Vec<PathBuf> {
    let mut found = vec![root().to_owned()];
    for part in path.split('/').filter(|part| !part.is_empty()) {
        found = match around_placeholder(part) {
            Some((start, end)) => {
                let is_named = |path: &PathBuf| {
                    let name = path.file_name().unwrap().to_string_lossy();
                    name.starts_with(start) && name.ends_with(end)
                };
                found.iter().flat_map(|folder| entries(folder)).filter(is_named).collect()
            }
            None => found.iter().map(|folder| folder.join(part)).filter(|path| path.exists()).collect(),
        };
    }
    found
}

/// The text before and after the placeholder in a part of a path, if it has one.
fn around_placeholder(part: &str) -> Option<(&str, &str)> {
    let angled = || {
        let (before, rest) = part.split_once('<')?;
        Some((before, rest.split_once('>')?.1))
    };
    angled().or_else(|| part.split_once('*')).or_else(|| Some(("", part.strip_prefix("NAME")?)))
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    entries.map(|entry| entry.unwrap().path()).collect()
}

/// The list items, table rows and paragraphs of a document.
fn blocks(text: &str) -> Vec<String> {
    let mut blocks = vec![String::new()];
    for line in text.lines() {
        let start = line.trim_start();
        let is_step = start.split_once(". ").is_some_and(|(number, _)| number.parse::<u8>().is_ok());
        if start.is_empty() || start.starts_with(['|', '-']) || is_step {
            blocks.push(String::new());
        }
        blocks.last_mut().unwrap().push_str(&format!("{line}\n"));
    }
    blocks
}

/// The code spans of a text.
fn spans(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The word in a code span that is certainly an identifier: a type, a constant, a macro, or several words.
fn identifier(span: &str) -> Option<&str> {
    let is_certain =
        |name: &&str| name.contains('_') || span.ends_with('!') || name.starts_with(char::is_uppercase);
    word(span).filter(is_certain)
}

/// The last part of a path in Rust, or a single word.
fn word(span: &str) -> Option<&str> {
    let name = span.rsplit("::").next().unwrap_or_default().trim_end_matches(['!', '(', ')']);
    let is_word = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    (is_word && !name.is_empty()).then_some(name)
}

/// True if one of these files, or a file below one of these folders, contains a word.
fn has(paths: &[PathBuf], name: &str) -> bool {
    let is_in = |path: &PathBuf| {
        if path.is_dir() {
            return !path.ends_with("node_modules") && has(&entries(path), name);
        }
        let text = std::fs::read_to_string(path).unwrap_or_default();
        text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name)
    };
    paths.iter().any(is_in)
}

/// A document without its code blocks.
fn prose(text: &str) -> String {
    text.split("```").step_by(2).collect()
}
