//! `brickbat-bench find [--seeds N] [--plans N] [--file FILE]`: how soon planted bugs are found by guided
//! and by random search.
//!
//! For each seed, one campaign of each kind runs. Every plan runs against the agent for each bug
//! that is not found yet, so all bugs get the same plans. The unit is plans, not seconds, so a busy
//! machine changes nothing. The figures are written to FILE, the source for the table in the book.

use std::path::Path;
use std::sync::Arc;
use std::thread;

use brickbat_engine::agent::{Agent, Delivery};
use brickbat_engine::flaws::Canary;
use brickbat_engine::simulate::{assess, play};
use brickbat_scenario::plan::Plan;
use brickbat_search::fuzz::novelty::features;
use brickbat_search::fuzz::{Campaign, Guidance};
use brickbat_search::oracle;
use serde::Serialize;

/// Number of scenarios drawn at a time, as in `brickbat fuzz` with two jobs.
const BATCH: usize = 8;

/// Points at which finds are counted: after a 64th, a 16th, a quarter, and all of the plans.
const STOPS: [usize; 4] = [64, 16, 4, 1];

#[derive(Serialize)]
struct Report {
    schema: u32,
    /// The maximum number of plans in a campaign.
    plans: usize,
    seeds: Vec<u64>,
    stops: Vec<Stop>,
    bugs: Vec<Row>,
}

/// Results after a number of plans: one value per seed, in order.
#[derive(Serialize)]
struct Stop {
    plans: usize,
    behaviours: Both<usize>,
    bugs: Both<usize>,
}

/// A planted bug: plans until it is found, one value per seed in order. Empty if the campaign did not find
/// it.
#[derive(Serialize)]
struct Row {
    bug: &'static str,
    plans: Both<Option<usize>>,
}

#[derive(Serialize)]
struct Both<T> {
    guided: Vec<T>,
    random: Vec<T>,
}

/// Results of one campaign.
struct Reached {
    /// Plans until each bug was found.
    finds: Vec<Option<usize>>,
    /// Distinct behaviours of the agent without a planted bug, after each stop.
    behaviours: Vec<usize>,
}

impl Reached {
    fn of(seed: u64, guidance: Guidance, stops: &[usize]) -> Reached {
        let mut campaign = Campaign::new(seed, guidance);
        let mut reached = Reached { finds: vec![None; Canary::all().len()], behaviours: Vec::new() };
        let last = stops.last().copied().unwrap_or_default();
        for n in (0..last).step_by(BATCH) {
            let cases = campaign.cases(BATCH, |scenario| oracle::plan(scenario).is_some());
            for (plan, n) in cases.iter().filter_map(oracle::plan).zip(n + 1..) {
                let right = play(&plan, Agent::of_plan(&plan, Delivery::Streamed, None), None);
                let judgement = assess(&plan, &right, None);
                let checks = judgement.findings.iter().map(|finding| finding.check);
                campaign.report(&features(&right.trace, checks));
                reached.find(&plan, n);
                if stops.contains(&n) {
                    reached.behaviours.push(campaign.n_features());
                }
            }
        }
        reached
    }

    fn find(&mut self, plan: &Arc<Plan>, n: usize) {
        let left = Canary::all().zip(&self.finds).filter(|(_, find)| find.is_none());
        let left: Vec<Canary> = left.map(|(canary, _)| canary).collect();
        let caught = oracle::caught(plan, &left);
        for (canary, find) in Canary::all().zip(&mut self.finds) {
            if caught.contains(&canary) {
                *find = Some(n);
            }
        }
    }

    fn n_bugs(&self, n_plans: usize) -> usize {
        self.finds.iter().flatten().filter(|n| **n <= n_plans).count()
    }
}

/// Runs each campaign on its own thread.
pub fn find(n_seeds: u64, n_plans: usize, file: Option<&Path>) {
    let seeds: Vec<u64> = (1..=n_seeds).collect();
    let stops: Vec<usize> = STOPS.iter().map(|share| n_plans / share).collect();
    let reached = &|seed: u64, guidance| {
        let reached = Reached::of(seed, guidance, &stops);
        eprintln!("{guidance:?}, seed {seed}: {} bugs, {:?}", reached.n_bugs(n_plans), reached.behaviours);
        reached
    };
    let all = thread::scope(|scope| {
        let start = |guidance| {
            let threads = seeds.iter().map(|seed| scope.spawn(move || reached(*seed, guidance)));
            threads.collect::<Vec<_>>()
        };
        let (guided, random) = (start(Guidance::Rarity), start(Guidance::None));
        let join = |threads: Vec<thread::ScopedJoinHandle<'_, Reached>>| {
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        };
        Both { guided: join(guided), random: join(random) }
    });
    let stops = stops.iter().enumerate().map(|(at, n)| Stop {
        plans: *n,
        behaviours: all.each(|reached| reached.behaviours[at]),
        bugs: all.each(|reached| reached.n_bugs(*n)),
    });
    let bugs = Canary::all()
        .enumerate()
        .map(|(at, canary)| Row { bug: canary.name(), plans: all.each(|reached| reached.finds[at]) });
    let report = Report { schema: 1, plans: n_plans, stops: stops.collect(), bugs: bugs.collect(), seeds };
    crate::write(file, &report);
}

impl Both<Reached> {
    fn each<T>(&self, of: impl Fn(&Reached) -> T) -> Both<T> {
        Both { guided: self.guided.iter().map(&of).collect(), random: self.random.iter().map(&of).collect() }
    }
}
