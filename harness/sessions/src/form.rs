//! Edits of the form of a request body: a field that the provider does not know, an id that is too long, two messages of
//! one role.
//!
//! [`repair`](crate::repair()) puts calls and results together, in every store. These edits are for bodies only, and each
//! belongs to a rule. They invent no words, and lose none unless they say so. A rule without an edit has a reason for it.

mod around;
mod body;
mod edits;
mod fix;
mod media;
mod names;
mod shapes;
mod text;

use brickbat_rules::json::Document;
use brickbat_rules::{
    Dialect, Memory, Profile, Rule, Severity, Violation, validate_asking, validate_list_to,
};
use serde_json::json;

use body::Body;

pub use fix::{FixedBody, Unfixed, fix_body};

/// A body after edits of its form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Formed {
    /// The body. Values that no edit touches keep their bytes.
    pub(crate) body: Vec<u8>,
    /// The edits, in the order in which they were made.
    pub(crate) edits: Vec<FormEdit>,
}

/// An edit of the form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormEdit {
    /// The rule that it is for.
    pub rule: &'static str,
    /// The place of the fault when the edit was made.
    pub pointer: String,
    /// A description, such as `the id of the item is left out`.
    pub words: &'static str,
    /// True if something is lost that is nowhere else.
    pub loses: bool,
}

/// The remedy for a broken rule.
#[derive(Clone, Copy)]
enum Remedy {
    /// An edit of the form.
    Edit(fn(&mut Body) -> Option<()>, &'static str, Keeps),
    /// The edits of a repair, which put calls and results together.
    Repair,
    /// Nothing. The words complete the sentence "no edit is known, because …".
    None(&'static str),
}

/// The amount of content that an edit keeps.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keeps {
    All,
    NotAll,
}

use Keeps::{All, NotAll};

/// The maximum number of edits in one body. Each needs another judgement of the whole body.
const MAX_EDITS: usize = 200;

/// The maximum number of bytes that these judgements together may read.
const MAX_BYTES: usize = 256 << 20;

/// Edits the form of a body, or of a bare list of messages, until the provider accepts it or no edit helps. `None` if
/// nothing was edited.
pub(crate) fn form(body: &[u8], profile: &'static Profile, model: Option<&str>) -> Option<Formed> {
    let document = Document::parse(body).ok()?;
    let original = document.root().to_value();
    let mut value = original.clone();
    let mut edits: Vec<FormEdit> = Vec::new();
    let mut n_bytes = 0;
    let mut text = body.to_vec();
    while edits.len() < MAX_EDITS && n_bytes < MAX_BYTES {
        n_bytes += text.len();
        let found = violations(&text, profile, model);
        let edit = found.iter().find_map(|violation| {
            let Remedy::Edit(edit, words, keeps) = remedy(violation.rule) else { return None };
            let mut attempt = value.clone();
            edit(&mut Body::at(&mut attempt, profile.dialect, &violation.pointer))?;
            let edit = FormEdit {
                rule: violation.rule.id,
                pointer: violation.pointer.clone(),
                words,
                loses: keeps == NotAll && n_leaves(&attempt) < n_leaves(&value),
            };
            (attempt != value).then_some((attempt, edit))
        });
        let Some((attempt, edit)) = edit else { break };
        value = attempt;
        text = value.to_string().into_bytes();
        edits.push(edit);
    }
    if edits.is_empty() {
        return None;
    }
    Some(Formed { body: text::rewritten(body, &value)?, edits })
}

/// A record of a store after an edit of its form.
pub(crate) struct ShapedRecord {
    /// The record. Values that the edit does not touch keep their bytes.
    pub(crate) text: Vec<u8>,
    /// A description, such as `the id of the item is left out`.
    pub(crate) words: &'static str,
    /// True if something is lost that is nowhere else.
    pub(crate) loses: bool,
}

/// The rules with an edit that changes only the record with the fault, and nothing that others refer to.
const OF_ONE_RECORD: [&str; 15] = [
    "item-id-form",
    "item-id-too-long",
    "item-without-reasoning",
    "reasoning-content",
    "item-field-unknown",
    "item-field-required",
    "function-name-pattern",
    "tool-name-pattern",
    "image-empty",
    "image-media-type",
    "image-not-base64",
    "image-unreadable",
    "image-type-differs",
    "image-too-wide",
    "image-too-wide-among-many",
];

/// Returns whether a rule has an edit that changes only the record with the fault.
pub(crate) fn is_of_one_record(rule: &Rule) -> bool {
    OF_ONE_RECORD.contains(&rule.short_name())
}

/// Edits the form of one record of a store, which is a message, an item or a block as the dialect has it. `pointer` is
/// that of the violation in the request. `None` if the record has another form, or no edit helps.
pub(crate) fn form_record(
    rule: &Rule,
    dialect: Dialect,
    record: &[u8],
    pointer: &str,
) -> Option<ShapedRecord> {
    let Remedy::Edit(edit, words, keeps) = remedy(rule) else { return None };
    if !is_of_one_record(rule) {
        return None;
    }
    let original = Document::parse(record).ok()?.root().to_value();
    let (list, rest) = pointer.strip_prefix('/')?.split_once('/')?;
    let rest = rest.split_once('/').map_or("", |(_, rest)| rest);
    // The list of Responses is one of items, which have a role only if they are messages.
    let is_message = original.get("role").is_some() || list == "input";
    let (mut attempt, pointer) = match is_message {
        true => (json!([original]), format!("/{list}/0/{rest}")),
        false => {
            let (_, rest) = rest.strip_prefix("content/")?.split_once('/').unwrap_or_default();
            (json!([{ "role": "user", "content": [original] }]), format!("/{list}/0/content/0/{rest}"))
        }
    };
    let mut body = Body::at(&mut attempt, dialect, pointer.trim_end_matches('/'));
    // The tool of a call without a name is not known.
    if rule.short_name().ends_with("name-pattern") && body.spot().is_some_and(|name| name == "") {
        return None;
    }
    edit(&mut body)?;
    let records = match is_message {
        true => attempt.as_array()?,
        false => attempt.get(0)?.get("content")?.as_array()?,
    };
    let [record_after] = records.as_slice() else { return None };
    // The text that takes the place of an image may have as many values.
    let loses = keeps == NotAll;
    let text = (*record_after != original).then(|| text::rewritten(record, record_after))??;
    Some(ShapedRecord { text, words, loses })
}

/// The number of values in a value that contain no others.
fn n_leaves(value: &serde_json::Value) -> usize {
    match value {
        serde_json::Value::Object(fields) => fields.values().map(n_leaves).sum(),
        serde_json::Value::Array(items) => items.iter().map(n_leaves).sum(),
        _ => 1,
    }
}

/// The reason why a rule has no edit, if it has none. It completes the sentence "no edit is known, because …".
pub fn no_edit(rule: &Rule) -> &'static str {
    match remedy(rule) {
        Remedy::None(because) => because,
        Remedy::Edit(..) => "the request does not show how to do it without losing or inventing something",
        Remedy::Repair => "the request alone does not show the call of each result",
    }
}

fn violations(text: &[u8], profile: &'static Profile, model: Option<&str>) -> Vec<Violation> {
    let is_list = text.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[');
    let mut found = match is_list {
        true => validate_list_to(profile, model, text),
        false => validate_asking(profile, &Memory::default(), model, text, &Document::parse(text)),
    };
    found.retain(|violation| violation.severity == Severity::Error);
    found
}

/// The remedy for a rule. A test shows that each rule has one.
fn remedy(rule: &Rule) -> Remedy {
    decided(rule).unwrap_or(Remedy::Repair)
}

/// The remedy for a rule, by its name. Rules of several dialects share a name.
fn decided(rule: &Rule) -> Option<Remedy> {
    use Remedy::{Edit, None, Repair};
    let gemini = rule.id.starts_with("gemini/");
    Some(match rule.short_name() {
        "item-id-form" | "item-id-too-long" | "item-without-reasoning" => {
            Edit(edits::drop_item_id, "the id of the item is left out", All)
        }
        "unknown-message-field" | "extra-key" => {
            Edit(edits::drop_field, "a field that the API does not know is left out", All)
        }
        "prefix-not-last" => Edit(edits::drop_prefix, "`prefix` is left out", All),
        "last-message-assistant" => {
            Edit(edits::add_prefix, "`prefix` is set, so that the model continues the reply", All)
        }
        "reasoning-content" => {
            Edit(edits::reasoning_as_summary, "the text of the reasoning is put into its `summary`", All)
        }
        "item-field-unknown" => Edit(edits::drop_field, "a field that only replies have is left out", All),
        "tool-calls-empty" => Edit(edits::drop_empty_calls, "the empty `tool_calls` is left out", All),
        "reasoning-content-missing" | "reasoning-content-not-returned" => {
            Edit(edits::add_reasoning, "an empty `reasoning_content` is added", All)
        }
        "thinking-not-returned" => Edit(edits::add_thinking, "a thinking block with a space is added", All),
        "thought-signature-missing" | "thought-signature-corrupted" => {
            Edit(edits::add_signature, "`skip_thought_signature_validator` is sent as the signature", All)
        }
        "final-text-trailing-space" | "model-trailing-space" => {
            Edit(edits::trim_end, "white space at the end of the last text is removed", All)
        }
        "successive-roles" | "roles-not-alternating" => {
            Edit(edits::merge, "two messages of one role are joined", All)
        }
        "tool-input-not-object" | "args-not-object" => {
            Edit(edits::arguments_as_object, "the arguments are written as an object", All)
        }
        "arguments-not-json" => {
            Edit(edits::arguments_as_text, "the arguments are written as the text of an object", All)
        }
        "value-not-object" => Edit(edits::bedrock_object, "the value is written as an object", All),
        "response-not-object" => Edit(edits::response_as_object, "the response is put into an object", All),
        "tool-call-shape" => Edit(edits::call_shape, "the arguments of the call are written as a text", All),
        "item-field-required" => Edit(edits::item_fields, "the missing field is written, empty", All),
        "content-null" | "content-list-empty" => {
            Edit(edits::empty_text, "an empty text is sent as the content", All)
        }
        "text-empty" | "text-blank" | "model-text-blank" | "part-empty" => {
            Edit(edits::drop_block, "an empty block is removed", All)
        }
        "content-empty"
        | "message-empty"
        | "assistant-message-empty"
        | "parts-empty"
        | "user-message-empty" => Edit(edits::drop_message, "an empty message is removed", All),
        "part-not-text" | "image-too-wide" | "image-too-wide-among-many" => {
            Edit(edits::replace_media, "a text takes the place of what the model does not accept", NotAll)
        }
        "tool-result-error-not-text" | "model-tool-result-error-not-text" => {
            Edit(edits::error_as_text, "what is not text is moved behind the results", All)
        }
        "tool-result-error-empty" => Edit(edits::error_text, "a text says that the tool failed", All),
        "text-after-tool-use" | "model-text-after-tool-use" => {
            Edit(edits::calls_last, "the texts of the reply are put before its calls", All)
        }
        "responses-mixed" => {
            Edit(edits::part_responses, "texts beside responses get a content of their own", All)
        }
        "image-outside-user" | "document-outside-user" => {
            Edit(media::to_user, "what only the user may send is moved into a message of the user", All)
        }
        "image-empty" | "image-media-type" | "image-not-base64" | "image-unreadable"
        | "input-not-enabled" => {
            Edit(edits::replace_media, "a text takes the place of what the model does not accept", NotAll)
        }
        "image-type-differs" => Edit(media::own_type, "the image gets the media type of its data", All),
        "citations-outside-assistant" => {
            Edit(media::drop_citations, "the citations of a text are left out", NotAll)
        }
        "document-without-text" => Edit(media::text_beside, "a text is put beside the document", All),
        "sampling-parameter" => {
            Edit(media::drop_setting, "a setting that the model does not take is left out", All)
        }
        "name-unknown" if gemini => {
            Edit(media::gemini_names, "a message of another API is written as this one's", All)
        }
        "unknown-role" | "function-role" => {
            Edit(around::rename_role, "the message gets this API's name for its role", All)
        }
        "system-message-first" => {
            Edit(around::system_to_top, "the first system message is moved to `system`", All)
        }
        "system-message-model" => {
            Edit(around::system_as_user, "the system message is sent as one of the user", All)
        }
        "system-message-not-after-user" | "system-message-not-before-assistant" => {
            Edit(around::system_after_user, "the system message is put behind the user's", All)
        }
        "role-order" => Edit(around::system_as_user, "the system message is sent as one of the user", All),
        "cache-control-too-many" => {
            Edit(around::oldest_breakpoint, "the oldest breakpoint of the cache is removed", All)
        }
        "cache-control-on-empty-text" => {
            Edit(around::drop_breakpoint, "the breakpoint on an empty text is removed", All)
        }
        "cache-control-order" => {
            Edit(around::shorter_lifetime, "the later breakpoint gets the default lifetime", All)
        }
        "thinking-missing"
        | "model-thinking-missing"
        | "thinking-with-forced-tool"
        | "model-thinking-with-forced-tool" => {
            Edit(around::without_thinking, "thinking is not asked for in this request", All)
        }
        "tool-config-missing" | "tools-empty" => {
            Edit(around::offer_tools, "the tools that the history calls are offered", All)
        }
        "tool-names-not-unique" => {
            Edit(around::same_tool_once, "the second of two equal tools is removed", All)
        }
        "server-tool-result-missing" => Edit(
            edits::join_server_tool,
            "a call of the provider's tool is put together with its result, or removed",
            NotAll,
        ),
        "server-tool-result-orphan" => Edit(
            edits::join_server_tool,
            "a result of the provider's tool is put together with its call, or removed",
            NotAll,
        ),
        "tool-result-id-required" | "tool-call-id-required" => {
            Edit(edits::copy_call_id, "the id of the only open call is copied into its result", All)
        }
        "request-shape" => Edit(edits::shape, "the content is written in the form that the API takes", All),
        "block-type-foreign" | "content-part-type" | "block-without-key" | "name-unknown" if !gemini => {
            Edit(edits::translate, "a block of another API is translated, or a thought of it removed", NotAll)
        }
        "tool-id-pattern"
        | "model-tool-id-pattern"
        | "call-id-form"
        | "call-id-too-long"
        | "call-id-length" => Edit(names::rename_id, "the call and its result get another id", All),
        "tool-call-id-duplicate" | "call-id-duplicate" | "tool-use-id-duplicate" => {
            Edit(names::rename_second_id, "the second call and its result get another id", All)
        }
        "tool-name-pattern" | "function-name-pattern" | "function-name" | "declaration-name-pattern" => {
            Edit(names::rename_tool, "the tool is renamed where it is called and offered", All)
        }
        "function-name-empty" if gemini => {
            Edit(names::copy_name, "the name of the call is copied into its response", All)
        }
        "body-not-json" => None("the text is not JSON; write it again with a JSON library"),
        "body-too-large" => None("the request is too large; remove or shrink old images and long results"),
        "messages-empty"
        | "contents-empty"
        | "conversation-start"
        | "first-message-not-user"
        | "call-not-after-user" => None("the user's message that is missing is not in the request"),
        "prefill-not-supported" | "model-prefill" | "model-prefill-with-tools" | "ends-with-model" => {
            None("only you know the next message of the user; add it")
        }
        "server-tool-id-pattern" => None("the provider gave the id, and it is not in the request"),
        "server-tool-not-offered" => None("the definition of the tool is not in the request"),
        "content-and-calls" | "model-text-beside-tools" => {
            None("these models take no text beside calls, and it would be lost")
        }
        "thinking-bound-elsewhere" | "thinking-modified" => {
            None("the thinking as it came is not in the request; drop it after the change")
        }
        "tool-use-field-required" => None("the rest of the call is not in the request"),
        "tool-use-outside-assistant" | "tool-result-outside-user" => {
            None("the message that made the call cannot be told from the request alone")
        }
        "tool-call-not-function" | "item-type" | "name-unknown" | "block-without-key" => {
            None("the call or the block belongs to another API, and has no equal here")
        }
        "system-message-content" => None("a system message takes only text, and the rest would be lost"),
        "previous-response-not-found" | "item-not-found" => {
            None("what the provider kept is not in the request; send the whole conversation")
        }
        "namespace-missing" => None("the namespace of the call is not in the request"),
        "function-name-empty" => None("the name of the call is not in the request"),
        "model-signature-invalid" => {
            Edit(edits::drop_block, "a thought without its signature is removed", NotAll)
        }
        "item-duplicate" => Edit(edits::same_item_once, "the second copy of an item is removed", All),
        "signature-invalid"
        | "thinking-field-required"
        | "thinking-not-first"
        | "thinking-when-disabled"
        | "thinking-last" => None("the thinking as it came is not in the request"),
        "tool-result-duplicate"
        | "tool-message-duplicate"
        | "result-id-duplicate"
        | "async-output-duplicate"
        | "tool-output-duplicate" => {
            None("two results of one call differ, and only you know which one is real")
        }
        "tool-result-orphan"
        | "tool-message-orphan"
        | "tool-message-unknown-id"
        | "result-id-unknown"
        | "response-not-after-call"
        | "tool-output-orphan"
        | "call-and-result-counts"
        | "tool-results-exceed" => {
            None("the call of a result cannot be found where the provider looks for it")
        }
        "tool-use-id-reused"
        | "tool-result-missing"
        | "model-tool-result-missing"
        | "tool-result-not-first"
        | "model-tool-result-not-first"
        | "user-message-missing"
        | "tool-message-missing"
        | "encrypted-content-foreign"
        | "reasoning-without-item"
        | "tool-output-missing"
        | "tool-outputs-interrupted"
        | "response-count"
        | "response-missing" => Repair,
        _ => return Option::None,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn formed(profile: &str, body: &Value) -> Option<Value> {
        let formed = form(body.to_string().as_bytes(), Profile::named(profile).unwrap(), None)?;
        Some(serde_json::from_slice(&formed.body).unwrap())
    }

    #[test]
    fn each_rule_has_a_remedy_that_was_decided() {
        let open: Vec<&str> =
            Rule::all().filter(|rule| decided(rule).is_none()).map(|rule| rule.id).collect();
        assert_eq!(open, Vec::<&str>::new());
    }

    #[test]
    fn an_id_and_a_field_are_left_out() {
        let item = |id: bool| {
            let mut item = json!({ "type": "function_call", "id": "call_1", "call_id": "call_1", "name": "w", "arguments": "{}" });
            if !id {
                item.as_object_mut().unwrap().shift_remove("id");
            }
            let output = json!({ "type": "function_call_output", "call_id": "call_1", "output": "x" });
            json!({ "model": "gpt-5", "input": [{ "role": "user", "content": "Hi" }, item, output] })
        };
        assert_eq!(formed("openai-responses", &item(true)), Some(item(false)));
        assert_eq!(formed("openai-responses", &item(false)), None);
    }

    #[test]
    fn a_tool_is_renamed_in_every_list_of_calls() {
        let body = |name: &str, custom: &str| {
            let call =
                json!({ "type": "function_call", "call_id": "call_1", "name": name, "arguments": "{}" });
            let output = json!({ "type": "function_call_output", "call_id": "call_1", "output": "x" });
            let other =
                json!({ "type": "function_call", "call_id": "call_2", "name": custom, "arguments": "{}" });
            let shown = json!({ "type": "function_call_output", "call_id": "call_2", "output": "y" });
            json!({ "model": "gpt-5", "input": [{ "role": "user", "content": "Hi" }, call, output, other, shown] })
        };
        let renamed = formed("openai-responses", &body("exec_command\u{0}", "my.tool:x"));
        assert_eq!(renamed, Some(body("exec_command", "my_tool_x")));
    }

    #[test]
    fn two_calls_that_share_an_id_are_parted_only_with_their_results() {
        let call = json!({ "id": "", "type": "function", "function": { "name": "w", "arguments": "{}" } });
        let result = |text: &str| json!({ "role": "tool", "tool_call_id": "", "content": text });
        let body = |results: Vec<Value>| {
            let mut messages = vec![
                json!({ "role": "user", "content": "Hi" }),
                json!({ "role": "assistant", "tool_calls": [call, call] }),
            ];
            messages.extend(results);
            json!({ "model": "deepseek-chat", "messages": messages })
        };
        let parted = formed("deepseek", &body(vec![result("a"), result("b")])).unwrap();
        assert_eq!(parted["messages"][1]["tool_calls"][1]["id"], parted["messages"][3]["tool_call_id"]);
        assert_ne!(parted["messages"][1]["tool_calls"][1]["id"], parted["messages"][2]["tool_call_id"]);
    }

    #[test]
    fn a_reply_of_the_provider_s_tool_is_joined_and_loses_nothing() {
        let body = json!({ "model": "claude-opus-4-8", "messages": [
            { "role": "user", "content": "Plan." },
            { "role": "assistant", "content": [{ "type": "server_tool_use", "id": "srvtoolu_01", "name": "advisor", "input": {} }] },
            { "role": "user", "content": "<command>" },
            { "role": "assistant", "content": [
                { "type": "advisor_tool_result", "tool_use_id": "srvtoolu_01", "content": { "type": "advisor_result", "text": "Do." } },
                { "type": "text", "text": "Done." }] },
            { "role": "user", "content": "And?" },
        ] });
        let joined = formed("anthropic-messages", &body).unwrap();
        assert_eq!(joined["messages"][2], body["messages"][3]);
        assert_eq!(joined["messages"][3], body["messages"][2]);
    }

    #[test]
    fn an_image_of_a_tool_is_moved_behind_all_results() {
        let image = json!({ "type": "image_url", "image_url": { "url": "https://example.com/a.png" } });
        let call = |id: &str| json!({ "id": id, "type": "function", "function": { "name": "w", "arguments": "{}" } });
        let body = json!({ "model": "gpt-4o-mini", "messages": [
            { "role": "user", "content": "Look." },
            { "role": "assistant", "content": null, "tool_calls": [call("call_1"), call("call_2")] },
            { "role": "tool", "tool_call_id": "call_1", "content": [image] },
            { "role": "tool", "tool_call_id": "call_2", "content": "two" },
        ] });
        let moved = formed("openai-chat", &body).unwrap();
        assert_eq!(moved["messages"][4], json!({ "role": "user", "content": [image] }));
        assert_eq!(moved["messages"][2]["content"][0]["text"], "See the next message.");
        assert_eq!(moved["messages"][3], body["messages"][3]);
    }

    #[test]
    fn instructions_and_names_of_another_api_are_written_as_this_one_s() {
        let body = json!({ "contents": [
            { "role": "system", "parts": [{ "text": "Be brief." }] },
            { "role": "user", "content": "Hi" },
        ] });
        let written = json!({
            "contents": [{ "role": "user", "parts": [{ "text": "Hi" }] }],
            "systemInstruction": { "parts": [{ "text": "Be brief." }] },
        });
        assert_eq!(formed("gemini", &body), Some(written));
        let body = json!({ "model": "claude-sonnet-5", "max_tokens": 9, "messages": [
            { "role": "developer", "content": "Be brief." }, { "role": "user", "content": "Hi" },
        ] });
        let written = formed("anthropic-messages", &body).unwrap();
        assert_eq!(written["system"], "Be brief.");
        assert_eq!(written["messages"], json!([{ "role": "user", "content": "Hi" }]));
    }

    #[test]
    fn every_rule_without_an_edit_says_why() {
        for rule in Rule::all() {
            assert!(!no_edit(rule).is_empty() && !no_edit(rule).ends_with('.'), "{}", rule.id);
        }
    }
}
