//! Each call has one result in a request.

use super::*;

pub(super) const CHECK: Check = Check {
    summary: "no call has two results in one request",
    invariants: &[1, 3, 9, 10],
    rests_on: &[Duty::Loop],
    applies: |evidence| evidence.has_results(),
    find,
    ..Check::new("results-once", Level::L1, Severity::ResultsRepeated)
};

fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let repeated = |request: &RequestView| {
        let mut seen: Vec<(&str, Option<CallKey>)> = Vec::new();
        // Calls with the same id, given by the model or the system, have one result each.
        let is_full = |seen: &[(&str, Option<CallKey>)], id: &str| {
            let n_results = seen.iter().filter(|(known, _)| *known == id).count();
            let n_made = evidence.plan.calls.iter().filter(|call| call.id == id).count();
            n_results >= request.n_calls_with(id).min(n_made).max(1)
        };
        for result in request.results() {
            // A system that makes its own ids may send one call under two of them.
            let key = evidence.answered(request, result.id);
            if is_full(&seen, result.id) || seen.iter().any(|(_, known)| key.is_some() && *known == key) {
                return Some((result.id.to_owned(), request.place(result.pointer)));
            }
            seen.push((result.id, key));
        }
        None
    };
    let first = evidence.requests.iter().find_map(|request| Some((request, repeated(request)?)));
    let found = first.map(|(request, (id, place))| Finding {
        message: format!("call {} has more than one result in one request", evidence.name_of(request, &id)),
        expected: "one result for each call".to_owned(),
        got: evidence.shape(request),
        ..CHECK.finding(place).of_calls(evidence.answered(request, &id))
    });
    found.into_iter().collect()
}
