//! What was changed on purpose, and whether the history shows it so.

use super::evidence::{Evidence, RequestView};
use brickbat_scenario::history::{Content, Role};
use brickbat_scenario::plan::{CallKey, Change, Plan};
use brickbat_scenario::trace::{Event, RequestKind, Trace};
use brickbat_scenario::verdict::{Finding, Harm};

/// What of the conversation need not be in later requests, and what must not be.
#[derive(Debug, Clone, Default)]
pub struct Changed {
    /// For each turn, whether what the user said in it was cut off, summarised or taken back.
    turns: Vec<bool>,
    /// The same for the result of each call.
    calls: Vec<bool>,
    /// Turns that were taken back, with the number of requests that had come by then.
    pub(super) taken_back: Vec<(usize, usize)>,
}

impl Changed {
    /// Reads it off a trace. What comes after a change is not touched by it.
    pub fn of(plan: &Plan, trace: &Trace) -> Changed {
        let (turns, calls) = (vec![false; plan.turns.len()], vec![false; plan.calls.len()]);
        let mut changed = Changed { turns, calls, taken_back: Vec::new() };
        let mut told = vec![false; plan.calls.len()];
        let mut standing: Vec<usize> = Vec::new();
        let (mut is_running, mut n_requests) = (false, 0);
        // A running turn may put a change off until the results of its step have come, which then go with it.
        let mut is_put_off = false;
        for event in trace.events() {
            match event {
                Event::Prompted { turn } => {
                    standing.push(*turn);
                    (is_running, is_put_off) = (true, false);
                }
                Event::TurnEnded { .. } | Event::Killed => (is_running, is_put_off) = (false, false),
                Event::Requested { .. } => n_requests += 1,
                Event::ToolSettled { call, .. } => {
                    told[call.0 as usize] = true;
                    changed.calls[call.0 as usize] |= is_put_off;
                }
                Event::Changed { change: Change::Trim { .. } | Change::Summarise { .. } } => {
                    // What the user said in the running turn stays.
                    let n_gone = standing.len() - usize::from(is_running && !standing.is_empty());
                    standing.drain(..n_gone).for_each(|turn| changed.turns[turn] = true);
                    changed.calls.iter_mut().zip(&told).for_each(|(gone, told)| *gone |= *told);
                    is_put_off = is_running;
                }
                Event::Changed { change: Change::Rewind { prompts } } => {
                    let from = standing.len().saturating_sub(*prompts as usize);
                    for turn in standing.drain(from..) {
                        changed.turns[turn] = true;
                        changed.taken_back.push((turn, n_requests));
                        let own =
                            plan.calls.iter().zip(&mut changed.calls).filter(|(call, _)| call.turn == turn);
                        own.for_each(|(_, gone)| *gone = true);
                    }
                }
                _ => {}
            }
        }
        changed
    }

    /// Whether nobody may demand what the user said in a turn.
    pub fn may_be_gone(&self, turn: usize) -> bool {
        self.turns.get(turn).copied().unwrap_or_default()
    }

    /// Whether nobody may demand the result of a call.
    pub fn result_may_be_gone(&self, call: CallKey) -> bool {
        self.calls.get(call.0 as usize).copied().unwrap_or_default()
    }
}

/// What the user took back is in no later request.
pub(super) fn rewind_honoured(evidence: &Evidence<'_>) -> Vec<Finding> {
    let left = |(turn, n_requests): &(usize, usize)| {
        let later = evidence.requests.iter().skip(*n_requests);
        let mut later = later.filter(|request| request.kind != RequestKind::Auxiliary);
        later.find_map(|request| Some((*turn, request, trace_of(evidence, request, *turn)?)))
    };
    let found = evidence.changed.taken_back.iter().filter_map(left);
    found
        .map(|(turn, request, place)| Finding {
            check: "rewind-honoured",
            harm: Harm::Reordered,
            permanence: None,
            message: format!(
                "the user took back turn {}, and the model is told of it all the same",
                turn + 1
            ),
            place: request.place(&place),
            rule: None,
            expected: "a conversation in which it was never said".to_owned(),
            got: evidence.shape(request),
        })
        .collect()
}

/// Where a request tells of a turn.
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

/// The arguments of each call in a request are a JSON object, as the model gave them.
pub(super) fn arguments_whole(evidence: &Evidence<'_>) -> Vec<Finding> {
    let broken = |request: &RequestView| {
        let mut items = request.history.items.iter();
        items.find_map(|item| match &item.content {
            Content::Call { id, args, .. } if !args.is_object() => {
                let name = evidence.answered(request, id).map(|key| evidence.call(key).name.clone());
                Some((name.unwrap_or_else(|| id.clone()), args.to_string(), request.place(&item.pointer)))
            }
            _ => None,
        })
    };
    let Some((name, args, place)) = evidence.requests.iter().find_map(broken) else { return Vec::new() };
    vec![Finding {
        check: "arguments-whole",
        harm: Harm::PartialArguments,
        permanence: None,
        message: format!("the arguments of call {name} stand in the history and are no JSON object"),
        place,
        rule: None,
        expected: "the arguments that the model gave".to_owned(),
        got: format!("`{}`", args.chars().take(120).collect::<String>()),
    }]
}
