//! The send model of goose: the steps of `fix_messages` in `crates/goose/src/conversation/fix.rs` (formerly
//! in `conversation/mod.rs`), in order, and the content that its provider formats leave out.
//!
//! The last step, which removes a trailing model message, never applies, because the user speaks next.

use std::collections::BTreeSet;

use brickbat_rules::Dialect;
use brickbat_rules::histories::{Block as Content, Role};

use super::ROWS;
use crate::clients::{self, Quirk};
use crate::{Message, Sent, Session};

/// The content sent for a result that has none.
const EMPTY_RESULT: &str = "(empty result)";

pub(super) fn send(session: &Session) -> Sent {
    let mut mender = Mender { messages: session.messages.clone(), mended: Vec::new() };
    mender.merge_texts();
    mender.trim_texts();
    mender.drop_empty();
    mender.fill_empty_results();
    mender.drop_orphans();
    mender.drop_empty();
    mender.merge_messages();
    mender.drop_lead();
    mender.drop_blank(session.dialect);
    // `get_conversation` fails at the first unreadable row. In a file, only the unreadable line is skipped.
    let unreadable = session.troubles.iter().find(|trouble| trouble.loses.is_some());
    let gives_up = unreadable
        .filter(|_| session.generation == ROWS)
        .map(|trouble| (format!("goose cannot load the session: {}", trouble.words), trouble.place.clone()));
    Sent { messages: mender.messages, mended: mender.mended, gives_up }
}

struct Mender {
    messages: Vec<Message>,
    mended: Vec<(&'static str, usize)>,
}

impl Mender {
    fn note(&mut self, words: &'static str, n: usize) {
        match self.mended.iter_mut().find(|(known, _)| *known == words) {
            _ if n == 0 => {}
            Some((_, before)) => *before += n,
            None => self.mended.push((words, n)),
        }
    }

    fn replies(&mut self) -> impl Iterator<Item = &mut Message> {
        self.messages.iter_mut().filter(|message| message.role == Role::Assistant)
    }

    fn merge_texts(&mut self) {
        for message in self.replies() {
            let mut merged: Vec<crate::Block> = Vec::with_capacity(message.blocks.len());
            for block in message.blocks.drain(..) {
                match (merged.last_mut().map(|last| &mut last.content), &block.content) {
                    (Some(Content::Text(last)), Content::Text(text)) => last.push_str(text),
                    _ => merged.push(block),
                }
            }
            message.blocks = merged;
        }
    }

    fn trim_texts(&mut self) {
        for block in self.replies().flat_map(|message| &mut message.blocks) {
            if let Content::Text(text) = &mut block.content {
                text.truncate(text.trim_end().len());
            }
        }
    }

    fn drop_empty(&mut self) {
        let is_empty =
            |block: &crate::Block| matches!(&block.content, Content::Text(text) if text.is_empty());
        let n = self.messages.len();
        self.messages.retain(|message| !message.blocks.iter().all(is_empty));
        self.note("drops empty messages", n - self.messages.len());
    }

    fn fill_empty_results(&mut self) {
        let is_empty = |part: &Content| matches!(part, Content::Text(text) if text.is_empty());
        let mut n = 0;
        for block in self.messages.iter_mut().flat_map(|message| &mut message.blocks) {
            if let Content::Result(result) = &mut block.content
                && result.output.iter().all(is_empty)
            {
                result.output.push(Content::Text(EMPTY_RESULT.to_owned()));
                n += 1;
            }
        }
        self.note("fills results without content", n);
    }

    /// `fix_tool_calling`: a result must come somewhere after its call, and closes the open call with its id.
    /// If a call is still open at the end, all calls with its id are dropped.
    fn drop_orphans(&mut self) {
        let mut open: BTreeSet<String> = BTreeSet::new();
        let mut n_results = 0;
        let mut n_misplaced = 0;
        for message in &mut self.messages {
            let is_reply = message.role == Role::Assistant;
            message.blocks.retain(|block| match (&block.content, is_reply) {
                (Content::Call(call), true) => {
                    open.insert(call.id.clone());
                    true
                }
                (Content::Result(result), false) => {
                    let is_kept = open.remove(&result.call);
                    n_results += usize::from(!is_kept);
                    is_kept
                }
                (Content::Call(_), false) | (Content::Result(_), true) | (Content::Thinking(_), false) => {
                    n_misplaced += 1;
                    false
                }
                _ => true,
            });
        }
        let mut n_calls = 0;
        for message in self.replies() {
            let n = message.blocks.len();
            let is_open =
                |content: &Content| matches!(content, Content::Call(call) if open.contains(&call.id));
            message.blocks.retain(|block| !is_open(&block.content));
            n_calls += n - message.blocks.len();
        }
        for message in self.messages.iter_mut().filter(|message| message.role == Role::Tool) {
            if message.results().next().is_none() {
                message.role = Role::User;
            }
        }
        self.note("drops results without a call before them", n_results);
        self.note("drops calls without a result after them", n_calls);
        self.note("drops calls of the user, and results and thoughts of the wrong side", n_misplaced);
    }

    fn merge_messages(&mut self) {
        let mut merged: Vec<Message> = Vec::with_capacity(self.messages.len());
        for message in self.messages.drain(..) {
            match merged.last_mut() {
                Some(last) if last.role == message.role => last.blocks.extend(message.blocks),
                _ => merged.push(message),
            }
        }
        self.messages = merged;
    }

    fn drop_lead(&mut self) {
        if self.messages.first().is_some_and(|message| message.role == Role::Assistant) {
            self.messages.remove(0);
            self.note("drops a message of the model at the beginning", 1);
        }
    }

    /// `format_messages`: Anthropic's format leaves out blank texts, OpenAI's leaves out empty ones.
    fn drop_blank(&mut self, dialect: Option<Dialect>) {
        let sends_spaces = clients::of(dialect).have(Quirk::GooseSendsSpaces);
        let is_blank = |content: &Content| match content {
            Content::Text(text) if sends_spaces => text.is_empty(),
            Content::Text(text) => text.trim().is_empty(),
            _ => false,
        };
        let mut n = 0;
        for message in &mut self.messages {
            let before = message.blocks.len();
            message.blocks.retain(|block| !is_blank(&block.content));
            n += before - message.blocks.len();
        }
        self.messages.retain(|message| !message.blocks.is_empty());
        self.note("drops blank texts", n);
    }
}
