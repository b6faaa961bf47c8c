//! The edits of images, documents and what belongs to them. Each returns `None` if it cannot be made without losing or
//! inventing something.

use brickbat_rules::media_type_of;
use serde_json::{Value, json};

use super::body::{Body, has};
use super::shapes::shape_of;

/// The kinds of parts that only a user's message has. `document` and others are fields in some dialects.
const MEDIA: [&str; 7] =
    ["image_url", "input_image", "image", "document", "input_audio", "input_file", "file"];

/// Moves the images and documents of a message into one of the user, behind it and the results after it.
pub(super) fn to_user(body: &mut Body) -> Option<()> {
    let (dialect, index) = (body.dialect, body.index()?);
    let list = body.list()?;
    let message = list.get_mut(index)?;
    if message.get("role").and_then(Value::as_str) == Some("user") {
        return None;
    }
    let parts = message.get_mut("content")?.as_array_mut()?;
    let is_media = |part: &Value| {
        let kind = part.get("type").and_then(Value::as_str);
        MEDIA.iter().any(|name| kind.map_or_else(|| part.get(*name).is_some(), |kind| kind == *name))
    };
    let (moved, mut kept): (Vec<Value>, Vec<Value>) = std::mem::take(parts).into_iter().partition(is_media);
    if kept.is_empty() {
        kept.push((shape_of(dialect).text)("See the next message.", false));
    }
    *parts = kept;
    if moved.is_empty() {
        return None;
    }
    let is_result = |message: &Value| message.get("role").and_then(Value::as_str) == Some("tool");
    let n_results = list[index + 1..].iter().take_while(|message| is_result(message)).count();
    list.insert(index + 1 + n_results, json!({ "role": "user", "content": moved }));
    Some(())
}

/// Gives an image the media type of its data.
pub(super) fn own_type(body: &mut Body) -> Option<()> {
    let source = body.around(has(&["media_type", "data"]))?;
    let own = media_type_of(source.get("data")?.as_str()?).ok()??;
    source.insert("media_type".to_owned(), json!(own)).map(drop)
}

/// Leaves the citations of a text out.
pub(super) fn drop_citations(body: &mut Body) -> Option<()> {
    let is_list =
        |fields: &serde_json::Map<String, Value>| fields.get("citations").is_some_and(Value::is_array);
    body.around(is_list)?.shift_remove("citations").map(drop)
}

/// Puts a text beside a document.
pub(super) fn text_beside(body: &mut Body) -> Option<()> {
    let dialect = body.dialect;
    let message = body.message()?.as_object_mut()?;
    let parts = message.get_mut("content")?.as_array_mut()?;
    parts.push((shape_of(dialect).text)("See the document.", false));
    Some(())
}

/// Leaves a setting out that the model does not take.
pub(super) fn drop_setting(body: &mut Body) -> Option<()> {
    let is_setting = has(&["temperature", "top_p", "top_k"]);
    if !is_setting(body.value.as_object()?) {
        return None;
    }
    body.remove_field().map(drop)
}

/// Writes a message or part of another API as Gemini's.
pub(super) fn gemini_names(body: &mut Body) -> Option<()> {
    let is_part = |fields: &serde_json::Map<String, Value>| {
        fields.get("text").is_some_and(Value::is_string) && fields.contains_key("type")
    };
    if let Some(part) = body.around(is_part) {
        return part.shift_remove("type").map(drop);
    }
    let message = body.message()?.as_object_mut()?;
    if message.contains_key("parts") {
        return None;
    }
    let parts = match message.get("content")? {
        Value::String(text) => json!([{ "text": text }]),
        Value::Array(parts) if parts.iter().all(|part| part.get("text").is_some_and(Value::is_string)) => {
            parts.iter().map(|part| json!({ "text": part["text"] })).collect()
        }
        _ => return None,
    };
    message.shift_remove("content");
    message.insert("parts".to_owned(), parts);
    Some(())
}
