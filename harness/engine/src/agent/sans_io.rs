//! What the simulation asks of an agent without I/O, ours or that of an SDK's author.

use super::{Agent, Delivery, Input, Output};
use brickbat_scenario::plan::Plan;
use brickbat_scenario::scenario::Need;

/// An agent without I/O: it takes what has arrived, and returns what it wants done.
///
/// One value is the agent in one process. What a new process finds is what [`SansIo::saved`] gave.
pub trait SansIo: Sized {
    /// The agent that a plan is driven on, with the plan's tools; none if it does not speak the plan's dialect.
    fn of_plan(plan: &Plan) -> Option<Self>;

    /// Whether it can do what some plans need; those that need what it cannot do are not driven on it.
    fn can(need: Need) -> bool;

    /// The path, below the provider's base URL, to which it posts its requests.
    fn path(&self) -> &str;

    /// Takes what happened and says what to do.
    fn step(&mut self, input: Input<'_>) -> Vec<Output>;

    /// What it remembers, as a JSON array of messages.
    fn history(&self) -> Vec<u8>;

    /// What it has saved.
    fn saved(&self) -> Vec<u8>;

    /// The agent that a new process makes of what was saved.
    #[must_use]
    fn reborn_from(&self, saved: &[u8]) -> Self;

    /// Takes over what another process has saved since. What cannot be read changes nothing.
    fn reload(&mut self, saved: &[u8]) {
        *self = self.reborn_from(saved);
    }

    /// Entries of what it saves, which are written one after the other. Only a plan that holds saves asks.
    fn n_entries(&self) -> usize {
        0
    }
}

impl SansIo for Agent {
    fn of_plan(plan: &Plan) -> Option<Agent> {
        Some(Agent::of_plan(plan, Delivery::Streamed, None))
    }

    fn can(_: Need) -> bool {
        true
    }

    fn path(&self) -> &str {
        self.path()
    }

    fn step(&mut self, input: Input<'_>) -> Vec<Output> {
        self.step(input)
    }

    fn history(&self) -> Vec<u8> {
        self.history()
    }

    fn saved(&self) -> Vec<u8> {
        self.saved()
    }

    fn reborn_from(&self, saved: &[u8]) -> Agent {
        self.reborn_from(saved)
    }

    fn reload(&mut self, saved: &[u8]) {
        // A store that cannot be read changes nothing in memory.
        let _ = self.reload(saved);
    }

    fn n_entries(&self) -> usize {
        self.n_entries()
    }
}
