//! The reference agent together with canaries that get the same inputs.
//!
//! A run depends only on the agent's answers. A canary that always answers like the reference agent therefore
//! causes the same run, and need not be run. That is true for most canaries in most plans, and feeding them
//! the inputs takes less than half the time of running them.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use super::play;
use crate::agent::{Agent, Delivery, Input, Output, SansIo};
use crate::flaws::Canary;
use crate::run::Run;
use brickbat_scenario::plan::Plan;
use brickbat_scenario::scenario::Need;

/// Runs a plan on the reference agent. Returns the run, and the canaries that answered differently at some
/// point.
pub fn play_among(plan: &Arc<Plan>, canaries: &[Canary]) -> (Run, Vec<Canary>) {
    let agent = |canary| Agent::of_plan(plan, Delivery::Streamed, canary);
    let chorus = Chorus {
        reference: agent(None),
        canaries: canaries.iter().map(|canary| agent(Some(*canary))).collect(),
        are_alike: canaries.iter().map(|_| Cell::new(true)).collect(),
    };
    let are_alike = Rc::clone(&chorus.are_alike);
    let run = play(plan, chorus, None);
    let apart = canaries.iter().zip(are_alike.iter()).filter(|(_, is_alike)| !is_alike.get());
    (run, apart.map(|(canary, _)| *canary).collect())
}

struct Chorus {
    reference: Agent,
    canaries: Vec<Agent>,
    /// For each canary, whether it has answered like the reference agent so far, in every process. After the
    /// first difference it is not asked again.
    are_alike: Rc<[Cell<bool>]>,
}

impl Chorus {
    /// The reference agent's answer to a question. Each canary is also asked.
    fn ask<T: PartialEq>(&self, question: fn(&Agent) -> T) -> T {
        let answer = question(&self.reference);
        for (canary, is_alike) in self.canaries.iter().zip(self.are_alike.iter()) {
            is_alike.set(is_alike.get() && question(canary) == answer);
        }
        answer
    }
}

impl SansIo for Chorus {
    fn of_plan(plan: &Plan) -> Option<Chorus> {
        let reference = Agent::of_plan(plan, Delivery::Streamed, None);
        Some(Chorus { reference, canaries: Vec::new(), are_alike: Rc::default() })
    }

    fn can(need: Need) -> bool {
        Agent::can(need)
    }

    fn path(&self) -> &str {
        self.reference.path()
    }

    fn step(&mut self, input: Input<'_>) -> Vec<Output> {
        let outputs = self.reference.step(input.clone());
        for (canary, is_alike) in self.canaries.iter_mut().zip(self.are_alike.iter()) {
            is_alike.set(is_alike.get() && canary.step(input.clone()) == outputs);
        }
        outputs
    }

    fn history(&self) -> Vec<u8> {
        self.ask(Agent::history)
    }

    fn saved(&self) -> Vec<u8> {
        self.ask(Agent::saved)
    }

    fn reborn_from(&self, saved: &[u8]) -> Chorus {
        Chorus {
            reference: self.reference.reborn_from(saved),
            canaries: self.canaries.iter().map(|canary| canary.reborn_from(saved)).collect(),
            are_alike: Rc::clone(&self.are_alike),
        }
    }

    fn reload(&mut self, saved: &[u8]) {
        let all = std::iter::once(&mut self.reference).chain(&mut self.canaries);
        all.for_each(|agent| SansIo::reload(agent, saved));
    }

    fn n_entries(&self) -> usize {
        self.ask(Agent::n_entries)
    }
}
