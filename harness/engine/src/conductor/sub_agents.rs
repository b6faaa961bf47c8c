//! Sub-agents. No gate reports that one is running: it starts with its first request, and ends with its last
//! reply, or with the first error that it gets instead.

use super::{Command, Conductor};
use brickbat_scenario::plan::CallKey;
use brickbat_scenario::trace::{Confidence, Ending, ExchangeId, RequestKind};

impl Conductor {
    /// True if the end of a reply is itself a proof, so that it must be known that the system received the reply: a
    /// sub-agent's tool ends with it, or it ends a summary that could not be held.
    pub fn rests_on_end(&self, exchange: ExchangeId) -> bool {
        let is_of_sub_agent = matches!(self.kinds.get(&exchange), Some(RequestKind::OfSubAgent { .. }));
        is_of_sub_agent || self.actions.iter().any(|action| action.is_armed_unheld(exchange))
    }

    /// Notes how certain it is that the system received a reply that proves something with its end.
    pub fn at_most(&mut self, exchange: ExchangeId, grade: Confidence) {
        self.ends.insert(exchange, grade);
        self.actions.iter_mut().for_each(|action| action.at_most(exchange, grade));
    }

    /// Handles a request of a sub-agent.
    pub(super) fn sub_agent_asks(&mut self, kind: RequestKind, commands: &mut Vec<Command>) {
        let RequestKind::OfSubAgent { call, reply, refused } = kind else { return };
        // A client whose request was rejected sends it again.
        let is_repeated = refused.is_some() && self.tools.has_settled(call);
        let is_new = !self.tools.has_started(call) || (reply == 0 && !self.tools.is_running(call));
        if is_new && !is_repeated {
            let args = self.plan.calls[call.0 as usize].args.to_string();
            commands.push(Command::SubAgentStarted { call, args });
            self.tool_started(call, commands);
        }
        if refused.is_some() {
            self.sub_agent_ended(call, Confidence::Observed, commands);
        }
    }

    /// Handles the end of a reply to a sub-agent.
    pub(super) fn sub_agent_hears(
        &mut self,
        exchange: ExchangeId,
        ending: Ending,
        commands: &mut Vec<Command>,
    ) {
        let Some(RequestKind::OfSubAgent { call, reply, refused: None }) = self.kinds.get(&exchange).copied()
        else {
            return;
        };
        let Some(agent) = self.plan.sub_agent(call).filter(|_| ending == Ending::Complete) else { return };
        if let Some(script) = agent.replies.get(reply) {
            script.calls().for_each(|call| self.tools.reply_complete(call));
        }
        if agent.is_last(reply) {
            let grade = self.ends.get(&exchange).copied().unwrap_or(Confidence::Observed);
            self.sub_agent_ended(call, grade, commands);
        }
    }

    fn sub_agent_ended(&mut self, call: CallKey, grade: Confidence, commands: &mut Vec<Command>) {
        if !self.tools.has_settled(call) {
            let outcome = self.plan.calls[call.0 as usize].outcome.clone();
            commands.push(Command::SubAgentEnded { call, outcome, grade });
            self.tool_settled(call, grade, commands);
        }
    }
}
