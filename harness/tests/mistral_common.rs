//! The rules of `mistral` against `mistral-common`, Mistral's own validator, on random histories.
//!
//! Three steps, which `.ci/nightly` takes: `write FILE` writes the histories, `differential/ask_mistral_common.py` asks the
//! validator about them, and `compare FILE` holds its verdicts and sentences against those of the rules. It is a program
//! of its own, so that a comparison that was not made says so instead of passing.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

#[path = "differential/histories.rs"]
mod histories;

use std::collections::BTreeMap;
use std::env;
use std::fmt::Write;
use std::fs;

use brickbat::rules::{self, Profile};
use histories::{SEED, VERSIONS, all, profile};
use serde_json::Value;

/// How many histories are compared.
const N_HISTORIES: usize = 20_000;

fn main() {
    let args: Vec<String> = env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["write", path] => write(path),
        ["compare", path] => compare(path),
        [] => println!(
            "mistral-common: not run, 0 of {N_HISTORIES} histories compared; `.ci/nightly` compares them"
        ),
        _ => panic!("expected `write FILE` or `compare FILE`, not {args:?}"),
    }
}

fn write(path: &str) {
    let mut lines = String::new();
    for body in all(N_HISTORIES) {
        writeln!(lines, "{body}").unwrap();
    }
    fs::write(path, lines).unwrap();
}

fn compare(path: &str) {
    let verdicts = fs::read_to_string(path).unwrap();
    let verdicts: Vec<Value> = verdicts.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(verdicts.len(), N_HISTORIES, "there is a verdict for each history");
    let mut table = BTreeMap::<String, [usize; 3]>::new();
    let mut differences = Vec::new();
    for (n, (body, said)) in all(N_HISTORIES).zip(&verdicts).enumerate() {
        for version in VERSIONS {
            let ours = answer(profile(version), &body);
            let theirs = theirs(&said[version]);
            let row = table.entry(version.to_owned()).or_default();
            row[usize::from(theirs.is_some())] += 1;
            if ours != theirs {
                row[2] += 1;
                differences.push(format!("{n} {version}: {ours:?}, but mistral-common {theirs:?}\n  {body}"));
            }
        }
    }
    println!("{N_HISTORIES} histories of seed {SEED}");
    for (version, [accepted, refused, different]) in &table {
        println!("{version}: {accepted} accepted, {refused} refused, {different} answered differently");
    }
    let first: Vec<_> = differences.iter().take(20).map(String::as_str).collect();
    assert!(differences.is_empty(), "{} differences\n{}", differences.len(), first.join("\n"));
}

/// Why a body is refused.
#[derive(Debug, PartialEq)]
enum OracleRefusal {
    /// It does not have the types of the fields. The sentences are those of another library.
    Types,
    /// With this sentence.
    Sentence(String),
}

fn answer(profile: &'static Profile, body: &Value) -> Option<OracleRefusal> {
    let violations = rules::validate_value(profile, body);
    rules::refusal(&violations).map(|violation| match violation.status() {
        422 => OracleRefusal::Types,
        _ => OracleRefusal::Sentence(violation.message.clone()),
    })
}

fn theirs(said: &Value) -> Option<OracleRefusal> {
    match said["class"].as_str() {
        None => {
            assert!(said.is_null(), "{said}");
            None
        }
        Some("ValidationError") => Some(OracleRefusal::Types),
        Some(_) => Some(OracleRefusal::Sentence(said["message"].as_str().unwrap().to_owned())),
    }
}
