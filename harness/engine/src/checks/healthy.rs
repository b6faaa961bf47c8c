//! Is what was whole left alone?
//!
//! A repair that only broken turns need does nothing to the others. So a turn in which nothing went wrong stands in
//! the last request as it happened: with what the model said, and with its calls and their arguments.
//! That its results are there, and only once, is asked of all turns elsewhere. A system that tells finished turns in
//! words of its own is not asked: what it leaves out is its choice.

use super::effects::is_same;
use super::evidence::{Evidence, RequestView};
use super::stable::broken_turns;
use brickbat_scenario::action::Action;
use brickbat_scenario::history::Content;
use brickbat_scenario::plan::{CallKey, PlannedCall, Script, ScriptBlock};
use brickbat_scenario::trace::RequestKind;
use brickbat_scenario::verdict::{Finding, Harm};

/// A turn in which nothing went wrong is told as it happened.
pub(super) fn healthy_untouched(evidence: &Evidence<'_>) -> Vec<Finding> {
    let Some(last) = evidence.last_request() else { return Vec::new() };
    let texts = told_texts(last);
    let said = squeezed(&texts);
    let finding = |message: String, expected: String, got: String| Finding {
        check: "healthy-untouched",
        harm: Harm::HistoryAltered,
        permanence: None,
        message,
        place: last.place(""),
        rule: None,
        expected,
        got,
    };
    let mut findings = Vec::new();
    if narrates(evidence, last, &texts) {
        return findings;
    }
    for turn in healthy(evidence, last) {
        let lost = scripts(evidence, turn).flat_map(|script| &script.blocks).find_map(|block| match block {
            ScriptBlock::Text(fragments) => {
                let text = fragments.concat();
                (!said.contains(&squeezed(&text))).then_some(text)
            }
            _ => None,
        });
        if let Some(text) = lost {
            let message = format!("the model's words of turn {} are told otherwise, or not at all", turn + 1);
            findings.push(finding(message, format!("`{text}`"), evidence.shape(last)));
        }
        let mut calls = scripts(evidence, turn).flat_map(Script::calls).map(|key| (key, evidence.call(key)));
        let changed = calls.find(|(_, call)| call.outcome.is_success() && !is_made(last, call));
        if let Some((_, call)) = changed {
            let message = format!("call {} of turn {} is told otherwise, or not at all", call.name, turn + 1);
            findings.push(finding(message, format!("`{}`", call.args), evidence.shape(last)));
        }
    }
    findings
}

/// Whether there is a turn to ask about.
pub(super) fn has_healthy(evidence: &Evidence<'_>) -> bool {
    evidence.last_request().is_some_and(|last| !healthy(evidence, last).is_empty())
}

/// The turns before a request in which nothing went wrong.
fn healthy(evidence: &Evidence<'_>, last: &RequestView) -> Vec<usize> {
    let broken = broken_turns(evidence);
    let is_quiet = |turn: usize| {
        let mut actions = evidence.plan.turns[turn].actions.iter();
        actions.all(|action| {
            action.is_between_turns() || matches!(action.what, Action::Pause | Action::Settle(_))
        })
    };
    let is_refused =
        |turn| evidence.requests.iter().any(|request| request.turn == turn && request.refusal.is_some());
    // What was cut or taken back on purpose is told otherwise, or not at all.
    let is_changed = |turn: usize| {
        let calls = evidence.plan.calls.iter().zip((0..).map(CallKey));
        let mut of_turn = calls.filter(|(call, _)| call.turn == turn);
        evidence.changed.may_be_gone(turn) || of_turn.any(|(_, key)| evidence.changed.result_may_be_gone(key))
    };
    let turns = 0..last.turn.min(evidence.plan.turns.len());
    let is_whole = |turn: &usize| !broken.contains(turn) && !is_refused(*turn) && !is_changed(*turn);
    turns.filter(|turn| is_quiet(*turn) && is_whole(turn)).collect()
}

/// The replies that were served in a turn.
fn scripts<'a>(evidence: &'a Evidence<'_>, turn: usize) -> impl Iterator<Item = &'a Script> {
    let of_turn = evidence.requests.iter().filter(move |request| request.turn == turn);
    of_turn.filter_map(move |request| match request.kind {
        RequestKind::Scripted { turn: of, reply, attempt } if of == turn => {
            evidence.plan.turns.get(turn)?.replies.get(reply)?.attempts.get(attempt)
        }
        _ => None,
    })
}

/// Everything in a request that is neither call nor result; a system may give the history in its own words.
fn told_texts(request: &RequestView) -> String {
    let mut texts = String::new();
    for item in &request.history.items {
        match &item.content {
            Content::Text { text } => texts.push_str(text),
            Content::Raw { value } => texts.push_str(&value.to_string()),
            Content::Thought { .. } | Content::Call { .. } | Content::Result { .. } => {}
        }
    }
    texts
}

/// Without space, which systems trim and fold.
fn squeezed(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_whitespace()).collect()
}

/// Whether the request tells of a call in words instead of making it.
fn narrates(evidence: &Evidence<'_>, request: &RequestView, texts: &str) -> bool {
    let is_narrated = |call: &PlannedCall| texts.contains(call.marker.as_str()) && !is_made(request, call);
    evidence.plan.calls.iter().any(is_narrated)
}

/// Whether the call stands in the request with its arguments.
fn is_made(request: &RequestView, call: &PlannedCall) -> bool {
    let mut items = request.history.items.iter();
    items.any(|item| matches!(&item.content, Content::Call { args, .. } if is_same(args, &call.args)))
}
