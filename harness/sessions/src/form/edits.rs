//! The edits of the form of a body. Each returns `None` if it cannot be made without losing or inventing something.

use serde_json::{Map, Value, json};

use super::body::{Body, has, joined};
use super::shapes::shape_of;

/// The signature that Gemini accepts for a call of another model
/// (<https://ai.google.dev/gemini-api/docs/thought-signatures>).
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

/// Leaves the `id` of an item out.
pub(super) fn drop_item_id(body: &mut Body) -> Option<()> {
    body.message()?.as_object_mut()?.shift_remove("id").map(drop)
}

/// Leaves the field at the fault out.
pub(super) fn drop_field(body: &mut Body) -> Option<()> {
    body.remove_field().map(drop)
}

pub(super) fn drop_prefix(body: &mut Body) -> Option<()> {
    body.message()?.as_object_mut()?.shift_remove("prefix").map(drop)
}

pub(super) fn add_prefix(body: &mut Body) -> Option<()> {
    let message = body.list()?.last_mut()?.as_object_mut()?;
    let has_text = message.get("content").and_then(Value::as_str).is_some_and(|text| !text.is_empty());
    if message.contains_key("tool_calls") || !has_text {
        return None;
    }
    message.insert("prefix".to_owned(), json!(true)).map_or(Some(()), |_| None)
}

pub(super) fn drop_empty_calls(body: &mut Body) -> Option<()> {
    body.message()?.as_object_mut()?.shift_remove("tool_calls").map(drop)
}

/// An empty `reasoning_content`, or a space where an empty one is refused.
pub(super) fn add_reasoning(body: &mut Body) -> Option<()> {
    let message = body.message()?.as_object_mut()?;
    let new = match message.get("reasoning_content").and_then(Value::as_str) {
        None => "",
        Some("") => " ",
        Some(_) => return None,
    };
    message.insert("reasoning_content".to_owned(), json!(new));
    Some(())
}

/// A thinking block with a space before the call. Moonshot refuses an empty one
/// (<https://github.com/openclaw/openclaw/issues/70565>).
pub(super) fn add_thinking(body: &mut Body) -> Option<()> {
    let (list, index) = body.item()?;
    list.insert(index, json!({ "type": "thinking", "thinking": " " }));
    Some(())
}

pub(super) fn add_signature(body: &mut Body) -> Option<()> {
    let names = ["thoughtSignature", "thought_signature"];
    let calls = ["functionCall", "function_call"];
    let is_part = |fields: &Map<String, Value>| calls.iter().any(|name| fields.contains_key(*name));
    let part = match body.around(is_part).is_some() {
        true => body.around(is_part)?,
        false => body.around(has(&["thoughtSignature", "thought_signature"]))?,
    };
    // Some clients store the signature in the call, and not beside it.
    let call = calls
        .iter()
        .find(|name| part.contains_key(**name))
        .and_then(|name| part.get_mut(*name)?.as_object_mut());
    let inner = call.and_then(|call| names.iter().find_map(|name| call.shift_remove(*name)));
    if inner.is_none() && part.get("thoughtSignature").and_then(Value::as_str) == Some(NO_SIGNATURE) {
        return None;
    }
    part.shift_remove("thought_signature");
    part.insert("thoughtSignature".to_owned(), inner.unwrap_or_else(|| json!(NO_SIGNATURE)));
    Some(())
}

/// Removes an item that is in the list before.
pub(super) fn same_item_once(body: &mut Body) -> Option<()> {
    let index = body.index()?;
    let list = body.list()?;
    let twice = list.get(..index)?.contains(list.get(index)?);
    twice.then(|| list.remove(index)).map(drop)
}

/// Trims white space at the end of the last text.
pub(super) fn trim_end(body: &mut Body) -> Option<()> {
    let message = body.list()?.last_mut()?;
    let content = message.get_mut("content")?;
    let text = match content {
        Value::Array(blocks) => blocks.last_mut()?.get_mut("text")?,
        text => text,
    };
    let trimmed = text.as_str()?.trim_end().to_owned();
    if trimmed.is_empty() || Some(trimmed.as_str()) == text.as_str() {
        return None;
    }
    *text = Value::String(trimmed);
    Some(())
}

/// Joins a message with the one before it, which has the same role.
pub(super) fn merge(body: &mut Body) -> Option<()> {
    let (dialect, index) = (body.dialect, body.index()?);
    let list = body.list()?;
    let role = |n: usize| list.get(n).and_then(|message| message.get("role")).cloned();
    let first =
        [index.checked_sub(1)?, index].into_iter().find(|n| role(*n).is_some() && role(*n) == role(n + 1))?;
    let second = list.get(first + 1)?.as_object()?.clone();
    let known = ["role", "content", "tool_calls", "reasoning_content"];
    let into = list.get_mut(first)?.as_object_mut()?;
    let is_other = |name: &String| !known.contains(&name.as_str());
    if into.keys().chain(second.keys()).any(is_other) || into.contains_key("tool_calls") {
        return None;
    }
    let mut second = second;
    for name in ["content", "reasoning_content"] {
        let own = second.shift_remove(name).unwrap_or_default();
        let earlier = into.shift_remove(name).unwrap_or_default();
        let both = joined(earlier, own, dialect);
        if !both.is_null() {
            into.insert(name.to_owned(), both);
        }
    }
    if let Some(calls) = second.shift_remove("tool_calls") {
        into.insert("tool_calls".to_owned(), calls);
    }
    list.remove(first + 1);
    Some(())
}

/// Writes the arguments of a call as an object. Other values are kept in a field.
pub(super) fn arguments_as_object(body: &mut Body) -> Option<()> {
    let names = ["input", "args"];
    let fields =
        body.around(|fields| names.iter().any(|name| fields.get(*name).is_some_and(|own| !own.is_object())))?;
    let name = names.into_iter().find(|name| fields.get(*name).is_some_and(|own| !own.is_object()))?;
    let new = object_of(fields.get(name)?);
    fields.insert(name.to_owned(), new);
    Some(())
}

/// Writes the arguments of a call as the text of a JSON object.
pub(super) fn arguments_as_text(body: &mut Body) -> Option<()> {
    let function = body.around(has(&["arguments"]))?;
    let new = object_of(function.get("arguments")?).to_string();
    function.insert("arguments".to_owned(), json!(new));
    Some(())
}

/// An object with the same content.
fn object_of(value: &Value) -> Value {
    match value {
        Value::Object(_) => value.clone(),
        Value::Null => json!({}),
        Value::Array(list) if list.is_empty() => json!({}),
        Value::String(text) if text.trim().is_empty() => json!({}),
        Value::String(text) => match serde_json::from_str::<Value>(text) {
            Ok(inner @ (Value::Object(_) | Value::Null)) => object_of(&inner),
            Ok(inner) => json!({ "value": inner }),
            Err(_) => json!({ "text": text }),
        },
        other => json!({ "value": other }),
    }
}

/// Wraps what a tool returned in an object.
pub(super) fn response_as_object(body: &mut Body) -> Option<()> {
    let fields = body.around(|fields| fields.get("response").is_some_and(|own| !own.is_object()))?;
    let output = fields.get("response")?.clone();
    fields.insert("response".to_owned(), json!({ "output": output }));
    Some(())
}

/// Bedrock: arguments and results in `json` are objects.
pub(super) fn bedrock_object(body: &mut Body) -> Option<()> {
    if arguments_as_object(body).is_some() {
        return Some(());
    }
    let fields = body.around(|fields| fields.get("json").is_some_and(|own| !own.is_object()))?;
    let output = fields.get("json")?.clone();
    fields.insert("json".to_owned(), json!({ "output": output }));
    Some(())
}

/// Fills in what a call of Chat Completions needs, as far as it can be known.
pub(super) fn call_shape(body: &mut Body) -> Option<()> {
    let call = body.around(has(&["function"]))?;
    let function = call.get_mut("function")?.as_object_mut()?;
    match function.get("arguments") {
        None | Some(Value::Null) => function.insert("arguments".to_owned(), json!("{}")),
        Some(Value::String(_)) => return None,
        Some(value) => {
            let text = value.to_string();
            function.insert("arguments".to_owned(), json!(text))
        }
    };
    Some(())
}

/// Fills in what an item of the Responses API needs, as far as it can be known.
pub(super) fn item_fields(body: &mut Body) -> Option<()> {
    let item = body.message()?.as_object_mut()?;
    let kind = item.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
    let (name, empty) = match kind.as_str() {
        "function_call" => ("arguments", "{}"),
        "function_call_output" | "custom_tool_call_output" => ("output", ""),
        "reasoning" if !item.contains_key("summary") => {
            item.insert("summary".to_owned(), json!([]));
            return Some(());
        }
        _ => return None,
    };
    let new = match item.get(name) {
        Some(Value::String(_) | Value::Array(_)) => return None,
        None | Some(Value::Null) => empty.to_owned(),
        Some(value) => value.to_string(),
    };
    item.insert(name.to_owned(), json!(new));
    Some(())
}

/// Moves the text of reasoning from `content`, which OpenAI does not take back, to `summary`. The summary often has the
/// same words.
pub(super) fn reasoning_as_summary(body: &mut Body) -> Option<()> {
    let item = body.message()?.as_object_mut()?;
    let content = item.shift_remove("content")?;
    let summary = item.entry("summary").or_insert_with(|| json!([])).as_array_mut()?;
    for text in content.as_array()?.iter().filter_map(|part| part.get("text")?.as_str()) {
        let part = json!({ "type": "summary_text", "text": text });
        if !summary.contains(&part) {
            summary.push(part);
        }
    }
    Some(())
}

/// Puts an empty text where a message has none.
pub(super) fn empty_text(body: &mut Body) -> Option<()> {
    let message = body.message()?.as_object_mut()?;
    if message.get("content").is_some_and(|content| !content.is_null()) {
        return None;
    }
    message.insert("content".to_owned(), json!(""));
    Some(())
}

pub(super) fn drop_block(body: &mut Body) -> Option<()> {
    body.remove_item()
}

pub(super) fn drop_message(body: &mut Body) -> Option<()> {
    body.remove_message().map(drop)
}

/// Replaces a block that the model does not take by a text that says so.
pub(super) fn replace_media(body: &mut Body) -> Option<()> {
    let dialect = body.dialect;
    let (list, index) = body.item()?;
    // The place may be that of a record or a result with the block inside.
    let value = list.get_mut(index)?;
    let at = medium_in(value).unwrap_or_default();
    let part = value.pointer_mut(&at)?;
    if part.get("text").is_some() || is_record(part) {
        return None;
    }
    // Some dialects name the kind by the only field.
    let field = part.as_object().and_then(|fields| fields.keys().next());
    let kind = part.get("type").and_then(Value::as_str).or(field.map(String::as_str));
    let kind = kind.unwrap_or("part").to_owned();
    *part = (shape_of(dialect).text)(&format!("[{kind} left out]"), false);
    Some(())
}

/// Returns whether a value is a message or a record of a store, and not a block.
fn is_record(value: &Value) -> bool {
    ["role", "message", "parentId", "uuid"].iter().any(|name| value.get(name).is_some())
}

/// The place of the first block of a medium inside a record or a result.
fn medium_in(value: &Value) -> Option<String> {
    const LISTS: [&str; 2] = ["content", "parts"];
    const KINDS: [&str; 5] = ["image", "document", "file", "audio", "video"];
    const FIELDS: [&str; 6] = ["inlineData", "inline_data", "fileData", "image", "document", "video"];
    let is_medium = |block: &Value| {
        let kind = block.get("type").and_then(Value::as_str).unwrap_or_default();
        KINDS.iter().any(|medium| kind.contains(medium))
            || FIELDS.iter().any(|field| block.get(field).is_some())
    };
    let message = if value.get("message").is_some_and(Value::is_object) { "/message" } else { "" };
    LISTS.iter().find_map(|list| {
        let at = format!("{message}/{list}");
        let medium = value.pointer(&at)?.as_array()?.iter().position(is_medium)?;
        Some(format!("{at}/{medium}"))
    })
}

/// Puts what a failed tool returned beside its text behind the results.
pub(super) fn error_as_text(body: &mut Body) -> Option<()> {
    let is_block = |block: &Value| block.get("text").is_none();
    let moved = {
        let result = body.around(|fields| {
            fields.get("content").and_then(Value::as_array).is_some_and(|blocks| blocks.iter().any(is_block))
                && (fields.contains_key("tool_use_id") || fields.contains_key("toolUseId"))
        })?;
        let blocks = result.get_mut("content")?.as_array_mut()?;
        let (moved, texts): (Vec<Value>, Vec<Value>) = std::mem::take(blocks).into_iter().partition(is_block);
        *blocks = texts;
        moved
    };
    body.message()?.get_mut("content")?.as_array_mut()?.extend(moved);
    Some(())
}

/// A failed tool without a message.
pub(super) fn error_text(body: &mut Body) -> Option<()> {
    let result = body.around(has(&["toolUseId"]))?;
    result.insert("content".to_owned(), json!([{ "text": "The tool failed without a message." }]));
    Some(())
}

/// Puts the texts of a message before its calls.
pub(super) fn calls_last(body: &mut Body) -> Option<()> {
    let blocks = body.message()?.get_mut("content")?.as_array_mut()?;
    let is_call = |block: &Value| block.get("type").and_then(Value::as_str) == Some("tool_use");
    let before = blocks.clone();
    let (calls, others): (Vec<Value>, Vec<Value>) = std::mem::take(blocks).into_iter().partition(is_call);
    *blocks = others.into_iter().chain(calls).collect();
    (*blocks != before).then_some(())
}

/// Puts the texts beside the responses of tools into a content of their own.
pub(super) fn part_responses(body: &mut Body) -> Option<()> {
    let index = body.index()?;
    let list = body.list()?;
    let parts = list.get_mut(index)?.get_mut("parts")?.as_array_mut()?;
    let is_response =
        |part: &Value| part.get("functionResponse").or_else(|| part.get("function_response")).is_some();
    let (responses, others): (Vec<Value>, Vec<Value>) =
        std::mem::take(parts).into_iter().partition(is_response);
    *parts = responses;
    if others.is_empty() || parts.is_empty() {
        parts.extend(others);
        return None;
    }
    list.insert(index + 1, json!({ "role": "user", "parts": others }));
    Some(())
}

/// Puts the two halves of a reply together again: what came between a call of the provider's tool and its result is
/// moved behind the result. A call without any result is dropped, since nothing of the client's ran.
pub(super) fn join_server_tool(body: &mut Body) -> Option<()> {
    let index = body.index()?;
    let fault = body.spot()?.clone();
    let list = body.list()?;
    let id = |block: &Value| {
        ["tool_use_id", "id"].iter().find_map(|name| Some(block.get(*name)?.as_str()?.to_owned()))
    };
    let own = id(&fault).or_else(|| {
        let blocks = list.get(index)?.get("content")?.as_array()?;
        blocks.iter().find(|block| block.get("type") == Some(&json!("server_tool_use"))).and_then(id)
    })?;
    let place = |list: &[Value], is_call: bool| {
        list.iter().position(|message| {
            let blocks = message.get("content").and_then(Value::as_array).into_iter().flatten();
            blocks.into_iter().any(|block| {
                let name = if is_call { "id" } else { "tool_use_id" };
                block.get(name).and_then(Value::as_str) == Some(&own)
            })
        })
    };
    let (call, result) = (place(list, true), place(list, false));
    match (call, result) {
        (Some(call), Some(result)) if call + 1 < result => {
            let between = &list[call + 1..result];
            let is_free = between.iter().all(|message| !message.to_string().contains("\"tool_result\""));
            if !is_free {
                return None;
            }
            let reply = list.remove(result);
            list.insert(call + 1, reply);
            Some(())
        }
        (Some(n), None) | (None, Some(n)) => {
            let blocks = list.get_mut(n)?.get_mut("content")?.as_array_mut()?;
            let n_before = blocks.len();
            blocks.retain(|block| id(block).as_deref() != Some(&own));
            let (is_less, is_void) = (blocks.len() < n_before, blocks.is_empty());
            if is_void {
                list.remove(n);
            }
            is_less.then_some(())
        }
        _ => None,
    }
}

/// Copies the id of the only open call of the reply before into a result without one.
pub(super) fn copy_call_id(body: &mut Body) -> Option<()> {
    let index = body.index()?;
    let list = body.list()?;
    let (mut open, mut lacking) = (Vec::new(), 0);
    let start = list[..index].iter().rposition(|message| message.get("role") == Some(&json!("assistant")))?;
    let calls = |name: &str| list[start].get(name).and_then(Value::as_array).cloned().unwrap_or_default();
    open.extend(
        calls("tool_calls").iter().chain(&calls("content")).filter_map(|call| call.get("id").cloned()),
    );
    let mut look = |result: &Value, name: &str| match result.get(name) {
        Some(id) if !id.is_null() => open.retain(|open| open != id),
        _ => lacking += 1,
    };
    for message in &list[start + 1..=index.max(start + 1).min(list.len() - 1)] {
        if message.get("role") == Some(&json!("tool")) {
            look(message, "tool_call_id");
        }
        for block in message.get("content").and_then(Value::as_array).into_iter().flatten() {
            if block.get("type") == Some(&json!("tool_result")) {
                look(block, "tool_use_id");
            }
        }
    }
    let (1, [id]) = (lacking, open.as_slice()) else { return None };
    let id = id.clone();
    let shape = shape_of(body.dialect);
    let name = shape.call;
    let result = match shape.has_result_blocks {
        true => body.around(|fields| fields.get("type") == Some(&json!("tool_result")))?,
        false => body.message()?.as_object_mut()?,
    };
    result.insert(name.to_owned(), id);
    Some(())
}

/// Writes texts where the API wants blocks, and blocks or texts where it wants texts.
pub(super) fn shape(body: &mut Body) -> Option<()> {
    let shape = shape_of(body.dialect);
    // A string in a list of blocks.
    if let Some((list, index)) = body.item()
        && let Some(Value::String(text)) = list.get(index)
    {
        list[index] = (shape.text)(&text.clone(), false);
        return Some(());
    }
    let message = body.message()?.as_object_mut()?;
    if let Some(Value::String(text)) = message.get(shape.content)
        && shape.is_listed
    {
        let new = json!([(shape.text)(text, false)]);
        message.insert(shape.content.to_owned(), new);
        return Some(());
    }
    // The output of a tool.
    let result = body
        .around(|fields| fields.contains_key("tool_use_id") || fields.get("role") == Some(&json!("tool")))?;
    let content = result.get("content").filter(|content| !content.is_string() && !content.is_null())?;
    let is_blocks =
        content.as_array().is_some_and(|blocks| blocks.iter().all(|block| block.get("type").is_some()));
    if is_blocks {
        return None;
    }
    let text = content.to_string();
    result.insert("content".to_owned(), json!(text));
    Some(())
}

/// Translates a text, an image or a thought of another API.
pub(super) fn translate(body: &mut Body) -> Option<()> {
    let own = shape_of(body.dialect);
    let role = body.message()?.get("role").cloned();
    let is_reply = role == Some(json!("assistant"));
    if role == Some(json!("tool")) {
        return shape(body);
    }
    let (list, index) = body.item()?;
    let part = list.get(index)?;
    let kind = part.get("type").and_then(Value::as_str).unwrap_or_default();
    let text = part.get("text").and_then(Value::as_str);
    let new = match (kind, text) {
        ("text" | "input_text" | "output_text" | "", Some(text)) => (own.text)(text, is_reply),
        ("image_url" | "input_image" | "image", _) => (own.image?)(&url_of(part)?),
        ("thinking" | "redacted_thinking" | "reasoning", _) => {
            list.remove(index);
            return Some(());
        }
        _ => return None,
    };
    let is_new = list[index] != new;
    list[index] = new;
    is_new.then_some(())
}

/// The URL of an image, which may have the data in it.
fn url_of(part: &Value) -> Option<String> {
    let url = part.pointer("/image_url/url").or_else(|| part.get("image_url")).and_then(Value::as_str);
    let source = |name: &str| part.get("source")?.get(name)?.as_str();
    match (url.or_else(|| source("url")), source("data")) {
        (Some(url), _) => Some(url.to_owned()),
        (None, Some(data)) => Some(format!("data:{};base64,{data}", source("media_type")?)),
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The place of a violation in a store may be that of the record (pi stores a result as a message of its own).
    #[test]
    fn the_block_of_a_medium_is_found_inside_a_record() {
        let image = json!({ "type": "image", "data": "iVBO" });
        let text = json!({ "type": "text", "text": "Page 4" });
        let record = json!({ "type": "message", "id": "b7", "parentId": "b6", "message": { "role": "toolResult", "content": [text, image] } });
        assert_eq!(medium_in(&record).as_deref(), Some("/message/content/1"));
        assert!(is_record(&record));
        assert_eq!(
            medium_in(&json!({ "type": "tool_result", "content": [image] })).as_deref(),
            Some("/content/0")
        );
        assert_eq!(medium_in(&image), None);
        assert!(!is_record(&image));
    }
}
