//! A list of messages with one message per line.

use serde_json::Value;

/// True if a line is a message, or an item of OpenAI's Responses API.
pub(super) fn is_message(line: &[u8]) -> bool {
    let Ok(Value::Object(fields)) = serde_json::from_slice(line) else { return false };
    let word = |name: &str| fields.get(name).is_some_and(Value::is_string);
    let has_content = ["content", "tool_calls", "parts"].iter().any(|name| fields.contains_key(*name));
    // Agent Framework has the blocks of a message in a field that holds the messages of Gemini elsewhere.
    let has_contents = || {
        let first = fields.get("contents").and_then(|contents| contents.get(0));
        first.is_some_and(|first| first.get("type").is_some())
    };
    let has_content = has_content || word("role") && has_contents();
    let is_whole = ["messages", "input", "request"].iter().any(|name| fields.contains_key(*name))
        || fields.contains_key("contents") && !has_contents();
    let is_item = word("type") && word("call_id");
    (word("role") && has_content || is_item) && !is_whole
}

/// The lines as one list, with each message on its own line. `None` if a line is something else. Lines with a role that
/// begins with `_` are the notes of a client, as Kimi CLI writes them.
pub(super) fn joined(text: &[u8]) -> Option<Vec<u8>> {
    let (mut list, mut n_messages) = (vec![b'['], 0);
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let message = line.trim_ascii_end();
        if is_message(message) {
            list.extend((n_messages > 0).then_some(b','));
            list.extend_from_slice(message);
            n_messages += 1;
        } else if !message.is_empty() && !is_note(message) {
            return None;
        }
        list.extend(line.ends_with(b"\n").then_some(b'\n'));
    }
    list.push(b']');
    (n_messages > 1).then_some(list)
}

/// True for a line that a client wrote between the messages.
pub(super) fn is_note(line: &[u8]) -> bool {
    let value: Option<Value> = serde_json::from_slice(line).ok();
    value.is_some_and(|value| {
        value.get("role").and_then(Value::as_str).is_some_and(|role| role.starts_with('_'))
    })
}

/// A list of messages, one per line.
pub(in crate::cli) fn parted(list: &[u8]) -> Option<Vec<u8>> {
    let messages: Vec<Value> = serde_json::from_slice(list).ok()?;
    Some(messages.iter().map(|message| format!("{message}\n")).collect::<String>().into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_in_lines_become_a_list_with_the_same_lines() {
        let text = "{\"role\":\"_checkpoint\",\"id\":0}\n{\"role\":\"user\",\"content\":\"a\"}\r\n\n{\"role\":\"tool\",\"content\":\"b\"}";
        let list = joined(text.as_bytes()).unwrap();
        assert_eq!(
            String::from_utf8_lossy(&list),
            "[\n{\"role\":\"user\",\"content\":\"a\"}\n\n,{\"role\":\"tool\",\"content\":\"b\"}]"
        );
        let parted = parted(&list).unwrap();
        assert_eq!(parted.iter().filter(|byte| **byte == b'\n').count(), 2);
    }

    #[test]
    fn other_lines_are_not_joined() {
        let message = "{\"role\":\"user\",\"content\":\"a\"}\n";
        for other in
            ["{\"messages\":[]}\n", "{\"type\":\"user\"}\n", "{\"role\":\"user\"", "[]\n", "\u{0}\n", ""]
        {
            assert_eq!(joined(format!("{message}{other}").as_bytes()), None, "{other}");
        }
    }
}
