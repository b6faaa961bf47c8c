//! The ways in which a write of the store fails.

use std::fmt;

use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{Deserializer, MapAccess, Visitor};

use super::{Action, ActionSpec, table};

crate::named! {
    /// How a write of the store fails.
    pub enum WriteFailure {
        /// The store keeps nothing of the write, and reports an error. Later writes work.
        Once = "once",
        /// The same, and so does each later write of the turn.
        Always = "always",
        /// The store keeps the first half of the entries of the write, rounded down, and reports an error.
        Half = "half",
        /// The store keeps the whole write, but reports an error, as if its confirmation were lost.
        Unconfirmed = "unconfirmed",
        /// The store keeps nothing of the write, and reports no error.
        Lost = "lost",
        /// The store keeps nothing of the write and of each later write of the turn, and reports no error.
        AllLost = "all-lost",
        /// The store keeps the first half of the entries of the write, rounded down, and reports no error.
        HalfLost = "half-lost",
    }
}

impl WriteFailure {
    /// The number of entries that the store keeps of a write.
    pub fn keeps(self, entries: u32) -> u32 {
        match self {
            WriteFailure::Once | WriteFailure::Always | WriteFailure::Lost | WriteFailure::AllLost => 0,
            WriteFailure::Half | WriteFailure::HalfLost => entries / 2,
            WriteFailure::Unconfirmed => entries,
        }
    }

    /// True if the system gets an error from its store.
    pub fn is_told(self) -> bool {
        match self {
            WriteFailure::Once | WriteFailure::Always | WriteFailure::Half | WriteFailure::Unconfirmed => {
                true
            }
            WriteFailure::Lost | WriteFailure::AllLost | WriteFailure::HalfLost => false,
        }
    }

    /// True if each later write of the turn fails as well.
    pub fn lasts(self) -> bool {
        matches!(self, WriteFailure::Always | WriteFailure::AllLost)
    }
}

/// Every action, in the order of [`WriteFailure::ALL`].
pub(super) static FAILURES: [Action; WriteFailure::ALL.len()] = [
    Action::Fail(WriteFailure::Once),
    Action::Fail(WriteFailure::Always),
    Action::Fail(WriteFailure::Half),
    Action::Fail(WriteFailure::Unconfirmed),
    Action::Fail(WriteFailure::Lost),
    Action::Fail(WriteFailure::AllLost),
    Action::Fail(WriteFailure::HalfLost),
];

/// Reads an action as a scenario writes it: the name of the action that fails a write may stand alone.
pub(crate) fn written<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Action, D::Error> {
    deserializer.deserialize_any(Written)
}

struct Written;

impl<'de> Visitor<'de> for Written {
    type Value = Action;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("enum Action")
    }

    fn visit_str<E: serde::de::Error>(self, word: &str) -> Result<Action, E> {
        if word == table::FAIL.name {
            return Ok(Action::Fail(WriteFailure::Once));
        }
        Action::deserialize(StrDeserializer::new(word))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Action, A::Error> {
        Action::deserialize(MapAccessDeserializer::new(map))
    }
}

/// The schema of an action as a scenario writes it.
pub(crate) fn schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
    let fail: &ActionSpec = &table::FAIL;
    let full = generator.subschema_for::<Action>();
    schemars::json_schema!({
        "anyOf": [full, { "description": format!("The same as `{}: once`.", fail.name), "const": fail.name }],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_failure_can_be_drawn_and_is_another_one() {
        let drawn = FAILURES.iter().map(|action| match action {
            Action::Fail(how) => *how,
            _ => unreachable!("{action}"),
        });
        assert_eq!(drawn.collect::<Vec<_>>(), WriteFailure::ALL);
        let effects: std::collections::BTreeSet<_> =
            WriteFailure::ALL.iter().map(|how| (how.keeps(5), how.is_told(), how.lasts())).collect();
        assert_eq!(effects.len(), WriteFailure::ALL.len());
    }
}
