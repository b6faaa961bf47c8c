//! Measures how many small histories per second pass through the drivers of real filters in Node.js and
//! Python.
//!
//! `cargo bench --bench filter-drivers` prints the figures. Each driver is compared with a floor measured
//! in the same rounds: a driver of a few lines in the same language, which reads each question and writes
//! its request back. `-- --write` writes `harness/bench/filters/drivers.json`, the source of the table in
//! the book. `-- --quick` only checks that everything runs. The filters are installed into the cache
//! folder; the first run needs the network.
//!
//! The figures are CPU time of our process and of the driver's. Each process runs on its own core, so the
//! slower one determines the rate.

#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on may stop")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use brickbat::cli::embedded::filters;
use brickbat::driver::install::cache_folder;
use brickbat::driver::{FilterManifest, FilterProcess};
use brickbat::filter_suite::{Asked, Filter, Input, Outcome, Route, Said, judge};
use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;
use serde_json::{Map, Value};
use tokio::runtime::Runtime;

const PROGRAM: &str = env!("CARGO_BIN_EXE_brickbat");

/// The drivers, each with the mode that is measured.
const DRIVERS: [(&str, &str, Language); 7] = [
    ("ai-sdk", "chat-convert", Language::Node),
    ("langchain-js", "send-chat", Language::Node),
    ("llm-bridge", "to-anthropic", Language::Node),
    ("tool-call-repair", "synthesize", Language::Python),
    ("turnsafe", "repair", Language::Python),
    ("openai-agents", "chat-completions", Language::Python),
    ("langchain-openai", "send", Language::Python),
];

/// Maximum size of a small history in bytes.
const SMALL: usize = 1000;

/// How much to measure.
struct Effort {
    n_rounds: usize,
    n_histories: usize,
}

const FULL: Effort = Effort { n_rounds: 5, n_histories: 400 };
const QUICK: Effort = Effort { n_rounds: 1, n_histories: 20 };

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Language {
    Node,
    Python,
}

impl Language {
    fn floor(self) -> PathBuf {
        let name = match self {
            Language::Node => "node.yaml",
            Language::Python => "python.yaml",
        };
        Path::new(env!("CARGO_MANIFEST_DIR")).join("harness/bench/filters/echo").join(name)
    }
}

/// The results file.
#[derive(Serialize)]
struct Report {
    schema: u32,
    drivers: Vec<Driver>,
}

#[derive(Serialize)]
struct Driver {
    filter: String,
    mode: &'static str,
    language: Language,
    histories: usize,
    /// Average size of a question.
    bytes: usize,
    rows: Vec<Row>,
}

/// One way to process each history. The first row is the floor.
#[derive(Serialize)]
struct Row {
    what: &'static str,
    /// CPU time of the driver's process; the next field has that of ours.
    driver_micros: f64,
    our_micros: f64,
    /// The rate if each process has its own core.
    histories_per_second: u32,
    /// The driver's time divided by the floor's time; median of the rounds.
    of_floor: f64,
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| args.iter().any(|arg| arg == flag);
    assert!(!(has("--quick") && has("--write")), "quick figures are not written");
    let effort = if has("--quick") { QUICK } else { FULL };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let drivers = DRIVERS.into_iter().map(|driver| measured(driver, &effort, &runtime)).collect();
    let text = serde_json::to_string_pretty(&Report { schema: 1, drivers }).unwrap();
    println!("{text}");
    if has("--write") {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("harness/bench/filters/drivers.json");
        std::fs::write(path, text + "\n").unwrap();
    }
}

fn measured(
    (name, mode, language): (&str, &'static str, Language),
    effort: &Effort,
    runtime: &Runtime,
) -> Driver {
    let manifest = filters().manifests().iter().find(|manifest| manifest.name == name).unwrap();
    let chosen = manifest.modes.iter().find(|known| known.name == mode).unwrap();
    let route = chosen.routes().into_iter().next().unwrap();
    let floor = FilterManifest::read(&language.floor()).unwrap().remove(0);
    let (mut floor, mut filter) = (process(&floor, runtime), process(manifest, runtime));
    // The first questions start and compile the drivers.
    let inputs = small(&mut filter, &route, effort.n_histories);
    let asked: Vec<Asked> = inputs.iter().map(|input| Asked::about(&route, input)).collect();
    let mut times: [Vec<Times>; 3] = Default::default();
    for round in 0..=effort.n_rounds {
        let of_round = [
            Times::of(|| echoed(&mut floor, &asked)),
            Times::of(|| drop(filter.ask(&asked).unwrap())),
            Times::of(|| drop(judge(&mut filter, &route, None, &inputs).unwrap())),
        ];
        // The first round is a warm-up.
        if round > 0 {
            times.iter_mut().zip(of_round).for_each(|(times, time)| times.push(time));
        }
    }
    let n = inputs.len() as f64;
    let row = |what: &'static str, own: &[Times]| {
        let micros =
            |time: fn(&Times) -> Duration| median(own.iter().map(|own| time(own).as_secs_f64())) * 1e6 / n;
        let (driver, ours) = (micros(|times| times.driver), micros(|times| times.ours));
        let ratios = own.iter().zip(&times[0]);
        let ratios = ratios.map(|(own, floor)| own.driver.as_secs_f64() / floor.driver.as_secs_f64());
        Row {
            what,
            driver_micros: rounded(driver),
            our_micros: rounded(ours),
            histories_per_second: (1e6 / driver.max(ours)) as u32,
            of_floor: rounded(median(ratios)),
        }
    };
    let whats = ["floor: it is written back", "asked", "judged"];
    Driver {
        filter: manifest.full_name(),
        mode,
        language,
        histories: inputs.len(),
        bytes: asked.iter().map(|asked| asked.to_line(0).len()).sum::<usize>() / asked.len(),
        rows: whats.into_iter().zip(&times).map(|(what, times)| row(what, times)).collect(),
    }
}

fn process(manifest: &FilterManifest, runtime: &Runtime) -> FilterProcess {
    let places = (cache_folder().unwrap(), PathBuf::from(PROGRAM));
    let note = |words: &str| eprintln!("{words}");
    FilterProcess::prepare(manifest, (&places.0, &places.1), runtime.handle().clone(), &note).unwrap()
}

/// Returns small valid histories to ask the filter about. Histories that the route cannot carry are
/// skipped.
fn small(filter: &mut FilterProcess, route: &Route<'_>, n: usize) -> Vec<Input> {
    let is_small = |input: &Input| input.body.to_string().len() <= SMALL;
    let drawn = (0..).map(|n| Input::valid(route.from, 0, n)).filter(is_small);
    let drawn: Vec<Input> = drawn.take(2 * n).collect();
    let judged = judge(filter, route, None, &drawn).unwrap();
    let is_put = |outcome: &Outcome| matches!(outcome, Outcome::Judged { .. });
    let put = drawn.into_iter().zip(judged).filter(|(_, judged)| is_put(&judged.outcome));
    put.map(|(input, _)| input).take(n).collect()
}

fn echoed(floor: &mut FilterProcess, asked: &[Asked]) {
    let said = floor.ask(asked).unwrap();
    // JavaScript writes 1.0 as 1, so only sizes are compared.
    let size = |body: &Value| body.as_object().map(Map::len).or(body.as_array().map(Vec::len)).unwrap();
    let is_same = |(asked, said): (&Asked, &Said)| said.body().map(size) == Some(size(&asked.request));
    assert!(asked.iter().zip(&said).all(is_same));
}

/// The CPU time of a piece of work, in the driver and in our process.
struct Times {
    driver: Duration,
    ours: Duration,
}

impl Times {
    fn of(work: impl FnOnce()) -> Times {
        let (driver, ours) = (of_children(), own());
        work();
        Times { driver: of_children().saturating_sub(driver), ours: own() - ours }
    }
}

/// Returns the CPU time of all threads of this process.
fn own() -> Duration {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(now.tv_sec.try_into().unwrap(), now.tv_nsec.try_into().unwrap())
}

/// Returns the CPU time of all threads of all child processes.
fn of_children() -> Duration {
    let numbers = std::fs::read_dir("/proc").unwrap().flatten();
    let numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let parents: BTreeMap<u32, u32> = numbers.filter_map(|number| Some((number, parent(number)?))).collect();
    let is_below = |number: &u32| {
        let mut above = parents.get(number);
        while let Some(parent) = above {
            if *parent == std::process::id() {
                return true;
            }
            above = parents.get(parent);
        }
        false
    };
    Duration::from_nanos(parents.keys().filter(|number| is_below(number)).map(|number| nanos(*number)).sum())
}

/// The name in `/proc/N/stat` can contain any character.
fn parent(number: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{number}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

/// Sums the CPU time of the threads: the first number in each thread's `schedstat`. A thread that has
/// ended is left out.
fn nanos(number: u32) -> u64 {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{number}/task")) else { return 0 };
    let texts =
        threads.flatten().filter_map(|thread| std::fs::read_to_string(thread.path().join("schedstat")).ok());
    texts.filter_map(|text| text.split_whitespace().next()?.parse::<u64>().ok()).sum()
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Rounds to two decimal places.
fn rounded(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}
