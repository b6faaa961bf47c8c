//! What the readers of JSON lists of messages share.

use brickbat_rules::json::Json;

use crate::{Block, Ending, Message, Place, Product, ReadError, Session};
use brickbat_rules::histories::{self, Role};

/// Kinds that are not known, of one session, that are kept; a report shows no more.
const MAX_UNKNOWN: usize = 32;

/// A session of a JSON list, without any message.
pub(crate) fn session(product: Product, generation: &'static str) -> Session {
    Session {
        product,
        version: None,
        generation,
        id: None,
        dialect: None,
        model: None,
        messages: Vec::new(),
        off_branch: Vec::new(),
        branch: "the messages in the order of the list",
        n_records: 0,
        n_compactions: 0,
        n_forks: 0,
        troubles: Vec::new(),
        unknown: Vec::new(),
        is_excerpt: false,
        cut: None,
        body: None,
    }
}

/// Notes a kind that is not known, once.
pub(crate) fn note(unknown: &mut Vec<String>, kind: String) {
    if unknown.len() < MAX_UNKNOWN && !unknown.contains(&kind) {
        unknown.push(kind);
    }
}

/// Where a value of the first file lies.
pub(crate) fn place_of(value: Json<'_, '_>, pointer: String) -> Place {
    let span = value.span();
    Place::in_file(span.start as u64..span.end as u64, pointer)
}

/// A message that ended as far as the store says.
pub(crate) fn message(role: Role, blocks: Vec<Block>, id: Option<&str>, place: &Place) -> Message {
    Message { role, blocks, id: id.map(str::to_owned), place: place.clone(), ending: Ending::Whole }
}

/// A block at a place.
pub(crate) fn block(place: &Place, content: histories::Block) -> Block {
    Block { place: place.clone(), content, state: None }
}

/// A role that all of these stores have; the others have names of their own.
pub(crate) fn role_of(name: &str) -> Option<Role> {
    Some(match name {
        "system" => Role::System,
        "user" => Role::User,
        "assistant" => Role::Assistant,
        _ => return None,
    })
}

/// The error for a form that is not known.
pub(crate) fn form(product: Product, words: String) -> ReadError {
    ReadError::Form { product, words }
}
