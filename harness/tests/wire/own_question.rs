//! A system's own question, with the thread before it, such as what the user may want next.

use super::*;

const OWN_WORDS: &str = "Suggest what the user may type next.";

impl Client {
    /// Posts texts of the user and the model in turn.
    fn post_texts(&mut self, texts: &[&str]) -> RequestKind {
        let mut body = asking(&self.plan);
        body["stream"] = false.into();
        let roles = ["user", "assistant"].into_iter().cycle();
        let message = |(role, text): (&str, &&str)| json!({ "role": role, "content": text });
        body["messages"] = roles.zip(texts).map(message).collect();
        self.post(&body).0
    }
}

#[test]
fn a_question_of_the_system_that_comes_late_does_not_use_the_script_of_the_next_turn() {
    let mut client = Client::of("control/plain-batch@anthropic-messages");
    let said: Vec<String> = client.plan.turns.iter().map(|turn| turn.user.clone()).collect();
    client.provider.begin_turn(1);
    let late = [said[0].as_str(), "Done.", OWN_WORDS];
    assert_eq!(client.post_texts(&late), RequestKind::Auxiliary);
    let next = RequestKind::Scripted { turn: 1, reply: 0, attempt: 0 };
    assert_eq!(client.post_texts(&[&said[0], "Done.", &said[1]]), next);
}

#[test]
fn a_question_of_the_system_is_asked_once_in_a_turn() {
    let mut client = Client::of("control/plain-batch@anthropic-messages");
    let said = client.plan.turns[0].user.clone();
    client.provider.begin_turn(1);
    let late = [said.as_str(), "Done.", OWN_WORDS];
    assert_eq!(client.post_texts(&late), RequestKind::Auxiliary);
    assert_ne!(client.post_texts(&late), RequestKind::Auxiliary);
}

#[test]
fn a_late_question_of_the_system_does_not_replace_that_of_the_next_turn() {
    let mut client = Client::of("control/plain-batch@anthropic-messages");
    let said: Vec<String> = client.plan.turns.iter().map(|turn| turn.user.clone()).collect();
    client.provider.begin_turn(1);
    assert_eq!(client.post_texts(&[&said[0], "Done.", OWN_WORDS]), RequestKind::Auxiliary);
    let next = RequestKind::Scripted { turn: 1, reply: 0, attempt: 0 };
    assert_eq!(client.post_texts(&[&said[0], "Done.", &said[1]]), next);
    let own = [said[0].as_str(), "Done.", &said[1], "Done again.", OWN_WORDS];
    assert_eq!(client.post_texts(&own), RequestKind::Auxiliary);
    assert_ne!(client.post_texts(&own), RequestKind::Auxiliary);
}

#[test]
fn a_request_without_text_of_the_thread_uses_the_script() {
    let mut client = Client::of("control/plain-batch@anthropic-messages");
    client.provider.begin_turn(1);
    let next = RequestKind::Scripted { turn: 1, reply: 0, attempt: 0 };
    assert_eq!(client.post_texts(&["Go on."]), next);
}
