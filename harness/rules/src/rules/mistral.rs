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
mod said;
mod shape;
mod table;

use super::judge::{Book, Judge};
use super::profile::{Profile, Switches};
use super::violation::{Breach, Breaches};
use super::{Memory, Rule};
use crate::json::Json;
use content::Content;
use order::Order;
use pairing::Batches;
use said::{Call, Role, Said};

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
        let said = Said::of(n, message);
        shape::check_message(said, out);
        self.order.message(said, out);
        self.batches.message(said, out);
        self.content.message(said, out);
    }

    fn finish(&mut self, body: Json<'_, 'a>, n_messages: Option<usize>, out: &mut Breaches) {
        shape::check_body(body, n_messages, out);
        self.order.finish(n_messages, out);
        self.batches.finish(out);
        content::check_tools(body, out);
    }
}

/// The code of refusals because of the shape of a conversation.
const MESSAGE_ORDER: &str = "3230";

/// The code of refusals because of a call.
const FUNCTION_CALL: &str = "3280";
