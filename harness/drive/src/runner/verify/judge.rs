//! The log of a turn, and its required content when nothing goes wrong.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use super::probe::{Defect, Hint, wrong};
use super::script::REFUSAL;
use brickbat_rules::json::Document;
use brickbat_scenario::history::{Content, History, Role};
use brickbat_scenario::plan::{CallKey, Plan};
use brickbat_scenario::trace::{RequestKind, ShownState, TurnOutcome};
use brickbat_scenario::wire;

#[derive(Debug, Default)]
pub(super) struct TurnLog {
    pub(super) requests: Vec<(RequestKind, Arc<[u8]>)>,
    /// Requests outside the conversation.
    pub(super) outside: Vec<Arc<[u8]>>,
    /// The number of requests that sub-agents sent.
    pub(super) n_of_sub_agents: u32,
    pub(super) gate_calls: Vec<GateCall>,
    /// The states of calls, as the user saw them.
    pub(super) shown: Vec<(String, ShownState)>,
    pub(super) outcome: Option<TurnOutcome>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GateCall {
    /// The tool that the gate belongs to.
    pub(super) tool: String,
    pub(super) args: String,
    /// The call, identified by its marker.
    pub(super) call: Option<CallKey>,
}

/// A refused request is the SDK's in most cases: an adapter passes on what the SDK builds.
const REFUSED_HINT: Hint = Hint::Text(
    "look at the SDK first: `brickbat run control/` shows the refused request and the broken rule; the adapter is at \
     fault only if it builds the messages itself",
);

/// Checks that a turn went as planned: every reply was requested, every tool ran once with its arguments, and
/// the turn returned.
pub(super) fn conversation(plan: &Plan, turn: usize, log: &TurnLog) -> Result<(), Defect> {
    for (kind, _) in &log.requests {
        match kind {
            RequestKind::Scripted { .. } => {}
            RequestKind::Refused { status } => {
                let seen = format!("the provider refused a request of the SDK with status {status}");
                return Err(Defect::new(seen).hint(REFUSED_HINT));
            }
            _ => {
                return wrong("the provider got one more request than the conversation has replies");
            }
        }
    }
    for (index, run) in log.gate_calls.iter().enumerate() {
        let call = run.call.map(|key| (key, &plan.calls[key.0 as usize]));
        let Some((key, call)) = call else {
            return wrong(format!(
                "the gate of {} got arguments that match no call: {}",
                run.tool,
                quoted(&run.args)
            ));
        };
        let name = &call.name;
        if run.tool != call.tool {
            return wrong(format!("call {name} of the tool {} reached the gate of {}", call.tool, run.tool));
        }
        if log.gate_calls[..index].iter().any(|other| other.call == Some(key)) {
            return wrong(format!("call {name} reached its gate twice"));
        }
        let args: Option<Value> = serde_json::from_str(&run.args).ok();
        if args.as_ref() != Some(&call.args) {
            let wanted = quoted(&call.args.to_string());
            return wrong(format!(
                "call {name} reached its gate with {}, but the model sent {wanted}",
                quoted(&run.args)
            ));
        }
    }
    let wanted = plan.turns[turn].replies.len();
    let asked = log.requests.len();
    let idle = calls_of(plan, turn).find(|key| !log.gate_calls.iter().any(|run| run.call == Some(*key)));
    match (idle, &log.outcome) {
        (_, None) => {
            wrong(format!("the turn is not answered, after {asked} of {wanted} requests and no more events"))
        }
        (_, Some(outcome)) if *outcome != TurnOutcome::Returned => {
            wrong(format!("the turn ended as {}, after {asked} of {wanted} requests", words(outcome)))
        }
        (Some(key), _) => wrong(format!("call {} never reached its gate", plan.calls[key.0 as usize].name)),
        (None, _) if asked < wanted => {
            wrong(format!("the turn returned after {asked} of {wanted} requests to the provider"))
        }
        (None, Some(_)) => Ok(()),
    }
}

/// Checks that the calls in the turn are shown only under their wire ids. Warns if no call is shown.
pub(super) fn shown_ids(plan: &Plan, turn: usize, log: &TurnLog) -> Result<Vec<String>, Defect> {
    let is_native = |id: &str| calls_of(plan, turn).any(|key| plan.calls[key.0 as usize].id == id);
    if let Some((foreign, _)) = log.shown.iter().find(|(id, _)| !is_native(id)) {
        return wrong(format!("a call is shown as {}, which is not an id of the provider", quoted(foreign)));
    }
    if log.shown.is_empty() {
        return Ok(vec!["no call is shown, so stuck calls cannot be detected".to_owned()]);
    }
    let is_shown = |key: &CallKey| log.shown.iter().any(|(id, _)| *id == plan.calls[key.0 as usize].id);
    match calls_of(plan, turn).find(|key| !is_shown(key)) {
        Some(key) => {
            wrong(format!("call {} is never shown, but the others are", plan.calls[key.0 as usize].name))
        }
        None => Ok(Vec::new()),
    }
}

/// Like [`shown_ids`], for an agent that may have its own ids. Then there must be one id per call, and the
/// result is a warning.
pub(super) fn shown_ids_or_own(plan: &Plan, turn: usize, log: &TurnLog) -> Result<Vec<String>, Defect> {
    let own: BTreeSet<&str> = log.shown.iter().map(|(id, _)| id.as_str()).collect();
    let n_calls = calls_of(plan, turn).count();
    let is_native = |id: &&str| plan.calls.iter().any(|call| call.id == *id);
    match own.first() {
        Some(first) if !own.iter().any(is_native) && own.len() == n_calls => Ok(vec![format!(
            "calls are shown under the agent's own ids, such as {}, so stuck calls cannot be detected",
            quoted(first)
        )]),
        Some(_) if !own.iter().any(is_native) => wrong(format!(
            "{} calls are shown, none under an id of the provider; there were {n_calls}",
            own.len()
        )),
        _ => shown_ids(plan, turn, log),
    }
}

/// Checks that the last request contains the turn's calls and their results, unbroken and under their
/// wire ids.
pub(super) fn kept_ids(plan: &Plan, turn: usize, body: &[u8]) -> Result<(), Defect> {
    let history = history(plan, body);
    let ids = |wanted: fn(&Content) -> Option<&String>| -> Vec<String> {
        history.items.iter().filter_map(|item| wanted(&item.content)).cloned().collect()
    };
    let calls = ids(|content| match content {
        Content::Call { id, .. } => Some(id),
        _ => None,
    });
    let results = ids(|content| match content {
        Content::Result { id, .. } => Some(id),
        _ => None,
    });
    let wanted = ids_of(plan, turn);
    // The SDK decides the order.
    if sorted(&calls) != sorted(&wanted) {
        return wrong(format!(
            "the next request contains the calls {}, but the provider sent {}",
            list(&calls),
            list(&wanted)
        ));
    }
    if sorted(&results) != sorted(&wanted) {
        let (results, wanted) = (list(&sorted(&results)), list(&sorted(&wanted)));
        return wrong(format!(
            "the next request contains results for {results}, but there were results for {wanted}"
        ));
    }
    Ok(())
}

/// A warning if a request contains the calls of a turn in another order than the provider's.
pub(super) fn order_of_calls(plan: &Plan, turn: usize, body: &[u8]) -> Option<String> {
    let history = history(plan, body);
    let calls: Vec<String> = history
        .items
        .iter()
        .filter_map(|item| match &item.content {
            Content::Call { id, .. } => Some(id.clone()),
            _ => None,
        })
        .collect();
    let wanted = ids_of(plan, turn);
    (calls != wanted && sorted(&calls) == sorted(&wanted)).then(|| {
        format!(
            "the next request contains the calls in the order {}, but the provider sent {}; `run` judges the order",
            list(&calls),
            list(&wanted)
        )
    })
}

/// Checks that a request contains the user's message of each turn up to this one at most once. Another probe
/// checks that it is there.
pub(super) fn prompts_once(plan: &Plan, turn: usize, body: &[u8]) -> Result<(), Defect> {
    let history = history(plan, body);
    let said = |words: &str| -> usize {
        let texts = history.items.iter().filter(|item| item.role == Role::User);
        let texts = texts.filter_map(|item| match &item.content {
            Content::Text { text } => Some(text.matches(words).count()),
            _ => None,
        });
        texts.sum()
    };
    for planned in &plan.turns[..=turn] {
        let n = said(planned.user.trim());
        if n > 1 {
            let words = quoted(&planned.user);
            return wrong(format!("a request contains the user's message {words} {n} times"));
        }
    }
    Ok(())
}

/// Checks that a request contains nothing from another plan: neither its texts, ids and markers nor its
/// address.
pub(super) fn nothing_of(other: &Plan, base_url: &str, words: &str, body: &[u8]) -> Result<(), Defect> {
    let body = String::from_utf8_lossy(body);
    let calls = other.calls.iter().flat_map(|call| [call.id.as_str(), call.marker.as_str()]);
    match calls.chain([base_url, words]).find(|own| body.contains(own)) {
        Some(leaked) => wrong(format!("a request of one session contains {} of the other", quoted(leaked))),
        None => Ok(()),
    }
}

/// Checks that a request contains an earlier turn: the user's message, the calls and their results.
pub(super) fn remembers(plan: &Plan, turn: usize, body: &[u8]) -> Result<(), Defect> {
    let history = history(plan, body);
    let user = &plan.turns[turn].user;
    let said = |text: &str| {
        history.items.iter().any(|item| match &item.content {
            Content::Text { text: found } => found.contains(text),
            _ => false,
        })
    };
    if !said(user) {
        return wrong(format!("the next request does not contain the user's message {}", quoted(user)));
    }
    kept_ids(plan, turn, body)
}

/// Checks that a permanent rejection was raised, with the provider's message.
pub(super) fn refusal(log: &TurnLog) -> Result<(), Defect> {
    match &log.outcome {
        Some(TurnOutcome::Raised { text, .. }) if text.contains(REFUSAL) => Ok(()),
        Some(TurnOutcome::Raised { class, text }) => wrong(format!(
            "the provider answered with status 400 and the message {}, but the raised outcome contains {}",
            quoted(REFUSAL),
            quoted(&format!("{class}: {text}"))
        )),
        Some(other) => wrong(format!(
            "the provider refused the request with status 400, and the outcome is {}",
            words(other)
        )),
        None => wrong("the provider refused the request with status 400, and the turn is not answered"),
    }
}

/// Checks that a stop was reported as one. Warns if it surfaces as an error.
pub(super) fn stop(log: &TurnLog) -> Result<Vec<String>, Defect> {
    match &log.outcome {
        Some(TurnOutcome::Cancelled) => Ok(Vec::new()),
        Some(TurnOutcome::Raised { class, text }) if is_like_an_abort(class, text) => {
            Ok(vec![format!("a stop is reported as raised, {class}, instead of cancelled")])
        }
        Some(other) => wrong(format!("the turn was stopped, and its outcome is {}", words(other))),
        None => wrong("the turn was stopped and is not answered"),
    }
}

/// True if an error indicates that it was caused by a stop.
fn is_like_an_abort(class: &str, text: &str) -> bool {
    let said = format!("{class} {text}").to_ascii_lowercase();
    ["abort", "cancel", "interrupt", "stopped"].iter().any(|word| said.contains(word))
}

pub(super) fn words(outcome: &TurnOutcome) -> String {
    match outcome {
        TurnOutcome::Returned => "returned".to_owned(),
        TurnOutcome::Cancelled => "cancelled".to_owned(),
        TurnOutcome::Raised { class, text } => format!("raised {}", quoted(&format!("{class}: {text}"))),
    }
}

fn calls_of(plan: &Plan, turn: usize) -> impl Iterator<Item = CallKey> + '_ {
    let replies = plan.turns[turn].replies.iter();
    replies.flat_map(|reply| reply.attempts.iter().flat_map(|attempt| attempt.calls()))
}

/// The ids of a turn's calls, in the model's order.
fn ids_of(plan: &Plan, turn: usize) -> Vec<String> {
    calls_of(plan, turn).map(|key| plan.calls[key.0 as usize].id.clone()).collect()
}

fn sorted(ids: &[String]) -> Vec<String> {
    let mut ids = ids.to_vec();
    ids.sort();
    ids
}

fn history(plan: &Plan, body: &[u8]) -> History {
    wire::history(plan.dialect, Document::parse(body).unwrap_or_default().root())
}

fn list(ids: &[String]) -> String {
    if ids.is_empty() { "none".to_owned() } else { ids.join(", ") }
}

const MAX_QUOTE_CHARS: usize = 200;

/// A text in quotation marks, on one line, not too long.
fn quoted(text: &str) -> String {
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    let mut quoted: String = text.chars().take(MAX_QUOTE_CHARS).map(plain).collect();
    if text.chars().count() > MAX_QUOTE_CHARS {
        quoted.push('…');
    }
    format!("`{quoted}`")
}

#[cfg(test)]
mod tests {
    use super::super::script::BATCH;
    use super::*;
    use brickbat_rules::dialect::Dialect;
    use brickbat_scenario::trace::ShownState;

    fn plan(seed: u64) -> std::sync::Arc<Plan> {
        BATCH.plan(Dialect::OpenaiChat, seed).unwrap_or_else(|error| panic!("{error}"))
    }

    /// The log of a correct adapter.
    fn right(plan: &Plan) -> TurnLog {
        let run = |key: CallKey| {
            let call = &plan.calls[key.0 as usize];
            GateCall { tool: call.tool.clone(), args: call.args.to_string(), call: Some(key) }
        };
        let scripted = |reply| (RequestKind::Scripted { turn: 0, reply, attempt: 0 }, body(plan, |_| {}));
        TurnLog {
            requests: vec![scripted(0), scripted(1)],
            outside: Vec::new(),
            n_of_sub_agents: 0,
            gate_calls: calls_of(plan, 0).map(run).collect(),
            shown: plan.calls.iter().map(|call| (call.id.clone(), ShownState::Completed)).collect(),
            outcome: Some(TurnOutcome::Returned),
        }
    }

    /// A request with the first turn in it, with a change.
    fn body(plan: &Plan, change: impl FnOnce(&mut Vec<Value>)) -> std::sync::Arc<[u8]> {
        let call = |call: &brickbat_scenario::plan::PlannedCall| {
            serde_json::json!({ "id": call.id, "type": "function",
                "function": { "name": call.tool, "arguments": call.args.to_string() } })
        };
        let calls: Vec<Value> = plan.calls.iter().map(call).collect();
        let mut messages = vec![
            serde_json::json!({ "role": "user", "content": plan.turns[0].user }),
            serde_json::json!({ "role": "assistant", "content": null, "tool_calls": calls }),
        ];
        let result = |id: &str| serde_json::json!({ "role": "tool", "tool_call_id": id, "content": "found" });
        messages.extend(plan.calls.iter().map(|call| result(&call.id)));
        change(&mut messages);
        serde_json::json!({ "model": "m", "messages": messages }).to_string().into_bytes().into()
    }

    #[track_caller]
    fn accused(change: impl FnOnce(&mut TurnLog), words: &str) {
        let plan = plan(0);
        let mut log = right(&plan);
        change(&mut log);
        let seen = conversation(&plan, 0, &log).expect_err(words).seen;
        assert!(seen.contains(words), "{seen}");
    }

    #[test]
    fn a_correct_log_has_no_defect() {
        let plan = plan(0);
        let mut log = right(&plan);
        // Another spelling of the same arguments counts as equal.
        let spelled: Value = serde_json::from_str(&log.gate_calls[1].args).unwrap();
        log.gate_calls[1].args = serde_json::to_string_pretty(&spelled).unwrap();
        log.gate_calls.reverse();
        assert_eq!(conversation(&plan, 0, &log), Ok(()));
        assert_eq!(shown_ids(&plan, 0, &log), Ok(Vec::new()));
        assert_eq!(remembers(&plan, 0, &log.requests[1].1), Ok(()));
    }

    #[test]
    fn each_fault_of_a_conversation_is_reported() {
        accused(
            |log| log.gate_calls[1].args = log.gate_calls[1].args.replace("2.5", "2"),
            "call b reached its gate with",
        );
        accused(|log| log.gate_calls[0].tool = "measure".to_owned(), "reached the gate of measure");
        accused(|log| log.gate_calls[2].call = None, "arguments that match no call");
        accused(|log| log.gate_calls.push(log.gate_calls[0].clone()), "call a reached its gate twice");
        accused(|log| drop(log.gate_calls.pop()), "call c never reached its gate");
        accused(|log| drop(log.requests.pop()), "after 1 of 2 requests");
        accused(
            |log| log.requests[1].0 = RequestKind::Refused { status: 400 },
            "refused a request of the SDK with status 400",
        );
        accused(|log| log.requests[1].0 = RequestKind::Surplus, "got one more request");
        accused(|log| log.outcome = None, "the turn is not answered");
        accused(|log| log.outcome = Some(TurnOutcome::Cancelled), "the turn ended as cancelled");
    }

    #[test]
    fn lost_and_foreign_ids_are_reported() {
        let plan = plan(0);
        let mut log = right(&plan);
        log.shown.remove(1);
        assert!(shown_ids(&plan, 0, &log).is_err_and(|defect| defect.seen.contains("call b is never shown")));
        log.shown.push(("own-1".to_owned(), ShownState::Pending));
        assert!(shown_ids(&plan, 0, &log).is_err_and(|defect| defect.seen.contains("`own-1`")));
        let mut log = right(&plan);
        for (number, (id, _)) in log.shown.iter_mut().enumerate() {
            *id = format!("own-{number}");
        }
        assert!(shown_ids_or_own(&plan, 0, &log).is_ok_and(|warnings| warnings[0].contains("`own-0`")));
        log.shown.pop();
        assert!(
            shown_ids_or_own(&plan, 0, &log).is_err_and(|defect| defect.seen.contains("2 calls are shown"))
        );
        log.shown[0].0.clone_from(&plan.calls[0].id);
        assert!(shown_ids_or_own(&plan, 0, &log).is_err_and(|defect| defect.seen.contains("`own-1`")));
        assert_eq!(shown_ids_or_own(&plan, 0, &right(&plan)), Ok(Vec::new()));
        let told = |change: fn(&mut Vec<Value>)| kept_ids(&plan, 0, &body(&plan, change)).unwrap_err().seen;
        assert!(
            told(|said| said[1]["tool_calls"][0]["id"] = "own-1".into())
                .contains("contains the calls own-1, ")
        );
        assert!(told(|said| drop(said.remove(1))).contains("contains the calls none"));
        assert!(told(|said| drop(said.pop())).contains("contains results for"));
        let swapped = body(&plan, |said| said[1]["tool_calls"].as_array_mut().unwrap().swap(0, 1));
        assert_eq!(kept_ids(&plan, 0, &swapped), Ok(()));
        assert!(order_of_calls(&plan, 0, &swapped).is_some_and(|words| words.contains("in the order")));
        assert_eq!(order_of_calls(&plan, 0, &body(&plan, |_| {})), None);
        assert_eq!(prompts_once(&plan, 0, &swapped), Ok(()));
        let twice = prompts_once(&plan, 0, &body(&plan, |said| said.insert(0, said[0].clone())));
        assert!(twice.is_err_and(|defect| defect.seen.ends_with("2 times")));
        let forgot = remembers(&plan, 0, &body(&plan, |said| drop(said.remove(0))));
        assert!(forgot.is_err_and(|defect| defect.seen.contains("the user's message")));
    }

    #[test]
    fn content_of_another_session_is_reported() {
        let (own, other) = (plan(0), plan(1));
        let (url, words) = ("http://127.0.0.1:1/p/9", "I am user 1.");
        assert_eq!(nothing_of(&other, url, words, &body(&own, |_| {})), Ok(()));
        assert!(nothing_of(&other, url, words, &body(&other, |_| {})).is_err());
        for leaked in [url, words, &other.calls[2].marker] {
            let leaky = body(&own, |said| said[0]["content"] = format!("hello {leaked}").into());
            let seen = nothing_of(&other, url, words, &leaky).unwrap_err().seen;
            assert!(seen.contains(leaked), "{seen}");
        }
    }
}
