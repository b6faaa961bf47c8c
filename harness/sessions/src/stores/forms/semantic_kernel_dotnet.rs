//! Semantic Kernel for .NET: a `ChatHistory` as `JsonSerializer` writes it.
//!
//! A message is `{Role: {Label}, Items: [{$type, …}]}`, and a result of a streamed call may be stored without its content.
//! Source: `ChatMessageContent.cs`, `KernelContent.cs` and `FunctionResultContent.cs` in
//! `dotnet/src/SemanticKernel.Abstractions/Contents` of <https://github.com/microsoft/semantic-kernel>, and
//! <https://github.com/microsoft/semantic-kernel/issues/13047>.

use brickbat_rules::json::{Document, Json};
use serde_json::{Value, json};

use super::assembled::{Assembled, Assembly};
use crate::stores::Look;
use crate::{Files, FormError};

pub(super) const HISTORY: Assembly = Assembly { owns: is_history, assemble };

/// The lists with the messages.
const LISTS: [&str; 3] = ["", "/Messages", "/messages"];

/// A field, in the spelling of the class or in the one of the web.
fn field<'t, 'a>(value: Json<'t, 'a>, name: &str) -> Option<Json<'t, 'a>> {
    let camel: String = name[..1].to_ascii_lowercase() + &name[1..];
    value.get(name).or_else(|| value.get(&camel))
}

fn text(value: Json<'_, '_>, name: &str) -> Option<String> {
    Some(field(value, name)?.as_str()?.into_owned())
}

fn is_message(item: Json<'_, '_>) -> bool {
    field(item, "Role").is_some_and(|role| text(role, "Label").is_some())
        && field(item, "Items").is_some_and(Json::is_array)
}

fn list<'t, 'a>(root: Json<'t, 'a>) -> Option<(&'static str, Json<'t, 'a>)> {
    let is_list = |list: Json<'_, '_>| list.items().next().is_some() && list.items().all(is_message);
    LISTS.into_iter().map(|at| (at, root.pointer(at))).find(|(_, list)| is_list(*list))
}

fn is_history(look: &Look<'_>) -> bool {
    look.is_whole(|root| list(root).is_some())
}

fn assemble(files: &Files) -> Result<Vec<Assembled>, FormError> {
    let document = Document::parse(files.main()).map_err(|_| FormError::Shape("no JSON"))?;
    let (at, list) = list(document.root()).ok_or(FormError::Shape("it has no list of messages"))?;
    Ok(vec![Assembled::of_items(list, at, ".NET list", |message| {
        let items = field(message, "Items").into_iter().flat_map(Json::items).map(item);
        Some(json!({
            "role": field(message, "Role").and_then(|role| text(role, "Label")),
            "items": items.collect::<Vec<Value>>(),
            "ai_model_id": text(message, "ModelId"),
        }))
    })])
}

/// An item in the form that Python's `serialize` gives it.
fn item(item: Json<'_, '_>) -> Value {
    let value = |name: &str| field(item, name).map(Json::to_value);
    let name = match (text(item, "PluginName"), text(item, "FunctionName")) {
        (Some(plugin), Some(function)) => Some(format!("{plugin}-{function}")),
        (_, function) => function,
    };
    let kind = item.field("$type").as_str().unwrap_or_default();
    match kind.as_ref() {
        "TextContent" => json!({ "content_type": "text", "text": text(item, "Text") }),
        "FunctionCallContent" => json!({
            "content_type": "function_call", "id": text(item, "Id"), "name": name, "arguments": value("Arguments"),
        }),
        "FunctionResultContent" => json!({
            "content_type": "function_result", "id": text(item, "CallId"), "name": name, "result": value("Result"),
        }),
        kind => json!({ "content_type": kind }),
    }
}
