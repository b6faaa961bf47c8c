//! The failure that a scenario was found to trigger.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::trigger::{CallState, Trigger};
use crate::verdict::Severity;
use brickbat_rules::dialect::Dialect;

/// The single cause that a scenario was found to trigger, and where. `brickbat shrink` and `run --explore`
/// write it, and `brickbat replay` checks it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// The failing check.
    pub check: String,
    /// The severity: what the user loses.
    #[serde(rename = "harm")]
    pub severity: Severity,
    /// The family of the broken rule, or a refusing system's message. Empty if the check alone identifies
    /// the damage. Older files name the rule itself, without its dialect.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub says: String,
    /// The interruption of the system before; older files do not name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trigger: Option<Trigger>,
    /// The state of the calls concerned; older files do not name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<CallState>,
    /// The system on which it was found, such as `ai-sdk@6.0.326/ui-messages`.
    pub system: String,
    /// The planted bug that causes the same failure in the simulation, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub canary: Option<String>,
    /// The dialect on which it was found.
    pub dialect: Dialect,
    /// The seed for the wire ids.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub seed: u64,
    /// How often the failure occurred, if not in every run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<Frequency>,
    /// The version of Brickbat that found it.
    pub brickbat: String,
}

/// The number of runs that failed, out of the total.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Frequency {
    /// The number of runs that showed it.
    pub runs: u32,
    /// The total number of runs.
    pub of: u32,
}

fn is_zero(seed: &u64) -> bool {
    *seed == 0
}
