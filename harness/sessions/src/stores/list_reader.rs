//! Shared functions for reading JSON message lists.

use brickbat_rules::json::{Document, Json};

use super::json_text::whole;
use crate::{Block, Ending, Files, FormError, Message, Place, Product, ReadError, Session};
use brickbat_rules::histories::{self, Role};

/// Maximum number of unknown kinds to keep per session. A report does not show more.
const MAX_UNKNOWN: usize = 32;

/// An empty session from a JSON list.
pub(crate) fn session(product: Product, generation: &'static str) -> Session {
    Session::new(product, generation, "the messages in the order of the list")
}

/// Reads the one session of a JSON list in the first file. `fill` adds the messages of the list to it.
///
/// # Errors
///
/// The file is not a JSON list, or `fill` describes an unknown form.
pub(crate) fn read_list(
    files: &Files,
    mut session: Session,
    fill: impl FnOnce(&mut Session, Json<'_, '_>) -> Result<(), FormError>,
) -> Result<Vec<Session>, ReadError> {
    let whole = whole(files.main()).ok_or(ReadError::Unknown)?;
    let document = Document::parse(&whole.text).map_err(|_| ReadError::Unknown)?;
    session.n_records = document.root().len();
    session.troubles.extend(whole.trouble(files.main()));
    fill(&mut session, document.root()).map_err(|error| error.of(session.product))?;
    Ok(vec![session])
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

/// Returns whether a value is a list of messages with a role and a list of parts, and at least one part belongs
/// only to one product. `is_own` returns true for such a part, false for a part that does not decide, and `None`
/// for a part that this product never writes.
pub(crate) fn has_own_parts(root: Json<'_, '_>, is_own: impl Fn(Json<'_, '_>) -> Option<bool>) -> bool {
    let mut has_own = false;
    for message in root.items() {
        let [role, parts] = message.pick(["role", "parts"]);
        let role = role.and_then(Json::as_str).is_some_and(|role| role_of(&role).is_some());
        let Some(parts) = parts.filter(|parts| role && parts.is_array()) else { return false };
        for part in parts.items() {
            match is_own(part) {
                None => return false,
                Some(is_own) => has_own |= is_own,
            }
        }
    }
    has_own
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
