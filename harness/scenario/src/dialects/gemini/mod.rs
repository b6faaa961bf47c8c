//! Google Gemini, `generateContent` and `streamGenerateContent`:
//! <https://ai.google.dev/api/generate-content>.
//!
//! Google AI Studio and Vertex AI use the same bodies at different paths; both are supported. The model and
//! the delivery are in the path. The query `alt=sse` asks for a stream of server-sent events. The query is
//! not available here, so a client that leaves it out gets events too, where Google would send one JSON array
//! in pieces.

mod decode;
mod encode;
mod history;
mod request;

use std::borrow::Cow;

use serde_json::{Value, json};

use crate::plan::Mark;
use crate::scenario::Stop;
use crate::wire::history::owned_text;
use crate::wire::marks::blocks;
use crate::wire::offer::{CallableTool, Offer, ToolChoice};
use crate::wire::{Delivery, DialectTraits, Overflow, Paths, Route, Wire, malformed_event, usual_request_id};
use brickbat_rules::json::Json;

/// The versions of the API: AI Studio has all except the last, Vertex AI the first and the last.
const VERSIONS: [&str; 4] = ["v1", "v1beta", "v1alpha", "v1beta1"];

pub(crate) const WIRE: Wire = Wire {
    traits: DialectTraits {
        paths: Paths::OfModel { read: read_path, write: write_path },
        stop_words: &[
            (Stop::Length, "MAX_TOKENS"),
            (Stop::Refusal, "SAFETY"),
            (Stop::Calls, "STOP"),
            (Stop::End, "STOP"),
        ],
        // The finish reason is in the last chunk, after which the body ends.
        is_whole_at_stop: true,
        ends_with_stop: true,
        may_lack_ids: true,
        streams_arguments: false,
        // Vertex AI was seen to refuse it (vertesia/llumiverse#462), and the Gemini API to accept it.
        refuses_half_characters: false,
        // 'Use "output" key to specify function output and "error" key to specify error details (if any).'
        // <https://ai.google.dev/api/caching#FunctionResponse>
        names_success: true,
        ..DialectTraits::USUAL
    },
    path_owner: None,
    sdk_base: "",
    sdk_variable: Some("GOOGLE_GEMINI_BASE_URL"),
    sends_pictures: false,
    request: request::FORM,
    side_answer,
    asks_for_usage: |_| false,
    asks_to_think: Some(asks_to_think),
    offers_search: None,
    tool_names,
    offer,
    history: history::history,
    request_id: usual_request_id,
    error_headers: |_| &[],
    stream: encode::stream,
    whole: encode::whole,
    // A call in one piece has only its end.
    block_marks: |script, _| blocks(script, |key, marks| marks.push(Mark::End(key))),
    status_body,
    overflow: Overflow { body: overflow_body, sign: "exceeds the maximum number of tokens allowed" },
    // The error is not an event: it is in the stream as a JSON object on several lines, without `data:`
    // (<https://github.com/vercel/ai/issues/5217>).
    error_frame: |kind, _| format!("{:#}\n", WIRE.error_body(kind)).into_bytes(),
    malformed_frame: malformed_event,
    decoder: || Box::new(decode::GeminiDecoder::default()),
    decode_whole: decode::whole,
};

/// As quoted in <https://github.com/google-gemini/gemini-cli/issues/6678>.
fn overflow_body() -> Value {
    let mut body = status_body(400);
    body["error"]["message"] =
        "The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).".into();
    body
}

fn read_path(path: &str) -> Option<Route<'_>> {
    let (model, verb) = model_and_verb(path)?;
    let streamed = match verb {
        "generateContent" => false,
        "streamGenerateContent" => true,
        _ => return None,
    };
    Some(Route { streamed: Some(streamed), model: Some(Cow::Borrowed(model)) })
}

fn write_path(model: &str, delivery: Delivery) -> String {
    let verb = match delivery {
        Delivery::Streamed => "streamGenerateContent",
        Delivery::Whole => "generateContent",
    };
    format!("/v1beta/models/{model}:{verb}")
}

fn side_answer(method: &str, path: &str, _body: &[u8]) -> Option<Value> {
    let is_list = VERSIONS
        .iter()
        .any(|version| path.strip_prefix('/').and_then(|path| path.strip_prefix(version)) == Some("/models"));
    match (method, model_and_verb(path)) {
        ("POST", Some((_, "countTokens"))) => Some(json!({ "totalTokens": 12 })),
        ("GET" | "HEAD", None) if is_list => Some(json!({
            "models": [{
                "name": "models/brickbat",
                "supportedGenerationMethods": ["generateContent", "countTokens"],
            }],
        })),
        _ => None,
    }
}

/// <https://ai.google.dev/gemini-api/docs/thinking>
fn asks_to_think(body: Json) -> bool {
    let config = either(body, "generationConfig", "generation_config");
    let config = either(config, "thinkingConfig", "thinking_config");
    either(config, "includeThoughts", "include_thoughts").as_bool() == Some(true)
}

fn tool_names(tool: Json) -> Vec<String> {
    let declarations = either(tool, "functionDeclarations", "function_declarations");
    declarations.items().filter_map(|declaration| owned_text(declaration.field("name"))).collect()
}

fn status_body(status: u16) -> Value {
    let (word, message) = match status {
        401 => ("UNAUTHENTICATED", "Request had invalid authentication credentials."),
        403 => ("PERMISSION_DENIED", "The caller does not have permission"),
        404 => ("NOT_FOUND", "Requested entity was not found."),
        429 => ("RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota)."),
        499 => ("CANCELLED", "The operation was cancelled."),
        500 => ("INTERNAL", "An internal error has occurred. Please retry."),
        503 => ("UNAVAILABLE", "The model is overloaded. Please try again later."),
        504 => ("DEADLINE_EXCEEDED", "The request timed out. Please try again."),
        400..=499 => ("INVALID_ARGUMENT", "Request contains an invalid argument."),
        _ => ("UNKNOWN", "An unknown error has occurred."),
    };
    json!({ "error": { "code": status, "message": message, "status": word } })
}

/// The model and the verb in a path: `/v1beta/models/{model}:{verb}` in AI Studio, and the same below
/// `projects/{project}/locations/{location}/publishers/google` in Vertex AI.
fn model_and_verb(path: &str) -> Option<(&str, &str)> {
    let (version, rest) = path.strip_prefix('/')?.split_once('/')?;
    if !VERSIONS.contains(&version) {
        return None;
    }
    let rest = match rest.strip_prefix("projects/") {
        Some(rest) => {
            let (_project, rest) = rest.split_once("/locations/")?;
            let (_location, rest) = rest.split_once('/')?;
            rest
        }
        None => rest,
    };
    let rest = rest.strip_prefix("publishers/google/").unwrap_or(rest);
    let (model, verb) = rest.strip_prefix("models/")?.rsplit_once(':')?;
    let is_model = !model.is_empty() && !model.contains('/');
    is_model.then_some((model, verb))
}

/// A field that has two names in the JSON API: the documented one, and the spelling of the protocol buffers.
fn either<'t, 'a>(json: Json<'t, 'a>, camel: &str, snake: &str) -> Json<'t, 'a> {
    json.get(camel).unwrap_or_else(|| json.field(snake))
}

/// <https://ai.google.dev/api/caching#FunctionCallingConfig>
fn offer<'t, 'a>(body: Json<'t, 'a>) -> Offer<'t, 'a> {
    let tools = body.field("tools").items();
    let declared =
        tools.flat_map(|tool| either(tool, "functionDeclarations", "function_declarations").items());
    let config =
        either(either(body, "toolConfig", "tool_config"), "functionCallingConfig", "function_calling_config");
    let allowed: Vec<_> = either(config, "allowedFunctionNames", "allowed_function_names")
        .items()
        .filter_map(|name| name.as_str())
        .collect();
    let named = declared.filter_map(|tool| {
        let schema = either(tool, "parametersJsonSchema", "parameters_json_schema");
        let schema = if schema.is_null() { tool.field("parameters") } else { schema };
        CallableTool::named(tool.field("name"), schema)
    });
    let format = either(body, "generationConfig", "generation_config");
    let schema = either(format, "responseJsonSchema", "response_json_schema");
    let schema = if schema.is_null() { either(format, "responseSchema", "response_schema") } else { schema };
    Offer {
        choice: config.field("mode").as_str().map_or(ToolChoice::Free, |mode| ToolChoice::of_word(&mode)),
        answer: Some(schema).filter(|schema| schema.is_object()),
        answers_in_json: either(format, "responseMimeType", "response_mime_type").is("application/json"),
        ..Offer::of(named.filter(|tool| allowed.is_empty() || allowed.contains(&tool.name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_hosts_and_all_versions_are_known() {
        let vertex =
            "/v1/projects/p-1/locations/us-central1/publishers/google/models/gemini-3-pro:generateContent";
        let paths = [
            ("/v1beta/models/gemini-3-pro:generateContent", false),
            ("/v1/models/gemini-3-pro:streamGenerateContent", true),
            (vertex, false),
            ("/v1beta1/publishers/google/models/gemini-3-pro:streamGenerateContent", true),
        ];
        for (path, streamed) in paths {
            let route = WIRE.route("POST", path);
            let expected = Route { streamed: Some(streamed), model: Some("gemini-3-pro".into()) };
            assert_eq!(route, Some(expected), "{path}");
        }
        for path in
            ["/v1beta/models/m:countTokens", "/v2/models/m:generateContent", "/v1beta/models/:x", "/v1"]
        {
            assert_eq!(WIRE.route("POST", path), None, "{path}");
        }
        assert!(WIRE.side_answer("POST", "/v1beta/models/m:countTokens", b"").is_some());
        assert!(WIRE.side_answer("GET", "/v1beta/models", b"").is_some());
        assert!(WIRE.side_answer("GET", "/v1beta/other", b"").is_none());
    }
}
