//! Turns in which nothing went wrong are sent back unmodified.
//!
//! A repair changes only the turns that need it. The last request contains every other turn as it happened: the
//! model's text, in the role of the model, and its calls with their arguments. So does each request of a turn
//! that is still running, for the replies so far. A search that the provider ran comes back with what it found. A
//! call that never ran, and that is missing or changed, was dropped. Other checks require the results, for all turns. A system that
//! paraphrases finished turns in a summary is not checked: it may choose what to leave out. Where some models
//! reject text beside calls, a client may drop that text.

use super::stable::broken_turns;
use super::*;
use brickbat_scenario::plan::{PlannedSearch, ScriptBlock, ServerBlock};
use brickbat_scenario::scenario::Stop;
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
        let found = [
            altered_text(evidence, request, turn, &scripts),
            lost_call(evidence, request, turn, &scripts),
            altered_search(evidence, request, turn, &scripts),
        ];
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
    let calls = scripts.iter().flat_map(|script| script.calls().map(move |key| (key, *script)));
    // A handoff that was left out may be missing together with its result. `calls-answered` reports a call that is
    // gone without a trace.
    let kept = calls
        .filter(|(key, _)| !evidence.is_skipped_handoff(*key) && !calls_answered::is_dropped(evidence, *key));
    let mut calls = kept.map(|(key, script)| (key, evidence.call(key), script));
    let (key, call, script) =
        calls.find(|(_, call, _)| call.outcome.is_success() && !is_made(request, call))?;
    let name = &call.name;
    let of = format!("call {name} of turn {}", turn + 1);
    // A call of a reply that the provider cut short need not run.
    let is_due = matches!(script.stop, None | Some(Stop::Calls));
    let never_ran = evidence.account(key).starts.is_empty() && evidence.ledger.strangers.is_empty();
    let (severity, message) = match is_due && never_ran {
        true => (Severity::CallDropped, format!("{of} is never run, and is missing or changed")),
        false => (CHECK.severity, format!("{of} is missing or changed")),
    };
    let message = message + ", although nothing went wrong in that turn";
    Some(
        Finding {
            severity,
            message,
            expected: format!("call {name} with the arguments `{}`", call.args),
            got: evidence.shape(request),
            ..CHECK.finding(request.place("")).of_turn(turn)
        }
        .of_calls([key]),
    )
}

/// Finds a search of the provider with a result that is missing, or that no longer contains what was found. Another
/// provider cannot read it.
fn altered_search(
    evidence: &Evidence<'_>,
    request: &RequestView,
    turn: usize,
    scripts: &[&Script],
) -> Option<Finding> {
    if evidence.plan.dialect_of(turn) != evidence.plan.dialect_of(request.turn) {
        return None;
    }
    let found = scripts.iter().flat_map(|script| script.server_blocks()).filter_map(|block| match block {
        ServerBlock::Found(key) => Some(&evidence.plan.searches[key.0 as usize]),
        ServerBlock::Search(_) => None,
    });
    let (search, title, what) = found.into_iter().find_map(|search| {
        let title = search.finds.as_deref()?;
        match result_of(request, search) {
            None => Some((search, title, "is missing")),
            Some(result) if !has_found(&result["content"], search, title) => {
                Some((search, title, "is not what the provider found"))
            }
            Some(_) => None,
        }
    })?;
    Some(Finding {
        message: format!(
            "the result of search {} of turn {} {what}, although nothing went wrong in that turn",
            search.name,
            turn + 1
        ),
        expected: format!("the page `{title}`, as the provider sent it"),
        got: match result_of(request, search) {
            Some(result) => quoted(&result["content"].to_string()),
            None => evidence.shape(request),
        },
        ..CHECK.finding(request.place("")).of_turn(turn)
    })
}

/// The result of a search in a request.
fn result_of<'a>(request: &'a RequestView, search: &PlannedSearch) -> Option<&'a Value> {
    request.history.items.iter().find_map(|item| match &item.content {
        Content::Raw { value } if value["tool_use_id"] == search.id.as_str() => Some(value),
        Content::Text { .. }
        | Content::Thought { .. }
        | Content::Call { .. }
        | Content::Result { .. }
        | Content::Raw { .. } => None,
    })
}

/// True if the result of a search contains a page with this title, and with the content that only the provider can
/// read.
fn has_found(pages: &Value, search: &PlannedSearch, title: &str) -> bool {
    let is_it = |page: &Value| {
        let sealed = page["encrypted_content"].as_str().is_some_and(|text| text.ends_with(&search.id));
        page["title"] == title && sealed
    };
    pages.as_array().is_some_and(|pages| pages.iter().any(is_it))
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
