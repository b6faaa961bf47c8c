//! opencode, and Kilo's command line, which uses the same tables.
//!
//! A message is a row (or a file), and its parts are separate rows or files. A call and its result are one
//! part with a state, so a result without a call cannot be stored. Sessions break because of step boundaries,
//! thinking and open states.
//!
//! These forms are read: a file for each message and part (before 1.2), SQLite rows (since 1.2), the same
//! rows as JSON, `opencode export`, and the rows of `session_message`, which are the conversation if there is
//! a `session_v2`. Parts that a provider ran itself are skipped, because the stored form differs from the
//! original one.

mod blocks;
mod branch;
mod edits;
mod events;
mod forms;
mod raw;
mod send;
#[cfg(test)]
mod tests;

use super::{Edit, Look, ReadError, Store, WriteError};
use crate::{Files, FormError, Product, Sent, Session};

pub(crate) struct Opencode;

impl Store for Opencode {
    fn owns(&self, look: &Look<'_>) -> bool {
        forms::form_of(look).is_some()
    }

    fn read(&self, files: &Files) -> Result<Vec<Session>, ReadError> {
        let form = forms::form_of(&Look::of(files)).ok_or(ReadError::Unknown)?;
        let unreadable = |error: FormError| error.of(Product::Opencode);
        let (raws, of_events) = forms::read(form, files).map_err(unreadable)?;
        let mut sessions = branch::sessions(form, raws);
        sessions.extend(events::sessions(of_events).map_err(unreadable)?);
        Ok(sessions)
    }

    fn send(&self, session: &Session) -> Sent {
        send::send(session)
    }

    fn fills_open_tail(&self, session: &Session) -> Option<&'static str> {
        if session.generation == events::GENERATION {
            return None;
        }
        Some(match send::fills_open_calls(session) {
            true => "fills it with “[Tool execution was interrupted]”",
            false => "leaves it out",
        })
    }

    fn write(&self, files: &Files, session: &Session, edits: &[Edit]) -> Result<Files, WriteError> {
        edits::write(files, session, edits)
    }
}
