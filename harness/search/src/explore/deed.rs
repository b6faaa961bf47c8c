//! Deeds: an action at a point, as a scenario says it.

use brickbat_scenario::lower;
use brickbat_scenario::plan::{CallKey, Mark, Plan, PlannedPoint, Side};
use brickbat_scenario::scenario::{Action, At, ErrorKind, HttpFault, Point, SOON_MS, Which};

/// An action at a point of a turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Deed {
    /// The turn, from 0.
    pub turn: usize,
    /// The action, and where it happens.
    pub at: At,
    /// What kind of action it is.
    pub kind: Kind,
}

/// Actions after which a system does the same things.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// The user stops the turn.
    Stop,
    /// The process dies.
    Kill,
    /// The reply breaks off.
    Cut,
    /// The reply ends in an error.
    Error,
    /// The request is refused.
    Refusal,
    /// The reply pauses.
    Pause,
    /// A tool settles at another time.
    Settle,
}

impl Kind {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Stop => "stop",
            Kind::Kill => "kill",
            Kind::Cut => "cut",
            Kind::Error => "error",
            Kind::Refusal => "refusal",
            Kind::Pause => "pause",
            Kind::Settle => "settle",
        }
    }
}

impl Deed {
    /// A name that no other action of the base has, for ids of plans.
    pub fn name(&self) -> String {
        let words = lower::action_words(&self.at).replace([' ', ','], "-").replace("--", "-");
        if self.turn == 0 { words } else { format!("turn-{}-{words}", self.turn + 1) }
    }

    /// What happens, in words.
    pub fn words(&self) -> String {
        format!("{} in turn {}", lower::action_words(&self.at), self.turn + 1)
    }
}

/// Every deed at every point of the first turns of a plan, also where it makes no sense.
pub(super) fn all(plan: &Plan, n_turns: usize) -> Vec<Deed> {
    let mut deeds = Vec::new();
    for turn in 0..n_turns {
        let mut actions = actions();
        let of_turn = plan.calls.iter().filter(|call| call.turn == turn && call.attempt == 0);
        actions.extend(of_turn.map(|call| (Kind::Settle, Action::Settle(call.name.clone()))));
        for point in lower::points(plan, turn) {
            let written = |(kind, action): &(Kind, Action)| Deed {
                turn,
                at: written(plan, &point, action.clone()),
                kind: *kind,
            };
            deeds.extend(actions.iter().map(written));
        }
    }
    deeds
}

/// The actions that need neither a call nor words of the user's, and that any system may meet. Of errors that differ in
/// their words alone there is one.
fn actions() -> Vec<(Kind, Action)> {
    let overloaded = HttpFault { status: 529, times: 1, retry_after_ms: SOON_MS };
    vec![
        (Kind::Stop, Action::Abort),
        (Kind::Kill, Action::Kill),
        (Kind::Stop, Action::Stall),
        (Kind::Pause, Action::Pause),
        (Kind::Cut, Action::Reset),
        (Kind::Cut, Action::Eof),
        (Kind::Cut, Action::EndEarly),
        (Kind::Error, Action::Error(ErrorKind::Overloaded)),
        (Kind::Refusal, Action::Http(overloaded)),
    ]
}

/// An action at a planned point, as a scenario says it.
fn written(plan: &Plan, point: &PlannedPoint, action: Action) -> At {
    let name =
        |key: &CallKey| plan.calls.get(key.0 as usize).map(|call| call.name.clone()).unwrap_or_default();
    let (side, said) = match point {
        PlannedPoint::Prompt => (Side::Before, Point::Prompt),
        PlannedPoint::Stream { mark, side, .. } => (*side, in_stream(mark, name)),
        PlannedPoint::Asked(key) => (Side::After, Point::Asked(name(key))),
        PlannedPoint::StartedCount(count) => (Side::After, Point::Started(Which::Count(*count))),
        PlannedPoint::Started(key) => (Side::After, Point::Started(Which::Call(name(key)))),
        PlannedPoint::SettledCount(count) => (Side::After, Point::Settled(Which::Count(*count))),
        PlannedPoint::Settled(key, side) => (*side, Point::Settled(Which::Call(name(key)))),
        PlannedPoint::Saved(entry, side) => (*side, Point::Saved(*entry)),
        // No action of a scenario stands there; behind the last event of the reply is as near as one can get.
        PlannedPoint::Step(_) => (Side::After, Point::Reply),
    };
    let (reply, attempt) = match point {
        PlannedPoint::Stream { reply, attempt, .. } => (*reply as u32 + 1, *attempt as u32 + 1),
        _ => (1, 1),
    };
    let (before, after) = match side {
        Side::Before => (Some(said), None),
        Side::After => (None, Some(said)),
    };
    At { reply, attempt, before, after, action }
}

fn in_stream(mark: &Mark, name: impl Fn(&CallKey) -> String) -> Point {
    match mark {
        Mark::Headers => Point::Headers,
        Mark::Think(fragment) => Point::Think(*fragment),
        Mark::Text(fragment) => Point::Text(*fragment),
        Mark::Start(key) => Point::Start(name(key)),
        Mark::Delta(key, delta) => Point::Delta(name(key), *delta),
        Mark::End(key) => Point::End(name(key)),
        Mark::Calls => Point::Calls,
        Mark::Stop => Point::Stop,
        Mark::Reply => Point::Reply,
    }
}
