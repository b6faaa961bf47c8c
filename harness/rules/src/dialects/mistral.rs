//! Mistral's La Plateforme: the rules and their order.
//!
//! The order follows Mistral's own validator, `mistral-common`, which also provides the API's error
//! messages. Types of fields come first. The structure of the conversation follows: its beginning and end,
//! the order of roles, and matching calls and results. Then come single messages and the declared tools.
//! Messages are not merged.
//!
//! The validator also rejects kinds of content that a tokenizer version does not support, unknown fields,
//! tool schemas that are not valid JSON Schema, and settings that a model does not have. These are not
//! checked here.

mod content;
mod inputs;
mod models;
mod order;
mod pairing;
mod profiles;
mod said;
mod shape;
mod stream;
mod switches;

pub(crate) use models::is_mistral_model;

use serde_json::json;

use super::{Checker, Definition, Switches, openai};
use crate::dialects::openai::Chat;
use crate::histories::{ALPHANUMERICS, Codec, IdForm, is_mistral_id};
use crate::json::Json;
use crate::streams::Framing;
use crate::{Memory, Occurrence, Profile, Retention, Rule, Violations};
use content::ContentRules;
use inputs::Inputs;
use order::Order;
use pairing::Batches;
use said::{MistralCall, MistralMessage, MistralRole};
use switches::MistralSwitches;

pub(super) static DEFINITION: Definition = Definition {
    name: "mistral",
    rules: RULES,
    profiles: &profiles::PROFILES,
    path_ends: &["/chat/completions"],
    only_host: Some("api.mistral.ai"),
    model_field: "model",
    model_of_path: None,
    list: "messages",
    codec: &CODEC,
    bare: br#"{"messages":[]}"#,
    refuse_unreadable: |_, _, out| out.add(&BODY_NOT_JSON, || Occurrence::at("")),
    keeps: |_| Retention::Nothing,
    remember: |_, _, _, _| {},
    stream_rules: stream::RULES,
    tolerated_of_relatives: stream::TOLERATED_OF_UNKNOWN,
    framing: Framing::Lines,
    machine: || Box::new(Chat::new(&stream::CHAT)),
};

/// The messages are OpenAI Chat Completions messages; a made-up result names its tool.
static CODEC: Codec = Codec {
    result: |result| json!({ "role": "tool", "tool_call_id": result.call, "name": result.name, "content": result.text() }),
    call_id: IdForm { prefix: "", alphabet: ALPHANUMERICS, n_letters: 9 },
    takes_id: is_mistral_id,
    models: &["mistral-medium-latest", "devstral-medium-latest"],
    model: "mistral-medium-latest",
    vendor: "mistral",
    ..openai::CODEC
};

impl Switches for MistralSwitches {
    fn checker<'a>(&'static self, profile: &'static Profile, _: &'a Memory) -> Box<dyn Checker<'a> + 'a> {
        Box::new(MistralChecker {
            switches: self,
            inputs: Inputs::of(profile),
            order: Order::new(self),
            batches: Batches::new(self),
            content: ContentRules::new(self),
        })
    }
}

struct MistralChecker<'a> {
    switches: &'static MistralSwitches,
    inputs: Inputs,
    order: Order,
    batches: Batches<'a>,
    content: ContentRules,
}

impl<'a> Checker<'a> for MistralChecker<'a> {
    fn message(&mut self, n: usize, message: Json<'_, 'a>, out: &mut Violations) {
        let said = MistralMessage::of(n, message);
        shape::check_message(said, out);
        self.order.message(said, out);
        self.batches.message(said, out);
        self.content.message(said, out);
        self.inputs.message(said);
    }

    fn finish(&mut self, body: Json<'_, 'a>, n_messages: Option<usize>, out: &mut Violations) {
        shape::check_body(body, n_messages, out);
        self.order.finish(n_messages, out);
        self.batches.finish(out);
        content::check_tools(self.switches, body, out);
        self.inputs.finish(body, out);
    }
}

/// The error code for the structure of a conversation.
const MESSAGE_ORDER: &str = "3230";

/// The error code for a call.
const FUNCTION_CALL: &str = "3280";

/// Every rule, in checking order.
static RULES: &[&Rule] = &[
    &BODY_NOT_JSON,
    &shape::REQUEST_SHAPE,
    &shape::UNKNOWN_ROLE,
    &shape::CONTENT_NULL,
    &order::CONVERSATION_START,
    &order::LAST_MESSAGE_ASSISTANT,
    &order::ROLE_ORDER,
    &pairing::CALL_AND_RESULT_COUNTS,
    &pairing::RESULT_ID_UNKNOWN,
    &pairing::RESULT_ID_DUPLICATE,
    &pairing::CALL_ID_DUPLICATE,
    &content::CONTENT_AND_CALLS,
    &content::ASSISTANT_MESSAGE_EMPTY,
    &content::CALL_ID_FORM,
    &content::FUNCTION_NAME,
    &content::PREFIX_NOT_LAST,
    &inputs::INPUT_NOT_ENABLED,
];

/// No public thread quotes the error for bytes that are not JSON. The wording comes from the library that
/// reads bodies.
pub(crate) static BODY_NOT_JSON: Rule = Rule {
    summary: "The body is JSON.",
    why: "The bytes are not JSON. Write the body with a JSON library, and cut strings by code points.",
    sentences: &["JSON decode error"],
    sources: &["https://docs.mistral.ai/api"],
    ..Rule::inferred("mistral/body-not-json", "MIS-BODY-1", 0, "2024-01")
};

/// The part of the validator that checks conversations.
pub(crate) const VALIDATOR: &str =
    "https://github.com/mistralai/mistral-common/blob/main/src/mistral_common/protocol/instruct/validator.py";

/// The message types of the validator.
pub(crate) const MESSAGES: &str =
    "https://github.com/mistralai/mistral-common/blob/main/src/mistral_common/protocol/instruct/messages.py";
