//! The properties of actions.

use super::Action;
use super::table;
use super::{ErrorKind, HttpFault, ProviderChoice, ToolChange};
use crate::point::{Refusal, Region};
use crate::premise::Premise;
use crate::scenario::{InterruptCause, Need};
use crate::trace::Ending;
use crate::trigger::Trigger;

/// The properties of an action that do not depend on its payload.
#[derive(Debug)]
pub struct ActionSpec {
    /// The key in scenario files.
    pub name: &'static str,
    /// Who performs it.
    pub actor: Actor,
    /// Who or what has to misbehave or intervene for it to happen.
    pub premise: Premise,
    /// The trigger that findings name.
    pub trigger: Trigger,
    /// The part of the turn that it ends.
    pub ends: Ends,
    /// True if nothing goes wrong: the turn only takes longer, or runs in another order.
    pub harmless: bool,
    /// The ending of the reply that it causes.
    pub ending: Option<Ending>,
    /// The capability that a system needs for it.
    pub needs: Option<Need>,
    /// The kind of its payload, and how to make the action from one.
    pub payload: Payload,
    /// The effect of the action, if exploration tries it. Exploration takes actions with the same effect for
    /// one cause.
    pub effect: Option<Effect>,
    /// The regions in which the action is allowed.
    pub(super) allowed: &'static [Region],
    /// The weights of the action in generation, for allowed regions in which the weight is not 1.
    pub(super) weights: &'static [(Region, usize)],
    /// The messages for regions where the action is not allowed and the region's own message does not fit.
    pub(super) unless: &'static [Unless],
}

crate::named! {
    /// Who performs an action.
    pub enum Actor {
        /// The provider, or the network in front of it.
        Provider = "provider",
        /// The user.
        User = "user",
        /// The process of the system, or the application in it.
        Process = "process",
        /// A tool.
        Tool = "tool",
        /// The application, to the history.
        History = "history",
    }
}

/// The part of a turn that an action ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ends {
    /// Nothing.
    Nothing,
    /// The attempt of the reply, so that a client may ask again.
    Attempt,
    /// The turn, because the user stops it.
    TurnByStop,
    /// The turn, without a stop.
    Turn,
}

crate::named! {
    /// The effect of an action on a system: actions with the same effect that fail alike are one cause.
    #[expect(missing_docs, reason = "the names are self-explanatory")]
    pub enum Effect {
        Stop = "stop",
        Kill = "kill",
        Cut = "cut",
        Error = "error",
        Refusal = "refusal",
        Pause = "pause",
        Settle = "settle",
    }
}

/// The payload of an action, and how to make the action from it.
#[derive(Debug)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub enum Payload {
    Nothing(fn() -> Action),
    Error(fn(ErrorKind) -> Action),
    Http(fn(HttpFault) -> Action),
    Call(fn(String) -> Action),
    Cause(fn(InterruptCause) -> Action),
    Tokens(fn(u64) -> Action),
    Text {
        make: fn(String) -> Action,
        /// The default text.
        plain: &'static str,
    },
    Keep {
        make: fn(u32) -> Action,
        /// The smallest number that may stay.
        least: u32,
    },
    Turn(fn(u32) -> Action),
    Switch(fn(bool) -> Action),
    /// One of a few values, with the action for each, the plainest first. An action with such a payload is generated,
    /// listed and documented without code of its own.
    OneOf(&'static [Action]),
    Provider(fn(ProviderChoice) -> Action),
    Tools(fn(ToolChange) -> Action),
}

/// The message for some regions where an action is not allowed.
#[derive(Debug)]
pub(super) struct Unless {
    pub(super) regions: &'static [Region],
    pub(super) refusal: Refusal,
}

impl ActionSpec {
    /// Every action that a scenario can write.
    pub const ALL: [&'static ActionSpec; table::ALL.len()] = table::ALL;

    /// The weight of the action in generation in a region; `None` if it is not allowed there.
    pub fn weight(&self, region: Region) -> Option<usize> {
        let own = || self.weights.iter().find(|(other, _)| *other == region).map(|(_, weight)| *weight);
        self.allowed.contains(&region).then(|| own().unwrap_or(1))
    }

    /// True if the payload is a text.
    pub fn is_said(&self) -> bool {
        matches!(self.payload, Payload::Text { .. })
    }

    /// The reason why the action is not allowed in a region; `None` if it is allowed.
    pub fn refusal(&self, region: Region) -> Option<Refusal> {
        if self.allowed.contains(&region) {
            return None;
        }
        let own = || self.unless.iter().find(|unless| unless.regions.contains(&region));
        Some(match region {
            Region::Store => region.refusal(),
            Region::Stored => region.refusal(),
            _ => own().map_or(region.refusal(), |unless| unless.refusal),
        })
    }
}
