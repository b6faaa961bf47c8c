//! The interface between the simulation and an agent without I/O, ours or that of an SDK's author.

use super::{Agent, Delivery, Input, Output};
use brickbat_scenario::plan::Plan;
use brickbat_scenario::scenario::Need;

/// An agent without I/O: it takes inputs and returns outputs.
///
/// A value represents the agent in one process. A new process gets the bytes from [`SansIo::saved`].
pub trait SansIo: Sized {
    /// The agent for a plan, with the plan's tools. `None` if it does not speak the plan's dialect.
    fn of_plan(plan: &Plan) -> Option<Self>;

    /// True if it supports this need. Plans with other needs are not driven on it.
    fn can(need: Need) -> bool;

    /// The path of its requests, below the provider's base URL.
    fn path(&self) -> &str;

    /// Takes an input and returns the resulting outputs.
    fn step(&mut self, input: Input<'_>) -> Vec<Output>;

    /// The conversation that it remembers, as a JSON array of messages.
    fn history(&self) -> Vec<u8>;

    /// The bytes that it has saved.
    fn saved(&self) -> Vec<u8>;

    /// The agent in a new process, with these saved bytes.
    #[must_use]
    fn reborn_from(&self, saved: &[u8]) -> Self;

    /// Takes over the bytes that another process has saved since. Bytes that cannot be read change nothing.
    fn reload(&mut self, saved: &[u8]) {
        *self = self.reborn_from(saved);
    }

    /// The number of entries that it saves one after the other. Only used for plans that hold saves.
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
