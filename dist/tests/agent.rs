//! A typical agent for Anthropic's API. The Rust examples of the page about unit tests use it, and so do the tests of the
//! fixture. It has a bug, which the environment variable `FIXED=1` fixes.

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Stores each block as soon as it arrives, so that a stop loses none.
pub struct Agent {
    /// The address of the API, without the scheme.
    host: String,
    pub messages: Vec<Value>,
    /// True to add results for stopped calls. False plants the bug that bricks the thread.
    pub settles: bool,
}

impl Agent {
    pub fn new(base_url: &str) -> Agent {
        let host = base_url.trim_start_matches("http://").to_owned();
        Agent { host, messages: Vec::new(), settles: std::env::var_os("FIXED").is_some() }
    }

    /// Runs a turn. Dropping the future stops it.
    pub async fn turn(&mut self, text: &str) {
        if self.settles {
            self.answer("stopped");
        }
        self.messages.push(json!({ "role": "user", "content": text }));
        // Like many agents, this one hides errors.
        while self.reply().await.is_ok() && self.answer("12 degrees") {}
    }

    async fn reply(&mut self) -> Result<(), String> {
        let tool = json!({ "name": "get_weather", "input_schema": { "type": "object", "properties": {} } });
        let body = json!({
            "model": "claude-haiku-4-5", "max_tokens": 1024, "stream": true, "tools": [tool], "messages": self.messages,
        })
        .to_string();
        let head = format!(
            "POST /v1/messages HTTP/1.1\r\nhost: {}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
            self.host,
            body.len()
        );
        let mut stream = TcpStream::connect(&self.host).await.map_err(|error| error.to_string())?;
        stream
            .write_all(&[head.as_bytes(), body.as_bytes()].concat())
            .await
            .map_err(|error| error.to_string())?;
        let mut answer = String::new();
        let (mut n_read, mut blocks, mut begun) = (0, Vec::new(), Value::Null);
        loop {
            let mut bytes = [0; 4096];
            match stream.read(&mut bytes).await {
                Ok(0) => break,
                Ok(n) => answer.push_str(&String::from_utf8_lossy(&bytes[..n])),
                Err(error) => return Err(error.to_string()),
            }
            while let Some(end) = answer[n_read..].find('\n').map(|at| n_read + at) {
                if let Some(event) = answer[n_read..end].strip_prefix("data: ") {
                    let event: Value = serde_json::from_str(event).map_err(|error| error.to_string())?;
                    match event["type"].as_str() {
                        Some("content_block_start") => begun = event["content_block"].clone(),
                        Some("content_block_delta") if begun["type"] == "text" => {
                            let text = begun["text"].as_str().unwrap_or_default();
                            begun["text"] = json!(format!(
                                "{text}{}",
                                event["delta"]["text"].as_str().unwrap_or_default()
                            ));
                        }
                        Some("content_block_stop") => self.keep(&mut blocks, begun.take()),
                        _ => {}
                    }
                }
                n_read = end + 1;
            }
        }
        match answer.starts_with("HTTP/1.1 200 ") && answer.contains("message_stop") {
            true => Ok(()),
            false => Err(answer),
        }
    }

    fn keep(&mut self, blocks: &mut Vec<Value>, block: Value) {
        if !blocks.is_empty() {
            self.messages.pop();
        }
        blocks.push(block);
        self.messages.push(json!({ "role": "assistant", "content": blocks }));
    }

    /// Adds a result for each call of the last reply. Returns true if there was one.
    fn answer(&mut self, content: &str) -> bool {
        let last = self.messages.last().unwrap_or(&Value::Null);
        let blocks = last["content"].as_array().filter(|_| last["role"] == "assistant");
        let calls = blocks.into_iter().flatten().filter(|block| block["type"] == "tool_use");
        let result =
            |call: &Value| json!({ "type": "tool_result", "tool_use_id": call["id"], "content": content });
        let results: Vec<Value> = calls.map(result).collect();
        let has_calls = !results.is_empty();
        if has_calls {
            self.messages.push(json!({ "role": "user", "content": results }));
        }
        has_calls
    }
}
