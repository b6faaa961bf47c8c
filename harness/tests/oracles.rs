//! Compares the rules with other validators on random histories: Mistral's own validator, the chat templates
//! of vLLM, and client libraries.
//!
//! `.ci/nightly` takes three steps: `write FILE N` writes N histories, a script of `differential/` has them
//! validated, and `compare ORACLE FILE` compares the verdicts with those of the rules. It is a program of its
//! own, so that a comparison that was not made is reported instead of passing. `differential/README.md` lists
//! the differences that are allowed.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

#[path = "differential/histories.rs"]
mod histories;
#[path = "differential/kinds.rs"]
mod kinds;
#[path = "differential/oracle.rs"]
mod oracle;

use std::collections::BTreeMap;
use std::env;
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, BufWriter, Write as _};

use histories::{SEED, all};
use oracle::{Agreement, Oracle, compared};
use serde_json::Value;

/// Differences that are shown completely.
const N_SHOWN: usize = 20;

fn main() {
    let args: Vec<String> = env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["write", path, n] => write(path, n.parse().unwrap()),
        ["compare", oracle, path] => compare(&Oracle::named(oracle), path),
        [] => println!("oracles: not run, 0 histories compared; `.ci/nightly` compares them"),
        _ => panic!("expected `write FILE N` or `compare ORACLE FILE`, not {args:?}"),
    }
}

fn write(path: &str, n: usize) {
    let mut out = BufWriter::new(fs::File::create(path).unwrap());
    for body in all(n) {
        writeln!(out, "{body}").unwrap();
    }
    out.flush().unwrap();
}

fn compare(oracle: &Oracle, path: &str) {
    let lines = BufReader::new(fs::File::open(path).unwrap()).lines();
    let verdicts: Vec<Value> = lines.map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect();
    assert!(!verdicts.is_empty(), "there is a verdict for each history");
    let mut table = BTreeMap::<String, BTreeMap<Agreement, usize>>::new();
    let mut unexplained = Vec::new();
    for (n, (body, said)) in all(verdicts.len()).zip(&verdicts).enumerate() {
        for (column, verdict) in said.as_object().unwrap() {
            let (agreement, ours) = compared(oracle, column, &body, verdict);
            if !oracle.explains(column, &agreement) {
                unexplained.push(format!("{n} {column}: {agreement}; {ours}, they {verdict}\n  {body}"));
            }
            *table.entry(column.clone()).or_default().entry(agreement).or_default() += 1;
        }
    }
    println!("{} histories of seed {SEED}, {} by {}", verdicts.len(), table.len(), oracle.name);
    for (column, row) in &table {
        let mut line = format!("{column}:");
        row.iter().for_each(|(agreement, n)| write!(line, " {n} {agreement},").unwrap());
        println!("{}", line.trim_end_matches(','));
    }
    let shown: Vec<_> = unexplained.iter().take(N_SHOWN).map(String::as_str).collect();
    assert!(unexplained.is_empty(), "{} unexplained\n{}", unexplained.len(), shown.join("\n"));
}
