//! The notes of a case, a plan and a receipt, in a form that can be read back.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use brickbat_engine::run::Receipt;
use brickbat_engine::triage::Signature;
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::duty::Left;
use brickbat_scenario::plan::{Plan, PlannedCall, PlannedSearch, PlannedTurn};
use brickbat_scenario::scenario::Need;
use brickbat_scenario::trace::Confidence;
use brickbat_scenario::trigger::{CallState, Trigger};
use brickbat_scenario::verdict::{Finding, Permanence, Severity, Verdict};

/// `case.json`: the plan that was run, and its judgement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaseNote {
    /// The format version for the complete record.
    pub schema: u32,
    pub system: String,
    pub plan: String,
    /// The strictness of the provider, if the plan was driven.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    pub verdict: Verdict,
    /// The reason why the verdict is neither pass nor fail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// True if a second run was to confirm the findings.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unconfirmed: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<FindingNote>,
    /// Findings that are the application's duty here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub application: Vec<FindingNote>,
    /// The command that runs this case again.
    pub reproduce: String,
}

impl CaseNote {
    /// Every finding, with those that follow from each cause.
    pub fn all_findings(&self) -> impl Iterator<Item = &FindingNote> {
        self.findings.iter().flat_map(|finding| std::iter::once(finding).chain(&finding.also))
    }
}

/// The version of the format that is written here.
pub const SCHEMA: u32 = 1;

/// One finding, as in a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FindingNote {
    pub check: String,
    /// How severe it is for the user.
    #[serde(rename = "harm")]
    pub severity: Severity,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permanence: Option<Permanence>,
    pub message: String,
    #[serde(rename = "where")]
    pub place: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The interruption of the system before; older records do not name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trigger: Option<Trigger>,
    /// The state of the calls concerned; older records do not name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<CallState>,
    /// The model that the system was asked to use, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    pub expected: String,
    pub got: String,
    /// The findings that follow from it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<FindingNote>,
    /// The duty that makes it the application's, if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<Left>,
}

impl FindingNote {
    /// The properties that it shares with other findings of its cause.
    pub fn signature(&self) -> Signature {
        let damage = Signature::of_damage(&self.check, self.severity, self.rule.as_deref(), &self.message);
        Signature { trigger: self.trigger, calls: self.calls, ..damage }
    }

    pub fn of(finding: &Finding) -> FindingNote {
        FindingNote {
            check: finding.check.to_owned(),
            severity: finding.severity,
            permanence: finding.permanence,
            message: finding.message.clone(),
            place: finding.place.clone(),
            rule: finding.rule.map(str::to_owned),
            trigger: Some(finding.trigger),
            calls: Some(finding.calls),
            model: finding.model.clone(),
            expected: finding.expected.clone(),
            got: finding.got.clone(),
            also: finding.also.iter().map(FindingNote::of).collect(),
            left: finding.left.clone(),
        }
    }
}

/// The proof for one action in a plan. `receipts.json` is a list of these, as in a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[schemars(rename = "Receipt")]
#[serde(deny_unknown_fields)]
pub struct ReceiptNote {
    /// The turn, from 1.
    pub turn: usize,
    /// The action as text.
    pub words: String,
    /// The name of the action.
    pub action: String,
    /// True if it happened.
    pub fired: bool,
    /// How certain it is that the system had received everything before it.
    pub grade: Option<Confidence>,
}

impl ReceiptNote {
    pub fn of(receipt: &Receipt) -> ReceiptNote {
        let Receipt { turn, words, fired, grade, what, .. } = receipt;
        let action = what.spec().name.to_owned();
        ReceiptNote { turn: turn + 1, words: words.clone(), action, fired: *fired, grade: *grade }
    }

    /// True if it is proven that the action happened after the system had read everything before it.
    pub fn is_proven(&self) -> bool {
        self.fired && self.grade >= Some(Confidence::Read)
    }
}

/// `plan.json`: the plan, with everything that the timeline shows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanNote {
    pub id: String,
    pub dialect: Dialect,
    /// Wire ids and markers are generated from this.
    pub seed: u64,
    /// The capabilities that the system needs.
    pub needs: Vec<Need>,
    /// The tools that the system is given.
    pub tools: Value,
    /// Every call that any reply makes; elsewhere a call is an index into this list.
    pub calls: Vec<PlannedCall>,
    /// Every search that the provider runs itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub searches: Vec<PlannedSearch>,
    pub turns: Vec<PlannedTurn>,
}

impl PlanNote {
    /// The dialect of the provider in a turn.
    pub fn dialect_of(&self, turn: usize) -> Dialect {
        self.turns.get(turn).and_then(|turn| turn.dialect).unwrap_or(self.dialect)
    }

    pub fn of(plan: &Plan) -> PlanNote {
        PlanNote {
            id: plan.id.to_string(),
            dialect: plan.dialect,
            seed: plan.seed,
            needs: plan.needs.clone(),
            tools: serde_json::to_value(&plan.tools).unwrap_or_default(),
            calls: plan.calls.clone(),
            searches: plan.searches.clone(),
            turns: plan.turns.clone(),
        }
    }
}
