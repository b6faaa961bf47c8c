//! OpenAI Responses, `POST /v1/responses`: <https://platform.openai.com/docs/api-reference/responses>.

mod decode;
mod encode;
mod history;
mod names;
mod request;

use serde_json::{Value, json};

use super::openai;
use crate::scenario::Stop;
use crate::wire::decode::SseDecoder;
use crate::wire::marks::block_marks;
use crate::wire::offer::Offer;
use crate::wire::{DialectTraits, Overflow, Paths, Wire, models};
use brickbat_rules::json::Json;

pub(crate) const WIRE: Wire = Wire {
    traits: DialectTraits {
        paths: Paths::Fixed("/v1/responses"),
        message_id_prefix: "resp_",
        stop_words: &[
            (Stop::Length, "max_output_tokens"),
            (Stop::Refusal, "content_filter"),
            // A complete reply has no stop reason, only a status.
            (Stop::Calls, encode::COMPLETED),
            (Stop::End, encode::COMPLETED),
        ],
        // The terminal event carries the status, and nothing follows it.
        is_whole_at_stop: true,
        ends_with_stop: true,
        writes_arguments: true,
        ..DialectTraits::USUAL
    },
    request: request::FORM,
    side_answer,
    asks_for_usage: |_| false,
    // The model's thinking is shown as a summary, to clients that ask for one
    // (<https://platform.openai.com/docs/guides/reasoning#reasoning-summaries>).
    asks_to_think: Some(|body| body.field("reasoning").field("summary").is_str()),
    tool_names: names::of_tool,
    offer,
    history: history::history,
    stream: encode::stream,
    whole: encode::whole,
    block_marks,
    overflow: Overflow { body: overflow_body, sign: openai::OVERFLOW_CODE },
    error_frame: encode::error,
    decoder: || Box::new(SseDecoder::<decode::ResponsesEvents>::default()),
    decode_whole: decode::whole,
    ..openai::WIRE
};

/// As quoted in <https://github.com/the-open-agent/openagent/issues/2344>.
fn overflow_body() -> Value {
    const MESSAGE: &str =
        "Your input exceeds the context window of this model. Please adjust your input and try again.";
    let mut body = openai::status_body(400);
    body["error"]["message"] = MESSAGE.into();
    (body["error"]["param"], body["error"]["code"]) = ("input".into(), openai::OVERFLOW_CODE.into());
    body
}

fn side_answer(method: &str, path: &str, body: &[u8]) -> Option<Value> {
    match (method, path) {
        ("POST", "/v1/responses/input_tokens") => {
            Some(json!({ "object": "response.input_tokens", "input_tokens": body.len() / 4 }))
        }
        _ => models(method, path),
    }
}

/// Only functions take JSON arguments; those with `defer_loading` can only be found by a tool search
/// (<https://platform.openai.com/docs/guides/tools-tool-search>).
fn offer<'t, 'a>(body: Json<'t, 'a>) -> Offer<'t, 'a> {
    let tools = body.field("tools").items().flat_map(names::functions);
    let is_known = |tool: &names::Function<'t, 'a>| tool.json.field("defer_loading").as_bool() != Some(true);
    let format = body.field("text").field("format");
    Offer {
        choice: openai::choice(body.field("tool_choice"), |choice| choice.field("name")),
        parallel: body.field("parallel_tool_calls").as_bool() != Some(false),
        answer: format.get("schema"),
        answers_in_json: format.field("type").is("json_object"),
        ..Offer::of(tools.filter(is_known).filter_map(names::Function::callable))
    }
}
