//! OpenAI Responses: reads the conversation in a request.

use serde_json::Value;

use super::names;
use crate::history::{Content, History, Item, Role};
use crate::wire::history::{pieces, role_of, string, text_of};
use brickbat_rules::json::Json;

/// The conversation. Calls and outputs are separate items. Adjacent items of the model are one message, as
/// the model sent them, and so are adjacent outputs.
pub(super) fn history(body: Json) -> History {
    let mut items = Vec::new();
    let input = body.field("input");
    let user = |pointer: String, content| Item { pointer, message: 0, role: Role::User, content };
    if input.is_str() {
        items.push(user("/input".to_owned(), Content::Text { text: string(input) }));
    }
    let mut run: Option<(usize, Role)> = None;
    for (n, value) in input.items().enumerate() {
        let role = role(value);
        let message = match run {
            Some((first, of)) if of == role && matches!(role, Role::Assistant | Role::Tool) => first,
            _ => n,
        };
        run = Some((message, role));
        let pointer = format!("/input/{n}");
        let mut push = |pointer, content| items.push(Item { pointer, message, role, content });
        match value.field("type").as_str().as_deref() {
            None | Some("message") if value.get("role").is_some() => {
                pieces(&format!("{pointer}/content"), value.field("content"), content_of, &mut push);
            }
            Some("function_call") => push(pointer, call_of(value, "arguments")),
            Some("custom_tool_call") => push(pointer, call_of(value, "input")),
            Some("function_call_output" | "custom_tool_call_output") => {
                let (id, text) = (string(value.field("call_id")), output_text(value.field("output")));
                push(pointer, Content::Result { id, text, is_error: None });
            }
            Some("reasoning") => push(pointer, Content::Thought { value: value.to_value() }),
            _ => push(pointer, Content::Raw { value: value.to_value() }),
        }
    }
    History { items }
}

fn role(item: Json) -> Role {
    match item.field("type").as_str().as_deref() {
        None | Some("message") if item.get("role").is_some() => role_of(item),
        Some(kind) if kind.ends_with("_output") => Role::Tool,
        Some("additional_tools") => Role::Other,
        _ => Role::Assistant,
    }
}

fn content_of(part: Json) -> Content {
    match part.field("type").as_str().as_deref() {
        Some("input_text" | "output_text" | "text") => Content::Text { text: string(part.field("text")) },
        _ => Content::Raw { value: part.to_value() },
    }
}

fn call_of(item: Json, arguments: &str) -> Content {
    let arguments = string(item.field(arguments));
    let args = match serde_json::from_str::<Value>(&arguments) {
        Ok(args @ Value::Object(_)) => args,
        _ => Value::String(arguments),
    };
    Content::Call { id: string(item.field("call_id")), name: names::of_call(item), args }
}

/// The text of an output: a string, or a list of `input_text` parts.
fn output_text(output: Json) -> String {
    let is_text = |part: Json| part.field("type").is("input_text");
    if output.is_array() && !output.is_empty() && output.items().all(is_text) {
        output.items().map(|part| string(part.field("text"))).collect()
    } else {
        text_of(output)
    }
}
