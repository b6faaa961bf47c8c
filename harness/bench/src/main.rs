//! Measures Brickbat in-process: its speed, and the effort that it needs to find bugs.
//!
//! `plans` and `rules` print CPU times of one thread, each with the ratio to a floor that was measured in
//! the same rounds. A busy machine slows both equally, so compare the ratios. Each module describes its
//! command, and `figures.rs` describes the two files.

#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on may stop")]

mod clock;
mod figures;
mod find;
mod measure;
mod plans;
#[cfg(feature = "proptest")]
mod race;
mod rules;
mod sweep;
mod targets;
mod worlds;

use std::path::Path;
use std::time::Duration;

use brickbat_rules::dialect::Dialect;
use figures::Wish;
use measure::Effort;
use serde::Serialize;

const USAGE: &str = "\
brickbat-bench plans|rules [--quick] [--figures FILE] [--against FILE]
brickbat-bench find [--seeds N] [--plans N] [--file FILE]
brickbat-bench race --libfuzzer TARGET [--seeds N] [--seconds N] [--file FILE]
brickbat-bench targets --folder DIR --corpus SEEDS [--seconds N] [--figures FILE]
brickbat-bench worlds [--file FILE]
brickbat-bench sweep PLANS [SEED [FIRST]] [--file FILE]
brickbat-bench spin plans|agent|DIALECT SECONDS";

/// Maximum number of attempts if a ratio is too bad; the last one counts. A moment of disturbance rarely
/// repeats, while a real slowdown stays.
const N_TRIES: usize = 2;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let value = |name: &str| {
        let at = args.iter().position(|arg| *arg == name)?;
        Some(*args.get(at + 1).unwrap_or_else(|| panic!("{name} needs a value")))
    };
    let number = |name: &str| value(name).map(|text| text.parse::<usize>().unwrap());
    let known = |names: &[&str]| {
        let is_known = |pair: &[&str]| names.contains(&pair[0]);
        assert!(args[1..].chunks(2).all(is_known), "expected {names:?}, each with a value: {args:?}");
    };
    let effort = if args.contains(&"--quick") { measure::QUICK } else { measure::FULL };
    match args.as_slice() {
        ["plans", ..] => figures(effort, "brickbat-bench plans", plans::measure),
        ["rules", ..] => figures(effort, "brickbat-bench rules", rules::measure),
        ["find", ..] => {
            known(&["--seeds", "--plans", "--file"]);
            let n_seeds = number("--seeds").unwrap_or(10) as u64;
            find::find(n_seeds, number("--plans").unwrap_or(512), value("--file").map(Path::new));
        }
        #[cfg(feature = "proptest")]
        ["race", ..] => {
            known(&["--libfuzzer", "--seeds", "--seconds", "--file"]);
            let target = value("--libfuzzer").unwrap_or_else(|| panic!("--libfuzzer is missing"));
            let n_seeds = number("--seeds").unwrap_or(10) as u64;
            let seconds = number("--seconds").unwrap_or(60) as u64;
            race::race(Path::new(target), n_seeds, seconds, value("--file").map(Path::new));
        }
        #[cfg(not(feature = "proptest"))]
        ["race", ..] => {
            eprintln!("race compares with proptest: build it with --features brickbat-bench/proptest");
            std::process::exit(2);
        }
        ["targets", ..] => {
            known(&["--folder", "--corpus", "--seconds", "--figures"]);
            let path = |name: &str| Path::new(value(name).unwrap_or_else(|| panic!("{name} is missing")));
            let mut wish = Wish::of_args("brickbat-bench targets");
            let seconds = number("--seconds").unwrap_or(60);
            targets::measure(path("--folder"), path("--corpus"), seconds, &mut wish);
            assert!(wish.close(), "nothing is compared with an earlier file");
        }
        ["worlds", ..] => {
            known(&["--file"]);
            worlds::measure(value("--file").map(Path::new));
        }
        ["sweep", n_plans, rest @ ..] => {
            let numbers = rest.iter().take_while(|text| !text.starts_with('-'));
            let numbers: Vec<u64> = numbers.map(|text| text.parse().unwrap()).collect();
            let (seed, first) = (numbers.first().copied().unwrap_or(1), numbers.get(1).copied().unwrap_or(0));
            sweep::sweep(n_plans.parse().unwrap(), seed, first, value("--file").map(Path::new));
        }
        ["spin", "plans", seconds] => spin(plans::whole(), seconds),
        ["spin", "agent", seconds] => spin(plans::inputs(), seconds),
        ["spin", dialect, seconds] => spin(rules::dense(Dialect::from_name(dialect).unwrap()), seconds),
        ["-h" | "--help"] => println!("{USAGE}"),
        _ => {
            eprintln!("{USAGE}");
            std::process::exit(2);
        }
    }
}

/// Measures, then writes and compares as the command line asks.
fn figures(effort: Effort, command: &str, measure: fn(Effort, &mut Wish)) {
    let is_fine = |_| {
        let mut wish = Wish::of_args(command);
        measure(effort, &mut wish);
        wish.close()
    };
    if !(0..N_TRIES).any(is_fine) {
        std::process::exit(1);
    }
}

/// Repeats `work` for the given CPU time in seconds, for a profiler.
fn spin(work: impl Fn(), seconds: &str) {
    let until = clock::cpu_time() + Duration::from_secs(seconds.parse().unwrap());
    while clock::cpu_time() < until {
        work();
    }
}

/// Writes a report to its file, or prints it.
fn write(file: Option<&Path>, report: &impl Serialize) {
    let text = serde_json::to_string_pretty(report).unwrap() + "\n";
    match file {
        Some(file) => std::fs::write(file, text).unwrap(),
        None => print!("{text}"),
    }
}
