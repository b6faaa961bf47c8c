//! pydantic-ai: a JSON list of messages, as `ModelMessagesTypeAdapter` writes it.
//!
//! The library stores nothing itself; each application stores the list somewhere. The list does not name the
//! version that wrote it, but 2.x writes a state into each request (1.44.0 and 1.107.10 do not). 2.x also
//! fills calls without a result when it sends, and leaves out results without a call. The send model assumes
//! that the version that wrote the list continues it.

mod cleaned;
mod messages;
mod send;
#[cfg(test)]
mod tests;
mod write;

use brickbat_rules::json::Document;

use super::{Edit, Look, ReadError, Store, WriteError};
use crate::{Files, Product, Sent, Session};

pub(super) use messages::{History, dialect_of, history, is_history};
pub(super) use send::send;
pub(super) use write::write;

pub(crate) struct PydanticAi;

/// Notes on how the branch was chosen, and on what another version would do differently.
const BRANCH: &str = "the list in its order, as pydantic-ai 1.x sends it; 2.x fills calls without a result and drops \
     results without a call";

const BRANCH_OF_2: &str = "the list in its order, as pydantic-ai 2.x sends it";

/// The value of [`Session::generation`] for a list that 2.x wrote.
const OF_2: &str = "JSON list of 2.x";

impl Store for PydanticAi {
    fn owns(&self, look: &Look<'_>) -> bool {
        look.is_list(is_history)
    }

    fn read(&self, files: &Files) -> Result<Vec<Session>, ReadError> {
        let Ok(document) = Document::parse(files.main()) else { return Err(ReadError::Unknown) };
        let history = history(document.root(), "").map_err(|error| error.of(Product::PydanticAi))?;
        let generation = if history.is_of_2 { OF_2 } else { "JSON list" };
        Ok(vec![session(Product::PydanticAi, generation, history)])
    }

    fn send(&self, session: &Session) -> Sent {
        send(session)
    }

    /// Neither version fills the call. Both raise an error when the user sends the next message.
    fn fills_open_tail(&self, _: &Session) -> Option<&'static str> {
        None
    }

    fn write(&self, files: &Files, session: &Session, edits: &[Edit]) -> Result<Files, WriteError> {
        write(files, session, "", edits)
    }
}

/// The session with a history.
pub(super) fn session(product: Product, generation: &'static str, history: History) -> Session {
    Session {
        dialect: history.dialect,
        model: history.model,
        messages: history.messages,
        n_records: history.n_records,
        unknown: history.unknown.into_iter().collect(),
        ..Session::new(product, generation, if generation == OF_2 { BRANCH_OF_2 } else { BRANCH })
    }
}
