//! Codex: rollouts, which are append-only JSONL files, plain or compressed with Zstandard.
//!
//! Source: `codex-rs/protocol/src/protocol.rs` and `codex-rs/rollout/src` of
//! <https://github.com/openai/codex>. The databases next to the rollouts (`state_5.sqlite`,
//! `thread_history_1.sqlite`) are projections and are not read.

mod items;
mod lineage;
mod read;
mod replay;
mod send;
#[cfg(test)]
mod tests;
pub(super) mod unpack;
mod write;

use super::{Edit, Look, ReadError, Store, WriteError};
use crate::{Files, FormError, Product, Sent, Session};

pub(crate) struct Codex;

/// The id of the parent thread, if these are the bytes of a fork that begins in its parent's rollout.
pub(crate) fn parent_of(bytes: &[u8]) -> Option<String> {
    let head = unpack::head(bytes)?;
    read::is_rollout(&head).then(|| lineage::parent_of(bytes)).flatten()
}

impl Store for Codex {
    fn owns(&self, look: &Look<'_>) -> bool {
        match unpack::is_packed(look.main()) {
            true => unpack::head(look.main()).is_some_and(|head| read::is_rollout(&head)),
            false => look.is_headed(read::is_record),
        }
    }

    fn read(&self, files: &Files) -> Result<Vec<Session>, ReadError> {
        let form = |error: FormError| error.of(Product::Codex);
        let lineage = lineage::of(files).map_err(form)?;
        read::session(lineage).map(|session| vec![session]).map_err(form)
    }

    fn send(&self, session: &Session) -> Sent {
        send::send(session)
    }

    fn keeps_offsets(&self, session: &Session) -> bool {
        session.generation.ends_with("paginated")
    }

    fn fills_open_tail(&self, session: &Session) -> Option<&'static str> {
        let words = "Codex answers it with the output `aborted` in each request, and does not store that";
        send::fills_tail(session).then_some(words)
    }

    fn write(&self, files: &Files, session: &Session, edits: &[Edit]) -> Result<Files, WriteError> {
        write::write(files, session, edits)
    }
}
