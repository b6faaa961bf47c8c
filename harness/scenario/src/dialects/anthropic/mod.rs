//! Anthropic Messages, `POST /v1/messages`: <https://platform.claude.com/docs/en/api/messages>.

mod decode;
mod encode;
mod history;
mod request;

use serde_json::{Value, json};

use crate::scenario::{ErrorKind, Stop};
use crate::wire::decode::SseDecoder;
use crate::wire::history::{of_messages, owned_text};
use crate::wire::marks::block_marks;
use crate::wire::offer::{CallableTool, Offer, ToolChoice};
use crate::wire::{DialectTraits, Overflow, Paths, Wire, malformed_event, models, usual_request_id};
use brickbat_rules::json::Json;

pub(crate) const WIRE: Wire = Wire {
    traits: DialectTraits {
        paths: Paths::Fixed("/v1/messages"),
        request_id_header: "request-id",
        message_id_prefix: "msg_01",
        stop_words: &[
            (Stop::Length, "max_tokens"),
            (Stop::Pause, "pause_turn"),
            (Stop::Refusal, "refusal"),
            (Stop::Calls, "tool_use"),
            (Stop::End, "end_turn"),
        ],
        overloaded_status: 529,
        // <https://github.com/maximhq/bifrost/issues/4556>, <https://github.com/BerriAI/litellm/issues/32478>
        opens_twice: true,
        wants_thinking_before_calls: true,
        ..DialectTraits::USUAL
    },
    path_owner: None,
    sdk_base: "",
    sdk_variable: Some("ANTHROPIC_BASE_URL"),
    sends_pictures: true,
    request: request::FORM,
    side_answer,
    asks_for_usage: |_| false,
    asks_to_think: Some(asks_to_think),
    offers_search: Some(offers_search),
    tool_names: |tool| Vec::from_iter(owned_text(tool.field("name"))),
    offer,
    history: |body| of_messages(body, history::content_of),
    request_id: usual_request_id,
    error_headers: |_| &[],
    stream: encode::stream,
    whole: encode::whole,
    block_marks,
    status_body,
    overflow: Overflow { body: overflow_body, sign: "prompt is too long" },
    error_frame,
    malformed_frame: malformed_event,
    decoder: || Box::new(SseDecoder::<decode::AnthropicEvents>::default()),
    decode_whole: decode::whole,
};

/// The tool that makes the provider search the web. A later version of it has the same blocks.
const WEB_SEARCH: &str = "web_search";

/// True if a request offers the tool, in any version
/// (<https://platform.claude.com/docs/en/agents-and-tools/tool-use/web-search-tool>).
fn offers_search(body: Json) -> bool {
    let is_search =
        |tool: Json| tool.field("type").as_str().is_some_and(|kind| kind.starts_with("web_search_"));
    body.field("tools").items().any(is_search)
}

/// As quoted in <https://github.com/earendil-works/pi/issues/102>.
fn overflow_body() -> Value {
    let mut body = status_body(400);
    body["error"]["message"] = "prompt is too long: 219898 tokens > 200000 maximum".into();
    body
}

fn side_answer(method: &str, path: &str, body: &[u8]) -> Option<Value> {
    match (method, path) {
        ("POST", "/v1/messages/count_tokens") => Some(json!({ "input_tokens": body.len() / 4 })),
        _ => models(method, path),
    }
}

/// `enabled`, `adaptive` and `between_tools` ask for thinking
/// (<https://platform.claude.com/docs/en/build-with-claude/extended-thinking>).
fn asks_to_think(body: Json) -> bool {
    let kind = body.field("thinking").field("type");
    kind.is_str() && !kind.is("disabled")
}

fn status_body(status: u16) -> Value {
    let (word, message) = match status {
        401 => ("authentication_error", "invalid x-api-key"),
        404 => ("not_found_error", "Not Found"),
        413 => ("request_too_large", "Request exceeds the maximum size"),
        429 => ("rate_limit_error", "Number of requests has exceeded your rate limit"),
        529 => ("overloaded_error", "Overloaded"),
        400..=499 => ("invalid_request_error", "Bad Request"),
        _ => ("api_error", "Internal server error"),
    };
    json!({
        "type": "error",
        "error": { "type": word, "message": message },
        "request_id": format!("req_brickbat_{status}"),
    })
}

fn error_frame(kind: ErrorKind, _sent: &[u8]) -> Vec<u8> {
    format!("event: error\ndata: {}\n\n", WIRE.error_body(kind)).into_bytes()
}

/// Tools without a schema are Anthropic's own, and those with `defer_loading` can only be found by a tool
/// search (<https://platform.claude.com/docs/en/agents-and-tools/tool-use/overview>).
fn offer<'t, 'a>(body: Json<'t, 'a>) -> Offer<'t, 'a> {
    let tools = body.field("tools").items().filter(|tool| {
        tool.field("input_schema").is_object() && tool.field("defer_loading").as_bool() != Some(true)
    });
    let named = |tool: Json<'t, 'a>| CallableTool::named(tool.field("name"), tool.field("input_schema"));
    let choice = body.field("tool_choice");
    let format = body.field("output_config").get("format").unwrap_or_else(|| body.field("output_format"));
    Offer {
        choice: match choice.field("type").as_str().as_deref() {
            Some("tool") => ToolChoice::only(choice.field("name")),
            Some(word) => ToolChoice::of_word(word),
            None => ToolChoice::Free,
        },
        parallel: choice.field("disable_parallel_tool_use").as_bool() != Some(true),
        answer: format.get("schema"),
        ..Offer::of(tools.filter_map(named))
    }
}
