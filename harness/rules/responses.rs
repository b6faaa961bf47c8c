//! OpenAI Responses: the rules, and the order in which they are checked.
//!
//! A conversation is a list of items, after those of the response that a request goes on from. The shape of each item
//! comes first. Then what was said before is asked for, and last calls and outputs are paired over the whole of it:
//! they need not stand side by side.

mod pairing;
mod reasoning;
mod schema;
mod state;
mod table;

use serde_json::Value;

use super::judge::{Book, Judge};
use super::memory::{Keeps, Told, WrittenOut};
use super::profile::{Profile, ResponsesSwitches, Switches};
use super::violation::{Breach, Breaches};
use super::{Memory, Rule};
use crate::json::Json;
use state::State;

pub(super) use table::*;

/// The rules of OpenAI Responses.
pub(super) struct OpenaiResponses;

impl Book for OpenaiResponses {
    fn rules(&self) -> &'static [&'static Rule] {
        RULES
    }

    fn list(&self) -> &'static str {
        "input"
    }

    fn bare(&self) -> &'static [u8] {
        br#"{"input":[]}"#
    }

    fn judge<'a>(&self, profile: &'static Profile, memory: &'a Memory) -> Box<dyn Judge<'a> + 'a> {
        let Switches::OpenaiResponses(switches) = &profile.switches else {
            unreachable!("the profiles of a dialect have its switches, as a test makes sure")
        };
        Box::new(Request { switches, state: State::new(memory) })
    }

    fn refuse_unreadable(&self, _: &[u8], _: &serde_json::Error, out: &mut Breaches) {
        out.add(&BODY_NOT_JSON, || Breach::at(""));
    }

    /// A reply is stored unless the request says no.
    fn keeps(&self, request: Json) -> Keeps {
        match request.field("store").as_bool() {
            Some(false) => Keeps::Nothing,
            _ => Keeps::All,
        }
    }

    fn remember(&self, memory: &mut Memory, request: Json, reply: &Value, told: Told) {
        memory.replies.add(request, reply, told);
    }

    fn write_out(&self, memory: &Memory, request: Json) -> Option<WrittenOut> {
        memory.replies.write_out(request)
    }
}

/// A request that is being judged.
struct Request<'a> {
    switches: &'static ResponsesSwitches,
    state: State<'a>,
}

impl<'a> Judge<'a> for Request<'a> {
    fn message(&mut self, n: usize, item: Json<'_, 'a>, out: &mut Breaches) {
        let kind = Kind::of(item);
        schema::check_item(self.switches, n, kind, item, out);
        self.state.item(n, kind, item, out);
    }

    fn finish(&mut self, body: Json<'_, 'a>, n_items: Option<usize>, out: &mut Breaches) {
        schema::check_body(body, n_items, out);
        self.state.finish(body, out);
    }
}

/// What an item is, as far as the rules tell items apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A message of the user or of the program. A message of an unknown role counts as one.
    Prompt,
    /// A message of the model.
    Said,
    /// A call that the client has to answer.
    Call(Tool),
    /// The answer to such a call.
    Output(Tool),
    Reasoning,
    /// The name of an item that the provider has.
    Reference,
    /// Anything else: what the provider did itself, and types that are not known.
    Other,
}

/// Who made a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tool {
    /// It has a JSON Schema.
    Function,
    /// It takes any text.
    Custom,
}

impl Tool {
    /// Which sentence speaks of it, in the rules about calls.
    fn form(self) -> usize {
        match self {
            Tool::Function => 0,
            Tool::Custom => 1,
        }
    }
}

impl Kind {
    fn of(item: Json) -> Kind {
        let kind = item.field("type");
        match kind.as_str().as_deref() {
            Some("function_call") => Kind::Call(Tool::Function),
            Some("custom_tool_call") => Kind::Call(Tool::Custom),
            Some("function_call_output") => Kind::Output(Tool::Function),
            Some("custom_tool_call_output") => Kind::Output(Tool::Custom),
            Some("reasoning") => Kind::Reasoning,
            Some("item_reference") => Kind::Reference,
            // Only messages may leave their type out, and references theirs.
            None if kind.is_null() && item.get("role").is_none() && item.field("id").is_str() => {
                Kind::Reference
            }
            None | Some("message") if item.field("role").is("assistant") => Kind::Said,
            None | Some("message") => Kind::Prompt,
            Some(_) => Kind::Other,
        }
    }

    /// How the provider's ids of such items begin.
    fn id_prefix(self) -> Option<&'static str> {
        match self {
            Kind::Said => Some("msg"),
            Kind::Call(Tool::Function) => Some("fc"),
            Kind::Call(Tool::Custom) => Some("ctc"),
            Kind::Reasoning => Some("rs"),
            Kind::Prompt | Kind::Output(_) | Kind::Reference | Kind::Other => None,
        }
    }
}

fn at(n: usize) -> String {
    format!("/input/{n}")
}
