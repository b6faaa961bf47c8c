//! OpenAI Chat Completions: the rules and their order.
//!
//! Types of fields come first, then the pairing of calls and tool messages, in the order of the
//! conversation. Measurements show that missing content is found last. Messages are not merged, and roles
//! need not alternate.

mod content;
mod conversation;
mod field;
mod foreign;
mod media;
mod pairing;
mod profiles;
mod relatives;
mod said;
mod schema;
mod shared;
mod stream;
mod switches;

pub(crate) use conversation::CODEC;
pub(crate) use field::{Field, missing, wrong_type};
pub(crate) use foreign::{is_foreign_item_to_responses, is_foreign_part_to_responses};
pub(crate) use stream::{Chat, ChatRules, chat_rules};

use super::{Checker, Definition, Switches};
use crate::json::Json;
use crate::streams::Framing;
use crate::{Memory, Occurrence, Profile, Retention, Rule, Violations};
use media::Media;
use pairing::ChatPairing;
use relatives::Relatives;
use said::{ChatMessage, ChatRole};
use switches::OpenaiChatSwitches;

pub(super) static DEFINITION: Definition = Definition {
    name: "openai-chat",
    rules: RULES,
    profiles: &profiles::PROFILES,
    path_ends: &["/chat/completions"],
    only_host: None,
    model_field: "model",
    model_of_path: None,
    list: "messages",
    codec: &conversation::CODEC,
    bare: br#"{"messages":[]}"#,
    refuse_unreadable: |_, _, out| out.add(&BODY_NOT_JSON, || Occurrence::at("")),
    keeps: |_| Retention::Nothing,
    remember: |_, _, _, _| {},
    stream_rules: stream::RULES,
    tolerated_of_relatives: stream::TOLERATED_OF_UNKNOWN,
    framing: Framing::Lines,
    machine: || Box::new(stream::Chat::new(&stream::CHAT)),
};

impl Switches for OpenaiChatSwitches {
    fn checker<'a>(&'static self, profile: &'static Profile, _: &'a Memory) -> Box<dyn Checker<'a> + 'a> {
        let relatives = Relatives::of(profile, self);
        Box::new(ChatChecker {
            profile,
            switches: self,
            pairing: ChatPairing::new(self.twin_calls),
            media: Media::default(),
            relatives,
        })
    }
}

struct ChatChecker<'a> {
    profile: &'static Profile,
    switches: &'static OpenaiChatSwitches,
    pairing: ChatPairing<'a>,
    media: Media,
    /// The optional rules, if the profile has any.
    relatives: Option<Relatives>,
}

impl<'a> Checker<'a> for ChatChecker<'a> {
    fn message(&mut self, n: usize, message: Json<'_, 'a>, out: &mut Violations) {
        let said = ChatMessage::of(n, message);
        schema::check_message(self.switches, said, out);
        self.pairing.message(said, out);
        content::check(said, out);
        self.media.message(said);
        if let Some(relatives) = &mut self.relatives {
            relatives.message(said, out);
        }
    }

    fn finish(&mut self, body: Json<'_, 'a>, n_messages: Option<usize>, out: &mut Violations) {
        schema::check_body(body, n_messages, out);
        self.pairing.finish(out);
        self.media.finish(self.profile, body, out);
        if let Some(relatives) = &mut self.relatives {
            relatives.finish(body, out);
        }
    }
}

/// Every rule, in checking order.
static RULES: &[&Rule] = &[
    &BODY_NOT_JSON,
    &BODY_TOO_LARGE,
    &schema::REQUEST_SHAPE,
    &schema::MESSAGES_EMPTY,
    &schema::UNKNOWN_ROLE,
    &schema::CONTENT_PART_TYPE,
    &schema::CONTENT_LIST_EMPTY,
    &schema::TOOL_CALLS_EMPTY,
    &schema::TOOL_CALL_SHAPE,
    &schema::CALL_ID_TOO_LONG,
    &schema::FUNCTION_NAME_PATTERN,
    &schema::TOOL_CALL_ID_REQUIRED,
    &relatives::UNKNOWN_MESSAGE_FIELD,
    &relatives::TOOL_CALL_NOT_FUNCTION,
    &relatives::CONTENT_EMPTY,
    &relatives::USER_MESSAGE_MISSING,
    &relatives::PART_NOT_TEXT,
    &media::IMAGE_OUTSIDE_USER,
    &media::INPUT_NOT_ENABLED,
    &relatives::ARGUMENTS_NOT_JSON,
    &pairing::TOOL_MESSAGE_ORPHAN,
    &pairing::TOOL_MESSAGE_UNKNOWN_ID,
    &pairing::TOOL_MESSAGE_MISSING,
    &pairing::TOOL_MESSAGE_DUPLICATE,
    &pairing::TOOL_CALL_ID_DUPLICATE,
    &relatives::SUCCESSIVE_ROLES,
    &content::CONTENT_NULL,
    &relatives::REASONING_CONTENT_MISSING,
    &relatives::REASONING_CONTENT_NOT_RETURNED,
];

/// OpenAI's answer to a body that is not JSON, in both of its dialects.
pub(crate) const UNREADABLE: &[&str] = &[
    "We could not parse the JSON body of your request. (HINT: This likely \
     means you aren't using your HTTP library correctly. The OpenAI API expects a JSON payload, but what was \
     sent was not valid JSON. If you have trouble figuring out how to fix this, please contact us through our \
     help center at help.openai.com.)",
];

/// Copilot's limit. Its own app names it: "(6.6 MB request; 5.0 MB limit)"
/// (<https://github.com/github/app/issues/2445>).
pub(crate) const COPILOT_BYTES: usize = 5 << 20;

/// Copilot's answers to a body that is too large, in both of its dialects.
pub(crate) const COPILOT_TOO_LARGE: &[&str] = &["failed to parse request", "413 Request Entity Too Large"];

/// Reports of [`BODY_TOO_LARGE`] in both dialects.
pub(crate) const COPILOT_SOURCES: &[&str] = &[
    "https://github.com/microsoft/vscode/issues/293565",
    "https://github.com/github/copilot-cli/issues/3767",
    "https://github.com/github/copilot-cli/issues/965",
    "https://github.com/github/app/issues/2181",
];

/// Only GitHub Copilot has it.
pub(crate) static BODY_TOO_LARGE: Rule = Rule {
    summary: "The body has at most 5 MB.",
    why: "The images and the results in the history add up to more than GitHub Copilot accepts in one request. \
         Every later request is rejected as well. Remove or shrink old images and long results.",
    sentences: COPILOT_TOO_LARGE,
    status: 413,
    is_optional: true,
    sources: COPILOT_SOURCES,
    ..Rule::measured("openai-chat/body-too-large", "OAI-BODY-3", 0, "2026-01")
};

pub(crate) static BODY_NOT_JSON: Rule = Rule {
    summary: "The body is JSON.",
    why: "The bytes are not JSON. Write the body with a JSON library, and cut strings by code points.",
    sentences: UNREADABLE,
    sources: &[
        "https://github.com/ChatGPTNextWeb/NextChat/issues/4064",
        "https://github.com/microsoft/graphrag/issues/2286",
    ],
    ..Rule::measured("openai-chat/body-not-json", "OAI-BODY-1", 0, "2024-02")
};
