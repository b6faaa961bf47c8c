//! How soon the search finds planted bugs, with and without guidance, and what a long sweep accuses the reference agent of.
//!
//! `cargo bench --bench search -- find [--seeds N] [--plans N] [--file FILE]` runs a campaign for each planted bug and seed,
//! guided by what the agent with that bug did, and another in which every scenario is a fresh one. A campaign ends at the
//! find. Plans are counted, not seconds: a busy machine changes nothing. FILE gets the table.
//!
//! `cargo bench --bench search -- sweep PLANS [SEED]` plays so many generated plans on the reference agent, in all dialects,
//! on every core, and fails if it is accused. The same seed gives the same plans.

#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on may stop")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use brickbat::agent::{Agent, Delivery};
use brickbat::flaws::Canary;
use brickbat::fuzz::novelty::features;
use brickbat::fuzz::{Campaign, Guidance};
use brickbat::oracle;
use brickbat::plan::Plan;
use brickbat::simulate::play;
use brickbat::verdict::Verdict;
use brickbat::yaml;
use serde::Serialize;

/// Scenarios that are drawn at once, as `brickbat fuzz` does with two jobs.
const BATCH: usize = 8;

/// Scenarios of one piece of a sweep, which one core takes at a time.
const PIECE: u64 = 1_000;

/// A planted bug over all seeds.
#[derive(Serialize)]
struct Row {
    canary: &'static str,
    guided: Finds,
    random: Finds,
}

/// Plans until the find, one for each seed in order; nothing where the campaign ended without one.
#[derive(Serialize)]
struct Finds(Vec<Option<usize>>);

/// What agents without a bug have shown after so many plans, for each seed.
#[derive(Serialize)]
struct Behaviours {
    plans: usize,
    guided: Vec<usize>,
    random: Vec<usize>,
}

#[derive(Serialize)]
struct Report {
    schema: u32,
    /// The most plans of a campaign.
    plans: usize,
    seeds: Vec<u64>,
    finds: Vec<Row>,
    behaviours: Vec<Behaviours>,
}

/// Runs a campaign on our agent, with a planted bug or without one; `after` looks at it after each plan and may end it.
fn campaign(
    seed: u64,
    guidance: Guidance,
    canary: Option<Canary>,
    n_plans: usize,
    mut after: impl FnMut(usize, &Campaign, bool) -> bool,
) {
    let mut campaign = Campaign::new(seed, guidance);
    let mut n = 0;
    while n < n_plans {
        let cases = campaign.cases(BATCH, |scenario| oracle::plan(scenario).is_some());
        let mut is_over = false;
        for case in &cases {
            let plan = oracle::plan(case).unwrap();
            let judgement = oracle::judgement(&plan, canary);
            let trace = play(&plan, agent(&plan, canary), None).trace;
            let checks = judgement.findings.iter().map(|finding| finding.check);
            campaign.report(case, &features(&trace, checks));
            let is_caught = canary.is_some_and(|canary| {
                judgement.verdict == Verdict::Fail
                    && judgement.findings.iter().any(|finding| finding.check == canary.caught_by())
            });
            n += 1;
            is_over |= after(n, &campaign, is_caught);
            if is_over {
                return;
            }
        }
    }
}

fn agent(plan: &Arc<Plan>, canary: Option<Canary>) -> Agent {
    Agent::of_plan(plan, Delivery::Streamed, canary)
}

fn plans_to_find(canary: Canary, seed: u64, guidance: Guidance, n_plans: usize) -> Option<usize> {
    let mut found = None;
    campaign(seed, guidance, Some(canary), n_plans, |n, _, is_caught| {
        found = is_caught.then_some(n);
        is_caught
    });
    found
}

/// Distinct behaviours after so many plans, in the order of `stops`.
fn behaviours(seed: u64, guidance: Guidance, stops: &[usize]) -> Vec<usize> {
    let mut counts = Vec::new();
    campaign(seed, guidance, None, stops.last().copied().unwrap_or_default(), |n, campaign, _| {
        if stops.contains(&n) {
            counts.push(campaign.n_features());
        }
        false
    });
    counts
}

fn find(n_seeds: u64, n_plans: usize, file: Option<&Path>) {
    let seeds: Vec<u64> = (1..=n_seeds).collect();
    let both = |canary: Canary| {
        let finds = |guidance| {
            Finds(seeds.iter().map(|seed| plans_to_find(canary, *seed, guidance, n_plans)).collect())
        };
        let row =
            Row { canary: canary.name(), guided: finds(Guidance::Novelty), random: finds(Guidance::None) };
        println!("{:<34} guided {:>22}   random {:>22}", row.canary, row.guided.words(), row.random.words());
        row
    };
    println!(
        "plans until the find: lower quartile, median, upper quartile of {n_seeds} seeds; - is none in {n_plans}"
    );
    let finds: Vec<Row> = Canary::all().map(both).collect();
    let stops: Vec<usize> = (0..4).rev().map(|halvings| n_plans >> (2 * halvings)).collect();
    let reached = |guidance| seeds.iter().map(|seed| behaviours(*seed, guidance, &stops)).collect::<Vec<_>>();
    let (guided, random) = (reached(Guidance::Novelty), reached(Guidance::None));
    let column = |rows: &[Vec<usize>], at: usize| rows.iter().map(|row| row[at]).collect();
    let behaviours = stops.iter().enumerate().map(|(at, plans)| {
        let row = Behaviours { plans: *plans, guided: column(&guided, at), random: column(&random, at) };
        let (mean, half) = paired(&row.guided, &row.random);
        println!("behaviours after {plans} plans: guided - random = {mean:.1} ± {half:.1} (95 %)");
        row
    });
    let report =
        Report { schema: 1, plans: n_plans, seeds: seeds.clone(), behaviours: behaviours.collect(), finds };
    if let Some(file) = file {
        std::fs::write(file, serde_json::to_string_pretty(&report).unwrap() + "\n").unwrap();
    }
}

/// Student's t for 95 %, for one to nine degrees of freedom.
const T: [f64; 9] = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262];

/// The mean of the paired differences and half of its 95 % interval, of two to ten pairs.
fn paired(one: &[usize], other: &[usize]) -> (f64, f64) {
    let n = one.len() as f64;
    let differences: Vec<f64> =
        one.iter().zip(other).map(|(one, other)| *one as f64 - *other as f64).collect();
    let mean = differences.iter().sum::<f64>() / n;
    let variance = differences.iter().map(|own| (own - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, T[one.len() - 2] * (variance / n).sqrt())
}

impl Finds {
    fn words(&self) -> String {
        let mut sorted: Vec<usize> = self.0.iter().map(|found| found.unwrap_or(usize::MAX)).collect();
        sorted.sort_unstable();
        let at = |quarter: usize| match sorted[(sorted.len() - 1) * quarter / 4] {
            usize::MAX => "-".to_owned(),
            n => n.to_string(),
        };
        format!("{} {} {}", at(1), at(2), at(3))
    }
}

/// What one core has played.
#[derive(Default)]
struct Played {
    by_dialect: BTreeMap<&'static str, u64>,
    /// The first scenario of each kind of accusation, with its text.
    accusations: BTreeMap<String, String>,
}

impl Played {
    fn piece(&mut self, seed: u64) {
        let mut campaign = Campaign::new(seed, Guidance::None);
        for case in campaign.cases(PIECE as usize, |scenario| oracle::plan(scenario).is_some()) {
            let plan = oracle::plan(&case).unwrap();
            *self.by_dialect.entry(plan.dialect.name()).or_default() += 1;
            if let Some(accusation) = oracle::accusation(&plan) {
                let kind = accusation.split(": ").nth(1).unwrap_or_default().to_owned();
                self.accusations.entry(kind).or_insert_with(|| {
                    let text = format!("{accusation}\n{}", yaml::text(&case));
                    // A sweep takes hours, and may be stopped.
                    eprintln!("{text}");
                    text
                });
            }
        }
    }
}

/// Plays generated plans on every core. Each piece has a seed of its own, which follows from the seed and its number.
fn sweep(n_plans: u64, seed: u64) {
    let (n_pieces, next) = (n_plans.div_ceil(PIECE), AtomicU64::new(0));
    let began = Instant::now();
    let worker = || {
        let mut played = Played::default();
        loop {
            let piece = next.fetch_add(1, Ordering::Relaxed);
            if piece >= n_pieces {
                return played;
            }
            if piece > 0 && piece.is_multiple_of(100) {
                let seconds = began.elapsed().as_secs_f64();
                eprintln!("{} plans, {:.0} a second", piece * PIECE, (piece * PIECE) as f64 / seconds);
            }
            played.piece(seed.wrapping_mul(1 << 32).wrapping_add(piece));
        }
    };
    let n_cores = thread::available_parallelism().map_or(1, usize::from);
    let parts: Vec<Played> = thread::scope(|scope| {
        let threads: Vec<_> = (0..n_cores).map(|_| scope.spawn(worker)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
    parts
        .iter()
        .flat_map(|part| &part.by_dialect)
        .for_each(|(dialect, n)| *sums.entry(dialect).or_default() += n);
    let accusations: BTreeMap<&String, &String> = parts.iter().flat_map(|part| &part.accusations).collect();
    accusations.values().for_each(|text| println!("{text}"));
    println!(
        "{} plans of seed {seed} in {:.0} s, {sums:?}: {} kinds of accusations",
        sums.values().sum::<u64>(),
        began.elapsed().as_secs_f64(),
        accusations.len()
    );
    assert!(accusations.is_empty(), "the reference agent is accused");
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let value = |name: &str| {
        let at = args.iter().position(|arg| *arg == name)?;
        args.get(at + 1).copied()
    };
    match args.as_slice() {
        ["find", ..] => {
            let known = BTreeSet::from(["--seeds", "--plans", "--file"]);
            assert!(args[1..].chunks(2).all(|pair| known.contains(pair[0])), "{args:?}");
            let n_seeds = value("--seeds").map_or(10, |text| text.parse().unwrap());
            assert!((2..=10).contains(&n_seeds), "--seeds is 2 to 10");
            let n_plans = value("--plans").map_or(4096, |text| text.parse().unwrap());
            find(n_seeds, n_plans, value("--file").map(Path::new));
        }
        ["sweep", n] => sweep(n.parse().unwrap(), 1),
        ["sweep", n, seed] => sweep(n.parse().unwrap(), seed.parse().unwrap()),
        _ => panic!("expected `find` or `sweep PLANS [SEED]`, not {args:?}"),
    }
}
