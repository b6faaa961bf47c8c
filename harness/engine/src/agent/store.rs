//! The stored form of an agent's thread, with which a new process can continue.
//!
//! The bytes are JSON with a version. They contain the thread as it would be if the agent died at this
//! moment: the user's message, the model's messages, the calls whose tools have started, and the results that
//! have arrived. A call that has no result yet is stored without one; the process that loads the thread gives
//! it one.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Agent;
use super::compaction;
use super::decisions::FULL;
use super::pictures::word_of;
use super::sub_agent::SubThread;
use super::thread::{Block, Call, CallResult, Message, Thought};
use brickbat_scenario::plan::{GivenBlock, GivenMessage, GivenResult};

/// The version of the format. Other versions are rejected.
const VERSION: u32 = 1;

/// The error for a store that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokenStore(String);

impl fmt::Display for BrokenStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the stored thread cannot be read: {}", self.0)
    }
}

impl std::error::Error for BrokenStore {}

#[derive(Serialize)]
struct StoreOut<'a> {
    version: u32,
    thread: &'a [Message],
    /// A process that loads the thread must know if it is too long.
    #[serde(skip_serializing_if = "is_small")]
    tokens: u64,
    /// The threads of the running sub-agents. They are separate from the thread, because no request of it
    /// ever contains them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sub_agents: Vec<SubThread>,
}

fn is_small(tokens: &u64) -> bool {
    *tokens < FULL
}

#[derive(Deserialize)]
struct StoreIn {
    version: u32,
    thread: Vec<Message>,
    #[serde(default)]
    tokens: u64,
    #[serde(default)]
    sub_agents: Vec<SubThread>,
}

impl Agent {
    /// The bytes that must be on disk now, so that a new agent can continue with this thread.
    ///
    /// They change only in [`Agent::step`]. A driver writes them after each step and *before* it carries out
    /// the step's outputs. So the store records everything that has happened outside.
    pub fn saved(&self) -> Vec<u8> {
        stored(&self.thread_now(), self.session.tokens, self.sub_threads())
    }

    /// The number of entries in the store now: the user's messages, the calls, and the results.
    pub fn n_entries(&self) -> usize {
        let entries = self.thread_now().into_iter().map(|message| match message {
            Message::User(_) => 1,
            Message::Assistant(blocks) => blocks.iter().filter_map(Block::call).count(),
            Message::Results(results) => results.len(),
        });
        entries.sum()
    }

    /// The bytes that must be on disk for an agent to find a given history there, in the form of this store.
    /// They never include instructions and failed replies, a compaction removes everything before it, and a
    /// text replaces each image.
    pub fn stored(given: &[GivenMessage]) -> Vec<u8> {
        let is_compaction = |message: &GivenMessage| matches!(message, GivenMessage::Compacted(_));
        let start = given.iter().rposition(is_compaction).unwrap_or(0);
        let thread: Vec<Message> = given[start..].iter().filter_map(given_message).collect();
        stored(&thread, 0, Vec::new())
    }

    /// The thread as it would be if the agent died now.
    pub(super) fn thread_now(&self) -> Vec<Message> {
        let mut thread = self.session.thread.clone();
        if let Some(turn) = &self.turn {
            self.decisions.save_running(&turn.step, turn.progress, &mut thread);
            thread.extend(turn.said.iter().map(|message| Message::User(message.text.clone())));
        }
        self.decisions.stores(&mut thread);
        thread
    }

    /// Gives this agent, which has no thread yet, a stored thread. Nothing from the dead process is in flight
    /// any more, so every call without a result gets one: its tool may have run.
    ///
    /// # Errors
    ///
    /// Fails if the bytes are not in the format of [`Agent::saved`].
    pub fn with_thread(mut self, saved: &[u8]) -> Result<Agent, BrokenStore> {
        self.load(saved)?;
        Ok(self)
    }

    /// Takes over the thread that another process has stored since. A process that shares its session reads
    /// the store before each turn; otherwise it would overwrite the other's messages.
    ///
    /// # Errors
    ///
    /// Fails if the bytes are not in the format of [`Agent::saved`].
    pub fn reload(&mut self, saved: &[u8]) -> Result<(), BrokenStore> {
        if self.decisions.rereads() { self.load(saved) } else { Ok(()) }
    }

    fn load(&mut self, saved: &[u8]) -> Result<(), BrokenStore> {
        let read: StoreIn = serde_json::from_slice(saved).map_err(|error| BrokenStore(error.to_string()))?;
        if read.version != VERSION {
            return Err(BrokenStore(format!(
                "it has version {}, and this is version {VERSION}",
                read.version
            )));
        }
        self.session.thread = self.decisions.rejoined(read.thread, &read.sub_agents);
        self.session.tokens = read.tokens;
        self.fit_stored_ids();
        self.fit_pictures();
        Ok(())
    }
}

/// The bytes for a thread.
fn stored(thread: &[Message], tokens: u64, sub_agents: Vec<SubThread>) -> Vec<u8> {
    serde_json::to_vec(&StoreOut { version: VERSION, thread, tokens, sub_agents })
        .expect("a thread is strings and flags, which JSON can say")
}

fn given_message(given: &GivenMessage) -> Option<Message> {
    match given {
        GivenMessage::User(text) => Some(Message::User(text.clone())),
        GivenMessage::Picture(picture) => Some(Message::User(word_of(picture))),
        GivenMessage::Compacted(summary) => Some(compaction::summary(summary)),
        GivenMessage::Assistant(blocks) => Some(Message::Assistant(blocks.iter().map(given_block).collect())),
        GivenMessage::Results(results) => Some(Message::Results(results.iter().map(given_result).collect())),
        GivenMessage::System(_) | GivenMessage::Failed(_) => None,
    }
}

fn given_block(given: &GivenBlock) -> Block {
    match given {
        GivenBlock::Thinking { text, signature } => {
            Block::Thought(Thought { text: text.clone(), signature: signature.clone() })
        }
        GivenBlock::Text(text) => Block::Text(text.clone()),
        GivenBlock::Call { id, tool, args, raw } => {
            let args = raw.clone().unwrap_or_else(|| args.to_string());
            Block::Call(Call::new(id.clone(), tool.clone(), args))
        }
    }
}

fn given_result(given: &GivenResult) -> CallResult {
    let GivenResult { id, text, is_error, picture, orphan_of: _ } = given;
    CallResult { call_id: id.clone(), text: text.clone(), is_error: *is_error, picture: picture.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::Delivery;
    use crate::agent::thread::unanswered;
    use brickbat_rules::dialect::Dialect;

    fn resume(saved: &[u8]) -> Result<Agent, BrokenStore> {
        Agent::reference(Dialect::OpenaiChat, Delivery::Streamed, &[]).with_thread(saved)
    }

    fn call(id: &str) -> Block {
        let (tool, args) = ("lookup".to_owned(), "{}".to_owned());
        Block::Call(Call::new(id, tool, args))
    }

    fn result(id: &str) -> CallResult {
        CallResult::text(id.to_owned(), "found".to_owned(), false)
    }

    fn thread(messages: &[Message]) -> Vec<u8> {
        serde_json::to_vec(&StoreOut {
            version: VERSION,
            thread: messages,
            tokens: 0,
            sub_agents: Vec::new(),
        })
        .unwrap()
    }

    #[test]
    fn a_thread_is_loaded_as_it_was_saved() {
        let whole = [
            Message::User("hello".to_owned()),
            Message::Assistant(vec![Block::Text("hm".to_owned()), call("a")]),
            Message::Results(vec![result("a")]),
        ];
        let agent = resume(&thread(&whole)).unwrap();
        assert_eq!(agent.session.thread, whole);
        assert_eq!(agent.saved(), thread(&whole));
    }

    #[test]
    fn calls_without_a_result_are_answered_in_order() {
        let broken = [
            Message::Assistant(vec![call("a"), call("b")]),
            Message::Results(vec![result("b")]),
            Message::User("and now?".to_owned()),
            Message::Assistant(vec![call("c")]),
        ];
        let agent = resume(&thread(&broken)).unwrap();
        assert!(unanswered(&agent.session.thread).is_empty());
        let Message::Results(results) = &agent.session.thread[1] else {
            panic!("{:?}", agent.session.thread)
        };
        assert_eq!(results.iter().map(|result| result.call_id.as_str()).collect::<Vec<_>>(), ["a", "b"]);
        assert!(results[0].is_error && results[0].text.contains("Interrupted"));
        assert!(matches!(agent.session.thread.last(), Some(Message::Results(_))));
    }

    #[test]
    fn a_broken_store_is_an_error() {
        for bytes in [&b""[..], b"null", b"{\"version\":1}", b"{\"version\":1,\"thread\":[{\"user\":"] {
            assert!(resume(bytes).is_err(), "{}", String::from_utf8_lossy(bytes));
        }
        let error = resume(br#"{"version":2,"thread":[]}"#).unwrap_err();
        assert!(error.to_string().contains("version 2"), "{error}");
    }
}
