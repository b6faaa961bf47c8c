//! Our own sentences about turns that fail without a message.
//!
//! They take the place of a system's message, so they are part of the causes in baselines, reports and saved
//! scenarios. With other words, `replay` would take a bug that is still there for a fixed one.

/// A reply that the script contains was not requested.
pub(crate) fn never_requested(reply: usize) -> String {
    format!("reply {} was never requested", reply + 1)
}

/// The same, after a call that failed.
pub(crate) fn never_requested_after_failure(reply: usize) -> String {
    format!("reply {} was never requested, although a call before it failed", reply + 1)
}

/// A call was never run.
pub(crate) fn never_finished(call: &str) -> String {
    format!("call {call} never finished")
}

/// The events of the turn, which follow the sentence.
pub(crate) fn in_this_turn(events: &[String]) -> String {
    format!(" (in this turn, {})", events.join(", and "))
}

#[cfg(test)]
mod tests {
    use super::super::Signature;
    use super::*;
    use brickbat_scenario::verdict::Severity;

    /// Saved causes contain these words. Change none of them.
    #[test]
    fn the_words_of_saved_causes_do_not_change() {
        let says = |message: String| {
            Signature::of_damage("thread-survives", Severity::TurnFailed, None, &message).says
        };
        let events = ["a tool failed".to_owned(), "a request was refused".to_owned()];
        assert_eq!(says(never_requested(1)), "reply … was never requested");
        let after_failure = "reply … was never requested, although … call before it failed";
        assert_eq!(says(never_requested_after_failure(1)), after_failure);
        assert_eq!(says(never_finished("b")), "call … never finished");
        let with_events = "call … never finished (in this turn, … tool failed, and … request was refused)";
        assert_eq!(says(never_finished("b") + &in_this_turn(&events)), with_events);
    }
}
