//! The paths in error messages: whether the sentence of a rule can be about them.

use crate::{Dialect, Rule};

/// Parameters outside the history. An error about one of them is not about the conversation.
const OUTSIDE: [&str; 32] = [
    "tools",
    "functions",
    "function_call",
    "tool_choice",
    "tool_config",
    "model",
    "text",
    "response_format",
    "reasoning",
    "reasoning_effort",
    "temperature",
    "top_p",
    "top_k",
    "max_tokens",
    "max_completion_tokens",
    "max_output_tokens",
    "parallel_tool_calls",
    "stop",
    "stream",
    "stream_options",
    "metadata",
    "seed",
    "user",
    "verbosity",
    "mcp_servers",
    "container",
    "output_config",
    "service_tier",
    "stop_sequences",
    "logprobs",
    "prompt_cache_key",
    "generation_config",
];

/// Returns whether a field of the body is a parameter beside the history.
pub(super) fn is_beside_history(field: &str) -> bool {
    OUTSIDE.contains(&field)
}

/// The last keys of the paths of a rule's sentences. Rules that share a sentence differ in them. A rule that is not in
/// the list may have any.
const LAST_KEYS: [(&str, &[&str]); 24] = [
    (
        "openai-responses/content-part-type",
        &["type", "text", "image_url", "file_id", "file_data", "refusal", "annotations"],
    ),
    (
        "openai-chat/content-part-type",
        &["type", "text", "image_url", "url", "input_audio", "file", "refusal"],
    ),
    ("anthropic-messages/tool-use-field-required", &["id", "name", "input"]),
    ("anthropic-messages/tool-result-id-required", &["tool_use_id"]),
    ("anthropic-messages/thinking-field-required", &["signature", "thinking", "data"]),
    ("anthropic-messages/tool-id-pattern", &["id", "tool_use_id"]),
    ("anthropic-messages/server-tool-id-pattern", &["id", "tool_use_id"]),
    ("anthropic-messages/tool-name-pattern", &["name"]),
    ("anthropic-messages/tool-input-not-object", &["input"]),
    (
        "anthropic-messages/request-shape",
        &[
            "content",
            "role",
            "type",
            "text",
            "source",
            "media_type",
            "url",
            "title",
            "context",
            "messages",
            "is_error",
            "tools",
        ],
    ),
    ("bedrock-converse/tool-id-pattern", &["toolUseId"]),
    ("bedrock-converse/tool-name-pattern", &["name"]),
    ("openai-responses/item-id-form", &["id", "previous_response_id"]),
    ("openai-responses/item-id-too-long", &["id"]),
    ("openai-responses/call-id-length", &["call_id"]),
    ("openai-responses/function-name-pattern", &["name"]),
    ("openai-responses/reasoning-content", &["content"]),
    (
        "openai-responses/item-field-required",
        &[
            "id",
            "call_id",
            "name",
            "arguments",
            "input",
            "output",
            "summary",
            "action",
            "type",
            "status",
            "result",
        ],
    ),
    (
        "openai-responses/request-shape",
        &["input", "role", "content", "text", "type", "phase", "previous_response_id"],
    ),
    ("openai-chat/tool-calls-empty", &["tool_calls"]),
    ("openai-chat/call-id-too-long", &["id", "tool_call_id"]),
    ("openai-chat/function-name-pattern", &["name"]),
    ("openai-chat/tool-call-shape", &["id", "type", "function", "name", "arguments", "tool_calls", "custom"]),
    ("openai-chat/tool-call-id-required", &["tool_call_id", "name"]),
];

/// The number of letters that a path adds to a match with a rule: those in the name of its dialect's list of messages.
/// `None` if the path is outside the history, or inside the list of another dialect.
pub(super) fn letters_of(path: &str, rule: &Rule) -> Option<usize> {
    let first = keys_of(path).next().unwrap_or_default();
    let list = |dialect: Dialect| dialect.definition().list;
    // A gateway hides the beginning of a path, as in `***.signature`.
    if path.starts_with('.') {
        let is_known = last_keys(rule).is_some_and(|keys| keys.contains(&first));
        return Some(if is_known { first.len() } else { 0 });
    }
    if first == list(rule.dialect()) {
        return Some(first.len());
    }
    let is_of_any_field =
        rule.short_name() == "extra-key" || rule.short_name() == "request-shape" && path == "tools";
    let is_elsewhere = OUTSIDE.contains(&first) && !is_of_any_field
        || Dialect::ALL.into_iter().any(|other| list(other) == first);
    (!is_elsewhere).then_some(0)
}

/// Returns whether a rule can say its sentences about this path. A path that was cut has no last key.
pub(super) fn can_be_of(path: &str, rule: &Rule) -> bool {
    let Some(last) = keys_of(path).next_back() else { return true };
    last_keys(rule).is_none_or(|known| known.iter().any(|key| key.eq_ignore_ascii_case(last)))
}

/// The last keys of the paths of a rule's sentences, if they are known.
pub(super) fn last_keys(rule: &Rule) -> Option<&'static [&'static str]> {
    LAST_KEYS.iter().find(|(id, _)| *id == rule.id).map(|(_, keys)| *keys)
}

/// The names in a path. The numbers in it are those of items, or the letter that stands for one in a title.
fn keys_of(path: &str) -> impl DoubleEndedIterator<Item = &str> {
    let keys = path.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    keys.filter(|key| {
        let is_index =
            key.starts_with(|c: char| c.is_ascii_digit()) || matches!(*key, "n" | "N" | "x" | "X" | "i");
        !key.is_empty() && !is_index
    })
}

#[cfg(test)]
mod tests {
    use super::super::said::{parts, sentences};
    use super::*;

    #[test]
    fn rules_with_known_keys_have_sentences_with_paths() {
        for (id, _) in LAST_KEYS {
            let rule = Rule::find(id).unwrap_or_else(|| panic!("{id}"));
            assert!(sentences(rule).any(|sentence| parts(sentence).1.contains(&"path")), "{id}");
        }
    }

    #[test]
    fn the_last_key_of_a_path_tells_rules_with_one_sentence_apart() {
        let rule = |id: &str| Rule::find(id).unwrap();
        let (item, call) = ("openai-responses/item-id-too-long", "openai-responses/call-id-length");
        assert!(can_be_of("input[206].id", rule(item)) && !can_be_of("input[206].id", rule(call)));
        assert!(can_be_of("input[N].call_id", rule(call)) && !can_be_of("input[N].call_id", rule(item)));
        assert!(can_be_of("", rule(call)));
        assert!(!can_be_of("messages[N].content", rule("openai-chat/tool-calls-empty")));
    }

    #[test]
    fn a_parameter_beside_the_history_is_not_its_fault() {
        let rule = |id: &str| Rule::find(id).unwrap();
        for path in ["tools[0].name", "functions[6].name", "model", "text.format.name", "contents[1].parts"] {
            assert_eq!(letters_of(path, rule("openai-chat/request-shape")), None, "{path}");
        }
        assert_eq!(
            letters_of("messages[1].content", rule("openai-chat/request-shape")),
            Some("messages".len())
        );
        assert_eq!(letters_of("previous_response_id", rule("openai-responses/request-shape")), Some(0));
    }
}
