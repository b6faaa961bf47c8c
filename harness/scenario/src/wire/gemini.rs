//! Google Gemini, `generateContent` and `streamGenerateContent`: <https://ai.google.dev/api/generate-content>.
//!
//! Google AI Studio and Vertex AI speak the same bodies at different paths, and both are known here. The model and the
//! delivery stand in the path. A stream of server-sent events is asked for with the query `alt=sse`; the query does not
//! come this far, so a client that leaves it out gets events too, where Google would send one JSON array in pieces.

mod decode;
mod encode;
mod history;

use std::borrow::Cow;

use serde_json::{Value, json};

use super::decode::{Decode, ReplyEvent};
use super::{ALPHANUMERIC, Encoded, Envelope, IdForm, Route, Wire};
use crate::history::History;
use crate::plan::{Mark, Plan, PlannedCall, Script};
use crate::scenario::{ErrorKind, Stop};
use brickbat_rules::json::Json;

/// The wire of `gemini`.
#[derive(Debug)]
pub(super) struct Gemini;

/// The versions of the API: AI Studio has all but the last, Vertex AI the first and the last.
const VERSIONS: [&str; 4] = ["v1", "v1beta", "v1alpha", "v1beta1"];

impl Wire for Gemini {
    fn route<'a>(&self, method: &str, path: &'a str) -> Option<Route<'a>> {
        let (model, verb) = model_and_verb(path)?;
        let streamed = match (method, verb) {
            ("POST", "generateContent") => false,
            ("POST", "streamGenerateContent") => true,
            _ => return None,
        };
        Some(Route { streamed: Some(streamed), model: Some(Cow::Borrowed(model)) })
    }

    fn post_path(&self, model: &str, streamed: bool) -> String {
        let verb = if streamed { "streamGenerateContent" } else { "generateContent" };
        format!("/v1beta/models/{model}:{verb}")
    }

    fn beside(&self, method: &str, path: &str, _body: &[u8]) -> Option<Value> {
        let is_list = VERSIONS.iter().any(|version| {
            path.strip_prefix('/').and_then(|path| path.strip_prefix(version)) == Some("/models")
        });
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

    fn shows_thinking(&self) -> bool {
        true
    }

    /// <https://ai.google.dev/gemini-api/docs/thinking>
    fn asks_to_think(&self, body: Json) -> bool {
        let config = either(body, "generationConfig", "generation_config");
        let config = either(config, "thinkingConfig", "thinking_config");
        either(config, "includeThoughts", "include_thoughts").as_bool() == Some(true)
    }

    fn offered_tools(&self, body: Json) -> Vec<String> {
        let declared = |tool: Json<'_, '_>| {
            let declarations = either(tool, "functionDeclarations", "function_declarations");
            let names = declarations.items().filter_map(|declaration| declaration.field("name").as_str());
            names.map(Cow::into_owned).collect::<Vec<_>>()
        };
        body.field("tools").items().flat_map(declared).collect()
    }

    fn history(&self, body: Json) -> History {
        history::history(body)
    }

    fn request_id_header(&self) -> &'static str {
        "x-request-id"
    }

    fn message_id(&self, unique: &str) -> String {
        unique.to_owned()
    }

    fn call_id(&self) -> IdForm {
        IdForm { prefix: "", n_letters: 8, alphabet: ALPHANUMERIC }
    }

    fn encode_stream(&self, plan: &Plan, script: &Script, envelope: Envelope<'_>) -> Encoded {
        encode::stream(plan, script, envelope)
    }

    fn encode_whole(&self, plan: &Plan, script: &Script, envelope: Envelope<'_>) -> Value {
        encode::whole(plan, script, envelope)
    }

    fn block_marks(&self, script: &Script, _calls: &[PlannedCall]) -> Vec<Mark> {
        encode::block_marks(script)
    }

    /// The finish reason stands in the last chunk.
    fn is_whole_at_stop(&self) -> bool {
        true
    }

    /// There is no event behind the last chunk: its body just ends.
    fn ends_with_stop(&self) -> bool {
        true
    }

    fn stop_word(&self, stop: Stop) -> Option<&'static str> {
        match stop {
            Stop::Length => Some("MAX_TOKENS"),
            Stop::Pause => None,
            Stop::Refusal => Some("SAFETY"),
            Stop::Calls | Stop::End => Some("STOP"),
        }
    }

    fn may_lack_ids(&self) -> bool {
        true
    }

    fn streams_arguments(&self) -> bool {
        false
    }

    fn status_body(&self, status: u16) -> Value {
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

    /// The error is no event: it stands in the stream as a JSON object in several lines, without `data:`
    /// (<https://github.com/vercel/ai/issues/5217>).
    fn error_frame(&self, kind: ErrorKind) -> Vec<u8> {
        format!("{:#}\n", self.status_body(self.error_status(kind))).into_bytes()
    }

    fn decoder(&self) -> Box<dyn Decode> {
        Box::new(decode::Stream::default())
    }

    fn decode_whole(&self, body: &Value, said: &mut dyn FnMut(ReplyEvent)) {
        decode::whole(body, said);
    }
}

/// The model in a path, and what is asked of it: `/v1beta/models/{model}:{verb}` of AI Studio, and the same below
/// `projects/{project}/locations/{location}/publishers/google` of Vertex AI.
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

/// A field that the JSON API knows by two names: as documented, and as the protocol buffers spell it.
fn either<'t, 'a>(json: Json<'t, 'a>, camel: &str, snake: &str) -> Json<'t, 'a> {
    json.get(camel).unwrap_or_else(|| json.field(snake))
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
            let route = Gemini.route("POST", path);
            let expected = Route { streamed: Some(streamed), model: Some("gemini-3-pro".into()) };
            assert_eq!(route, Some(expected), "{path}");
        }
        for path in
            ["/v1beta/models/m:countTokens", "/v2/models/m:generateContent", "/v1beta/models/:x", "/v1"]
        {
            assert_eq!(Gemini.route("POST", path), None, "{path}");
        }
        assert!(Gemini.beside("POST", "/v1beta/models/m:countTokens", b"").is_some());
        assert!(Gemini.beside("GET", "/v1beta/models", b"").is_some());
        assert!(Gemini.beside("GET", "/v1beta/other", b"").is_none());
    }
}
