//! The checks: requirements for every filter answer.
//!
//! A check does not depend on the filter. It has a condition for when it applies, so that failure rates cover
//! only the inputs that it applies to. Losses that the filter declares do not fail a check.

mod budget_kept;
mod left_equal;
mod mendable_becomes_valid;
mod never_raises;
mod nothing_made_up;
mod order_kept;
mod pairs_kept;
mod rounds_stay_valid;
mod there_and_back;
mod threads_apart;
mod twice_is_once;
mod valid_stays_valid;
mod words_kept;

use brickbat_rules::{Dialect, Violation};
use serde_json::Value;

use crate::align::aligned;
use crate::yardstick::refusals;
use crate::{Facts, Input, Loss, Route, Said, State};

/// One check.
#[derive(Debug)]
pub struct Check {
    /// Its id, which never changes.
    pub id: &'static str,
    /// The requirement as text.
    pub summary: &'static str,
    /// Returns whether the check applies to this evidence.
    pub applies: fn(&Evidence<'_>) -> bool,
    /// Returns the findings.
    pub find: fn(&Evidence<'_>) -> Vec<Finding>,
}

/// Every check, the most serious first.
pub const CHECKS: [&Check; 13] = [
    &never_raises::CHECK,
    &valid_stays_valid::CHECK,
    &mendable_becomes_valid::CHECK,
    &rounds_stay_valid::CHECK,
    &nothing_made_up::CHECK,
    &pairs_kept::CHECK,
    &words_kept::CHECK,
    &order_kept::CHECK,
    &there_and_back::CHECK,
    &threads_apart::CHECK,
    &twice_is_once::CHECK,
    &left_equal::CHECK,
    &budget_kept::CHECK,
];

/// A problem with one answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The id of the check.
    pub check: &'static str,
    /// The key that groups findings: a rule, a kind of error, or a word from the check.
    pub cause: String,
    /// The expected and the actual result.
    pub words: String,
}

/// The evidence about one answer.
#[derive(Debug)]
pub struct Evidence<'a> {
    /// The route through the filter.
    pub route: &'a Route<'a>,
    /// The input.
    pub input: &'a Input,
    /// The reference for the answer: the input, or the control's answer.
    pub base: &'a Value,
    /// The answer.
    pub said: &'a Said,
    /// True if the answer equals the base. For a valid input, the provider accepts the base; otherwise the
    /// input is not used.
    pub is_equal: bool,
    /// The facts in the base.
    pub before: Facts,
    /// The facts in the answer.
    pub after: Facts,
    /// For each call in the base, its index in the answer.
    pub calls: Vec<Option<usize>>,
    /// The answer to a second pass over the answer.
    pub again: Option<&'a Said>,
    /// The answer of the mode that converts back.
    pub back: Option<&'a Said>,
    /// The answers after some rounds in which the conversation continues, with the number of rounds.
    pub rounds: &'a [(u32, Said)],
    /// The answer to the same question asked again, and the one asked again after broken threads.
    pub later: Option<&'a (Said, Said)>,
}

impl<'a> Evidence<'a> {
    /// Reads the evidence from a base in its dialect and an answer.
    pub fn new(
        route: &'a Route<'a>,
        input: &'a Input,
        (base, of_base): (&'a Value, Dialect),
        said: &'a Said,
    ) -> Evidence<'a> {
        let is_equal = of_base == route.to && said.body() == Some(base);
        let before = Facts::of(base, of_base);
        let after = match said.body() {
            Some(_) if is_equal => before.clone(),
            Some(body) => Facts::of(body, route.to),
            None => Facts::default(),
        };
        let calls = aligned(&before, &after);
        let (again, back, later) = (None, None, None);
        let rounds = &[];
        Evidence { route, input, base, said, is_equal, before, after, calls, again, back, rounds, later }
    }

    /// Returns the evidence with the answer of the mode that converts back.
    fn returned(&self, back: &'a Said) -> Evidence<'a> {
        let after = back.body().map(|body| Facts::of(body, self.route.from)).unwrap_or_default();
        let calls = aligned(&self.before, &after);
        Evidence { said: back, is_equal: false, before: self.before.clone(), after, calls, ..*self }
    }

    fn declares(&self, loss: Loss) -> bool {
        self.route.mode.declares(loss)
    }

    fn is_valid(&self) -> bool {
        self.input.state == State::Valid
    }

    /// Returns whether the answer has a body.
    fn has_body(&self) -> bool {
        self.said.body().is_some()
    }

    /// Returns whether the budget requires dropping something.
    fn is_tight(&self) -> bool {
        self.input.budget(self.route).is_some() && self.input.share != crate::Share::Ample
    }

    /// Returns whether messages may be missing.
    fn may_drop(&self) -> bool {
        let is_roomy = self.input.budget(self.route).is_some() && !self.is_tight();
        self.route.mode.drops() && (!is_roomy || self.declares(Loss::DropsMessages))
    }

    /// Returns the provider's reasons to reject a body.
    fn refusals(&self, body: &Value) -> Vec<Violation> {
        refusals(self.route, body)
    }
}

impl Check {
    fn finding(&self, cause: impl Into<String>, words: impl Into<String>) -> Finding {
        Finding { check: self.id, cause: cause.into(), words: words.into() }
    }

    /// Returns the first rejection of a body as a finding, because the provider reports only one.
    fn refused(&self, evidence: &Evidence<'_>, body: &Value, when: &str) -> Vec<Finding> {
        let refusals = evidence.refusals(body);
        let first = refusals.first().map(|violation| {
            let at = if violation.pointer.is_empty() { "the body" } else { violation.pointer.as_str() };
            self.finding(violation.rule.id, format!("{when}{at}: {}", violation.message))
        });
        first.into_iter().collect()
    }
}

/// Returns the beginning of a text, for messages.
fn quoted(text: &str) -> String {
    const MAX_CHARS: usize = 60;
    let cut: String = text.chars().take(MAX_CHARS).collect();
    match cut.len() < text.len() {
        true => format!("{cut:?}…"),
        false => format!("{cut:?}"),
    }
}
