//! Exploration: each injection at every point of a conversation, and every pair of them, into the causes of what fails.
//!
//! The actions are put into a base scenario as an author would write them, so that what is found can be written down
//! as a scenario. Which of them can never happen is for [`brickbat_scenario::lower`] to say. Nothing is run here.

pub mod cause;
mod injection;

pub use brickbat_scenario::action::Effect;
pub use injection::Injection;

use brickbat_rules::dialect::Dialect;
use brickbat_scenario::hash::fnv1a;
use brickbat_scenario::lower;
use brickbat_scenario::plan::Plan;
use brickbat_scenario::scenario::Scenario;

/// How many actions a plan gets at the most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    Singles,
    Pairs,
}

#[derive(Debug, Clone)]
pub struct Base {
    /// What its plans are named after.
    pub name: String,
    /// The conversation, in which nothing goes wrong.
    pub scenario: Scenario,
    pub seed: u64,
}

/// What may go wrong in a conversation on one dialect.
#[derive(Debug, Clone)]
pub struct Ground {
    pub dialect: Dialect,
    /// Every action at every point, in causal order as far as there is one.
    pub injections: Vec<Injection>,
}

/// A plan to be: a dialect, as an index into the grounds, and its actions, as indices into those of the ground.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Candidate {
    pub ground: usize,
    /// The actions, one or two, in order.
    pub injections: Vec<usize>,
}

impl Base {
    /// A scenario without what goes wrong in it.
    pub fn of(name: &str, scenario: &Scenario, seed: u64) -> Base {
        let mut scenario = scenario.clone();
        scenario.turns.iter_mut().for_each(|turn| turn.at.clear());
        // What is expected of calls speaks of what went wrong.
        scenario.expect = brickbat_scenario::scenario::Expect::default();
        scenario.vary.clear();
        Base { name: name.to_owned(), scenario, seed }
    }

    /// Everything that can happen in it on a dialect; nothing where the dialect cannot play it.
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

    /// The plan with those actions, if they can happen together.
    fn plan(&self, dialect: Dialect, injections: &[&Injection]) -> Option<Plan> {
        let names: Vec<String> = injections.iter().map(|injection| injection.name()).collect();
        let plan =
            lower::lower(&self.name, &names.join("+"), &self.with(injections), dialect, self.seed).ok()?;
        plan.impossible.is_none().then_some(plan)
    }

    /// The plan of a candidate, if there can be one.
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

    /// The fewest actions come first, then the earliest.
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

/// Every candidate, those with one action first; whether the actions of a pair go together is not yet known.
/// Among those of as many actions the order is that of a stable hash, so that the first of them are a spread.
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
