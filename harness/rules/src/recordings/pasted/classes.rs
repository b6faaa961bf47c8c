//! The classes of messages, parts and calls in frameworks: what their name says, and the names of their arguments.

use serde_json::{Map, Value, json};

use super::literal::unknown;

/// A class: its name, the field that its name stands for with the value, and the names of its arguments in order.
type Class = (&'static str, Option<(&'static str, &'static str)>, &'static [&'static str]);

const fn class(
    name: &'static str,
    kind: Option<(&'static str, &'static str)>,
    arguments: &'static [&'static str],
) -> Class {
    (name, kind, arguments)
}

#[rustfmt::skip]
const CLASSES: &[Class] = &[
    // LangChain.
    class("HumanMessage", Some(("type", "HumanMessage")), &["content"]),
    class("AIMessage", Some(("type", "AIMessage")), &["content"]),
    class("SystemMessage", Some(("type", "SystemMessage")), &["content"]),
    class("ToolMessage", Some(("type", "ToolMessage")), &["content", "tool_call_id"]),
    class("FunctionMessage", Some(("type", "FunctionMessage")), &["content"]),
    class("HumanMessageChunk", Some(("type", "HumanMessageChunk")), &["content"]),
    class("AIMessageChunk", Some(("type", "AIMessageChunk")), &["content"]),
    class("SystemMessageChunk", Some(("type", "SystemMessageChunk")), &["content"]),
    class("ToolMessageChunk", Some(("type", "ToolMessageChunk")), &["content", "tool_call_id"]),
    // Pydantic AI.
    class("ModelRequest", Some(("kind", "request")), &["parts"]),
    class("ModelResponse", Some(("kind", "response")), &["parts"]),
    class("SystemPromptPart", Some(("part_kind", "system-prompt")), &["content"]),
    class("UserPromptPart", Some(("part_kind", "user-prompt")), &["content"]),
    class("ToolReturnPart", Some(("part_kind", "tool-return")), &["tool_name", "content", "tool_call_id"]),
    class("RetryPromptPart", Some(("part_kind", "retry-prompt")), &["content"]),
    class("ToolCallPart", Some(("part_kind", "tool-call")), &["tool_name", "args", "tool_call_id"]),
    class("ThinkingPart", Some(("part_kind", "thinking")), &["content"]),
    class("TextPart", Some(("part_kind", "text")), &["content"]),
    // LiveKit Agents: livekit-agents/livekit/agents/llm/chat_context.py of https://github.com/livekit/agents
    class("FunctionCall", Some(("type", "function_call")), &[]),
    class("FunctionCallOutput", Some(("type", "function_call_output")), &[]),
    // Prism: src/ValueObjects of https://github.com/prism-php/prism
    class("UserMessage", Some(("type", "UserMessage")), &["content"]),
    class("AssistantMessage", Some(("type", "AssistantMessage")), &["content", "toolCalls"]),
    class("ToolResultMessage", Some(("type", "ToolResultMessage")), &["toolResults"]),
    class("ToolCall", None, &["id", "name", "arguments"]),
    class("ToolResult", None, &["toolCallId", "toolName", "args", "result"]),
];

/// Returns whether a class has a conversation's content as its first argument, without a name.
pub(super) fn is_positional(class: &str) -> bool {
    of(class).is_some_and(|(_, kind, arguments)| kind.is_some() && !arguments.is_empty())
        || role_of(class).is_some()
}

/// The object with these named arguments, or fields, and these others. A call of an unknown function without named
/// arguments is its first argument.
pub(super) fn object(class: &str, mut fields: Map<String, Value>, positional: Vec<Value>) -> Value {
    let known = of(class);
    if fields.is_empty() {
        if let (Some(role), [Value::String(text)]) = (role_of(class), &positional[..]) {
            return json!({ "role": role, "content": text });
        }
        if let (Some((_, "text")), [Value::String(text)]) = (class.rsplit_once('.'), &positional[..]) {
            return json!({ "type": "text", "text": text });
        }
        if known.is_none_or(|(.., arguments)| arguments.is_empty()) {
            return positional.into_iter().next().unwrap_or_else(unknown);
        }
    }
    let Some((_, kind, arguments)) = known else { return Value::Object(fields) };
    for (name, value) in arguments.iter().zip(positional) {
        fields.entry(*name).or_insert(value);
    }
    // A class of the same name in another framework has the role as a field, or calls without their id.
    let is_other =
        fields.contains_key("role") || class.ends_with("FunctionCall") && !fields.contains_key("call_id");
    if let Some((field, kind)) = kind.filter(|_| !is_other) {
        fields.entry(field).or_insert_with(|| kind.into());
    }
    Value::Object(fields)
}

fn of(class: &str) -> Option<&'static Class> {
    let name = class.rsplit(['.', ':']).next().unwrap_or(class);
    CLASSES.iter().find(|(known, ..)| *known == name)
}

/// The role of a function that makes a message, such as `Context.user("…")`.
fn role_of(function: &str) -> Option<&str> {
    let (_, name) = function.rsplit_once(['.', ':'])?;
    matches!(name, "system" | "user" | "assistant").then_some(name)
}
