//! The position in a plan's script: which attempt at which reply is served next.

use brickbat_scenario::action::HttpFault;
use brickbat_scenario::plan::{Plan, PlannedAction, PlannedPoint, Script};

/// The position in the script of a plan.
#[derive(Debug, Clone, Default)]
pub(crate) struct Playhead {
    turn: usize,
    next: Position,
    n_http_faults: u32,
}

/// An attempt of a reply.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Position {
    pub(crate) reply: usize,
    pub(crate) attempt: usize,
}

/// The next item of the script for a request.
#[derive(Debug)]
pub(crate) enum Due<'p> {
    /// A reply, with the actions that happen in it.
    Reply { script: &'p Script, actions: Vec<&'p PlannedAction>, at: Position },
    /// An HTTP error instead of the reply.
    Fault { fault: &'p HttpFault, at: Position },
    /// No more replies in this turn.
    Nothing,
}

impl Playhead {
    /// Moves to the beginning of a turn.
    pub(crate) fn begin_turn(&mut self, turn: usize) {
        *self = Playhead { turn, ..Playhead::default() };
    }

    /// The current turn.
    pub(crate) fn turn(&self) -> usize {
        self.turn
    }

    /// The position that is served next in the turn.
    pub(crate) fn next(&self) -> Position {
        self.next
    }

    /// Takes the next item of the script for a request.
    pub(crate) fn take<'p>(&mut self, plan: &'p Plan) -> Due<'p> {
        let at = self.next;
        let Some(turn) = plan.turns.get(self.turn) else { return Due::Nothing };
        let Some(script) = turn.replies.get(at.reply).and_then(|reply| reply.attempts.get(at.attempt)) else {
            return Due::Nothing;
        };
        let actions: Vec<&PlannedAction> =
            turn.actions.iter().filter(|action| is_at(action, at.reply, at.attempt)).collect();
        if let Some(fault) = actions.iter().find_map(|action| action.what.http())
            && self.n_http_faults < fault.times
        {
            self.n_http_faults += 1;
            return Due::Fault { fault, at };
        }
        self.n_http_faults = 0;
        let fails = actions.iter().any(|action| action.what.ends_attempt());
        self.next = if fails {
            Position { reply: at.reply, attempt: at.attempt + 1 }
        } else {
            Position { reply: at.reply + 1, attempt: 0 }
        };
        Due::Reply { script, actions, at }
    }
}

fn is_at(action: &PlannedAction, reply: usize, attempt: usize) -> bool {
    matches!(action.at, PlannedPoint::Stream { reply: r, attempt: a, .. } if r == reply && a == attempt)
}
