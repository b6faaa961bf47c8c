//! The fields of contents and parts, under both of their names.

use crate::json::Json;

/// Returns a field under either of its names in the JSON API: the documented one, or the protocol buffer
/// spelling. Also returns the name that was found.
pub(super) fn either<'t, 'a>(
    json: Json<'t, 'a>,
    camel: &'static str,
    snake: &'static str,
) -> Option<(&'static str, Json<'t, 'a>)> {
    let under = |name| json.get(name).filter(|value| !value.is_null()).map(|value| (name, value));
    under(camel).or_else(|| under(snake))
}

/// A content, read in one pass over its fields.
#[derive(Clone, Copy)]
pub(super) struct Content<'t, 'a> {
    pub(super) n: usize,
    pub(super) json: Json<'t, 'a>,
    /// The role. `None` if the provider does not know it.
    pub(super) role: Option<GeminiRole>,
    pub(super) written_role: Option<Json<'t, 'a>>,
    pub(super) written_parts: Option<Json<'t, 'a>>,
}

impl<'t, 'a> Content<'t, 'a> {
    pub(super) fn of(n: usize, json: Json<'t, 'a>) -> Content<'t, 'a> {
        let [written_role, written_parts] = json.pick(["role", "parts"]);
        Content { n, json, role: GeminiRole::of(written_role), written_role, written_parts }
    }

    /// Returns the parts. A single part may come without a list, as in Vertex AI's own examples
    /// (<https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/inference>).
    pub(super) fn parts(&self) -> impl Iterator<Item = Part<'t, 'a>> {
        let n = self.n;
        let single = self.written_parts.filter(|parts| parts.is_object());
        let several = self.written_parts.map(Json::items).unwrap_or_default();
        let several =
            several.enumerate().map(move |(b, value)| Part::of(PartPosition { n, b: Some(b) }, value));
        several.chain(single.map(|value| Part::of(PartPosition { n, b: None }, value)))
    }
}

/// A part of a content, read in one pass over its fields.
#[derive(Clone, Copy)]
pub(super) struct Part<'t, 'a> {
    pub(super) place: PartPosition,
    pub(super) value: Json<'t, 'a>,
    pub(super) text: Option<Json<'t, 'a>>,
    pub(super) call: Option<Named<'t, 'a>>,
    pub(super) response: Option<Named<'t, 'a>>,
    pub(super) signature: Option<Named<'t, 'a>>,
    /// A key that blocks of other APIs have.
    pub(super) foreign: Option<&'static str>,
}

/// A field with the name that was used for it.
type Named<'t, 'a> = (&'static str, Json<'t, 'a>);

impl<'t, 'a> Part<'t, 'a> {
    fn of(place: PartPosition, value: Json<'t, 'a>) -> Part<'t, 'a> {
        let [kind, text, call, snake_call, response, snake_response, signature, snake_signature] = value
            .pick([
                "type",
                "text",
                "functionCall",
                "function_call",
                "functionResponse",
                "function_response",
                "thoughtSignature",
                "thought_signature",
            ]);
        let one = |name, value: Option<Json<'t, 'a>>| Some((name, value.filter(|value| !value.is_null())?));
        Part {
            place,
            value,
            text,
            call: one("functionCall", call).or(one("function_call", snake_call)),
            response: one("functionResponse", response).or(one("function_response", snake_response)),
            signature: one("thoughtSignature", signature).or(one("thought_signature", snake_signature)),
            foreign: match kind {
                Some(_) => Some("type"),
                None if [text, call, snake_call, response, snake_response].iter().any(Option::is_some) => {
                    None
                }
                None => BLOCK_KEYS.into_iter().find(|key| value.get(key).is_some()),
            },
        }
    }
}

/// Keys that name blocks in Bedrock Converse, and the Chat Completions key for images.
const BLOCK_KEYS: [&str; 5] = ["toolUse", "toolResult", "reasoningContent", "cachePoint", "image_url"];

#[derive(Debug, Clone, Copy)]
pub(super) struct PartPosition {
    pub(super) n: usize,
    /// The index of the part. `None` if it comes without a list.
    b: Option<usize>,
}

impl PartPosition {
    pub(super) fn pointer(self) -> String {
        match self.b {
            Some(b) => format!("/contents/{}/parts/{b}", self.n),
            None => format!("/contents/{}/parts", self.n),
        }
    }

    pub(super) fn path(self) -> String {
        format!("contents[{}].parts[{}]", self.n, self.b.unwrap_or(0))
    }
}

/// The role of a content. Upper and lower case are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GeminiRole {
    /// The user. Also the default.
    User,
    Model,
    /// The former role of responses.
    Function,
}

impl GeminiRole {
    fn of(written: Option<Json>) -> Option<GeminiRole> {
        match written.and_then(Json::as_str) {
            None if written.is_none_or(Json::is_null) => Some(GeminiRole::User),
            None => None,
            Some(name) if name.is_empty() || name.eq_ignore_ascii_case("user") => Some(GeminiRole::User),
            Some(name) if name.eq_ignore_ascii_case("model") => Some(GeminiRole::Model),
            Some(name) if name.eq_ignore_ascii_case("function") => Some(GeminiRole::Function),
            Some(_) => None,
        }
    }
}
