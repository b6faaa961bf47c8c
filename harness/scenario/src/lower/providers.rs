//! Determines the provider of each turn.

use crate::action::{Action, ProviderChoice};
use crate::plan::Plan;
use crate::scenario::{Block, Scenario, Turn};
use crate::wire;
use brickbat_rules::dialect::Dialect;

use super::ids::IdSource;

/// The dialect of each turn in a thread that begins with the dialect `first`.
pub(super) fn of_turns(scenario: &Scenario, first: Dialect) -> Vec<Dialect> {
    let mut current = first;
    let of_turn = |turn: &Turn| {
        if let Some(choice) = choices(turn).last() {
            current = choice.dialect(first);
        }
        current
    };
    scenario.turns.iter().map(of_turn).collect()
}

/// The reason why a scenario that changes the provider cannot be run in this dialect, if there is one: it
/// names the provider that the thread already uses, or one that does not show the thinking of its turns.
pub(super) fn impossible(scenario: &Scenario, first: Dialect) -> Option<String> {
    let dialects = of_turns(scenario, first);
    let before = std::iter::once(&first).chain(&dialects);
    for ((turn, before), own) in scenario.turns.iter().zip(before).zip(&dialects) {
        if choices(turn).next().is_some() && before == own {
            return Some(format!("the thread already uses the {own} provider"));
        }
        if thinks(turn) && !wire::of(*own).shows_thinking() {
            return Some(format!("our {own} provider does not show the model's thinking"));
        }
    }
    None
}

/// Keeps a control plan with its first provider, which mints the ids of all its calls.
pub(super) fn stay(control: &mut Plan, plan: &Plan) {
    let ids = IdSource { seed: plan.seed, scenario: &plan.id.scenario, dialect: plan.dialect };
    for (key, call) in (0..).zip(&mut control.calls) {
        if plan.turns[call.turn].dialect.is_some() {
            call.id = ids.wire_id(key, call.attempt);
        }
    }
    control.turns.iter_mut().for_each(|turn| turn.dialect = None);
}

fn choices(turn: &Turn) -> impl Iterator<Item = ProviderChoice> {
    turn.at.iter().filter_map(|at| match at.action {
        Action::Provider(choice) => Some(choice),
        _ => None,
    })
}

fn thinks(turn: &Turn) -> bool {
    let mut blocks = turn.replies.iter().flat_map(|reply| &reply.attempts).flatten();
    blocks.any(|block| matches!(block, Block::Think(_)))
}
