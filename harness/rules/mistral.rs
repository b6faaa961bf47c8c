//! Mistral's La Plateforme: the rules, and the order in which they are checked.
//!
//! The order is that of `mistral-common`, Mistral's own validator, whose sentences the API says: the types of fields,
//! then the shape of the conversation (how it begins, how it ends, which role follows which, whether calls and results
//! agree), then each message for itself, then the declared tools. Messages are not merged.
//!
//! The validator also refuses kinds of content that a version of the tokenizer cannot take, unknown fields, schemas of
//! tools that are no JSON Schema, and settings that a model does not know. None of that is checked here.

mod content;
mod order;
mod pairing;
mod shape;
mod table;

use super::judge::{Book, Judge};
use super::profile::{Profile, Switches};
use super::violation::{Breach, Breaches};
use super::{Memory, Rule};
use crate::json::{Items, Json};
use content::Content;
use order::Order;
use pairing::Batches;

pub(super) use table::*;

/// The rules of Mistral.
pub(super) struct Mistral;

impl Book for Mistral {
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
        let Switches::Mistral(switches) = &profile.switches else {
            unreachable!("the profiles of a dialect have its switches, as a test makes sure")
        };
        Box::new(Request {
            order: Order::new(switches),
            batches: Batches::new(switches),
            content: Content::new(switches),
        })
    }

    fn refuse_unreadable(&self, _: &[u8], _: &serde_json::Error, out: &mut Breaches) {
        out.add(&BODY_NOT_JSON, || Breach::at(""));
    }
}

/// A request that is being judged.
struct Request<'a> {
    order: Order,
    batches: Batches<'a>,
    content: Content,
}

impl<'a> Judge<'a> for Request<'a> {
    fn message(&mut self, n: usize, message: Json<'_, 'a>, out: &mut Breaches) {
        let role = Role::of(message);
        shape::check_message(n, role, message, out);
        self.order.message(n, role, message, out);
        self.batches.message(n, role, message, out);
        self.content.message(n, role, message, out);
    }

    fn finish(&mut self, body: Json<'_, 'a>, n_messages: Option<usize>, out: &mut Breaches) {
        shape::check_body(body, n_messages, out);
        self.order.finish(n_messages, out);
        self.batches.finish(out);
        content::check_tools(body, out);
    }
}

/// Who says a message. A missing or unknown role, which the check of the shape reports, is `None`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    System,
    User,
    Assistant,
    Tool,
}

impl Role {
    fn of(message: Json) -> Option<Role> {
        match message.field("role").as_str()?.as_ref() {
            "system" => Some(Role::System),
            "user" => Some(Role::User),
            "assistant" => Some(Role::Assistant),
            "tool" => Some(Role::Tool),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Role::System => "system",
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::Tool => "tool",
        }
    }
}

/// The calls of a message. Other roles than the assistant have none.
fn calls<'t, 'a>(role: Option<Role>, message: Json<'t, 'a>) -> Items<'t, 'a> {
    match role {
        Some(Role::Assistant) => message.field("tool_calls").items(),
        _ => Items::default(),
    }
}

/// The id of a call. One that has none is called `null`, as the validator does.
fn call_id<'a>(call: Json<'_, 'a>) -> std::borrow::Cow<'a, str> {
    call.field("id").as_str().unwrap_or("null".into())
}

/// Whether a reply goes on in this message, which must be the last.
fn is_prefix(message: Json) -> bool {
    message.field("prefix").as_bool() == Some(true)
}

/// The code of refusals because of the shape of a conversation.
const MESSAGE_ORDER: &str = "3230";

/// The code of refusals because of a call.
const FUNCTION_CALL: &str = "3280";
