//! Shrinking: a failing scenario is made smaller as long as it fails for the same cause.
//!
//! It is hierarchical delta debugging: turns are taken out first, then actions, replies, attempts, calls, texts, and
//! properties of tools and calls; in the end values are made plain. A given history is a conversation as well: its messages
//! go with the results of their calls, then its blocks and results. Each kind is tried all at once, then in halves,
//! down to single elements, and over again until no single element can go: then the scenario is 1-minimal.
//!
//! Nothing is run here. A [`Shrinker`] hands out candidates and takes back which of them still show the cause, so the same
//! one works on the simulation and on real systems. A candidate is valid by construction, since what takes out a call
//! takes out what names it as well; one that still cannot be played is never handed out, and none is handed out twice.

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

/// How candidates are played: what does not change while a scenario shrinks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setting<'a> {
    /// The id under which candidates are lowered; wire ids are minted from it.
    pub id: &'a str,
    pub dialect: Dialect,
    /// The seed of the wire ids.
    pub seed: u64,
    /// Whose failure is minimised.
    pub accused: Accused,
}

/// Whom a failure accuses, which decides what a scenario must be to prove anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accused {
    /// A system: the reference agent has to pass the scenario, or it demands what no correct agent does.
    System,
    /// The reference agent itself, which is a finding about Brickbat.
    Reference,
}

/// What the reference agent makes of a scenario in the simulation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trial {
    /// It cannot be played.
    Unplayable,
    /// What it plans does not come to pass, so it proves nothing about a system.
    Unproven,
    /// It passes.
    Passed,
    /// It is accused of this, which is a bug of the suite or of the agent.
    Accused(Vec<Finding>),
}

impl Setting<'_> {
    /// Whether a scenario can be played, and proves something about the accused: the reference agent passes it in the
    /// simulation, or, where it is the accused itself, fails it.
    pub fn is_valid(&self, scenario: &Scenario) -> bool {
        match (self.accused, self.trial(scenario)) {
            (Accused::System, Trial::Passed) | (Accused::Reference, Trial::Accused(_)) => true,
            (Accused::System | Accused::Reference, _) => false,
        }
    }

    /// What the reference agent makes of a scenario.
    pub fn trial(&self, scenario: &Scenario) -> Trial {
        let plan = lower::lower(self.id, "", scenario, self.dialect, self.seed);
        let Some(plan) = plan.ok().filter(|plan| plan.impossible.is_none()) else { return Trial::Unplayable };
        let reference = |plan: &Plan| Agent::of_plan(plan, Delivery::Streamed, None);
        // Of a control plan that does not pass, too, the findings are its own.
        let judgement = judged(&plan, reference).unwrap_or_else(|control| control);
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
    /// Whether each candidate showed the cause, by its text.
    known: BTreeMap<String, bool>,
    /// The candidates that were handed out last.
    open: Vec<String>,
    n_runs: usize,
    budget: usize,
}

impl<'a> Shrinker<'a> {
    /// Begins with a scenario that shows the cause. At most `budget` candidates are handed out.
    pub fn new(scenario: &Scenario, setting: Setting<'a>, budget: usize) -> Shrinker<'a> {
        let known = BTreeMap::from([(text(scenario), true)]);
        let search = Search::of(scenario.clone());
        Shrinker { setting, search, known, open: Vec::new(), n_runs: 0, budget }
    }

    /// The candidates to be run next, at most so many; none when nothing is left to try, or the budget is used up.
    ///
    /// Those after the first are what would come next if those before them did not show the cause. Which scenario is
    /// left in the end does not depend on how many are asked for at once, only how many runs it takes.
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

    /// Takes the verdicts over the last candidates: whether each still shows the cause. A missing one counts as no.
    pub fn report(&mut self, shows: &[bool]) {
        for (at, text) in self.open.drain(..).enumerate() {
            self.known.insert(text, shows.get(at).copied().unwrap_or(false));
        }
        self.follow();
    }

    /// The smallest scenario so far that shows the cause.
    pub fn smallest(&self) -> &Scenario {
        self.search.current()
    }

    /// Whether nothing is left to try: no single element can be taken out of the smallest.
    pub fn is_minimal(&self) -> bool {
        self.search.is_over()
    }

    pub fn n_runs(&self) -> usize {
        self.n_runs
    }

    /// Goes on as far as the verdicts are known.
    fn follow(&mut self) {
        while let Some(candidate) = self.search.candidate(&self.setting)
            && let Some(shows) = self.known.get(&text(&candidate))
        {
            self.search.step(*shows);
        }
    }
}

/// Shrinks where a verdict is at hand: to the smallest scenario, with the shrinker that made it.
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

/// The same for equal scenarios alone.
fn text(scenario: &Scenario) -> String {
    let history = scenario.given.as_ref().map(|given| &given.content);
    serde_json::to_string(&(scenario, history)).unwrap_or_default()
}
