//! A full context: what the provider reports, which requests it recognises as one for a summary, and when
//! content is gone.

use super::*;
use brickbat_scenario::action::FULL_CONTEXT;

#[test]
fn a_report_of_tokens_is_read_in_every_dialect() {
    for dialect in Dialect::ALL {
        let plan = Client::of(&format!("control/plain-batch@{dialect}")).plan;
        let script = &plan.turns[0].replies[0].attempts[0];
        let envelope = Envelope { tokens: Tokens { input: FULL_CONTEXT, output: 1 }, ..ENVELOPE };
        let encoded = wire::encode_stream(dialect, &plan, script, envelope);
        let mut read = decoded(dialect, [bytes_of(&encoded)]);
        let whole = wire::of(dialect).encode_whole(&plan, script, envelope).to_string();
        decode_whole(dialect, whole.as_bytes(), |event| read.push(event));
        let is_report =
            |event: &&ReplyEvent| matches!(event, ReplyEvent::Tokens(tokens) if *tokens >= FULL_CONTEXT);
        assert!(read.iter().filter(is_report).count() >= 2, "{dialect}: {read:?}");
    }
}

impl Client {
    /// Posts messages, the user first; returns the classification, the tokens that were reported, and true if
    /// content is gone.
    fn says(&mut self, said: &[&str]) -> (RequestKind, u64, bool) {
        let mut body = asking(&self.plan);
        body["stream"] = false.into();
        let roles = ["user", "assistant"].into_iter().cycle();
        let message = |(role, text): (&str, &&str)| json!({ "role": role, "content": text });
        body["messages"] = roles.zip(said).map(message).collect();
        let (path, body) = (wire::of(self.plan.dialect).post_path("m", Delivery::Whole), body.to_string());
        let request = Request { method: "POST", path: &path, headers: Headers::NONE, body: body.as_bytes() };
        let (kind, answer) = self.provider.answer(request);
        let reply: Value = serde_json::from_slice(answer.frames.slice(0..answer.frames.len())).unwrap();
        (kind, reply["usage"]["prompt_tokens"].as_u64().unwrap_or(0), answer.compacted)
    }
}

const SUMMARY: &str = "Write a summary of the conversation above.";

#[test]
fn a_full_context_is_reported_until_something_is_gone() {
    let mut client = Client::of("transform/full-at-the-end@openai-chat");
    let first = client.plan.turns[0].user.clone();
    let first = first.as_str();
    assert_eq!(client.says(&[first]).1, 12);
    // The second reply reports it, and so do later ones.
    assert_eq!(client.says(&[first]).1, FULL_CONTEXT);
    let second = client.plan.turns[1].user.clone();
    let second = second.as_str();
    client.provider.begin_turn(1);
    assert_eq!(client.says(&[first, "Both.", SUMMARY]).0, RequestKind::Auxiliary);
    let whole = client.says(&[first, "Both.", second]);
    assert_eq!((whole.1, whole.2), (FULL_CONTEXT, false));
    let short = client.says(&["Summary: two orders.", "Well.", second]);
    assert_eq!((short.1, short.2), (12, true));
    // It is reported once.
    assert!(!client.says(&["Summary: two orders.", "Well.", second]).2);
}

#[test]
fn words_about_a_summary_request_one_only_when_the_context_is_full() {
    let mut client = Client::of("control/plain-batch@openai-chat");
    let first = client.plan.turns[0].user.clone();
    let first = first.as_str();
    assert_ne!(client.says(&[first, "Well.", SUMMARY]).0, RequestKind::Auxiliary);
}

#[test]
fn a_request_that_is_too_long_is_rejected_with_the_providers_message() {
    for dialect in Dialect::ALL {
        let body = wire::of(dialect).overflow_body().to_string();
        assert!(wire::of(dialect).says_overflow(&body), "{dialect}: {body}");
        let usual = wire::of(dialect).status_body(400).to_string();
        assert!(!wire::of(dialect).says_overflow(&usual), "{dialect}: {usual}");
    }
}
