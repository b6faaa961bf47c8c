//! Turns in which nothing went wrong are sent back unmodified.
//!
//! A repair changes only the turns that need it. The last request contains every other turn as it happened: the
//! model's text, in the role of the model, and its calls with their arguments. So does each request of a turn
//! that is still running, for the replies so far. Other checks require the results, for all turns. A system that
//! paraphrases finished turns in a summary is not checked: it may choose what to leave out. Where some models
//! reject text beside calls, a client may drop that text.

use super::stable::broken_turns;
use super::*;
use brickbat_scenario::plan::ScriptBlock;
use brickbat_scenario::wire;

pub(super) const CHECK: Check = Check {
    summary: "turns without a fault are sent back unmodified",
    invariants: &[18, 24, 25, 26],
    applies: has_healthy,
    find,
    ..Check::new("healthy-untouched", Level::L1, Severity::HistoryAltered)
};

fn has_healthy(evidence: &Evidence<'_>) -> bool {
    !judged(evidence).is_empty()
}

fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    for (request, turn, scripts) in judged(evidence) {
        let texts = texts(request);
        if narrates(evidence, request, &texts) {
            continue;
        }
        let found =
            [altered_text(evidence, request, turn, &scripts), lost_call(evidence, request, turn, &scripts)];
        // A loss is reported for the first request that shows it.
        let is_new = |finding: &Finding| {
            let is_known =
                |known: &Finding| known.about.turn == Some(turn) && known.about.calls == finding.about.calls;
            !findings.iter().any(is_known)
        };
        let new: Vec<Finding> = found.into_iter().flatten().filter(is_new).collect();
        findings.extend(new);
    }
    findings
}

/// The comparisons: a request, a turn in which nothing went wrong, and the replies of that turn that the request
/// must contain. These are the last request with each earlier turn, and each later request of a running turn.
fn judged<'a>(evidence: &'a Evidence<'_>) -> Vec<(&'a RequestView, usize, Vec<&'a Script>)> {
    let Some(last) = evidence.last_request() else { return Vec::new() };
    let broken = broken_turns(evidence);
    let earlier = healthy(evidence, last).into_iter();
    let earlier = earlier.map(|turn| (last, turn, scripts(evidence, turn).collect::<Vec<_>>()));
    let is_later = |request: &&RequestView| {
        let is_scripted = matches!(request.kind, RequestKind::Scripted { .. });
        is_scripted && request.is_read && is_healthy(evidence, &broken, request.turn)
    };
    let running = evidence.requests.iter().filter(is_later).map(|request| {
        let before = evidence.requests.iter().take_while(|other| other.exchange < request.exchange);
        (request, request.turn, served(evidence, request.turn, before).collect())
    });
    let judged = running.filter(|(.., scripts): &(_, _, Vec<_>)| !scripts.is_empty());
    judged.chain(earlier).collect()
}

/// Finds a text of the model that is missing, changed, or said by the user.
fn altered_text(
    evidence: &Evidence<'_>,
    request: &RequestView,
    turn: usize,
    scripts: &[&Script],
) -> Option<Finding> {
    let said = squeezed(&texts(request));
    let spoken = squeezed(&texts_by(request, |role| role != Role::User));
    let hands_over = evidence.plan.tools.iter().any(|tool| tool.hands_over);
    let takes_text_or_calls = wire::of(evidence.plan.dialect_of(request.turn)).traits.takes_text_or_calls;
    let due = scripts.iter().filter(|script| !(takes_text_or_calls && script.has_calls()));
    let texts = due.flat_map(|script| &script.blocks).filter_map(|block| match block {
        ScriptBlock::Text(fragments) => Some(fragments.concat()),
        ScriptBlock::Think(_) | ScriptBlock::Call(_) | ScriptBlock::Server(_) => None,
    });
    let (text, what) = texts.into_iter().find_map(|text| {
        let squeezed = squeezed(&text);
        if !said.contains(&squeezed) {
            return Some((text, "is missing or changed"));
        }
        // Agents that hand over to each other retell the history, and a system may retell it in one text.
        let is_users = !hands_over && !spoken.contains(&squeezed) && is_item_of_user(request, &squeezed);
        is_users.then_some((text, "is sent as if the user had said it"))
    })?;
    Some(Finding {
        message: format!(
            "the model's text of turn {} {what}, although nothing went wrong in that turn",
            turn + 1
        ),
        expected: format!("the text `{text}` in the role of the model"),
        got: evidence.shape(request),
        ..CHECK.finding(request.place("")).of_turn(turn)
    })
}

/// True if a text is a message of the user, without anything else.
fn is_item_of_user(request: &RequestView, text: &str) -> bool {
    let mut items = request.history.items.iter();
    items.any(|item| match &item.content {
        Content::Text { text: own } => item.role == Role::User && squeezed(own) == text,
        Content::Thought { .. } | Content::Call { .. } | Content::Result { .. } | Content::Raw { .. } => {
            false
        }
    })
}

fn lost_call(
    evidence: &Evidence<'_>,
    request: &RequestView,
    turn: usize,
    scripts: &[&Script],
) -> Option<Finding> {
    let calls = scripts.iter().flat_map(|script| script.calls());
    // A handoff that was left out may be missing together with its result.
    let kept = calls.filter(|key| !evidence.is_skipped_handoff(*key));
    let mut calls = kept.map(|key| (key, evidence.call(key)));
    let (key, call) = calls.find(|(_, call)| call.outcome.is_success() && !is_made(request, call))?;
    let name = &call.name;
    Some(
        Finding {
            message: format!(
                "call {name} of turn {} is missing or changed, although nothing went wrong in that turn",
                turn + 1
            ),
            expected: format!("call {name} with the arguments `{}`", call.args),
            got: evidence.shape(request),
            ..CHECK.finding(request.place("")).of_turn(turn)
        }
        .of_calls([key]),
    )
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
    (0..last.turn).filter(|turn| is_healthy(evidence, &broken, *turn)).collect()
}

/// True if nothing went wrong in a turn.
fn is_healthy(evidence: &Evidence<'_>, broken: &[usize], turn: usize) -> bool {
    let Some(planned) = evidence.plan.turns.get(turn) else { return false };
    let mut actions = planned.actions.iter();
    let is_quiet = actions.all(|action| action.is_between_turns() || action.what.is_harmless());
    let mut refused = evidence.requests.iter().filter(|request| request.refusal.is_some());
    // Turns that were cut or taken back on purpose look different, or are gone.
    let calls = evidence.plan.calls.iter().zip((0..).map(CallKey));
    let mut of_turn = calls.filter(|(call, _)| call.turn == turn);
    let is_changed = evidence.changed.may_be_gone(turn)
        || of_turn.any(|(_, key)| evidence.changed.result_may_be_gone(key));
    is_quiet && !broken.contains(&turn) && !refused.any(|request| request.turn == turn) && !is_changed
}

/// The replies that were served in a turn.
pub(super) fn scripts<'a>(evidence: &'a Evidence<'_>, turn: usize) -> impl Iterator<Item = &'a Script> {
    served(evidence, turn, evidence.requests.iter())
}

/// The replies of a turn that were served to these requests.
fn served<'a>(
    evidence: &'a Evidence<'_>,
    turn: usize,
    requests: impl Iterator<Item = &'a RequestView>,
) -> impl Iterator<Item = &'a Script> {
    requests.filter_map(move |request| match request.kind {
        RequestKind::Scripted { turn: of, .. } if request.turn == turn && of == turn => {
            evidence.script_of(request)
        }
        _ => None,
    })
}

/// All texts of a request except calls and results. A system may paraphrase the history in them.
pub(super) fn texts(request: &RequestView) -> String {
    texts_by(request, |_| true)
}

/// The same texts, of some authors.
fn texts_by(request: &RequestView, is_author: impl Fn(Role) -> bool) -> String {
    let mut texts = String::new();
    for item in request.history.items.iter().filter(|item| is_author(item.role)) {
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
