//! Turns in which nothing went wrong are sent back unmodified.
//!
//! A repair changes only the turns that need it. The last request contains every other turn as it happened: the
//! model's text, and its calls with their arguments. Other checks require the results, for all turns. A system
//! that paraphrases finished turns in a summary is not checked: it may choose what to leave out.

use super::stable::broken_turns;
use super::*;
use brickbat_scenario::plan::ScriptBlock;

pub(super) const CHECK: Check = Check {
    summary: "turns without a fault are sent back unmodified",
    invariants: &[18, 24, 25, 26],
    applies: has_healthy,
    find,
    ..Check::new("healthy-untouched", Level::L1, Severity::HistoryAltered)
};

fn has_healthy(evidence: &Evidence<'_>) -> bool {
    evidence.last_request().is_some_and(|last| !healthy(evidence, last).is_empty())
}

fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let Some(last) = evidence.last_request() else { return Vec::new() };
    let texts = texts(last);
    let said = squeezed(&texts);
    let finding = |message: String, expected: String| Finding {
        message,
        expected,
        got: evidence.shape(last),
        ..CHECK.finding(last.place(""))
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
            let message = format!(
                "the model's text of turn {} is missing or changed, although nothing went wrong in that turn",
                turn + 1
            );
            findings.push(finding(message, format!("the text `{text}`")));
        }
        // A handoff that was left out may be missing together with its result.
        let calls = scripts(evidence, turn).flat_map(Script::calls);
        let kept = calls.filter(|key| !evidence.is_skipped_handoff(*key));
        let mut calls = kept.map(|key| (key, evidence.call(key)));
        if let Some((key, call)) = calls.find(|(_, call)| call.outcome.is_success() && !is_made(last, call)) {
            let message = format!(
                "call {} of turn {} is missing or changed, although nothing went wrong in that turn",
                call.name,
                turn + 1
            );
            let expected = format!("call {} with the arguments `{}`", call.name, call.args);
            findings.push(finding(message, expected).of_calls([key]));
        }
    }
    findings
}

/// True if a call of a turn in which nothing went wrong is missing from the last request, or has other arguments.
pub(super) fn is_dropped(evidence: &Evidence<'_>, call: &PlannedCall) -> bool {
    evidence.last_request().is_some_and(|last| {
        let is_narrated = narrates(evidence, last, &texts(last));
        let is_due = call.outcome.is_success() && healthy(evidence, last).contains(&call.turn);
        is_due && !is_narrated && !is_made(last, call)
    })
}

/// The turns before a request in which nothing went wrong.
pub(super) fn healthy(evidence: &Evidence<'_>, last: &RequestView) -> Vec<usize> {
    let broken = broken_turns(evidence);
    let is_quiet = |turn: usize| {
        let mut actions = evidence.plan.turns[turn].actions.iter();
        actions.all(|action| action.is_between_turns() || action.what.is_harmless())
    };
    let is_refused =
        |turn| evidence.requests.iter().any(|request| request.turn == turn && request.refusal.is_some());
    // Turns that were cut or taken back on purpose look different, or are gone.
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
pub(super) fn scripts<'a>(evidence: &'a Evidence<'_>, turn: usize) -> impl Iterator<Item = &'a Script> {
    evidence.requests.iter().filter_map(move |request| match request.kind {
        RequestKind::Scripted { turn: of, .. } if request.turn == turn && of == turn => {
            evidence.script_of(request)
        }
        _ => None,
    })
}

/// All texts of a request except calls and results. A system may paraphrase the history in them.
pub(super) fn texts(request: &RequestView) -> String {
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

/// The text without white space, which systems trim and fold.
pub(super) fn squeezed(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_whitespace()).collect()
}

/// True if the request describes a call in a text instead of containing it.
pub(super) fn narrates(evidence: &Evidence<'_>, request: &RequestView, texts: &str) -> bool {
    let is_narrated = |call: &PlannedCall| texts.contains(call.marker.as_str()) && !is_made(request, call);
    evidence.plan.calls.iter().any(is_narrated)
}

/// True if the request contains the call with its arguments.
fn is_made(request: &RequestView, call: &PlannedCall) -> bool {
    let mut items = request.history.items.iter();
    items.any(|item| matches!(&item.content, Content::Call { args, .. } if is_same(args, &call.args)))
}
