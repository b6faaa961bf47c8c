//! Shrinking: makes a failing scenario smaller as long as it fails for the same cause.
//!
//! It uses hierarchical delta debugging: it removes turns first, then actions, replies, attempts, calls,
//! texts, and properties of tools and calls; finally it simplifies values. A given history is also a
//! conversation: its messages are removed with the results of their calls, then its blocks and results. For
//! each kind, all elements are tried at once, then halves, down to single elements. This repeats until no
//! single element can be removed: then the scenario is 1-minimal.
//!
//! Nothing is run here. A [`Shrinker`] returns candidates and is told which of them still trigger the cause,
//! so it works for the simulation and for real systems. A candidate is valid by construction, because the
//! removal of a call also removes all references to it. A candidate that still cannot be run is never
//! returned, and none is returned twice.

mod edit;
mod given;
mod plain;
mod rate;
mod search;

use std::collections::BTreeMap;

pub use edit::{singles, size};
pub use rate::Rate;

use brickbat_engine::agent::{Agent, Delivery};
use brickbat_engine::simulate::judged;
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::lower;
use brickbat_scenario::plan::Plan;
use brickbat_scenario::scenario::Scenario;
use brickbat_scenario::verdict::{Finding, Verdict};
use search::Search;

/// How candidates are run: everything that does not change while a scenario shrinks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setting<'a> {
    /// The id under which candidates are lowered; wire ids are minted from it.
    pub id: &'a str,
    pub dialect: Dialect,
    /// The seed for the wire ids.
    pub seed: u64,
    /// The agent or system whose failure is minimised.
    pub accused: Accused,
}

/// The subject of a failure, which decides what a scenario must do to prove anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accused {
    /// A system: the reference agent must pass the scenario, because otherwise the scenario requires
    /// something that a correct agent does not do.
    System,
    /// The reference agent itself, which is a finding about Brickbat.
    Reference,
}

/// The result of a scenario with the reference agent in the simulation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trial {
    /// It cannot be run.
    Unplayable,
    /// The planned events do not happen, so it proves nothing about a system.
    Unproven,
    /// It passes.
    Passed,
    /// It has these findings, which point to a bug in the suite or the agent.
    Accused(Vec<Finding>),
}

impl Setting<'_> {
    /// True if a scenario can be run and proves something about the accused: the reference agent passes it in
    /// the simulation, or fails it if it is the accused itself.
    pub fn is_valid(&self, scenario: &Scenario) -> bool {
        match (self.accused, self.trial(scenario)) {
            (Accused::System, Trial::Passed) | (Accused::Reference, Trial::Accused(_)) => true,
            (Accused::System | Accused::Reference, _) => false,
        }
    }

    /// Runs a scenario with the reference agent.
    pub fn trial(&self, scenario: &Scenario) -> Trial {
        let plan = lower::lower(self.id, "", scenario, self.dialect, self.seed);
        let Some(plan) = plan.ok().filter(|plan| plan.impossible.is_none()) else { return Trial::Unplayable };
        let reference = |plan: &Plan| Agent::of_plan(plan, Delivery::Streamed, None);
        // If the control plan does not pass, its findings are used.
        let judgement = judged(&plan, reference).unwrap_or_else(|control| *control);
        match judgement.verdict {
            Verdict::Pass => Trial::Passed,
            Verdict::Fail => Trial::Accused(judgement.findings),
            Verdict::Vacuous
            | Verdict::Inconclusive
            | Verdict::Unreachable
            | Verdict::Unsupported
            | Verdict::NotRun
            | Verdict::HarnessError => Trial::Unproven,
        }
    }
}

/// Makes a scenario smaller, one verdict after the other.
///
/// ```text
/// loop {
///     let candidates = shrinker.candidates(n_at_once);
///     if candidates.is_empty() { break }
///     shrinker.report(&whether_each_shows_the_cause(&candidates));
/// }
/// shrinker.smallest()
/// ```
#[derive(Debug, Clone)]
pub struct Shrinker<'a> {
    setting: Setting<'a>,
    search: Search,
    /// For each candidate, by its text: true if it showed the cause.
    known: BTreeMap<String, bool>,
    /// The candidates that were returned last.
    open: Vec<String>,
    n_runs: usize,
    budget: usize,
}

impl<'a> Shrinker<'a> {
    /// Starts with a scenario that triggers the cause. Returns at most `budget` candidates in total.
    pub fn new(scenario: &Scenario, setting: Setting<'a>, budget: usize) -> Shrinker<'a> {
        let known = BTreeMap::from([(text(scenario), true)]);
        let search = Search::of(scenario.clone());
        Shrinker { setting, search, known, open: Vec::new(), n_runs: 0, budget }
    }

    /// The next candidates to run, at most `at_once`. `None` if nothing is left to try or the budget is used
    /// up.
    ///
    /// The first is the next candidate; the others follow if those before them do not trigger the cause.
    /// `at_once` does not influence the final scenario, only the number of runs.
    pub fn candidates(&mut self, at_once: usize) -> Vec<Scenario> {
        self.follow();
        let mut ahead = self.search.clone();
        let mut candidates = Vec::new();
        self.open.clear();
        let at_once = at_once.min(self.budget - self.n_runs);
        while candidates.len() < at_once
            && let Some(candidate) = ahead.candidate(&self.setting)
        {
            let text = text(&candidate);
            let known = self.known.get(&text).copied();
            if known.is_none() && !self.open.contains(&text) {
                self.open.push(text);
                candidates.push(candidate);
            }
            ahead.step(known.unwrap_or(false));
        }
        self.n_runs += candidates.len();
        candidates
    }

    /// Takes the verdicts on the last candidates: true if the candidate still triggers the cause. A missing
    /// verdict counts as false.
    pub fn report(&mut self, shows: &[bool]) {
        for (at, text) in self.open.drain(..).enumerate() {
            self.known.insert(text, shows.get(at).copied().unwrap_or(false));
        }
        self.follow();
    }

    /// The smallest scenario so far that triggers the cause.
    pub fn smallest(&self) -> &Scenario {
        self.search.current()
    }

    /// True if nothing is left to try: no single element of the smallest scenario can be removed.
    pub fn is_minimal(&self) -> bool {
        self.search.is_over()
    }

    pub fn n_runs(&self) -> usize {
        self.n_runs
    }

    /// Continues as far as the verdicts are known.
    fn follow(&mut self) {
        while let Some(candidate) = self.search.candidate(&self.setting)
            && let Some(shows) = self.known.get(&text(&candidate))
        {
            self.search.step(*shows);
        }
    }
}

/// Shrinks to the smallest scenario with a function that gives the verdicts. Returns the shrinker.
pub fn shrink<'a>(
    scenario: &Scenario,
    setting: Setting<'a>,
    budget: usize,
    mut shows: impl FnMut(&Scenario) -> bool,
) -> Shrinker<'a> {
    let mut shrinker = Shrinker::new(scenario, setting, budget);
    loop {
        let candidates = shrinker.candidates(1);
        if candidates.is_empty() {
            return shrinker;
        }
        let verdicts: Vec<bool> = candidates.iter().map(&mut shows).collect();
        shrinker.report(&verdicts);
    }
}

/// A text that is equal only for equal scenarios.
fn text(scenario: &Scenario) -> String {
    let history = scenario.given.as_ref().map(|given| &given.content);
    serde_json::to_string(&(scenario, history)).unwrap_or_default()
}
