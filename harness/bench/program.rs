//! Measures the program as users run it: CPU time of complete suites, and its size.
//!
//! `cargo bench --bench program` runs the suite against the reference agent over sockets. `-- --sdk` runs it
//! against AI SDK 6 in two dialects instead; this needs Node.js and, the first time, the network.
//! `figures.rs` describes `-- --figures FILE`.

#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on may stop")]

#[path = "src/figures.rs"]
mod figures;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use figures::Wish;

const PROGRAM: &str = env!("CARGO_BIN_EXE_brickbat");

const N_ROUNDS: usize = 5;

const SDK: [&str; 7] = [
    "--system",
    "ai-sdk@6/ui-messages",
    "--no-confirm",
    "--dialect",
    "anthropic-messages",
    "--dialect",
    "openai-chat",
];

/// One run of the program.
struct Round {
    n_plans: usize,
    wall: Duration,
}

/// Runs the suite without records. Findings do not fail the benchmark; plans that cannot be judged do.
fn suite(options: &[&str], folder: &Path) -> Round {
    let report = folder.join("report.json");
    let start = Instant::now();
    let mut command = Command::new(PROGRAM);
    command.args(["run", "--no-out", "--report"]).arg(&report).args(options);
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
    let wall = start.elapsed();
    assert!(matches!(status.code(), Some(0 | 1)), "{command:?}: {status}");
    let report: serde_json::Value = serde_json::from_slice(&std::fs::read(report).unwrap()).unwrap();
    let n_plans = report["cases"].as_array().unwrap().len();
    Round { n_plans, wall }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() {
    let is_sdk = std::env::args().any(|arg| arg == "--sdk");
    let folder = tempfile::tempdir().unwrap();
    let (command, what, options): (_, _, &[&str]) = if is_sdk {
        ("cargo bench --bench program -- --sdk", "the suite on AI SDK 6 in two dialects", &SDK)
    } else {
        ("cargo bench --bench program", "the suite on the reference agent, over sockets", &[])
    };
    let mut wish = Wish::of_args(command);
    let rounds: Vec<Round> = (0..N_ROUNDS).map(|_| suite(options, folder.path())).collect();
    let wall = |round: &Round| round.wall.as_secs_f64();
    let seconds = median(rounds.iter().map(wall).collect());
    let n_plans = rounds[0].n_plans;
    println!("{what}: {n_plans} plans in {seconds:.2} s, {:.0} plans/s", n_plans as f64 / seconds);
    wish.take(format!("{what}, {n_plans} plans"), (seconds, "s"), &[]);
    wish.take(format!("{what}, rate"), (n_plans as f64 / seconds, "plans/s"), &[]);
    if !is_sdk {
        let bytes = std::fs::metadata(PROGRAM).unwrap().len();
        wish.take("size of the program", (bytes as f64 / 1e6, "MB"), &[]);
    }
    assert!(wish.close(), "a ratio is much worse than it was");
}
