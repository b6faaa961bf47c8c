//! The first phases: the types of known fields, and fields that must not be missing or empty.
//!
//! Google's parser rejects unknown keys, but the known ones differ between backends and change every
//! month. So unknown keys pass here, except for those that name messages and blocks in other APIs.

use hashbrown::HashMap;

use serde_json::Value;

use super::fields::{Content, GeminiRole, Part, PartPosition, either};
use crate::json::{Json, JsonType};
use crate::{Occurrence, Rule, Violations};

/// Checks the fields of the body. `n_contents` is `None` if there is no list of contents.
pub(super) fn check_body(body: Json, n_contents: Option<usize>, out: &mut Violations) {
    let contents = body.field("contents");
    match (n_contents, contents.kind()) {
        _ if !body.is_object() => {
            out.add(&REQUEST_SHAPE, || Occurrence::at("").form(NOT_AN_OBJECT));
        }
        (Some(0), _) => out.add(&CONTENTS_EMPTY, || Occurrence::at("/contents")),
        // A single content may come without a list. Its turns are not checked.
        (Some(_), _) | (None, JsonType::Object) => {}
        (None, JsonType::Null) => out.add(&CONTENTS_EMPTY, || {
            Occurrence::at(if body.get("contents").is_some() { "/contents" } else { "" })
        }),
        (None, _) => {
            let at = || ("/contents".to_owned(), "contents".to_owned());
            wrong_type(out, &REQUEST_SHAPE, at, CONTENT, contents);
        }
    }
    check_declarations(body, out);
}

/// The error message of [`REQUEST_SHAPE`] for a body that is JSON but not an object.
const NOT_AN_OBJECT: usize = 1;

const CONTENT: &str = "google.ai.generativelanguage.v1beta.Content";
const PART: &str = "google.ai.generativelanguage.v1beta.Part";
const STRUCT: &str = "google.protobuf.Struct";

/// Checks the fields of a content, but not its parts.
pub(super) fn check_content(content: Content<'_, '_>, out: &mut Violations) {
    let n = content.n;
    let at =
        |field: &str| (format!("/contents/{n}{field}"), format!("contents[{n}]{}", field.replace('/', ".")));
    if !content.json.is_object() {
        return wrong_type(out, &REQUEST_SHAPE, || at(""), CONTENT, content.json);
    }
    match content.written_role {
        Some(role) if content.role.is_none() && role.is_str() => {
            out.add(&UNKNOWN_ROLE, || Occurrence::at(at("/role").0));
        }
        Some(role) if content.role.is_none() => {
            wrong_type(out, &REQUEST_SHAPE, || at("/role"), "TYPE_STRING", role);
        }
        _ => {}
    }
    match content.written_parts.map(|parts| (parts.kind(), parts)) {
        None => match MESSAGE_KEYS.into_iter().find(|key| content.json.get(key).is_some()) {
            Some(key) => refuse_name(out, key, || at("")),
            // A reply that reached its token limit may have no parts, and clients send it back.
            // gemini-2.5-flash accepts it.
            None if content.role == Some(GeminiRole::Model) => {
                out.warn(&PARTS_EMPTY, || Occurrence::at(at("").0).with("n", n));
            }
            None => out.add(&PARTS_EMPTY, || Occurrence::at(at("").0).with("n", n)),
        },
        Some((JsonType::Null | JsonType::Array, parts)) if parts.is_empty() => {
            out.add(&PARTS_EMPTY, || Occurrence::at(at("/parts").0).with("n", n));
        }
        Some((JsonType::Array | JsonType::Object, _)) => {}
        Some((_, parts)) => wrong_type(out, &REQUEST_SHAPE, || at("/parts"), PART, parts),
    }
}

/// Keys for the content of a message in other APIs.
const MESSAGE_KEYS: [&str; 3] = ["content", "tool_calls", "tool_call_id"];

/// Reports an unknown key. `at` returns the pointer to the object with the key, and the provider's name
/// for the object.
fn refuse_name(out: &mut Violations, key: &str, at: impl FnOnce() -> (String, String)) {
    out.add(&NAME_UNKNOWN, || {
        let (pointer, path) = at();
        Occurrence::at(format!("{pointer}/{key}")).with("path", path).with("key", key)
    });
}

/// Returns whether all fields of an object are null. If a field is repeated, the last one counts.
fn says_nothing(value: Json) -> bool {
    // No later field can override the last one.
    if value.fields().last().is_some_and(|(_, last)| !last.is_null()) {
        return false;
    }
    let mut says = HashMap::new();
    for (name, value) in value.fields() {
        says.insert(name.as_str(), !value.is_null());
    }
    !says.into_values().any(|says| says)
}

pub(super) fn check_part(part: &Part<'_, '_>, out: &mut Violations) {
    let (value, place) = (part.value, part.place);
    if !value.is_object() {
        return wrong_type(out, &REQUEST_SHAPE, || (place.pointer(), place.path()), PART, value);
    }
    if let Some(key) = part.foreign {
        refuse_name(out, key, || (place.pointer(), place.path()));
    }
    if says_nothing(value) {
        out.add(&PART_EMPTY, || Occurrence::at(place.pointer()).with("path", place.path()));
    }
    check_types(part, out);
    // Gemini 3 sends its signature with an empty text at the end of a reply, and wants it back
    // (<https://github.com/vercel/ai/issues/12402>).
    if part.text.is_some_and(Json::is_empty_str) && part.signature.is_none() {
        out.add(&TEXT_EMPTY, || Occurrence::at(format!("{}/text", place.pointer())));
    }
    if let Some((field, call)) = part.call {
        Carrier { place, field, path: "function_call" }.check(call, "args", &ARGS_NOT_OBJECT, out);
    }
    if let Some((field, response)) = part.response {
        let carrier = Carrier { place, field, path: "function_response" };
        carrier.check(response, "response", &RESPONSE_NOT_OBJECT, out);
    }
}

/// Checks the types of the fields that hold no call and no response.
fn check_types(part: &Part<'_, '_>, out: &mut Violations) {
    let place = part.place;
    let at =
        |field: &str| (format!("{}/{field}", place.pointer()), format!("{}.{}", place.path(), snake(field)));
    if let Some(text) = part.text.filter(|text| !text.is_null() && !text.is_str()) {
        wrong_type(out, &REQUEST_SHAPE, || at("text"), "TYPE_STRING", text);
    }
    if let Some((field, signature)) = part.signature.filter(|(_, signature)| !signature.is_str()) {
        wrong_type(out, &REQUEST_SHAPE, || at(field), "TYPE_BYTES", signature);
    }
    // A part has one kind of content, and most have none of these.
    if part.text.is_none() && part.call.is_none() && part.response.is_none() {
        check_media(part.value, at, out);
    }
}

/// Checks the types of the fields of inline data and of files.
fn check_media(part: Json<'_, '_>, at: impl Fn(&str) -> (String, String), out: &mut Violations) {
    for (camel, other) in [("inlineData", "inline_data"), ("fileData", "file_data")] {
        let Some((field, data)) = either(part, camel, other) else { continue };
        if !data.is_object() {
            let kind = if camel == "inlineData" { BLOB } else { FILE };
            wrong_type(out, &REQUEST_SHAPE, || at(field), kind, data);
            continue;
        }
        for (camel, other) in [("mimeType", "mime_type"), ("data", "data"), ("fileUri", "file_uri")] {
            let Some((name, value)) = either(data, camel, other) else { continue };
            if !value.is_str() {
                let kind = if name == "data" { "TYPE_BYTES" } else { "TYPE_STRING" };
                wrong_type(out, &REQUEST_SHAPE, || at(&format!("{field}/{name}")), kind, value);
            }
        }
    }
}

const BLOB: &str = "google.ai.generativelanguage.v1beta.Blob";
const FILE: &str = "google.ai.generativelanguage.v1beta.FileData";

/// Returns the provider's name for a field: `inlineData/mimeType` is `inline_data.mime_type`.
fn snake(field: &str) -> String {
    let mut name = String::new();
    for letter in field.chars() {
        match letter {
            '/' => name.push('.'),
            letter if letter.is_ascii_uppercase() => {
                name.push('_');
                name.push(letter.to_ascii_lowercase());
            }
            letter => name.push(letter),
        }
    }
    name
}

/// A call or a response in a part: the field, and the provider's name for it.
struct Carrier {
    place: PartPosition,
    field: &'static str,
    path: &'static str,
}

impl Carrier {
    /// Checks the name, and that the field `data` is an object.
    fn check(&self, value: Json, data: &str, rule: &'static Rule, out: &mut Violations) {
        if !value.is_object() {
            let at = || (self.pointer(), self.path());
            return wrong_type(out, &REQUEST_SHAPE, at, PART, value);
        }
        let at = |field: &str| (format!("{}/{field}", self.pointer()), format!("{}.{field}", self.path()));
        let [name, carried, id] = value.pick(["name", data, "id"]);
        if let Some(id) = id.filter(|id| !id.is_null() && !id.is_str()) {
            wrong_type(out, &REQUEST_SHAPE, || at("id"), "TYPE_STRING", id);
        }
        match name {
            Some(name) if name.is_str() && !name.is_empty_str() => {}
            Some(name) if !name.is_str() && !name.is_null() => {
                wrong_type(out, &REQUEST_SHAPE, || at("name"), "TYPE_STRING", name);
            }
            _ => out.add(&FUNCTION_NAME_EMPTY, || {
                let pointer = if name.is_some() { at("name").0 } else { self.pointer() };
                Occurrence::at(pointer).with("path", self.path())
            }),
        }
        match carried {
            Some(carried) if !carried.is_object() && !carried.is_null() => {
                wrong_type(out, rule, || at(data), STRUCT, carried);
            }
            _ => {}
        }
    }

    fn pointer(&self) -> String {
        format!("{}/{}", self.place.pointer(), self.field)
    }

    fn path(&self) -> String {
        format!("{}.{}", self.place.path(), self.path)
    }
}

/// Maximum length of a declared name in characters. Rejections of 2025 quote 64, and the API's
/// descriptions of 2026 say 128
/// (<https://pub.dev/documentation/googleapis/17.0.0/aiplatform_v1/GoogleCloudAiplatformV1FunctionDeclaration/name.html>),
/// so lengths in between are contested.
const MAX_NAME_LETTERS: usize = 128;
const MAX_NAME_LETTERS_ONCE: usize = 64;

fn check_declarations(body: Json, out: &mut Violations) {
    for (t, tool) in body.field("tools").items().enumerate() {
        let declared = either(tool, "functionDeclarations", "function_declarations");
        let Some((field, declarations)) = declared else { continue };
        for (k, declaration) in declarations.items().enumerate() {
            let Some(name) = declaration.field("name").as_str() else { continue };
            let violation =
                || Occurrence::at(format!("/tools/{t}/{field}/{k}/name")).with("t", t).with("k", k);
            if !is_function_name(&name) {
                out.add(&DECLARATION_NAME_PATTERN, violation);
            } else if name.len() > MAX_NAME_LETTERS_ONCE {
                out.warn(&DECLARATION_NAME_PATTERN, violation);
            }
        }
    }
}

fn is_function_name(name: &str) -> bool {
    let begins = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    let may_stand = |byte: u8| byte.is_ascii_alphanumeric() || b"_.:-".contains(&byte);
    begins && name.len() <= MAX_NAME_LETTERS && name.bytes().all(may_stand)
}

/// Reports a field with a wrong type. `at` returns the pointer to the field, and the provider's name for
/// it.
fn wrong_type(
    out: &mut Violations,
    rule: &'static Rule,
    at: impl FnOnce() -> (String, String),
    expected: &str,
    got: Json,
) {
    out.add(rule, || {
        let (pointer, path) = at();
        let kind = if expected.contains('.') {
            format!("type.googleapis.com/{expected}")
        } else {
            expected.to_owned()
        };
        Occurrence::at(pointer).with("path", path).with("type", kind).with("value", quoted(got))
    });
}

/// Maximum number of characters in a quoted text.
///
/// The provider quotes a complete value, so the error message about a hostile body could be as long as the
/// body. For arrays and objects, only the brackets are quoted.
const MAX_QUOTED: usize = 100;

fn quoted(value: Json) -> String {
    match value.kind() {
        JsonType::Array if !value.is_empty() => "[…]".to_owned(),
        JsonType::Object if !value.is_empty() => "{…}".to_owned(),
        JsonType::String => {
            let text = value.as_str().unwrap_or_default();
            Value::from(&text[..text.floor_char_boundary(MAX_QUOTED)]).to_string()
        }
        _ => value.to_value().to_string(),
    }
}

pub(crate) static REQUEST_SHAPE: Rule = Rule {
    summary: "The known fields of the body, contents and parts have the right types.",
    why: "A field does not have the type that the API documents. Send `contents` as a list of \
         objects, each with a `role` and with `parts` that are a list of objects.",
    sentences: &[
        "Invalid value at '{path}' ({type}), {value}",
        "Invalid JSON payload received. Unknown name \"\": Root element must be a message.",
    ],
    sources: &[
        "https://github.com/agno-agi/agno/issues/2649",
        "https://github.com/zereight/gitlab-mcp/issues/166",
    ],
    ..Rule::observed("gemini/request-shape", "GEM-BODY-2", 1, "2025-04")
};

/// "Invalid JSON payload received. Unknown name \"role\" at 'contents\[0\].parts': Cannot find field." was
/// the error message for a part with a key of another object
/// (<https://github.com/gera2ld/ai.nvim/issues/13>).
pub(crate) static NAME_UNKNOWN: Rule = Rule {
    summary: "Contents and parts have no key of another API.",
    why: "The message or the part belongs to another API: it has `content` instead of `parts`, or a \
         `type`. The thread began with another provider. Translate it: a part is named by its key, \
         such as `text` or `functionCall`.",
    sentences: &["Invalid JSON payload received. Unknown name \"{key}\" at '{path}': Cannot find field."],
    sources: &[
        "https://github.com/gera2ld/ai.nvim/issues/13",
        "https://github.com/google-gemini/gemini-cli/issues/13972",
        "https://github.com/flyun/chatAir/issues/108",
    ],
    ..Rule::observed("gemini/name-unknown", "GEM-TYPE-1", 1, "2024-05")
};

/// Arguments are a `google.protobuf.Struct`, like responses. A rejection of a response was seen
/// (<https://github.com/AstrBotDevs/AstrBot/pull/7216>); the error message is the one for other fields
/// with a wrong type.
pub(crate) static ARGS_NOT_OBJECT: Rule = Rule {
    summary: "The arguments of a call are an object.",
    why: "The arguments were stored as text, or never became complete. Parse them before they are stored, \
         and keep an empty object where there are none.",
    sentences: &["Invalid value at '{path}' ({type}), {value}"],
    sources: &[
        "https://github.com/AstrBotDevs/AstrBot/pull/7216",
        "https://github.com/agno-agi/agno/issues/2649",
        "https://ai.google.dev/api/caching#FunctionCall",
    ],
    ..Rule::inferred("gemini/args-not-object", "GEM-ARGS-1", 1, "2025-04")
};

/// A text instead of a `google.protobuf.Struct` leads to "400 Invalid argument"
/// (<https://github.com/AstrBotDevs/AstrBot/pull/7216>).
pub(crate) static RESPONSE_NOT_OBJECT: Rule = Rule {
    summary: "The response of a function is an object.",
    why: "The tool returned a text, and it was put into `response` as it is. Wrap it, for example as \
         `{\"output\": text}`.",
    sentences: &["Invalid value at '{path}' ({type}), {value}"],
    sources: &[
        "https://github.com/AstrBotDevs/AstrBot/pull/7216",
        "https://github.com/scriptit-fr/GenAIApp/pull/73",
        "https://ai.google.dev/api/caching#FunctionResponse",
    ],
    ..Rule::secondary("gemini/response-not-object", "GEM-RESP-1", 1, "2026-03")
};

pub(crate) static CONTENTS_EMPTY: Rule = Rule {
    summary: "There is at least one content.",
    why: "The list of contents is empty or missing, often because trimming removed everything. Keep or \
         add a content of the user.",
    sentences: &["* GenerateContentRequest.contents: contents is not specified"],
    sources: &["https://github.com/ikechan8370/chatgpt-plugin/issues/733"],
    ..Rule::observed("gemini/contents-empty", "GEM-BODY-3", 2, "2024-12")
};

/// "Please use a valid role: user, model." The documentation says that a role must be one of the two
/// (<https://ai.google.dev/api/caching#Content>). `function` is the former role of responses.
pub(crate) static UNKNOWN_ROLE: Rule = Rule {
    summary: "A role is `user` or `model`.",
    why: "The content has a role of another provider, such as `assistant`, `tool` or `system`. Map it to \
         `model` or `user`, and send instructions as `systemInstruction`.",
    sentences: &["Please use a valid role: user, model."],
    sources: &["https://github.com/genkit-ai/genkit/pull/5782", "https://ai.google.dev/api/caching#Content"],
    ..Rule::secondary("gemini/unknown-role", "GEM-ROLE-1", 2, "2024-02")
};

pub(crate) static PARTS_EMPTY: Rule = Rule {
    summary: "A content has at least one part.",
    why: "A reply without any part was stored, as happens when a stream breaks before its first token or the limit of \
         tokens is reached. Drop the content, or give it a text.",
    sentences: &["* GenerateContentRequest.contents[{n}].parts: contents.parts must not be empty."],
    sources: &[
        "https://github.com/egoist/chatwise-releases/issues/250",
        "https://github.com/langchain-ai/langchain-google/issues/691",
        "https://github.com/vercel/ai/issues/3775",
        "https://github.com/anomalyco/opencode/issues/17519",
    ],
    ..Rule::measured("gemini/parts-empty", "GEM-PARTS-1", 2, "2025-01")
};

pub(crate) static PART_EMPTY: Rule = Rule {
    summary: "A part has content.",
    why: "A part was stored without any of its fields, often instead of an empty text. Leave the part out.",
    sentences: &[
        "* GenerateContentRequest.{path}.data: required oneof field 'data' must have one initialized \
         field",
    ],
    sources: &["https://github.com/boldsoftware/sketch/issues/68", "https://github.com/54xzh/FLIT/issues/69"],
    ..Rule::observed("gemini/part-empty", "GEM-PARTS-2", 2, "2025-05")
};

pub(crate) static TEXT_EMPTY: Rule = Rule {
    summary: "A text is not empty.",
    why: "An empty text was stored, for example the last chunk of a stream. Leave the part out.",
    sentences: &[
        "Unable to submit request because it has an empty text parameter. Add a value to the parameter \
         and try again. Learn more: \
         https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/gemini",
    ],
    sources: &[
        "https://github.com/Portkey-AI/gateway/issues/462",
        "https://github.com/deepset-ai/haystack-core-integrations/pull/1337",
        "https://github.com/google-gemini/deprecated-generative-ai-js/issues/361",
    ],
    ..Rule::observed("gemini/text-empty", "GEM-TXT-1", 2, "2024-07")
};

pub(crate) static FUNCTION_NAME_EMPTY: Rule = Rule {
    summary: "A call and a response name their function.",
    why: "The name is missing, often because a response was made from a result that knows only the id of \
         its call. Copy the name from the call.",
    sentences: &["* GenerateContentRequest.{path}.name: Name cannot be empty."],
    sources: &[
        "https://github.com/camel-ai/camel/issues/2031",
        "https://github.com/router-for-me/CLIProxyAPI/issues/1903",
        "https://github.com/langflow-ai/langflow/issues/9437",
    ],
    ..Rule::observed("gemini/function-name-empty", "GEM-NAME-2", 2, "2025-03")
};

pub(crate) static DECLARATION_NAME_PATTERN: Rule = Rule {
    summary: "The name of a declared function begins with a letter or `_`, and has only letters, digits \
         and `_.:-`.",
    why: "The name of a tool has a character that the provider does not accept, begins with a \
         digit, or is too long: the limit is 128 characters, and was 64 in 2025. Rename the tool.",
    sentences: &[
        "* GenerateContentRequest.tools[{t}].function_declarations[{k}].name: Invalid function name. Must \
         start with a letter or an underscore. Must be alphameric (a-z, A-Z, 0-9), underscores (_), dots \
         (.), colons (:), or dashes (-), with a maximum length of 64.",
    ],
    sources: &[
        "https://github.com/lbjlaq/Antigravity-Manager/issues/1440",
        "https://github.com/kaitranntt/ccs/issues/219",
        "https://github.com/google-gemini/gemini-cli/issues/7664",
    ],
    ..Rule::observed("gemini/declaration-name-pattern", "GEM-NAME-1", 2, "2025-09")
};
