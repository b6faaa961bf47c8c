//! Calls, and the texts around them, keep the order in which the model made them.
//!
//! Inside one reply a text may move in front of the calls, since some providers accept no other order. Texts are
//! checked only in the last request, and only for turns in which nothing went wrong.

use std::collections::BTreeSet;

use super::healthy_untouched::{healthy, narrates, scripts, squeezed, texts};
use super::*;
use brickbat_scenario::plan::ScriptBlock;

pub(super) const CHECK: Check = Check {
    summary: "calls and texts keep the order in which the model made them",
    invariants: &[13, 20],
    applies: |evidence| evidence.has_calls(),
    find,
    ..Check::new("order-kept", Level::L1, Severity::Reordered)
};

fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    moved_calls(evidence).into_iter().chain(moved_text(evidence)).collect()
}

fn moved_calls(evidence: &Evidence<'_>) -> Option<Finding> {
    let places = |request: &RequestView| {
        let places = request.calls().map(|view| {
            let call = evidence.call(view.key);
            (!call.given, call.turn, call.reply, call.attempt, view.key)
        });
        places.collect::<Vec<_>>()
    };
    let disordered = |request: &&RequestView| !places(request).is_sorted();
    let request = evidence.requests.iter().find(disordered)?;
    let places = places(request);
    let is_repeated = places.iter().collect::<BTreeSet<_>>().len() < places.len();
    let message = if is_repeated {
        "calls are repeated at a position where the model did not make them"
    } else {
        "the calls are not in the order in which the model made them"
    };
    Some(finding(evidence, request, message.to_owned()))
}

/// Finds a text that has swapped positions with a call or another text.
fn moved_text(evidence: &Evidence<'_>) -> Option<Finding> {
    let last = evidence.last_request()?;
    if narrates(evidence, last, &texts(last)) {
        return None;
    }
    let turn = healthy(evidence, last).into_iter().find(|turn| {
        let pieces = pieces(evidence, last, *turn);
        let mut later = pieces.iter().enumerate();
        later.any(|(n, piece)| pieces[..n].iter().any(|earlier| has_overtaken(piece, earlier)))
    })?;
    let message = format!(
        "the model's text of turn {} is no longer in its position before or after the calls",
        turn + 1
    );
    Some(finding(evidence, last, message))
}

/// A text or a call of the model, with its position in a request.
struct Piece {
    /// The number of its reply in the turn.
    reply: usize,
    is_text: bool,
    /// The number of its item in the request.
    item: usize,
}

/// The texts and calls of a turn in the model's order: those that occur exactly once in the request.
fn pieces(evidence: &Evidence<'_>, request: &RequestView, turn: usize) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for (reply, script) in scripts(evidence, turn).enumerate() {
        for block in &script.blocks {
            let (is_text, item) = match block {
                ScriptBlock::Think(_) | ScriptBlock::Server(_) => continue,
                ScriptBlock::Text(fragments) => (true, place_of_text(request, &fragments.concat())),
                ScriptBlock::Call(key) => (false, place_of_call(request, *key)),
            };
            pieces.extend(item.map(|item| Piece { reply, is_text, item }));
        }
    }
    pieces
}

fn has_overtaken(piece: &Piece, earlier: &Piece) -> bool {
    let is_of_interest = match piece.reply == earlier.reply {
        true => earlier.is_text && !piece.is_text,
        false => piece.is_text || earlier.is_text,
    };
    is_of_interest && piece.item < earlier.item
}

/// The item that contains a text of the model, if only one does.
fn place_of_text(request: &RequestView, text: &str) -> Option<usize> {
    let text = squeezed(text);
    let holds = |content: &Content| match content {
        Content::Text { text: kept } => !text.is_empty() && squeezed(kept).contains(&text),
        _ => false,
    };
    let items = request.history.items.iter().enumerate();
    only(items.filter(|(_, item)| item.role == Role::Assistant && holds(&item.content)).map(|(at, _)| at))
}

/// The item of a call, if there is only one.
fn place_of_call(request: &RequestView, key: CallKey) -> Option<usize> {
    only(request.calls().filter(|view| view.key == key).map(|view| view.item))
}

fn only(mut places: impl Iterator<Item = usize>) -> Option<usize> {
    let first = places.next()?;
    places.next().is_none().then_some(first)
}

fn finding(evidence: &Evidence<'_>, request: &RequestView, message: String) -> Finding {
    Finding {
        message,
        expected: "the order of the model's reply".to_owned(),
        got: evidence.shape(request),
        ..CHECK.finding(request.place(""))
    }
}
