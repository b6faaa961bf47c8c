//! Shards: a run divided among machines.

use brickbat_scenario::plan::CONTROL;
use std::fmt;

use serde::{Deserialize, Serialize};

use brickbat_scenario::hash::fnv1a;

/// One part of a run.
///
/// The shard of a plan depends only on its id, so every machine agrees, and a new scenario moves no other
/// plan.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(deny_unknown_fields)]
pub struct Shard {
    /// The number of the part, from 1.
    pub index: u32,
    /// The number of parts.
    pub of: u32,
}

/// The maximum number of shards in a run. With more, each would have less than one plan.
const MAX_SHARDS: u32 = 10_000;

impl Shard {
    /// Reads `2/4`.
    ///
    /// # Errors
    ///
    /// The word is not a valid shard.
    pub fn parse(word: &str) -> Result<Shard, NotAShard> {
        let number = |digits: &str| digits.parse::<u32>().ok();
        let parts = word.split_once('/').and_then(|(index, of)| Some((number(index)?, number(of)?)));
        let (index, of) = parts.ok_or(NotAShard::Malformed)?;
        Shard { index, of }.checked().ok_or(match of {
            1..=MAX_SHARDS => NotAShard::Index(of),
            _ => NotAShard::Count,
        })
    }

    /// The same shard, if it is valid.
    pub(super) fn checked(self) -> Option<Shard> {
        ((1..=MAX_SHARDS).contains(&self.of) && (1..=self.of).contains(&self.index)).then_some(self)
    }

    /// True if a plan belongs to it. A control plan belongs to the shard of its plan.
    pub fn holds(self, plan: &str) -> bool {
        let plan = plan.strip_suffix(CONTROL).unwrap_or(plan);
        fnv1a(plan.as_bytes()) % u64::from(self.of) + 1 == u64::from(self.index)
    }
}

/// The reason why a word is not a shard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotAShard {
    #[error("write it as `2/4`, the second of four")]
    Malformed,
    /// The run has only that many shards.
    #[error("shards are counted from 1 to {0}")]
    Index(u32),
    #[error("a run has 1 to {} shards", MAX_SHARDS)]
    Count,
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_plan_falls_into_one_shard_with_its_control_plan() {
        for n in 0..100 {
            let plan = format!("abort/mid-batch#k={n}@openai-chat");
            let held = (1..=4).filter(|index| Shard { index: *index, of: 4 }.holds(&plan));
            let control =
                (1..=4).filter(|index| Shard { index: *index, of: 4 }.holds(&format!("{plan}+control")));
            assert_eq!(held.clone().count(), 1, "{plan}");
            assert!(held.eq(control), "{plan}");
        }
    }

    #[test]
    fn a_shard_is_written_as_a_fraction() {
        assert_eq!(Shard::parse("2/4"), Ok(Shard { index: 2, of: 4 }));
        assert_eq!(Shard { index: 2, of: 4 }.to_string(), "2/4");
        for (word, said) in [
            ("2", "2/4"),
            ("a/b", "2/4"),
            ("-1/2", "2/4"),
            ("0/4", "from 1 to 4"),
            ("5/4", "from 1 to 4"),
            ("1/0", "1 to 10000 shards"),
            ("1/10001", "1 to 10000 shards"),
        ] {
            let error = Shard::parse(word).unwrap_err().to_string();
            assert!(error.contains(said), "{word}: {error}");
        }
    }
}
