//! Converts between JSON pointers (RFC 6901) and positions.

use std::ops::Range;

use super::{Document, Json, JsonType};

/// Returns the range of the value at a pointer. `None` if the bytes are not JSON or there is no such
/// value.
pub fn locate(bytes: &[u8], pointer: &str) -> Option<Range<usize>> {
    let document = Document::parse(bytes).ok()?;
    resolve(document.root(), pointer).map(Json::span)
}

/// Returns the pointer to the innermost value around a position in the bytes. `None` if the bytes are not
/// JSON.
pub fn pointer_at(bytes: &[u8], at: usize) -> Option<String> {
    let document = Document::parse(bytes).ok()?;
    let (mut value, mut pointer) = (document.root(), String::new());
    loop {
        let is_around = |inner: Json| inner.span().contains(&at);
        let item = value.items().enumerate().find(|(_, item)| is_around(*item));
        let field = value.fields().find(|(_, field)| is_around(*field));
        let (step, inner) = match (item, field) {
            (Some((n, item)), _) => (n.to_string(), item),
            (None, Some((name, field))) => {
                let name = name.as_str().unwrap_or_default().replace('~', "~0").replace('/', "~1");
                (name, field)
            }
            (None, None) => return Some(pointer),
        };
        pointer.push('/');
        pointer.push_str(&step);
        value = inner;
    }
}

/// Returns the value at a pointer.
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
