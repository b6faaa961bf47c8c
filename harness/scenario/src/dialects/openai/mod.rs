//! OpenAI Chat Completions, `POST /v1/chat/completions`: <https://platform.openai.com/docs/api-reference/chat>.

mod decode;
mod encode;
mod history;
pub(super) mod request;

pub(super) use encode::{chunk_head, content, number_of};

use serde_json::{Value, json};

use crate::scenario::Stop;
use crate::wire::decode::SseDecoder;
use crate::wire::history::owned_text;
use crate::wire::offer::{CallableTool, Offer, ToolChoice};
use crate::wire::{DialectTraits, Overflow, Paths, Wire, malformed_event, models, usual_request_id};
use brickbat_rules::json::Json;

pub(crate) const WIRE: Wire = Wire {
    traits: DialectTraits {
        paths: Paths::Fixed("/v1/chat/completions"),
        message_id_prefix: "chatcmpl-",
        stop_words: &[
            (Stop::Length, "length"),
            (Stop::Refusal, "content_filter"),
            (Stop::Calls, "tool_calls"),
            (Stop::End, "stop"),
        ],
        interleaves: true,
        // The usage chunk and `[DONE]` add nothing to the reply.
        is_whole_at_stop: true,
        // Ollama (pydantic/pydantic-ai#2996), NVIDIA NIM (earendil-works/pi#6226), Evolink
        // (openclaw/openclaw#98575).
        may_lack_end: true,
        numbers_calls: true,
        may_lack_ids: true,
        writes_arguments: true,
        ..DialectTraits::USUAL
    },
    path_owner: None,
    sdk_base: "/v1",
    sdk_variable: Some("OPENAI_BASE_URL"),
    sends_pictures: false,
    request: request::FORM,
    side_answer: |method, path, _| models(method, path),
    asks_for_usage: |body| body.field("stream_options").field("include_usage").as_bool() == Some(true),
    asks_to_think: None,
    offers_search: None,
    tool_names: |tool| Vec::from_iter(owned_text(tool.field("function").field("name"))),
    offer,
    history: history::history,
    request_id: usual_request_id,
    error_headers: |_| &[],
    stream: encode::stream,
    whole: encode::whole,
    block_marks: encode::block_marks,
    status_body,
    overflow: Overflow { body: overflow_body, sign: OVERFLOW_CODE },
    error_frame: |kind, _| format!("data: {}\n\n", WIRE.error_body(kind)).into_bytes(),
    malformed_frame: malformed_event,
    decoder: || Box::new(SseDecoder::<decode::ChatChunks>::default()),
    decode_whole: decode::whole,
};

/// As quoted in <https://github.com/mckaywrigley/chatbot-ui/issues/102>, for a model with a window of 128,000
/// tokens.
fn overflow_body() -> Value {
    const MESSAGE: &str = "This model's maximum context length is 128000 tokens. However, your messages resulted in \
                           204308 tokens. Please reduce the length of the messages.";
    let mut body = status_body(400);
    body["error"]["message"] = MESSAGE.into();
    (body["error"]["param"], body["error"]["code"]) = ("messages".into(), OVERFLOW_CODE.into());
    body
}

/// The error code by which OpenAI clients recognise that their request is too long.
pub(super) const OVERFLOW_CODE: &str = "context_length_exceeded";

/// The body of an answer with this status, 400 or above, with OpenAI's message.
pub(super) fn status_body(status: u16) -> Value {
    let (word, message) = match status {
        401 => ("invalid_request_error", "Incorrect API key provided"),
        404 => ("invalid_request_error", "Invalid URL"),
        429 => ("requests", "Rate limit reached for requests"),
        400..=499 => ("invalid_request_error", "Bad Request"),
        503 | 529 => ("server_error", "That model is currently overloaded with other requests"),
        _ => ("server_error", "The server had an error while processing your request"),
    };
    let code = if status == 429 { Some("rate_limit_exceeded") } else { None };
    json!({ "error": { "message": message, "type": word, "param": null, "code": code } })
}

fn offer<'t, 'a>(body: Json<'t, 'a>) -> Offer<'t, 'a> {
    let functions = body.field("tools").items().map(|tool| tool.field("function"));
    let named = |tool: Json<'t, 'a>| CallableTool::named(tool.field("name"), tool.field("parameters"));
    let format = body.field("response_format");
    Offer {
        choice: choice(body.field("tool_choice"), |choice| choice.field("function").field("name")),
        parallel: body.field("parallel_tool_calls").as_bool() != Some(false),
        answer: format.field("json_schema").get("schema"),
        answers_in_json: format.field("type").is("json_object"),
        ..Offer::of(functions.filter_map(named))
    }
}

/// A choice: a string, or an object that contains a name.
pub(super) fn choice<'t, 'a>(
    choice: Json<'t, 'a>,
    name: impl Fn(Json<'t, 'a>) -> Json<'t, 'a>,
) -> ToolChoice<'a> {
    match choice.as_str() {
        Some(word) => ToolChoice::of_word(&word),
        None => ToolChoice::only(name(choice)),
    }
}
