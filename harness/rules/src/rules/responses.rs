//! OpenAI Responses: the rules, and the order in which they are checked.
//!
//! A conversation is a list of items, after those of the response that a request goes on from. The shape of each item
//! comes first. Then what was said before is asked for, and last calls and outputs are paired over the whole of it:
//! they need not stand side by side.

mod item;
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
use item::{Item, Kind, Tool};
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
        let item = Item::of(n, item);
        schema::check_item(self.switches, item, out);
        self.state.item(item, out);
    }

    fn finish(&mut self, body: Json<'_, 'a>, n_items: Option<usize>, out: &mut Breaches) {
        schema::check_body(body, n_items, out);
        self.state.finish(body, out);
    }
}

fn at(n: usize) -> String {
    format!("/input/{n}")
}
