//! Finds out whether requests that a system sent to one model would be rejected by another.

use serde_json::Value;

use super::*;
use brickbat_scenario::trace::Trace;

/// True if the provider would have rejected an accepted request in the run, had it named this model. Then the
/// rules for particular models matter to the plan, and the plan should also be run with that model.
pub fn would_refuse(plan: &Plan, run: &Run, profile: &'static Profile, model: &str) -> bool {
    let mut trace = Trace::default();
    run.trace.events().iter().for_each(|event| trace.push(naming(event, model)));
    let run = Run { receipts: Vec::new(), trace };
    let was_refused = |request: &RequestView| matches!(request.kind, RequestKind::Refused { .. });
    let evidence = Evidence::gather(plan, &run, profile);
    evidence.requests.iter().any(|request| request.refusal.is_some() && !was_refused(request))
}

/// An event with this model in its request.
fn naming(event: &Event, model: &str) -> Event {
    let mut event = event.clone();
    if let Event::Requested { head, body, .. } = &mut event {
        match &mut head.model {
            Some(in_path) => model.clone_into(in_path),
            None => {
                if let Ok(mut written) = serde_json::from_slice::<Value>(body)
                    && let Some(named) = written.get_mut("model")
                {
                    *named = model.into();
                    *body = written.to_string().into_bytes().into();
                }
            }
        }
    }
    event
}
