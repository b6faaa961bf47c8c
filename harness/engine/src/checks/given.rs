//! The requirements for a given history: it belongs to the thread like everything after it.

use std::collections::BTreeSet;

use super::{Evidence, RequestView};
use brickbat_scenario::history::Content;
use brickbat_scenario::plan::{
    CallKey, GivenBlock, GivenMessage, GivenResult, MARKER, Plan, PlannedCall, ToolOutcome,
};
use brickbat_scenario::trace::Ledger;
use brickbat_scenario::wire;

/// Records in the ledger how the calls of the given history ended. Their tools ran before the observation
/// began.
pub(super) fn enter(plan: &Plan, ledger: &mut Ledger) {
    for GivenResult { id, text, is_error, .. } in plan.given.iter().flat_map(GivenMessage::results) {
        let key = called(plan, id).filter(|key| !is_ambiguous(plan, *key));
        let Some(account) = key.and_then(|key| ledger.calls.get_mut(key.0 as usize)) else { continue };
        let outcome =
            if *is_error { ToolOutcome::Error(text.clone()) } else { ToolOutcome::Return(text.clone()) };
        // If there are two results, the first counts, because the model has read that one.
        account.settled.get_or_insert(outcome);
        account.settled_late = false;
    }
}

/// The first call of the given history with this id, which may be empty.
fn called(plan: &Plan, id: &str) -> Option<CallKey> {
    let at = plan.calls.iter().position(|call| call.given && call.id == id)?;
    Some(CallKey(at as u32))
}

/// True if a call in the given history shares its id with another one there. It is unknown to which of them a
/// result with that id belongs, so the checks do not require any pairing.
pub(super) fn is_ambiguous(plan: &Plan, key: CallKey) -> bool {
    let PlannedCall { given, id, .. } = &plan.calls[key.0 as usize];
    *given && plan.calls.iter().filter(|call| call.given && call.id == *id).count() > 1
}

/// True if a compaction has removed a call of the given history, or its result, from what the system must
/// still know.
pub(super) fn is_compacted(plan: &Plan, key: CallKey) -> bool {
    let PlannedCall { given, id, .. } = &plan.calls[key.0 as usize];
    let makes_it = |block: &GivenBlock| matches!(block, GivenBlock::Call { id: own, .. } if own == id);
    let is_whole = live(plan).iter().flat_map(GivenMessage::blocks).any(makes_it)
        && results(plan).any(|result| result.id == *id);
    *given && !is_whole
}

/// True if the given history is broken: the results of a reply's calls do not follow it directly and
/// together, or one of its messages is itself odd.
pub(super) fn is_broken(plan: &Plan) -> bool {
    let given = live(plan);
    let is_unanswered = given.iter().enumerate().any(|(at, message)| {
        let next = given.get(at + 1).map_or(&[][..], GivenMessage::results);
        let followed_by = |id: &str| next.iter().any(|result| result.id == id);
        message.blocks().iter().any(|block| matches!(block, GivenBlock::Call { id, .. } if !followed_by(id)))
    });
    is_unanswered || is_odd(plan, given) || has_torn_thoughts(plan)
}

/// True if a history contains something that no provider created, or that no provider accepts at that
/// position.
///
/// Ids from another provider are not odd: complete threads move to another provider, and converting their ids
/// to the new provider's format is part of such a move.
fn is_odd(plan: &Plan, given: &[GivenMessage]) -> bool {
    let codec = plan.dialect.codec();
    let mut ids = BTreeSet::new();
    let mut is_odd_block = |block: &GivenBlock| match block {
        GivenBlock::Thinking { .. } => false,
        GivenBlock::Text(text) => text.trim().is_empty(),
        GivenBlock::Call { id, raw, .. } => {
            raw.is_some() || (id.is_empty() && !(codec.takes_id)(id)) || !ids.insert(id.clone())
        }
    };
    given.iter().any(|message| match message {
        GivenMessage::User(text) => text.trim().is_empty(),
        GivenMessage::Assistant(blocks) => blocks.iter().any(&mut is_odd_block),
        // Pictures have size limits.
        GivenMessage::Results(results) => {
            results.iter().any(|result| result.orphan_of.is_some() || result.picture.is_some())
        }
        GivenMessage::Picture(_) | GivenMessage::System(_) | GivenMessage::Failed(_) => true,
        GivenMessage::Compacted(_) => false,
    })
}

/// True if the store has lost or altered some of the model's thinking.
fn has_torn_thoughts(plan: &Plan) -> bool {
    let start = plan.given.len() - live(plan).len();
    let thoughts = |message: &GivenMessage| {
        let thoughts = message.blocks().iter().filter_map(|block| match block {
            GivenBlock::Thinking { text, signature } => Some((text.clone(), signature.clone())),
            GivenBlock::Text(_) | GivenBlock::Call { .. } => None,
        });
        thoughts.collect::<Vec<_>>()
    };
    let thinking = plan.given.iter().enumerate().map(|(at, message)| (at, thoughts(message)));
    let thinking = thinking.filter(|(_, thoughts)| !thoughts.is_empty());
    thinking.zip(wire::given_thoughts(plan)).any(|((at, thoughts), (_, given_out))| {
        let is_torn = |((text, signature), whole): ((String, Option<String>), String)| {
            text.is_empty() || signature != Some(whole)
        };
        at >= start && thoughts.into_iter().zip(given_out).any(is_torn)
    })
}

/// The part of the given history that counts: its last compaction with the summary, and everything after it.
fn live(plan: &Plan) -> &[GivenMessage] {
    let is_compaction = |message: &GivenMessage| matches!(message, GivenMessage::Compacted(_));
    let start = plan.given.iter().rposition(is_compaction).unwrap_or(0);
    &plan.given[start..]
}

/// True if a request answers a call that the given history leaves open. Then the system has added to the
/// history, and is responsible if that is rejected.
pub(super) fn has_additions(evidence: &Evidence<'_>, request: &RequestView) -> bool {
    let is_open = |id: &str| {
        evidence.answered(request, id).is_some_and(|key| {
            let call = evidence.call(key);
            call.given && results(evidence.plan).all(|result| result.id != call.id)
        })
    };
    request.results().any(|result| is_open(result.id))
}

/// The user's messages in the part of the given history that counts.
pub(super) fn user_messages(plan: &Plan) -> impl Iterator<Item = &str> {
    live(plan).iter().filter_map(|message| match message {
        GivenMessage::User(text) if !text.trim().is_empty() => Some(text.as_str()),
        _ => None,
    })
}

/// The summary that replaces everything before the last compaction.
fn summary(plan: &Plan) -> Option<&str> {
    live(plan).iter().find_map(|message| match message {
        GivenMessage::Compacted(text) => Some(text.as_str()),
        _ => None,
    })
}

/// The reason why it is not proven that the system had the given history: no request contains any part of it.
/// `None` if it is proven.
///
/// A system that loses the history and an adapter that never wrote it look the same, so neither is judged. If
/// there is no request, the system has found something in the history that it does not send.
pub(super) fn unsent(evidence: &Evidence<'_>) -> Option<String> {
    if evidence.plan.given.is_empty() || evidence.last_request().is_none() {
        return None;
    }
    let tells = evidence.requests.iter().any(|request| tells(evidence.plan, request));
    (!tells).then(|| "no request contains anything from the given history".to_owned())
}

fn tells(plan: &Plan, request: &RequestView) -> bool {
    let knows = |text: &str| {
        user_messages(plan).chain(summary(plan)).any(|said| text.contains(said.trim()))
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
    live(plan).iter().flat_map(GivenMessage::results)
}
