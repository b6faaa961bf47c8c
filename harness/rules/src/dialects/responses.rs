//! OpenAI Responses: the rules and their order.
//!
//! A conversation is a list of items. It continues the items of an earlier response, if the request names
//! one. The schema of each item is checked first, then references to earlier items. Last, calls and
//! outputs are paired over the complete list; they need not be adjacent.

mod conversation;
mod item;
mod namespace;
mod pairing;
mod profiles;
mod reasoning;
mod replies;
mod schema;
mod state;
mod stream;
mod stream_item;
mod switches;

pub(crate) use replies::Replies;

use super::{Checker, Definition, Switches};
use crate::json::Json;
use crate::streams::Framing;
use crate::{Memory, Occurrence, Profile, Retention, Rule, Violations};
use item::{Item, ItemKind, ToolKind};
use namespace::UnplacedCalls;
use state::State;
use switches::ResponsesSwitches;

pub(super) static DEFINITION: Definition = Definition {
    name: "openai-responses",
    rules: RULES,
    profiles: &profiles::PROFILES,
    path_ends: &["/responses"],
    only_host: None,
    model_field: "model",
    model_of_path: None,
    list: "input",
    codec: &conversation::CODEC,
    bare: br#"{"input":[]}"#,
    refuse_unreadable: |_, _, out| out.add(&BODY_NOT_JSON, || Occurrence::at("")),
    keeps,
    remember: |memory, request, reply, delivery| memory.replies.add(request, reply, delivery),
    stream_rules: stream::RULES,
    tolerated_of_relatives: stream::TOLERATED_OF_RELATIVES,
    framing: Framing::Lines,
    machine: || Box::new(stream::Responses::new()),
};

/// A reply is stored unless the request declines it.
fn keeps(request: Json) -> Retention {
    match request.field("store").as_bool() {
        Some(false) => Retention::Nothing,
        _ => Retention::All,
    }
}

impl Switches for ResponsesSwitches {
    fn checker<'a>(&'static self, _: &'static Profile, memory: &'a Memory) -> Box<dyn Checker<'a> + 'a> {
        Box::new(ResponsesChecker {
            switches: self,
            state: State::new(self, memory),
            unplaced: UnplacedCalls::default(),
        })
    }
}

struct ResponsesChecker<'a> {
    switches: &'static ResponsesSwitches,
    state: State<'a>,
    unplaced: UnplacedCalls<'a>,
}

impl<'a> Checker<'a> for ResponsesChecker<'a> {
    fn message(&mut self, n: usize, item: Json<'_, 'a>, out: &mut Violations) {
        let item = Item::of(n, item);
        schema::check_item(self.switches, item, out);
        self.unplaced.item(item);
        self.state.item(item, out);
    }

    fn finish(&mut self, body: Json<'_, 'a>, n_items: Option<usize>, out: &mut Violations) {
        schema::check_body(body, n_items, out);
        self.unplaced.finish(body, out);
        self.state.finish(body, out);
    }
}

fn at(n: usize) -> String {
    format!("/input/{n}")
}

/// Every rule, in checking order.
static RULES: &[&Rule] = &[
    &BODY_NOT_JSON,
    &BODY_TOO_LARGE,
    &schema::REQUEST_SHAPE,
    &schema::UNKNOWN_ROLE,
    &schema::ITEM_TYPE,
    &schema::CONTENT_PART_TYPE,
    &schema::ITEM_FIELD_REQUIRED,
    &schema::CALL_ID_LENGTH,
    &schema::FUNCTION_NAME_PATTERN,
    &schema::ITEM_ID_FORM,
    &schema::ITEM_ID_TOO_LONG,
    &schema::REASONING_CONTENT,
    &schema::ITEM_FIELD_UNKNOWN,
    &namespace::NAMESPACE_MISSING,
    &state::PREVIOUS_RESPONSE_NOT_FOUND,
    &state::ITEM_NOT_FOUND,
    &state::ITEM_DUPLICATE,
    &schema::ENCRYPTED_CONTENT_FOREIGN,
    &reasoning::REASONING_WITHOUT_ITEM,
    &reasoning::ITEM_WITHOUT_REASONING,
    &pairing::TOOL_OUTPUT_ORPHAN,
    &pairing::TOOL_OUTPUT_MISSING,
    &pairing::TOOL_OUTPUT_DUPLICATE,
    &pairing::ASYNC_OUTPUT_DUPLICATE,
    &pairing::TOOL_OUTPUTS_INTERRUPTED,
];

/// Only GitHub Copilot has it; see [`openai::BODY_TOO_LARGE`](super::openai::BODY_TOO_LARGE).
pub(crate) static BODY_TOO_LARGE: Rule = Rule {
    why: super::openai::BODY_TOO_LARGE.why,
    summary: super::openai::BODY_TOO_LARGE.summary,
    sentences: super::openai::COPILOT_TOO_LARGE,
    status: 413,
    is_optional: true,
    sources: super::openai::COPILOT_SOURCES,
    ..Rule::measured("openai-responses/body-too-large", "RSP-BODY-3", 0, "2026-01")
};

pub(crate) static BODY_NOT_JSON: Rule = Rule {
    summary: "The body is JSON.",
    why: "The bytes are not JSON. Write the body with a JSON library, and cut strings by code points.",
    sentences: super::openai::UNREADABLE,
    sources: &["https://github.com/ChatGPTNextWeb/NextChat/issues/4064"],
    ..Rule::observed("openai-responses/body-not-json", "RSP-BODY-1", 0, "2025-03")
};
