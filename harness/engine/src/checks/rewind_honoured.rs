//! Later requests do not contain turns that the user took back.

use super::*;

pub(super) const CHECK: Check = Check {
    summary: "no later request contains what the user took back",
    invariants: &[23],
    applies: |evidence| !evidence.changed.taken_back.is_empty(),
    find,
    ..Check::new("rewind-honoured", Level::L2, Severity::Reordered)
};

fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let left = |(turn, n_requests): &(usize, usize)| {
        let later = evidence.requests.iter().filter(|request| request.exchange.0 as usize >= *n_requests);
        let mut later = later.filter(|request| request.kind != RequestKind::Auxiliary);
        later.find_map(|request| Some((*turn, request, trace_of(evidence, request, *turn)?)))
    };
    let found = evidence.changed.taken_back.iter().filter_map(left);
    found
        .map(|(turn, request, place)| Finding {
            message: format!("the user took back turn {}, but a later request still contains it", turn + 1),
            expected: "requests without that turn".to_owned(),
            got: evidence.shape(request),
            ..CHECK.finding(request.place(&place))
        })
        .collect()
}

/// The first item of a request that belongs to a turn.
fn trace_of(evidence: &Evidence<'_>, request: &RequestView, turn: usize) -> Option<String> {
    let said = evidence.plan.turns[turn].user.trim();
    // The user may say the same again.
    let is_said_again =
        evidence.plan.turns.iter().enumerate().any(|(at, other)| at != turn && other.user.contains(said));
    let of_turn =
        |id: &str| evidence.answered(request, id).is_some_and(|key| evidence.call(key).turn == turn);
    let tells = request.history.items.iter().find(|item| match &item.content {
        Content::Text { text } => item.role == Role::User && !is_said_again && text.contains(said),
        Content::Call { id, .. } | Content::Result { id, .. } => of_turn(id),
        Content::Thought { .. } | Content::Raw { .. } => false,
    });
    tells.map(|item| item.pointer.clone())
}
