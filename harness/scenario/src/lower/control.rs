//! The control plan of a plan.

use crate::action::Action;
use crate::plan::{MARKER, Plan, PlannedCall, PlannedTool, Script, ToolOutcome};
use crate::surrogate::HALF_CHARACTER;

use super::{providers, searches};

/// The control plan: the same conversation, but nothing goes wrong, the store starts empty, and there is one
/// process. Each reply keeps one attempt, the first after which the turn continues. Calls settle in the order
/// in which the model made them. The control plan does not limit how often calls run, because that limit is
/// about the fault. A call that remains keeps its key.
pub fn control(plan: &Plan) -> Plan {
    let mut control = plan.clone();
    control.id.control = true;
    control.impossible = None;
    control.executed = Vec::new();
    control.given = Vec::new();
    control
        .calls
        .retain(|call| !call.given && plan.turns[call.turn].plain_attempt(call.reply) == call.attempt);
    (control.step_limit, control.window) = (None, None);
    control.tools.append(&mut control.missing);
    for tool in &mut control.tools {
        // A new property of a tool has to be placed here.
        let PlannedTool { ends, hands_over, client, name: _, params: _, deaf: _, asks: _, agent: _ } = tool;
        (*ends, *hands_over, *client) = (false, false, false);
    }
    for call in &mut control.calls {
        call.put_right();
        (call.hangs, call.hands_over) = (false, false);
        call.attempt = 0;
        let text = call.outcome.text();
        if !call.outcome.is_success() || text.is_empty() || text.contains(HALF_CHARACTER) {
            call.outcome = ToolOutcome::Return(format!("fine [{}]", call.marker));
        }
    }
    for agent in &mut control.sub_agents {
        agent.refused = None;
        control.calls[agent.call.0 as usize].outcome = ToolOutcome::Return(agent.last_words());
    }
    let n_calls = control.calls.len();
    providers::stay(&mut control, plan);
    for (turn, planned) in control.turns.iter_mut().zip(&plan.turns) {
        turn.process = 1;
        // A request for thinking is not a fault.
        turn.actions.retain(|action| matches!(action.what, Action::Thinking(_)));
        turn.settle.retain(|key| (key.0 as usize) < n_calls);
        turn.settle.sort_unstable();
        for (index, reply) in turn.replies.iter_mut().enumerate() {
            reply.attempts.drain(..planned.plain_attempt(index));
            reply.attempts.truncate(1);
        }
    }
    searches::unpause(&mut control);
    let scripts = control.turns.iter_mut().flat_map(|turn| &mut turn.replies);
    scripts.flat_map(|reply| &mut reply.attempts).for_each(Script::put_right);
    control
}

/// A key that is equal for control plans with the same content, whatever their scenarios. It ignores minted
/// ids.
pub fn control_key(control: &Plan) -> String {
    let mut plain = control.clone();
    for call in &mut plain.calls {
        let PlannedCall { id, marker, args, deltas, outcome, .. } = call;
        id.clear();
        if let Some(args) = args.as_object_mut() {
            args.shift_remove(MARKER);
        }
        deltas.iter_mut().for_each(String::clear);
        *outcome = ToolOutcome::Return(outcome.text().replace(marker.as_str(), ""));
        marker.clear();
    }
    plain.searches.iter_mut().for_each(|search| search.id.clear());
    serde_json::to_string(&plain).unwrap_or_default()
}
