//! Writes the seed corpora from `scenarios/` and `corpora/` in the format that each fuzz target
//! reads.
//!
//! `cargo run -p brickbat-fuzz --example seeds -- DIR` makes a folder in DIR for each target.

use std::io;
use std::path::{Path, PathBuf};

use brickbat_scenario::parse;
use brickbat_search::generate;
use serde_json::Value;

/// The size of the largest seed in bytes. libFuzzer skips seeds that are longer than its `-max_len`.
const MAX_SEED: usize = 4096;

fn main() -> io::Result<()> {
    let folder = std::env::args_os().nth(1).map_or_else(|| PathBuf::from("fuzz/corpus"), PathBuf::from);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let scenarios = scenarios(&root.join("scenarios"))?;
    let histories = vectors(&root.join("corpora/histories"))?;
    let streams = vectors(&root.join("corpora/streams"))?;
    for target in ["agent", "canary", "floor", "own-agent", "scenario"] {
        write(&folder.join(target), &scenarios)?;
    }
    write(&folder.join("stores"), &stores(&root, &histories)?)?;
    write(&folder.join("rules"), &histories)?;
    write(&folder.join("wire"), &streams)?;
    write(&folder.join("fix"), &histories)?;
    write(&folder.join("pasted"), &histories)?;
    write(&folder.join("check"), &[histories, streams].concat())
}

/// Reads sessions from the documentation and the corpus, and request bodies.
///
/// The first byte of each input chooses the file name. Sessions that the corpus keeps as SQL are left out,
/// because a database must be built from them first.
fn stores(root: &Path, histories: &[Vec<u8>]) -> io::Result<Vec<Vec<u8>>> {
    let named = |first: u8, bytes: &[u8]| [&[first], bytes].concat();
    let mut seeds: Vec<Vec<u8>> = histories.iter().map(|body| named(1, body)).collect();
    for (folder, ending, first) in [
        ("docs/fixtures/session", "jsonl", 0),
        ("corpora/sessions", "jsonl", 0),
        ("corpora/sessions", "json", 1),
        ("corpora/sessions/cline", "json", 4),
    ] {
        for path in files(&root.join(folder), ending)? {
            seeds.push(named(first, &std::fs::read(&path)?));
        }
    }
    Ok(seeds)
}

/// Returns all variants of all scenarios as JSON.
fn scenarios(folder: &Path) -> io::Result<Vec<Vec<u8>>> {
    let mut seeds = Vec::new();
    for path in files(folder, "yaml")? {
        let text = std::fs::read_to_string(&path)?;
        let variants = parse::parse(&path.to_string_lossy(), &text).unwrap_or_default();
        seeds.extend(variants.iter().map(|variant| generate::encode(&variant.scenario)));
    }
    Ok(seeds)
}

/// Returns all request bodies and streams of the vectors: values under `request`, and the `lines` of a
/// stream.
fn vectors(folder: &Path) -> io::Result<Vec<Vec<u8>>> {
    let mut seeds = Vec::new();
    for path in files(folder, "json")? {
        if let Ok(vectors) = serde_json::from_slice::<Value>(&std::fs::read(&path)?) {
            collect(&vectors, &mut seeds);
        }
    }
    Ok(seeds)
}

fn collect(value: &Value, seeds: &mut Vec<Vec<u8>>) {
    match value {
        Value::Object(fields) => {
            for (key, field) in fields {
                match (key.as_str(), field) {
                    ("request", Value::Object(_)) => seeds.push(field.to_string().into_bytes()),
                    ("lines", Value::Array(lines)) => {
                        let lines: Vec<&str> = lines.iter().filter_map(Value::as_str).collect();
                        seeds.push(lines.join("\n").into_bytes());
                    }
                    _ => collect(field, seeds),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, seeds)),
        _ => {}
    }
}

fn files(folder: &Path, ending: &str) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files(&path, ending)?);
        } else if path.extension().is_some_and(|own| own == ending) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

fn write(folder: &Path, seeds: &[Vec<u8>]) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let fits = seeds.iter().filter(|seed| seed.len() <= MAX_SEED);
    let mut n_seeds = 0;
    for seed in fits {
        std::fs::write(folder.join(format!("seed-{n_seeds:04}")), seed)?;
        n_seeds += 1;
    }
    println!("{}: {n_seeds} seeds", folder.display());
    Ok(())
}
