//! The replies of a scenario, for a program that nobody drives: its own words decide which turn it is in.

use std::sync::Arc;

use brickbat_rules::dialect::Dialect;
use brickbat_scenario::action::HttpFault;
use brickbat_scenario::lower::cut;
use brickbat_scenario::plan::{MARKER, Plan, PlannedAction, Script};

use crate::improvise::Standing;
use crate::provider::playhead::{Due, Playhead};

/// A scenario that is played to a program.
///
/// It begins again with each thread, which is a request in which the model has not said anything. A turn begins with a
/// request that ends in words of the user, once the turn before has begun.
#[derive(Debug, Clone)]
pub(super) struct Tape {
    plan: Arc<Plan>,
    playhead: Playhead,
}

/// What the tape has for a request.
#[derive(Debug)]
pub(super) enum Served<'p> {
    Reply(&'p Script, Vec<&'p PlannedAction>),
    Fault(&'p HttpFault),
    /// The scenario is over.
    Nothing,
}

impl Tape {
    /// The tape of a plan. The marker, by which the harness knows calls again, is no argument that the tools of a program
    /// know.
    pub(super) fn of(mut plan: Plan) -> Tape {
        plan.turns.retain(|turn| !turn.follow_up);
        for call in plan.calls.iter_mut().filter(|call| call.malformation.is_none()) {
            if let Some(args) = call.args.as_object_mut() {
                args.shift_remove(MARKER);
            }
            let text = call.args.to_string();
            call.deltas = cut(&text, call.deltas.len().clamp(1, text.chars().count()));
        }
        Tape { plan: Arc::new(plan), playhead: Playhead::default() }
    }

    pub(super) fn dialect(&self) -> Dialect {
        self.plan.dialect
    }

    /// The plan, to be held while a reply is taken.
    pub(super) fn plan_apart(&self) -> Arc<Plan> {
        Arc::clone(&self.plan)
    }

    /// What is due for a request, which takes it.
    pub(super) fn take(&mut self, standing: Standing) -> Served<'_> {
        let next = self.playhead.next();
        let is_at_start = next.reply == 0 && self.playhead.turn() == 0;
        if !standing.has_begun && !is_at_start {
            self.playhead.begin_turn(0);
        } else if standing.has_begun && standing.n_rounds == 0 && next.reply > 0 && next.attempt == 0 {
            self.playhead.begin_turn(self.playhead.turn() + 1);
        }
        match self.playhead.take(&self.plan) {
            Due::Reply { script, actions, .. } => Served::Reply(script, actions),
            Due::Fault { fault, .. } => Served::Fault(fault),
            Due::Nothing => Served::Nothing,
        }
    }
}
