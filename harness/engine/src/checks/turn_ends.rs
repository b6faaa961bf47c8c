//! Every turn ends, and in time.
//!
//! Silence alone is not a hang: a client may back off between its retries. A turn that continues on its own
//! after a long silence is slow, unless the provider asked for the wait or the wait follows a failed request. A
//! turn that ends only after the harness lets the provider and the tools continue was stopped late.

use super::*;
use brickbat_scenario::plan::{Mark, Side};
use brickbat_scenario::trace::Held;

pub(super) const CHECK: Check = Check {
    summary: "every turn ends",
    invariants: &[16, 21, 22],
    applies: |_| true,
    find,
    ..Check::new("turn-ends", Level::L0, Severity::Hang)
};

fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let slow = (0..evidence.plan.turns.len()).filter_map(|turn| slow(evidence, turn));
    let late = (0..evidence.plan.turns.len()).filter_map(|turn| stopped_late(evidence, turn));
    hang(evidence).into_iter().chain(slow).chain(late).collect()
}

fn stopped_late(evidence: &Evidence<'_>, turn: usize) -> Option<Finding> {
    if has_whole_reply(evidence, turn) {
        return None;
    }
    let mut after = evidence.events_of(turn).skip_while(|event| **event != Event::LetGo);
    let is_over = after.any(|event| matches!(event, Event::TurnEnded { .. }));
    is_over.then(|| Finding {
        severity: Severity::LateStop,
        message: "the stop takes effect only when the provider and the tools continue".to_owned(),
        expected: "a turn that ends at the stop, while they are silent".to_owned(),
        got: "a turn that ended after they had continued".to_owned(),
        ..CHECK.finding(in_turn(turn)).resting_on(basis_of_stop(evidence, turn))
    })
}

/// True if only the end of a connection was held, after a complete reply: a real provider closes it
/// immediately.
fn has_whole_reply(evidence: &Evidence<'_>, turn: usize) -> bool {
    let events = evidence.events_of(turn).take_while(|event| **event != Event::LetGo);
    let held = events.filter_map(|event| match event {
        Event::Held { at, .. } => Some(*at),
        _ => None,
    });
    held.last() == Some(Held { mark: Mark::Reply, side: Side::After })
}

fn hang(evidence: &Evidence<'_>) -> Option<Finding> {
    let gave_up = evidence.run.trace.by_turn().find(|(_, event)| **event == Event::GaveUp);
    let (turn, _) = gave_up?;
    if waits_for_ever(evidence, turn) {
        return None;
    }
    let deaf = deaf_tools(evidence, turn);
    let how = match (is_tried(evidence, turn), is_over(evidence, turn)) {
        (_, false) if !deaf.is_empty() => {
            format!("does not end after the stop, because it waits for {}", deaf.join(" and "))
        }
        (true, _) => "does not end, even after it was stopped".to_owned(),
        (false, true) => "does not end until the harness stops it".to_owned(),
        (false, false) => "does not end, even when the harness stops it".to_owned(),
    };
    let expected = match is_tried(evidence, turn) {
        _ if !deaf.is_empty() => "a turn that ends at the stop, whatever its tools do",
        true => "a turn that ends after the stop",
        false => "a turn that ends by itself",
    };
    let running = evidence.calls().filter(|(call, account)| {
        call.turn == turn && !account.starts.is_empty() && account.settled.is_none() && !account.cancelled
    });
    let running: Vec<&str> = running.map(|(call, _)| call.name.as_str()).collect();
    let got = match running.as_slice() {
        [] => "silence".to_owned(),
        [name] => format!("silence, while call {name} is still running"),
        names => format!("silence, while the calls {} are still running", names.join(", ")),
    };
    Some(Finding {
        message: format!("the turn {how}"),
        expected: expected.to_owned(),
        got,
        ..CHECK.finding(in_turn(turn)).resting_on(basis(evidence, turn))
    })
}

/// The tools of a turn that never return and ignore the stop, in words.
fn deaf_tools(evidence: &Evidence<'_>, turn: usize) -> Vec<String> {
    let is_deaf = |(call, account): &(&PlannedCall, &CallRecord)| {
        call.turn == turn
            && call.deaf
            && call.hangs
            && !account.starts.is_empty()
            && (account.settled.is_none() || account.settled_late)
    };
    let deaf = evidence.calls().filter(is_deaf);
    deaf.map(|(call, _)| format!("the tool of call {}, which ignores the stop", call.name)).collect()
}

/// The long silences of a turn before it is stopped, and before a tool starts that hangs by the plan.
fn slow(evidence: &Evidence<'_>, turn: usize) -> Option<Finding> {
    let is_ours = |event: &Event| match event {
        Event::Stopped | Event::Interrupted { .. } | Event::Killed | Event::GaveUp => true,
        Event::ToolStarted { call: Some(call), .. } => evidence.call(*call).hangs,
        _ => false,
    };
    let asked_for = evidence.plan.turns[turn].actions.iter().filter_map(|action| action.what.http());
    let asked_for = asked_for.map(|fault| fault.retry_after_ms.div_ceil(1000)).max().unwrap_or_default();
    let own: Vec<&Event> = evidence.events_of(turn).take_while(|event| !is_ours(event)).collect();
    let waits = own.iter().enumerate().filter_map(|(at, event)| match event {
        Event::Waited { seconds }
            if *seconds > asked_for && !(*seconds <= MAX_BACKOFF && is_backoff(&own, at)) =>
        {
            Some(seconds.to_string())
        }
        _ => None,
    });
    let waits: Vec<String> = waits.collect();
    let of_turn = |request: &&RequestView| request.turn == turn && request.kind != RequestKind::Auxiliary;
    let n_requests = evidence.requests.iter().filter(of_turn).count();
    (!waits.is_empty()).then(|| Finding {
        severity: Severity::Slow,
        message: format!("the turn continues only after a silence of {} s", waits.join(" s, and again of ")),
        expected: "a turn that continues, or ends with an error, sooner".to_owned(),
        got: format!("{n_requests} requests in the turn"),
        ..CHECK.finding(in_turn(turn))
    })
}

/// The number of seconds that a client may wait on its own between two attempts. LangChain.js 1.5.14 waits up
/// to 35 s. The longest default of an SDK is 60 s, the limit of Google's Gen AI Python SDK.
const MAX_BACKOFF: u32 = 60;

/// True if a silence is between a failed request and the next one. Each SDK documents its retries, and its user
/// can configure them.
fn is_backoff(events: &[&Event], at: usize) -> bool {
    let before = events[..at].iter().rev().find_map(|event| match event {
        Event::Replied { ending, .. } => Some(*ending != Ending::Complete),
        Event::Requested { .. } | Event::ToolSettled { .. } => Some(false),
        _ => None,
    });
    let after = events[at + 1..].iter().find(|event| !matches!(event, Event::Quiet | Event::Waited { .. }));
    before == Some(true) && matches!(after, Some(Event::Requested { .. }))
}

/// The duties on which the end of a turn rests: while a tool is running, the code that runs the tools and waits
/// for them, and after a stop the code that ends them.
fn basis(evidence: &Evidence<'_>, turn: usize) -> &'static [Duty] {
    let is_running = |(call, account): (&PlannedCall, &CallRecord)| {
        call.turn == turn && !account.starts.is_empty() && account.settled.is_none()
    };
    match (evidence.calls().any(is_running), is_tried(evidence, turn)) {
        (true, true) => &[Duty::Loop, Duty::Tools, Duty::Stop],
        (true, false) => &[Duty::Loop],
        (false, _) => CHECK.rests_on,
    }
}

/// The duties that a stop rests on while the provider and the tools are silent.
fn basis_of_stop(evidence: &Evidence<'_>, turn: usize) -> &'static [Duty] {
    let mut running: Vec<CallKey> = Vec::new();
    for event in evidence.events_of(turn).take_while(|event| **event != Event::LetGo) {
        match event {
            Event::ToolStarted { call: Some(call), .. } => running.push(*call),
            Event::ToolSettled { call, .. } | Event::ToolCancelled { call } => {
                running.retain(|other| other != call);
            }
            _ => {}
        }
    }
    if running.is_empty() { &[Duty::Stop] } else { &[Duty::Stop, Duty::Tools] }
}

/// True if the harness gave a turn up while it waited for a tool that never answers, before the planned action
/// could happen, and the turn then ended. Such a plan proves nothing.
fn waits_for_ever(evidence: &Evidence<'_>, turn: usize) -> bool {
    let hangs = before(evidence, turn).any(|event| match event {
        Event::ToolStarted { call: Some(call), .. } => evidence.call(*call).hangs,
        _ => false,
    });
    hangs && !is_tried(evidence, turn) && is_over(evidence, turn)
}

/// True if a turn ended after the harness had given it up.
fn is_over(evidence: &Evidence<'_>, turn: usize) -> bool {
    let mut after = evidence.events_of(turn).skip_while(|event| **event != Event::GaveUp);
    after.any(|event| matches!(event, Event::TurnEnded { .. } | Event::Killed))
}

/// True if a turn was stopped, broken off or killed before the harness gave it up. The stop that follows is the
/// harness's own.
fn is_tried(evidence: &Evidence<'_>, turn: usize) -> bool {
    before(evidence, turn)
        .any(|event| matches!(event, Event::Stopped | Event::Interrupted { .. } | Event::Killed))
}

fn before<'e>(evidence: &'e Evidence<'_>, turn: usize) -> impl Iterator<Item = &'e Event> {
    evidence.events_of(turn).take_while(|event| **event != Event::GaveUp)
}
