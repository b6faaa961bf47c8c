//! A reply that was cut off is not taken as complete.
//!
//! Two things show that it was: the turn ends with it as a success, or the turn continues from it. A turn continues
//! from it if it starts a call of the reply after the reply has broken off, and sends the result. A system that
//! starts tools while the reply arrives has started them before the break, so it is right to keep their results. A
//! system that sends the request again is right, too.
//!
//! Some providers leave the stop reason out in some dialects. There a complete body without a stop reason may be a
//! complete reply, so the finding has a milder severity. So it has if the stop reason had arrived and only the
//! terminal event is missing: the model had said everything, and the user loses nothing.

use super::*;
use brickbat_scenario::plan::{Mark, PlannedPoint, Side};
use brickbat_scenario::wire;

pub(super) const CHECK: Check = Check {
    summary: "a turn neither ends as a success with a reply that was cut off, nor runs its calls after the break",
    invariants: &[15, 21],
    applies: has_cut_reply,
    find,
    ..Check::new("truncation-noticed", Level::L3, Severity::TruncationTaken)
};

fn has_cut_reply(evidence: &Evidence<'_>) -> bool {
    let is_cut = |event: &Event| match event {
        Event::Replied { ending, .. } => *ending != Ending::Complete,
        _ => false,
    };
    evidence.run.trace.events().iter().any(is_cut)
}

fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let is_of_thread = |request: &&RequestView| request.kind.is_of_thread();
    let requests = || evidence.requests.iter().filter(is_of_thread);
    let has_returned = |turn: usize| {
        evidence.outcomes().any(|(at, outcome)| at == turn && *outcome == TurnOutcome::Returned)
    };
    let is_last = |request: &RequestView| {
        requests().all(|other| other.turn != request.turn || other.exchange <= request.exchange)
    };
    let found = |request: &RequestView| {
        let cut = Cut::of(evidence, request)?;
        if is_last(request) {
            has_returned(request.turn).then(|| cut.ends_turn())
        } else {
            cut.continued(evidence)
        }
    };
    requests().filter_map(found).collect()
}

/// A reply that was cut off before the model had said everything.
struct Cut<'a> {
    request: &'a RequestView,
    /// How it ended.
    how: &'static str,
    severity: Severity,
}

impl<'a> Cut<'a> {
    fn of(evidence: &Evidence<'_>, request: &'a RequestView) -> Option<Cut<'a>> {
        if is_whole(evidence, request) {
            return None;
        }
        let ending = evidence.run.trace.events().iter().find_map(|event| match event {
            Event::Replied { exchange, ending } if *exchange == request.exchange => Some(*ending),
            _ => None,
        })?;
        let how = match ending {
            Ending::EndEarly => "without its terminal event",
            Ending::Eof => "with the connection closed inside the body",
            Ending::Reset => "with a reset connection",
            Ending::ErrorEvent => "with an error event",
            Ending::Status if matches!(request.kind, RequestKind::Faulted { .. }) => "with an HTTP error",
            Ending::Complete | Ending::Status => return None,
        };
        let may_lack_end = wire::of(evidence.plan.dialect_of(request.turn)).traits.may_lack_end;
        let severity = match ending {
            Ending::EndEarly if may_lack_end => Severity::EndAssumed,
            Ending::EndEarly | Ending::Eof | Ending::Reset
                if is_cut_after(evidence, request, Mark::is_behind_stop) =>
            {
                Severity::EndAssumed
            }
            _ => CHECK.severity,
        };
        Some(Cut { request, how, severity })
    }

    fn finding(&self, message: String, expected: &str, got: String) -> Finding {
        let severity = self.severity;
        Finding {
            severity,
            message,
            expected: expected.to_owned(),
            got,
            ..CHECK.finding(in_turn(self.request.turn))
        }
    }

    /// The finding if the turn ended with this reply as a success.
    fn ends_turn(&self) -> Finding {
        let message =
            format!("the last reply ended {}, but the turn returned as if it were complete", self.how);
        self.finding(
            message,
            "an error, or another request",
            "a turn that returned without an error".to_owned(),
        )
    }

    /// The finding if the turn started calls of the reply after the break, and sent their results.
    fn continued(&self, evidence: &Evidence<'_>) -> Option<Finding> {
        let ran = self.run_after_break(evidence);
        let names: Vec<&str> = ran.iter().map(|key| evidence.call(*key).name.as_str()).collect();
        let [first, others @ ..] = names.as_slice() else { return None };
        let calls = match others {
            [] => format!("call {first}"),
            _ => format!("the calls {}", names.join(", ")),
        };
        let message =
            format!("a reply ended {}, but the turn ran {calls} of it as if it were complete", self.how);
        let got = format!("a run of {calls} after the break, and a request with the result");
        Some(self.finding(message, "an error, or the same request again", got).of_calls(ran))
    }

    /// The calls of this reply that started only after the break, if the turn sent their results. There are none if
    /// a call of the reply started, or the user was asked about one, before the break.
    fn run_after_break(&self, evidence: &Evidence<'_>) -> Vec<CallKey> {
        let Some(script) = evidence.script_of(self.request) else { return Vec::new() };
        let is_break = |event: &Event| match event {
            Event::Replied { exchange, .. } => *exchange == self.request.exchange,
            _ => false,
        };
        let events = evidence.run.trace.events();
        let (before, after) = events.split_at(events.iter().position(is_break).unwrap_or(events.len()));
        let begins = |events: &[Event], key: CallKey| {
            events.iter().any(|event| match event {
                Event::ToolStarted { call, .. } | Event::Asked { call, .. } => *call == Some(key),
                _ => false,
            })
        };
        if script.calls().any(|key| begins(before, key)) {
            return Vec::new();
        }
        let is_later = |other: &&RequestView| {
            other.turn == self.request.turn
                && other.exchange > self.request.exchange
                && other.kind.is_of_thread()
        };
        let is_sent = |key: CallKey| {
            let mut later = evidence.requests.iter().filter(is_later);
            later.any(|other| other.results().any(|result| evidence.answered(other, result.id) == Some(key)))
        };
        script.calls().filter(|key| begins(after, *key) && is_sent(*key)).collect()
    }
}

/// True if the reply was cut only after all of the model's content had been sent. In some dialects the stop
/// reason ends a reply, and clients need not wait for the events after it.
fn is_whole(evidence: &Evidence<'_>, request: &RequestView) -> bool {
    let ends_at_stop = wire::of(evidence.plan.dialect_of(request.turn)).traits.is_whole_at_stop;
    is_cut_after(evidence, request, |mark| mark == Mark::Reply)
        || (ends_at_stop && is_cut_after(evidence, request, Mark::is_behind_stop))
}

/// True if the plan cuts the reply to a request directly after such a mark.
fn is_cut_after(evidence: &Evidence<'_>, request: &RequestView, is_such: impl Fn(Mark) -> bool) -> bool {
    let RequestKind::Scripted { turn, reply, attempt } = request.kind else { return false };
    let is_after = |at: &PlannedPoint| match at {
        PlannedPoint::Stream { reply: of, attempt: try_, mark, side: Side::After } => {
            (*of, *try_) == (reply, attempt) && is_such(*mark)
        }
        _ => false,
    };
    let mut cuts = evidence.plan.turns[turn].actions.iter().filter(|action| action.what.ends_attempt());
    cuts.any(|action| is_after(&action.at))
}
