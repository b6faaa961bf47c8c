//! OpenAI Chat Completions: the rules, and the order in which they are checked.
//!
//! The types of fields come first, then the pairing of calls and tool messages in the order of the conversation.
//! Missing content was measured to be found last. Messages are not merged, and their roles need not alternate.

mod content;
mod pairing;
mod schema;
mod table;

use super::profile::OpenaiChatSwitches;
use super::violation::{Breach, Breaches};
use crate::json::Json;

pub(super) use table::*;

/// Checks a parsed body.
pub(super) fn check(switches: &OpenaiChatSwitches, body: &Json, out: &mut Breaches) {
    let Some(messages) = schema::messages(body, out) else { return };
    schema::check_messages(switches, messages, out);
    pairing::check(messages, out);
    content::check(messages, out);
}

/// Refuses a body that is not JSON.
///
/// The whole sentence is quoted in <https://github.com/ChatGPTNextWeb/NextChat/issues/4064>.
pub(super) fn refuse_unreadable(out: &mut Breaches) {
    out.add(&BODY_NOT_JSON, || {
        Breach::at(
            String::new(),
            "We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP \
             library correctly. The OpenAI API expects a JSON payload, but what was sent was not valid JSON. If you \
             have trouble figuring out how to fix this, please contact us through our help center at \
             help.openai.com.)"
                .to_owned(),
        )
    });
}

/// What a message may do, by its role. A missing or unknown role, which the schema check reports, is `None`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// `system`, `developer` and `user`.
    Prompt,
    Assistant,
    Tool,
    /// The forerunner of `tool`. Its rules are not known any more.
    Function,
}

impl Role {
    fn of(message: &Json) -> Option<Role> {
        match message.get("role")?.as_str()? {
            "system" | "developer" | "user" => Some(Role::Prompt),
            "assistant" => Some(Role::Assistant),
            "tool" => Some(Role::Tool),
            "function" => Some(Role::Function),
            _ => None,
        }
    }
}

/// The calls of an assistant message. Other roles have none: `tool_calls` in a user message is ignored.
fn calls<'a>(message: &'a Json<'a>) -> &'a [Json<'a>] {
    match (Role::of(message), message.get("tool_calls")) {
        (Some(Role::Assistant), Some(Json::Array(calls))) => calls,
        _ => &[],
    }
}
