//! Compares `brickbat serve` with other mock model servers, in one run on one machine: speed, memory
//! growth, the histories they reject, and the accuracy of cuts.
//!
//! `harness/bench/peers/run` installs the other servers and starts this program. The result is
//! `harness/bench/peers/result.json`, the source of the table on the page about speed. Each server is a
//! separate process and gives its own reply to the same request: a short text and a call of the offered
//! tool, streamed in Anthropic's format.

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

const USAGE: &str = "brickbat-peers BRICKBAT FOLDER RESULT [REQUESTS]";

/// Default number of requests over which memory is watched. A slow server gets fewer.
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
