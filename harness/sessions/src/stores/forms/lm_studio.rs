//! LM Studio: `~/.lmstudio/conversations/<time>.conversation.json`.
//!
//! A message has versions, and one of them is selected. A reply has steps. The app checks the file when it opens it, and a
//! `tokensCount` that is null fails that check: the conversation cannot be opened any more. Source: the error and the path in
//! <https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/872>, and files that users have published.

use brickbat_rules::histories::Role;
use brickbat_rules::json::{Document, Json};
use serde_json::{Value, json};

use super::assembled::{Assembled, Assembly};
use super::read::listed;
use super::{BASE, Form, Piece, Saying, Shape, Speaker};
use crate::stores::Look;
use crate::{Files, FormError, Place, Product, Trouble};

pub(crate) const FORM: Form = Form {
    product: Product::LmStudio,
    generation: "JSON file",
    other: Some(Assembly { owns: is_conversation, assemble }),
    shape: Shape::Speakers(&[Speaker {
        at: "",
        role: Saying::Named(
            "/role",
            &[("system", Role::System), ("user", Role::User), ("assistant", Role::Assistant)],
        ),
        pieces: &[Piece::Parts(
            "/content",
            "/type",
            &[("text", Piece::Text("/text")), ("file", Piece::Skip)],
        )],
    }]),
    model: &["/lastUsedModel/identifier"],
    ..BASE
};

/// The words of a trouble for which the app does not open the conversation.
pub(super) const NO_COUNT: &str = "`tokensCount` is null, and LM Studio does not open the conversation (ZodError: expected number, \
    received null); a number such as 0 opens it again";

fn is_conversation(look: &Look<'_>) -> bool {
    look.is_object(|root| {
        let [messages, model, per_chat] = root.pick(["messages", "lastUsedModel", "perChatPredictionConfig"]);
        let is_own = model.is_some() || per_chat.is_some();
        let has_versions = |message: Json<'_, '_>| {
            message.field("versions").is_array() && message.get("currentlySelected").is_some()
        };
        let mut messages = messages.into_iter().flat_map(Json::items).peekable();
        is_own && messages.peek().is_some() && messages.all(has_versions)
    })
}

fn assemble(files: &Files) -> Result<Vec<Assembled>, FormError> {
    let document = Document::parse(files.main()).map_err(|_| FormError::Shape("no JSON"))?;
    let root = document.root();
    let model = root.field("lastUsedModel").to_value();
    let mut session = Assembled {
        own: Some(json!({ "lastUsedModel": model }).to_string()),
        generation: FORM.generation,
        ..Assembled::default()
    };
    for (at, message) in listed(root.field("messages"), "/messages") {
        let selected = message.field("currentlySelected").as_u64().unwrap_or_default();
        for (n, version) in
            listed(message.field("versions"), &format!("{at}/versions")).into_iter().enumerate()
        {
            let (pointer, version) = version;
            let span = version.span();
            let place = Place::in_file(span.start as u64..span.end as u64, pointer.clone());
            let mut content: Vec<Value> = version.field("content").items().map(Json::to_value).collect();
            for (at, step) in listed(version.field("steps"), &format!("{pointer}/steps")) {
                for (at, part) in listed(step.field("content"), &format!("{at}/content")) {
                    content.push(part.to_value());
                    if part.get("tokensCount").is_some_and(Json::is_null) {
                        let place = Place { pointer: at, ..place.clone() };
                        session.troubles.push(Trouble { place, words: NO_COUNT.to_owned(), loses: None });
                    }
                }
            }
            if n as u64 == selected {
                let record = json!({ "role": version.field("role").to_value(), "content": content });
                session.records.push((place, record.to_string()));
            }
        }
    }
    Ok(vec![session])
}
