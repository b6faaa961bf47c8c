//! Do calls keep the order in which the model made them?

use std::collections::BTreeSet;

use super::*;

pub(super) const CHECK: Check = Check {
    id: "order-kept",
    summary: "calls keep the order in which the model made them",
    level: Level::L1,
    invariants: &[13, 20],
    severity: Severity::Reordered,
    applies: |evidence| evidence.has_calls(),
    find,
};

fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let places = |request: &RequestView| {
        let places = request.calls().map(|view| {
            let call = evidence.call(view.key);
            (!call.given, call.turn, call.reply, call.attempt, view.key)
        });
        places.collect::<Vec<_>>()
    };
    let disordered = |request: &&RequestView| !places(request).is_sorted();
    let Some(request) = evidence.requests.iter().find(disordered) else { return Vec::new() };
    let places = places(request);
    let is_repeated = places.iter().collect::<BTreeSet<_>>().len() < places.len();
    let message = if is_repeated {
        "calls are repeated, and not where the model made them"
    } else {
        "the calls are not in the order in which the model made them"
    };
    vec![Finding {
        message: message.to_owned(),
        expected: "the order of the model's reply".to_owned(),
        got: evidence.shape(request),
        ..CHECK.finding(request.place(""))
    }]
}
