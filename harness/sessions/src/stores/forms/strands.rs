//! Strands: the folder of a session, with a file for each message, and snapshots of an agent.
//!
//! `agents/agent_<id>/agent.json` is the agent, and `messages/message_<n>.json` next to it are its messages. On loading,
//! the SDK leaves out the messages that its conversation manager has removed, adds results for calls without one, and
//! drops results without a call. A snapshot is loaded as it is, and only calls at its end are answered. Source:
//! `strands/session/file_session_manager.py`, `repository_session_manager.py` and `snapshot_session_manager.py` of
//! version 1.62.0, and files that it wrote.

use brickbat_rules::Dialect;
use brickbat_rules::json::{Document, Json};

use super::assembled::{Assembled, Assembly};
use super::{BASE, Form, Framing, Mark, Sends, Shape};
use crate::stores::Look;
use crate::{Files, FormError, Place, Product};

pub(crate) const FORM: Form = Form {
    product: Product::Strands,
    generation: "snapshot",
    file: Framing::List(&["/data/messages"]),
    other: Some(Assembly { owns: is_agent, assemble }),
    marks: &[
        Mark::RootIs("/scope", &["agent"]),
        Mark::Root(&["/schema_version", "/data/conversation_manager_state"]),
        Mark::Every(&["/role", "/content"]),
    ],
    shape: Shape::Native("", Dialect::BedrockConverse),
    sends: Sends::In(FILES, &Sends::Restores("Tool was interrupted.")),
    ..BASE
};

/// The value of [`Session::generation`](crate::Session::generation) for a folder.
const FILES: &str = "a file for each message";

/// The end of the path of a message file, before its number.
const MESSAGE: &str = "messages/message_";

/// The number in the name of a message file.
fn number(name: &str) -> Option<u64> {
    name.rsplit_once(MESSAGE)?.1.strip_suffix(".json")?.parse().ok()
}

fn is_agent(look: &Look<'_>) -> bool {
    look.files.files.iter().any(|file| number(&file.name).is_some())
        && look.is_object(|root| {
            let [id, state] = root.pick(["agent_id", "conversation_manager_state"]);
            id.is_some_and(Json::is_str) && state.is_some()
        })
}

fn assemble(files: &Files) -> Result<Vec<Assembled>, FormError> {
    let document = Document::parse(files.main()).map_err(|_| FormError::Shape("no JSON"))?;
    let root = document.root();
    let removed =
        root.pointer("/conversation_manager_state/removed_message_count").raw().parse().unwrap_or(0);
    let mut agent = Assembled {
        id: root.field("agent_id").as_str().map(|id| id.into_owned()),
        generation: FILES,
        ..Assembled::default()
    };
    let mut all: Vec<(u64, usize)> =
        files.files.iter().enumerate().filter_map(|(n, file)| Some((number(&file.name)?, n))).collect();
    all.sort_unstable();
    for (_, file) in all {
        let bytes = &files.files[file].bytes;
        let place = |pointer: &str| Place { file, ..Place::in_file(0..bytes.len() as u64, pointer) };
        let Ok(document) = Document::parse(bytes) else {
            agent.lose(place(""), crate::json::trouble(bytes).to_string());
            continue;
        };
        // A message that a guardrail has redacted is replaced.
        let redacted = document.root().field("redact_message");
        let (at, message) = match redacted.is_object() {
            true => ("/redact_message", redacted),
            false => ("/message", document.root().field("message")),
        };
        match message.is_object() {
            true => agent.records.push((place(at), message.raw().to_owned())),
            false => agent.lose(place(""), "JSON of an unknown form".to_owned()),
        }
    }
    let sent = agent.records.split_off(agent.records.len().min(removed));
    agent.before = std::mem::replace(&mut agent.records, sent);
    Ok(vec![agent])
}
