//! OpenAI Chat Completions: the rules, and the order in which they are checked.
//!
//! The types of fields come first, then the pairing of calls and tool messages in the order of the conversation.
//! Missing content was measured to be found last. Messages are not merged, and their roles need not alternate.

mod content;
mod pairing;
mod relatives;
mod schema;
mod table;

use super::judge::{Book, Judge};
use super::profile::{OpenaiChatSwitches, Profile, Switches};
use super::violation::{Breach, Breaches};
use super::{Memory, Rule};
use crate::json::{Items, Json};
use pairing::Pairing;
use relatives::Relatives;

pub(super) use relatives::*;
pub(super) use table::*;

/// The rules of OpenAI Chat Completions.
pub(super) struct OpenaiChat;

impl Book for OpenaiChat {
    fn rules(&self) -> &'static [&'static Rule] {
        RULES
    }

    fn list(&self) -> &'static str {
        "messages"
    }

    fn bare(&self) -> &'static [u8] {
        br#"{"messages":[]}"#
    }

    fn judge<'a>(&self, profile: &'static Profile, _: &'a Memory) -> Box<dyn Judge<'a> + 'a> {
        let Switches::OpenaiChat(switches) = &profile.switches else {
            unreachable!("the profiles of a dialect have its switches, as a test makes sure")
        };
        let relatives = Relatives::of(profile, switches);
        Box::new(Request { switches, pairing: Pairing::default(), relatives })
    }

    /// The whole sentence is quoted in <https://github.com/ChatGPTNextWeb/NextChat/issues/4064>.
    fn refuse_unreadable(&self, _: &[u8], _: &serde_json::Error, out: &mut Breaches) {
        out.add(&BODY_NOT_JSON, || Breach::at(""));
    }
}

/// A request that is being judged.
struct Request<'a> {
    switches: &'static OpenaiChatSwitches,
    pairing: Pairing<'a>,
    /// The optional rules, if the profile has any.
    relatives: Option<Relatives>,
}

impl<'a> Judge<'a> for Request<'a> {
    fn message(&mut self, n: usize, message: Json<'_, 'a>, out: &mut Breaches) {
        let role = Role::of(message);
        schema::check_message(self.switches, n, role, message, out);
        self.pairing.message(n, role, message, out);
        content::check(n, role, message, out);
        if let Some(relatives) = &mut self.relatives {
            relatives.message(n, role, message, out);
        }
    }

    fn finish(&mut self, body: Json<'_, 'a>, n_messages: Option<usize>, out: &mut Breaches) {
        schema::check_body(body, n_messages, out);
        self.pairing.finish(out);
        if let Some(relatives) = &mut self.relatives {
            relatives.finish(body, out);
        }
    }
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
    fn of(message: Json) -> Option<Role> {
        match message.field("role").as_str()?.as_ref() {
            "system" | "developer" | "user" => Some(Role::Prompt),
            "assistant" => Some(Role::Assistant),
            "tool" => Some(Role::Tool),
            "function" => Some(Role::Function),
            _ => None,
        }
    }
}

/// The calls of a message. Other roles than the assistant have none: `tool_calls` in a user message is ignored.
fn calls<'t, 'a>(role: Option<Role>, message: Json<'t, 'a>) -> Items<'t, 'a> {
    match role {
        Some(Role::Assistant) => message.field("tool_calls").items(),
        _ => Items::default(),
    }
}
