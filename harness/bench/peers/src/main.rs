//! `brickbat serve` next to other servers that stand in for a model, in one run on one machine: how fast they answer, how
//! their memory grows, which histories they refuse, and whether a cut is where it was asked for.
//!
//! `harness/bench/peers/run` installs the others and starts this; the result is `harness/bench/peers/result.json`, of
//! which the page about speed shows a table. Each server is a process of its own and gives its own reply to one request:
//! a short text and a call of the tool that is offered, streamed as Anthropic streams.

#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on may stop")]

mod client;
mod contestant;
mod cuts;
mod fixtures;
mod histories;
mod load;
mod result;

use std::path::{Path, PathBuf};

use contestant::{Contestant, Who};
use result::{Report, Row};

/// How the program is started.
const USAGE: &str = "brickbat-peers BRICKBAT FOLDER RESULT [REQUESTS]";

/// Requests over which memory is watched, unless another number is given; a slow server gets fewer.
const N_REQUESTS: usize = 200_000;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [contestant::WIREMOCK] => contestant::serve_wiremock(),
        [brickbat, folder, result] => compare(Path::new(brickbat), Path::new(folder), result, N_REQUESTS),
        [brickbat, folder, result, n] => {
            compare(Path::new(brickbat), Path::new(folder), result, n.parse().expect(USAGE));
        }
        _ => {
            eprintln!("{USAGE}");
            std::process::exit(2);
        }
    }
}

fn compare(brickbat: &Path, folder: &Path, result: &str, n_requests: usize) {
    fixtures::write(folder);
    let start = |who: &Who| Contestant::start(*who, brickbat, folder);
    let all: Vec<Who> = Who::ALL.into_iter().filter(|who| who.is_installed(folder)).collect();
    let root: PathBuf = [env!("CARGO_MANIFEST_DIR"), "..", "..", ".."].iter().collect();
    let versions: Vec<_> = all.iter().map(|who| who.version(brickbat, folder, &root)).collect();

    let speeds = load::speeds(&all.iter().map(start).collect::<Vec<_>>());
    eprintln!("speed: done");
    let vectors = histories::vectors(&root.join("corpora/histories"));
    let histories: Vec<_> = all.iter().map(|who| histories::ask(&start(who), &vectors)).collect();
    eprintln!("histories: done");
    let cuts: Vec<_> = all.iter().map(|who| cuts::ask(*who, brickbat, folder)).collect();
    eprintln!("cuts: done");
    let memory = load::memory(all.iter().map(start).collect(), n_requests);
    eprintln!("memory: done");

    let mut rows = Vec::new();
    for (((who, version), speed), ((histories, cuts), memory)) in
        all.into_iter().zip(versions).zip(speeds).zip(histories.into_iter().zip(cuts).zip(memory))
    {
        rows.push(Row { name: who.name().to_owned(), version, speed, memory, histories, cuts });
    }
    let report = Report { schema: 1, rows };
    let mut text = serde_json::to_string_pretty(&report).unwrap();
    text.push('\n');
    std::fs::write(result, text).unwrap();
}
