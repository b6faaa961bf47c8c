//! The first phase: the types of known fields, item by item.
//!
//! Unknown keys, unknown types of items and unknown parts pass. Those of other dialects do not.

use super::switches::ResponsesSwitches;
use super::{Item, ItemKind, ToolKind, at};
use crate::dialects::is_plain_name;
use crate::dialects::openai::{
    Field, is_foreign_item_to_responses, is_foreign_part_to_responses, missing, wrong_type,
};
use crate::json::{Json, JsonType};
use crate::{Occurrence, Rule, Violations};

/// Fields that can replace the input of a request.
const INSTEAD_OF_INPUT: [&str; 3] = ["previous_response_id", "conversation", "prompt"];

/// Checks the fields around the items. `n_items` is `None` if there is no list of items.
pub(super) fn check_body(body: Json, n_items: Option<usize>, out: &mut Violations) {
    let top = |name: &str| Field { pointer: format!("/{name}"), path: name.to_owned() };
    match (n_items, body.get("input")) {
        _ if !body.is_object() => {
            let whole = Field::new("", "");
            return wrong_type(out, &REQUEST_SHAPE, whole, "an object", body);
        }
        (Some(_), _) => {}
        (None, Some(input)) if input.is_str() => {}
        (None, Some(input)) if !input.is_null() => {
            wrong_type(out, &REQUEST_SHAPE, top("input"), "one of an array of objects or string", input);
        }
        (None, _) if INSTEAD_OF_INPUT.iter().any(|name| !body.field(name).is_null()) => {}
        (None, _) => {
            missing(out, &REQUEST_SHAPE, Field::new("", "input"));
        }
    }
    let previous = body.field("previous_response_id");
    match previous.as_str() {
        Some(id) => check_id(&id, "resp", || top("previous_response_id"), out),
        None if previous.is_null() => {}
        None => wrong_type(out, &REQUEST_SHAPE, top("previous_response_id"), "a string", previous),
    }
}

pub(super) fn check_item(switches: &ResponsesSwitches, item: Item<'_, '_>, out: &mut Violations) {
    let (n, json) = (item.n, item.json);
    if !json.is_object() {
        let field = Field { pointer: at(n), path: format!("input[{n}]") };
        return wrong_type(out, &REQUEST_SHAPE, field, "an input item", json);
    }
    if let Some(kind) = item.written_kind.filter(|kind| !kind.is_null() && !kind.is_str()) {
        return wrong_type(out, &REQUEST_SHAPE, in_item(n, "type"), "a string", kind);
    }
    check_fields(item, out);
    match item.kind {
        ItemKind::Prompt | ItemKind::Said => check_message(item, out),
        ItemKind::Call(tool) if tool.is_defined_by_client() => {
            check_call_id(switches, item, out);
            let said = if tool == ToolKind::Function { "arguments" } else { "input" };
            let [name, arguments] = json.pick(["name", said]);
            check_name(n, tool, name, out);
            string(n, arguments, said, out);
        }
        ItemKind::Output(tool) if tool.is_defined_by_client() => {
            check_call_id(switches, item, out);
            match json.get("output") {
                None => missing(out, &ITEM_FIELD_REQUIRED, lacking(n, "output")),
                Some(output) if output.is_str() || output.is_array() => {}
                Some(output) => {
                    let expected = "one of an array of objects or string";
                    wrong_type(out, &ITEM_FIELD_REQUIRED, in_item(n, "output"), expected, output);
                }
            }
        }
        ItemKind::Reasoning => check_reasoning(item, out),
        ItemKind::Other => check_type(item, out),
        // For the provider's own tools, only the pairing is checked.
        ItemKind::Call(_) | ItemKind::Output(_) | ItemKind::Reference | ItemKind::Compaction => {}
    }
    if let Some(prefix) = item.id_prefix()
        && let Some(id) = item.id()
    {
        check_id(&id, prefix, || in_item(n, "id"), out);
        check_length(switches, &ITEM_ID_TOO_LONG, &id, || in_item(n, "id"), out);
    }
}

fn check_reasoning(item: Item<'_, '_>, out: &mut Violations) {
    let n = item.n;
    match item.json.get("summary") {
        Some(summary) if summary.is_array() => {}
        Some(other) => {
            wrong_type(out, &ITEM_FIELD_REQUIRED, in_item(n, "summary"), "an array of objects", other)
        }
        None => missing(out, &ITEM_FIELD_REQUIRED, lacking(n, "summary")),
    }
    if let Some(content) = item.content.filter(|content| content.is_array() && !content.is_empty()) {
        out.add(&REASONING_CONTENT, || {
            let violation = in_item(n, "content").violation().code("array_above_max_length");
            violation.with("length", content.items().count())
        });
    }
    let encrypted = item.json.field("encrypted_content").as_str();
    if let Some(text) = encrypted.filter(|text| is_plain_text(text)) {
        let shown: Vec<char> = text.chars().collect();
        let start: String = shown.iter().take(SHOWN).collect();
        let end: String = shown[shown.len().saturating_sub(SHOWN)..].iter().collect();
        out.add(&ENCRYPTED_CONTENT_FOREIGN, || {
            let violation = Occurrence::at(format!("{}/encrypted_content", at(n)));
            violation.code("invalid_encrypted_content").with("start", start).with("end", end)
        });
    }
}

/// Number of characters that the error message quotes from each end.
const SHOWN: usize = 4;

/// Returns whether a text cannot be encrypted content, which is base64. Recorders cut it or replace it.
fn is_plain_text(text: &str) -> bool {
    let is_base64 = |letter: char| letter.is_ascii_alphanumeric() || "+/-_=".contains(letter);
    let is_kept = !text.ends_with('…') && !text.ends_with("...") && !text.starts_with(['<', '[', '*']);
    is_kept
        && text
            .trim_end()
            .contains(|letter: char| letter.is_whitespace() || !is_base64(letter) && !letter.is_ascii())
}

fn check_fields(item: Item<'_, '_>, out: &mut Violations) {
    let Some(kind) = item.written_kind.and_then(Json::as_str) else { return };
    for (_, field) in OF_OUTPUT.iter().filter(|(own, field)| kind == *own && item.json.get(field).is_some()) {
        out.add(&ITEM_FIELD_UNKNOWN, || in_item(item.n, field).violation().code("unknown_parameter"));
    }
}

fn check_type(item: Item<'_, '_>, out: &mut Violations) {
    let kind = item.json.field("type").as_str();
    if let Some(kind) = kind.filter(|kind| kind.is_empty() || is_foreign_item_to_responses(kind)) {
        out.add(&ITEM_TYPE, || {
            let violation = Occurrence::at(format!("{}/type", at(item.n)));
            violation.param(format!("input[{}]", item.n)).code("invalid_value").with("type", kind)
        });
    }
}

fn check_message(item: Item<'_, '_>, out: &mut Violations) {
    let n = item.n;
    match (item.role, item.role.and_then(Json::as_str).as_deref()) {
        (_, Some("user" | "assistant" | "system" | "developer")) => {}
        (_, Some(role)) => out.add(&UNKNOWN_ROLE, || {
            let violation = Occurrence::at(format!("{}/role", at(n))).param(format!("input[{n}]"));
            violation.code("invalid_value").with("role", role)
        }),
        (Some(role), None) if !role.is_null() => {
            wrong_type(out, &REQUEST_SHAPE, in_item(n, "role"), "a string", role);
        }
        (_, None) => missing(out, &REQUEST_SHAPE, lacking(n, "role")),
    }
    match item.content {
        None => missing(out, &REQUEST_SHAPE, lacking(n, "content")),
        Some(content) => match content.kind() {
            JsonType::String => {}
            JsonType::Array => check_parts(n, item.kind, content, out),
            _ => {
                let expected = "one of an array of objects or string";
                wrong_type(out, &REQUEST_SHAPE, in_item(n, "content"), expected, content);
            }
        },
    }
}

/// Rejects parts that only user input can have, and parts of other dialects. The provider may know any
/// other type.
fn check_parts(n: usize, kind: ItemKind, content: Json, out: &mut Violations) {
    for (k, part) in content.items().enumerate() {
        let [written_kind, text] = part.pick(["type", "text"]);
        let form = match written_kind.and_then(Json::as_str).as_deref() {
            _ if !part.is_object() => {
                let field = Field {
                    pointer: format!("{}/content/{k}", at(n)),
                    path: format!("input[{n}].content[{k}]"),
                };
                wrong_type(out, &REQUEST_SHAPE, field, "an object", part);
                continue;
            }
            Some("input_text" | "input_image" | "input_file" | "text" | "image_url")
                if kind == ItemKind::Said =>
            {
                0
            }
            Some("input_text" | "output_text") => {
                check_text(n, k, text, out);
                continue;
            }
            Some("") => usize::from(kind != ItemKind::Said),
            Some(foreign) if is_foreign_part_to_responses(foreign) => usize::from(kind != ItemKind::Said),
            None if written_kind.is_none() => {
                out.add(&CONTENT_PART_TYPE, || {
                    let path = format!("input[{n}].content[{k}].type");
                    let field = Field { pointer: format!("{}/content/{k}", at(n)), path };
                    field.violation().form(NO_TYPE).code("missing_required_parameter")
                });
                continue;
            }
            None => {
                if let Some(other) = written_kind.filter(|kind| !kind.is_null()) {
                    wrong_type(out, &REQUEST_SHAPE, in_part(n, k, "type"), "a string", other);
                }
                continue;
            }
            Some(_) => continue,
        };
        out.add(&CONTENT_PART_TYPE, || {
            Occurrence::at(format!("{}/content/{k}/type", at(n)))
                .form(form)
                .param(format!("input[{n}].content[{k}]"))
                .code("invalid_value")
                .with("type", written_kind.and_then(Json::as_str).unwrap_or_default())
        });
    }
}

/// Checks that a text part has a text.
fn check_text(n: usize, k: usize, text: Option<Json>, out: &mut Violations) {
    match text {
        Some(text) if text.is_str() => {}
        Some(other) => wrong_type(out, &REQUEST_SHAPE, in_part(n, k, "text"), "a string", other),
        None => {
            let part =
                Field { pointer: format!("{}/content/{k}", at(n)), path: format!("input[{n}].content[{k}]") };
            missing(out, &REQUEST_SHAPE, part.lacking("text"));
        }
    }
}

fn in_part(n: usize, k: usize, name: &str) -> Field {
    Field {
        pointer: format!("{}/content/{k}/{name}", at(n)),
        path: format!("input[{n}].content[{k}].{name}"),
    }
}

/// The error message for a part without a type.
const NO_TYPE: usize = 2;

fn check_call_id(switches: &ResponsesSwitches, item: Item<'_, '_>, out: &mut Violations) {
    let n = item.n;
    let Some(id) = string(n, item.call_id, "call_id", out).and_then(Json::as_str) else { return };
    if id.is_empty() {
        refuse_empty(out, &CALL_ID_LENGTH, in_item(n, "call_id"))
    } else {
        check_length(switches, &CALL_ID_LENGTH, &id, || in_item(n, "call_id"), out)
    }
}

fn check_name(n: usize, tool: ToolKind, name: Option<Json>, out: &mut Violations) {
    match string(n, name, "name", out).and_then(Json::as_str) {
        Some(name) if name.is_empty() => refuse_empty(out, &FUNCTION_NAME_PATTERN, in_item(n, "name")),
        Some(name) if tool == ToolKind::Function && !is_plain_name(&name) => {
            out.add(&FUNCTION_NAME_PATTERN, || in_item(n, "name").violation().code("invalid_value"));
        }
        _ => {}
    }
}

fn check_id(id: &str, prefix: &str, field: impl Fn() -> Field, out: &mut Violations) {
    let form = match () {
        () if !is_plain_name(id) => 1,
        () if !id.starts_with(prefix) => 0,
        () => return,
    };
    out.add(&ITEM_ID_FORM, || {
        field().violation().form(form).code("invalid_value").with("id", id).with("prefix", prefix)
    });
}

fn check_length(
    switches: &ResponsesSwitches,
    rule: &'static Rule,
    id: &str,
    field: impl Fn() -> Field,
    out: &mut Violations,
) {
    let max = switches.max_id_chars;
    // A text never has more characters than bytes.
    if id.len() > max && id.chars().count() > max {
        let length = id.chars().count();
        out.add(rule, || {
            field().violation().code("string_above_max_length").with("max", max).with("length", length)
        });
    }
}

fn in_item(n: usize, name: &str) -> Field {
    Field { pointer: format!("{}/{name}", at(n)), path: format!("input[{n}].{name}") }
}

/// Returns a missing field. It is reported at the item, so that the pointer resolves.
fn lacking(n: usize, name: &str) -> Field {
    Field { pointer: at(n), path: format!("input[{n}].{name}") }
}

/// Requires a string field of an item, and returns it.
fn string<'t, 'a>(
    n: usize,
    value: Option<Json<'t, 'a>>,
    name: &str,
    out: &mut Violations,
) -> Option<Json<'t, 'a>> {
    match value {
        Some(value) if value.is_str() => return Some(value),
        Some(other) => wrong_type(out, &ITEM_FIELD_REQUIRED, in_item(n, name), "a string", other),
        None => missing(out, &ITEM_FIELD_REQUIRED, lacking(n, name)),
    }
    None
}

/// In the rules about ids and names, this is the error message for an empty value.
const EMPTY: usize = 1;

fn refuse_empty(out: &mut Violations, rule: &'static Rule, field: Field) {
    out.add(rule, || field.violation().form(EMPTY).code("empty_string"));
}

/// Proxies quote the error message "Invalid type for 'input\[0\]': expected an input item, but got a
/// string instead."; its form matches the provider's other API.
pub(crate) static REQUEST_SHAPE: Rule = Rule {
    summary: "The body has something to answer, and the known fields of messages have the right types.",
    why: "There is no `input` and no earlier response to continue from, or a field has another \
         type. Send `input` as a text or as a list of items, and the `content` of a message as a \
         text or as a list of parts.",
    sentences: &[
        "Missing required parameter: '{path}'.",
        "Invalid type for '{path}': expected {expected}, but got {got} instead.",
    ],
    sources: &[
        "https://github.com/agentgateway/agentgateway/pull/1100",
        "https://platform.openai.com/docs/api-reference/responses/create",
    ],
    ..Rule::observed("openai-responses/request-shape", "RSP-BODY-2", 1, "2025-03")
};

pub(crate) static UNKNOWN_ROLE: Rule = Rule {
    summary: "A role is one of the four that the API knows.",
    why: "The message comes from another API, most often with the role `tool` of Chat Completions. A tool's result \
         is an item of the type `function_call_output` here.",
    sentences: &[
        "Invalid value: '{role}'. Supported values are: 'assistant', 'system', 'developer', and 'user'.",
    ],
    sources: &["https://github.com/Chevey339/kelivo/pull/281"],
    ..Rule::observed("openai-responses/unknown-role", "RSP-ROLE-1", 1, "2025-03")
};

/// The error message is from 2025, and its list has grown since. It was received for `tool` and for
/// `input_text`.
pub(crate) static ITEM_TYPE: Rule = Rule {
    summary: "An item has no type of another API.",
    why: "A block or a part of another API is sent as an item, most often Anthropic's `tool_use` \
         and `tool_result`. Send calls as `function_call`, results as `function_call_output`, and \
         text as a message.",
    sentences: &["Invalid value: '{type}'. Supported values are: 'code_interpreter_call', 'computer_call', \
         'computer_call_output', 'file_search_call', 'function_call', 'function_call_output', \
         'image_generation_call', 'item_reference', 'local_shell_call', 'local_shell_call_output', 'message', \
         'reasoning', and 'web_search_call'."],
    sources: &[
        "https://git.dustin.coffee/hobokenchicken/GopherGate/src/commit/cb5b92155025c5f5c056540c2d4e04286e556332/src/providers",
        "https://platform.openai.com/docs/api-reference/responses/create",
    ],
    ..Rule::observed("openai-responses/item-type", "RSP-ITEM-3", 1, "2025-11")
};

pub(crate) static CONTENT_PART_TYPE: Rule = Rule {
    summary: "The parts of a message have a type of this API, and the assistant's parts are output.",
    why: "The model's text was stored as input, or in the parts of another API. Send back the \
         assistant's text as `output_text`, the user's as `input_text`, or either as a plain string.",
    sentences: &[
        "Invalid value: '{type}'. Supported values are: 'output_text' and 'refusal'.",
        "Invalid value: '{type}'. Supported values are: 'input_text', 'input_image', 'output_text', 'refusal', \
         'input_file', 'computer_screenshot', 'summary_text', and 'tether_browsing_display'.",
        "Missing required parameter: '{path}'.",
    ],
    sources: &[
        "https://github.com/camunda/connectors/pull/8356",
        "https://github.com/langchain-ai/langchainjs/pull/11169",
        "https://github.com/jeremychone/rust-genai/pull/119",
        "https://community.openai.com/t/how-to-chat-with-an-ai-generated-image-via-responses-api/1365014",
        "https://errs.dmxapi.cn/detail.php?id=1946",
        "https://github.com/MervinPraison/PraisonAI/issues/3934",
    ],
    ..Rule::measured("openai-responses/content-part-type", "RSP-PART-1", 1, "2025-10")
};

pub(crate) static ITEM_FIELD_REQUIRED: Rule = Rule {
    summary: "A call has an id, a name and its arguments, an output its id and its text, reasoning its summary.",
    why: "The item was stored before it was complete, or in the shape of another API. Keep every field of an item as \
         it came; a summary without text is an empty list.",
    sentences: &[
        "Missing required parameter: '{path}'.",
        "Invalid type for '{path}': expected {expected}, but got {got} instead.",
    ],
    sources: &[
        "https://github.com/AAswordman/Operit/issues/797",
        "https://github.com/lidge-jun/opencodex/pull/4673",
        "https://platform.openai.com/docs/api-reference/responses/create",
    ],
    ..Rule::observed("openai-responses/item-field-required", "RSP-ITEM-2", 1, "2025-03")
};

pub(crate) static CALL_ID_LENGTH: Rule = Rule {
    summary: "The id of a call is not empty and not longer than the provider's own ids may be.",
    why: "The call was made by another provider, whose ids are longer, or its id was lost. Give such calls ids of \
         your own, the same in the call and in its output.",
    sentences: &[
        "Invalid '{path}': string too long. Expected a string with maximum length {max}, but got a string with \
         length {length} instead.",
        "Invalid '{path}': empty string. Expected a string with minimum length 1, but got an empty string instead.",
    ],
    sources: &["https://github.com/BigPizzaV3/CodexPlusPlus/issues/315"],
    ..Rule::measured("openai-responses/call-id-length", "RSP-ID-2", 1, "2025-03")
};

pub(crate) static FUNCTION_NAME_PATTERN: Rule = Rule {
    summary: "The name of a called function has only letters, digits, `_` and `-`.",
    why: "The model called a tool by a name that does not exist, or the tool has a namespace in its name. Rename the \
         call in the history before it is sent again.",
    sentences: &[
        "Invalid '{path}': string does not match pattern. Expected a string that matches the pattern \
         '^[a-zA-Z0-9_-]+$'.",
        "Invalid '{path}': empty string. Expected a string with minimum length 1, but got an empty string instead.",
    ],
    sources: &[
        "https://github.com/openclaw/openclaw/issues/25728",
        "https://github.com/openai/codex/pull/9447",
        "https://github.com/weave-os/router/pull/1190",
    ],
    ..Rule::measured("openai-responses/function-name-pattern", "RSP-NAME-1", 1, "2025-11")
};

/// Fields that replies have and requests may not have, with the types of their items. The threads assume the same of other
/// fields of generated images, but only this one was seen to be rejected.
const OF_OUTPUT: [(&str, &str); 2] = [("image_generation_call", "action"), ("function_call", "role")];

pub(crate) static ITEM_FIELD_UNKNOWN: Rule = Rule {
    summary: "An item comes back without the fields that only replies have.",
    why: "The item was stored as it came and sent back whole, or has a field of another API or of the client. Leave out \
         the field that the message names. Of a generated image, send `id`, `type`, `status` and `result`.",
    sentences: &["Unknown parameter: 'input[{n}].{field}'."],
    sources: &[
        "https://github.com/can1357/oh-my-pi/issues/3201",
        "https://github.com/Yeachan-Heo/gajae-code/issues/1688",
        "https://github.com/BerriAI/litellm/issues/13420",
        "https://github.com/openai/codex/issues/10832",
        "https://github.com/maximhq/bifrost/issues/5101",
    ],
    ..Rule::observed("openai-responses/item-field-unknown", "RSP-ITEM-4", 1, "2026-05")
};

pub(crate) static REASONING_CONTENT: Rule = Rule {
    summary: "Reasoning comes back without its text in `content`.",
    why: "Another provider of this API wrote the reasoning, or a gateway made it of a thinking block. OpenAI takes back \
         only `summary` and `encrypted_content`: empty `content`, and put its text into `summary` if it must stay.",
    sentences: &[
        "Invalid '{path}': array too long. Expected an array with maximum length 0, but got an array with length \
         {length} instead.",
    ],
    sources: &[
        "https://github.com/router-for-me/CLIProxyAPI/issues/5825",
        "https://github.com/Wei-Shaw/sub2api/issues/5178",
        "https://github.com/openai/codex/issues/36551",
        "https://github.com/musistudio/claude-code-router/issues/1783",
    ],
    ..Rule::measured("openai-responses/reasoning-content", "RSP-RS-3", 1, "2026-02")
};

pub(crate) static ITEM_ID_FORM: Rule = Rule {
    summary: "The id of an item begins as the provider's ids of that type do.",
    why: "The item has an id that the provider never gave: one of another provider, one that the client made up, or the \
         id of the call. Leave the `id` of such items out, also of the user's messages; calls and outputs belong \
         together by `call_id`.",
    sentences: &[
        "Invalid '{path}': '{id}'. Expected an ID that begins with '{prefix}'.",
        "Invalid '{path}': '{id}'. Expected an ID that contains letters, numbers, underscores, or dashes, but this \
         value contained additional characters.",
    ],
    sources: &[
        "https://github.com/jlcodes99/cockpit-tools/issues/2090",
        "https://github.com/langchain-ai/langchainjs/issues/11044",
        "https://github.com/openai/codex/issues/27928",
        "https://github.com/openai/codex/issues/33176",
    ],
    ..Rule::measured("openai-responses/item-id-form", "RSP-ID-1", 1, "2025-04")
};

pub(crate) static ITEM_ID_TOO_LONG: Rule = Rule {
    summary: "The id of an item is not longer than the provider's own ids may be.",
    why: "The item has an id of another provider, or one that was put together from several. Leave the `id` out.",
    sentences: &[
        "Invalid '{path}': string too long. Expected a string with maximum length {max}, but got a string \
         with length {length} instead.",
    ],
    sources: &["https://platform.openai.com/docs/api-reference/responses/create"],
    ..Rule::measured("openai-responses/item-id-too-long", "RSP-ID-3", 1, "2025-04")
};

/// Everything that OpenAI encrypts begins with `gAAAA`. Content in another form of base64 may be from another
/// provider, but that is not certain, so it passes.
pub(crate) static ENCRYPTED_CONTENT_FOREIGN: Rule = Rule {
    summary: "The `encrypted_content` of reasoning is what the provider encrypted.",
    why: "Another account, key or model encrypted it, or a converter wrote the words of another model's reasoning into \
         `encrypted_content`. Send it with the key that received it, drop the item, or send the words as text.",
    sentences: &[
        "The encrypted content {start}...{end} could not be verified. Reason: Encrypted content could not be \
         decrypted or parsed.",
        "reasoning `encrypted_content` was not issued to this caller",
    ],
    sources: &[
        "https://github.com/edison7009/EchoBird/issues/255",
        "https://github.com/Wei-Shaw/sub2api/issues/2863",
        "https://github.com/openai/codex/issues/8145",
        "https://github.com/Kilo-Org/kilocode/issues/14314",
    ],
    ..Rule::observed("openai-responses/encrypted-content-foreign", "RSP-ENC-1", 4, "2025-12")
};
