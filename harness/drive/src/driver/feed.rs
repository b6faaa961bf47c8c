//! `_brickbat/events`: feeds events to a consumer of the SDK's own stream, and reads what it has stored after
//! each.

use serde::Deserialize;
use serde_json::Value;

use super::error::DriverError;
use brickbat_engine::events::Consumed;

pub(super) const METHOD: &str = "_brickbat/events";

#[derive(Deserialize)]
struct Feedback {
    told: Consumed,
}

/// The calls that were stored after each of `n_events` events, and at the end.
pub(super) fn consumed(answer: Value, n_events: usize) -> Result<Consumed, DriverError> {
    let Feedback { told } = Feedback::deserialize(&answer)
        .map_err(|error| DriverError::violation(format!("its answer to {METHOD}: {error}"), &answer))?;
    match told.stored.len() {
        n if n == n_events + 1 => Ok(told),
        n => {
            let expected = n_events + 1;
            let why = format!("its answer to {METHOD} has {n} states instead of {expected}");
            Err(DriverError::violation(why, answer))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_answer_must_cover_every_event() {
        let right = json!({ "told": { "stored": [[], [{ "call": "a", "state": "ready" }]] } });
        assert!(consumed(right.clone(), 1).is_ok());
        assert!(consumed(right, 2).is_err());
        assert!(
            consumed(json!({ "told": { "stored": [[{ "call": "a", "state": "fine" }], []] } }), 1).is_err()
        );
        assert!(consumed(json!({}), 0).is_err());
    }
}
