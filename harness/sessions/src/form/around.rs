//! The edits of roles, system messages, breakpoints of the cache, and the fields around the messages.

use serde_json::{Map, Value, json};

use super::body::{Body, has, joined};
use super::shapes::shape_of;

/// Gives a message the name that this API has for its role.
pub(super) fn rename_role(body: &mut Body) -> Option<()> {
    let shape = shape_of(body.dialect);
    let is_system = matches!(body.message()?.get("role")?.as_str()?, "developer" | "system");
    if is_system && !shape.has_system_role {
        return system_to_top(body).or_else(|| system_as_user(body));
    }
    let message = body.message()?.as_object_mut()?;
    let role = message.get("role")?.as_str()?.to_lowercase();
    let new = match role.as_str() {
        "assistant" | "model" | "ai" | "bot" => shape.model,
        "user" | "human" => "user",
        "tool" | "function" if shape.has_result_blocks => return as_result(message),
        "tool" | "function" => shape.results?,
        "developer" | "system" if shape.has_system_role => "system",
        _ => return None,
    };
    message.insert("role".to_owned(), json!(new)).filter(|old| *old != json!(new)).map(drop)
}

/// Writes a tool message of Chat Completions as Anthropic's.
fn as_result(message: &mut Map<String, Value>) -> Option<()> {
    let id = message.get("tool_call_id").or_else(|| message.get("tool_use_id"))?.clone();
    let content = message.get("content").cloned().unwrap_or_else(|| json!(""));
    *message = Map::new();
    message.insert("role".to_owned(), json!("user"));
    message.insert(
        "content".to_owned(),
        json!([{ "type": "tool_result", "tool_use_id": id, "content": content }]),
    );
    Some(())
}

/// Sends a system message as one of the user.
pub(super) fn system_as_user(body: &mut Body) -> Option<()> {
    let message = body.message()?.as_object_mut()?;
    if !matches!(message.get("role").and_then(Value::as_str), Some("system" | "developer")) {
        return None;
    }
    message.insert("role".to_owned(), json!("user")).map(drop)
}

/// Puts a system message behind the user's message after it.
pub(super) fn system_after_user(body: &mut Body) -> Option<()> {
    let index = body.index()?;
    let list = body.list()?;
    let is =
        |n: usize, role: &str| list.get(n).is_some_and(|message| message.get("role") == Some(&json!(role)));
    let index = [Some(index), index.checked_sub(1)].into_iter().flatten().find(|n| is(*n, "system"))?;
    if is(index + 1, "user") {
        list.swap(index, index + 1);
        return Some(());
    }
    list.get_mut(index)?.as_object_mut()?.insert("role".to_owned(), json!("user")).map(drop)
}

/// Moves a first system message into the field for it.
pub(super) fn system_to_top(body: &mut Body) -> Option<()> {
    if body.value.is_array() {
        return None;
    }
    let index = body.index()?;
    let is_system = matches!(body.message()?.get("role")?.as_str(), Some("system" | "developer"));
    if !is_system || index > 0 {
        return None;
    }
    let dialect = body.dialect;
    if shape_of(dialect).content == "parts" {
        return instruction_to_top(body);
    }
    body.message()?.get("content")?;
    let content = body.remove_message()?.get_mut("content")?.take();
    let own = body.value.get_mut("system").map(Value::take).unwrap_or_default();
    let mut both = joined(own, content, dialect);
    let shape = shape_of(dialect);
    if let Value::String(text) = &both
        && shape.has_system_blocks
    {
        both = json!([(shape.text)(text, false)]);
    }
    body.value.as_object_mut()?.insert("system".to_owned(), both);
    Some(())
}

/// Moves a first system message of Gemini into the field for it, if that is not there yet.
fn instruction_to_top(body: &mut Body) -> Option<()> {
    let names = ["systemInstruction", "system_instruction"];
    if names.iter().any(|name| body.value.get(*name).is_some()) {
        return None;
    }
    let parts = body.message()?.get("parts")?.clone();
    body.remove_message()?;
    body.value.as_object_mut()?.insert(names[0].to_owned(), json!({ "parts": parts }));
    Some(())
}

/// Removes the oldest breakpoints of the cache.
pub(super) fn oldest_breakpoint(body: &mut Body) -> Option<()> {
    fn first(value: &mut Value) -> Option<()> {
        match value {
            Value::Object(fields) if fields.contains_key("cache_control") => {
                fields.shift_remove("cache_control").map(drop)
            }
            Value::Object(fields) => fields.values_mut().find_map(first),
            Value::Array(items) => items.iter_mut().find_map(first),
            _ => None,
        }
    }
    if body.value.is_array() {
        return first(body.value);
    }
    ["tools", "system", "messages"].iter().find_map(|name| first(body.value.get_mut(*name)?))
}

pub(super) fn drop_breakpoint(body: &mut Body) -> Option<()> {
    body.around(has(&["cache_control"]))?.shift_remove("cache_control").map(drop)
}

pub(super) fn shorter_lifetime(body: &mut Body) -> Option<()> {
    let block = body.around(has(&["cache_control"]))?;
    block.get_mut("cache_control")?.as_object_mut()?.shift_remove("ttl").map(drop)
}

/// Disables thinking for the request.
pub(super) fn without_thinking(body: &mut Body) -> Option<()> {
    let fields = body.value.as_object_mut()?;
    if fields.shift_remove("thinking").is_some() {
        return Some(());
    }
    let more = fields.get_mut("additionalModelRequestFields")?.as_object_mut()?;
    let gone = ["thinking", "reasoning_config", "reasoningConfig"].map(|name| more.shift_remove(name));
    let is_gone = gone.iter().any(Option::is_some);
    if more.is_empty() {
        fields.shift_remove("additionalModelRequestFields");
    }
    is_gone.then_some(())
}

/// Offers the tools that the history calls, or no tools if it calls none.
pub(super) fn offer_tools(body: &mut Body) -> Option<()> {
    let mut names: Vec<String> = Vec::new();
    for message in body.list()?.iter() {
        for block in message.get("content").and_then(Value::as_array).into_iter().flatten() {
            let name = block.pointer("/toolUse/name").and_then(Value::as_str);
            names.extend(name.filter(|name| names.iter().all(|known| known != name)).map(str::to_owned));
        }
    }
    let has_results = body.list()?.iter().any(|message| message.to_string().contains("\"toolResult\""));
    let fields = body.value.as_object_mut()?;
    if names.is_empty() {
        return if has_results { None } else { fields.shift_remove("toolConfig").map(drop) };
    }
    let tool = |name: &String| json!({ "toolSpec": { "name": name, "inputSchema": { "json": { "type": "object" } } } });
    let config = fields.entry("toolConfig").or_insert_with(|| json!({}));
    config["tools"] = names.iter().map(tool).collect();
    Some(())
}

/// Drops the second of two equal tools.
pub(super) fn same_tool_once(body: &mut Body) -> Option<()> {
    let tools = body.value.get_mut("tools")?.as_array_mut()?;
    let twice = (1..tools.len()).find(|n| tools[..*n].contains(&tools[*n]))?;
    tools.remove(twice);
    Some(())
}
