//! What a scenario was found to show.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::verdict::Severity;
use brickbat_rules::dialect::Dialect;

/// The one cause that a scenario was found to show, and where. `brickbat shrink` and `run --explore` write it, and
/// `brickbat replay` judges it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// The check that fails.
    pub check: String,
    /// What the user loses.
    pub harm: Severity,
    /// The rule that is broken, without its dialect, or what a system says that refuses. Nothing where the check says it
    /// all.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub says: String,
    /// The system on which it was found, such as `ai-sdk@6.0.326/ui-messages`.
    pub system: String,
    /// The planted bug that shows the same in the simulation, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub canary: Option<String>,
    /// The dialect on which it was found.
    pub dialect: Dialect,
    /// The seed of the wire ids.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub seed: u64,
    /// How often it came, where not every run showed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<Frequency>,
    /// The version of Brickbat that found it.
    pub brickbat: String,
}

/// How many of several runs showed something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Frequency {
    /// Runs that showed it.
    pub runs: u32,
    /// Runs in all.
    pub of: u32,
}

fn is_zero(seed: &u64) -> bool {
    *seed == 0
}
