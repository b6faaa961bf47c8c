//! The order in which a turn's calls settle, including those that an action settles.

use crate::action::Action;
use crate::plan::{CallKey, PlannedAction, PlannedPoint, Side};

use super::points::TurnContext;
use super::problem::{Problem, Problems};

/// A call that an action settles.
struct Moved {
    action: usize,
    key: CallKey,
    at: PlannedPoint,
}

/// The settling order of a turn. `written` is the order in the scenario, and `actions` are the actions in the
/// turn.
pub(super) fn order(
    context: TurnContext<'_>,
    written: &[String],
    actions: &[PlannedAction],
    problems: &mut Problems,
) -> Vec<CallKey> {
    let authored = authored(context, written, problems);
    let moved = moved(context, actions, problems);
    let default = default_order(context, &authored);
    let (order, stuck) = play(context, &default, moved);
    for waiting in &stuck {
        let name = &context.table[waiting.key].name;
        let pointer = do_pointer(context, waiting.action);
        let message =
            format!("`{name}` cannot settle here: the point is reached only after `{name}` has settled");
        problems.add(Problem::new(pointer, message));
    }
    if stuck.is_empty() {
        contradictions(context, &authored, &order, actions, problems);
    }
    order
}

fn do_pointer(context: TurnContext<'_>, action: usize) -> String {
    format!("/turns/{}/at/{action}/do/settle", context.turn)
}

/// The calls that `settle` names.
fn authored(context: TurnContext<'_>, written: &[String], problems: &mut Problems) -> Vec<CallKey> {
    let mut keys: Vec<CallKey> = Vec::new();
    for (index, name) in written.iter().enumerate() {
        let pointer = format!("/turns/{}/settle/{index}", context.turn);
        let key = match context.call(pointer.as_str(), name) {
            Ok(key) => key,
            Err(problem) => {
                problems.add(problem);
                continue;
            }
        };
        if keys.contains(&key) {
            problems.add(Problem::new(pointer, format!("`{name}` cannot settle twice")));
            continue;
        }
        if let Some(later) = keys.iter().find(|other| context.table[**other].reply > context.table[key].reply)
        {
            let (later, reply) = (&context.table[*later].name, context.table[key].reply + 1);
            problems.add(Problem::new(pointer, format!("`{name}` cannot settle after `{later}`")).with_hint(
                format!("the reply with `{later}` is requested only once reply {reply} has its results"),
            ));
        }
        keys.push(key);
    }
    keys
}

fn moved(context: TurnContext<'_>, actions: &[PlannedAction], problems: &mut Problems) -> Vec<Moved> {
    let mut moved: Vec<Moved> = Vec::new();
    for (action, planned) in actions.iter().enumerate() {
        let Action::Settle(key) = planned.what else { continue };
        if context.table[key].turn != context.turn {
            continue;
        }
        let name = &context.table[key].name;
        if moved.iter().any(|other| other.key == key) {
            problems.add(Problem::new(do_pointer(context, action), format!("`{name}` cannot settle twice")));
            continue;
        }
        moved.push(Moved { action, key, at: planned.at.clone() });
    }
    moved
}

/// The calls in the turn, reply by reply: those that `settle` names in its order, then the others in their
/// own.
fn default_order(context: TurnContext<'_>, authored: &[CallKey]) -> Vec<CallKey> {
    let others = context.table.of_turn(context.turn).into_iter().filter(|key| !authored.contains(key));
    let mut order: Vec<CallKey> = authored.iter().copied().chain(others).collect();
    order.sort_by_key(|key| context.table[*key].reply);
    order
}

/// Lets the calls settle, each moved one as soon as its point is reached. Also returns the moved ones whose
/// point was never reached.
fn play(context: TurnContext<'_>, default: &[CallKey], moved: Vec<Moved>) -> (Vec<CallKey>, Vec<Moved>) {
    let reply_of = |key: CallKey| context.table[key].reply;
    let is_moved = |key: &CallKey| moved.iter().any(|other| other.key == *key);
    let in_line: Vec<CallKey> = default.iter().copied().filter(|key| !is_moved(key)).collect();
    let mut waiting = moved;
    let mut order = Vec::with_capacity(default.len());
    for reply in 0..context.replies.len() {
        let mut group = in_line.iter().copied().filter(|key| reply_of(*key) == reply).peekable();
        loop {
            let next = group.peek().copied();
            let ready = waiting
                .iter()
                .position(|call| reply_of(call.key) == reply && is_reached(&call.at, &order, next));
            match ready {
                Some(index) => order.push(waiting.remove(index).key),
                None => match group.next() {
                    Some(key) => order.push(key),
                    None => break,
                },
            }
        }
    }
    (order, waiting)
}

/// True if a point is reached when the calls in `settled` have settled and `next` is the next one.
fn is_reached(at: &PlannedPoint, settled: &[CallKey], next: Option<CallKey>) -> bool {
    match at {
        PlannedPoint::SettledCount(count) => settled.len() >= *count as usize,
        PlannedPoint::Settled(key, Side::After) => settled.contains(key),
        PlannedPoint::Settled(key, Side::Before) => next == Some(*key),
        PlannedPoint::Prompt
        | PlannedPoint::Stream { .. }
        | PlannedPoint::Asked(_)
        | PlannedPoint::StartedCount(_)
        | PlannedPoint::Started(_)
        | PlannedPoint::Saved(..)
        | PlannedPoint::Compaction(..)
        | PlannedPoint::Step(_) => true,
    }
}

/// Finds actions that settle a call against the order in the scenario.
fn contradictions(
    context: TurnContext<'_>,
    authored: &[CallKey],
    order: &[CallKey],
    actions: &[PlannedAction],
    problems: &mut Problems,
) {
    let place = |key: CallKey| order.iter().position(|other| *other == key);
    for (index, action) in actions.iter().enumerate() {
        let Action::Settle(key) = action.what else { continue };
        let Some(own) = authored.iter().position(|other| *other == key) else { continue };
        let wrong = authored
            .iter()
            .enumerate()
            .find(|(other_own, other)| **other != key && (*other_own < own) != (place(**other) < place(key)));
        if let Some((other_own, other)) = wrong {
            let (name, other) = (&context.table[key].name, &context.table[*other].name);
            let order = if other_own < own { "after" } else { "before" };
            problems.add(
                Problem::new(
                    do_pointer(context, index),
                    format!("this contradicts `settle`, in which `{name}` settles {order} `{other}`"),
                )
                .with_hint(format!("leave `{name}` out of `settle`, or move this action")),
            );
            return;
        }
    }
}
