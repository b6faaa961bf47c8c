//! AgentScope, and QwenPaw and CoPaw, which are built on it: the state of an agent as JSON.
//!
//! Version 1 keeps `[message, marks]` pairs, or messages, in `memory.content` of an agent; the name of the agent is a field
//! of the file. Version 2 keeps messages in `context`. Source: `JSONSession` in `session/_json_session.py`,
//! `memory/_working_memory/_in_memory_memory.py` and `message/_message_block.py` of agentscope 1.0.21, and
//! `state/_state.py` and `message/_block.py` of agentscope 2.0.11 (<https://github.com/agentscope-ai/agentscope>);
//! the null ids of calls are from <https://github.com/agentscope-ai/QwenPaw/issues/4185>.

use brickbat_rules::histories::Role;
use brickbat_rules::json::{Document, Json};

use super::assembled::{Assembled, Assembly};
use super::read::listed;
use super::{BASE, CallAt, Form, Piece, ResultAt, Saying, Shape, Speaker};
use crate::stores::Look;
use crate::{Files, FormError, Place, Product};

pub(crate) const FORM: Form = Form {
    product: Product::Agentscope,
    generation: "agent state",
    other: Some(Assembly { owns: is_state, assemble }),
    shape: Shape::Speakers(&[Speaker {
        at: "",
        role: Saying::Named(
            "/role",
            &[("system", Role::System), ("user", Role::User), ("assistant", Role::Assistant)],
        ),
        pieces: &[Piece::Parts("/content", "/type", PARTS)],
    }]),
    ..BASE
};

const PARTS: &[(&str, Piece)] = &[
    ("text", Piece::Text("/text")),
    ("thinking", Piece::Thinking("/thinking", "/signature")),
    ("hint", Piece::Skip),
    ("image", Piece::Image("/source/data", "/source/media_type")),
    ("data", Piece::Image("/source/data", "/source/media_type")),
    ("audio", Piece::Skip),
    ("video", Piece::Skip),
    ("tool_use", Piece::Call(CALL)),
    ("tool_call", Piece::Call(CALL)),
    ("tool_result", Piece::Result(ResultAt { call: "/id", name: "/name", output: "/output", failed: None })),
];

const CALL: CallAt = CallAt { id: "/id", name: "/name", arguments: "/input" };

/// The lists of messages, from the state of an agent.
const LISTS: [&str; 2] = ["/memory/content", "/context"];

fn is_state(look: &Look<'_>) -> bool {
    look.is_whole(|root| !histories(root).is_empty())
}

/// The lists of messages in a file, each with its pointer: of the file itself, and of the agents in its fields.
fn histories<'t, 'a>(root: Json<'t, 'a>) -> Vec<(String, Json<'t, 'a>)> {
    let agents = if root.is_object() { listed(root, "") } else { Vec::new() };
    let within =
        |(at, state): (String, Json<'t, 'a>)| LISTS.map(|list| (format!("{at}{list}"), state.pointer(list)));
    let all = std::iter::once((String::new(), root)).chain(agents).flat_map(within);
    all.filter(|(_, list)| list.is_array() && list.items().next().is_some() && list.items().all(is_message))
        .collect()
}

fn is_message(item: Json<'_, '_>) -> bool {
    let message = message_in(item);
    let has_texts = ["id", "name", "role"].iter().all(|name| message.field(name).is_str());
    has_texts && message.get("content").is_some() && message.get("metadata").is_some()
}

/// The message of an item, which may have marks beside it.
fn message_in<'t, 'a>(item: Json<'t, 'a>) -> Json<'t, 'a> {
    if item.is_array() { item.pointer("/0") } else { item }
}

fn assemble(files: &Files) -> Result<Vec<Assembled>, FormError> {
    let document = Document::parse(files.main()).map_err(|_| FormError::Shape("no JSON"))?;
    let session = |(pointer, list): (String, Json<'_, '_>)| {
        let records = listed(list, &pointer).into_iter().map(|(at, item)| {
            let (at, message) =
                if item.is_array() { (format!("{at}/0"), message_in(item)) } else { (at, item) };
            let span = message.span();
            (Place::in_file(span.start as u64..span.end as u64, at), message.raw().to_owned())
        });
        Assembled { generation: FORM.generation, records: records.collect(), ..Assembled::default() }
    };
    Ok(histories(document.root()).into_iter().map(session).collect())
}
