//! What is written down of a case, a plan and a receipt, in a form that can be read back.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use brickbat_engine::run::Receipt;
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::plan::{Plan, PlannedCall, PlannedTurn};
use brickbat_scenario::scenario::Need;
use brickbat_scenario::trace::Confidence;
use brickbat_scenario::verdict::{Permanence, Severity, Verdict};

/// `case.json`: what was run, and what was judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaseNote {
    /// Version of the format of the whole record.
    pub schema: u32,
    /// The system, with version and mode.
    pub system: String,
    /// The plan.
    pub plan: String,
    /// The strictness of the provider, where the plan was driven.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// The judgement.
    pub verdict: Verdict,
    /// Why the verdict is neither pass nor fail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What is wrong, the worst first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<FindingNote>,
    /// The command that runs this case again.
    pub reproduce: String,
}

/// The version of the format that is written here.
pub const SCHEMA: u32 = 1;

/// One thing that is wrong, as in a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindingNote {
    /// The checker that found it.
    pub check: String,
    /// What the user loses.
    pub harm: Severity,
    /// Whether the thread recovers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permanence: Option<Permanence>,
    /// What is wrong, in a sentence.
    pub message: String,
    /// Where.
    #[serde(rename = "where")]
    pub place: String,
    /// The provider's rule that is broken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// What was expected.
    pub expected: String,
    /// What was found.
    pub got: String,
}

/// What is known of one action of a plan. `receipts.json` is a list of these, as in a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[schemars(rename = "Receipt")]
#[serde(deny_unknown_fields)]
pub struct ReceiptNote {
    /// The turn, from 1.
    pub turn: usize,
    /// The action in words.
    pub words: String,
    /// Whether it happened.
    pub fired: bool,
    /// How sure it is that the system had everything before it.
    pub grade: Option<Confidence>,
}

impl ReceiptNote {
    /// The note of a receipt.
    pub fn of(receipt: &Receipt) -> ReceiptNote {
        let Receipt { turn, words, fired, grade, .. } = receipt;
        ReceiptNote { turn: turn + 1, words: words.clone(), fired: *fired, grade: *grade }
    }

    /// Whether it is proven that the action happened when the system had read everything before it.
    pub fn is_proven(&self) -> bool {
        self.fired && self.grade >= Some(Confidence::Read)
    }
}

/// `plan.json`: the plan, with everything that the timeline tells of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanNote {
    /// Its name.
    pub id: String,
    /// The dialect that the provider speaks.
    pub dialect: Dialect,
    /// Wire ids and markers are minted from this.
    pub seed: u64,
    /// What the system must be able to do.
    pub needs: Vec<Need>,
    /// The tools that the system is given.
    pub tools: Value,
    /// Every call that any reply makes; elsewhere a call is a place in this list.
    pub calls: Vec<PlannedCall>,
    /// The turns, the follow-up turns last.
    pub turns: Vec<PlannedTurn>,
}

impl PlanNote {
    /// The note of a plan.
    pub fn of(plan: &Plan) -> PlanNote {
        PlanNote {
            id: plan.id.to_string(),
            dialect: plan.dialect,
            seed: plan.seed,
            needs: plan.needs.clone(),
            tools: serde_json::to_value(&plan.tools).unwrap_or_default(),
            calls: plan.calls.clone(),
            turns: plan.turns.clone(),
        }
    }
}
