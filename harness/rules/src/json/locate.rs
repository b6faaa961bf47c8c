//! From JSON pointers (RFC 6901) to values.

use std::ops::Range;

use super::{Document, Json, JsonType};

/// Where the value of a pointer stands in the bytes. Nothing if the bytes are not JSON or the pointer leads nowhere.
pub fn locate(bytes: &[u8], pointer: &str) -> Option<Range<usize>> {
    let document = Document::parse(bytes).ok()?;
    resolve(document.root(), pointer).map(Json::span)
}

/// The value to which a pointer leads.
pub(super) fn resolve<'t, 'a>(root: Json<'t, 'a>, pointer: &str) -> Option<Json<'t, 'a>> {
    if pointer.is_empty() {
        return Some(root);
    }
    pointer.strip_prefix('/')?.split('/').try_fold(root, |value, step| {
        let step = step.replace("~1", "/").replace("~0", "~");
        match value.kind() {
            JsonType::Array => value.items().nth(step.parse().ok()?),
            _ => value.get(&step),
        }
    })
}
