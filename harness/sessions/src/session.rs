//! The stored state of one conversation.

use std::collections::BTreeSet;

use brickbat_rules::Dialect;
use brickbat_rules::histories;

use crate::{Foreign, Place, Product};

/// One stored conversation, as returned by the reader of its store.
#[derive(Debug, Clone, PartialEq)]
pub struct Session {
    /// The product that wrote the store.
    pub product: Product,
    /// The fork of the product that wrote the store, if the store or its path shows one.
    pub fork: Option<&'static str>,
    /// The newest product version recorded in the store.
    pub version: Option<String>,
    /// The form of the store, such as `JSONL` or `SQLite rows`.
    pub generation: &'static str,
    /// The id of the session in its store.
    pub id: Option<String>,
    /// The dialect that the product uses with the session's provider, if the store shows it.
    pub dialect: Option<Dialect>,
    /// The name of the profile of the session's provider, if the store names a provider that has one.
    pub profile: Option<&'static str>,
    /// The model of the last reply.
    pub model: Option<String>,
    /// The messages of the active branch that follow the last compaction, in the order in which they are
    /// sent.
    pub messages: Vec<Message>,
    /// Messages that are never sent: rewound turns, other forks, sub-agents. The repair looks for real
    /// results here.
    pub off_branch: Vec<Message>,
    /// A description of how the active branch was chosen.
    pub branch: &'static str,
    /// The number of lines or rows that were read.
    pub n_records: usize,
    /// The number of compactions on the active branch.
    pub n_compactions: usize,
    /// The number of places where the conversation has more than one continuation.
    pub n_forks: usize,
    /// Faults in the store and the branch: unreadable parts and cuts.
    pub troubles: Vec<Trouble>,
    /// Unknown kinds of records, which were skipped. Each kind is listed once.
    pub unknown: Vec<String>,
    /// The fields of a list of messages that were not understood, for a list that nothing identifies.
    pub foreign: Foreign,
    /// True if the file begins in the middle of a session.
    pub is_excerpt: bool,
    /// The place where the branch is cut off from earlier messages.
    pub cut: Option<Cut>,
    /// The stored request body, for products that store the request itself.
    pub body: Option<Vec<u8>>,
    /// The provider's refusal of the last request, if the store has one and no reply follows it.
    pub refused: Option<RecordedRefusal>,
}

/// A refusal of the provider that a product has stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedRefusal {
    /// The error as it is stored. It may have content of the session.
    pub words: String,
    /// The place of the record.
    pub place: Place,
}

/// A message of a session.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// The role of the sender.
    pub role: histories::Role,
    /// The content, in order.
    pub blocks: Vec<Block>,
    /// Its id in the store.
    pub id: Option<String>,
    /// Its place, or the place of its first line or row.
    pub place: Place,
    /// How the message ended.
    pub ending: Ending,
}

/// A block in a message, with its place. Places are unique within a session, except that a call and its
/// result may share one if a single object in the store contains both.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    /// The place of the block in the store.
    pub place: Place,
    /// The content of the block.
    pub content: histories::Block,
    /// The product's own name for the state of a call, such as `input-available` or `running`. It is
    /// `DECLINED` if the user declined the call.
    pub state: Option<String>,
}

/// The state of a call that the user declined, regardless of the product's name for it.
pub(crate) const DECLINED: &str = "declined";

/// The state of a call that waits for the user's approval. No product runs a call before it is approved.
pub(crate) const ASKED: &str = "approval-requested";

/// How a reply ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Ending {
    /// The reply is complete, or the store does not record its ending.
    #[default]
    Whole,
    /// The reply failed.
    Failed,
    /// The user stopped the reply.
    Aborted,
}

/// A fault in the store or the branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// The place of the fault.
    pub place: Place,
    /// A description without any content of the session, such as `4096 NUL bytes`.
    pub words: String,
    /// The loss if the repair removes the faulty part. `None` if it cannot be removed.
    pub loses: Option<Lost>,
}

/// The loss if a repair removes a faulty part of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lost {
    /// The part has no data, such as NUL bytes, or its data is kept in another form.
    Nothing,
    /// A request for approval beside an outcome, which no longer decides anything.
    Approval,
    /// One half of a surrogate pair.
    HalfCharacter,
    /// A number or a flag of the product's own. The repair writes another one.
    Bookkeeping,
    /// The named data, as far as it is in the part.
    Data(&'static str),
}

/// A cut in a branch: a line names a predecessor that is not in the file. The product sends only the messages
/// after the cut, so the model has forgotten the rest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cut {
    /// The line at which the branch now begins.
    pub place: Place,
    /// The line that should precede it, if the file proves which one.
    pub parent: Option<Place>,
}

/// The messages that a product sends in its next request, as far as the store determines them.
#[derive(Debug, Clone, PartialEq)]
pub struct Sent {
    /// The messages. A block that was not stored gets the place of the block for which it was made.
    pub messages: Vec<Message>,
    /// The changes that the product makes when sending, each with its count; for example
    /// `fills calls without a result`.
    pub mended: Vec<(&'static str, usize)>,
    /// The error and its place, if the product gives up before it sends anything.
    pub gives_up: Option<(String, Place)>,
}

impl Sent {
    /// The messages exactly as they are stored.
    pub fn as_stored(session: &Session) -> Sent {
        Sent { messages: session.messages.clone(), mended: Vec::new(), gives_up: None }
    }
}

impl Session {
    /// Creates a session without messages.
    pub(crate) fn new(product: Product, generation: &'static str, branch: &'static str) -> Session {
        Session {
            product,
            fork: None,
            version: None,
            generation,
            id: None,
            dialect: None,
            profile: None,
            model: None,
            messages: Vec::new(),
            off_branch: Vec::new(),
            branch,
            n_records: 0,
            n_compactions: 0,
            n_forks: 0,
            troubles: Vec::new(),
            unknown: Vec::new(),
            foreign: Foreign::default(),
            is_excerpt: false,
            cut: None,
            body: None,
            refused: None,
        }
    }

    /// The name of the product, or of its fork with the format that it uses.
    pub fn writer(&self) -> String {
        self.fork.map_or_else(
            || self.product.to_string(),
            |fork| format!("{fork} (in the format of {})", self.product),
        )
    }

    /// Returns whether the conversation ends in calls without results, which the product may still be
    /// running.
    pub fn has_open_tail(&self) -> bool {
        !self.open_calls().is_empty()
    }

    /// The places of the calls at the end without a result.
    pub fn open_calls(&self) -> Vec<&Place> {
        let last = self.messages.iter().rposition(|message| message.role == histories::Role::Assistant);
        let Some(last) = last else { return Vec::new() };
        let after = &self.messages[last + 1..];
        if after.iter().any(|message| message.role != histories::Role::Tool) {
            return Vec::new();
        }
        // The last message is included, because some products keep a call and its result in one message.
        let results = self.messages[last..].iter().flat_map(Message::results);
        let answered: BTreeSet<&str> = results.map(|result| result.call.as_str()).collect();
        let is_open = |block: &&Block| match &block.content {
            histories::Block::Call(call) => !answered.contains(call.id.as_str()),
            _ => false,
        };
        self.messages[last].blocks.iter().filter(is_open).map(|block| &block.place).collect()
    }

    /// The number of replies with at least two calls. Some stores keep each call in a reply as a separate
    /// message.
    pub fn n_batches(&self) -> usize {
        let (mut n_batches, mut n_calls) = (0, 0);
        for message in &self.messages {
            let is_reply = message.role == histories::Role::Assistant;
            if is_reply {
                let n_before = n_calls;
                n_calls += message.calls().count();
                n_batches += usize::from(n_before < 2 && n_calls >= 2);
            }
            // The message after a result is a new reply.
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
