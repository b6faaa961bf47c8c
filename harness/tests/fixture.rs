//! The strict provider in people's own Rust tests: it fails the test of an agent that leaves calls dangling, and does not
//! fail that of the mended one.

use std::panic::{AssertUnwindSafe, catch_unwind};

use brickbat::check::CheckOptions;
use brickbat::dialect::Dialect;
use brickbat::fixture::{Options, StrictProvider, assert_history};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// An agent for Anthropic's API as people write one: each block is kept as soon as it is there, so that a stop loses none.
struct Agent {
    /// Where the API is, without the scheme.
    host: String,
    messages: Vec<Value>,
    /// Whether calls that were stopped are given a result. Without it, the agent is the planted brick.
    settles: bool,
}

impl Agent {
    fn new(base_url: &str, settles: bool) -> Agent {
        let host = base_url.trim_start_matches("http://").to_owned();
        Agent { host, messages: Vec::new(), settles }
    }

    /// A turn. Whoever drops it, stops it.
    async fn turn(&mut self, text: &str) {
        if self.settles {
            self.answer("stopped");
        }
        self.messages.push(json!({ "role": "user", "content": text }));
        // An agent that hides what went wrong, as many do.
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

    /// Gives a result to each call of the last reply; whether there was one.
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

/// What a test fails with.
fn failure(provider: StrictProvider) -> Option<String> {
    let failed = catch_unwind(AssertUnwindSafe(|| drop(provider))).err()?;
    Some(failed.downcast_ref::<String>().cloned().unwrap_or_default())
}

/// A turn that is stopped when all calls of its reply are there, and another one.
async fn after_a_stop(settles: bool) -> StrictProvider {
    let provider = StrictProvider::start();
    let mut agent = Agent::new(provider.anthropic(), settles);
    let stop = provider.stop_at("after calls");
    tokio::select! {
        () = agent.turn("What is the weather in Oslo and in Rome?") => panic!("the turn was not stopped"),
        () = stop.reached() => {}
    }
    agent.turn("And in Bergen?").await;
    provider
}

#[tokio::test]
async fn a_thread_that_a_stop_has_bricked_fails_the_test_in_the_words_of_the_provider() {
    let failure = failure(after_a_stop(false).await).unwrap();
    assert!(
        failure.contains("request 1: anthropic-messages/tool-result-missing at /messages/1"),
        "{failure}"
    );
    assert!(failure.contains("`tool_use` ids were found without `tool_result` blocks"), "{failure}");
}

#[tokio::test]
async fn a_thread_that_goes_on_after_a_stop_does_not() {
    assert_eq!(failure(after_a_stop(true).await), None);
}

#[tokio::test]
async fn a_broken_reply_is_followed_by_what_the_agent_makes_of_it() {
    for (settles, followed) in [(false, "anthropic-messages/tool-result-missing"), (true, "accepted")] {
        let provider = StrictProvider::with(Options { allow_refusals: true, ..Options::STANDARD });
        let mut agent = Agent::new(provider.anthropic(), settles);
        let fault = provider.fault("reset", "after end a");
        agent.turn("What is the weather in Oslo and in Rome?").await;
        agent.turn("And in Bergen?").await;
        assert_eq!(fault.followed_by().as_deref(), Some(followed));
        assert_eq!(fault.receipt().as_deref(), Some("read"));
        assert_eq!(provider.refusals().is_empty(), settles);
        assert_eq!(failure(provider), None);
    }
}

#[test]
fn a_test_without_a_runtime_waits_too_and_a_held_reply_goes_on() {
    let provider = StrictProvider::start();
    let mut agent = Agent::new(provider.anthropic(), true);
    let stop = provider.stop_at("after text 1");
    let turn = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(agent.turn("What is the weather?"));
        agent.messages
    });
    stop.wait();
    stop.release();
    let messages = turn.join().unwrap();
    // The prompt, the calls, their results, and the answer.
    assert_eq!((messages.len(), provider.n_requests()), (4, 2));
    assert_history(
        &messages,
        &CheckOptions { dialect: Some(Dialect::AnthropicMessages), ..CheckOptions::default() },
    );
}

#[test]
fn a_test_in_which_nothing_was_judged_fails() {
    let unused = failure(StrictProvider::start()).unwrap();
    assert!(unused.contains("no request came") && unused.contains("nothing was judged"), "{unused}");
    let allowed = StrictProvider::with(Options { allow_unused: true, ..Options::STANDARD });
    assert_eq!(failure(allowed), None);
    let never = StrictProvider::with(Options { allow_unused: true, ..Options::STANDARD });
    let _stop = never.stop_at("after end a of reply 7");
    let never = failure(never).unwrap();
    assert!(never.contains("`stop after end a of reply 7` did not happen"), "{never}");
}

#[test]
fn what_cannot_be_is_said() {
    let provider = StrictProvider::with(Options { allow_unused: true, ..Options::STANDARD });
    for (kind, at) in [("reset", "after lunch"), ("overloaded", "after end a"), ("rain", "after calls")] {
        assert!(catch_unwind(AssertUnwindSafe(|| drop(provider.fault(kind, at)))).is_err(), "{kind} {at}");
    }
    let unknown = Options { profile: Some("anthropic-messages@1066-10"), ..Options::STANDARD };
    assert!(catch_unwind(AssertUnwindSafe(|| drop(StrictProvider::with(unknown)))).is_err());
}

#[test]
fn a_history_that_a_provider_would_refuse_fails_the_test() {
    let call =
        json!({ "id": "call_1", "type": "function", "function": { "name": "look", "arguments": "{}" } });
    let messages = [
        json!({ "role": "user", "content": "Look." }),
        json!({ "role": "assistant", "tool_calls": [call] }),
        json!({ "role": "user", "content": "And?" }),
    ];
    let options = CheckOptions::default();
    let failed = catch_unwind(AssertUnwindSafe(|| assert_history(&messages, &options))).unwrap_err();
    let words = failed.downcast_ref::<String>().unwrap();
    assert!(words.contains("openai-chat/tool-message-missing"), "{words}");
    assert_history(
        &messages[..1],
        &CheckOptions { dialect: Some(Dialect::OpenaiChat), ..CheckOptions::default() },
    );
}
