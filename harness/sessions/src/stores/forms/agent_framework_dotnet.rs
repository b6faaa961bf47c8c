//! Agent Framework for .NET: a session as `AIAgent.SerializeSession` writes it.
//!
//! The messages are those of `Microsoft.Extensions.AI`, with the kind of a content in `$type`. Its
//! `FunctionInvokingChatClient` throws on an approval request without a response. Source:
//! `dotnet/src/Microsoft.Agents.AI.Abstractions/InMemoryChatHistoryProvider.cs` of
//! <https://github.com/microsoft/agent-framework>, `AIContent.cs` and `FunctionInvokingChatClient.cs` in
//! `src/Libraries` of <https://github.com/dotnet/extensions>, and
//! <https://github.com/microsoft/agent-framework/issues/8575>.

use std::collections::BTreeSet;

use brickbat_rules::json::{Document, Json};
use serde_json::{Value, json};

use super::assembled::{Assembled, Assembly};
use super::read::listed;
use crate::stores::Look;
use crate::{Files, FormError, Trouble};

pub(super) const SESSION: Assembly = Assembly { owns: is_session, assemble };

/// The words of a trouble on which every run stops.
pub(super) const NO_RESPONSE: &str = "an approval request without a response, on which FunctionInvokingChatClient throws \
    InvalidOperationException: ToolApprovalRequestContent found with ToolCall.CallId(s) that have no matching \
    ToolApprovalResponseContent";

/// The kinds of requests and responses: in the current version, and before it was renamed.
const REQUESTS: [&str; 2] = ["toolApprovalRequest", "functionApprovalRequest"];
const RESPONSES: [&str; 2] = ["toolApprovalResponse", "functionApprovalResponse"];

/// The lists with the messages, of the provider of the memory and of earlier versions.
const LISTS: [&str; 5] = [
    "/stateBag/InMemoryChatHistoryProvider/messages",
    "/chatHistoryProviderState/messages",
    "/storeState/messages",
    "/messages",
    "",
];

fn is_message(item: Json<'_, '_>) -> bool {
    let [role, contents] = item.pick(["role", "contents"]);
    let is_kind = |content: Json<'_, '_>| content.field("$type").is_str();
    role.is_some_and(Json::is_str) && contents.is_some_and(|contents| contents.items().all(is_kind))
}

fn list<'t, 'a>(root: Json<'t, 'a>) -> Option<(&'static str, Json<'t, 'a>)> {
    let has_content = |item: Json<'_, '_>| item.field("contents").items().next().is_some();
    let is_list = |list: Json<'_, '_>| list.items().all(is_message) && list.items().any(has_content);
    LISTS.into_iter().map(|at| (at, root.pointer(at))).find(|(_, list)| is_list(*list))
}

fn is_session(look: &Look<'_>) -> bool {
    look.is_whole(|root| list(root).is_some())
}

fn assemble(files: &Files) -> Result<Vec<Assembled>, FormError> {
    let document = Document::parse(files.main()).map_err(|_| FormError::Shape("no JSON"))?;
    let (at, list) = list(document.root()).ok_or(FormError::Shape("it has no list of messages"))?;
    let mut session = Assembled::of_items(list, at, ".NET session", |message| {
        let contents: Vec<Value> = message.field("contents").items().map(content).collect();
        Some(json!({ "role": message.field("role").to_value(), "contents": contents }))
    });
    let contents = || list.items().flat_map(|message| message.field("contents").items());
    let ids = |kinds: [&str; 2], name: &str| -> BTreeSet<String> {
        let own = contents().filter(|content| kinds.iter().any(|kind| content.field("$type").is(kind)));
        own.filter_map(|content| id(content, name)).collect()
    };
    let answered = ids(RESPONSES, "requestId");
    for (place, message) in
        session.records.iter().zip(list.items()).map(|((place, _), message)| (place, message))
    {
        let open = listed(message.field("contents"), &format!("{}/contents", place.pointer)).into_iter();
        let is_open = |content: Json<'_, '_>| {
            REQUESTS.iter().any(|kind| content.field("$type").is(kind))
                && !id(content, "requestId").is_some_and(|id| answered.contains(&id))
        };
        for (pointer, _) in open.filter(|(_, content)| is_open(*content)) {
            let place = crate::Place { pointer, ..place.clone() };
            session.troubles.push(Trouble { place, words: NO_RESPONSE.to_owned(), loses: None });
        }
    }
    Ok(vec![session])
}

/// The id of a request. It was called `id` before it was renamed.
fn id(content: Json<'_, '_>, name: &str) -> Option<String> {
    let id = content.get(name).or_else(|| content.get("id"))?;
    Some(id.as_str()?.into_owned())
}

/// A content in the form that Python writes.
fn content(content: Json<'_, '_>) -> Value {
    let value = |name: &str| content.get(name).map(Json::to_value);
    let kind = content.field("$type").as_str().unwrap_or_default();
    match kind.as_ref() {
        "text" => json!({ "type": "text", "text": value("text") }),
        "reasoning" => json!({ "type": "text_reasoning", "text": value("text") }),
        "functionCall" => json!({
            "type": "function_call", "call_id": value("callId"), "name": value("name"), "arguments": value("arguments"),
        }),
        "functionResult" => {
            let result = value("result").unwrap_or_default();
            json!({ "type": "function_result", "call_id": value("callId"), "result": result })
        }
        kind => json!({ "type": kind }),
    }
}
