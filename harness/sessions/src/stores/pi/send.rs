//! The send model of pi.
//!
//! Source: `transformMessages` (`src/providers/transform-messages.ts`) of the package `@earendil-works/pi-ai`
//! 0.74.2, <https://github.com/earendil-works/pi-mono>, and `convertMessages` of its providers.

use std::collections::BTreeSet;

use brickbat_rules::histories::{self, CallResult, Role};

use crate::clients::{self, Quirk};
use crate::{Block, Ending, Message, Place, Sent, Session};

/// The text of a result that pi fills in.
const FILLED: &str = "No result provided";
/// Maximum length of a call id that Anthropic accepts.
const MAX_ID_LEN: usize = 64;

pub(super) fn send(session: &Session) -> Sent {
    let mut turns = Turns::default();
    for message in &session.messages {
        turns.add(message);
    }
    turns.fill();
    let Turns { messages, n_failed, n_filled, .. } = turns;
    let changes = [
        ("leaves out replies that failed or were stopped", n_failed),
        ("fills calls without a result", n_filled),
    ];
    finish(session, messages, &changes)
}

/// Writes the messages for the provider. The changes so far have a name and a number.
pub(super) fn finish(
    session: &Session,
    mut messages: Vec<Message>,
    changes: &[(&'static str, usize)],
) -> Sent {
    if clients::of(session.dialect).have(Quirk::PiCleans) {
        messages.iter_mut().for_each(for_anthropic);
    }
    let mut n_blank = 0;
    for message in &mut messages {
        let n_before = message.blocks.len();
        message.blocks.retain(|block| !is_blank(&block.content));
        n_blank += n_before - message.blocks.len();
    }
    messages.retain(|message| !message.blocks.is_empty());
    let changes = changes.iter().copied().chain([("leaves out blank texts", n_blank)]);
    Sent { messages, mended: changes.filter(|(_, n)| *n > 0).collect(), gives_up: None }
}

/// The messages so far, and the calls of the last reply.
#[derive(Default)]
struct Turns {
    messages: Vec<Message>,
    calls: Vec<(String, String, Place)>,
    answered: BTreeSet<String>,
    n_failed: usize,
    n_filled: usize,
}

impl Turns {
    fn add(&mut self, message: &Message) {
        match message.role {
            Role::Assistant => {
                self.fill();
                if message.ending != Ending::Whole {
                    self.n_failed += 1;
                    return;
                }
                let calls = message.blocks.iter().filter_map(|block| match &block.content {
                    histories::Block::Call(call) => {
                        Some((call.id.clone(), call.name.clone(), block.place.clone()))
                    }
                    _ => None,
                });
                self.calls = calls.collect();
            }
            Role::Tool => self.answered.extend(message.results().map(|result| result.call.clone())),
            Role::User | Role::System => self.fill(),
        }
        self.messages.push(message.clone());
    }

    fn fill(&mut self) {
        for (call, name, place) in std::mem::take(&mut self.calls) {
            if self.answered.contains(&call) {
                continue;
            }
            self.messages.push(filled(&call, &name, &place));
            self.n_filled += 1;
        }
        self.answered.clear();
    }
}

/// The result that is made up for a call without one.
pub(super) fn filled(call: &str, name: &str, place: &Place) -> Message {
    let output = vec![histories::Block::Text(FILLED.to_owned())];
    let result = CallResult { is_error: true, ..CallResult::new(call, name, output) };
    let content = histories::Block::Result(result);
    let blocks = vec![Block { place: place.clone(), content, state: None }];
    Message { role: Role::Tool, blocks, id: None, place: place.clone(), ending: Ending::Whole }
}

/// Converts thinking without a signature to text, and writes ids with characters that Anthropic accepts.
fn for_anthropic(message: &mut Message) {
    for block in &mut message.blocks {
        match &mut block.content {
            histories::Block::Thinking(thinking)
                if thinking.signature.as_deref().unwrap_or_default().is_empty() =>
            {
                block.content = histories::Block::Text(std::mem::take(&mut thinking.text));
            }
            histories::Block::Call(call) => call.id = anthropic_id(&call.id),
            histories::Block::Result(result) => result.call = anthropic_id(&result.call),
            _ => {}
        }
    }
}

fn anthropic_id(id: &str) -> String {
    let letter =
        |letter: char| if letter.is_ascii_alphanumeric() || "_-".contains(letter) { letter } else { '_' };
    id.chars().map(letter).take(MAX_ID_LEN).collect()
}

fn is_blank(block: &histories::Block) -> bool {
    match block {
        histories::Block::Text(words) => words.trim().is_empty(),
        histories::Block::Thinking(thinking) => {
            thinking.signature.is_none() && thinking.text.trim().is_empty()
        }
        _ => false,
    }
}
