//! Serves a scenario's replies to a program that the harness does not drive: the program's own requests
//! decide which turn it is in.

use std::sync::Arc;

use brickbat_rules::dialect::Dialect;
use brickbat_scenario::action::HttpFault;
use brickbat_scenario::lower::cut;
use brickbat_scenario::plan::{MARKER, Plan, PlannedAction, Script};

use crate::improvise::Standing;
use crate::provider::playhead::{Due, Playhead};

/// A scenario that is served to a program.
///
/// It restarts with each thread, that is, with a request that has no model message. A turn begins with a
/// request that ends in user text, after the previous turn has begun.
#[derive(Debug, Clone)]
pub(super) struct Tape {
    plan: Arc<Plan>,
    playhead: Playhead,
}

/// The next item of the tape for a request.
#[derive(Debug)]
pub(super) enum Served<'p> {
    Reply(&'p Script, Vec<&'p PlannedAction>),
    Fault(&'p HttpFault),
    /// The scenario has ended.
    Nothing,
}

impl Tape {
    /// Creates a plan's tape. The marker by which the harness recognises calls is removed, because the
    /// program's tools do not know that argument.
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

    /// A handle on the plan, independent of the tape.
    pub(super) fn plan_apart(&self) -> Arc<Plan> {
        Arc::clone(&self.plan)
    }

    /// Takes the next item of the tape for a request.
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
