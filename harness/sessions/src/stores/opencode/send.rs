//! The send model of opencode: `toModelMessages` of `session/message-v2.ts` and `normalizeMessages` of
//! `provider/transform.ts` (<https://github.com/anomalyco/opencode>, MIT), taken from the released program
//! 1.18.33.
//!
//! Each step in a reply is a separate message, because only `step-start` separates steps. Without one, two
//! steps become one message, `[text, call, text, call]`. The reader splits replies at the same places.

use std::collections::{BTreeMap, BTreeSet};

use brickbat_rules::Dialect;
use brickbat_rules::histories::{self, CallResult, Role, Thinking};

use super::blocks::{COMPACTED, NOTHING_SAID, OF_ANOTHER_MODEL};
use super::{events, forms};
use crate::clients::{self, Quirk};
use crate::{Block, Ending, Message, Sent, Session};

/// Sent for an output that was cleared to save space.
pub(super) const CLEARED: &str = "[Old tool result content cleared]";

/// Sent for a call that never ended.
const INTERRUPTED: &str = "[Tool execution was interrupted]";

/// Sent before images that a provider does not accept inside results.
const ATTACHED: &str = "Attached media from tool result:";

/// The newest version known to leave out open calls. 1.1.27 fills them (after
/// <https://github.com/anomalyco/opencode/pull/8497>). Both facts are from the released programs.
const LEAVES_OUT: [u64; 3] = [1, 1, 16];

/// Returns whether open calls get an error. Older versions leave them out.
///
/// Only versions that fill open calls can open a database, whichever version started the session.
pub(super) fn fills_open_calls(session: &Session) -> bool {
    let is_old = |version: &str| {
        let mut numbers = [0; 3];
        for (number, part) in numbers.iter_mut().zip(version.trim_start_matches('v').split('.')) {
            let digits = part.split(|letter: char| !letter.is_ascii_digit()).next();
            *number = digits.and_then(|digits| digits.parse().ok()).unwrap_or_default();
        }
        numbers <= LEAVES_OUT
    };
    let is_database = session.generation.starts_with("SQLite");
    is_database || !session.version.as_deref().is_some_and(is_old)
}

/// The send model of a session.
pub(super) fn send(session: &Session) -> Sent {
    if session.generation == events::GENERATION {
        return events::send(session);
    }
    let fills = fills_open_calls(session);
    let mut changes = Changes::default();
    let mut messages: Vec<Message> = Vec::new();
    let mut stored = session.messages.iter().peekable();
    let mut pictures = Vec::new();
    let signed = with_signed_thoughts(session);
    while let Some(message) = stored.next() {
        match message.role {
            Role::Assistant => {
                if is_left_out(message) {
                    // Its results are left out with it.
                    stored.next_if(|next| next.role == Role::Tool && next.id == message.id);
                    changes.note("leaves out failed replies");
                } else {
                    let results = stored.next_if(|next| next.role == Role::Tool && next.id == message.id);
                    let (said, results) = step(message, results, fills, &signed, &mut changes);
                    messages.extend(said);
                    messages.extend(
                        results.map(|results| without_pictures(results, session.dialect, &mut pictures)),
                    );
                }
            }
            _ => messages.extend(without_blank(message, &mut changes)),
        }
        // Pictures follow the complete reply, in a user message.
        let is_end = stored.peek().is_none_or(|next| next.id != message.id);
        if is_end && !pictures.is_empty() {
            changes.note("moves pictures out of results");
            messages.push(of_pictures(std::mem::take(&mut pictures), message));
        }
    }
    normalise_ids(&mut messages, session, &mut changes);
    if clients::of(session.dialect).have(Quirk::OpencodeAnswersResults) {
        messages = between_tools_and_user(messages, &mut changes);
    }
    let unread = session.troubles.iter().find(|trouble| forms::is_of_file(trouble));
    let gives_up = unread.map(|trouble| ("Unexpected end of JSON input".to_owned(), trouble.place.clone()));
    Sent { messages, mended: changes.0.into_iter().collect(), gives_up }
}

/// The count for each change.
#[derive(Debug, Default)]
struct Changes(BTreeMap<&'static str, usize>);

impl Changes {
    fn note(&mut self, what: &'static str) {
        *self.0.entry(what).or_default() += 1;
    }
}

/// Returns whether a reply is left out. A failed reply is. So is a stopped reply, unless it contains more
/// than thoughts.
fn is_left_out(message: &Message) -> bool {
    let says_nothing = |block: &Block| block.state.as_deref() == Some(NOTHING_SAID);
    match message.ending {
        Ending::Failed => true,
        Ending::Aborted => message.blocks.iter().all(says_nothing),
        Ending::Whole => false,
    }
}

/// The ids of the replies in which Anthropic signed a thought.
fn with_signed_thoughts(session: &Session) -> BTreeSet<&str> {
    let is_signed =
        |block: &Block| matches!(&block.content, histories::Block::Thinking(own) if own.signature.is_some());
    let may_be = clients::of(session.dialect).have(Quirk::OpencodeKeepsPlaces);
    let messages = session.messages.iter().filter(|message| may_be && message.blocks.iter().any(is_signed));
    messages.filter_map(|message| message.id.as_deref()).collect()
}

/// A step and its results, including those of open calls.
fn step(
    message: &Message,
    results: Option<&Message>,
    fills: bool,
    signed: &BTreeSet<&str>,
    changes: &mut Changes,
) -> (Option<Message>, Option<Message>) {
    let stored: Vec<&Block> = results.iter().flat_map(|results| &results.blocks).collect();
    let mut said = Vec::new();
    let mut answers = Vec::new();
    let mut given = stored.into_iter().peekable();
    let is_signed = message.id.as_deref().is_some_and(|id| signed.contains(id));
    for block in &message.blocks {
        let histories::Block::Call(call) = &block.content else {
            said.extend(words(block, is_signed, changes));
            continue;
        };
        let own = given.next_if(|result| result.place == block.place);
        let is_open = matches!(block.state.as_deref(), Some("pending" | "running"));
        match own {
            Some(result) => {
                said.push(block.clone());
                answers.push(cleared(result, changes));
            }
            // The product ignores calls in a state that it does not know.
            None if !is_open || !fills => changes.note("leaves out calls without a result"),
            None => {
                said.push(block.clone());
                answers.push(Block {
                    content: histories::Block::Result(call.failed(INTERRUPTED)),
                    state: None,
                    ..block.clone()
                });
                changes.note("fills calls without a result");
            }
        }
    }
    let of = |role: Role, blocks: Vec<Block>| {
        (!blocks.is_empty()).then(|| Message { role, blocks, ..message.clone() })
    };
    (of(Role::Assistant, said), of(Role::Tool, answers))
}

/// A text or a thought in a reply, in its sent form. `None` if it is left out.
fn words(block: &Block, is_signed: bool, changes: &mut Changes) -> Option<Block> {
    let content = match &block.content {
        // This keeps signed thoughts at their places.
        histories::Block::Text(text) if text.is_empty() && is_signed => {
            changes.note("sends a space for an empty text");
            histories::Block::Text(" ".to_owned())
        }
        histories::Block::Text(text) if text.is_empty() => {
            changes.note("leaves out empty texts");
            return None;
        }
        histories::Block::Thinking(thinking) if block.state.as_deref() == Some(OF_ANOTHER_MODEL) => {
            changes.note("sends thoughts of another model as text");
            let is_blank = thinking.text.trim().is_empty();
            return (!is_blank)
                .then(|| Block { content: histories::Block::Text(thinking.text.clone()), ..block.clone() });
        }
        // The item id is left out, since OpenAI stores nothing (`store` is false).
        histories::Block::Thinking(thinking) => {
            histories::Block::Thinking(Thinking { id: None, ..thinking.clone() })
        }
        histories::Block::Native { .. } if block.state.as_deref() == Some(OF_ANOTHER_MODEL) => return None,
        other => other.clone(),
    };
    Some(Block { content, ..block.clone() })
}

fn cleared(block: &Block, changes: &mut Changes) -> Block {
    match &block.content {
        histories::Block::Result(result) if block.state.as_deref() == Some(COMPACTED) => {
            changes.note("clears old outputs");
            let output = vec![histories::Block::Text(CLEARED.to_owned())];
            Block {
                content: histories::Block::Result(CallResult { output, ..result.clone() }),
                ..block.clone()
            }
        }
        _ => block.clone(),
    }
}

/// A user message without empty texts. `None` if nothing is left.
fn without_blank(message: &Message, changes: &mut Changes) -> Option<Message> {
    let is_empty = |block: &&Block| matches!(&block.content, histories::Block::Text(text) if text.is_empty());
    let n_empty = message.blocks.iter().filter(is_empty).count();
    for _ in 0..n_empty {
        changes.note("leaves out empty texts");
    }
    let blocks: Vec<Block> = message.blocks.iter().filter(|block| !is_empty(block)).cloned().collect();
    (!blocks.is_empty()).then(|| Message { blocks, ..message.clone() })
}

/// Removes images from results, for dialects with text-only results.
fn without_pictures(mut message: Message, dialect: Option<Dialect>, pictures: &mut Vec<Block>) -> Message {
    if !clients::of(dialect).have(Quirk::OpencodeMovesPictures) {
        return message;
    }
    for block in &mut message.blocks {
        let histories::Block::Result(result) = &mut block.content else { continue };
        let is_picture = |part: &histories::Block| matches!(part, histories::Block::Image(_));
        let (own, rest) = std::mem::take(&mut result.output).into_iter().partition(is_picture);
        result.output = rest;
        let own: Vec<histories::Block> = own;
        pictures.extend(own.into_iter().map(|content| Block {
            content,
            place: block.place.clone(),
            state: None,
        }));
    }
    message
}

fn of_pictures(pictures: Vec<Block>, after: &Message) -> Message {
    let place = pictures.first().map_or_else(|| after.place.clone(), |first| first.place.clone());
    let words =
        Block { place: place.clone(), content: histories::Block::Text(ATTACHED.to_owned()), state: None };
    let blocks = std::iter::once(words).chain(pictures).collect();
    Message { role: Role::User, blocks, id: after.id.clone(), place, ending: Ending::Whole }
}

/// Rewrites call ids for the provider: for Claude, other characters become `_`; for Mistral, ids have nine
/// letters and digits. OpenAI's item ids are not sent.
fn normalise_ids(messages: &mut [Message], session: &Session, changes: &mut Changes) {
    let is_claude = session.model.as_deref().is_some_and(|model| model.contains("claude"));
    let is_short = clients::of(session.dialect).have(Quirk::OpencodeShortensIds);
    let normal = |id: &str| -> String {
        match () {
            () if is_short => {
                let letters = id.chars().filter(char::is_ascii_alphanumeric).take(9).collect::<String>();
                format!("{letters:0<9}")
            }
            () if is_claude => {
                let is_plain =
                    |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
                id.chars().map(|letter| if is_plain(letter) { letter } else { '_' }).collect()
            }
            () => id.to_owned(),
        }
    };
    for block in messages.iter_mut().flat_map(|message| &mut message.blocks) {
        let id = match &mut block.content {
            histories::Block::Call(call) => {
                call.item = None;
                &mut call.id
            }
            histories::Block::Result(result) => &mut result.call,
            _ => continue,
        };
        let new = normal(id);
        if new != *id {
            changes.note("rewrites ids of calls");
            *id = new;
        }
    }
}

/// Mistral does not accept a user message directly after results, so a reply is inserted between them.
fn between_tools_and_user(messages: Vec<Message>, changes: &mut Changes) -> Vec<Message> {
    let mut out: Vec<Message> = Vec::with_capacity(messages.len());
    for message in messages {
        if message.role == Role::User
            && let Some(last) = out.last().filter(|last| last.role == Role::Tool)
        {
            let done = done_after(last);
            out.push(done);
            changes.note("puts “Done.” between results and the user");
        }
        out.push(message);
    }
    // The next user message follows the end.
    if let Some(last) = out.last().filter(|last| last.role == Role::Tool) {
        let done = done_after(last);
        out.push(done);
        changes.note("puts “Done.” between results and the user");
    }
    out
}

fn done_after(results: &Message) -> Message {
    let content = histories::Block::Text("Done.".to_owned());
    let blocks = vec![Block { place: results.place.clone(), content, state: None }];
    Message { role: Role::Assistant, blocks, ..results.clone() }
}
