//! The reference agent, with canaries that hear what it hears.
//!
//! A run follows from what its agent answers. So a canary that answers as the reference agent does, whatever it is asked,
//! brings about the same run, and need not be played. That is most canaries in most plans, and to let them listen takes less
//! than half the time of playing them.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use super::play;
use crate::agent::{Agent, Delivery, Input, Output, SansIo};
use crate::flaws::Canary;
use crate::run::Run;
use brickbat_scenario::plan::Plan;
use brickbat_scenario::scenario::Need;

/// Plays a plan on the reference agent: the run, and those of some canaries that have answered anything else in it.
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
    /// Of each canary, whether it has answered as the reference agent so far, in whatever process. One that has not is not
    /// asked again.
    are_alike: Rc<[Cell<bool>]>,
}

impl Chorus {
    /// What the reference agent answers to a question. Each canary is asked, too.
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
