//! Did the tools do what the model asked, and no more?

use serde_json::Value;

use super::evidence::Evidence;
use brickbat_scenario::scenario::Times;
use brickbat_scenario::trace::{Consent, Event, Trace};
use brickbat_scenario::verdict::{Finding, Harm};

/// Tools run with the arguments that the model gave.
pub(super) fn arguments_complete(evidence: &Evidence<'_>) -> Vec<Finding> {
    let finding = |name: &str, expected: String, got: &str| Finding {
        check: "arguments-complete",
        harm: Harm::PartialArguments,
        permanence: None,
        message: format!("{name} ran with arguments that the model never gave"),
        place: "the tool's gate".to_owned(),
        rule: None,
        expected,
        got: format!("`{}`", got.chars().take(120).collect::<String>()),
    };
    // Not every system holds arguments against their schema. One that runs a tool with the object that the model
    // gave has changed nothing of it.
    let is_given = |args: &str| {
        let slipped = evidence.plan.calls.iter().filter(|call| call.is_malformed(|it| it.args));
        let mut given = slipped.map(|call| call.deltas.concat());
        let object = |text: &str| serde_json::from_str::<Value>(text).ok().filter(Value::is_object);
        given.any(|text| match (object(args), object(&text)) {
            (Some(args), Some(text)) => is_same(&args, &text),
            (None, None) => args.starts_with('{') && args == text,
            _ => false,
        })
    };
    let strangers = evidence
        .ledger
        .strangers
        .iter()
        .filter(|args| !is_given(args))
        .map(|args| finding("a tool", "the complete arguments of a call".to_owned(), args));
    let calls = evidence.plan.calls.iter().zip(&evidence.ledger.calls);
    let changed = calls.flat_map(|(call, account)| {
        let wrong = account.starts.iter().filter(|args| {
            serde_json::from_str::<Value>(args).ok().is_none_or(|args| !is_same(&args, &call.args))
        });
        wrong.map(|args| finding(&format!("call {}", call.name), format!("`{}`", call.args), args))
    });
    strangers.chain(changed).collect()
}

/// Whether two values say the same; `10` and `10.0` do, since JSON has one kind of number.
pub(super) fn is_same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| is_same(a, b)))
        }
        _ => a == b,
    }
}

/// A call that needs the user's consent runs only after the user has said yes.
pub(super) fn consent_given(evidence: &Evidence<'_>) -> Vec<Finding> {
    let calls = evidence.plan.calls.iter().zip(&evidence.ledger.calls);
    let unasked = calls.filter(|(call, account)| call.asks && account.unasked);
    unasked
        .map(|(call, account)| {
            let got = match account.consent {
                Some(Consent::Refused) => "the user had said no",
                Some(Consent::Withheld) => "the user had stopped the turn instead of answering",
                Some(Consent::Given) | None => "the user had not been asked",
            };
            Finding {
                check: "consent-given",
                harm: Harm::ExecutedUnasked,
                permanence: None,
                message: format!("call {} ran without the user's consent", call.name),
                place: "the tool's gate".to_owned(),
                rule: None,
                expected: "a run only after the user's yes".to_owned(),
                got: got.to_owned(),
            }
        })
        .collect()
}

/// A question whose call nobody knows, where a call ran that had to be asked about: the question may have been about
/// that call, under a name that the adapter made up, so nothing can be said of consent.
pub(super) fn question_about_nobody(evidence: &Evidence<'_>, trace: &Trace) -> Option<String> {
    let asked = trace.events().iter().find_map(|event| match event {
        Event::Asked { id, call: None, .. } => Some(id),
        _ => None,
    })?;
    let mut calls = evidence.plan.calls.iter().zip(&evidence.ledger.calls);
    let (call, _) =
        calls.find(|(call, account)| call.asks && account.unasked && account.consent.is_none())?;
    Some(format!(
        "the user was asked about a call `{asked}` that nobody knows, and call {} ran: questions name a call by the \
         provider's id",
        call.name
    ))
}

/// No call runs twice or in a later turn, nor more often than the scenario allows.
pub(super) fn executed_once(evidence: &Evidence<'_>) -> Vec<Finding> {
    let finding = |message: String, expected: &str, got: String| Finding {
        check: "executed-once",
        harm: Harm::ExecutedAgain,
        permanence: None,
        message,
        place: "the tool's gate".to_owned(),
        rule: None,
        expected: expected.to_owned(),
        got,
    };
    let mut findings = Vec::new();
    for (call, account) in evidence.plan.calls.iter().zip(&evidence.ledger.calls) {
        let n_starts = account.starts.len();
        if call.given && n_starts > 0 {
            let message = format!("call {} of the given history ran again", call.name);
            findings.push(finding(message, "no run", format!("{n_starts} runs")));
        } else if n_starts > 1 {
            let message = format!("call {} ran {n_starts} times", call.name);
            findings.push(finding(message, "one run", format!("{n_starts} runs")));
        } else if let Some(turn) = account.start_turns.iter().find(|turn| **turn > call.turn) {
            let message = format!("call {} ran in a later turn", call.name);
            findings.push(finding(message, "a run in its own turn", format!("a run in turn {}", turn + 1)));
        }
    }
    for (key, times) in &evidence.plan.executed {
        let name = &evidence.plan.calls[key.0 as usize].name;
        let same_name =
            evidence.plan.calls.iter().zip(&evidence.ledger.calls).filter(|(call, _)| call.name == *name);
        let n_starts: usize = same_name.map(|(_, account)| account.starts.len()).sum();
        let (holds, expected) = match times {
            Times::Never => (n_starts == 0, "no run"),
            Times::Once => (n_starts == 1, "one run"),
            Times::AtMostOnce => (n_starts <= 1, "at most one run"),
        };
        if !holds {
            findings.push(finding(
                format!("call {name} ran {n_starts} times"),
                expected,
                format!("{n_starts} runs"),
            ));
        }
    }
    findings
}
