//! Receipts: proof that an action happened where it was planned.

use serde::{Serialize, Serializer};

use crate::plan::{CallKey, Plan, PlannedFault, PlannedPoint};
use crate::trace::{Ending, ExchangeId, Grade};

/// What is known of one action of a plan.
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
    pub what: PlannedFault,
    /// Whether it happened.
    pub fired: bool,
    /// How sure it is that the system had everything before it.
    pub grade: Option<Grade>,
    /// Whether it is under way.
    #[serde(skip)]
    pub(super) asked: bool,
    /// The ending that will prove it.
    #[serde(skip)]
    armed: Option<(ExchangeId, Option<Ending>)>,
}

fn from_one<S: Serializer>(turn: &usize, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(*turn as u64 + 1)
}

impl Receipt {
    /// Whether it is proven that the action happened when the system had read everything before it.
    pub fn is_proven(&self) -> bool {
        self.fired && self.grade >= Some(Grade::Read)
    }

    /// A blank receipt for each action of a plan.
    pub(super) fn all_of(plan: &Plan) -> Vec<Receipt> {
        let turns = plan.turns.iter().enumerate();
        turns
            .flat_map(|(turn, planned)| {
                planned.actions.iter().map(move |action| Receipt {
                    turn,
                    words: action.words.clone(),
                    at: action.at.clone(),
                    what: action.what.clone(),
                    fired: false,
                    grade: None,
                    asked: false,
                    armed: None,
                })
            })
            .collect()
    }

    /// The action happened.
    pub(super) fn prove(&mut self, grade: Grade) {
        self.fired = true;
        self.grade = Some(grade);
    }

    /// The action happens as soon as the provider ends that reply in that way. Without an ending it is a frame that is
    /// sent next: then the reply goes on to any end of its own, or the client hangs up because of it.
    pub(super) fn arm(&mut self, exchange: ExchangeId, grade: Grade, ending: Option<Ending>) {
        self.asked = true;
        self.grade = Some(grade);
        self.armed = Some((exchange, ending));
    }

    /// A reply has ended.
    pub(super) fn replied(&mut self, exchange: ExchangeId, ending: Ending) {
        if self.armed.is_some_and(|(own, how)| own == exchange && how.is_none_or(|how| how == ending)) {
            self.fired = true;
        }
    }

    /// The client has gone away in the middle of a reply.
    pub(super) fn hung_up(&mut self, exchange: ExchangeId) {
        if self.armed == Some((exchange, None)) {
            self.fired = true;
        }
    }

    /// A result has been delivered.
    pub(super) fn settled(&mut self, call: CallKey, grade: Grade) {
        if self.asked && self.what == PlannedFault::Settle(call) {
            // At a hold it is as sure as the place of the hold.
            self.prove(self.grade.map_or(grade, |held| held.min(grade)));
        }
    }
}
