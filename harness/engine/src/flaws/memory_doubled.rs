//! BUG: After a summary, each step of a turn contains the earlier steps twice. Spring AI:
//! <https://github.com/spring-projects/spring-ai/issues/6211>

use super::prelude::*;

flaw! {
    Flaw::new("memory-doubled", "results-once").class("double-memory");

    fn request(&mut self, setup: &Setup, thread: &mut [Message], _: RequestId, asking: Asking) -> Vec<u8> {
        match asking {
            Asking::Results { turn_start } if has_summary(thread) => {
                request::body(setup, &[&*thread, &thread[turn_start..]].concat())
            }
            _ => request::body(setup, thread),
        }
    }
}
