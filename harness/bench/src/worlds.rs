//! `brickbat-bench worlds [--file FILE]`: runs every small world on the reference agent and on every
//! planted bug.
//!
//! Each world is lowered for every dialect that can express it. Equal plans are counted only once.
//! A bug is tried until a plan reveals it. The figures are written to FILE, the source for the
//! table in the book.

use std::collections::BTreeMap;
use std::path::Path;

use brickbat_engine::flaws::Canary;
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::hash::fnv1a;
use brickbat_scenario::scenario::Scenario;
use brickbat_scenario::yaml;
use brickbat_search::oracle;
use brickbat_search::worlds;
use serde::Serialize;

#[derive(Serialize)]
struct Report {
    schema: u32,
    sizes: Vec<Size>,
    bugs: Vec<Bug>,
}

/// All worlds of one size.
#[derive(Default, Serialize)]
struct Size {
    turns: usize,
    calls: usize,
    /// Number of scenarios.
    scenarios: usize,
    /// Number of their plans that a dialect can play.
    plans: usize,
    /// Number of distinct plans.
    distinct: usize,
    /// Planted bugs that this size reveals and no smaller size does.
    bugs: usize,
}

/// The first world that reveals a planted bug, if there is one.
#[derive(Default, Serialize)]
struct Bug {
    bug: &'static str,
    turns: Option<usize>,
    calls: Option<usize>,
    /// The action in that world, as text. `None` if the conversation reveals the bug without an
    /// action.
    action: Option<String>,
    dialect: Option<&'static str>,
}

/// Worlds between two progress lines.
const WORLDS_TO_A_LINE: usize = 1_000;

/// Results so far.
#[derive(Default)]
struct Seen {
    sizes: BTreeMap<(usize, usize), Size>,
    /// The size in which each plan first occurred.
    plans: BTreeMap<u64, (usize, usize)>,
    /// The first world that showed each bug.
    shown: BTreeMap<&'static str, Bug>,
}

fn size(scenario: &Scenario) -> (usize, usize) {
    (scenario.calls().count(), scenario.turns.len())
}

impl Seen {
    fn world(&mut self, scenario: &Scenario) {
        let own = self.sizes.entry(size(scenario)).or_default();
        own.scenarios += 1;
        for plan in Dialect::ALL.into_iter().filter_map(|dialect| oracle::plan_on(scenario, dialect)) {
            own.plans += 1;
            let hash = fnv1a(&serde_json::to_vec(&*plan).unwrap());
            if self.plans.contains_key(&hash) {
                continue;
            }
            self.plans.insert(hash, size(scenario));
            assert_eq!(oracle::accusation(&plan), None, "{}", yaml::text(scenario));
            let left = Canary::all().filter(|canary| !self.shown.contains_key(canary.name()));
            for canary in oracle::caught(&plan, &left.collect::<Vec<_>>()) {
                self.shown.insert(canary.name(), Bug::shown(canary, scenario, plan.dialect));
            }
        }
    }

    fn report(mut self) -> Report {
        for size in self.plans.values() {
            self.sizes.entry(*size).or_default().distinct += 1;
        }
        for bug in self.shown.values() {
            if let (Some(calls), Some(turns)) = (bug.calls, bug.turns) {
                self.sizes.entry((calls, turns)).or_default().bugs += 1;
            }
        }
        for ((calls, turns), size) in &mut self.sizes {
            (size.calls, size.turns) = (*calls, *turns);
        }
        let bugs = Canary::all().map(|canary| match self.shown.remove(canary.name()) {
            Some(bug) => bug,
            None => Bug { bug: canary.name(), ..Bug::default() },
        });
        let bugs = bugs.collect();
        Report { schema: 1, sizes: self.sizes.into_values().collect(), bugs }
    }
}

impl Bug {
    fn shown(canary: Canary, scenario: &Scenario, dialect: Dialect) -> Bug {
        let (calls, turns) = size(scenario);
        let action = scenario.turns.iter().flat_map(|turn| &turn.at).next();
        Bug {
            bug: canary.name(),
            turns: Some(turns),
            calls: Some(calls),
            action: action.map(|at| at.words()),
            dialect: Some(dialect.name()),
        }
    }
}

/// Runs every world on one thread. A bug that was found is not tried again.
pub fn measure(file: Option<&Path>) {
    let n_worlds = worlds::all().count();
    let mut seen = Seen::default();
    for (number, scenario) in worlds::all().enumerate() {
        if number.is_multiple_of(WORLDS_TO_A_LINE) {
            let n_left = Canary::all().len() - seen.shown.len();
            eprintln!("{number} of {n_worlds} worlds, {} plans, {n_left} bugs left", seen.plans.len());
        }
        seen.world(&scenario);
    }
    crate::write(file, &seen.report());
}
