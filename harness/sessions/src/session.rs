//! A session: what a product has stored of one conversation.

use std::collections::BTreeSet;

use brickbat_rules::Dialect;
use brickbat_rules::histories;

use crate::{Place, Product};

/// One stored conversation, as its reader understood it.
#[derive(Debug, Clone, PartialEq)]
pub struct Session {
    /// Whose store it is.
    pub product: Product,
    /// The newest version of the product that is written in the store.
    pub version: Option<String>,
    /// The form of the store, such as `JSONL` or `SQLite rows`.
    pub generation: &'static str,
    /// The id of the session in its store.
    pub id: Option<String>,
    /// The dialect that the product speaks with the session's provider, if the store shows it.
    pub dialect: Option<Dialect>,
    /// The model of the last reply.
    pub model: Option<String>,
    /// The active branch, in the order in which it is sent, from what the last compaction left.
    pub messages: Vec<Message>,
    /// What is never sent: rewound turns, other forks, sub-agents. True results are looked for here.
    pub off_branch: Vec<Message>,
    /// How the active branch was chosen, in words.
    pub branch: &'static str,
    /// Lines or rows that were read.
    pub n_records: usize,
    /// Compactions on the active branch.
    pub n_compactions: usize,
    /// Places where the conversation has more than one continuation.
    pub n_forks: usize,
    /// What could not be read, or is cut: faults of the store and of the branch.
    pub troubles: Vec<Trouble>,
    /// Kinds of records that are not known, and were passed over; each once.
    pub unknown: Vec<String>,
    /// Whether the file begins in the middle of a session.
    pub is_excerpt: bool,
    /// Where the branch is cut off from what came before it.
    pub cut: Option<Cut>,
    /// The request body itself, where it is what was stored.
    pub body: Option<Vec<u8>>,
}

/// A message of a session.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Who says it.
    pub role: histories::Role,
    /// What is said.
    pub blocks: Vec<Block>,
    /// Its id in the store.
    pub id: Option<String>,
    /// Where it lies; its first line or row.
    pub place: Place,
    /// How it ended.
    pub ending: Ending,
}

/// A block of a message, and where it lies. No two blocks of a session have one place, but for a call and its result
/// where one object of the store holds both.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    /// Where it lies.
    pub place: Place,
    /// What it is.
    pub content: histories::Block,
    /// The product's own word for the state of a call, such as `input-available` or `running`; `DECLINED` where the
    /// user has declined the call.
    pub state: Option<String>,
}

/// The state of a call that the user declined, whatever the product's word for it is.
pub(crate) const DECLINED: &str = "declined";

/// The state of a call that waits for the user's approval. No product runs it before that.
pub(crate) const ASKED: &str = "approval-requested";

/// How a reply ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Ending {
    /// It is whole, or the store does not say.
    #[default]
    Whole,
    /// It failed.
    Failed,
    /// The user stopped it.
    Aborted,
}

/// A fault of the store or of the branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// Where.
    pub place: Place,
    /// What, without any content of the session, such as `4096 NUL bytes`.
    pub words: String,
    /// What is lost if the repair takes it out, or nothing if it cannot be taken out.
    pub loses: Option<&'static str>,
}

/// A branch that lost what came before it: a line hangs on one that is not in the file, so that the product sends what
/// follows alone, and the model has forgotten the rest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cut {
    /// The line with which the branch begins now.
    pub place: Place,
    /// The line that it has to hang on, if the file proves which.
    pub parent: Option<Place>,
}

/// What a product sends of a session in its next request, as far as it stands in the store.
#[derive(Debug, Clone, PartialEq)]
pub struct Sent {
    /// The messages. Blocks that were not stored have the place of what they were made for.
    pub messages: Vec<Message>,
    /// What the product changes at send, in words, each with how often; for example `fills calls without a result`.
    pub mended: Vec<(&'static str, usize)>,
    /// The product itself gives up before it sends anything: its error, and where.
    pub gives_up: Option<(String, Place)>,
}

impl Sent {
    /// The messages as they are stored.
    pub fn as_stored(session: &Session) -> Sent {
        Sent { messages: session.messages.clone(), mended: Vec::new(), gives_up: None }
    }
}

impl Session {
    /// Whether the conversation ends in calls that have no result yet: the product may still be running them.
    pub fn has_open_tail(&self) -> bool {
        let Some(last) = self.messages.iter().rposition(|message| message.role == histories::Role::Assistant)
        else {
            return false;
        };
        let after = &self.messages[last + 1..];
        if after.iter().any(|message| message.role != histories::Role::Tool) {
            return false;
        }
        // A product that keeps a call and its result in one message has the results there.
        let results = self.messages[last..].iter().flat_map(Message::results);
        let answered: BTreeSet<&str> = results.map(|result| result.call.as_str()).collect();
        self.messages[last].calls().any(|call| !answered.contains(call.id.as_str()))
    }

    /// How many replies have two calls or more. A store may keep each call of a reply as a message of its own.
    pub fn n_batches(&self) -> usize {
        let (mut n_batches, mut n_calls) = (0, 0);
        for message in &self.messages {
            let is_reply = message.role == histories::Role::Assistant;
            if is_reply {
                let n_before = n_calls;
                n_calls += message.calls().count();
                n_batches += usize::from(n_before < 2 && n_calls >= 2);
            }
            // What comes after results is another reply.
            if !is_reply || message.results().next().is_some() {
                n_calls = 0;
            }
        }
        n_batches
    }
}

impl Message {
    /// The calls of this message.
    pub fn calls(&self) -> impl Iterator<Item = &histories::Call> {
        self.blocks.iter().filter_map(|block| match &block.content {
            histories::Block::Call(call) => Some(call),
            _ => None,
        })
    }

    /// The results in this message.
    pub fn results(&self) -> impl Iterator<Item = &histories::CallResult> {
        self.blocks.iter().filter_map(|block| match &block.content {
            histories::Block::Result(result) => Some(result),
            _ => None,
        })
    }
}
