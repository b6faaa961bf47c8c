//! What those servers are given that reply from fixtures: one reply, whole or cut off after so many events.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use serde_json::json;

/// What the model says before it calls the tool.
pub const TEXT: &str = "Let me look at the weather in both of these cities before I answer you.";

/// Events of a reply at the most, after which a fixture cuts.
const MAX_EVENTS: usize = 40;

/// How fast the events of a cut reply follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    AtOnce,
    /// With some milliseconds between, where a server needs that to write them out.
    Slow,
}

/// What a request says that is to be cut after that many events. Its number has two digits, so that none is a part of
/// another.
pub fn prompt(pace: Pace, n_events: usize) -> String {
    match pace {
        Pace::AtOnce => format!("cut after {n_events:02} events"),
        Pace::Slow => format!("slowly cut at {n_events:02} events"),
    }
}

/// A request that offers a tool.
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

/// Writes the fixtures of all servers that have some.
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
    // Whatever else is asked gets the whole reply.
    fixtures.push(json!({ "match": {}, "response": response }));
    json!({ "fixtures": fixtures }).to_string()
}

/// llmposter takes text or calls in one reply, and not both, so its model calls without a word.
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
