//! `brickbat-bench sweep PLANS [SEED [FIRST]] [--file FILE]` runs PLANS generated plans on the reference
//! agent, in all dialects and on every core. It fails if any plan accuses the agent.
//!
//! The same seed gives the same plans. The first FIRST plans are skipped, so a sweep of hours can be done in
//! parts. The results are appended to FILE, and the book sums up all parts in one sentence.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use brickbat_scenario::yaml;
use brickbat_search::generate::{self, Source};
use brickbat_search::oracle;
use serde::{Deserialize, Serialize};

use crate::clock::cpu_time;

/// The number of plans in one piece. A core takes one piece at a time.
const PIECE: u64 = 1_000;

/// Pieces between two progress lines.
const PIECES_TO_A_LINE: u64 = 100;

/// A part of a sweep. A file holds a list of parts.
#[derive(Serialize, Deserialize)]
struct Part {
    seed: u64,
    /// The number of the first plan.
    first: u64,
    plans: u64,
    plans_by_dialect: BTreeMap<String, u64>,
    kinds_of_accusations: usize,
    /// CPU time of all cores together.
    cpu_hours: f64,
}

/// Results of one core.
#[derive(Default)]
struct Played {
    by_dialect: BTreeMap<&'static str, u64>,
    /// The first scenario for each kind of accusation, with its text.
    accusations: BTreeMap<String, String>,
    cpu_time: Duration,
}

impl Played {
    fn piece(&mut self, seed: u64) {
        let source = &mut Source::seeded(seed);
        let mut n_played = 0;
        while n_played < PIECE {
            let scenario = generate::draw(source);
            let Some(plan) = oracle::plan(&scenario) else { continue };
            n_played += 1;
            *self.by_dialect.entry(plan.dialect.name()).or_default() += 1;
            if let Some(accusation) = oracle::accusation(&plan) {
                let kind = accusation.split(": ").nth(1).unwrap_or_default().to_owned();
                self.accusations.entry(kind).or_insert_with(|| {
                    let text = format!("{accusation}\n{}", yaml::text(&scenario));
                    // Print it at once: a sweep takes hours and may be interrupted.
                    eprintln!("{text}");
                    text
                });
            }
        }
    }
}

/// Runs generated plans on every core. Each piece's seed is derived from the sweep's seed and the
/// piece's number.
pub fn sweep(n_plans: u64, seed: u64, first: u64, file: Option<&Path>) {
    let (first, n_pieces) = (first / PIECE, n_plans.div_ceil(PIECE));
    let mut parts: Vec<Part> = match file.map(std::fs::read_to_string) {
        Some(Err(error)) if error.kind() == ErrorKind::NotFound => Vec::new(),
        Some(text) => serde_json::from_str(&text.unwrap()).unwrap(),
        None => Vec::new(),
    };
    let (begin, end) = (first * PIECE, (first + n_pieces) * PIECE);
    let is_apart = |part: &Part| part.seed != seed || part.first + part.plans <= begin || end <= part.first;
    assert!(parts.iter().all(is_apart), "some of these plans are in the file already");
    let next = AtomicU64::new(0);
    let began = Instant::now();
    let worker = || {
        let mut played = Played::default();
        loop {
            let piece = next.fetch_add(1, Ordering::Relaxed);
            if piece >= n_pieces {
                played.cpu_time = cpu_time();
                return played;
            }
            if piece > 0 && piece.is_multiple_of(PIECES_TO_A_LINE) {
                let seconds = began.elapsed().as_secs_f64();
                eprintln!("{} plans, {:.0} a second", piece * PIECE, (piece * PIECE) as f64 / seconds);
            }
            played.piece(seed.wrapping_mul(1 << 32).wrapping_add(first + piece));
        }
    };
    let n_cores = thread::available_parallelism().map_or(1, usize::from);
    let cores: Vec<Played> = thread::scope(|scope| {
        let threads: Vec<_> = (0..n_cores).map(|_| scope.spawn(worker)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let mut plans_by_dialect: BTreeMap<String, u64> = BTreeMap::new();
    for (dialect, n) in cores.iter().flat_map(|core| &core.by_dialect) {
        *plans_by_dialect.entry((*dialect).to_owned()).or_default() += n;
    }
    let accusations: BTreeMap<&String, &String> = cores.iter().flat_map(|core| &core.accusations).collect();
    accusations.values().for_each(|text| println!("{text}"));
    let part = Part {
        seed,
        first: begin,
        plans: plans_by_dialect.values().sum(),
        plans_by_dialect,
        kinds_of_accusations: accusations.len(),
        cpu_hours: cores.iter().map(|core| core.cpu_time.as_secs_f64()).sum::<f64>() / 3600.0,
    };
    parts.push(part);
    crate::write(file, &parts);
    assert!(accusations.is_empty(), "the reference agent is accused");
}
