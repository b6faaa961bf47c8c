//! Strategies for property tests. A failing scenario shrinks as a scenario, by complete turns, replies and
//! calls, not as bytes.

use std::sync::Arc;

use brickbat_rules::dialect::Dialect;
use brickbat_scenario::plan::Plan;
use brickbat_scenario::scenario::Scenario;
use proptest::prelude::any;
use proptest::strategy::{NewTree, Strategy, ValueTree};
use proptest::test_runner::TestRunner;

use super::{Source, draw};
use crate::oracle;
use crate::shrink::singles;

/// Scenarios of every kind, including some that are made invalid on purpose.
///
/// ```
/// use proptest::prelude::*;
///
/// proptest!(|(scenario in brickbat_search::generate::strategy::scenarios())| {
///     prop_assert!(scenario.turns.len() <= 3);
/// });
/// ```
pub fn scenarios() -> Scenarios {
    Scenarios { is_kept: |_| true }
}

/// Scenarios that a dialect can run, even when they are shrunk.
pub fn playable() -> Scenarios {
    Scenarios { is_kept: |scenario| oracle::plan(scenario).is_some() }
}

/// Plans, each in a dialect that can run it. Use [`playable`] if you also need the scenario.
pub fn plans() -> impl Strategy<Value = Arc<Plan>> {
    playable().prop_filter_map("it can be played", |scenario| oracle::plan(&scenario))
}

/// Plans on one dialect.
pub fn plans_on(dialect: Dialect) -> impl Strategy<Value = Arc<Plan>> {
    playable()
        .prop_filter_map("this dialect can play it", move |scenario| oracle::plan_on(&scenario, dialect))
}

/// A strategy for generated scenarios that pass a filter.
#[derive(Debug, Clone, Copy)]
pub struct Scenarios {
    is_kept: fn(&Scenario) -> bool,
}

/// The maximum number of successive draws that the filter may reject. Nine of ten scenarios can be run.
const MAX_DRAWS: usize = 1_000;

impl Strategy for Scenarios {
    type Tree = ScenarioTree;
    type Value = Scenario;

    fn new_tree(&self, runner: &mut TestRunner) -> NewTree<Self> {
        let mut source = Source::seeded(any::<u64>().new_tree(runner)?.current());
        let mut drawn = (0..MAX_DRAWS).map(|_| draw(&mut source));
        let scenario = drawn.find(self.is_kept).ok_or("no scenario was kept")?;
        Ok(ScenarioTree {
            is_kept: self.is_kept,
            failing: scenario.clone(),
            to_try: Vec::new(),
            current: scenario,
        })
    }
}

/// A scenario that is being shrunk.
#[derive(Debug, Clone)]
pub struct ScenarioTree {
    is_kept: fn(&Scenario) -> bool,
    /// The smallest scenario that failed.
    failing: Scenario,
    /// The scenarios with one element less; the next one to try is last.
    to_try: Vec<Scenario>,
    current: Scenario,
}

impl ScenarioTree {
    fn try_next(&mut self) -> bool {
        let next = self.to_try.pop();
        let has_next = next.is_some();
        self.current = next.unwrap_or_else(|| self.failing.clone());
        has_next
    }
}

impl ValueTree for ScenarioTree {
    type Value = Scenario;

    fn current(&self) -> Scenario {
        self.current.clone()
    }

    fn simplify(&mut self) -> bool {
        self.failing = self.current.clone();
        let smaller = singles(&self.failing).map(|(_, scenario)| scenario);
        self.to_try = smaller.filter(|smaller| *smaller != self.failing && (self.is_kept)(smaller)).collect();
        self.to_try.reverse();
        self.try_next()
    }

    fn complicate(&mut self) -> bool {
        self.try_next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use brickbat_scenario::scenario::Block;

    fn n_calls(scenario: &Scenario) -> usize {
        let replies = scenario.turns.iter().flat_map(|turn| &turn.replies);
        replies.flat_map(|reply| reply.attempts.iter().flatten()).filter_map(Block::call).count()
    }

    /// The smallest scenario that fails a property.
    fn smallest(strategy: Scenarios, fails: impl Fn(&Scenario) -> bool) -> Scenario {
        let mut runner = TestRunner::deterministic();
        let mut tree = strategy.new_tree(&mut runner).unwrap();
        while !fails(&tree.current()) {
            tree = strategy.new_tree(&mut runner).unwrap();
        }
        let mut is_smaller = tree.simplify();
        while is_smaller {
            is_smaller = if fails(&tree.current()) { tree.simplify() } else { tree.complicate() };
        }
        assert!(fails(&tree.current()), "in the end there is a failing one again");
        tree.current()
    }

    #[test]
    fn a_failing_property_is_shrunk_as_a_scenario() {
        let found = smallest(playable(), |scenario| n_calls(scenario) >= 3);
        assert_eq!(n_calls(&found), 3, "{found:?}");
        assert!(found.turns.iter().all(|turn| turn.at.is_empty()), "no action is left: {found:?}");
        assert!(oracle::plan(&found).is_some(), "it can still be played");
        let is_smaller = |smaller: &Scenario| *smaller != found && oracle::plan(smaller).is_some();
        let mut left = singles(&found).map(|(_, scenario)| scenario).filter(is_smaller);
        assert!(left.all(|smaller| n_calls(&smaller) < 3), "nothing else can go");
    }

    #[test]
    fn only_playable_rejects_unplayable_scenarios() {
        let mut runner = TestRunner::deterministic();
        let mut n_unplayable = |strategy: Scenarios| {
            let trees = (0..300).map(|_| strategy.new_tree(&mut runner).unwrap());
            trees.filter(|tree| oracle::plan(&tree.current()).is_none()).count()
        };
        assert!(n_unplayable(scenarios()) > 0);
        assert_eq!(n_unplayable(playable()), 0);
    }
}
