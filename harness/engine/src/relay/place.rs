//! The progress of a foreign reply, measured in scenario points.

use std::collections::BTreeMap;

use brickbat_scenario::point::Point;
use brickbat_scenario::wire::ReplyEvent;

/// The content of a reply so far.
#[derive(Debug, Default)]
pub(super) struct Whereabouts {
    n_texts: u32,
    n_thoughts: u32,
    /// The calls by their index.
    calls: BTreeMap<u64, Called>,
    /// The index of the last call that began.
    last: Option<u64>,
    /// The number of texts, thoughts, and beginnings, deltas and ends of calls so far.
    pub(super) n_pieces: u32,
}

/// The progress of one call.
#[derive(Debug)]
struct Called {
    letter: String,
    n_deltas: u32,
    has_ended: bool,
}

/// A point that an event reaches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reached {
    pub(super) point: Point,
    /// True if the event only proves that the point was passed earlier. In some dialects nothing closes a
    /// call except the stop reason or the next call.
    pub(super) was_before: bool,
}

impl Whereabouts {
    /// Takes one event of the stream, decoded, and returns the points that it reaches.
    pub(super) fn take(&mut self, said: &[ReplyEvent]) -> Vec<Reached> {
        let begins = |of: u64| {
            said.iter().any(|event| matches!(event, ReplyEvent::CallStart { index, .. } if *index == of))
        };
        let stops = said.iter().any(|event| matches!(event, ReplyEvent::Stop(_)));
        let has_begun_here = said.iter().any(|event| matches!(event, ReplyEvent::CallStart { .. }));
        let mut reached = Vec::new();
        let mut reach = |point, was_before| reached.push(Reached { point, was_before });
        for event in said {
            match event {
                ReplyEvent::Text(text) if !text.is_empty() => {
                    self.n_texts += 1;
                    self.n_pieces += 1;
                    reach(Point::Text(self.n_texts), false);
                }
                ReplyEvent::Thought(text) if !text.is_empty() => {
                    self.n_thoughts += 1;
                    self.n_pieces += 1;
                    reach(Point::Think(self.n_thoughts), false);
                }
                ReplyEvent::CallStart { index, .. } => {
                    let before = self.last.replace(*index).and_then(|last| self.calls.get_mut(&last));
                    if let Some(before) = before.filter(|before| !before.has_ended) {
                        before.has_ended = true;
                        reach(Point::End(before.letter.clone()), true);
                    }
                    let letter = letter(self.calls.len());
                    self.n_pieces += 1;
                    reach(Point::Start(letter.clone()), false);
                    self.calls.insert(*index, Called { letter, n_deltas: 0, has_ended: false });
                }
                ReplyEvent::CallArgs { index, fragment } if !fragment.is_empty() => {
                    let Some(call) = self.calls.get_mut(index) else { continue };
                    call.n_deltas += 1;
                    self.n_pieces += 1;
                    reach(Point::Delta(call.letter.clone(), call.n_deltas), false);
                }
                ReplyEvent::CallEnd { index } => {
                    let Some(call) = self.calls.get_mut(index).filter(|call| !call.has_ended) else {
                        continue;
                    };
                    call.has_ended = true;
                    let was_before = stops && !begins(*index);
                    self.n_pieces += u32::from(!was_before);
                    reach(Point::End(call.letter.clone()), was_before);
                }
                ReplyEvent::Stop(_) => {
                    if !self.calls.is_empty() {
                        reach(Point::Calls, !has_begun_here);
                    }
                    reach(Point::Stop, false);
                }
                ReplyEvent::End => reach(Point::Reply, false),
                // An empty piece is not a point, and these are not points either.
                ReplyEvent::Text(_)
                | ReplyEvent::CallArgs { .. }
                | ReplyEvent::Thought(_)
                | ReplyEvent::ThoughtEnd { .. }
                | ReplyEvent::CallSignature { .. }
                | ReplyEvent::Server(_)
                | ReplyEvent::Tokens(_)
                | ReplyEvent::ResponseId(_)
                | ReplyEvent::Unknown(_)
                | ReplyEvent::Error { .. } => {}
            }
        }
        reached
    }
}

/// The name of a call, `a` to `z`; further calls have no name.
fn letter(at: usize) -> String {
    u8::try_from(at)
        .ok()
        .filter(|at| *at < 26)
        .map_or_else(|| "?".to_owned(), |at| char::from(b'a' + at).to_string())
}
