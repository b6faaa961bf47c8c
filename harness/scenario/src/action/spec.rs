//! What is known of an action.

use super::Action;
use super::table;
use super::{ErrorKind, HttpFault, ProviderChoice};
use crate::point::Region;
use crate::scenario::{InterruptCause, Need};

/// What is known of an action, whatever it says.
#[derive(Debug)]
pub struct ActionSpec {
    /// The key in scenario files.
    pub name: &'static str,
    /// Who does it.
    pub actor: Actor,
    /// What is over with it.
    pub ends: Ends,
    /// What a system must be able to do to meet it.
    pub needs: Option<Need>,
    /// What it says, and how it is made; nothing for what no scenario writes.
    pub payload: Payload,
    /// Actions with one effect are one cause to exploration, which tries those that have one.
    pub effect: Option<Effect>,
    /// How often generation takes it at a point of each [`Region`], in their order: [`NO`] is not allowed.
    pub(super) at: [i8; Region::ALL.len()],
    /// What is said where it is not allowed, if the region's own sentence does not say it.
    pub(super) unless: &'static [Unless],
}

crate::named! {
    /// Who does something.
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

/// What is over with an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ends {
    /// Nothing.
    Nothing,
    /// The attempt of the reply, so that a client may ask again.
    Attempt,
    /// The turn, by the user's stop.
    TurnByStop,
    /// The turn, without one.
    Turn,
}

crate::named! {
    /// What an action does to a system: actions of one effect that fail alike are one cause.
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

/// What an action says besides its name, and how the action is made of it.
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
        /// What it says where it does not matter what.
        plain: &'static str,
    },
    Keep {
        make: fn(u32) -> Action,
        /// The fewest that may stay.
        least: u32,
    },
    Turn(fn(u32) -> Action),
    Switch(fn(bool) -> Action),
    Provider(fn(ProviderChoice) -> Action),
}

/// What is said where an action is not allowed.
#[derive(Debug)]
pub(super) struct Unless {
    pub(super) regions: &'static [Region],
    pub(super) refusal: Refusal,
}

/// Why something cannot stand at a point, with what to do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refusal {
    /// What is wrong.
    pub message: &'static str,
    /// What to write instead.
    pub hint: &'static str,
}

/// The action is not allowed in a region.
pub(super) const NO: i8 = -1;

impl ActionSpec {
    /// Every action that a scenario can write.
    pub const ALL: [&'static ActionSpec; table::ALL.len()] = table::ALL;

    /// How often generation takes it in a region; nothing where it is not allowed.
    pub fn weight(&self, region: Region) -> Option<usize> {
        usize::try_from(self.at[region as usize]).ok()
    }

    /// Whether something is said in it.
    pub fn is_said(&self) -> bool {
        matches!(self.payload, Payload::Text { .. })
    }

    /// Why it cannot happen in a region, if so.
    pub fn refusal(&self, region: Region) -> Option<Refusal> {
        if self.weight(region).is_some() {
            return None;
        }
        let own = || self.unless.iter().find(|unless| unless.regions.contains(&region));
        Some(match region {
            Region::Store => region.refusal(),
            _ => own().map_or(region.refusal(), |unless| unless.refusal),
        })
    }
}
