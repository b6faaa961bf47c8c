//! Conversations in the forms in which tracing tools and frameworks record them, as requests.
//!
//! These forms have the messages, their calls and results, but not the body that was sent. The body is written again, in
//! the dialect of the provider that the record names, or else in OpenAI's. The forms have no thinking that could be
//! returned to a provider, so it is left out.

use serde_json::{Map, Value, json};

use super::recipient::Chosen;
use crate::Dialect;
use crate::histories::{Block, Call, CallResult, Message, Role, read, render};

/// The attributes of a span or an event: an object, or a list of keys and values as in OpenTelemetry's JSON.
pub(super) fn attributes(value: &Value) -> Option<Map<String, Value>> {
    match value {
        Value::Object(fields) => Some(flat(fields)),
        // Stores of traces keep them as a text.
        Value::String(text) if text.starts_with('{') => attributes(&serde_json::from_str(text).ok()?),
        Value::Array(pairs) => {
            let pair =
                |pair: &Value| Some((pair.get("key")?.as_str()?.to_owned(), any_value(pair.get("value")?)));
            pairs.iter().map(pair).collect()
        }
        _ => None,
    }
}

/// Attributes with their names in full, if names with dots were written as objects inside objects
/// (<https://github.com/Arize-ai/openinference>).
fn flat(fields: &Map<String, Value>) -> Map<String, Value> {
    let is_nested = |name: &String| fields.get(name).is_some_and(Value::is_object);
    let mut all = fields.clone();
    for name in ["llm", "gen_ai"].map(str::to_owned).iter().filter(|name| is_nested(name)) {
        let mut open = vec![(name.clone(), fields[name.as_str()].clone())];
        while let Some((name, value)) = open.pop() {
            match value {
                Value::Object(inner) => {
                    open.extend(inner.into_iter().map(|(part, value)| (format!("{name}.{part}"), value)));
                }
                Value::Array(inner) if inner.iter().all(Value::is_object) && all.len() < MAX_NUMBER => {
                    open.extend(
                        inner.into_iter().enumerate().map(|(n, value)| (format!("{name}.{n}"), value)),
                    );
                }
                value => drop(all.insert(name, value)),
            }
        }
    }
    all
}

/// A value of OpenTelemetry (<https://opentelemetry.io/docs/specs/otel/protocol/>).
fn any_value(value: &Value) -> Value {
    let Some((kind, inner)) = value.as_object().and_then(|fields| fields.iter().next()) else {
        return value.clone();
    };
    let values = inner.get("values").and_then(Value::as_array);
    match (kind.as_str(), values) {
        ("stringValue" | "intValue" | "boolValue" | "doubleValue", _) => inner.clone(),
        ("arrayValue", Some(values)) => values.iter().map(any_value).collect(),
        ("kvlistValue", Some(_)) => attributes(&inner["values"]).map_or(Value::Null, Value::Object),
        _ => value.clone(),
    }
}

/// The messages that the attributes of a span describe.
pub(super) fn of_span(span: &Map<String, Value>, attributes: &Map<String, Value>) -> Option<Vec<Message>> {
    of_semantic_conventions(attributes)
        .or_else(|| numbered(attributes, "gen_ai.prompt"))
        .or_else(|| of_open_inference(attributes))
        .or_else(|| of_events(span))
}

/// The messages in the attributes of OpenInference. Those of `input.value` come first if only they have calls
/// (<https://github.com/Arize-ai/openinference/issues/1517>).
fn of_open_inference(attributes: &Map<String, Value>) -> Option<Vec<Message>> {
    let numbered = numbered(attributes, "llm.input_messages")?;
    let has_calls = |messages: &[Message]| {
        messages.iter().flat_map(|message| &message.blocks).any(|block| matches!(block, Block::Call(_)))
    };
    if has_calls(&numbered) {
        return Some(numbered);
    }
    let input: Option<Value> = attributes
        .get("input.value")
        .and_then(Value::as_str)
        .and_then(|text| serde_json::from_str(text).ok());
    let list = input.as_ref().and_then(|input| input.get("messages"));
    // LangChain nests the messages of each prompt.
    let list = list.map(|list| list.get(0).filter(|first| first.is_array()).unwrap_or(list));
    let written = list.and_then(|list| of_langchain(list).or_else(|| of_chat(list)));
    Some(written.filter(|written| has_calls(written)).unwrap_or(numbered))
}

/// The messages of a framework.
#[derive(Debug)]
pub(super) struct Written {
    pub(super) messages: Vec<Message>,
    /// The number of results that the framework does not send.
    pub(super) n_dropped: usize,
}

impl From<Vec<Message>> for Written {
    fn from(messages: Vec<Message>) -> Written {
        Written { messages, n_dropped: 0 }
    }
}

/// The request behind a report of Roo Code and its relatives: an error of the provider beside the history, which is
/// kept in Anthropic's dialect and converted for other providers
/// (<https://github.com/MoonshotAI/Kimi-K2.5/issues/13>).
pub(super) fn of_diagnostics(fields: &Map<String, Value>) -> Option<Value> {
    let error = fields.get("error")?.as_object()?;
    let word = |name: &str| error.get(name).and_then(Value::as_str);
    let (provider, model) = (word("provider")?, word("model")?);
    let mut messages = fields.get("history")?.as_array()?.clone();
    for message in messages.iter_mut().filter_map(Value::as_object_mut) {
        message.retain(|name, _| matches!(name.as_str(), "role" | "content"));
    }
    let kept = json!({ "model": model, "messages": messages });
    let is_converted = [
        "openai",
        "openrouter",
        "deepseek",
        "moonshot",
        "litellm",
        "ollama",
        "lmstudio",
        "zai",
        "xai",
        "groq",
    ];
    if !is_converted.contains(&provider) {
        return Some(kept);
    }
    let messages = read(Dialect::AnthropicMessages, &kept);
    Some(render(Dialect::OpenaiChat, Some(model), &messages).body)
}

/// The model that attributes or metadata name; empty if none.
pub(super) fn model(fields: &Map<String, Value>) -> String {
    let names =
        ["model", "gen_ai.request.model", "llm.model_name", "ls_model_name", "model_name", "modelName"];
    let word = |fields: &Map<String, Value>| {
        let named = names.iter().find_map(|name| fields.get(*name)?.as_str())?;
        Some(named.to_owned())
    };
    let around = ["metadata", "extra", "invocation_params", "kwargs", "model_parameters"];
    let inner = || {
        around.iter().find_map(|name| {
            let inner = fields.get(*name)?.as_object()?;
            word(inner).or_else(|| around.iter().find_map(|name| word(inner.get(*name)?.as_object()?)))
        })
    };
    word(fields).or_else(inner).unwrap_or_default()
}

/// The model that the replies of LangChain name, which has answered them.
pub(super) fn model_of_replies(list: &Value) -> Option<String> {
    let fields = |message: &Value| {
        let inner = message.get("kwargs").or_else(|| message.get("data")).unwrap_or(message);
        inner.get("response_metadata")?.as_object().map(model).filter(|model| !model.is_empty())
    };
    list.as_array()?.iter().rev().find_map(fields)
}

/// The provider that attributes name, in lower case; empty if none.
pub(super) fn provider(attributes: &Map<String, Value>) -> String {
    let names = ["gen_ai.provider.name", "gen_ai.system", "llm.provider", "llm.system", "ls_provider"];
    let named = names.iter().find_map(|name| attributes.get(*name)?.as_str());
    named.unwrap_or_default().to_lowercase()
}

/// `gen_ai.input.messages`, as text or as a value
/// (<https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/>).
fn of_semantic_conventions(attributes: &Map<String, Value>) -> Option<Vec<Message>> {
    let read = |name: &str| match attributes.get(name)? {
        Value::String(text) => serde_json::from_str(text).ok(),
        value => Some(value.clone()),
    };
    let mut messages: Vec<Message> = Vec::new();
    if let Some(parts) = read("gen_ai.system_instructions") {
        messages.push(Message { role: Role::System, blocks: parts_of(&parts) });
    }
    messages.extend(of_parts(&read("gen_ai.input.messages")?)?);
    Some(messages)
}

/// A list of messages with typed parts.
pub(super) fn of_parts(list: &Value) -> Option<Vec<Message>> {
    let is_typed = |part: &Value| part.get("type").is_some() && part.get("text").is_none();
    let message = |message: &Value| {
        let parts = message.get("parts").filter(|parts| parts.is_array())?;
        let is_known = parts.as_array()?.iter().all(is_typed);
        is_known.then(|| Message { role: role(message), blocks: parts_of(parts) })
    };
    let list = list.as_array().filter(|list| !list.is_empty())?;
    list.iter().map(message).collect()
}

fn parts_of(parts: &Value) -> Vec<Block> {
    let Some(parts) = parts.as_array() else { return text_of(parts).into_iter().collect() };
    parts.iter().filter_map(part).collect()
}

fn part(part: &Value) -> Option<Block> {
    match part.get("type").and_then(Value::as_str).unwrap_or_default() {
        "text" => text_of(part.get("content")?),
        "tool_call" => Some(call(part, "id", "name", "arguments")),
        "tool_call_response" => Some(result(part, "id", part.get("response").or_else(|| part.get("result")))),
        "reasoning" => None,
        _ => Some(Block::Text(part.to_string())),
    }
}

/// Messages in attributes with numbers in their names, as OpenLLMetry (`gen_ai.prompt.0.role`) and OpenInference
/// (`llm.input_messages.0.message.role`) write them.
fn numbered(attributes: &Map<String, Value>, prefix: &str) -> Option<Vec<Message>> {
    let mut messages: Vec<Value> = Vec::new();
    for (name, value) in attributes {
        let Some(rest) = name.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('.')) else { continue };
        let steps: Vec<&str> =
            rest.split('.').filter(|step| *step != "message" && *step != "tool_call").collect();
        let Some((n, steps)) = steps.split_first() else { continue };
        put(at(&mut messages, n)?, steps, value);
    }
    of_chat(&Value::Array(messages))
}

/// The largest number of a message or a call in such names.
const MAX_NUMBER: usize = 10_000;

fn at<'v>(list: &'v mut Vec<Value>, n: &str) -> Option<&'v mut Value> {
    let n: usize = n.parse().ok().filter(|n| *n < MAX_NUMBER)?;
    if list.len() <= n {
        list.resize(n + 1, json!({}));
    }
    list.get_mut(n)
}

fn put(message: &mut Value, steps: &[&str], value: &Value) {
    match steps {
        ["tool_calls", n, field @ ..] => {
            let calls = &mut message["tool_calls"];
            if calls.is_null() {
                *calls = json!([]);
            }
            let call = calls.as_array_mut().and_then(|calls| at(calls, n));
            if let (Some(call), Some(field)) = (call, field.last()) {
                call[*field] = value.clone();
            }
        }
        ["contents", n, .., "text"] => {
            let parts = &mut message["content"];
            if parts.is_null() {
                *parts = json!([]);
            }
            if let Some(part) = parts.as_array_mut().and_then(|parts| at(parts, n)) {
                *part = json!({ "type": "text", "text": value });
            }
        }
        [field] => message[*field] = value.clone(),
        _ => {}
    }
}

/// The events of a span, one for each message, as earlier versions of the conventions have them.
fn of_events(span: &Map<String, Value>) -> Option<Vec<Message>> {
    let event = |event: &Value| {
        let name = event.get("name").or_else(|| event.get("eventName"))?.as_str()?;
        let role = name.strip_prefix("gen_ai.")?.strip_suffix(".message")?;
        let body = event.get("body").map(any_value).filter(Value::is_object);
        let fields = body.or_else(|| Some(Value::Object(attributes(event.get("attributes")?)?)))?;
        let mut fields = fields.as_object()?.clone();
        for list in ["tool_calls", "content"] {
            if let Some(Value::String(text)) = fields.get(list)
                && let Ok(value @ Value::Array(_)) = serde_json::from_str(text)
            {
                fields.insert(list.to_owned(), value);
            }
        }
        fields.insert("role".to_owned(), json!(role));
        Some(Value::Object(fields))
    };
    let events: Vec<Value> = span.get("events")?.as_array()?.iter().filter_map(event).collect();
    of_chat(&Value::Array(events))
}

/// A list of messages in a form like OpenAI's, where the fields of a call may be in the call itself.
pub(super) fn of_chat(list: &Value) -> Option<Vec<Message>> {
    let list = list.as_array().filter(|list| !list.is_empty())?;
    let message = |message: &Value| {
        let role = role(message);
        let id = ["tool_call_id", "id"].iter().find(|name| message.get(**name).is_some()).unwrap_or(&"id");
        let content = message.get("content");
        let mut blocks = match role {
            Role::Tool => vec![result(message, id, content)],
            _ => content.map(content_of).unwrap_or_default(),
        };
        let calls = message.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
        blocks.extend(calls.map(|own| match own.get("function").filter(|function| function.is_object()) {
            Some(function) => {
                let Block::Call(made) = call(function, "id", "name", "arguments") else { unreachable!() };
                Block::Call(Call { id: word(own, "id"), ..made })
            }
            None if own.get("function.name").is_some() => {
                call(own, "id", "function.name", "function.arguments")
            }
            None if own.get("arguments").is_none() => call(own, "id", "name", "args"),
            None => call(own, "id", "name", "arguments"),
        }));
        Message { role, blocks }
    };
    Some(list.iter().map(message).collect())
}

/// A list of messages with calls that have the fields of their function themselves, as Microsoft's Agent Framework traces
/// them.
pub(super) fn of_flat_calls(list: &Value) -> Option<Vec<Message>> {
    let is_flat = |call: &Value| {
        let has = |name: &str| call.get(name).is_some_and(Value::is_string);
        // LangChain has the arguments as an object.
        let has_arguments = has("arguments") || call.get("args").is_some_and(Value::is_object);
        call.get("function").is_none() && has("id") && has("name") && has_arguments
    };
    let calls =
        |message: &Value| message.get("tool_calls").and_then(Value::as_array).cloned().unwrap_or_default();
    // Langfuse writes the name of a tool as the role of its result, and leaves the id out.
    const ROLES: [&str; 7] = ["system", "developer", "user", "human", "assistant", "ai", "tool"];
    let has_role = |message: &Value| ROLES.contains(&word(message, "role").as_str());
    let items = list.as_array()?;
    let is_meant = items.iter().all(has_role) && items.iter().any(|item| calls(item).iter().any(is_flat));
    is_meant.then(|| of_chat(list)).flatten()
}

/// A list of LangChain's messages: as constructors, as `messages_to_dict` writes them, or as their own fields.
pub(super) fn of_langchain(list: &Value) -> Option<Vec<Message>> {
    let list = list.as_array().filter(|list| !list.is_empty())?;
    list.iter().map(langchain).collect()
}

fn langchain(message: &Value) -> Option<Message> {
    let word = |name: &str| message.get(name).and_then(Value::as_str);
    let (kind, fields) = match word("type")? {
        "constructor" => (message.get("id")?.as_array()?.last()?.as_str()?, message.get("kwargs")?),
        kind => (kind, message.get("data").unwrap_or(message)),
    };
    let role = match kind.trim_end_matches("Chunk").trim_end_matches("Message").to_lowercase().as_str() {
        "human" => Role::User,
        "ai" => Role::Assistant,
        "system" => Role::System,
        "tool" | "function" => Role::Tool,
        _ => return None,
    };
    let content = fields.get("content")?;
    if role == Role::Tool {
        return Some(Message { role, blocks: vec![result(fields, "tool_call_id", Some(content))] });
    }
    let mut blocks = content_of(content);
    let list =
        |fields: &Value, name: &str| fields.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
    let mut calls = list(fields, "tool_calls");
    calls.extend(list(fields, "invalid_tool_calls"));
    if calls.is_empty() {
        let own = fields.get("additional_kwargs").map(|more| list(more, "tool_calls")).unwrap_or_default();
        let message = of_chat(&json!([{ "role": "assistant", "tool_calls": own }]))?;
        blocks.extend(message.into_iter().flat_map(|message| message.blocks));
    }
    blocks.extend(calls.iter().map(|own| call(own, "id", "name", "args")));
    Some(Message { role, blocks })
}

/// Returns whether a list has the AI SDK's calls or results.
pub(super) fn is_ai_sdk(list: &Value) -> bool {
    let is_own = |part: &Value| {
        matches!(part.get("type").and_then(Value::as_str), Some("tool-call" | "tool-result"))
            && part.get("toolCallId").is_some()
    };
    let parts = |message: &Value| message.get("content").and_then(Value::as_array).cloned();
    let list = list.as_array().map_or(&[][..], |list| &list[..]);
    list.iter().any(|message| parts(message).is_some_and(|parts| parts.iter().any(is_own)))
}

/// A list of the AI SDK's model messages, as its traces have them, for a dialect.
///
/// The providers of the AI SDK send no result that is in a message of the assistant, except one of a tool that the
/// provider executed: `convert-to-openai-chat-messages.ts`, `convert-to-bedrock-chat-messages.ts` and
/// `convert-to-google-generative-ai-messages.ts` in <https://github.com/vercel/ai> have no case for it, or leave it out.
pub(super) fn of_ai_sdk(list: &Value, chosen: Chosen) -> Option<Written> {
    if !is_ai_sdk(list) {
        return None;
    }
    let list = list.as_array()?;
    let has = |part: &Value, kind: &str| part.get("type").and_then(Value::as_str) == Some(kind);
    // These have no form for the results of a provider's own tools.
    const WITHOUT_RESULTS: [Dialect; 3] = [Dialect::BedrockConverse, Dialect::OpenaiChat, Dialect::Gemini];
    let is_always_lost = chosen.is_named && WITHOUT_RESULTS.contains(&chosen.dialect);
    let executed: Vec<String> = list
        .iter()
        .filter_map(|message| message.get("content")?.as_array())
        .flatten()
        .filter(|part| has(part, "tool-call") && part.get("providerExecuted") == Some(&Value::Bool(true)))
        .map(|part| word(part, "toolCallId"))
        .collect();
    let mut written = Written::from(Vec::new());
    for message in list {
        let role = role(message);
        let mut blocks = Vec::new();
        match message.get("content")? {
            Value::Array(parts) => {
                for part in parts {
                    let block = ai_sdk_part(part);
                    if role != Role::Assistant || !has(part, "tool-result") {
                        blocks.extend(block);
                    } else if is_always_lost || !executed.contains(&word(part, "toolCallId")) {
                        written.n_dropped += 1;
                    } else {
                        // The result comes after its call.
                        let before = std::mem::take(&mut blocks);
                        written
                            .messages
                            .extend((!before.is_empty()).then_some(Message { role, blocks: before }));
                        written
                            .messages
                            .push(Message { role: Role::Tool, blocks: block.into_iter().collect() });
                    }
                }
                let is_all_said =
                    blocks.is_empty() && written.messages.last().is_some_and(|last| last.role == Role::Tool);
                if role == Role::Assistant && is_all_said {
                    continue;
                }
            }
            content => blocks.extend(text_of(content)),
        }
        written.messages.push(Message { role, blocks });
    }
    Some(written)
}

fn ai_sdk_part(part: &Value) -> Option<Block> {
    match part.get("type").and_then(Value::as_str) {
        Some("tool-call") => {
            let arguments = if part.get("input").is_some() { "input" } else { "args" };
            Some(call(part, "toolCallId", "toolName", arguments))
        }
        Some("tool-result") => {
            let output = part.get("output").map(|output| output.get("value").unwrap_or(output));
            Some(result(part, "toolCallId", output.or_else(|| part.get("result"))))
        }
        Some("text") => text_of(part.get("text")?),
        Some("reasoning") => None,
        _ => Some(Block::Text(part.to_string())),
    }
}

pub(super) fn role(message: &Value) -> Role {
    match message.get("role").and_then(Value::as_str).unwrap_or_default() {
        "system" | "developer" => Role::System,
        "assistant" | "model" | "ai" => Role::Assistant,
        "tool" | "function" => Role::Tool,
        _ => Role::User,
    }
}

/// The texts of a content. Calls in it are listed beside it as well.
fn content_of(content: &Value) -> Vec<Block> {
    let Some(parts) = content.as_array() else { return text_of(content).into_iter().collect() };
    let part = |part: &Value| match part.get("type").and_then(Value::as_str) {
        Some("text" | "input_text" | "output_text") => text_of(part.get("text")?),
        Some("tool_use" | "function_call" | "tool_call" | "thinking" | "reasoning" | "input_json_delta") => {
            None
        }
        _ => text_of(part),
    };
    parts.iter().filter_map(part).collect()
}

/// A text; a value that is none is written as JSON, and an empty one is left out.
pub(super) fn text_of(value: &Value) -> Option<Block> {
    match value {
        Value::Null => None,
        Value::String(text) if text.is_empty() => None,
        Value::String(text) => Some(Block::Text(text.clone())),
        value => Some(Block::Text(value.to_string())),
    }
}

pub(super) fn word(value: &Value, name: &str) -> String {
    value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
}

pub(super) fn call(value: &Value, id: &str, name: &str, arguments: &str) -> Block {
    let arguments = match value.get(arguments) {
        None | Some(Value::Null) => "{}".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    };
    Block::Call(Call { id: word(value, id), name: word(value, name), arguments, ..Call::default() })
}

pub(super) fn result(value: &Value, id: &str, output: Option<&Value>) -> Block {
    let output = output.map(content_of).unwrap_or_default();
    Block::Result(CallResult {
        call: word(value, id),
        name: word(value, "name"),
        output,
        ..CallResult::default()
    })
}
