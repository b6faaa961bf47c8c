//! Open WebUI: an export of chats, or a chat as the database and its users have it, without the frame of the export.
//!
//! The messages of a chat are a map, and `currentId` names the last one of the active branch. Tool calls are inside the
//! texts, and are not read; newer releases have them in `output` too, which they send instead of the text. Every provider
//! is asked by Chat Completions. Replies without a text are left out (`.filter(…content?.trim())` in
//! `src/lib/components/chat/Chat.svelte`), unless they have an `output`, and so are calls and results without each other
//! (`reconcile_tool_pairs`; before 0.10 they were sent, <https://github.com/open-webui/open-webui/issues/24758>). A message without a role or without its parent leaves the page of the chat empty
//! (<https://github.com/open-webui/open-webui/issues/24157>, <https://github.com/open-webui/open-webui/issues/15189>).
//! Source: `backend/open_webui/models/chats.py` and `src/lib/utils/index.ts` of
//! <https://github.com/open-webui/open-webui>.

use std::collections::BTreeMap;

use brickbat_rules::Dialect;
use brickbat_rules::histories::Role;
use brickbat_rules::json::{Document, Json};

use serde_json::Value;

use super::assembled::{Assembled, Assembly};
use super::read::listed;
use super::{BASE, Form, Framing, Mark, Piece, Saying, Sends, Shape, Speaker, Tree, open_webui_output};
use crate::{Cut, Files, FormError, Place, Product, Trouble};

pub(crate) const FORM: Form = Form {
    product: Product::OpenWebui,
    generation: "export",
    file: Framing::Each(&[""], &["/chat/history/messages", "/history/messages"]),
    other: Some(Assembly { owns: |look| look.is_whole(is_chat), assemble }),
    marks: &[Mark::Every(&["/role", "/content", "/parentId"])],
    shape: Shape::Speakers(&[
        Speaker {
            at: "",
            role: Saying::Named(
                "/role",
                &[("system", Role::System), ("user", Role::User), ("assistant", Role::Assistant)],
            ),
            pieces: &[Piece::Whole("/content")],
        },
        super::chat_at("/sent/*"),
    ]),
    dialect: Some(Dialect::OpenaiChat),
    model: &["/models/0", "/model"],
    tree: Some(Tree { id: "/id", parent: "/parentId", current: &["/currentId"] }),
    sends: Sends::LeavesOutBlanksAndHalves,
    ..BASE
};

/// The description of a message that the page cannot show.
pub(super) const NO_ROLE: &str = "a message without a role on the current branch, so the page of the chat stays empty; set `currentId` to the \
     message before it";
const NO_PARENT: &str = "a message without `parentId`, so the chat begins here when it is loaded";
const LOST_PARENT: &str = "the message before this one is not in the chat, so the page of the chat stays empty; set its `parentId` to \
     that of a message that is";

/// The places of the history of a chat.
const HISTORIES: [&str; 2] = ["/chat/history", "/history"];

/// The chats of a file: one, or a list of them.
fn chats<'t, 'a>(root: Json<'t, 'a>) -> Vec<(String, Json<'t, 'a>)> {
    if root.is_array() { listed(root, "") } else { vec![(String::new(), root)] }
}

fn history<'t, 'a>(chat: Json<'t, 'a>) -> Option<(&'static str, Json<'t, 'a>)> {
    let found = HISTORIES.iter().map(|at| (*at, chat.pointer(at)));
    found.into_iter().find(|(_, history)| {
        let [messages, current] = history.pick(["messages", "currentId"]);
        messages.is_some_and(Json::is_object) && current.is_some()
    })
}

fn is_chat(root: Json<'_, '_>) -> bool {
    let is_message = |message: Json<'_, '_>| {
        let [role, content] = message.pick(["role", "content"]);
        role.is_some_and(|role| role.is("user") || role.is("assistant")) && content.is_some()
    };
    let has_message = |history: Json<'_, '_>| {
        let mut messages = history.field("messages").fields();
        messages.any(|(_, message)| is_message(message) && message.get("childrenIds").is_some())
    };
    chats(root)
        .iter()
        .take(8)
        .any(|(_, chat)| history(*chat).is_some_and(|(_, history)| has_message(history)))
}

fn assemble(files: &Files) -> Result<Vec<Assembled>, FormError> {
    let whole = crate::stores::json_text::whole(files.main()).ok_or(FormError::Shape("no JSON"))?;
    let document = Document::parse(&whole.text).map_err(|_| FormError::Shape("no JSON"))?;
    let mut found = Vec::new();
    for (at, chat) in chats(document.root()) {
        let Some((inner, history)) = history(chat) else { continue };
        let (mut one, current) = of_chat(&format!("{at}{inner}/messages"), history);
        let models = chat.pointer(&format!("{}/models", inner.trim_end_matches("/history")));
        let current = serde_json::json!(current);
        let models = if models.is_array() { models.raw() } else { "[]" };
        one.own = Some(format!("{{\"models\":{models},\"currentId\":{current}}}"));
        one.troubles.extend(whole.trouble(files.main()));
        found.push(one);
    }
    Ok(found)
}

/// The message, with what is sent for its output instead of its text.
fn sent(message: Json<'_, '_>) -> String {
    let is_reply = message.field("role").is("assistant");
    let instead = if is_reply { open_webui_output::messages(message.field("output")) } else { Vec::new() };
    let Value::Object(mut fields) = message.to_value() else { return message.raw().to_owned() };
    if instead.is_empty() {
        return message.raw().to_owned();
    }
    fields.shift_remove("content");
    fields.insert("sent".to_owned(), Value::Array(instead));
    Value::Object(fields).to_string()
}

/// The records of a chat, and the id of the last message that is shown.
fn of_chat(at: &str, history: Json<'_, '_>) -> (Assembled, Option<String>) {
    let messages = listed(history.field("messages"), at);
    let place = |n: usize| {
        let (pointer, message) = &messages[n];
        Place::in_file(message.span().start as u64..message.span().end as u64, pointer.clone())
    };
    // The key of a message is its id, even if an error of a provider took the place of its fields.
    let key = |n: usize| messages[n].0.rsplit('/').next().unwrap_or_default();
    let ids: BTreeMap<&str, usize> = (0..messages.len()).map(|n| (key(n), n)).collect();
    let mut parents: BTreeMap<String, usize> = BTreeMap::new();
    for (n, (_, message)) in messages.iter().enumerate() {
        let children = message.field("childrenIds").items().filter_map(|id| id.as_str());
        parents.extend(children.map(|id| (id.into_owned(), n)));
    }
    let mut one = Assembled { generation: FORM.generation, ..Assembled::default() };
    let current = history.field("currentId").as_str();
    let mut next = current.and_then(|id| ids.get(id.as_ref()).copied());
    let mut last = next;
    for _ in 0..messages.len() {
        let Some(n) = next else { break };
        let message = messages[n].1;
        let mut note = |words: String| one.troubles.push(Trouble { place: place(n), words, loses: None });
        if !message.field("role").is_str() {
            note(NO_ROLE.to_owned());
            next = parents.get(key(n)).copied();
            last = next;
            continue;
        }
        let parent = message.field("parentId");
        next = parent.as_str().and_then(|id| ids.get(id.as_ref()).copied());
        let words = match next {
            Some(_) => continue,
            None if parent.is_str() => LOST_PARENT.to_owned(),
            None if !parent.span().is_empty() => continue,
            None => {
                let fix = parents
                    .get(key(n))
                    .map(|before| format!("; set it to the id of {}", messages[*before].0));
                format!("{NO_PARENT}{}", fix.unwrap_or_default())
            }
        };
        note(words);
        one.cut = Some(Cut { place: place(n), parent: None });
    }
    one.records = (0..messages.len()).map(|n| (place(n), sent(messages[n].1))).collect();
    (one, last.map(|n| key(n).to_owned()))
}
