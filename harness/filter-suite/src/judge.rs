//! Puts inputs to a filter on one route and judges its answers.
//!
//! First, an input is compared with two references: the control, which is the same conversion without the
//! filter, and our own translation. If these cannot carry the input, it is not put to the filter.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::checks::{CHECKS, Evidence, Finding};
use crate::yardstick::{beside, grown, refusals, translated};
use crate::{Asked, Broken, Facts, Filter, Form, Input, Kind, Route, Said, State, written};

/// The result for one input.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// The outcome.
    pub outcome: Outcome,
    /// The answer, if the filter was asked.
    pub said: Option<Said>,
}

/// The outcome for one input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It was not put to the filter, with the reason: the conversion without the filter cannot carry it.
    NotPut(String),
    /// The dialect of the output cannot represent it, or the converter around the filter does not support
    /// it, with the reason.
    Unsupported(String),
    /// The filter rejected a broken history, as it declares.
    Refused,
    /// It was judged.
    Judged {
        /// The checks that applied to it.
        put: BTreeSet<&'static str>,
        /// The problems.
        findings: Vec<Finding>,
    },
}

impl Outcome {
    /// Returns the findings. Empty if the input was not judged.
    pub fn findings(&self) -> &[Finding] {
        match self {
            Outcome::Judged { findings, .. } => findings,
            _ => &[],
        }
    }
}

/// The rounds after which a trimmed history is checked.
const ROUNDS: [u32; 3] = [1, 3, 30];

/// The maximum number of inputs per route that get several rounds. Each takes thirty questions.
const MAX_IN_ROUNDS: usize = 12;

/// The maximum number of inputs per route that are sent again after broken threads, and of broken threads
/// before them.
const MAX_APART: usize = 8;

/// The maximum number of unchanged inputs per route that are sent a second time. This is enough to detect a
/// filter with a different second answer.
const MAX_EQUAL_AGAIN: usize = 8;

/// Judges the answers of a filter to inputs on one route. `back` is the route that converts back.
///
/// # Errors
///
/// Fails if the filter no longer answers.
pub fn judge(
    filter: &mut dyn Filter,
    route: &Route<'_>,
    back: Option<&Route<'_>>,
    inputs: &[Input],
) -> Result<Vec<Judged>, Broken> {
    judge_by(filter, route, back, inputs, None)
}

/// Like [`judge()`], for one check only. Questions for the other checks are skipped.
pub(crate) fn judge_by(
    filter: &mut dyn Filter,
    route: &Route<'_>,
    back: Option<&Route<'_>>,
    inputs: &[Input],
    only: Option<&str>,
) -> Result<Vec<Judged>, Broken> {
    let needs = |check: &str| only.is_none_or(|only| only == check);
    let mut cases: Vec<Case<'_>> = inputs.iter().map(|input| Case::new(route, input)).collect();
    control(filter, route, &mut cases)?;
    ask(
        filter,
        &mut cases,
        |case| case.is_put(),
        |case| case.asked(route),
        |case, said| case.said = Some(said),
    )?;
    if needs("twice-is-once") {
        again(filter, route, &mut cases)?;
    }
    if let Some(back) = back.filter(|_| needs("there-and-back")) {
        return_from(filter, back, &mut cases)?;
    }
    if needs("rounds-stay-valid") {
        rounds(filter, route, &mut cases)?;
    }
    if needs("threads-apart") {
        apart(filter, route, &mut cases)?;
    }
    Ok(cases.into_iter().map(|case| case.judged(route)).collect())
}

/// An input with its intermediate results.
struct Case<'a> {
    input: &'a Input,
    kept_out: Option<Outcome>,
    control: Option<Value>,
    said: Option<Said>,
    again: Option<Said>,
    back: Option<Said>,
    rounds: Vec<(u32, Said)>,
    later: Option<(Said, Said)>,
}

impl<'a> Case<'a> {
    fn new(route: &Route<'_>, input: &'a Input) -> Case<'a> {
        let kept_out = kept_out(route, input);
        Case {
            input,
            kept_out,
            control: None,
            said: None,
            again: None,
            back: None,
            rounds: Vec::new(),
            later: None,
        }
    }

    fn is_put(&self) -> bool {
        self.kept_out.is_none()
    }

    fn is_valid(&self) -> bool {
        self.is_put() && self.input.state == State::Valid
    }

    fn body(&self) -> Option<&Value> {
        self.said.as_ref().and_then(Said::body)
    }

    fn asked(&self, route: &Route<'_>) -> Asked {
        Asked::about(route, self.input)
    }

    fn judged(self, route: &Route<'_>) -> Judged {
        let (outcome, said) = match (self.kept_out, self.said) {
            (Some(outcome), said) => (outcome, said),
            (None, None) => (Outcome::NotPut("it was not answered".to_owned()), None),
            (None, Some(said)) => {
                let base = match &self.control {
                    Some(control) => (control, route.to),
                    None => (&self.input.body, route.from),
                };
                let mut evidence = Evidence::new(route, self.input, base, &said);
                evidence.again = self.again.as_ref();
                evidence.back = self.back.as_ref();
                evidence.rounds = &self.rounds;
                evidence.later = self.later.as_ref();
                (outcome(route, &evidence), Some(said))
            }
        };
        Judged { outcome, said }
    }
}

fn outcome(route: &Route<'_>, evidence: &Evidence<'_>) -> Outcome {
    match evidence.said {
        Said::Unsupported(why) => return Outcome::Unsupported(why.clone()),
        Said::Raised { kind, .. }
            if evidence.input.state != State::Valid && route.mode.refuses.contains(kind) =>
        {
            return Outcome::Refused;
        }
        Said::Raised { kind, message } => {
            if let Some(link) = route.mode.declined(kind, message) {
                return Outcome::Unsupported(format!("it refuses that by design: {link}"));
            }
        }
        _ => {}
    }
    let put = CHECKS.iter().filter(|check| (check.applies)(evidence));
    let put: Vec<_> = put.collect();
    let findings = put.iter().flat_map(|check| (check.find)(evidence)).collect();
    Outcome::Judged { put: put.iter().map(|check| check.id).collect(), findings }
}

/// Returns the reason why an input is not put to any filter on this route.
fn kept_out(route: &Route<'_>, input: &Input) -> Option<Outcome> {
    if input.dialect != route.from {
        return Some(Outcome::NotPut("it is of another dialect".to_owned()));
    }
    if let Some(key) = beside(route.from, &input.body) {
        return Some(Outcome::NotPut(format!("the provider keeps what `{key}` names")));
    }
    // A prompt stored by the provider, or a text in place of the list, is not a history.
    if crate::inputs::entries(&input.body, route.from).is_empty() {
        return Some(Outcome::NotPut("it has no list of messages".to_owned()));
    }
    // Filters that keep the newest turns are documented to keep nothing if there is none.
    if matches!(route.mode.kind, Kind::Trimmer | Kind::Compactor) && !input.has_turn() {
        return Some(Outcome::NotPut("the user says nothing in it".to_owned()));
    }
    if route.mode.form != Form::Request
        && let Err(why) = written(route.mode.form, &input.body, route.from)
    {
        return Some(Outcome::Unsupported(why.to_string()));
    }
    if input.state != State::Valid {
        return None;
    }
    // The formats can represent thinking and ids only of the dialect that they came from, and no fields of
    // a request.
    let is_carried = route.is_foreign() || route.mode.form != Form::Request;
    if is_carried && let Err(why) = translated(route, &input.body) {
        return Some(Outcome::Unsupported(why.to_string()));
    }
    if !route.is_foreign()
        && let Some(first) = refusals(route, &input.body).first()
    {
        return Some(Outcome::NotPut(format!("{} refuses it: {}", route.profile.name, first.rule.id)));
    }
    None
}

type Put<'c, 'a> = fn(&mut Case<'a>, Said);

/// Asks about the selected cases.
fn ask<'a>(
    filter: &mut dyn Filter,
    cases: &mut [Case<'a>],
    is_meant: impl Fn(&Case<'a>) -> bool,
    question: impl Fn(&Case<'a>) -> Asked,
    put: Put<'_, 'a>,
) -> Result<(), Broken> {
    let meant: Vec<usize> = (0..cases.len()).filter(|n| is_meant(&cases[*n])).collect();
    let asked: Vec<Asked> = meant.iter().map(|n| question(&cases[*n])).collect();
    let answers = filter.ask(&asked)?;
    for (n, said) in meant.into_iter().zip(answers) {
        put(&mut cases[n], said);
    }
    Ok(())
}

/// Runs the conversion without the filter, and excludes inputs that it cannot carry.
fn control(filter: &mut dyn Filter, route: &Route<'_>, cases: &mut [Case<'_>]) -> Result<(), Broken> {
    if !route.mode.control {
        return Ok(());
    }
    let question = |case: &Case<'_>| Asked { is_control: true, budget: None, ..case.asked(route) };
    let meant: Vec<usize> = (0..cases.len()).filter(|n| cases[*n].is_put()).collect();
    let asked: Vec<Asked> = meant.iter().map(|n| question(&cases[*n])).collect();
    for (n, said) in meant.into_iter().zip(filter.ask(&asked)?) {
        let case = &mut cases[n];
        match said {
            Said::Unsupported(why) => case.kept_out = Some(Outcome::Unsupported(why)),
            Said::Raised { kind, .. } => {
                case.kept_out = Some(Outcome::NotPut(format!("the way without the filter raises {kind}")));
            }
            Said::Request { body, .. } => {
                case.kept_out = spoilt(route, case.input, &body);
                case.control = Some(body);
            }
        }
    }
    Ok(())
}

/// Returns the reason to exclude an input because the conversion without the filter changes it.
fn spoilt(route: &Route<'_>, input: &Input, body: &Value) -> Option<Outcome> {
    let not_put = |why: String| Some(Outcome::NotPut(why));
    if input.state == State::Valid
        && let Some(first) = refusals(route, body).first()
    {
        return not_put(format!("the way without the filter is refused: {}", first.rule.id));
    }
    let (before, after) = (Facts::of(&input.body, route.from), Facts::of(body, route.to));
    let n_calls = |facts: &Facts| (facts.calls().len(), facts.results().len());
    if n_calls(&before) != n_calls(&after) {
        return not_put("the way without the filter loses calls or results".to_owned());
    }
    // If the converter fixes the input, there is nothing left for the filter to fix.
    if input.state != State::Valid && refusals(route, body).is_empty() {
        return not_put("the route without the filter repairs it".to_owned());
    }
    None
}

/// Puts the answers to the filter again.
fn again(filter: &mut dyn Filter, route: &Route<'_>, cases: &mut [Case<'_>]) -> Result<(), Broken> {
    // A second summary of a summary is allowed.
    if !route.is_round() || !matches!(route.mode.kind, Kind::Repairer | Kind::Trimmer) {
        return Ok(());
    }
    // For an unchanged answer, the question would be the same again. So most of these reuse the first
    // answer.
    let is_same = |case: &Case<'_>| case.is_put() && case.body() == Some(&case.input.body);
    let n_same = cases.iter().filter(|case| is_same(case)).count();
    let every = n_same.div_ceil(MAX_EQUAL_AGAIN).max(1);
    for (n, case) in cases.iter_mut().filter(|case| is_same(case)).enumerate() {
        if n % every != 0 {
            case.again = case.said.clone();
        }
    }
    let question =
        |case: &Case<'_>| Asked { request: case.body().cloned().unwrap_or_default(), ..case.asked(route) };
    ask(
        filter,
        cases,
        |case| case.is_put() && case.body().is_some() && case.again.is_none(),
        question,
        |case, said| case.again = Some(said),
    )
}

/// Puts the answers to the mode that converts back.
fn return_from(filter: &mut dyn Filter, back: &Route<'_>, cases: &mut [Case<'_>]) -> Result<(), Broken> {
    let question = |case: &Case<'_>| {
        let body = case.body().cloned().unwrap_or_default();
        let there = Input { body, dialect: back.from, ..case.input.clone() };
        Asked::about(back, &there)
    };
    let is_meant = |case: &Case<'_>| {
        // Rejected answers are not converted back, because they are a finding already.
        case.is_valid() && case.body().is_some_and(|body| translated(back, body).is_ok())
    };
    ask(filter, cases, is_meant, question, |case, said| case.back = Some(said))
}

/// Continues conversations and trims them again, round after round.
fn rounds(filter: &mut dyn Filter, route: &Route<'_>, cases: &mut [Case<'_>]) -> Result<(), Broken> {
    let goes_on = matches!(route.mode.kind, Kind::Trimmer | Kind::Compactor) && route.mode.rounds;
    if !goes_on || !route.is_round() {
        return Ok(());
    }
    let is_fit = |case: &Case<'_>| {
        let is_accepted = |body: &Value| refusals(route, body).is_empty();
        case.is_valid() && case.input.entries().len() > 1 && case.body().is_some_and(is_accepted)
    };
    let fit: Vec<usize> = (0..cases.len()).filter(|n| is_fit(&cases[*n])).collect();
    // The last ones are the longest.
    let chosen = &fit[fit.len().saturating_sub(MAX_IN_ROUNDS)..];
    let mut bodies: Vec<(usize, Value)> =
        chosen.iter().filter_map(|n| Some((*n, cases[*n].body()?.clone()))).collect();
    for round in 1..=ROUNDS[ROUNDS.len() - 1] {
        let mut asked = Vec::new();
        bodies.retain_mut(|(n, body)| {
            let question = cases[*n].asked(route);
            let grown = grown(body, route.to, question.model.as_deref(), round);
            // If a conversation cannot continue like this, the filter is not at fault.
            match grown.filter(|request| refusals(route, request).is_empty()) {
                Some(request) => {
                    asked.push(Asked { request, ..question });
                    true
                }
                None => false,
            }
        });
        let answers = filter.ask(&asked)?;
        let mut next = Vec::new();
        for ((n, _), said) in bodies.into_iter().zip(answers) {
            next.extend(said.body().map(|body| (n, body.clone())));
            if ROUNDS.contains(&round) || said.body().is_none() {
                cases[n].rounds.push((round, said));
            }
        }
        bodies = next;
    }
    Ok(())
}

/// Asks the same question again, and once more after broken threads.
fn apart(filter: &mut dyn Filter, route: &Route<'_>, cases: &mut [Case<'_>]) -> Result<(), Broken> {
    let meant: Vec<usize> = (0..cases.len())
        .filter(|n| cases[*n].is_valid() && cases[*n].said.is_some())
        .take(MAX_APART)
        .collect();
    if meant.is_empty() || route.mode.form != Form::Request {
        return Ok(());
    }
    let asked: Vec<Asked> = meant.iter().map(|n| cases[*n].asked(route)).collect();
    let once_more = filter.ask(&asked)?;
    let bad =
        (0..MAX_APART as u64).map(|n| Asked { request: Input::broken(route.from, 0, n), ..asked[0].clone() });
    filter.ask(&bad.collect::<Vec<_>>())?;
    let after = filter.ask(&asked)?;
    for ((n, before), after) in meant.into_iter().zip(once_more).zip(after) {
        cases[n].later = Some((before, after));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planted::named;
    use crate::{Declined, Function, Share};
    use brickbat_rules::Dialect;
    use serde_json::json;

    #[test]
    fn a_trimmer_gets_only_histories_with_a_turn() {
        let modes = (named("whole-turns").unwrap().modes)();
        let routes = modes[0].routes();
        let route = routes.iter().find(|route| route.from == Dialect::OpenaiChat).unwrap();
        let mut empties = Function(|_: &Asked| Said::request(json!({ "model": "gpt-5.2", "messages": [] })));
        let input = |role: &str| Input {
            id: role.to_owned(),
            dialect: Dialect::OpenaiChat,
            body: json!({ "model": "gpt-5.2", "messages": [{ "role": role, "content": "Be kind." }] }),
            state: State::Valid,
            share: Share::Half,
        };
        let judged = judge(&mut empties, route, None, &[input("developer"), input("user")]).unwrap();
        assert_eq!(judged[0].outcome, Outcome::NotPut("the user says nothing in it".to_owned()));
        assert!(!judged[1].outcome.findings().is_empty());
    }

    #[test]
    fn only_undeclared_errors_are_findings() {
        let mut mode = (named("identity").unwrap().modes)().remove(0);
        let link = "https://example.com".to_owned();
        mode.declines =
            vec![Declined { kind: "UserError".to_owned(), says: "custom calls".to_owned(), link }];
        let mut raises = Function(|asked: &Asked| {
            let message = asked.request["messages"][0]["content"].as_str().unwrap_or_default().to_owned();
            Said::Raised { kind: "UserError".to_owned(), message }
        });
        let routes = mode.routes();
        let route = routes.iter().find(|route| route.from == Dialect::OpenaiChat).unwrap();
        let input = |words: &str| Input {
            id: words.to_owned(),
            dialect: Dialect::OpenaiChat,
            body: json!({ "model": "gpt-5.2", "messages": [{ "role": "user", "content": words }] }),
            state: State::Valid,
            share: Share::Half,
        };
        let judged =
            judge(&mut raises, route, None, &[input("no custom calls here"), input("other")]).unwrap();
        let unsupported = "it refuses that by design: https://example.com".to_owned();
        assert_eq!(judged[0].outcome, Outcome::Unsupported(unsupported));
        assert_eq!(judged[1].outcome.findings()[0].check, "never-raises");
    }
}
