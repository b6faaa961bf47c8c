//! The open gates of a plan, each with the run that waits there.
//!
//! A system may run a call again while an earlier run of it still waits: the tools of a stopped turn that it
//! never gave up, for example. Each gate knows the turn that opened it, so the end of the one run is never
//! taken for the end of the other.

use std::collections::BTreeMap;

use crate::server::GateId;
use brickbat_scenario::plan::{CallKey, ToolOutcome};
use brickbat_scenario::trace::{Confidence, Event};

#[derive(Debug, Default)]
pub(super) struct OpenGates {
    /// In the order in which they opened.
    open: Vec<OpenGate>,
    /// The gate of the last run of each call.
    last: BTreeMap<CallKey, GateId>,
    /// The 0-based turn that is running.
    turn: usize,
}

#[derive(Debug)]
struct OpenGate {
    gate: GateId,
    call: CallKey,
    /// The 0-based turn that opened it.
    turn: usize,
}

/// A run that has ended: its gate is closed.
#[derive(Debug)]
pub(super) struct EndedRun {
    pub(super) call: CallKey,
    turn: usize,
    is_last: bool,
}

impl OpenGates {
    /// Notes that a turn begins: gates that open from here on belong to it.
    pub(super) fn begin_turn(&mut self, turn: usize) {
        self.turn = turn;
    }

    pub(super) fn opened(&mut self, gate: GateId, call: CallKey) {
        self.open.push(OpenGate { gate, call, turn: self.turn });
        self.last.insert(call, gate);
    }

    /// Closes a gate. `None` if it does not belong to a call of the plan.
    pub(super) fn closed(&mut self, gate: GateId) -> Option<EndedRun> {
        let at = self.open.iter().position(|open| open.gate == gate)?;
        let OpenGate { gate, call, turn } = self.open.remove(at);
        Some(EndedRun { call, turn, is_last: self.last.get(&call) == Some(&gate) })
    }

    /// The gate of the oldest run of a call that still waits: runs end in the order in which they began.
    pub(super) fn oldest(&self, call: CallKey) -> Option<GateId> {
        self.open.iter().find(|open| open.call == call).map(|open| open.gate)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }
}

impl EndedRun {
    /// The event for a run that got its result.
    pub(super) fn settled(self, outcome: ToolOutcome, grade: Confidence) -> Event {
        let EndedRun { call, turn, is_last } = self;
        match is_last {
            true => Event::ToolSettled { call, outcome, grade },
            false => Event::OldRunEnded { call, turn, outcome: Some(outcome) },
        }
    }

    /// The event for a run that the system gave up.
    pub(super) fn cancelled(self) -> Event {
        let EndedRun { call, turn, is_last } = self;
        match is_last {
            true => Event::ToolCancelled { call },
            false => Event::OldRunEnded { call, turn, outcome: None },
        }
    }
}
