//! Each reply of the model keeps its own message.

use super::*;

pub(super) const CHECK: Check = Check {
    summary: "calls from different replies are not merged into one message",
    invariants: &[7],
    applies: |evidence| evidence.has_calls(),
    find,
    ..Check::new("steps-kept-apart", Level::L1, Severity::Reordered)
};

fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let mixed = |request: &RequestView| {
        let mut previous: Option<(usize, (bool, usize, usize, usize))> = None;
        for view in request.calls() {
            let call = evidence.call(view.key);
            let reply = (call.given, call.turn, call.reply, call.attempt);
            if previous.is_some_and(|(at, other)| at == view.message && other != reply) {
                return Some(request.place(&view.pointer));
            }
            previous = Some((view.message, reply));
        }
        None
    };
    let first = evidence.requests.iter().find_map(|request| Some((request, mixed(request)?)));
    let found = first.map(|(request, place)| Finding {
        message: "calls from two replies of the model are merged into one message".to_owned(),
        expected: "one message for each reply of the model".to_owned(),
        got: evidence.shape(request),
        ..CHECK.finding(place)
    });
    found.into_iter().collect()
}
