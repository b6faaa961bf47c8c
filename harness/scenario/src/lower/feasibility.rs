//! Checks whether all actions in a turn can happen. An action that can never happen is an error in the
//! scenario.

use crate::action::Action;
use crate::plan::{BoundAction, CallKey, Mark, PlannedAction, PlannedPoint, PlannedTurn, Script, Side};
use crate::wire;

use super::call_table::CallTable;
use super::points::{BuiltTurn, TurnContext, n_calls};
use super::problem::{Problem, Problems};

/// A position in a turn's stream, comparable within one attempt: the index of the mark, then the side.
type Position = (usize, Side);

/// An action in the stream of one attempt.
#[derive(Clone, Copy)]
struct InStream<'a> {
    action: usize,
    attempt: (usize, usize),
    position: Position,
    what: &'a BoundAction,
}

/// Checks the actions in a turn against each other, and the turn's attempts against the actions.
pub(super) fn check(turn: BuiltTurn<'_>, problems: &mut Problems) {
    let BuiltTurn { context, actions, order, .. } = turn;
    let streamed: Vec<InStream<'_>> =
        actions.iter().enumerate().filter_map(|(index, action)| in_stream(context, index, action)).collect();
    crowded(context, actions, problems);
    before_moved(context, actions, problems);
    after_the_end(context, &streamed, problems);
    after_the_stop(context, actions, order, problems);
    of_unfinished_calls(context, actions, &streamed, problems);
    idle_attempts(context, &streamed, problems);
    of_idle_calls(context, actions, problems);
}

/// The reason why a turn cannot be run, if one of its actions is at a point that the dialect's streams lack.
pub(super) fn lacking(context: TurnContext<'_>, actions: &[PlannedAction]) -> Option<String> {
    let lacking = actions.iter().find(|action| match action.at {
        PlannedPoint::Stream { reply, attempt, mark, side } => {
            position(context, (reply, attempt), mark, side).is_none()
        }
        _ => false,
    })?;
    let (words, dialect) = (&lacking.words, context.table.dialect(context.turn));
    Some(format!("{dialect} sends a call in one piece, so there is no `{words}`"))
}

/// The reason why a turn cannot be run, if one of its actions comes after the last event of a stream.
pub(super) fn behind_the_end(context: TurnContext<'_>, actions: &[PlannedAction]) -> Option<String> {
    // An action before the terminal event still precedes that event, which then contains the stop reason as
    // well.
    let is_after_all =
        |at: &PlannedPoint| matches!(at, PlannedPoint::Stream { mark: Mark::Stop, side: Side::After, .. });
    let why = |action: &PlannedAction| match action.what {
        Action::EndEarly => Some("would have no effect"),
        // A provider that has reported the reply as complete sends nothing more.
        Action::Error(_) => Some("would never be sent"),
        _ => None,
    };
    let dialect = context.table.dialect(context.turn);
    if !wire::of(dialect).traits.ends_with_stop {
        return None;
    }
    let mut late = actions.iter().filter(|action| is_after_all(&action.at));
    let (words, why) = late.find_map(|action| Some((&action.words, why(action)?)))?;
    Some(format!("{dialect} ends its stream with the stop reason, so `{words}` {why}"))
}

fn pointer(context: TurnContext<'_>, action: usize) -> String {
    format!("/turns/{}/at/{action}/do", context.turn)
}

fn script<'a>(context: TurnContext<'a>, (reply, attempt): (usize, usize)) -> Option<&'a Script> {
    context.replies.get(reply)?.attempts.get(attempt)
}

fn position(context: TurnContext<'_>, attempt: (usize, usize), mark: Mark, side: Side) -> Option<Position> {
    let marks =
        wire::marks(context.table.dialect(context.turn), script(context, attempt)?, &context.table.calls);
    marks.iter().position(|other| *other == mark).map(|index| (index, side))
}

fn in_stream<'a>(context: TurnContext<'_>, index: usize, action: &'a PlannedAction) -> Option<InStream<'a>> {
    let PlannedPoint::Stream { reply, attempt, mark, side } = action.at else { return None };
    let position = position(context, (reply, attempt), mark, side)?;
    Some(InStream { action: index, attempt: (reply, attempt), position, what: &action.what })
}

/// Rejects two faults at one point, because only one of them could be proven. Calls may also settle there.
fn crowded(context: TurnContext<'_>, actions: &[PlannedAction], problems: &mut Problems) {
    let is_fault = |action: &PlannedAction| !matches!(action.what, Action::Settle(_));
    // Between two turns the system is idle, so several actions can happen one after the other.
    let collide = |one: &PlannedAction, other: &PlannedAction| {
        one.at == other.at && (!one.is_between_turns() || one.what.spec().name == other.what.spec().name)
    };
    for (index, action) in actions.iter().enumerate().filter(|(_, action)| is_fault(action)) {
        if actions[..index].iter().any(|other| is_fault(other) && collide(other, action)) {
            problems.add(Problem::new(pointer(context, index), "two actions at the same point"));
        }
    }
}

/// Rejects the point before a call settles if an action settles the call: there is no such moment.
fn before_moved(context: TurnContext<'_>, actions: &[PlannedAction], problems: &mut Problems) {
    for (index, action) in actions.iter().enumerate() {
        let PlannedPoint::Settled(key, Side::Before) = action.at else { continue };
        let is_moved = actions.iter().any(|other| other.what == Action::Settle(key));
        problems.add_if(is_moved, || {
            let name = &context.table[key].name;
            Problem::new(
                pointer(context, index),
                format!("another action settles `{name}`, so there is no point before that here"),
            )
            .with_hint("use the point of that action")
        });
    }
}

/// Rejects actions in an attempt that is already over.
fn after_the_end(context: TurnContext<'_>, streamed: &[InStream<'_>], problems: &mut Problems) {
    for late in streamed {
        let over = streamed.iter().find(|end| {
            let ends = end.what.ends_attempt() || end.what.ends_turn();
            ends && end.attempt == late.attempt && end.position < late.position
        });
        if let Some(end) = over {
            problems.add(
                Problem::new(
                    pointer(context, late.action),
                    "this can never happen: the reply has already ended",
                )
                .with_hint(format!("action {} of this turn ends it at an earlier point", end.action + 1)),
            );
        }
    }
}

/// Rejects everything after a stop except late results, and everything after a kill.
fn after_the_stop(
    context: TurnContext<'_>,
    actions: &[PlannedAction],
    order: &[CallKey],
    problems: &mut Problems,
) {
    let mut stops = actions.iter().enumerate().filter(|(_, action)| action.ends_turn());
    let Some((first, stop)) = stops.next() else { return };
    let is_kill = stop.what.ends_process();
    let (stopped, stops_it) = if is_kill { ("killed", "kills it") } else { ("stopped", "stops it") };
    if let Some((second, other)) = stops.next() {
        let message = if is_kill == other.what.ends_process() {
            format!("a turn can be {stopped} only once")
        } else {
            "a turn can be stopped or killed, not both".to_owned()
        };
        problems.add(
            Problem::new(pointer(context, second), message)
                .with_hint(format!("action {} already {stops_it}", first + 1)),
        );
        return;
    }
    // A tool that ignores the stop continues; a kill of the process ends every tool.
    let has_deaf = !is_kill && order.iter().any(|key| context.table[*key].deaf);
    for (index, action) in actions.iter().enumerate().filter(|(index, _)| *index != first) {
        let settles_there = action.at == stop.at && matches!(action.what, Action::Settle(_));
        // In a stream the provider holds until the result is delivered; elsewhere the kill would come first.
        let in_time = index < first && matches!(stop.at, PlannedPoint::Stream { .. });
        let never = match (&stop.at, &action.at) {
            _ if is_kill && settles_there => !in_time,
            // When a system compacts its history is its own decision.
            (_, PlannedPoint::Prompt | PlannedPoint::Compaction(..)) | (PlannedPoint::Compaction(..), _) => {
                false
            }
            (end, PlannedPoint::Stream { reply, attempt, .. }) => match end {
                PlannedPoint::Stream { reply: last, attempt: last_attempt, .. } => {
                    (*reply, *attempt) > (*last, *last_attempt)
                }
                tools => *reply > reply_of(context, tools, order),
            },
            (end @ PlannedPoint::Stream { reply, .. }, later) => {
                reply_of(context, later, order) > *reply || count(later) > complete(context, end)
            }
            (end, later) => !has_deaf && results(later, order) > results(end, order),
        };
        problems.add_if(never, || {
            Problem::new(
                pointer(context, index),
                format!("this can never happen: the turn has already been {stopped}"),
            )
            .with_hint(format!("action {} of this turn {stops_it}", first + 1))
        });
    }
}

/// Rejects late results of a tool whose process was killed, because no tool outlives its process.
pub(super) fn outlived(table: &CallTable<'_>, turns: &[PlannedTurn], problems: &mut Problems) {
    let kills = |turn: usize, own: usize| {
        let mut kills = turns[turn].actions.iter().filter(|action| action.what.ends_process());
        // Before the prompt of its own turn, no tool has started.
        kills.any(|kill| turn > own || !kill.is_between_turns())
    };
    let kills_at_last = |turn: usize| {
        let mut kills = turns[turn].actions.iter().filter(|action| action.what.ends_process());
        kills.any(PlannedAction::is_between_turns)
    };
    for (index, turn) in turns.iter().enumerate() {
        for (action, planned) in turn.actions.iter().enumerate() {
            let Action::Settle(key) = planned.what else { continue };
            let call = &table[key];
            let killed = (call.turn..index).find(|earlier| kills(*earlier, call.turn));
            let killed = killed.or_else(|| Some(index).filter(|at| *at > call.turn && kills_at_last(*at)));
            if let Some(killed) = killed {
                let message =
                    format!("the process that runs `{}` is killed in turn {}", call.name, killed + 1);
                let pointer = format!("/turns/{index}/at/{action}/do/settle");
                problems.add(Problem::new(pointer, message));
                continue;
            }
            let late = settled_after(turns, call.turn);
            let ends =
                |planned: &PlannedAction| planned.ends_turn() && is_early(table, (key, &late), &planned.at);
            problems.add_if(call.turn < index && !turns[call.turn].actions.iter().any(ends), || {
                let message = format!("turn {} does not end before `{}` settles", call.turn + 1, call.name);
                Problem::new(format!("/turns/{index}/at/{action}/do/settle"), message)
                    .with_hint("end that turn with an action such as `abort`")
            });
        }
    }
}

/// The calls that actions in later turns settle.
fn settled_after(turns: &[PlannedTurn], turn: usize) -> Vec<CallKey> {
    let actions = turns[turn + 1..].iter().flat_map(|later| &later.actions);
    let settled = actions.filter_map(|action| match action.what {
        Action::Settle(key) => Some(key),
        _ => None,
    });
    settled.collect()
}

/// True if an action that ends a turn comes before the turn needs the result of this call: the reply after
/// the call's own is requested only then. `late` lists all calls that settle only after the turn, including
/// this one.
fn is_early(table: &CallTable<'_>, (key, late): (CallKey, &[CallKey]), at: &PlannedPoint) -> bool {
    let call = &table[key];
    // Only one of several attempts is completed, so the first can represent all of them.
    let until_then = || {
        let own = table.of_turn(call.turn).into_iter();
        own.filter(|key| table[*key].reply <= call.reply && table[*key].attempt == 0)
    };
    let runs = |key: &CallKey| !table[*key].never_runs();
    let settles = |key: &CallKey| runs(key) && !table[*key].hangs && !late.contains(key);
    match at {
        PlannedPoint::Stream { reply, .. } => *reply <= call.reply,
        PlannedPoint::Settled(own, _) if late.contains(own) => false,
        PlannedPoint::SettledCount(count) => *count as usize <= until_then().filter(settles).count(),
        PlannedPoint::StartedCount(count) => *count as usize <= until_then().filter(runs).count(),
        PlannedPoint::Asked(key) | PlannedPoint::Started(key) | PlannedPoint::Settled(key, _) => {
            table[*key].reply <= call.reply
        }
        PlannedPoint::Prompt | PlannedPoint::Saved(..) | PlannedPoint::Step(_) => true,
        PlannedPoint::Compaction(..) => false,
    }
}

/// The number of calls that a tool point waits for.
fn count(at: &PlannedPoint) -> u32 {
    match at {
        PlannedPoint::StartedCount(count) | PlannedPoint::SettledCount(count) => *count,
        PlannedPoint::Prompt
        | PlannedPoint::Stream { .. }
        | PlannedPoint::Asked(_)
        | PlannedPoint::Started(_)
        | PlannedPoint::Settled(..)
        | PlannedPoint::Saved(..)
        | PlannedPoint::Compaction(..)
        | PlannedPoint::Step(_) => 0,
    }
}

/// The number of calls in the turn that are complete on the wire at a point in the stream.
fn complete(context: TurnContext<'_>, at: &PlannedPoint) -> u32 {
    let PlannedPoint::Stream { reply, attempt, mark, side } = *at else { return 0 };
    let here = position(context, (reply, attempt), mark, side);
    let ended = |key: &CallKey| position(context, (reply, attempt), Mark::End(*key), Side::After) <= here;
    let own = script(context, (reply, attempt)).map_or(0, |script| script.calls().filter(ended).count());
    n_calls(&context.replies[..reply]) + own as u32
}

/// The reply whose calls a tool point refers to.
fn reply_of(context: TurnContext<'_>, at: &PlannedPoint, order: &[CallKey]) -> usize {
    let nth = |count: u32| order.get(count.saturating_sub(1) as usize);
    let key = match at {
        PlannedPoint::Asked(key) | PlannedPoint::Started(key) | PlannedPoint::Settled(key, _) => Some(key),
        PlannedPoint::StartedCount(count) | PlannedPoint::SettledCount(count) => nth(*count),
        PlannedPoint::Stream { reply, .. } => return *reply,
        PlannedPoint::Prompt | PlannedPoint::Saved(..) | PlannedPoint::Compaction(..) => None,
        PlannedPoint::Step(step) => return step.saturating_sub(1) as usize,
    };
    key.map_or(0, |key| context.table[*key].reply)
}

/// The progress of the results at a tool point, in half results; starts come before all results.
fn results(at: &PlannedPoint, order: &[CallKey]) -> usize {
    let place = |key: &CallKey| order.iter().position(|other| other == key).unwrap_or(0);
    match at {
        PlannedPoint::SettledCount(count) => 2 * *count as usize,
        PlannedPoint::Settled(key, Side::Before) => 2 * place(key),
        PlannedPoint::Settled(key, Side::After) => 2 * place(key) + 2,
        PlannedPoint::Prompt
        | PlannedPoint::Stream { .. }
        | PlannedPoint::Asked(_)
        | PlannedPoint::StartedCount(_)
        | PlannedPoint::Started(_)
        | PlannedPoint::Saved(..)
        | PlannedPoint::Compaction(..)
        | PlannedPoint::Step(_) => 0,
    }
}

/// Rejects actions that wait for a call that is cut off on the wire, because such a call never starts.
fn of_unfinished_calls(
    context: TurnContext<'_>,
    actions: &[PlannedAction],
    streamed: &[InStream<'_>],
    problems: &mut Problems,
) {
    for (index, action) in actions.iter().enumerate() {
        let at = match action.at {
            PlannedPoint::Asked(key) | PlannedPoint::Started(key) | PlannedPoint::Settled(key, _) => {
                Some(key)
            }
            _ => None,
        };
        let what = match action.what {
            Action::Settle(key) => Some(key),
            _ => None,
        };
        for key in [at, what].into_iter().flatten() {
            let call = &context.table[key];
            if call.turn != context.turn {
                continue;
            }
            let attempt = (call.reply, call.attempt);
            let Some(complete) = position(context, attempt, Mark::End(key), Side::After) else { continue };
            let cut = streamed.iter().find(|end| {
                let ends = end.what.ends_attempt() || end.what.ends_turn();
                ends && end.attempt == attempt && end.position < complete
            });
            if let Some(end) = cut {
                let message = format!("the call `{}` is never complete, so it never starts", call.name);
                problems.add(
                    Problem::new(pointer(context, index), message)
                        .with_hint(format!("action {} of this turn ends the reply first", end.action + 1)),
                );
            }
        }
    }
}

/// Rejects actions that wait for a tool that never starts, because the user refuses it or no system can run
/// it.
fn of_idle_calls(context: TurnContext<'_>, actions: &[PlannedAction], problems: &mut Problems) {
    let idle = context.table.of_turn(context.turn).into_iter().filter(|key| context.table[*key].never_runs());
    let idle: Vec<CallKey> = idle.collect();
    let n_running = n_calls(context.replies).saturating_sub(idle.len() as u32);
    for (index, action) in actions.iter().enumerate() {
        let waits = match action.at {
            PlannedPoint::Started(key) | PlannedPoint::Settled(key, _) => Some(key),
            _ => None,
        };
        let settles = match action.what {
            Action::Settle(key) => Some(key),
            _ => None,
        };
        if let Some(key) = [waits, settles].into_iter().flatten().find(|key| idle.contains(key)) {
            let call = &context.table[key];
            let (who, hint) = if call.is_invalid() {
                ("no system can run", "use a point of the stream, such as `end`")
            } else {
                ("the user refuses", "use `asked`, or a tool that does not deny")
            };
            let message = format!("{who} the call `{}`, so it never starts", call.name);
            problems.add(Problem::new(pointer(context, index), message).with_hint(hint));
        }
        problems.add_if(count(&action.at) > n_running, || {
            let others = if idle.iter().any(|key| context.table[*key].is_invalid()) {
                "the others cannot be run"
            } else {
                "the user refuses the others"
            };
            let message = format!("only {n_running} of the turn's calls start: {others}");
            Problem::new(pointer(context, index), message)
        });
    }
}

/// Rejects calls that settle before they have started.
pub(super) fn too_soon(turn: BuiltTurn<'_>, problems: &mut Problems) {
    let BuiltTurn { context, actions, .. } = turn;
    for (index, action) in actions.iter().enumerate() {
        let Action::Settle(key) = action.what else { continue };
        let call = &context.table[key];
        if call.turn != context.turn {
            continue;
        }
        let own = (call.reply, call.attempt);
        let problem = match action.at {
            PlannedPoint::Stream { reply, attempt, .. } if (reply, attempt) != own => Some(format!(
                "`{}` runs while reply {} is streamed, not while this one is",
                call.name,
                call.reply + 1
            )),
            PlannedPoint::Stream { mark, side, .. } => {
                let here = position(context, own, mark, side);
                let complete = position(context, own, Mark::End(key), Side::After);
                (here < complete).then(|| format!("`{}` has not started here", call.name))
            }
            PlannedPoint::Started(other) => {
                let other = &context.table[other];
                ((other.reply, other.attempt) != own)
                    .then(|| format!("`{}` and `{}` are not in the same reply", call.name, other.name))
            }
            PlannedPoint::StartedCount(count) => (number_in_turn(context, key) > count)
                .then(|| format!("`{}` may not have started here", call.name)),
            PlannedPoint::Asked(other) => (other == key || context.table[other].reply != call.reply)
                .then(|| format!("`{}` may not have started here", call.name)),
            PlannedPoint::Prompt
            | PlannedPoint::SettledCount(_)
            | PlannedPoint::Settled(..)
            | PlannedPoint::Saved(..)
            | PlannedPoint::Compaction(..)
            | PlannedPoint::Step(_) => None,
        };
        if let Some(message) = problem {
            let from = if call.asks { "started" } else { "end" };
            let hint = format!("a call can settle at `after: {{ {from}: {} }}` or later", call.name);
            problems
                .add(Problem::new(format!("{}/settle", pointer(context, index)), message).with_hint(hint));
        }
    }
}

/// The 1-based number of a call among those that its turn starts.
fn number_in_turn(context: TurnContext<'_>, key: CallKey) -> u32 {
    let call = &context.table[key];
    let before = n_calls(&context.replies[..call.reply]);
    let own = script(context, (call.reply, call.attempt));
    let within = own.and_then(|script| script.calls().position(|other| other == key)).unwrap_or(0);
    before + within as u32 + 1
}

/// Rejects an attempt that follows one that does not fail, and a reply that follows one without calls,
/// because neither is requested.
fn idle_attempts(context: TurnContext<'_>, streamed: &[InStream<'_>], problems: &mut Problems) {
    for (reply, said) in context.replies.iter().enumerate() {
        let base = format!("/turns/{}/replies/{reply}", context.turn);
        for attempt in 1..said.attempts.len() {
            let failed = |end: &InStream<'_>| end.attempt == (reply, attempt - 1) && end.what.ends_attempt();
            problems.add_if(!streamed.iter().any(failed), || {
                let message =
                    format!("attempt {} is never requested: attempt {attempt} does not fail", attempt + 1);
                Problem::new(format!("{base}/attempts/{attempt}"), message)
                    .with_hint("add an action that ends it, such as `reset`")
            });
        }
        let goes_on = said.attempts.last().is_some_and(Script::goes_on);
        problems.add_if(!goes_on && reply + 1 < context.replies.len(), || {
            let message =
                format!("reply {} is never requested: reply {} makes no call", reply + 2, reply + 1);
            Problem::new(format!("/turns/{}/replies/{}", context.turn, reply + 1), message)
                .with_hint("move it to a separate turn")
        });
    }
}
