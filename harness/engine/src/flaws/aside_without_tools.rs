//! BUG: The request for a question outside of the conversation contains calls but declares no tools. Pydantic
//! AI: <https://github.com/pydantic/pydantic-ai/issues/5929>

use super::prelude::*;

flaw! {
    Flaw::new("aside-without-tools", "thread-survives").class("tools-param")
        .only_on(&[Dialect::BedrockConverse], "calls are accepted without tools");

    fn question_request(&self, setup: &Setup, thread: &[Message], question: &str) -> Vec<u8> {
        request::body(&without_tools(setup), &[thread, &[Message::User(question.to_owned())]].concat())
    }
}
