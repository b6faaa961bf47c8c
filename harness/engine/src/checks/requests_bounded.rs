//! A turn sends no more requests than it needs.

use super::*;

pub(super) const CHECK: Check = Check {
    summary: "a turn sends no more requests than it needs, and after the user's stop at most one that was already on its way",
    invariants: &[22, 24],
    applies: |_| true,
    find,
    ..Check::new("requests-bounded", Level::L0, Severity::RequestLoop)
};

/// Requests that may come after the user's stop: one may have been on its way.
const MAX_AFTER_STOP: usize = 1;
/// Requests beyond the scripted ones in a turn in which something fails: clients retry.
const MAX_RETRIES: usize = 24;
/// Requests for a summary in a row that a client may send if they fail: Codex sends one 30 times, six times in five tries.
const MAX_SUMMARIES: usize = 48;
/// Requests beyond the scripted ones in a turn in which nothing fails, such as a warm-up.
const MAX_EXTRA: usize = 2;

fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (turn, planned) in evidence.plan.turns.iter().enumerate() {
        let n_replies: usize = planned.replies.iter().map(|reply| reply.attempts.len()).sum();
        let n_errors: usize = planned.actions.iter().map(n_http_errors).sum();
        let n_scripted = n_replies + n_errors;
        let refused = |request: &RequestView| {
            let is_faulted = matches!(request.kind, RequestKind::Faulted { .. });
            request.turn == turn && (is_faulted || request.refusal.is_some())
        };
        let fails = !planned.actions.is_empty() || evidence.requests.iter().any(refused);
        let n_spare = if fails { MAX_RETRIES } else { MAX_EXTRA };
        let mut stopped = false;
        let (mut n_all, mut n_after_stop) = (0, 0);
        let (mut n_in_a_row, mut n_summaries) = (0, 0);
        for event in evidence.events_of(turn) {
            match event {
                Event::Stopped | Event::Interrupted { .. } => stopped = true,
                // The user continues with another prompt.
                Event::Said { way: Aside::Prompted, .. } => stopped = false,
                Event::Requested { summary: Some(_), .. } => {
                    n_in_a_row += 1;
                    n_summaries = n_summaries.max(n_in_a_row);
                }
                Event::Requested { exchange, kind, .. }
                    if kind.is_of_thread() && evidence.turn_of(*exchange) == Some(turn) =>
                {
                    n_in_a_row = 0;
                    n_all += 1;
                    n_after_stop += usize::from(stopped);
                }
                _ => {}
            }
        }
        let (message, got, expected) = if n_after_stop > MAX_AFTER_STOP {
            let got = format!("{n_after_stop} requests after the stop");
            (
                "the turn keeps sending requests after it was stopped",
                got,
                "no request after the stop".to_owned(),
            )
        } else if n_summaries > MAX_SUMMARIES {
            let got = format!("{n_summaries} requests for a summary, one after the other");
            (
                "the turn asks for a summary without end",
                got,
                format!("at most {MAX_SUMMARIES} such requests in a row"),
            )
        } else if n_all > n_scripted + n_spare {
            let expected = format!("about {n_scripted} requests in this turn");
            ("the turn sends far more requests than it needs", format!("{n_all} requests"), expected)
        } else {
            continue;
        };
        findings.push(Finding { message: message.to_owned(), expected, got, ..CHECK.finding(in_turn(turn)) });
    }
    findings
}

fn n_http_errors(action: &PlannedAction) -> usize {
    action.what.http().map_or(0, |fault| fault.times as usize)
}
