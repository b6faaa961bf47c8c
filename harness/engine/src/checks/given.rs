//! What a given history demands: it is part of the thread like all that came after it.

use super::{Evidence, RequestView};
use brickbat_scenario::history::Content;
use brickbat_scenario::plan::{GivenBlock, GivenMessage, GivenResult, MARKER, Plan, ToolOutcome};
use brickbat_scenario::trace::Ledger;

/// Enters into the ledger how the calls of the given history ended: their tools ran before anyone looked.
pub(super) fn enter(plan: &Plan, ledger: &mut Ledger) {
    for GivenResult { id, text, is_error } in results(plan) {
        let at = plan.calls.iter().position(|call| call.given && call.id == *id);
        let Some(account) = at.and_then(|at| ledger.calls.get_mut(at)) else { continue };
        let outcome =
            if *is_error { ToolOutcome::Error(text.clone()) } else { ToolOutcome::Return(text.clone()) };
        // Of two results the first is the one that the model has read.
        account.settled.get_or_insert(outcome);
        account.settled_late = false;
    }
}

/// Whether the given history is broken: the results of a reply's calls do not follow it, all together.
pub(super) fn is_broken(plan: &Plan) -> bool {
    plan.given.iter().enumerate().any(|(at, message)| {
        let GivenMessage::Assistant(blocks) = message else { return false };
        let followed_by = |id: &str| match plan.given.get(at + 1) {
            Some(GivenMessage::Results(results)) => results.iter().any(|result| result.id == id),
            _ => false,
        };
        blocks.iter().any(|block| matches!(block, GivenBlock::Call { id, .. } if !followed_by(id)))
    })
}

/// Whether a request answers a call of the given history that the history itself leaves open. Then the system has added
/// to it, and what is refused is its own work.
pub(super) fn has_additions(evidence: &Evidence<'_>, request: &RequestView) -> bool {
    let is_open = |id: &str| {
        evidence.answered(request, id).is_some_and(|key| {
            let call = evidence.call(key);
            call.given && results(evidence.plan).all(|result| result.id != call.id)
        })
    };
    request.results().any(|result| is_open(result.id))
}

/// What the user says in the given history.
pub(super) fn user_messages(plan: &Plan) -> impl Iterator<Item = &str> {
    plan.given.iter().filter_map(|message| match message {
        GivenMessage::User(text) => Some(text.as_str()),
        GivenMessage::Assistant(_) | GivenMessage::Results(_) => None,
    })
}

/// Why it is not proven that the system had the given history, if it is not: no request has anything of it.
///
/// A system that loses all of it and an adapter that never wrote it look the same, so neither is judged. One that
/// sends no request at all has met something that it does not send.
pub(super) fn unsent(evidence: &Evidence<'_>) -> Option<String> {
    if evidence.plan.given.is_empty() || evidence.last_request().is_none() {
        return None;
    }
    let tells = evidence.requests.iter().any(|request| tells(evidence.plan, request));
    (!tells).then(|| "no request contains anything of the given history".to_owned())
}

fn tells(plan: &Plan, request: &RequestView) -> bool {
    let knows = |text: &str| {
        user_messages(plan).any(|said| text.contains(said.trim()))
            || plan.calls.iter().any(|call| call.given && text.contains(call.marker.as_str()))
    };
    request.history.items.iter().any(|item| match &item.content {
        Content::Text { text } | Content::Result { text, .. } => knows(text),
        Content::Call { args, .. } => args.get(MARKER).and_then(|marker| marker.as_str()).is_some_and(knows),
        Content::Raw { value } => knows(&value.to_string()),
        Content::Thought { .. } => false,
    })
}

fn results(plan: &Plan) -> impl Iterator<Item = &GivenResult> {
    plan.given.iter().flat_map(|message| match message {
        GivenMessage::Results(results) => results.as_slice(),
        GivenMessage::User(_) | GivenMessage::Assistant(_) => &[],
    })
}
