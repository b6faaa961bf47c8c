//! LangChain: the messages that `messages_to_dict` returns, and the constructors that `dumps` and `JSON.stringify` write.
//!
//! A message is `{type, data}`, with the fields of its class in `data`, or `{lc, type: "constructor", id, kwargs}`. n8n
//! shows its memory as constructors in `chatHistory` (<https://github.com/n8n-io/n8n/issues/20335>). Source: `message_to_dict` in
//! `langchain_core/messages/base.py` and `langchain_core/messages/ai.py` of
//! <https://github.com/langchain-ai/langchain>, run as langchain-core 1.x.

use brickbat_rules::histories::{Call, Role};
use brickbat_rules::json::{Document, Json};
use serde_json::{Value, json};

use super::assembled::{Assembled, Assembly};
use super::read::listed;
use super::{BASE, CallAt, Form, Framing, Mark, Piece, ResultAt, Saying, Shape, Speaker};
use crate::stores::Look;
use crate::{Files, FormError, Place, Product, Trouble};

pub(crate) const FORM: Form = Form {
    product: Product::Langchain,
    generation: "JSON list",
    file: Framing::List(&["", "/messages"]),
    other: Some(Assembly { owns, assemble }),
    marks: &[
        Mark::EveryIs("/type", &["human", "ai", "system", "tool", "AIMessageChunk", "function", "chat"]),
        Mark::Every(&["/data/content"]),
    ],
    shape: Shape::Speakers(&[Speaker {
        at: "",
        role: Saying::Named(
            "/type",
            &[
                ("human", Role::User),
                ("ai", Role::Assistant),
                ("AIMessageChunk", Role::Assistant),
                ("system", Role::System),
                ("tool", Role::Tool),
            ],
        ),
        pieces: &[
            Piece::Result(ResultAt {
                call: "/data/tool_call_id",
                name: "/data/name",
                output: "/data/content",
                failed: Some(("/data/status", "error")),
            }),
            Piece::Parts("/data/content", "/type", PARTS),
            Piece::Calls("/data/tool_calls", CallAt { id: "/id", name: "/name", arguments: "/args" }),
        ],
    }]),
    model: &["/data/response_metadata/model_name"],
    answer: Some(answer),
    finish: Some(crate::names::note_provider_of_model),
    ..BASE
};

/// The parts of a content list. Calls in it are repeated in `tool_calls`.
const PARTS: &[(&str, Piece)] = &[
    ("text", Piece::Text("/text")),
    ("thinking", Piece::Thinking("/thinking", "/signature")),
    ("image", Piece::Image("/source/data", "/source/media_type")),
    ("tool_use", Piece::Text("/none")),
];

fn answer(call: &Call, words: &str) -> Value {
    json!({
        "type": "tool",
        "data": {
            "content": words, "additional_kwargs": {}, "response_metadata": {}, "type": "tool",
            "name": call.name, "id": null, "tool_call_id": call.id, "artifact": null, "status": "error",
        },
    })
}

/// The classes of messages, with the types that `messages_to_dict` gives them.
const CLASSES: &[(&str, &str)] = &[
    ("HumanMessage", "human"),
    ("HumanMessageChunk", "human"),
    ("AIMessage", "ai"),
    ("AIMessageChunk", "AIMessageChunk"),
    ("SystemMessage", "system"),
    ("ToolMessage", "tool"),
];

/// The fields with a list of constructors.
const LISTS: [&str; 3] = ["", "/chatHistory", "/messages"];

/// The lists of constructors in a file, with their pointers: of the file itself, and of the items or fields in it.
fn histories<'t, 'a>(root: Json<'t, 'a>) -> Vec<(String, Json<'t, 'a>)> {
    let within =
        |(at, value): (String, Json<'t, 'a>)| LISTS.map(|list| (format!("{at}{list}"), value.pointer(list)));
    let all = std::iter::once((String::new(), root)).chain(listed(root, "")).flat_map(within);
    let is_history = |list: Json<'_, '_>| {
        list.is_array() && list.items().next().is_some() && list.items().all(|item| type_of(item).is_some())
    };
    all.filter(|(_, list)| is_history(*list)).collect()
}

/// The type of a message that is written as a constructor.
fn type_of(item: Json<'_, '_>) -> Option<&'static str> {
    let class = item.field("id").items().last()?;
    let is_constructor = item.field("type").is("constructor") && item.field("kwargs").is_object();
    CLASSES.iter().find(|(name, _)| is_constructor && class.is(name)).map(|(_, kind)| *kind)
}

fn owns(look: &Look<'_>) -> bool {
    #[cfg(feature = "sqlite")]
    if (super::langchain_rows::STORE.owns)(look) {
        return true;
    }
    look.is_whole(|root| !histories(root).is_empty())
}

fn assemble(files: &Files) -> Result<Vec<Assembled>, FormError> {
    #[cfg(feature = "sqlite")]
    if crate::sqlite::is_database(files.main()) {
        return (super::langchain_rows::STORE.assemble)(files);
    }
    let document = Document::parse(files.main()).map_err(|_| FormError::Shape("no JSON"))?;
    let session = |(pointer, list): (String, Json<'_, '_>)| {
        let mut session = Assembled { generation: "constructors", ..Assembled::default() };
        for (at, item) in listed(list, &pointer) {
            let (span, fields) = (item.span(), item.field("kwargs"));
            let place = Place::in_file(span.start as u64..span.end as u64, at);
            if fields.get("content").is_none() {
                let words = "a message without `content`, on which LangChain fails: Cannot read properties of undefined";
                session.troubles.push(Trouble { place: place.clone(), words: words.to_owned(), loses: None });
            }
            let kind = type_of(item).unwrap_or_default();
            session.records.push((place, format!("{{\"type\":\"{kind}\",\"data\":{}}}", fields.raw())));
        }
        session
    };
    Ok(histories(document.root()).into_iter().map(session).collect())
}
