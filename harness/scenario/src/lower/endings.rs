//! Turns that end, or do not end, without an action: limits, tools that end the turn, and tools that hang.

use crate::action::Action;
use crate::plan::{CallKey, PlannedAction, PlannedPoint, PlannedTurn};
use crate::scenario::{Limits, Need, Scenario};

use super::limits::MAX_REPLIES;
use super::points::{BuiltTurn, TurnContext, n_calls};
use super::problem::{Problem, Problems};

/// The capabilities that a scenario needs for its limits.
pub(super) fn needs(scenario: &Scenario) -> impl Iterator<Item = Need> {
    let Limits { steps, window } = scenario.limits;
    let limit = steps.map(|_| Need::StepLimit);
    limit.into_iter().chain(window.map(|_| Need::AutoCompaction))
}

/// The allowed sizes of a window: a smaller one cannot contain a result, and no scenario fills a larger one.
const WINDOWS: std::ops::RangeInclusive<u32> = 100..=1_000_000;

/// Rejects a limit that no turn reaches, because it changes nothing.
pub(super) fn limit(scenario: &Scenario, turns: &[PlannedTurn], problems: &mut Problems) {
    if let Some(window) = scenario.limits.window.filter(|window| !WINDOWS.contains(window)) {
        let message = format!("`window` must be 100 to 1,000,000 bytes, not {window}");
        problems.add(Problem::new("/limits/window", message));
    }
    let Some(steps) = scenario.limits.steps else { return };
    let pointer = "/limits/steps";
    problems.add_if(!(1..=MAX_REPLIES as u32).contains(&steps), || {
        Problem::new(pointer, format!("`steps` must be 1 to {MAX_REPLIES}, not {steps}"))
    });
    let is_reached = turns.iter().any(|turn| turn.replies.len() > steps as usize);
    problems.add_if(!is_reached, || {
        Problem::new(pointer, format!("no turn has more than {steps} replies, so the limit is never reached"))
            .with_hint("also write the reply that the limit prevents")
    });
}

/// The action with which the system itself ends the turn, if it does.
pub(super) fn finish(context: TurnContext<'_>, actions: &[PlannedAction]) -> Option<PlannedAction> {
    if actions.iter().any(PlannedAction::ends_turn) {
        return None;
    }
    let limit = context.table.scenario().limits.steps.filter(|steps| context.replies.len() > *steps as usize);
    let (words, step) = match (limit, final_call(context)) {
        (Some(steps), _) => (format!("end after step {steps}, which is the limit"), steps),
        (None, Some((key, reply))) => {
            (format!("end with the result of {}", context.table[key].name), reply as u32 + 1)
        }
        (None, None) => return None,
    };
    Some(PlannedAction { words, at: PlannedPoint::Step(step), what: Action::Finish })
}

/// The first call of the turn whose tool ends the turn, and its reply.
fn final_call(context: TurnContext<'_>) -> Option<(CallKey, usize)> {
    let calls = context.table.of_turn(context.turn).into_iter();
    // A tool that the system was never given does not end the turn.
    let tool = |key: &CallKey| context.table.scenario().tools.get(&context.table[*key].tool);
    let mut ends = calls.filter(|key| tool(key).is_some_and(|tool| tool.ends));
    ends.next().map(|key| (key, context.table[key].reply))
}

/// Rejects actions and replies after the end of a turn, and a turn that hangs without being ended.
pub(super) fn check(turn: BuiltTurn<'_>, problems: &mut Problems) {
    let BuiltTurn { context, settle, actions, .. } = turn;
    let base = format!("/turns/{}", context.turn);
    if let Some((key, reply)) = final_call(context) {
        problems.add_if(reply + 1 < context.replies.len(), || {
            let name = &context.table[key].name;
            let message = format!("reply {} is never requested: `{name}` ends the turn", reply + 2);
            Problem::new(format!("{base}/replies/{}", reply + 1), message)
        });
    }
    if let Some(steps) = context.table.scenario().limits.steps {
        for (index, action) in actions.iter().enumerate() {
            let is_beyond = |reply: usize| reply >= steps as usize;
            let late = match action.at {
                PlannedPoint::Stream { reply, .. } => is_beyond(reply),
                PlannedPoint::Asked(key) | PlannedPoint::Started(key) | PlannedPoint::Settled(key, _) => {
                    is_beyond(context.table[key].reply)
                }
                PlannedPoint::Prompt
                | PlannedPoint::StartedCount(_)
                | PlannedPoint::SettledCount(_)
                | PlannedPoint::Saved(..)
                | PlannedPoint::Compaction(..)
                | PlannedPoint::Step(_) => false,
            };
            problems.add_if(late, || {
                let message = format!("this can never happen: the turn ends after step {steps}");
                Problem::new(format!("{base}/at/{index}/do"), message)
            });
        }
    }
    hanging(context, settle, actions, problems);
}

fn hanging(context: TurnContext<'_>, settle: &[String], actions: &[PlannedAction], problems: &mut Problems) {
    let base = format!("/turns/{}", context.turn);
    let hangs: Vec<CallKey> =
        context.table.of_turn(context.turn).into_iter().filter(|key| context.table[*key].hangs).collect();
    let Some(first) = hangs.first() else { return };
    problems.add_if(!actions.iter().any(PlannedAction::ends_turn), || {
        Problem::new(
            &base,
            format!("the turn never ends: the tool of `{}` hangs", context.table[*first].name),
        )
        .with_hint("end it with an action such as `abort`")
    });
    let named = settle.iter().position(|name| hangs.iter().any(|key| context.table[*key].name == *name));
    if let Some(index) = named {
        let message = format!("the tool of `{}` hangs, so it does not settle in this turn", settle[index]);
        problems.add(Problem::new(format!("{base}/settle/{index}"), message));
    }
    // The next reply is requested when all calls of this one have their results.
    let last_reply = context.table[*first].reply;
    let n_started = n_calls(&context.replies[..=last_reply]);
    let n_hanging = hangs.iter().filter(|key| context.table[**key].reply == last_reply).count();
    let n_settling = n_started.saturating_sub(n_hanging as u32);
    for (index, action) in actions.iter().enumerate() {
        let waits = match (&action.at, &action.what) {
            (PlannedPoint::Settled(key, _), _) | (_, Action::Settle(key)) => {
                hangs.contains(key)
                    || (context.table[*key].turn == context.turn && context.table[*key].reply > last_reply)
            }
            (PlannedPoint::SettledCount(count), _) => *count > n_settling,
            (PlannedPoint::StartedCount(count), _) => *count > n_started,
            (PlannedPoint::Stream { reply, .. }, _) => *reply > last_reply,
            (PlannedPoint::Asked(key) | PlannedPoint::Started(key), _) => {
                context.table[*key].reply > last_reply
            }
            (
                PlannedPoint::Prompt
                | PlannedPoint::Saved(..)
                | PlannedPoint::Compaction(..)
                | PlannedPoint::Step(_),
                _,
            ) => false,
        };
        problems.add_if(waits, || {
            let name = &context.table[*first].name;
            let message = format!("this can never happen: the tool of `{name}` hangs");
            Problem::new(format!("{base}/at/{index}/do"), message)
        });
    }
}
