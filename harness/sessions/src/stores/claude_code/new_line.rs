//! New lines: a result as a separate line.

use brickbat_rules::json::Json;
use serde_json::json;
use sha2::{Digest, Sha256};

use super::line::Record;

/// A result as the product would have written it.
pub(super) struct NewLine {
    /// The id of the line.
    pub(super) uuid: String,
    /// The text of the line.
    pub(super) text: String,
}

/// The content of a new line.
pub(super) struct Saying<'a> {
    /// The id of the parent line.
    pub(super) parent: &'a str,
    /// The id of the new line.
    pub(super) uuid: String,
    /// The block of the result.
    pub(super) block: &'a str,
    /// The result in display form, if it was recorded.
    pub(super) display: Option<&'a str>,
    /// A description of the edit, for a foreign field of the line.
    pub(super) edit: &'static str,
}

/// Fields that a result line shares with the line of its call.
const SHARED: [&str; 8] =
    ["isSidechain", "userType", "cwd", "sessionId", "version", "gitBranch", "agentId", "slug"];

/// A result line after the line of its call. It gets the time of the call, since the real one is unknown.
pub(super) fn of(call: Json, call_line: &Record, saying: Saying) -> NewLine {
    let shared = SHARED.into_iter().filter_map(|name| Some((name, call.get(name)?.raw().to_owned())));
    let mut fields = vec![("parentUuid", json!(saying.parent).to_string())];
    fields.extend(shared);
    fields.push(("type", "\"user\"".to_owned()));
    fields.push(("message", format!("{{\"role\":\"user\",\"content\":[{}]}}", saying.block)));
    fields.push(("uuid", json!(saying.uuid).to_string()));
    if let Some(timestamp) = call.get("timestamp") {
        fields.push(("timestamp", timestamp.raw().to_owned()));
    }
    if let Some(display) = saying.display {
        fields.push(("toolUseResult", display.to_owned()));
    }
    fields.push(("sourceToolAssistantUUID", json!(call_line.uuid).to_string()));
    fields.push(("brickbat", json!({ "edit": saying.edit }).to_string()));
    let fields: Vec<String> = fields.into_iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
    NewLine { uuid: saying.uuid, text: format!("{{{}}}", fields.join(",")) }
}

/// An empty line after the last line in the conversation.
pub(super) fn end_mark(last: Json, parent: &str) -> String {
    let shared = SHARED.into_iter().chain(["timestamp"]);
    let shared = shared.filter_map(|name| Some(format!("\"{name}\":{},", last.get(name)?.raw())));
    let mark = json!({ "edit": "truncated" });
    let (shared, parent, uuid) = (shared.collect::<String>(), json!(parent), json!(uuid(parent, 0)));
    format!(
        "{{\"parentUuid\":{parent},{shared}\"type\":\"system\",\"subtype\":\"informational\",\"content\":\"\",\
         \"uuid\":{uuid},\"brickbat\":{mark}}}"
    )
}

/// The block of a result that was never recorded.
pub(super) fn not_recorded(call: &str) -> String {
    let text = crate::NOT_RECORDED;
    json!({ "type": "tool_result", "content": text, "is_error": true, "tool_use_id": call }).to_string()
}

/// The block of a result that was recorded only as text.
pub(super) fn of_words(call: &str, words: &str) -> String {
    json!({ "type": "tool_result", "content": words, "tool_use_id": call }).to_string()
}

/// An id for a line that answers a call. It is the same on each machine and in each run. The number
/// distinguishes it from existing lines, such as one from an earlier repair that was rewound.
pub(super) fn uuid(call: &str, n: usize) -> String {
    let digest = Sha256::digest(format!("brickbat {n} {call}"));
    let mut bytes: Vec<u8> = digest.iter().copied().take(16).collect();
    // Version 8 and the variant of RFC 9562: a custom id.
    bytes[6] = bytes[6] & 0x0f | 0x80;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}
