//! Does the thread survive?

use super::evidence::Evidence;
use crate::trace::{RequestKind, TurnOutcome};
use crate::verdict::{Finding, Harm, Permanence};

/// Every request of the thread is accepted, and every turn in which nothing goes wrong works.
pub(super) fn thread_survives(evidence: &Evidence<'_>) -> Vec<Finding> {
    refused(evidence).into_iter().chain(raised(evidence)).collect()
}

fn refused(evidence: &Evidence<'_>) -> Option<Finding> {
    let request = evidence.requests.iter().find(|request| request.refusal.is_some())?;
    let refusal = request.refusal.as_ref()?;
    let last_refused = evidence.last_request().is_some_and(|last| last.refusal.is_some());
    Some(Finding {
        check: "thread-survives",
        harm: Harm::BrickedByProvider,
        permanence: Some(permanence(last_refused)),
        message: refusal.message.clone(),
        place: request.place(&refusal.pointer),
        rule: Some(refusal.rule),
        expected: "a request that the provider accepts".to_owned(),
        got: format!("status {} for {}", refusal.status, evidence.shape(&request.history)),
    })
}

/// A turn in which nothing goes wrong, and whose requests were all accepted, ended badly all the same.
fn raised(evidence: &Evidence<'_>) -> Option<Finding> {
    let bad = |turn: usize, outcome: &TurnOutcome| {
        let quiet = evidence.plan.turns[turn].actions.is_empty() && !evidence.was_stopped(turn);
        let refused =
            evidence.requests.iter().any(|request| request.turn == turn && request.refusal.is_some());
        quiet && !refused && *outcome != TurnOutcome::Returned
    };
    let (turn, outcome) = evidence.outcomes().find(|(turn, outcome)| bad(*turn, outcome))?;
    let last = evidence.plan.turns.len() - 1;
    let last_bad = evidence.outcomes().any(|(turn, outcome)| turn == last && bad(turn, outcome));
    let n_requests = evidence.requests.iter().filter(|request| request.turn == turn).count();
    let sent =
        match evidence.requests.iter().filter(|r| r.turn == turn && r.kind != RequestKind::Auxiliary).count()
        {
            0 => "no request was sent".to_owned(),
            _ => format!("requests sent: {n_requests}"),
        };
    let (message, got) = match outcome {
        TurnOutcome::Raised { class, text } => (format!("{class}: {text}"), format!("{class}; {sent}")),
        TurnOutcome::Cancelled => ("the turn was given up".to_owned(), format!("cancelled; {sent}")),
        TurnOutcome::Returned => ("the turn returned".to_owned(), sent),
    };
    Some(Finding {
        check: "thread-survives",
        harm: Harm::BrickedByClient,
        permanence: Some(permanence(last_bad)),
        message,
        place: format!("turn {}", turn + 1),
        rule: None,
        expected: "a turn that works".to_owned(),
        got,
    })
}

fn permanence(last_failed: bool) -> Permanence {
    if last_failed { Permanence::Permanent } else { Permanence::Transient }
}
