//! Calls, and the texts around them, keep the order in which the model made them, and the user's last message comes
//! after all earlier turns.
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
    moved_calls(evidence).into_iter().chain(moved_text(evidence)).chain(moved_prompt(evidence)).collect()
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
    Some(finding(evidence, last, message).of_turn(turn))
}

/// Finds a request in which something of an earlier turn comes after the user's last message.
fn moved_prompt(evidence: &Evidence<'_>) -> Option<Finding> {
    let of_thread = |request: &&RequestView| request.kind.is_of_thread() && request.is_read;
    let (request, turn) = evidence.requests.iter().filter(of_thread).find_map(|request| {
        let prompt = place_of_prompt(request, &evidence.plan.turns.get(request.turn)?.user)?;
        let mut earlier = healthy(evidence, request).into_iter();
        let turn = earlier.find(|turn| places(evidence, request, *turn).any(|place| place > prompt))?;
        Some((request, turn))
    })?;
    let message = format!(
        "the user's message of {} comes before what was said in {}",
        in_turn(request.turn),
        in_turn(turn)
    );
    Some(Finding {
        expected: "the user's last message after all earlier turns".to_owned(),
        ..finding(evidence, request, message)
    })
}

/// The last item with a message of the user.
fn place_of_prompt(request: &RequestView, prompt: &str) -> Option<usize> {
    let says = |content: &Content| matches!(content, Content::Text { text } if text.contains(prompt.trim()));
    request.history.items.iter().rposition(|item| item.role == Role::User && says(&item.content))
}

/// The positions of an earlier turn's message, texts and calls in a request: of those that occur once, and that no
/// other turn repeats.
fn places<'a>(
    evidence: &'a Evidence<'_>,
    request: &'a RequestView,
    turn: usize,
) -> impl Iterator<Item = usize> + 'a {
    let planned = evidence.plan.turns.iter().enumerate();
    let mut others = planned.filter(move |(other, _)| *other != turn).map(|(_, other)| other);
    let user = evidence.plan.turns[turn].user.as_str();
    let is_own = !others.any(|other| other.user.contains(user.trim()) || user.contains(other.user.trim()));
    let prompt = is_own.then(|| place_of_prompt(request, user)).flatten();
    let said =
        scripts(evidence, turn).flat_map(|script| &script.blocks).filter_map(move |block| match block {
            ScriptBlock::Text(fragments) if is_said_only_in(evidence, &fragments.concat(), turn) => {
                place_of_text(request, &fragments.concat())
            }
            ScriptBlock::Call(key) => place_of_call(request, *key),
            ScriptBlock::Text(_) | ScriptBlock::Think(_) | ScriptBlock::Server(_) => None,
        });
    prompt.into_iter().chain(said)
}

/// True if the model says a text in no other turn.
fn is_said_only_in(evidence: &Evidence<'_>, text: &str, turn: usize) -> bool {
    let text = squeezed(text);
    let turns = evidence.plan.turns.iter().enumerate().filter(|(other, _)| *other != turn);
    let mut scripts = turns.flat_map(|(_, other)| &other.replies).flat_map(|reply| &reply.attempts);
    !scripts.any(|script| squeezed(&script.text()).contains(&text))
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
