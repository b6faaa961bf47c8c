//! Jan: the messages of a thread, in `threads/<id>/messages.jsonl`.
//!
//! The metadata of a message names the one before it since Jan has branches. A reply without this name, beside messages
//! that have it, leaves the page of the thread empty (<https://github.com/janhq/jan/issues/8415>). Source:
//! `core/src/types/message/messageEntity.ts` of <https://github.com/janhq/jan>.

use brickbat_rules::Dialect;
use brickbat_rules::histories::Role;
use brickbat_rules::json::{Document, Json};

use super::assembled::{Assembled, Assembly};
use super::{BASE, Form, Framing, Mark, Piece, Saying, Shape, Speaker};
use crate::json::lines;
use crate::stores::{Look, records};
use crate::{Files, FormError, Place, Product, Trouble};

pub(crate) const FORM: Form = Form {
    product: Product::Jan,
    generation: "JSONL",
    file: Framing::Lines,
    other: Some(Assembly { owns: is_thread, assemble }),
    marks: &[
        Mark::EveryIs("/object", &["thread.message"]),
        Mark::Every(&["/thread_id", "/role", "/content"]),
    ],
    shape: Shape::Speakers(&[Speaker {
        at: "",
        role: Saying::Named(
            "/role",
            &[("system", Role::System), ("user", Role::User), ("assistant", Role::Assistant)],
        ),
        pieces: &[Piece::Parts(
            "/content",
            "/type",
            &[
                ("text", Piece::Text("/text")),
                ("reasoning", Piece::Skip),
                ("image_url", Piece::Skip),
                ("tool_call", Piece::Skip),
            ],
        )],
    }]),
    dialect: Some(Dialect::OpenaiChat),
    ..BASE
};

/// The description of a reply that names no message before it.
pub(super) const NO_PARENT: &str = "a reply without `metadata.parentId`, so the page of the thread stays empty; give it the id of the message \
     before it";

fn is_thread(look: &Look<'_>) -> bool {
    let is_message =
        |line: Json<'_, '_>| line.field("object").is("thread.message") && line.field("thread_id").is_str();
    look.is_headed(is_message)
}

fn assemble(files: &Files) -> Result<Vec<Assembled>, FormError> {
    let mut thread = Assembled { generation: FORM.generation, ..Assembled::default() };
    let (mut n_named, mut unnamed) = (0, Vec::new());
    for line in lines(files.main()) {
        let place = Place::in_line(line.n, line.span(), "");
        let Ok(document) = Document::parse(line.bytes) else {
            thread.troubles.push(records::trouble(&line));
            continue;
        };
        let root = document.root();
        thread.id = root.field("thread_id").as_str().map(|id| id.into_owned()).or(thread.id);
        let parent = root.pointer("/metadata/parentId");
        n_named += usize::from(parent.is_str());
        if parent.span().is_empty() && root.field("role").is("assistant") {
            unnamed.push(place.clone());
        }
        thread.records.push((place, root.raw().to_owned()));
    }
    let note = |place| Trouble { place, words: NO_PARENT.to_owned(), loses: None };
    thread.troubles.extend(unnamed.into_iter().filter(|_| n_named > 0).map(note));
    Ok(vec![thread])
}
