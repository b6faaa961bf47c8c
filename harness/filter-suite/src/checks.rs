//! The checks: what must be true of every answer of a filter.
//!
//! A check knows no filter. It says when it applies, so that a rate is over what was really put to it, and it leaves alone
//! what the filter declares.

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
    /// Its id, stable for ever.
    pub id: &'static str,
    /// What it demands, in words.
    pub summary: &'static str,
    /// Whether it has anything to say about this evidence.
    pub applies: fn(&Evidence<'_>) -> bool,
    /// What is wrong.
    pub find: fn(&Evidence<'_>) -> Vec<Finding>,
}

/// Every check, the gravest first.
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

/// What is wrong with one answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The id of the check.
    pub check: &'static str,
    /// What makes two findings one: a rule, a kind of error, or a word of the check.
    pub cause: String,
    /// What was expected and what was got.
    pub words: String,
}

/// Everything that is known of one answer.
#[derive(Debug)]
pub struct Evidence<'a> {
    /// The way through the filter.
    pub route: &'a Route<'a>,
    /// What was put in.
    pub input: &'a Input,
    /// What the answer is compared with: the input, or the control's answer.
    pub base: &'a Value,
    /// The answer.
    pub said: &'a Said,
    /// Whether the answer is the base as it is. Of a valid input the base is accepted: else it had not been put.
    pub is_equal: bool,
    /// What the base says.
    pub before: Facts,
    /// What the answer says.
    pub after: Facts,
    /// For each call before, its place after.
    pub calls: Vec<Option<usize>>,
    /// The answer to the answer.
    pub again: Option<&'a Said>,
    /// The answer of the mode that leads back.
    pub back: Option<&'a Said>,
    /// The answers after so many rounds, in which the conversation goes on.
    pub rounds: &'a [(u32, Said)],
    /// The answer when it was asked once more, and once more after broken threads.
    pub later: Option<&'a (Said, Said)>,
}

impl<'a> Evidence<'a> {
    /// Reads what there is to be compared: a base in its dialect, and an answer.
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

    /// The same with the answer of the mode that leads back in place of the answer.
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

    /// Whether there is a body to look at.
    fn has_body(&self) -> bool {
        self.said.body().is_some()
    }

    /// Whether the budget is so tight that something has to go.
    fn is_tight(&self) -> bool {
        self.input.budget(self.route).is_some() && self.input.share != crate::Share::Ample
    }

    /// Whether messages may be gone.
    fn may_drop(&self) -> bool {
        let is_roomy = self.input.budget(self.route).is_some() && !self.is_tight();
        self.route.mode.drops() && (!is_roomy || self.declares(Loss::DropsMessages))
    }

    /// Why the provider refuses a body.
    fn refusals(&self, body: &Value) -> Vec<Violation> {
        refusals(self.route, body)
    }
}

impl Check {
    fn finding(&self, cause: impl Into<String>, words: impl Into<String>) -> Finding {
        Finding { check: self.id, cause: cause.into(), words: words.into() }
    }

    /// The first refusal of a body as a finding: the provider names no more than one.
    fn refused(&self, evidence: &Evidence<'_>, body: &Value, when: &str) -> Vec<Finding> {
        let refusals = evidence.refusals(body);
        let first = refusals.first().map(|violation| {
            let at = if violation.pointer.is_empty() { "the body" } else { violation.pointer.as_str() };
            self.finding(violation.rule.id, format!("{when}{at}: {}", violation.message))
        });
        first.into_iter().collect()
    }
}

/// The beginning of a text, for messages.
fn quoted(text: &str) -> String {
    const MAX_CHARS: usize = 60;
    let cut: String = text.chars().take(MAX_CHARS).collect();
    match cut.len() < text.len() {
        true => format!("{cut:?}…"),
        false => format!("{cut:?}"),
    }
}
