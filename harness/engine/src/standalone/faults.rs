//! Faults in replies outside a scenario: the reply, the fault, and its position in the reply.

use brickbat_scenario::action::{Action, ErrorKind, HttpFault, SOON_MS};
use brickbat_scenario::plan::{BoundAction, Mark, PlannedAction, PlannedPoint, Side};
use brickbat_scenario::random::Random;

brickbat_scenario::named! {
    /// A kind of fault in a reply.
    pub enum FaultKind {
        /// The connection is closed inside the body (FIN).
        Eof = "eof",
        /// The connection is reset (RST).
        Reset = "reset",
        /// The body ends correctly for HTTP, but without the terminal event.
        EndEarly = "end-early",
        /// An error event inside a stream that began with status 200.
        Error = "error",
        /// The provider is overloaded: an HTTP error instead of the reply.
        Overloaded = "overloaded",
        /// Status 429 instead of the reply.
        RateLimit = "rate-limit",
        /// The provider sends nothing for a while inside the reply, then continues.
        Stall = "stall",
    }
}

/// The choice of replies that get a fault, and of the fault.
#[derive(Debug, Clone)]
pub struct Faults {
    /// The kinds to choose from; not empty.
    pub kinds: Vec<FaultKind>,
    /// The replies that get one.
    pub due: Due,
}

/// The replies that get a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Due {
    /// Every Nth reply: 2 means every second one.
    Every(u32),
    /// Only the reply with this 1-based number.
    Only(u32),
}

impl Faults {
    /// The kinds to choose from if the user names none. A stall is not among them, because a program without
    /// a timeout would wait for it forever.
    pub const USUAL: [FaultKind; 6] = [
        FaultKind::Eof,
        FaultKind::Reset,
        FaultKind::EndEarly,
        FaultKind::Error,
        FaultKind::Overloaded,
        FaultKind::RateLimit,
    ];

    /// The fault in a reply, if it has one. `number` is 1-based.
    pub(crate) fn of_reply(&self, number: u32, random: &mut Random) -> Option<FaultKind> {
        let is_due = match self.due {
            Due::Every(interval) => number.checked_rem(interval) == Some(0),
            Due::Only(reply) => number == reply,
        };
        is_due.then(|| random.pick(&self.kinds).copied()).flatten()
    }
}

impl FaultKind {
    /// The corresponding fault for a non-streamed reply, which has no events. No provider answers such a
    /// request with an error and status 200, or leaves out an event.
    pub(crate) fn of_whole(self) -> FaultKind {
        match self {
            FaultKind::Error => FaultKind::Overloaded,
            FaultKind::EndEarly => FaultKind::Eof,
            FaultKind::Eof
            | FaultKind::Reset
            | FaultKind::Overloaded
            | FaultKind::RateLimit
            | FaultKind::Stall => self,
        }
    }
}

impl FaultKind {
    /// The fault as an action of a plan.
    pub(super) fn action(self, overloaded_status: u16) -> BoundAction {
        let http =
            |status| Action::Http(HttpFault { status, overflow: false, times: 1, retry_after_ms: SOON_MS });
        match self {
            FaultKind::Eof => Action::Eof,
            FaultKind::Reset => Action::Reset,
            FaultKind::EndEarly => Action::EndEarly,
            FaultKind::Error => Action::Error(ErrorKind::Overloaded),
            FaultKind::Stall => Action::Stall,
            FaultKind::Overloaded => http(overloaded_status),
            FaultKind::RateLimit => http(429),
        }
    }
}

/// The fault as a plan action, at a random one of these positions in the reply.
pub(crate) fn planned(
    kind: FaultKind,
    overloaded_status: u16,
    marks: &[Mark],
    random: &mut Random,
) -> PlannedAction {
    // Something must be missing: a complete reply is not a broken one.
    let inside: Vec<Mark> = marks.iter().copied().filter(|mark| !mark.is_behind_stop()).collect();
    let what = kind.action(overloaded_status);
    let (mark, side) = match what.http() {
        Some(_) => (Mark::Headers, Side::Before),
        None => (random.pick(&inside).copied().unwrap_or(Mark::Headers), Side::After),
    };
    let at = PlannedPoint::Stream { reply: 0, attempt: 0, mark, side };
    PlannedAction { words: String::new(), at, what }
}
