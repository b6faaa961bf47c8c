//! Injections: an action at a point of a turn, as it is written in a scenario.

use crate::points::{self, Spot};
use brickbat_scenario::action::{Action, ActionSpec, Effect, ErrorKind, HttpFault, Payload, SOON_MS};
use brickbat_scenario::plan::Side;
use brickbat_scenario::point::{Point, Region, Which};
use brickbat_scenario::scenario::{At, Scenario};

/// An action at a point of a turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Injection {
    pub turn: usize,
    /// The action and its point.
    pub at: At,
    /// Its effect on a system.
    pub effect: Effect,
}

impl Injection {
    /// A name for plan ids, unique among the base's injections.
    pub fn name(&self) -> String {
        let words = self.at.words().replace([' ', ','], "-").replace("--", "-");
        if self.turn == 0 { words } else { format!("turn-{}-{words}", self.turn + 1) }
    }

    pub fn words(&self) -> String {
        format!("{} in turn {}", self.at.words(), self.turn + 1)
    }
}

/// Every injection that the action table allows in a scenario. Lowering decides which of them can never
/// happen.
pub(super) fn all(scenario: &Scenario) -> Vec<Injection> {
    let mut injections = Vec::new();
    for (turn, said) in scenario.turns.iter().enumerate() {
        let mut actions = actions();
        let first = said.replies.iter().filter_map(|reply| reply.attempts.first()).flatten();
        let settle = |name: &str| (Effect::Settle, Action::Settle(name.to_owned()));
        actions.extend(first.filter_map(|block| block.call()).map(|call| settle(&call.name)));
        for spot in points::of(scenario, turn).iter().filter(|spot| is_explored(spot)) {
            let allowed = actions.iter().filter(|(_, action)| action.spec().refusal(spot.region).is_none());
            injections.extend(allowed.map(|(effect, action)| Injection {
                turn,
                at: spot.at(action.clone()),
                effect: *effect,
            }));
        }
    }
    injections
}

/// False for points that are equivalent to another, because a system does nothing between the two.
fn is_explored(spot: &Spot) -> bool {
    match (&spot.point, spot.side) {
        (Point::Stop | Point::Reply, Side::Before) | (Point::Settled(Which::Call(_)), Side::After) => false,
        _ => !matches!(spot.region, Region::Between | Region::Store | Region::Stored),
    }
}

/// The actions that need no call and no user text, and that any system may encounter. Only one of several
/// errors is used if they differ only in their text.
fn actions() -> Vec<(Effect, Action)> {
    let overloaded = HttpFault { status: 529, overflow: false, times: 1, retry_after_ms: SOON_MS };
    let action = |spec: &ActionSpec| match spec.payload {
        Payload::Nothing(make) => Some(make()),
        Payload::Error(make) => Some(make(ErrorKind::Overloaded)),
        Payload::Http(make) => Some(make(overloaded.clone())),
        Payload::Call(_)
        | Payload::Cause(_)
        | Payload::Text { .. }
        | Payload::Tokens(_)
        | Payload::Keep { .. }
        | Payload::Turn(_)
        | Payload::Switch(_)
        | Payload::OneOf(_)
        | Payload::Provider(_)
        | Payload::Tools(_) => None,
    };
    ActionSpec::ALL.into_iter().filter_map(|spec| Some((spec.effect?, action(spec)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// The actions that are not explored, and why.
    const NOT_EXPLORED: [(&str, &str); 18] = [
        ("fail", "needs a system that lets a write of its store fail"),
        ("stop-again", "a stop that the system has heard is explored by `abort`"),
        ("steer", "the text is the author's"),
        ("prompt", "the text is the author's"),
        ("inject", "the text is the author's"),
        ("aside", "the text is the author's"),
        ("ignore", "needs a question"),
        ("interrupt", "needs a system that can be interrupted from within"),
        ("tokens", "needs a system that compacts its history"),
        ("duplicate", "known of gateways only"),
        ("malformed", "known of gateways only"),
        ("summary", "the model writes it"),
        ("trim", "needs a system with a command for it"),
        ("summarise", "needs a system with a command for it"),
        ("rewind", "needs a system with a command for it"),
        ("thinking", "needs a system that can switch thinking"),
        ("provider", "needs a system that can switch the provider"),
        ("tools", "needs a system that takes another list of tools"),
    ];

    #[test]
    fn every_action_is_explored_or_listed_with_a_reason() {
        let text = include_str!("../../../../scenarios/control/plain-batch.yaml");
        let scenario = brickbat_scenario::parse::parse("x.yaml", text).unwrap().remove(0).scenario;
        let explored: BTreeSet<&str> =
            all(&scenario).iter().map(|injection| injection.at.action.spec().name).collect();
        let listed: BTreeSet<&str> = NOT_EXPLORED.iter().map(|(name, _)| *name).collect();
        assert!(explored.is_disjoint(&listed));
        let every: BTreeSet<&str> = ActionSpec::ALL.iter().map(|spec| spec.name).collect();
        assert_eq!(&explored | &listed, every, "give the action an `effect`, or list it here");
    }
}
