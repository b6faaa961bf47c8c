//! Compares what the documents say about the code with the code.
//!
//! `BRICKBAT_UPDATE=1 cargo test --test pure documents::` writes the text between `<!-- generated: NAME -->`
//! and `<!-- end -->`, and the same test without it compares the text.

#![expect(clippy::unwrap_used, reason = "a test may stop at what it does not expect")]

mod agents;
mod blocks;
mod compactions;
mod discovery;
mod downloads;
mod duties;
mod features;
mod figures;
mod filters;
mod healthy;
mod mutants;
mod pointers;
mod repairers;
mod validators;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use brickbat_engine::checks::CHECKS;
use brickbat_engine::flaws::Canary;

use crate::plans;

/// The documents with paths and generated blocks, except for the pages of the book.
const DOCUMENTS: [&str; 13] = [
    "README.md",
    "CONTRIBUTING.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "scenarios/README.md",
    "harness/README.md",
    "harness/filters-under-test/README.md",
    "harness/systems/README.md",
    "harness/report/README.md",
    "harness/rules/README.md",
    "docs/llms.txt",
    "harness/packages/skill/SKILL.md",
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
    for document in documents() {
        let old = read(&document);
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
        hold(&document, &old, &new);
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
    for page in pages() {
        let name = page.trim_start_matches("docs/src/");
        assert!(name == "SUMMARY.md" || summary.contains(&format!("({name})")), "{name}");
    }
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

/// All documents that are looked at.
fn documents() -> Vec<String> {
    DOCUMENTS.map(str::to_owned).into_iter().chain(pages()).collect()
}

/// The pages of the book.
fn pages() -> Vec<String> {
    let (mut folders, mut pages) = (vec![root().join("docs/src")], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                pages.push(path.strip_prefix(root()).unwrap().to_string_lossy().into_owned());
            }
        }
    }
    pages.sort();
    pages
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
