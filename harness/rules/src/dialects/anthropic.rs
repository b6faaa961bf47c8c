//! Anthropic Messages: the rules and their order.
//!
//! A live measurement in August 2026 found that the provider returns one error. It checks types of known
//! fields first, then unknown keys, then the structure of the conversation. The order of the last group is
//! not published; ours is messages, system messages, roles of blocks, ids, pairing, server tools,
//! thinking, the final message, and the cache.

mod block;
mod cache_control;
mod content;
mod conversation;
mod ending;
mod images;
mod pairing;
mod prefix;
mod profiles;
mod returned;
mod role_turn;
mod schema;
mod server_tools;
mod stream;
mod switches;
mod tags;
mod thinking;
mod thoughts;
mod turns;
mod version;

pub(crate) use thinking::is_of_openai;
pub(crate) use thoughts::{Bound, Thoughts};

use super::{Checker, Definition, Switches};
use crate::json::{self, Json};
use crate::streams::Framing;
use crate::{BodyLimit, Memory, Occurrence, Profile, Retention, Rule, Violations};
use block::{AnthropicRole, MessageParts};
use cache_control::CacheControl;
use content::{BlankTexts, SystemMessage};
use images::Images;
use switches::{AnthropicSwitches, ApiVersion};
use turns::Turns;

pub(super) static DEFINITION: Definition = Definition {
    name: "anthropic-messages",
    rules: RULES,
    profiles: &profiles::PROFILES,
    path_ends: &["/messages"],
    only_host: None,
    model_field: "model",
    model_of_path: None,
    list: "messages",
    codec: &conversation::CODEC,
    bare: br#"{"messages":[]}"#,
    refuse_unreadable,
    keeps,
    remember: |memory, request, reply, _| {
        // If a reply broke off, the client may have received it up to the end of any block.
        thinking::remember(&mut memory.thoughts, request, reply);
    },
    stream_rules: stream::RULES,
    tolerated_of_relatives: &[],
    framing: Framing::LinesOrChunks,
    machine: || Box::new(stream::Messages::new()),
};

/// A model may think unless the request forbids it.
fn keeps(request: Json) -> Retention {
    if request.field("thinking").field("type").is("disabled") {
        Retention::Nothing
    } else {
        Retention::Thinking
    }
}

/// Rejects a body that is not JSON, with the provider's message:
///
/// "The request body is not valid JSON: no low surrogate in string: line 1 column 604829 (char 604828)"
/// (<https://github.com/anthropics/claude-code/issues/8165>). The reason before the position is our
/// parser's, except for unpaired surrogates.
fn refuse_unreadable(body: &[u8], error: &serde_json::Error, out: &mut Violations) {
    let (line, column) = (error.line(), error.column());
    let before: usize =
        body.split(|byte| *byte == b'\n').take(line.saturating_sub(1)).map(|l| l.len() + 1).sum();
    let position = (before + column).saturating_sub(1);
    let text = error.to_string();
    let own = text.split(" at line ").next().unwrap_or(&text);
    let reason = Some(body).filter(|_| own.ends_with("hex escape")).and_then(half_character).unwrap_or(own);
    out.add(&BODY_NOT_JSON, || {
        let violation = Occurrence::at("").with("reason", reason).with("line", line);
        violation.with("column", column).with("position", position)
    });
}

/// Returns the provider's reason for the first unpaired surrogate in a body.
fn half_character(body: &[u8]) -> Option<&'static str> {
    let half = &body[json::halves(body).next()?..];
    Some(match (json::utf16_unit(half), json::utf16_unit(&half[6..])) {
        (Some(0xdc00..=0xdfff), _) => "invalid high surrogate in string",
        (_, Some(_)) => "invalid low surrogate in string",
        (_, None) => "no low surrogate in string",
    })
}

impl Switches for AnthropicSwitches {
    fn checker<'a>(&'static self, _: &'static Profile, memory: &'a Memory) -> Box<dyn Checker<'a> + 'a> {
        Box::new(AnthropicChecker {
            switches: self,
            system_message: SystemMessage::default(),
            turns: Turns::new(memory),
            cache_control: CacheControl::default(),
            images: Images::default(),
        })
    }
}

struct AnthropicChecker<'a> {
    switches: &'static AnthropicSwitches,
    system_message: SystemMessage,
    turns: Turns<'a>,
    cache_control: CacheControl,
    images: Images,
}

impl<'a> Checker<'a> for AnthropicChecker<'a> {
    fn message(&mut self, n: usize, message: Json<'_, 'a>, out: &mut Violations) {
        let message = MessageParts::read(message);
        let role = message.speaker();
        schema::check_message(self.switches, n, role, &message, out);
        self.system_message.message(n, role);
        self.turns.begin(n, role, out);
        let mut n_blocks = 0;
        let mut blank_texts = BlankTexts::default();
        message.each_block(n, |block| {
            n_blocks += 1;
            if block.place.is_written_out() {
                schema::check_block(self.switches, block, out);
                self.cache_control.block(block, out);
                self.images.block(block, out);
                if self.switches.api_version == ApiVersion::October2026 {
                    version::check_block(role, block, out);
                }
            }
            content::check_block(role, block, out);
            blank_texts.block(block);
            self.turns.block(block, out);
        });
        blank_texts.check(role, out);
        if role == AnthropicRole::System {
            content::check_system_message(n, n_blocks, out);
        }
    }

    fn finish(&mut self, body: Json<'_, 'a>, n_messages: Option<usize>, out: &mut Violations) {
        schema::check_body(body, n_messages, out);
        schema::check_tools(body, out);
        self.system_message.check(self.switches, body, out);
        self.turns.finish(self.switches, body, out);
        self.cache_control.finish(body, out);
        self.images.finish(out);
        if self.switches.api_version == ApiVersion::October2026 {
            version::check_body(body, out);
        }
        // With "Send only the messages since the previous response", the provider has the calls that the
        // results answer (<https://platform.claude.com/docs/en/build-with-claude/message-threads>). Its
        // error for calls that it has not kept is not public, so such a body is judged by its own content
        // only.
        if body.field("thread").field("type").is("continue") {
            out.withdraw_looking_back();
        }
    }
}

/// Every rule, in checking order.
static RULES: &[&Rule] = &[
    &BODY_NOT_JSON,
    &BODY_TOO_LARGE,
    &schema::REQUEST_SHAPE,
    &tags::BLOCK_TYPE_FOREIGN,
    &schema::UNKNOWN_ROLE,
    &schema::TOOL_USE_FIELD_REQUIRED,
    &schema::TOOL_ID_PATTERN,
    &schema::TOOL_NAME_PATTERN,
    &schema::TOOL_INPUT_NOT_OBJECT,
    &schema::TOOL_RESULT_ID_REQUIRED,
    &tags::TOOL_RESULT_ERROR_NOT_TEXT,
    &schema::THINKING_FIELD_REQUIRED,
    &schema::SERVER_TOOL_ID_PATTERN,
    &cache_control::CACHE_CONTROL_ON_EMPTY_TEXT,
    &images::IMAGE_EMPTY,
    &images::IMAGE_MEDIA_TYPE,
    &images::IMAGE_NOT_BASE64,
    &images::IMAGE_UNREADABLE,
    &images::IMAGE_TYPE_DIFFERS,
    &images::IMAGE_TOO_WIDE,
    &images::IMAGE_TOO_WIDE_AMONG_MANY,
    &schema::TOOL_NAMES_NOT_UNIQUE,
    &schema::MESSAGES_EMPTY,
    &schema::EXTRA_KEY,
    &version::CITATIONS_OUTSIDE_ASSISTANT,
    &version::SAMPLING_PARAMETER,
    &content::TEXT_EMPTY,
    &content::TEXT_BLANK,
    &content::USER_MESSAGE_EMPTY,
    &content::ASSISTANT_MESSAGE_EMPTY,
    &content::FIRST_MESSAGE_NOT_USER,
    &content::SYSTEM_MESSAGE_FIRST,
    &content::SYSTEM_MESSAGE_NOT_AFTER_USER,
    &content::SYSTEM_MESSAGE_NOT_BEFORE_ASSISTANT,
    &content::SYSTEM_MESSAGE_MODEL,
    &content::SYSTEM_MESSAGE_CONTENT,
    &version::DOCUMENT_OUTSIDE_USER,
    &content::TOOL_USE_OUTSIDE_ASSISTANT,
    &content::TOOL_RESULT_OUTSIDE_USER,
    &pairing::TOOL_USE_ID_DUPLICATE,
    &pairing::TOOL_USE_ID_REUSED,
    &pairing::TOOL_RESULT_MISSING,
    &pairing::TEXT_AFTER_TOOL_USE,
    &pairing::TOOL_RESULT_NOT_FIRST,
    &pairing::TOOL_RESULT_DUPLICATE,
    &pairing::TOOL_RESULT_ORPHAN,
    &server_tools::SERVER_TOOL_RESULT_ORPHAN,
    &server_tools::SERVER_TOOL_RESULT_MISSING,
    &server_tools::SERVER_TOOL_NOT_OFFERED,
    &thinking::SIGNATURE_INVALID,
    &thinking::THINKING_MODIFIED,
    &thinking::THINKING_BOUND_ELSEWHERE,
    &thinking::THINKING_LAST,
    &thinking::THINKING_MISSING,
    &thinking::THINKING_NOT_FIRST,
    &thinking::THINKING_WHEN_DISABLED,
    &thinking::THINKING_WITH_FORCED_TOOL,
    &returned::THINKING_NOT_RETURNED,
    &ending::FINAL_TEXT_TRAILING_SPACE,
    &ending::PREFILL_NOT_SUPPORTED,
    &cache_control::CACHE_CONTROL_TOO_MANY,
    &cache_control::CACHE_CONTROL_ORDER,
];

pub(crate) static BODY_NOT_JSON: Rule = Rule {
    summary: "The body is JSON.",
    why: "The bytes are not JSON, often because half of a surrogate pair was cut off in a string. Cut \
         strings by code points, and write the body with a JSON library.",
    sentences: &[
        "The request body is not valid JSON: {reason}: line {line} column {column} (char {position})",
    ],
    sources: &[
        "https://github.com/anthropics/claude-code/issues/8165",
        "https://github.com/anthropics/claude-code/issues/77525",
    ],
    ..Rule::observed("anthropic-messages/body-not-json", "ANT-BODY-1", 0, "2025-09")
};

/// Images and documents of tool results reach this limit long before the tokens fill the context window.
pub(crate) static BODY_TOO_LARGE: Rule = Rule {
    summary: "The body has at most 32 MB.",
    why: "The images and the results in the history add up to more than the API accepts in one request, though \
         the context window has room. Every later request is rejected as well. Remove or shrink old images, or \
         send them as files.",
    sentences: &["Request exceeds the maximum size"],
    status: 413,
    sources: &[
        "https://platform.claude.com/docs/en/api/overview#request-size-limits",
        "https://github.com/earendil-works/pi/issues/2734",
        "https://github.com/anthropics/claude-code/issues/74048",
        "https://github.com/anthropics/anthropic-sdk-python/issues/938",
    ],
    ..Rule::measured("anthropic-messages/body-too-large", "ANT-BODY-4", 0, "2025-04")
};

/// The limit of the Messages API. The page counts in MB; the larger reading is taken.
pub(crate) const MAX_BODY: BodyLimit = BodyLimit { bytes: 32 << 20, rule: &BODY_TOO_LARGE };

#[cfg(test)]
mod tests {
    use crate::{Dialect, Profile, validate};

    /// The provider's error messages for an unpaired high surrogate, quoted in anthropics/claude-code#8165
    /// and #1939.
    #[test]
    fn an_unpaired_surrogate_is_rejected_in_the_providers_words() {
        let refused = |text: &str| {
            let body = format!(r#"{{"messages":[{{"role":"user","content":"{text}"}}]}}"#);
            let violations = validate(Profile::newest(Dialect::AnthropicMessages), body.as_bytes());
            violations.into_iter().next().map(|violation| violation.message)
        };
        let says = |text: &str, reason: &str| {
            let message = refused(text).unwrap_or_default();
            let begin = format!("The request body is not valid JSON: {reason}: line 1 column ");
            assert!(message.starts_with(&begin), "{text}: {message}");
        };
        says(r"found \ud83d", "no low surrogate in string");
        says(r"\\\ud83d!", "no low surrogate in string");
        says(r"\ud83d\u0041", "invalid low surrogate in string");
        says(r"\ud83d\ude00 \ude00", "invalid high surrogate in string");
        assert_eq!(refused(r"\ud83d\ude00 \\ud83d"), None);
    }
}
