//! A client whose model thinks: the thinking that it gets, and how the provider reacts when it comes back.

use super::*;

/// A client whose model thinks before its first batch of calls.
fn client() -> Client {
    Client::of("thinking/plain-batch@anthropic-messages")
}

impl Client {
    /// Posts messages with the plan's tools and returns the provider's classification and reply.
    fn ask(&mut self, thinking: Value, messages: &[Value]) -> (RequestKind, Value) {
        let mut body = asking(&self.plan);
        body["stream"] = false.into();
        body["thinking"] = thinking;
        body["messages"] = messages.into();
        self.post(&body)
    }

    /// Requests the first reply. Returns the question, the reply, and its results.
    fn begin(&mut self, thinking: Value) -> [Value; 3] {
        let user = json!({ "role": "user", "content": self.plan.turns[0].user });
        let (kind, reply) = self.ask(thinking, std::slice::from_ref(&user));
        assert_eq!(kind, scripted(0), "{reply}");
        let calls = reply["content"].as_array().unwrap().iter().filter(|block| block["type"] == "tool_use");
        let result =
            |call: &Value| json!({ "type": "tool_result", "tool_use_id": call["id"], "content": "found" });
        let results: Vec<Value> = calls.map(result).collect();
        assert_eq!(results.len(), 3, "{reply}");
        let said = json!({ "role": "assistant", "content": reply["content"] });
        [user, said, json!({ "role": "user", "content": results })]
    }
}

fn enabled() -> Value {
    json!({ "type": "enabled", "budget_tokens": 1024 })
}

#[test]
fn thinking_that_comes_back_unchanged_is_accepted() {
    let mut client = client();
    let messages = client.begin(enabled());
    assert_eq!(messages[1]["content"][0]["type"], "thinking");
    let (kind, said) = client.ask(enabled(), &messages);
    assert_eq!(kind, scripted(1), "{said}");
    assert_ne!(said["content"][0]["signature"], messages[1]["content"][0]["signature"]);
}

#[test]
fn thinking_that_was_changed_on_the_way_is_refused() {
    let refused = |change: &dyn Fn(&mut Value)| {
        let mut client = client();
        let messages = client.begin(enabled());
        let mut changed = messages.clone();
        change(&mut changed[1]["content"]);
        let (kind, said) = client.ask(enabled(), &changed);
        assert_eq!(kind, RequestKind::Refused { status: 400 }, "{said}");
        // The rejection has not advanced the script.
        assert_eq!(client.ask(enabled(), &messages).0, scripted(1));
        said["error"]["message"].as_str().unwrap().to_owned()
    };
    let message = refused(&|content| content[0]["thinking"] = "Something else.".into());
    assert!(message.contains("blocks in the latest assistant message cannot be modified"), "{message}");
    let message = refused(&|content| content[0]["signature"] = "Zm9yZWlnbg==".into());
    assert_eq!(message, "messages.1.content.0: Invalid `signature` in `thinking` block");
    let message = refused(&|content| drop(content.as_array_mut().unwrap().remove(0)));
    assert!(message.starts_with("messages.1.content.0.type: Expected `thinking`"), "{message}");
    let message = refused(&|content| drop(content[0].as_object_mut().unwrap().shift_remove("signature")));
    assert_eq!(message, "messages.1.content.0.thinking.signature: Field required");
}

#[test]
fn a_client_that_does_not_ask_for_thinking_sees_none() {
    let mut client = client();
    let off = json!({ "type": "disabled" });
    let messages = client.begin(off.clone());
    assert_eq!(messages[1]["content"][0]["type"], "text");
    let (kind, said) = client.ask(off, &messages);
    assert_eq!(kind, scripted(1), "{said}");
}
