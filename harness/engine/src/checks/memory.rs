//! Does the thread remember what happened, as it happened?

use std::collections::BTreeSet;

use super::evidence::{Evidence, RequestView, ResultView};
use super::given;
use brickbat_scenario::history::{Content, Role};
use brickbat_scenario::plan::{CallKey, ToolOutcome};
use brickbat_scenario::trace::{Aside, CallRecord};
use brickbat_scenario::verdict::{Finding, Harm};

/// What the user said is in the last request, and so is what was said while a turn ran.
pub(super) fn user_message_kept(evidence: &Evidence<'_>) -> Vec<Finding> {
    let Some(last) = evidence.last_request() else { return Vec::new() };
    let said = |text: &str| {
        last.history.items.iter().any(|item| match &item.content {
            Content::Text { text: kept } => item.role == Role::User && kept.contains(text.trim()),
            _ => false,
        })
    };
    // Some systems put what comes in the middle of a batch behind the last result.
    let told = |text: &str| {
        last.history.items.iter().any(|item| match &item.content {
            Content::Text { text: kept } | Content::Result { text: kept, .. } => kept.contains(text.trim()),
            Content::Raw { value } => value.to_string().contains(text.trim()),
            Content::Thought { .. } | Content::Call { .. } => false,
        })
    };
    let lost = |place: String, who: &str, text: &str| Finding {
        check: "user-message-kept",
        harm: Harm::UserMessageLost,
        permanence: None,
        message: format!("what {who} said in {place} is gone"),
        place: last.place(""),
        rule: None,
        expected: format!("`{text}` in a user message"),
        got: evidence.shape(last),
    };
    let turns = evidence.plan.turns[..=last.turn.min(evidence.plan.turns.len() - 1)].iter().enumerate();
    let prompts = turns.filter(|(at, turn)| !evidence.changed.may_be_gone(*at) && !said(&turn.user));
    let in_turn = |turn: usize| format!("turn {}", turn + 1);
    let prompts = prompts.map(|(turn, planned)| lost(in_turn(turn), "the user", &planned.user));
    let given = given::user_messages(evidence.plan).filter(|text| !said(text));
    let given = given.map(|text| lost("the given history".to_owned(), "the user", text));
    let asides = evidence
        .asides()
        .filter(|(turn, _, text)| *turn < last.turn && !evidence.changed.may_be_gone(*turn) && !told(text));
    let who = |way| if way == Aside::Injected { "a hook" } else { "the user" };
    let asides = asides.map(|(turn, way, text)| lost(in_turn(turn), who(way), text));
    given.chain(prompts).chain(asides).collect()
}

/// Results that were delivered in time are in the last request.
///
/// Of a process that was killed in the turn less can be asked. That it has read a result, and even that it has said so,
/// does not mean that it could have stored it: to store takes a moment, and nobody may demand that moment. But what a
/// system does for others to see, it does on the ground of what it knows, so it has to store that first. Hence a result
/// is demanded after a kill only if the process had *acknowledged* it: it had shown the call as completed, so that the
/// user counts on it, or sent the result to the provider, who answered it and charged for it. The tool has run, with
/// all that it changed, and a thread that forgets it will run it again.
/// What the user said is always demanded, because a kill comes when the provider has been asked about it.
pub(super) fn results_kept(evidence: &Evidence<'_>) -> Vec<Finding> {
    let Some(last) = evidence.last_request() else { return Vec::new() };
    let lost = evidence.plan.calls.iter().enumerate().filter_map(|(key, call)| {
        let key = CallKey(key as u32);
        let name = &call.name;
        let message = match evidence.died_in(call.turn) {
            _ if call.given => {
                Some(format!("the result of call {name} was in the given history and is gone"))
            }
            true => evidence.acknowledged(key).map(|how| {
                format!(
                    "the result of call {name} is gone: the process was killed after it had {how}, \
                     so the tool has run and the thread does not know"
                )
            }),
            false => Some(format!("the result of call {name} had been delivered and is gone")),
        };
        let is_due = (call.given || last.turn > call.turn) && !evidence.changed.result_may_be_gone(key);
        let is_lost = is_due && evidence.could_tell(key) && !evidence.tells(last, key, |_| true);
        message.filter(|_| is_lost).map(|message| (call, message))
    });
    lost.map(|(call, message)| Finding {
        check: "results-kept",
        harm: Harm::ResultsLost,
        permanence: None,
        message,
        place: last.place(""),
        rule: None,
        expected: format!("the result of {} in the next requests", call.name),
        got: evidence.shape(last),
    })
    .collect()
}

/// No call has two results in one request.
pub(super) fn results_once(evidence: &Evidence<'_>) -> Vec<Finding> {
    let repeated = |request: &RequestView| {
        let mut seen: Vec<(&str, Option<CallKey>)> = Vec::new();
        // Calls to which the model, and then the system, gave the same id have a result each.
        let is_full = |seen: &[(&str, Option<CallKey>)], id: &str| {
            let n_results = seen.iter().filter(|(known, _)| *known == id).count();
            let n_made = evidence.plan.calls.iter().filter(|call| call.id == id).count();
            n_results >= request.n_calls_with(id).min(n_made).max(1)
        };
        for result in request.results() {
            // A system that gives ids of its own may tell of one call under two of them.
            let key = evidence.answered(request, result.id);
            if is_full(&seen, result.id) || seen.iter().any(|(_, known)| key.is_some() && *known == key) {
                return Some((result.id.to_owned(), request.place(result.pointer)));
            }
            seen.push((result.id, key));
        }
        None
    };
    let Some((request, (id, place))) = evidence.requests.iter().find_map(|r| Some((r, repeated(r)?))) else {
        return Vec::new();
    };
    vec![Finding {
        check: "results-once",
        harm: Harm::Reordered,
        permanence: None,
        message: format!("call {} has more than one result", name_of(evidence, request, &id)),
        place,
        rule: None,
        expected: "one result".to_owned(),
        got: evidence.shape(request),
    }]
}

/// Calls stand in the order in which the model made them.
pub(super) fn order_kept(evidence: &Evidence<'_>) -> Vec<Finding> {
    let places = |request: &RequestView| {
        let places = request.calls().map(|view| {
            let call = evidence.call(view.key);
            (!call.given, call.turn, call.reply, call.attempt, view.key)
        });
        places.collect::<Vec<_>>()
    };
    let disordered = |request: &&RequestView| !places(request).is_sorted();
    let Some(request) = evidence.requests.iter().find(disordered) else { return Vec::new() };
    let places = places(request);
    let is_repeated = places.iter().collect::<BTreeSet<_>>().len() < places.len();
    let message = match is_repeated {
        true => "calls stand there twice, and not where the model made them",
        false => "the calls stand in another order than the model made them",
    };
    vec![Finding {
        check: "order-kept",
        harm: Harm::Reordered,
        permanence: None,
        message: message.to_owned(),
        place: request.place(""),
        rule: None,
        expected: "the order of the reply".to_owned(),
        got: evidence.shape(request),
    }]
}

/// Calls of two replies do not share a message.
pub(super) fn steps_kept_apart(evidence: &Evidence<'_>) -> Vec<Finding> {
    let mixed = |request: &RequestView| {
        let mut previous: Option<(usize, (bool, usize, usize, usize))> = None;
        for view in request.calls() {
            let call = evidence.call(view.key);
            let reply = (call.given, call.turn, call.reply, call.attempt);
            if previous.is_some_and(|(at, other)| at == view.message && other != reply) {
                return Some(request.place(&view.pointer));
            }
            previous = Some((view.message, reply));
        }
        None
    };
    let Some((request, place)) = evidence.requests.iter().find_map(|r| Some((r, mixed(r)?))) else {
        return Vec::new();
    };
    vec![Finding {
        check: "steps-kept-apart",
        harm: Harm::Reordered,
        permanence: None,
        message: "one message holds calls of two replies".to_owned(),
        place,
        rule: None,
        expected: "a message for each reply".to_owned(),
        got: evidence.shape(request),
    }]
}

/// A call that did not succeed is not recorded as a success.
pub(super) fn success_honest(evidence: &Evidence<'_>) -> Vec<Finding> {
    let Some(last) = evidence.last_request() else { return Vec::new() };
    let lies = last.results().filter(|result| {
        let Some(key) = evidence.answered(last, result.id) else { return false };
        let account = &evidence.ledger.calls[key.0 as usize];
        // A success that came too late excuses only a result that carries it.
        let real = succeeded(account)
            && (!account.settled_late || result.text.contains(evidence.call(key).marker.as_str()));
        !real && !admits_failure(result, account)
    });
    lies.map(|result| Finding {
        check: "success-honest",
        harm: Harm::SuccessFabricated,
        permanence: None,
        message: format!(
            "call {} did not succeed, but its result says so",
            name_of(evidence, last, result.id)
        ),
        place: last.place(result.pointer),
        rule: None,
        expected: "an error, or words that say what happened".to_owned(),
        got: format!("`{}`", result.text.chars().take(120).collect::<String>()),
    })
    .collect()
}

fn succeeded(account: &CallRecord) -> bool {
    account.settled.as_ref().is_some_and(ToolOutcome::is_success)
}

/// Whether a result owns up to a failure: by its flag, by the tool's own error text, or in words.
/// Dialects without a flag leave only the words, so any of them is enough.
fn admits_failure(result: &ResultView<'_>, account: &CallRecord) -> bool {
    const WORDS: [&str; 22] = [
        "error",
        "fail",
        "interrupt",
        "abort",
        "cancel",
        "not ",
        "n't",
        "unknown",
        "skip",
        "denied",
        "deny",
        "refus",
        "reject",
        "timeout",
        "timed out",
        "stopped",
        "unavailable",
        "missing",
        "no result",
        "exception",
        "incomplete",
        "never",
    ];
    let text = result.text.to_lowercase();
    let says_so = |outcome: &ToolOutcome| !outcome.text().is_empty() && result.text.contains(outcome.text());
    let own_words = account.settled.as_ref().is_some_and(says_so);
    result.is_error == Some(true)
        || own_words
        || text.is_empty()
        || WORDS.iter().any(|word| text.contains(word))
}

fn name_of(evidence: &Evidence<'_>, request: &RequestView, id: &str) -> String {
    evidence.answered(request, id).map_or_else(|| id.to_owned(), |key| evidence.call(key).name.clone())
}
