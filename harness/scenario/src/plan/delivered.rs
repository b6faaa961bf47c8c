//! Decides from the text of a result whether its tool returned it.

use super::{CallKey, PlannedCall, ToolOutcome};

/// True if the result of a call with this text is invented: no tool returned it. `settled` is the real
/// outcome of the call's tool, if it ended.
///
/// A text that a tool returns is passed on verbatim. An SDK adds words to an error, describes an exception with
/// its own text, and writes the result of a handoff itself. A result that another call in the plan returned is misplaced, but
/// not invented.
pub fn is_made_up(calls: &[PlannedCall], key: CallKey, settled: Option<&ToolOutcome>, text: &str) -> bool {
    let Some(call) = calls.get(key.0 as usize) else { return false };
    let has_marker = calls.iter().any(|call| !call.marker.is_empty() && text.contains(&call.marker));
    let is_part_of = |said: &str| {
        let text = text.trim();
        // An SDK may truncate a long result.
        said.is_empty() || (!text.is_empty() && said.contains(text))
    };
    match settled {
        _ if call.hands_over || has_marker => false,
        Some(ToolOutcome::Return(said)) => !is_part_of(said),
        // A system may add words to an error.
        Some(ToolOutcome::Error(said)) => !text.contains(said.as_str()) && !is_part_of(said),
        // The words about an exception and about a refusal are always the system's.
        Some(ToolOutcome::Throw(_) | ToolOutcome::Deny(_)) => false,
        None => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn call(name: &str, hands_over: bool) -> PlannedCall {
        PlannedCall {
            marker: format!("marker-{name}"),
            outcome: ToolOutcome::Return(format!("found marker-{name} and more")),
            hands_over,
            ..PlannedCall::new(name, name, "look_up", json!({}))
        }
    }

    #[test]
    fn a_result_is_made_up_if_no_tool_has_returned_its_text() {
        let calls = [call("a", false), call("b", false), call("c", true)];
        let made_up =
            |key, settled: Option<&ToolOutcome>, text| is_made_up(&calls, CallKey(key), settled, text);
        let a = &calls[0].outcome;
        for (settled, text, expected) in [
            (Some(a), "found marker-a and more", false),
            (Some(a), "[{\"text\":\"found marker-a and more\"}]", false),
            (Some(a), "found", false),
            (Some(a), "Tool execution aborted", true),
            (Some(a), "", true),
            // The harness may learn later than the system that a tool has ended.
            (None, "found marker-a and more", false),
            (None, "Tool execution aborted", true),
            (Some(a), "found marker-b and more", false),
            (Some(&ToolOutcome::Return(String::new())), "(no output)", false),
            (Some(&ToolOutcome::Throw("boom".to_owned())), "An error occurred", false),
            (Some(&ToolOutcome::Error("no order a".to_owned())), "Error: no order a", false),
            (Some(&ToolOutcome::Error("no order a".to_owned())), "Invocation was aborted by client.", true),
        ] {
            assert_eq!(made_up(0, settled, text), expected, "{settled:?} {text}");
        }
        assert!(!made_up(2, None, "Transferred to the billing agent."));
    }
}
