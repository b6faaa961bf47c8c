//! Shared functions for reading JSON message lists.

use brickbat_rules::json::Json;

use crate::{Block, Ending, Message, Place, Product, Session};
use brickbat_rules::histories::{self, Role};

/// Maximum number of unknown kinds to keep per session. A report does not show more.
const MAX_UNKNOWN: usize = 32;

/// An empty session from a JSON list.
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

/// Notes an unknown kind once.
pub(crate) fn note(unknown: &mut Vec<String>, kind: String) {
    if unknown.len() < MAX_UNKNOWN && !unknown.contains(&kind) {
        unknown.push(kind);
    }
}

/// The place of a value in the first file.
pub(crate) fn place_of(value: Json<'_, '_>, pointer: String) -> Place {
    let span = value.span();
    Place::in_file(span.start as u64..span.end as u64, pointer)
}

/// A message with a normal ending, since the store does not record another.
pub(crate) fn message(role: Role, blocks: Vec<Block>, id: Option<&str>, place: &Place) -> Message {
    Message { role, blocks, id: id.map(str::to_owned), place: place.clone(), ending: Ending::Whole }
}

/// A block at a place.
pub(crate) fn block(place: &Place, content: histories::Block) -> Block {
    Block { place: place.clone(), content, state: None }
}

/// A role with a name that all of these stores share. Their other roles have different names.
pub(crate) fn role_of(name: &str) -> Option<Role> {
    Some(match name {
        "system" => Role::System,
        "user" => Role::User,
        "assistant" => Role::Assistant,
        _ => return None,
    })
}
