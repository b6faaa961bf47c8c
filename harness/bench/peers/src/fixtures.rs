//! Fixtures for the servers that reply from files: one reply, complete or cut off after a number of
//! events.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use serde_json::json;

/// The text of the reply before the tool call.
pub const TEXT: &str = "Let me look at the weather in both of these cities before I answer you.";

/// The maximum number of events in a reply. A fixture cuts after at most this many.
const MAX_EVENTS: usize = 40;

/// The pace of the events in a cut reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    AtOnce,
    /// Waits some milliseconds between events, for servers that need the time to write them out.
    Slow,
}

/// The prompt that asks for a cut after that many events. The number always has two digits, so that no
/// prompt contains another.
pub fn prompt(pace: Pace, n_events: usize) -> String {
    match pace {
        Pace::AtOnce => format!("cut after {n_events:02} events"),
        Pace::Slow => format!("slowly cut at {n_events:02} events"),
    }
}

/// Builds a request that offers a tool.
pub fn request(prompt: &str) -> String {
    let tool = json!({
        "name": "get_weather",
        "description": "Looks the weather up.",
        "input_schema": { "type": "object", "properties": { "city": { "type": "string" } }, "required": ["city"] },
    });
    json!({
        "model": "claude-haiku-4-5",
        "max_tokens": 1024,
        "stream": true,
        "tools": [tool],
        "messages": [{ "role": "user", "content": prompt }],
    })
    .to_string()
}

/// Writes the fixtures of all servers that use some.
pub fn write(folder: &Path) {
    fs::write(folder.join("aimock.json"), aimock()).unwrap();
    fs::write(folder.join("llmposter.yaml"), llmposter()).unwrap();
}

fn aimock() -> String {
    let response = json!({
        "content": TEXT,
        "toolCalls": [{ "name": "get_weather", "arguments": { "city": "Oslo, and then the old town of Rome" } }],
    });
    let mut fixtures = Vec::new();
    for (pace, latency) in [(Pace::AtOnce, 0), (Pace::Slow, 5)] {
        for n in 1..=MAX_EVENTS {
            fixtures.push(json!({
                "match": { "userMessage": prompt(pace, n) },
                "response": response,
                "truncateAfterChunks": n,
                "latency": latency,
            }));
        }
    }
    // Every other request gets the complete reply.
    fixtures.push(json!({ "match": {}, "response": response }));
    json!({ "fixtures": fixtures }).to_string()
}

/// llmposter sends either text or calls in one reply, so its fixture has calls only.
fn llmposter() -> String {
    let response = "    response:\n      tool_calls:\n        - name: get_weather\n          arguments: { city: \
                    \"Oslo, and then the old town of Rome\" }\n    streaming: { latency: 0, chunk_size: 4 }\n";
    let mut text = "fixtures:\n".to_owned();
    for n in 1..=MAX_EVENTS {
        let prompt = prompt(Pace::AtOnce, n);
        write!(
            text,
            "  - match: {{ user_message: \"{prompt}\" }}\n{response}    failure: {{ truncate_after_frames: {n} }}\n"
        )
        .unwrap();
    }
    write!(text, "  - catch_all: true\n{response}").unwrap();
    text
}
