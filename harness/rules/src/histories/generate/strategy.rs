//! Conversations for property tests. A failing one shrinks as a conversation, not as bytes.

use proptest::prelude::any;
use proptest::strategy::{NewTree, Strategy, ValueTree};
use proptest::test_runner::TestRunner;

use super::{Outline, Seeded};
use crate::Dialect;

/// Valid conversations.
pub fn valid(dialect: Dialect) -> Outlines {
    Outlines { dialect, draw: Outline::valid }
}

/// Conversations with a repairable fault.
pub fn mendable(dialect: Dialect) -> Outlines {
    Outlines { dialect, draw: Outline::mendable }
}

/// Conversations with a fault that cannot be repaired.
pub fn broken(dialect: Dialect) -> Outlines {
    Outlines { dialect, draw: Outline::broken }
}

/// Outlines of one kind.
#[derive(Debug, Clone, Copy)]
pub struct Outlines {
    dialect: Dialect,
    draw: fn(Dialect, &mut Seeded) -> Outline,
}

impl Strategy for Outlines {
    type Tree = OutlineTree;
    type Value = Outline;

    fn new_tree(&self, runner: &mut TestRunner) -> NewTree<Self> {
        let seed = any::<u64>().new_tree(runner)?.current();
        Ok(OutlineTree::new((self.draw)(self.dialect, &mut Seeded::new(seed))))
    }
}

/// An outline that is being shrunk.
#[derive(Debug, Clone)]
pub struct OutlineTree {
    /// The smallest one that failed.
    failing: Outline,
    /// The outlines that are one change smaller. The next one to try is last.
    to_try: Vec<Outline>,
    current: Outline,
}

impl OutlineTree {
    fn new(outline: Outline) -> OutlineTree {
        OutlineTree { failing: outline.clone(), to_try: Vec::new(), current: outline }
    }

    fn try_next(&mut self) -> bool {
        let next = self.to_try.pop();
        let has_next = next.is_some();
        self.current = next.unwrap_or_else(|| self.failing.clone());
        has_next
    }
}

impl ValueTree for OutlineTree {
    type Value = Outline;

    fn current(&self) -> Outline {
        self.current.clone()
    }

    fn simplify(&mut self) -> bool {
        self.failing = self.current.clone();
        self.to_try = self.failing.simpler();
        self.to_try.reverse();
        self.try_next()
    }

    fn complicate(&mut self) -> bool {
        self.try_next()
    }
}
