//! The stores of the products: which is which, how each is read, what is sent of it, and how an edit is written into it.
//!
//! Each product is a module with a [`Store`].

pub(crate) mod ag_ui_events;
pub(crate) mod ag_ui_messages;
mod ai_sdk;
pub(crate) mod ai_sdk_chunks;
pub(crate) mod ai_sdk_model;
pub(crate) mod ai_sdk_ui;
pub(crate) mod claude_code;
pub(crate) mod cline;
pub(crate) mod codex;
pub(crate) mod copilot_cli;
mod enveloped;
pub(crate) mod gemini_cli;
mod gemini_parts;
#[cfg(feature = "sqlite")]
pub(crate) mod goose;
mod json_changes;
mod json_text;
#[cfg(feature = "sqlite")]
pub(crate) mod langgraph;
mod list;
mod list_reader;
#[cfg(test)]
mod list_tests;
mod list_writer;
#[cfg(feature = "sqlite")]
pub(crate) mod openai_agents;
#[cfg(feature = "sqlite")]
pub(crate) mod opencode;
mod pairs;
pub(crate) mod pi;
pub(crate) mod pydantic_ai;
pub(crate) mod qwen_code;
mod records;
pub(crate) mod request;
#[cfg(feature = "sqlite")]
mod rows;
pub(crate) mod tanstack;
mod tinyagent;
mod tree;
pub(crate) mod tunacode;
pub(crate) mod twenty;

use brickbat_rules::{Dialect, histories};
use serde_json::Value;
use thiserror::Error;

use crate::halves::Halves;
use crate::strays::{self, Parted};
use crate::{Files, Place, Planned, Product, Sent, Session};

/// What is known of one product's store.
pub trait Store: Sync {
    /// The product.
    fn product(&self) -> Product;

    /// Whether these files are this product's. It must be certain: a file that two stores could have written is nobody's.
    fn recognises(&self, files: &Files) -> bool;

    /// The sessions in it; a file holds one, a database many.
    ///
    /// # Errors
    ///
    /// It is this product's, but of a version or form that is not known, or it cannot be read at all. What can be read in
    /// part is read, and what cannot is a [`Trouble`](crate::Trouble) of the session.
    fn read(&self, files: &Files) -> Result<Vec<Session>, ReadError>;

    /// What the product sends of the session when the user says something next: its send model.
    ///
    /// The last message is what is stored; the judge adds words of the user after it where the conversation would
    /// otherwise end with the model.
    fn send(&self, session: &Session) -> Sent;

    /// In words, what it does to a call at the very end that has no result: nothing if it sends it as it is.
    ///
    /// Such a session is no defect in a product that fills the call itself when it resumes.
    fn fills_open_tail(&self, session: &Session) -> Option<&'static str>;

    /// The files with these edits carried out. All other bytes stay as they are.
    ///
    /// # Errors
    ///
    /// The store has no form for an edit.
    fn write(&self, files: &Files, session: &Session, edits: &[Edit]) -> Result<Files, WriteError>;

    /// Whether a line of its files that holds more than one record is taken apart before it is read. A store that reads
    /// such lines in a way of its own says no.
    fn is_parted(&self) -> bool {
        true
    }

    /// What the product does with a session that was repaired so, which undoes the repair; nothing if the repair lasts.
    fn relapse(&self, _: &[Planned]) -> Option<&'static Relapse> {
        None
    }

    /// The files with the branch on the line that it is proven to follow, as [`Session::cut`] says.
    ///
    /// # Errors
    ///
    /// The lines of the store name no line before them, or nothing proves which it was.
    fn reattach(&self, _: &Files, session: &Session) -> Result<Files, WriteError> {
        let place = session.cut.as_ref().map(|cut| cut.place.to_string()).unwrap_or_default();
        let words = "nothing proves what came before it".to_owned();
        Err(WriteError { product: session.product, place, words })
    }
}

/// One edit of a session. Places are those of [`Session::messages`] and [`Session::off_branch`].
#[derive(Debug, Clone, PartialEq)]
pub enum Edit {
    /// A result that was recorded elsewhere is put where the provider wants it: directly after the message of its call.
    Move {
        /// The result, on the branch or off it.
        result: Place,
        /// The call that it answers.
        call: Place,
        /// The call's id.
        id: String,
    },
    /// A call without any recorded result gets one with the text [`NOT_RECORDED`](crate::NOT_RECORDED), as an error
    /// where the store can say so. A call that the store shows as declined, or as never approved, gets a result that
    /// says so.
    Synthesise {
        /// The call.
        call: Place,
        /// Its id.
        id: String,
    },
    /// A block is taken out: the second of two identical results, a result without a call, a text of white space.
    Drop {
        /// The block.
        block: Place,
    },
    /// A line or a stretch that cannot be read is taken out.
    Discard {
        /// Where; as the trouble says.
        place: Place,
    },
    /// Everything after this block's message is taken off the branch.
    Truncate {
        /// The last block that stays.
        last: Place,
    },
}

/// What a product does with a repaired session that undoes the repair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Relapse {
    /// How long the repair holds, and what undoes it: a sentence.
    pub words: &'static str,
    /// What to do about it: a sentence.
    pub way_out: &'static str,
    /// Where that is known from.
    pub source: &'static str,
}

/// Why a store could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ReadError {
    /// No known product wrote this.
    #[error("not the store of any known product")]
    Unknown,
    /// It is a product's, but of a form that is not known.
    #[error("{product}: {words}")]
    Form {
        /// The product.
        product: Product,
        /// What is not known, such as `schema 9 is newer than 8, the newest that is known`.
        words: String,
    },
}

/// Why an edit could not be written.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{product} at {place}: {words}")]
pub struct WriteError {
    /// The product.
    pub product: Product,
    /// Where the edit was to be.
    pub place: String,
    /// Why, such as `rows of a checkpoint cannot be rewritten`.
    pub words: String,
}

/// Every store that is known; the databases only with the feature `sqlite`.
///
/// A request body comes last: lists of messages of a known product are no requests.
const STORES: &[&dyn Store] = &[
    &claude_code::ClaudeCode,
    #[cfg(feature = "sqlite")]
    &opencode::Opencode,
    &codex::Codex,
    &gemini_cli::GeminiCli,
    &pi::Pi,
    &cline::Cline,
    &qwen_code::QwenCode,
    &copilot_cli::CopilotCli,
    &tunacode::Tunacode,
    &pydantic_ai::PydanticAi,
    #[cfg(feature = "sqlite")]
    &goose::Goose,
    #[cfg(feature = "sqlite")]
    &openai_agents::OpenaiAgents,
    #[cfg(feature = "sqlite")]
    &langgraph::Langgraph,
    &ai_sdk_ui::AiSdkUi,
    &ai_sdk_chunks::AiSdkChunks,
    &ai_sdk_model::AiSdkModel,
    &twenty::Twenty,
    &tanstack::Tanstack,
    &ag_ui_events::AgUiEvents,
    &ag_ui_messages::AgUiMessages,
    &request::Request,
];

/// The store of a product.
pub fn store_of(product: Product) -> Option<&'static dyn Store> {
    STORES.iter().copied().find(|store| store.product() == product)
}

/// The id of the session in whose file this one begins, if it is a fork that refers to one: a rollout of Codex.
pub fn parent_of(bytes: &[u8]) -> Option<String> {
    codex::parent_of(bytes)
}

/// The sessions in these files, by whichever product wrote them.
///
/// # Errors
///
/// No known product wrote them, or in a form that is not known.
pub fn read(files: &Files) -> Result<Vec<Session>, ReadError> {
    read_by(files, |whole| STORES.iter().copied().find(|store| store.recognises(whole)))
}

/// The sessions in these files, which are known to be this product's.
pub(crate) fn read_as(store: &'static dyn Store, files: &Files) -> Result<Vec<Session>, ReadError> {
    read_by(files, |_| Some(store))
}

fn read_by(
    files: &Files,
    store: impl FnOnce(&Files) -> Option<&'static dyn Store>,
) -> Result<Vec<Session>, ReadError> {
    let unmarked = strays::unmarked(files);
    let whole = unmarked.as_ref().unwrap_or(files);
    let halves = Halves::of(whole);
    let whole = halves.as_ref().map_or(whole, |halves| &halves.files);
    let store = store(whole).ok_or(ReadError::Unknown)?;
    #[cfg(feature = "sqlite")]
    if let Some(words) = crate::sqlite::refusal(whole) {
        return Err(ReadError::Form { product: store.product(), words });
    }
    let mut sessions = store.read(whole)?;
    if store.is_parted()
        && let Some(parted) = Parted::of(whole, &sessions)
    {
        sessions = store.read(&parted.files)?;
        parted.note(&mut sessions);
    }
    strays::note_mark(files, &mut sessions);
    if let Some(halves) = halves {
        halves.note(unmarked.as_ref().unwrap_or(files), &mut sessions);
    }
    Ok(sessions)
}

/// A request body, or a bare list of messages, of a dialect that is known.
///
/// # Errors
///
/// It is not JSON.
pub fn read_body(body: &[u8], dialect: Dialect) -> Result<Session, ReadError> {
    let Some(unmarked) = strays::unmarked(&Files::one("", body)) else {
        return request::session(body, dialect);
    };
    let mut session = request::session(unmarked.main(), dialect)?;
    strays::note_mark(&Files::one("", body), std::slice::from_mut(&mut session));
    Ok(session)
}

/// The messages of a body that is a value already: what is said, without its places.
pub fn messages_of(body: &Value, dialect: Dialect) -> Vec<histories::Message> {
    let plain = |message: crate::Message| histories::Message {
        role: message.role,
        blocks: message.blocks.into_iter().map(|block| block.content).collect(),
    };
    request::messages(body, dialect).into_iter().map(plain).collect()
}
