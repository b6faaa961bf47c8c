//! Exploration: puts each injection, and every pair of them, at every point of a conversation, and groups the
//! failures by cause.
//!
//! The actions are added to a base scenario as an author would write them, so that a finding can be saved as
//! a scenario. [`brickbat_scenario::lower`] decides which of them can never happen. Nothing is run here.

pub mod cause;
mod injection;

pub use brickbat_scenario::action::Effect;
pub use injection::Injection;

use brickbat_rules::dialect::Dialect;
use brickbat_scenario::hash::fnv1a;
use brickbat_scenario::lower;
use brickbat_scenario::plan::Plan;
use brickbat_scenario::scenario::Scenario;

/// The maximum number of actions in a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    Singles,
    Pairs,
}

#[derive(Debug, Clone)]
pub struct Base {
    /// The name from which its plans' names are derived.
    pub name: String,
    /// The conversation, in which nothing goes wrong.
    pub scenario: Scenario,
    pub seed: u64,
}

/// The injections that are possible in a conversation on one dialect.
#[derive(Debug, Clone)]
pub struct Ground {
    pub dialect: Dialect,
    /// Every action at every point, in causal order where the order is defined.
    pub injections: Vec<Injection>,
}

/// A possible plan: a dialect, as an index into the grounds, and its actions, as indices into the injections
/// of that ground.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Candidate {
    pub ground: usize,
    /// The actions, one or two, in order.
    pub injections: Vec<usize>,
}

impl Base {
    /// A base from a scenario, without its faults.
    pub fn of(name: &str, scenario: &Scenario, seed: u64) -> Base {
        let mut scenario = scenario.clone();
        scenario.turns.iter_mut().for_each(|turn| turn.at.clear());
        // The expectations about calls refer to the faults.
        scenario.expect = brickbat_scenario::scenario::Expect::default();
        scenario.vary.clear();
        Base { name: name.to_owned(), scenario, seed }
    }

    /// Everything that can happen in the scenario in a dialect; empty if the scenario cannot be run there.
    pub fn ground(&self, dialect: Dialect) -> Ground {
        let plan = lower::lower(&self.name, "", &self.scenario, dialect, self.seed);
        let injections = match &plan {
            Ok(plan) if plan.impossible.is_none() => injection::all(&self.scenario),
            _ => Vec::new(),
        };
        let is_possible = |injection: &Injection| self.plan(dialect, &[injection]).is_some();
        Ground { dialect, injections: injections.into_iter().filter(is_possible).collect() }
    }

    pub fn with(&self, injections: &[&Injection]) -> Scenario {
        let mut scenario = self.scenario.clone();
        for injection in injections {
            if let Some(turn) = scenario.turns.get_mut(injection.turn) {
                turn.at.push(injection.at.clone());
            }
        }
        scenario
    }

    /// The plan with these actions, if they can happen together.
    fn plan(&self, dialect: Dialect, injections: &[&Injection]) -> Option<Plan> {
        let names: Vec<String> = injections.iter().map(|injection| injection.name()).collect();
        let plan =
            lower::lower(&self.name, &names.join("+"), &self.with(injections), dialect, self.seed).ok()?;
        plan.impossible.is_none().then_some(plan)
    }

    /// The plan of a candidate, if it is possible.
    pub fn plan_of(&self, grounds: &[Ground], candidate: &Candidate) -> Option<Plan> {
        let ground = grounds.get(candidate.ground)?;
        self.plan(ground.dialect, &candidate.injections(grounds))
    }
}

impl Candidate {
    pub fn injections<'a>(&self, grounds: &'a [Ground]) -> Vec<&'a Injection> {
        let ground = grounds.get(self.ground);
        self.injections.iter().filter_map(|injection| ground?.injections.get(*injection)).collect()
    }

    /// The candidate order: fewest actions first, then earliest.
    pub fn rank(&self) -> (usize, &[usize], usize) {
        (self.injections.len(), &self.injections, self.ground)
    }

    fn hash(&self, grounds: &[Ground]) -> u64 {
        let mut name = grounds.get(self.ground).map_or("", |ground| ground.dialect.name()).to_owned();
        for injection in self.injections(grounds) {
            name.push('+');
            name.push_str(&injection.name());
        }
        fnv1a(name.as_bytes())
    }
}

/// Every candidate, with single actions first. It is not checked here whether the actions of a pair can be
/// combined. Candidates with the same number of actions are ordered by a stable hash, so that the first ones
/// are spread out.
pub fn candidates(grounds: &[Ground], depth: Depth) -> Vec<Candidate> {
    let mut all = Vec::new();
    for (at, ground) in grounds.iter().enumerate() {
        let n_injections = ground.injections.len();
        all.extend((0..n_injections).map(|injection| Candidate { ground: at, injections: vec![injection] }));
        if depth == Depth::Pairs {
            let pairs =
                (0..n_injections).flat_map(|one| (one + 1..n_injections).map(move |other| vec![one, other]));
            all.extend(pairs.map(|injections| Candidate { ground: at, injections }));
        }
    }
    all.sort_by_cached_key(|candidate| (candidate.injections.len(), candidate.hash(grounds)));
    all
}
