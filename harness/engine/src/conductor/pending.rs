//! The plan's pending actions, each with its receipt.

use std::ops::{Deref, DerefMut};

use crate::run::Receipt;
use brickbat_scenario::action::Action;
use brickbat_scenario::plan::{CallKey, Plan};
use brickbat_scenario::trace::{Confidence, Ending, ExchangeId};

/// An action of the plan, and its progress.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) receipt: Receipt,
    pub(super) asked: bool,
    /// Set when its point was reached while it waits for a question that comes before it in the file: the
    /// confidence of that point.
    pub(super) due: Option<Confidence>,
    /// True if its time has passed without it happening.
    pub(super) is_forgone: bool,
    /// The reply and the ending of it that will prove the action.
    armed: Option<(ExchangeId, Option<Ending>)>,
    /// True if that reply is not held, so that its grade is known only at its end.
    is_unheld: bool,
}

impl Deref for Pending {
    type Target = Receipt;

    fn deref(&self) -> &Receipt {
        &self.receipt
    }
}

impl DerefMut for Pending {
    fn deref_mut(&mut self) -> &mut Receipt {
        &mut self.receipt
    }
}

impl Pending {
    /// All actions of a plan, each with a blank receipt.
    pub(super) fn all_of(plan: &Plan) -> Vec<Pending> {
        let turns = plan.turns.iter().enumerate();
        turns
            .flat_map(|(turn, planned)| {
                planned.actions.iter().map(move |action| Pending {
                    receipt: Receipt {
                        turn,
                        words: action.words.clone(),
                        at: action.at.clone(),
                        what: action.what.clone(),
                        fired: false,
                        grade: None,
                    },
                    asked: false,
                    due: None,
                    is_forgone: false,
                    armed: None,
                    is_unheld: false,
                })
            })
            .collect()
    }

    pub(super) fn prove(&mut self, grade: Confidence) {
        self.fired = true;
        self.grade = Some(grade);
    }

    /// Ends the action without proof, because the system reports that there is nothing to do.
    pub(super) fn forgo(&mut self) {
        self.asked = true;
        self.is_forgone = true;
    }

    /// Marks the action as happening as soon as the provider ends the reply with this ending. `None`
    /// represents an extra frame that is sent next: the reply then continues to its own ending, or the client
    /// hangs up because of the frame.
    pub(super) fn arm(&mut self, exchange: ExchangeId, grade: Confidence, ending: Option<Ending>) {
        self.asked = true;
        self.grade = Some(grade);
        self.armed = Some((exchange, ending));
    }

    /// Marks the action as happening as soon as the provider ends a reply that is not held with this ending.
    pub(super) fn arm_unheld(&mut self, exchange: ExchangeId, ending: Option<Ending>) {
        self.arm(exchange, Confidence::Observed, ending);
        self.is_unheld = true;
    }

    /// True if it happens with the end of a reply that is not held.
    pub(super) fn is_armed_unheld(&self, exchange: ExchangeId) -> bool {
        self.is_unheld && self.armed.is_some_and(|(own, _)| own == exchange)
    }

    /// Lowers the grade to that of the reply that proves the action with its end.
    pub(super) fn at_most(&mut self, exchange: ExchangeId, grade: Confidence) {
        if self.is_armed_unheld(exchange) {
            self.grade = self.grade.min(Some(grade));
        }
    }

    pub(super) fn replied(&mut self, exchange: ExchangeId, ending: Ending) {
        if self.armed.is_some_and(|(own, how)| own == exchange && how.is_none_or(|how| how == ending)) {
            self.fired = true;
        }
    }

    /// Handles a client that disconnects in the middle of a reply.
    pub(super) fn hung_up(&mut self, exchange: ExchangeId) {
        if self.armed == Some((exchange, None)) {
            self.fired = true;
        }
    }

    pub(super) fn settled(&mut self, call: CallKey, grade: Confidence) {
        if self.asked && self.what == Action::Settle(call) {
            // At a hold the proof has at most the confidence of that hold.
            self.prove(self.grade.map_or(grade, |held| held.min(grade)));
        }
    }
}
