//! Compares what the documents say about the code with the code.
//!
//! `BRICKBAT_UPDATE=1 cargo test --test pure documents::` writes the text between `<!-- generated: NAME -->`
//! and `<!-- end -->`, and the same test without it compares the text.

#![expect(clippy::unwrap_used, reason = "a test may stop at what it does not expect")]

mod blocks;
mod compactions;
mod discovery;
mod downloads;
mod figures;
mod filters;
mod healthy;
mod repairers;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use brickbat_engine::checks::CHECKS;
use brickbat_engine::flaws::Canary;

use crate::plans;

/// The documents with paths and generated blocks.
const DOCUMENTS: [&str; 42] = [
    "README.md",
    "docs/src/README.md",
    "docs/src/SUMMARY.md",
    "docs/src/start.md",
    "docs/src/explanation/proof.md",
    "docs/src/explanation/receipts.md",
    "docs/src/howto/any-program.md",
    "docs/src/howto/broken-request.md",
    "docs/src/howto/ci.md",
    "docs/src/howto/compare.md",
    "docs/src/howto/discover.md",
    "docs/src/howto/export.md",
    "docs/src/howto/filters.md",
    "docs/src/howto/install.md",
    "docs/src/howto/look.md",
    "docs/src/howto/own-agent.md",
    "docs/src/howto/paste.md",
    "docs/src/howto/proxy.md",
    "docs/src/howto/rust.md",
    "docs/src/howto/scenario.md",
    "docs/src/howto/session.md",
    "docs/src/howto/unit-tests.md",
    "docs/src/reference/closed-loop.md",
    "docs/src/reference/discovery.md",
    "docs/src/reference/exports.md",
    "docs/src/reference/filters.md",
    "docs/src/reference/judged.md",
    "docs/src/reference/known.md",
    "docs/src/reference/limits.md",
    "docs/src/reference/options.md",
    "docs/src/reference/speed.md",
    "docs/src/reference/compactions.md",
    "docs/src/reference/systems.md",
    "CONTRIBUTING.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "scenarios/README.md",
    "harness/filters-under-test/README.md",
    "harness/systems/README.md",
    "harness/report/README.md",
    "harness/rules/README.md",
    INVARIANTS,
];

const INVARIANTS: &str = "harness/engine/src/checks/README.md";

/// Locked while a document is read and rewritten.
static WRITING: Mutex<()> = Mutex::new(());

#[test]
fn generated_blocks_are_current() {
    let _writing = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    let known = blocks::all();
    let mut used: BTreeSet<String> = BTreeSet::new();
    for document in DOCUMENTS {
        let old = read(document);
        let mut new = String::new();
        let mut rest = old.as_str();
        while let Some((before, after)) = rest.split_once("<!-- generated: ") {
            let (name, after) = after.split_once(" -->\n").unwrap();
            let (_, after) = after.split_once("<!-- end -->").unwrap_or_else(|| panic!("{document}: {name}"));
            let block = known.get(name).unwrap_or_else(|| panic!("{document}: nothing generates `{name}`"));
            new.push_str(&format!("{before}<!-- generated: {name} -->\n{block}<!-- end -->"));
            used.insert(name.to_owned());
            rest = after;
        }
        new.push_str(rest);
        hold(document, &old, &new);
    }
    assert!(
        used.iter().map(String::as_str).eq(known.keys().copied()),
        "blocks that no document holds: {used:?}"
    );
}

/// Writes a document if that is requested, and fails if it is not up to date.
fn hold(document: &str, old: &str, new: &str) {
    if std::env::var_os("BRICKBAT_UPDATE").is_some() && new != old {
        std::fs::write(root().join(document), new).unwrap();
    } else {
        let update = "run `BRICKBAT_UPDATE=1 cargo test --test pure documents::`";
        assert!(new == old, "{document} is out of date; {update}");
    }
}

#[test]
fn the_book_lists_each_of_its_pages() {
    let summary = read("docs/src/SUMMARY.md");
    let mut folders = vec![root().join("docs/src")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(root().join("docs/src")).unwrap().to_string_lossy().into_owned();
            assert!(name == "SUMMARY.md" || summary.contains(&format!("({name})")), "{name}");
            assert!(DOCUMENTS.contains(&format!("docs/src/{name}").as_str()), "{name} is not looked at");
        }
    }
}

#[test]
fn paths_and_links_lead_somewhere() {
    let mut wrong = Vec::new();
    for document in DOCUMENTS {
        let text = prose(&read(document));
        let folder = root().join(document).parent().unwrap().to_owned();
        let spans = text.split('`').skip(1).step_by(2);
        let paths = spans.filter(|span| is_path(span)).map(|span| root().join(known_part(span)));
        let links = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        let files = links.filter_map(|link| link.split('#').next());
        let local = files.filter(|link| !link.is_empty() && !link.contains("://"));
        let all = paths.chain(local.map(|link| folder.join(link)));
        wrong.extend(all.filter(|path| !path.exists()).map(|path| format!("{document}: {}", path.display())));
    }
    assert_eq!(wrong, [""; 0]);
    assert!(is_path("harness/no-such-file.rs") && !is_path("abort/mid-batch") && !is_path("harness"));
    assert_eq!(known_part("harness/systems/<name>/system.yaml"), "harness/systems/");
}

/// A pointer names an identifier and the file that has it: `NAME` in `path`.
#[test]
fn a_file_has_the_identifier_that_a_pointer_names() {
    let wrong = |document: &str, text: &str| -> Vec<String> {
        let spans: Vec<&str> = text.split('`').collect();
        let pointers = spans.windows(3).skip(1).step_by(2);
        let pointers = pointers.filter(|span| matches!(span[1], " in " | " of ") && is_path(span[2]));
        let files = pointers.filter(|span| known_part(span[2]) == span[2] && root().join(span[2]).is_file());
        let is_named = |span: &&[&str]| {
            let name = span[0].rsplit("::").next().unwrap_or_default().trim_end_matches(['!', '(', ')']);
            !read(span[2]).contains(name)
        };
        files.filter(is_named).map(|span| format!("{document}: `{}` in `{}`", span[0], span[2])).collect()
    };
    let found: Vec<String> =
        DOCUMENTS.iter().flat_map(|document| wrong(document, &prose(&read(document)))).collect();
    assert_eq!(found, [""; 0]);
    assert_eq!(wrong("-", "see `Nowhere::to_be_found` in `harness/brickbat/cli.rs`").len(), 1);
}

/// True if a code span is a path from the top of the repository.
fn is_path(span: &str) -> bool {
    const TOP: [&str; 6] = [".ci", ".clusterfuzzlite", ".github", "corpora", "fuzz", "harness"];
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./<>*{},".contains(c);
    span.split_once('/').is_some_and(|(top, _)| TOP.contains(&top)) && span.chars().all(is_plain)
        || span.starts_with("scenarios/") && span.ends_with(".yaml")
}

/// A path up to the first part that is a placeholder.
fn known_part(path: &str) -> &str {
    let is_any =
        |part: &str| part.contains(['<', '*', '{']) || part.starts_with("NAME") || part == "mine.yaml";
    match path.split_inclusive('/').position(is_any) {
        Some(n_known) => {
            let n_letters: usize = path.split_inclusive('/').take(n_known).map(str::len).sum();
            &path[..n_letters]
        }
        None => path,
    }
}

/// A document without its code blocks.
fn prose(text: &str) -> String {
    text.split("```").step_by(2).collect()
}

#[test]
fn each_dependency_has_its_reason() {
    let page = read("ARCHITECTURE.md");
    let (_, reasons) = page.split_once("\n## Dependencies\n").unwrap();
    let named: BTreeSet<&str> =
        reasons.split("\n## ").next().unwrap().split('`').skip(1).step_by(2).collect();
    let cargo = read("Cargo.toml") + &read("fuzz/Cargo.toml");
    let mut dependencies = BTreeSet::new();
    for section in cargo.split("\n[").filter(|section| section.contains("dependencies]\n")) {
        let keys = section.lines().skip(1).filter_map(|line| line.split(['.', ' ', '=']).next());
        dependencies.extend(keys.filter(|key| !key.is_empty() && !key.starts_with(['#', '"', ']', '}'])));
    }
    dependencies.retain(|name| !name.starts_with("brickbat"));
    assert!(dependencies.len() > 30, "{dependencies:?}");
    let without: Vec<_> = dependencies.difference(&named).collect();
    assert_eq!(without, [&""; 0], "dependencies without a reason in ARCHITECTURE.md");
}

/// Each invariant was broken by a real system. It is covered by checks, and a planted bug shows for each
/// check that it can fail (`suite.rs` catches each bug). One planted bug represents each invariant and no
/// other, or the invariant is marked as not judged. No check covers nothing.
#[test]
fn each_invariant_is_covered_by_checks_that_can_fail() {
    let page = read(INVARIANTS);
    let can_fail: BTreeSet<&str> = Canary::all().map(Canary::caught_by).collect();
    let (mut covering, mut planted_bugs, mut n_rows) = (BTreeSet::new(), BTreeSet::new(), 0);
    for (row, n) in page.lines().filter(|line| line.starts_with("| INV-")).zip(1..) {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [id, invariant, seen_in, planted] = cells[..] else { panic!("{row}") };
        assert_eq!(id, format!("INV-{n:02}"));
        assert!(!invariant.is_empty() && !seen_in.is_empty(), "{row}");
        let checks = CHECKS.iter().filter(|check| check.invariants.contains(&n)).map(|check| check.id);
        let checks: BTreeSet<&str> = checks.collect();
        assert!(!checks.is_empty() && checks.is_subset(&can_fail), "{row}: {checks:?}");
        if planted != NOT_JUDGED {
            let canary = Canary::from_name(planted.trim_matches('`')).unwrap_or_else(|| panic!("{row}"));
            assert!(checks.contains(canary.caught_by()), "{row}: {} catches it", canary.caught_by());
            assert!(planted_bugs.insert(canary), "{row}: the bug stands for another row, too");
        }
        covering.extend(checks);
        n_rows = n;
    }
    assert_eq!(CHECKS.iter().flat_map(|check| check.invariants).max(), Some(&n_rows));
    assert_eq!(covering, CHECKS.iter().map(|check| check.id).collect());
}

/// The mark of an invariant that no planted bug represents.
const NOT_JUDGED: &str = "not judged";

#[test]
fn each_check_has_a_file_of_its_name() {
    let folder = root().join("harness/engine/src/checks");
    for check in CHECKS {
        assert!(folder.join(check.id.replace('-', "_")).with_extension("rs").exists(), "{}", check.id);
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The sentence of each variant of a type, by its name, as the schema has them.
fn sentences(schema: &serde_json::Value) -> BTreeMap<String, String> {
    let variants = schema["oneOf"].as_array().unwrap().iter();
    let name = |variant: &serde_json::Value| match variant["const"].as_str() {
        Some(name) => name.to_owned(),
        None => variant["properties"].as_object().unwrap().keys().next().unwrap().clone(),
    };
    let sentence = |variant: &serde_json::Value| variant["description"].as_str().unwrap().replace('\n', " ");
    variants.map(|variant| (name(variant), sentence(variant))).collect()
}

/// A number with commas between thousands, and as many decimals as the file has.
fn number(value: f64) -> String {
    let text = value.to_string();
    let (whole, fraction) = text.split_once('.').map_or((text.as_str(), None), |(a, b)| (a, Some(b)));
    let mut grouped = String::new();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    fraction.map_or(grouped.clone(), |fraction| format!("{grouped}.{fraction}"))
}
