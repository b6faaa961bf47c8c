//! Checks that the remaining parts are still in their original order.

use super::{Check, Evidence, Finding, quoted};
use crate::{Loss, Part};

pub(super) const CHECK: Check = Check {
    id: "order-kept",
    summary: "everything that is kept stays in its original order",
    applies: |evidence| evidence.has_body() && evidence.is_valid() && !evidence.declares(Loss::Reorders),
    find,
};

fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let after = &evidence.after.parts;
    let places_of_calls: Vec<usize> =
        (0..after.len()).filter(|at| matches!(after[*at], Part::Call(_))).collect();
    let mut n_calls = 0;
    let mut last: Option<(usize, Placed<'_>)> = None;
    for part in &evidence.before.parts {
        let place = match part {
            Part::Call(call) => {
                n_calls += 1;
                let place = evidence.calls.get(n_calls - 1).copied().flatten();
                place.map(|place| (places_of_calls[place], Placed::Call(&call.name)))
            }
            Part::User(text) => only(evidence, text, is_user),
            // Dialects have text before or after the calls of a message, so text may move between two
            // dialects.
            Part::Reply(text) if !evidence.route.is_foreign() => only(evidence, text, is_reply),
            _ => None,
        };
        let Some((place, what)) = place else { continue };
        if let Some((before, earlier)) = last.filter(|(before, _)| *before > place) {
            let cause = match (earlier, what) {
                (Placed::Call(_), Placed::Call(_)) => "calls",
                _ => "words",
            };
            let (what, earlier) = (what.in_words(), earlier.in_words());
            let words = format!("{what} stands before {earlier}, at {place} and {before} of what is said");
            return vec![CHECK.finding(cause, words)];
        }
        last = Some((place, what));
    }
    Vec::new()
}

/// A part with a position in the conversation.
#[derive(Debug, Clone, Copy)]
enum Placed<'a> {
    Call(&'a str),
    Words(&'a str),
}

impl Placed<'_> {
    fn in_words(self) -> String {
        match self {
            Placed::Call(name) => format!("the call of {}", quoted(name)),
            Placed::Words(text) => quoted(text),
        }
    }
}

fn is_user(part: &Part) -> Option<&String> {
    match part {
        Part::User(text) => Some(text),
        _ => None,
    }
}

fn is_reply(part: &Part) -> Option<&String> {
    match part {
        Part::Reply(text) => Some(text),
        _ => None,
    }
}

/// Returns the position of a text that occurs exactly once on both sides.
fn only<'t>(
    evidence: &Evidence<'_>,
    text: &'t str,
    words: fn(&Part) -> Option<&String>,
) -> Option<(usize, Placed<'t>)> {
    if text.trim().is_empty() {
        return None;
    }
    let holds = |part: &Part| words(part).is_some_and(|said| said.contains(text));
    let place = |parts: &[Part]| {
        let mut places = (0..parts.len()).filter(|at| holds(&parts[*at]));
        places.next().filter(|_| places.next().is_none())
    };
    place(&evidence.before.parts)?;
    place(&evidence.after.parts).map(|place| (place, Placed::Words(text)))
}
