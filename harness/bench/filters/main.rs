//! Measures how many histories per second our own `repair` processes, with and without judging, and where
//! the time goes.
//!
//! `cargo bench -p brickbat-filter-suite` prints the figures in CPU time of one thread. Each row is
//! compared with a floor measured in the same round: reading the same bodies once with
//! `serde_json::from_slice::<Value>`. `-- --write` writes `harness/bench/filters/result.json`, the source
//! of the tables in the book. `-- --quick` only checks that everything runs.

#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on may stop")]
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "what is measured is pure, and the measurement is not"
)]

#[path = "../src/clock.rs"]
mod clock;
mod result;
mod rows;

use std::path::Path;

use result::Report;

/// How much to measure.
#[derive(Clone, Copy)]
struct Effort {
    n_rounds: usize,
    /// Number of histories per dialect.
    n_histories: u64,
}

const FULL: Effort = Effort { n_rounds: 5, n_histories: 256 };
const QUICK: Effort = Effort { n_rounds: 1, n_histories: 20 };

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| args.iter().any(|arg| arg == flag);
    let effort = if has("--quick") { QUICK } else { FULL };
    let report = Report { schema: 1, sets: rows::measured(effort) };
    let text = serde_json::to_string_pretty(&report).unwrap();
    println!("{text}");
    if has("--write") {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../bench/filters/result.json");
        std::fs::write(path, text + "\n").unwrap();
    }
}
