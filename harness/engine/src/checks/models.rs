//! Whether what a system sent to one model would have been refused by another.

use serde_json::Value;

use super::*;
use brickbat_scenario::trace::Trace;

/// Whether the provider would have refused a request of a run, which it took, if the request had named that model.
/// Then the rules that tell models apart matter to the plan, and it is worth being run on that model, too.
pub fn would_refuse(plan: &Plan, run: &Run, profile: &'static Profile, model: &str) -> bool {
    let mut trace = Trace::default();
    run.trace.events().iter().for_each(|event| trace.push(naming(event, model)));
    let run = Run { receipts: Vec::new(), trace };
    let was_refused = |request: &RequestView| matches!(request.kind, RequestKind::Refused { .. });
    let evidence = Evidence::gather(plan, &run, profile);
    evidence.requests.iter().any(|request| request.refusal.is_some() && !was_refused(request))
}

/// An event as it would be if the request in it named that model.
fn naming(event: &Event, model: &str) -> Event {
    let mut event = event.clone();
    if let Event::Requested { model: in_path, body, .. } = &mut event {
        match in_path {
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
