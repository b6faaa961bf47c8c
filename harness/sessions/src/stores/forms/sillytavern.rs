//! SillyTavern: a chat as JSONL, with the fields of the chat on the first line.
//!
//! A message of the system is not sent, unless it has the invocations of tools, which are sent as a call and its result each.
//! Source: `saveFunctionToolInvocations` in `public/scripts/tool-calling.js` and `populateChatHistory` in
//! `public/scripts/openai.js` of <https://github.com/SillyTavern/SillyTavern>, and
//! <https://github.com/SillyTavern/SillyTavern/issues/5613>.

use brickbat_rules::histories::Role;
use brickbat_rules::json::Json;
use serde_json::{Value, json};

use super::assembled::{Assembled, Assembly};
use super::{BASE, CallAt, Form, Piece, ResultAt, Saying, Shape, Speaker};
use crate::stores::Look;
use crate::{Files, FormError, Product};

pub(crate) const FORM: Form = Form {
    product: Product::Sillytavern,
    generation: "JSONL",
    other: Some(Assembly { owns: is_chat, assemble }),
    shape: Shape::Speakers(&[
        Speaker {
            at: "",
            role: Saying::Flag("/is_user", Role::User, Role::Assistant),
            pieces: &[Piece::Text("/mes")],
        },
        Speaker {
            at: "/extra/tool_invocations/*",
            role: Saying::Is(Role::Assistant),
            pieces: &[Piece::Both(
                CallAt { id: "/id", name: "/name", arguments: "/parameters" },
                ResultAt { call: "/id", name: "/name", output: "/result", failed: None },
            )],
        },
    ]),
    ..BASE
};

fn is_chat(look: &Look<'_>) -> bool {
    let is_message = |line: Json<'_, '_>| {
        let [user, text] = line.pick(["is_user", "mes"]);
        user.is_some_and(|user| user.as_bool().is_some()) && text.is_some_and(Json::is_str)
    };
    let head = look.head();
    let is_headed = head.first().is_some_and(|line| line.root().get("chat_metadata").is_some());
    is_headed && head.len() > 1 && head[1..].iter().all(|line| is_message(line.root()))
}

fn assemble(files: &Files) -> Result<Vec<Assembled>, FormError> {
    Ok(vec![Assembled::of_lines(files.main(), FORM.generation, |line| {
        let is_system = line.field("is_system").as_bool() == Some(true);
        match line.field("extra").get("tool_invocations") {
            _ if line.get("mes").is_none() => None,
            Some(calls) if is_system => Some(invocations(calls)),
            _ if is_system => None,
            _ => Some(
                json!({ "is_user": line.field("is_user").to_value(), "mes": line.field("mes").to_value() }),
            ),
        }
    })])
}

fn invocations(calls: Json<'_, '_>) -> Value {
    json!({ "extra": { "tool_invocations": calls.to_value() } })
}
