//! The rows of a set for training, which look like requests.

use brickbat_rules::Family;
use brickbat_rules::check::{CheckedRequest, Level};
use serde_json::Value;

/// The fields of a row. A request has others, such as the model.
const FIELDS: [&str; 5] = ["messages", "tools", "parallel_tool_calls", "functions", "function_call"];

/// Drops the finding that the last reply of a row has calls without results: a model is trained to make them
/// (<https://platform.openai.com/docs/guides/supervised-fine-tuning>). Returns whether there was one.
pub(super) fn end_with_calls(text: &[u8], checked: &mut CheckedRequest) -> bool {
    let row: Option<Value> = serde_json::from_slice(text).ok();
    let fields = row.as_ref().and_then(Value::as_object);
    let Some(fields) = fields.filter(|fields| fields.keys().all(|name| FIELDS.contains(&name.as_str())))
    else {
        return false;
    };
    let messages = fields.get("messages").and_then(Value::as_array);
    let Some(last) = messages.and_then(|messages| messages.len().checked_sub(1)) else {
        return false;
    };
    let at = format!("/messages/{last}");
    let is_open = |pointer: &str| {
        pointer.strip_prefix(&at).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let n_before = checked.findings.len();
    checked.findings.retain(|finding| {
        let is_unanswered = Family::of(finding.rule.short_name()) == Some(Family::UnansweredCall);
        !(is_unanswered && is_open(&finding.pointer))
    });
    let is_dropped = checked.findings.len() < n_before;
    if is_dropped
        && checked.n_more == 0
        && checked.findings.iter().all(|finding| finding.level == Level::Warning)
    {
        checked.status = None;
        checked.refused_by.clear();
    }
    is_dropped
}

/// True for a body with messages that have only a role and a text.
pub(super) fn has_only_texts(text: &[u8]) -> bool {
    let body: Option<Value> = serde_json::from_slice(text).ok();
    let messages = body.as_ref().and_then(|body| body.get("messages")?.as_array());
    let is_plain = |message: &Value| {
        let role = message.get("role").and_then(Value::as_str);
        let is_known = matches!(role, Some("system" | "developer" | "user" | "assistant"));
        let is_text =
            |part: &Value| part.get("type").is_some_and(|kind| kind == "text") && part.get("text").is_some();
        let content = message.get("content");
        let has_texts = content.and_then(Value::as_array).is_some_and(|parts| parts.iter().all(is_text));
        is_known && (has_texts || content.is_some_and(Value::is_string))
    };
    messages.is_some_and(|messages| !messages.is_empty() && messages.iter().all(is_plain))
}

#[cfg(test)]
mod tests {
    use brickbat_rules::check::{CheckOptions, Start, check};

    use super::*;

    fn refused(text: &str) -> bool {
        let mut checked =
            check(text.as_bytes(), Start { line: 1, offset: 0 }, &CheckOptions::default()).unwrap();
        end_with_calls(text.as_bytes(), &mut checked);
        checked.status.is_some()
    }

    #[test]
    fn the_last_reply_of_a_row_may_call_and_an_earlier_one_is_answered() {
        const CALL: &str = r#"{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"w","arguments":"{}"}}]}"#;
        const USER: &str = r#"{"role":"user","content":"Hi"}"#;
        assert!(!refused(&format!(
            r#"{{"messages":[{USER},{CALL}],"tools":[],"parallel_tool_calls":false}}"#
        )));
        assert!(refused(&format!(r#"{{"messages":[{USER},{CALL},{USER}]}}"#)));
        assert!(refused(&format!(r#"{{"model":"gpt-5","messages":[{USER},{CALL}]}}"#)));
    }
}
