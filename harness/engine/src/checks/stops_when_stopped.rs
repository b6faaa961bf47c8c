//! A turn stops when the user stops it.
//!
//! A request or a tool start that is already on its way at the stop cannot be taken back, and may arrive after the
//! end of the turn. The check therefore counts only events after a quiet period, events after the thread was sent
//! to the provider again, and calls of replies that were requested after the stop. A run that continues may be
//! slow, and become visible only in a later turn: its requests lack the user's latest message, so they do not
//! belong to the thread.

use super::*;

pub(super) const CHECK: Check = Check {
    summary: "a turn that was stopped starts no more tools and sends no more requests",
    invariants: &[22],
    rests_on: &[Duty::Loop],
    applies: |evidence| stopped_turns(evidence).next().is_some(),
    find,
    ..Check::new("stops-when-stopped", Level::L3, Severity::RunsOnAfterStop)
};

/// Turns that the user stopped. A turn that the harness had to stop is left out: `turn-ends` reports it.
fn stopped_turns(evidence: &Evidence<'_>) -> impl Iterator<Item = usize> {
    let is_given_up = |turn: usize| evidence.events_of(turn).any(|event| *event == Event::GaveUp);
    (0..evidence.plan.turns.len()).filter(move |turn| evidence.was_stopped(*turn) && !is_given_up(*turn))
}

fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let found = |turn: usize| {
        let (got, rests_on) = continues(evidence, turn)?;
        Some(Finding {
            message: "the turn continues after it was stopped".to_owned(),
            expected: "no tool and no request after the stop".to_owned(),
            got,
            ..CHECK.finding(in_turn(turn)).resting_on(rests_on)
        })
    };
    stopped_turns(evidence).filter_map(found).collect()
}

/// Returns what a stopped turn does after everything that was on its way must have arrived, with the duties on
/// which they rest. A tool of the step that was running may start if the stop lets that step end, even if the
/// request of the step crossed the stop.
fn continues(evidence: &Evidence<'_>, turn: usize) -> Option<(String, &'static [Duty])> {
    let (mut is_stopped, mut is_settled, mut is_just_stopped) = (false, false, false);
    // The reply to a request that crossed the stop: it belongs to the step that was running.
    let mut crossing = None;
    // Replies, with their attempts, that were asked for after the stop.
    let mut asked_for: Vec<(usize, usize)> = Vec::new();
    let events = evidence.run.trace.by_turn().skip_while(|(at, _)| *at < turn);
    for (at, event) in events {
        let place = if at == turn { "after the stop".to_owned() } else { format!("in turn {}", at + 1) };
        match event {
            Event::Stopped | Event::Interrupted { .. } if at == turn => {
                (is_stopped, is_just_stopped) = (true, true);
            }
            // The user continues with another prompt.
            Event::Said { way: Aside::Prompted, .. } if at == turn => {
                (is_stopped, is_settled, is_just_stopped) = (false, false, false);
                asked_for.clear();
            }
            // The new process belongs to the plan: its requests are not the stopped run's.
            Event::Killed => return None,
            Event::Quiet => (is_settled, is_just_stopped) = (is_settled | is_stopped, false),
            Event::ToolSettled { .. } => is_just_stopped = false,
            Event::ToolStarted { call: Some(call), .. } => {
                is_just_stopped = false;
                let planned = evidence.call(*call);
                let is_of_later_step = asked_for.contains(&(planned.reply, planned.attempt));
                let is_of_run = planned.turn == turn && (at == turn || evidence.is_astray(*call));
                if (is_settled || is_of_later_step) && is_of_run {
                    let crossed = crossing == Some((planned.reply, planned.attempt));
                    let is_of_step = at == turn && (!is_of_later_step || crossed);
                    let rests_on: &[Duty] =
                        if is_of_step { &[Duty::Loop, Duty::Stop] } else { CHECK.rests_on };
                    return Some((format!("call {} starts {place}", planned.name), rests_on));
                }
            }
            Event::Requested { kind: RequestKind::Auxiliary | RequestKind::Repeated { .. }, .. } => {}
            Event::Requested { exchange, kind, .. } => {
                let is_of_run = evidence.turn_of(*exchange) == Some(turn);
                if is_of_run && is_settled {
                    // A sub-agent is a tool of the step that was running.
                    let is_of_step = matches!(kind, RequestKind::OfSubAgent { .. }) && at == turn;
                    let rests_on: &[Duty] =
                        if is_of_step { &[Duty::Loop, Duty::Stop] } else { CHECK.rests_on };
                    return Some((format!("a request of the turn is sent {place}"), rests_on));
                }
                is_settled |= is_stopped && !is_of_run;
                if let RequestKind::Scripted { reply, attempt, .. } = kind
                    && is_stopped
                    && at == turn
                {
                    if std::mem::take(&mut is_just_stopped) {
                        crossing = Some((*reply, *attempt));
                    }
                    asked_for.push((*reply, *attempt));
                }
            }
            _ => {}
        }
    }
    None
}
