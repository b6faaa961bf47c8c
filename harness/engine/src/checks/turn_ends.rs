//! Every turn ends, and in time.
//!
//! Silence alone is not a hang: a client may back off between its retries. A turn that continues on its own
//! after a long silence is slow, unless the provider asked for the wait or the wait follows a failed request. A
//! turn that ends only after the harness lets the provider or the tools continue was stopped late. If the provider
//! has gone silent by plan, the harness does not let it continue: the turn then hangs, as it would in life.

use super::*;
use brickbat_scenario::plan::{Mark, Side};
use brickbat_scenario::trace::{Held, LetGo};

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

/// A stopped turn that ends only after the harness has let something continue. A provider that went silent by
/// plan is never let continue, so such a turn hangs instead.
fn stopped_late(evidence: &Evidence<'_>, turn: usize) -> Option<Finding> {
    if has_whole_reply(evidence, turn) {
        return None;
    }
    let is_over = |event: &&Event| matches!(event, Event::TurnEnded { .. });
    let let_go = |event: &Event| match event {
        Event::LetGo { what } => Some(*what),
        _ => None,
    };
    let last = evidence.events_of(turn).take_while(|event| !is_over(event)).filter_map(let_go).last()?;
    evidence.events_of(turn).find(is_over)?;
    let late = Finding { severity: Severity::LateStop, ..CHECK.finding(in_turn(turn)) };
    // A tool that started later was started by the reply: it is not what kept the turn from ending.
    Some(match last {
        LetGo::Tools if has_running_tool(evidence, turn) => Finding {
            message: IGNORED_BY_TOOL.to_owned(),
            expected: "a turn that ends at the stop, while a tool still runs".to_owned(),
            got: format!("a turn that ended after {}", ended_since(evidence, turn)),
            ..late.resting_on(&[Duty::Stop, Duty::Tools])
        },
        LetGo::Replies | LetGo::Tools => Finding {
            message: "the stop takes effect only when the provider continues".to_owned(),
            expected: "a turn that ends at the stop, while the provider is silent".to_owned(),
            got: "a turn that ended after the provider had continued".to_owned(),
            ..late.resting_on(&[Duty::Stop])
        },
    })
}

/// True if a tool was running when the harness first let something continue.
fn has_running_tool(evidence: &Evidence<'_>, turn: usize) -> bool {
    let mut running: Vec<CallKey> = Vec::new();
    for event in evidence.events_of(turn).take_while(|event| !matches!(event, Event::LetGo { .. })) {
        match event {
            Event::ToolStarted { call: Some(call), .. } => running.push(*call),
            Event::ToolSettled { call, .. } | Event::ToolCancelled { call } => {
                running.retain(|other| other != call);
            }
            _ => {}
        }
    }
    !running.is_empty()
}

const IGNORED_BY_TOOL: &str =
    "the turn does not end after the stop, because it waits for a tool that does not return";

/// The calls with tools that ended after the harness had let the tools of a stopped turn continue.
fn ended_since(evidence: &Evidence<'_>, turn: usize) -> String {
    let until_over = evidence.events_of(turn).take_while(|event| !matches!(event, Event::TurnEnded { .. }));
    let since = until_over.skip_while(|event| !matches!(event, Event::LetGo { what: LetGo::Tools }));
    let ended = since.filter_map(|event| match event {
        Event::ToolSettled { call, .. } | Event::ToolCancelled { call } => Some(*call),
        _ => None,
    });
    let names: Vec<&str> = ended.map(|call| evidence.call(call).name.as_str()).collect();
    match names.as_slice() {
        [] => "its tools had been let continue".to_owned(),
        [name] => format!("call {name} had ended"),
        names => format!("the calls {} had ended", names.join(", ")),
    }
}

/// True if only the end of a connection was held, after a complete reply: a real provider closes it
/// immediately.
fn has_whole_reply(evidence: &Evidence<'_>, turn: usize) -> bool {
    let events = evidence.events_of(turn).take_while(|event| !matches!(event, Event::LetGo { .. }));
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
    let running = running(evidence, turn);
    let (message, expected) = match why_it_hangs(evidence, turn) {
        WhyItHangs::ToolIgnoresStop => {
            (IGNORED_BY_TOOL, "a turn that ends at the stop, while a tool still runs")
        }
        WhyItHangs::SilentProvider => (
            "the turn does not end after the stop, because the provider is silent",
            "a turn that ends at the stop, while the provider is silent",
        ),
        WhyItHangs::StopIgnored => {
            ("the turn does not end, even after it was stopped", "a turn that ends after the stop")
        }
        WhyItHangs::NoStopYet => {
            ("the turn does not end until the harness stops it", "a turn that ends by itself")
        }
        WhyItHangs::Ever => {
            ("the turn does not end, even when the harness stops it", "a turn that ends by itself")
        }
    };
    let running: Vec<&str> = running.iter().map(|call| call.name.as_str()).collect();
    let got = match running.as_slice() {
        [] => "silence".to_owned(),
        [name] => format!("silence, while call {name} is still running"),
        names => format!("silence, while the calls {} are still running", names.join(", ")),
    };
    Some(Finding {
        message: message.to_owned(),
        expected: expected.to_owned(),
        got,
        ..CHECK.finding(in_turn(turn)).resting_on(basis(evidence, turn))
    })
}

/// The reason why a turn that the harness gave up does not end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WhyItHangs {
    /// It was stopped, by the user or by the harness, while a tool runs that does not react to the stop.
    ToolIgnoresStop,
    /// It was stopped while the provider was silent, and the provider stays silent, as it would in life.
    SilentProvider,
    /// It was stopped, and nothing explains why it does not end.
    StopIgnored,
    /// It ended when the harness stopped it.
    NoStopYet,
    /// It did not end, whatever the harness did.
    Ever,
}

fn why_it_hangs(evidence: &Evidence<'_>, turn: usize) -> WhyItHangs {
    let is_tried = is_tried(evidence, turn);
    let is_stopped = is_tried || !is_over(evidence, turn);
    let is_running = |call: &&PlannedCall| is_tried || call.hangs;
    if is_stopped && running(evidence, turn).iter().any(is_running) {
        return WhyItHangs::ToolIgnoresStop;
    }
    let stalls = |action: &PlannedAction| matches!(action.what, Action::Stall);
    match (is_tried, is_over(evidence, turn)) {
        (true, _) if evidence.plan.turns[turn].actions.iter().any(stalls) => WhyItHangs::SilentProvider,
        (true, _) => WhyItHangs::StopIgnored,
        (false, true) => WhyItHangs::NoStopYet,
        (false, false) => WhyItHangs::Ever,
    }
}

/// The calls of a turn with tools that run to the end of the run.
fn running<'e>(evidence: &'e Evidence<'_>, turn: usize) -> Vec<&'e PlannedCall> {
    let is_running = |(call, account): &(&PlannedCall, &CallRecord)| {
        call.turn == turn && !account.starts.is_empty() && account.settled.is_none() && !account.cancelled
    };
    evidence.calls().filter(is_running).map(|(call, _)| call).collect()
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
/// for them, and after a stop the code that ends them. No application can end a turn that waits for a silent
/// provider.
fn basis(evidence: &Evidence<'_>, turn: usize) -> &'static [Duty] {
    match why_it_hangs(evidence, turn) {
        WhyItHangs::ToolIgnoresStop => &[Duty::Loop, Duty::Tools, Duty::Stop],
        WhyItHangs::SilentProvider => CHECK.rests_on,
        WhyItHangs::StopIgnored | WhyItHangs::NoStopYet | WhyItHangs::Ever
            if evidence.calls().any(|(call, account)| is_unsettled(call, account, turn)) =>
        {
            &[Duty::Loop]
        }
        WhyItHangs::StopIgnored | WhyItHangs::NoStopYet | WhyItHangs::Ever => CHECK.rests_on,
    }
}

/// True if a tool of this turn has started and has no result, even if the system gave it up.
fn is_unsettled(call: &PlannedCall, account: &CallRecord, turn: usize) -> bool {
    call.turn == turn && !account.starts.is_empty() && account.settled.is_none()
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
