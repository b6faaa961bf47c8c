//! Checks the turns in which sub-agents run.

use crate::action::Action;
use crate::plan::{PlannedPoint, PlannedTurn};
use crate::scenario::Scenario;

use super::points::BuiltTurn;
use super::position;
use super::problem::{Problem, Problems};

/// Rejects a sub-agent with a prompt that is also a user message, because the provider recognises the
/// thread's requests by those messages.
pub(super) fn check_words(scenario: &Scenario, turns: &[PlannedTurn], problems: &mut Problems) {
    for (place, call) in position::calls(scenario) {
        let Some(agent) = &call.agent else { continue };
        if let Some(said) = turns.iter().map(|turn| turn.user.trim()).find(|said| agent.asked.contains(said))
        {
            let message = format!("the sub-agent's prompt duplicates a user message: `{said}`");
            let problem = Problem::new(format!("{place}/call/agent/asked"), message);
            problems.add(problem.with_hint("give it a different prompt"));
        }
    }
}

/// Checks that a sub-agent ends on its own, that its calls settle while it runs, and that a reply that starts
/// one is used only once.
pub(super) fn check_turn(turn: BuiltTurn<'_>, problems: &mut Problems) {
    let BuiltTurn { context, settle, actions, .. } = turn;
    let table = context.table;
    let base = format!("/turns/{}", context.turn);
    for (index, name) in settle.iter().enumerate() {
        let is_agent = table.find(name).is_some_and(|key| table.is_sub_agent(key));
        problems.add_if(is_agent, || {
            Problem::new(
                format!("{base}/settle/{index}"),
                format!("`{name}` is a sub-agent, and ends by itself"),
            )
            .with_hint("name the calls that it makes")
        });
    }
    for (index, action) in actions.iter().enumerate() {
        let Action::Settle(key) = action.what else { continue };
        problems.add_if(table[key].within.is_some() || table.is_sub_agent(key), || {
            let message = "no action settles a sub-agent, or a call of one";
            Problem::new(format!("{base}/at/{index}/do/settle"), message)
                .with_hint("give the order in `settle`")
        });
    }
    for (index, reply) in context.replies.iter().enumerate() {
        let has_agent =
            reply.attempts.iter().flat_map(|script| script.calls()).any(|key| table.is_sub_agent(key));
        let fails = actions.iter().any(|action| match action.at {
            PlannedPoint::Stream { reply, .. } => reply == index && action.what.ends_attempt(),
            _ => false,
        });
        problems.add_if(has_agent && (fails || reply.attempts.len() > 1), || {
            let message = "a reply that starts a sub-agent must have one attempt, which does not fail";
            Problem::new(format!("{base}/replies/{index}"), message)
        });
    }
}
