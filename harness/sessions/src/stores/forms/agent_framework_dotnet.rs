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
use crate::{Files, FormError, Place, Trouble};

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
    let open = open_requests(list, at).into_iter();
    session.troubles =
        open.map(|place| Trouble { place, words: NO_RESPONSE.to_owned(), loses: None }).collect();
    Ok(vec![session])
}

/// The approval requests without a response. A request behind the last message of the user is still waiting for one.
fn open_requests(list: Json<'_, '_>, at: &str) -> Vec<Place> {
    let is_one =
        |kinds: [&str; 2], content: Json<'_, '_>| kinds.iter().any(|kind| content.field("$type").is(kind));
    let contents = list.items().flat_map(|message| message.field("contents").items());
    let responses = contents.filter(|content| is_one(RESPONSES, *content));
    let answered: BTreeSet<String> = responses.filter_map(id).collect();
    let is_user = |message: Json<'_, '_>| message.field("role").is("user");
    let n_before = list.items().collect::<Vec<_>>().into_iter().rposition(is_user).unwrap_or_default();
    let mut open = Vec::new();
    for (at, message) in listed(list, at).into_iter().take(n_before) {
        for (pointer, content) in listed(message.field("contents"), &format!("{at}/contents")) {
            let is_answered = id(content).is_some_and(|id| answered.contains(&id));
            if is_one(REQUESTS, content) && !is_answered {
                let span = content.span();
                open.push(Place::in_file(span.start as u64..span.end as u64, pointer));
            }
        }
    }
    open
}

/// The id of a request. It was called `id` before it was renamed.
fn id(content: Json<'_, '_>) -> Option<String> {
    let id = content.get("requestId").or_else(|| content.get("id"))?;
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
