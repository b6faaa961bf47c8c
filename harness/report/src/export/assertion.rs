//! Assertions for exported tests, generated from findings.

use serde_json::Value;

use super::rules::{self, RuleCode};
use crate::record::{FindingNote, Record};
use brickbat_scenario::trace::{Event, RequestKind, TurnOutcome};

/// An assertion of a test.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Assertion {
    /// No request breaks a rule, and the turn of the offending request reaches the provider.
    Accepted { rule: &'static RuleCode, turn: usize },
    /// The turn ends without an error.
    Works { turn: usize },
    /// The last request of the turn contains these texts; `what` describes them.
    Kept { turn: usize, what: &'static str, texts: Vec<String> },
    /// The turn ends with an error.
    Fails { turn: usize },
    /// Tools run only with arguments that the model has completed.
    WholeArguments { turn: usize, whole: Vec<Value> },
    /// The call runs exactly once.
    Once { turn: usize, name: String },
}

/// The reason why no test can assert a finding.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoAssertion {
    #[error("there is no assertion for this check")]
    Check,
    #[error("the rule `{0}` has no assertion")]
    Rule(String),
    #[error("its turn is not known")]
    UnknownTurn,
    #[error("the call is unknown")]
    UnknownCall,
    #[error("no request was refused")]
    NothingRefused,
    #[error("the turn raised no error")]
    NothingRaised,
    #[error("the later requests contain its text elsewhere")]
    Elsewhere,
    #[error("no tool ran with such arguments")]
    NotRun,
    #[error("the call has not run twice")]
    RunOnce,
    #[error("a test cannot tell whether the turn is right to send a request again")]
    AskedAgain,
}

impl Assertion {
    /// The assertion for a finding, or the reason why there is none.
    pub(super) fn of(record: &Record, finding: &FindingNote) -> Result<Assertion, NoAssertion> {
        if let Some(rule) = finding.rule.as_deref() {
            return accepted(record, rule);
        }
        let assert = ASSERTED.iter().find(|(check, _)| *check == finding.check).map(|(_, assert)| assert);
        assert.ok_or(NoAssertion::Check)?(record, finding)
    }

    /// The last turn, from 0, that is needed to see it.
    pub(super) fn last_turn(&self) -> usize {
        match self {
            Assertion::Accepted { turn, .. }
            | Assertion::Works { turn }
            | Assertion::Kept { turn, .. }
            | Assertion::Fails { turn }
            | Assertion::WholeArguments { turn, .. }
            | Assertion::Once { turn, .. } => *turn,
        }
    }
}

/// Converts a finding of a check to an assertion.
type Assert = fn(&Record, &FindingNote) -> Result<Assertion, NoAssertion>;

/// The checks that a test in one process can express.
const ASSERTED: &[(&str, Assert)] = &[
    ("thread-survives", works),
    ("results-kept", results_kept),
    ("user-message-kept", messages_kept),
    ("truncation-noticed", fails),
    ("arguments-complete", whole_arguments),
    ("executed-once", once),
];

fn accepted(record: &Record, rule: &str) -> Result<Assertion, NoAssertion> {
    let code = rules::of(rule).ok_or_else(|| NoAssertion::Rule(rule.to_owned()))?;
    let is_refused =
        |event: &Event| matches!(event, Event::Requested { kind: RequestKind::Refused { .. }, .. });
    let turn = turn_of(record, is_refused).ok_or(NoAssertion::NothingRefused)?;
    Ok(Assertion::Accepted { rule: code, turn })
}

fn works(record: &Record, finding: &FindingNote) -> Result<Assertion, NoAssertion> {
    let turn = turn_in(&finding.place).ok_or(NoAssertion::UnknownTurn)?;
    let raised = |event: &Event| matches!(event, Event::TurnEnded { outcome: TurnOutcome::Raised { .. } });
    let has_raised = events(record).any(|(at, event)| at == turn && raised(event));
    if !finding.severity.quotes_error() || !has_raised {
        return Err(NoAssertion::NothingRaised);
    }
    Ok(Assertion::Works { turn })
}

fn results_kept(record: &Record, finding: &FindingNote) -> Result<Assertion, NoAssertion> {
    let name = call_in(&finding.message).ok_or(NoAssertion::UnknownCall)?;
    let call = record
        .plan
        .calls
        .iter()
        .find(|call| call.name == name && !call.given)
        .ok_or(NoAssertion::UnknownCall)?;
    kept(record, call.turn, "the result of a tool", vec![call.outcome.text().to_owned()])
}

fn messages_kept(record: &Record, finding: &FindingNote) -> Result<Assertion, NoAssertion> {
    let subject = finding.message.strip_suffix(" is missing from the last request");
    let turn = subject.and_then(turn_in).ok_or(NoAssertion::UnknownTurn)?;
    let planned = record.plan.turns.get(turn).ok_or(NoAssertion::UnknownTurn)?;
    kept(record, turn, "what the user said", vec![planned.user.clone()])
}

/// An assertion about the first turn after `after` with a last request that should contain the texts and does
/// not.
fn kept(
    record: &Record,
    after: usize,
    what: &'static str,
    texts: Vec<String>,
) -> Result<Assertion, NoAssertion> {
    let requested = |event: &Event| match event {
        Event::Requested { body, kind, .. } if kind.is_of_thread() => Some(body.clone()),
        _ => None,
    };
    let bodies = events(record).filter_map(|(turn, event)| Some((turn, requested(event)?)));
    let later: Vec<_> = bodies.filter(|(turn, _)| *turn > after).collect();
    let is_last = |at: usize| later.get(at + 1).is_none_or(|(turn, _)| *turn != later[at].0);
    let lacks = |body: &[u8]| texts.iter().all(|text| !is_in(body, text));
    let found = (0..later.len()).find(|at| is_last(*at) && lacks(&later[*at].1));
    let turn = found.map(|at| later[at].0).ok_or(NoAssertion::Elsewhere)?;
    Ok(Assertion::Kept { turn, what, texts })
}

/// True if a request contains the text in one of its strings.
fn is_in(body: &[u8], text: &str) -> bool {
    let quoted = Value::from(text).to_string();
    String::from_utf8_lossy(body).contains(&quoted[1..quoted.len() - 1])
}

fn fails(_: &Record, finding: &FindingNote) -> Result<Assertion, NoAssertion> {
    let turn = turn_in(&finding.place).ok_or(NoAssertion::UnknownTurn)?;
    if finding.message.contains("the turn ran") {
        return Err(NoAssertion::AskedAgain);
    }
    Ok(Assertion::Fails { turn })
}

fn whole_arguments(record: &Record, _: &FindingNote) -> Result<Assertion, NoAssertion> {
    let whole: Vec<Value> = record.plan.calls.iter().map(|call| call.args.clone()).collect();
    let is_broken = |event: &Event| match event {
        Event::ToolStarted { args, .. } => {
            serde_json::from_str::<Value>(args).map_or(true, |args| !whole.contains(&args))
        }
        _ => false,
    };
    let turn = turn_of(record, is_broken).ok_or(NoAssertion::NotRun)?;
    Ok(Assertion::WholeArguments { turn, whole })
}

fn once(record: &Record, finding: &FindingNote) -> Result<Assertion, NoAssertion> {
    let name = call_in(&finding.message).ok_or(NoAssertion::UnknownCall)?;
    let key = record.plan.calls.iter().position(|call| call.name == name).ok_or(NoAssertion::UnknownCall)?;
    let starts = events(record).filter(
        |(_, event)| matches!(event, Event::ToolStarted { call: Some(call), .. } if call.0 as usize == key),
    );
    let turn = starts.map(|(turn, _)| turn).nth(1).ok_or(NoAssertion::RunOnce)?;
    Ok(Assertion::Once { turn, name: name.to_owned() })
}

fn events(record: &Record) -> impl Iterator<Item = (usize, &Event)> {
    record.observed.iter().flat_map(|observed| observed.trace.by_turn())
}

fn turn_of(record: &Record, is_it: impl Fn(&Event) -> bool) -> Option<usize> {
    events(record).find(|(_, event)| is_it(event)).map(|(turn, _)| turn)
}

/// The turn, from 0, at the end of a text: `turn 2`.
fn turn_in(words: &str) -> Option<usize> {
    let (_, number) = words.rsplit_once("turn ")?;
    number.parse::<usize>().ok()?.checked_sub(1)
}

/// The name of the call in a message such as `the result of call b is …`.
fn call_in(message: &str) -> Option<&str> {
    message.split_once("call ")?.1.split(' ').next()
}

#[cfg(test)]
mod tests {
    use super::*;
    use brickbat_engine::checks::CHECKS;
    use std::collections::BTreeSet;

    /// The checks that a test in one process cannot express yet.
    const NOT_ASSERTED: &[&str] = &[
        "arguments-whole",
        "calls-remembered",
        "calls-answered",
        "consent-given",
        "failure-honest",
        "healthy-untouched",
        "old-thread-heals",
        "order-kept",
        "parts-settled",
        "pause-heeded",
        "prefix-stable",
        "refusal-heeded",
        "repair-stable",
        "requests-bounded",
        "requests-end-with-turn",
        "results-once",
        "rewind-honoured",
        "steps-kept-apart",
        "stops-when-stopped",
        "success-honest",
        "texts-once",
        "tools-current",
        "turn-ends",
        "views-agree",
    ];

    /// A check is in one of the two lists, so that a new one is not forgotten.
    #[test]
    fn every_check_has_an_assertion_or_is_listed_as_having_none() {
        let asserted = ASSERTED.iter().map(|(check, _)| *check);
        let listed: Vec<&str> = asserted.chain(NOT_ASSERTED.iter().copied()).collect();
        let all: BTreeSet<&str> = CHECKS.iter().map(|check| check.id).collect();
        assert_eq!(listed.iter().copied().collect::<BTreeSet<_>>(), all);
        assert_eq!(listed.len(), all.len(), "a check is listed twice");
    }
}
