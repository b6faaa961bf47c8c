//! AG-UI: the events of a thread, as a JSON list.
//!
//! Messages are built from events as in the client (`defaultApplyEvents` of `@ag-ui/client` 1.0.0,
//! <https://github.com/ag-ui-protocol/ag-ui>). Before that, the client checks the order of the events
//! (`verifyEvents`), and gives up at the first one out of order. The place of a text is the event that begins
//! it, that of a call its `TOOL_CALL_START`, and that of a result its `TOOL_CALL_RESULT`. Messages of a
//! snapshot have their places in it.

mod fold;
mod verify;
mod write;

use brickbat_rules::json::{Document, Json};

use super::ag_ui_messages::send;
use super::json_text::whole;
use super::list_reader::session;
use super::{Edit, Look, ReadError, Store, WriteError};
use crate::{Files, Product, Sent, Session, Trouble};

pub(crate) struct AgUiEvents;

/// The prefix of a trouble that the client itself reports.
const REFUSED: &str = "verifyEvents: ";

impl Store for AgUiEvents {
    fn product(&self) -> Product {
        Product::AgUiEvents
    }

    fn owns(&self, look: &Look<'_>) -> bool {
        look.is_whole(is_list)
    }

    fn read(&self, files: &Files) -> Result<Vec<Session>, ReadError> {
        let whole = whole(files.main()).ok_or(ReadError::Unknown)?;
        let document = Document::parse(&whole.text).map_err(|_| ReadError::Unknown)?;
        let mut session = session(self.product(), "JSON list of events");
        session.branch = "the events in the order of the list, as the client applies them";
        session.n_records = document.root().len();
        session.troubles.extend(whole.trouble(files.main()));
        let folded = fold::fold(document.root()).map_err(|error| error.of(self.product()))?;
        session.id = folded.thread;
        session.unknown = folded.unknown;
        session.messages = folded.messages;
        if let Some((place, words)) = verify::refusal(document.root()) {
            session.troubles.push(Trouble { place, words: format!("{REFUSED}{words}"), loses: None });
        }
        Ok(vec![session])
    }

    fn send(&self, session: &Session) -> Sent {
        let mut sent = send(session);
        let refused = session.troubles.iter().find(|trouble| trouble.words.starts_with(REFUSED));
        sent.gives_up = refused.map(|trouble| (trouble.words.clone(), trouble.place.clone()));
        sent
    }

    fn fills_open_tail(&self, _: &Session) -> Option<&'static str> {
        None
    }

    fn write(&self, files: &Files, session: &Session, edits: &[Edit]) -> Result<Files, WriteError> {
        write::write(files, session, edits)
    }
}

/// Returns whether a value is a list of AG-UI events.
fn is_list(root: Json<'_, '_>) -> bool {
    let mut has_own = false;
    for event in root.items() {
        let Some(kind) = event.field("type").as_str() else { return false };
        if !kind.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_') {
            return false;
        }
        has_own |= match kind.as_ref() {
            "RUN_STARTED" => event.field("runId").is_str(),
            "MESSAGES_SNAPSHOT" => event.field("messages").is_array(),
            "TEXT_MESSAGE_START" => event.field("messageId").is_str(),
            "TOOL_CALL_START" => event.field("toolCallId").is_str(),
            _ => false,
        };
    }
    has_own
}

#[cfg(test)]
mod tests;
