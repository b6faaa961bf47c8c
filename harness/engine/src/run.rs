//! The result of driving one plan: the trace, and the receipts of the planned actions.

mod doubt;

use serde::{Serialize, Serializer};

use brickbat_scenario::plan::{BoundAction, PlannedPoint};
use brickbat_scenario::trace::{Confidence, Trace};

/// The result of driving one plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// All observed events.
    pub trace: Trace,
    /// The receipt of each action.
    pub receipts: Vec<Receipt>,
}

/// Proof that an action happened where it was planned, as far as there is one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Receipt {
    /// The turn; from 0 here, and from 1 in reports, as everywhere in them.
    #[serde(serialize_with = "from_one")]
    pub turn: usize,
    /// The action in words.
    pub words: String,
    /// Where it was planned.
    #[serde(skip)]
    pub at: PlannedPoint,
    /// What was planned.
    #[serde(skip)]
    pub what: BoundAction,
    /// Whether it happened.
    pub fired: bool,
    /// How sure it is that the system had everything before it.
    pub grade: Option<Confidence>,
}

fn from_one<S: Serializer>(turn: &usize, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(*turn as u64 + 1)
}

impl Receipt {
    /// True if it is proven that the action happened, and that the system had read everything before it.
    pub fn is_proven(&self) -> bool {
        self.fired && self.grade >= Some(Confidence::Read)
    }
}
