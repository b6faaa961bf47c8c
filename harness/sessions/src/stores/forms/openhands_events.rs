//! The folder of a conversation of OpenHands since version 1: `base_state.json`, and an event in each file of `events`.
//!
//! The actions of one reply have one `llm_response_id`, and are sent as one message (`LLMConvertibleEvent.events_to_messages`
//! in `openhands/sdk/event/base.py`). Events that a condensation names are not sent. Source:
//! `openhands-sdk/openhands/sdk/event` and `conversation/persistence_const.py` of
//! <https://github.com/OpenHands/software-agent-sdk>.

use std::collections::BTreeSet;

use brickbat_rules::Dialect;
use brickbat_rules::histories::Role;
use brickbat_rules::json::{Document, Json};

use super::assembled::{Assembled, Assembly};
use super::{CallAt, Piece, ResultAt, Saying, Speaker};
use crate::stores::Look;
use crate::{Files, FormError, Place, Session};

pub(super) const FOLDER: Assembly = Assembly { owns: is_conversation, assemble };

/// The value of [`Session::generation`] for a folder.
const FILES: &str = "a file for each event";

/// The beginning of the path of an event.
const EVENT: &str = "events/event-";

/// The speakers of events since version 1.
pub(super) const SPEAKERS: [Speaker; 5] = [
    Speaker {
        at: "/llm_message",
        role: Saying::Named("/role", &[("user", Role::User), ("assistant", Role::Assistant)]),
        pieces: &[Piece::Text("/content")],
    },
    Speaker {
        at: "",
        role: Saying::When("/kind", "ActionEvent", "/tool_call", Role::Assistant),
        pieces: &[
            Piece::Text("/thought"),
            Piece::Call(CallAt {
                id: "/tool_call/id",
                name: "/tool_call/name",
                arguments: "/tool_call/arguments",
            }),
        ],
    },
    result("ObservationEvent", "/observation/content"),
    result("AgentErrorEvent", "/error"),
    result("UserRejectObservation", "/rejection_reason"),
];

const fn result(kind: &'static str, output: &'static str) -> Speaker {
    let pieces: &[Piece] = match output.len() {
        6 => &[Piece::Result(ResultAt {
            call: "/tool_call_id",
            name: "/tool_name",
            output: "/error",
            failed: None,
        })],
        17 => &[Piece::Result(ResultAt {
            call: "/tool_call_id",
            name: "/tool_name",
            output: "/rejection_reason",
            failed: None,
        })],
        _ => &[Piece::Result(ResultAt {
            call: "/tool_call_id",
            name: "/tool_name",
            output: "/observation/content",
            failed: Some(("/observation/is_error", "true")),
        })],
    };
    Speaker { at: "", role: Saying::When("/kind", kind, "/tool_call_id", Role::Tool), pieces }
}

fn is_conversation(look: &Look<'_>) -> bool {
    look.files.files.iter().any(|file| file.name.starts_with(EVENT))
        && look.is_object(|root| root.field("id").is_str() && root.field("agent").is_object())
}

fn assemble(files: &Files) -> Result<Vec<Assembled>, FormError> {
    let document = Document::parse(files.main()).map_err(|_| FormError::Shape("no JSON"))?;
    let text = |json: Json<'_, '_>| json.as_str().map(|text| text.into_owned());
    let model = text(document.root().pointer("/agent/llm/model"));
    let mut conversation = Assembled {
        id: text(document.root().field("id")),
        dialect: model.as_deref().map(dialect_of),
        generation: FILES,
        ..Assembled::default()
    };
    let mut all: Vec<(&str, usize)> =
        files.files.iter().enumerate().map(|(n, file)| (file.name.as_str(), n)).collect();
    all.retain(|(name, _)| name.starts_with(EVENT));
    all.sort_unstable();
    let mut forgotten: BTreeSet<String> = BTreeSet::new();
    let mut events = Vec::new();
    for (_, file) in all {
        let bytes = &files.files[file].bytes;
        let place = Place { file, ..Place::in_file(0..bytes.len() as u64, "") };
        let Ok(document) = Document::parse(bytes) else {
            conversation.lose(place, crate::json::trouble(bytes).to_string());
            continue;
        };
        let root = document.root();
        if root.field("kind").is("Condensation") {
            forgotten.extend(root.field("forgotten_event_ids").items().filter_map(text));
        }
        events.push((text(root.field("id")).unwrap_or_default(), place, root.raw().to_owned()));
    }
    for (id, place, record) in events {
        let list = if forgotten.contains(&id) { &mut conversation.before } else { &mut conversation.records };
        list.push((place, record));
    }
    Ok(vec![conversation])
}

/// The dialect of a model, as LiteLLM names it.
fn dialect_of(model: &str) -> Dialect {
    match model {
        _ if model.contains("claude") => Dialect::AnthropicMessages,
        _ if model.contains("gemini") => Dialect::Gemini,
        _ => Dialect::OpenaiChat,
    }
}

/// Joins the actions of one reply, which are next to each other.
pub(super) fn finish(session: &mut Session) {
    if session.generation != FILES {
        return;
    }
    let mut joined: Vec<crate::Message> = Vec::with_capacity(session.messages.len());
    for mut message in std::mem::take(&mut session.messages) {
        match joined.last_mut() {
            Some(last)
                if last.role == message.role && matches!(message.role, Role::Assistant | Role::Tool) =>
            {
                last.blocks.append(&mut message.blocks);
            }
            _ => joined.push(message),
        }
    }
    session.messages = joined;
}
