//! Sub-agents: no gate shows that one runs, so it has started when it first asks the provider, and ended with its last words,
//! or with the first error that the provider answers in their place.

use super::{Command, Conductor};
use brickbat_scenario::plan::CallKey;
use brickbat_scenario::trace::{Confidence, Ending, ExchangeId, RequestKind};

impl Conductor {
    /// Whether a request is of a sub-agent, so that its tool has ended when the reply is over.
    pub fn is_of_sub_agent(&self, exchange: ExchangeId) -> bool {
        matches!(self.kinds.get(&exchange), Some(RequestKind::OfSubAgent { .. }))
    }

    /// The reply to a sub-agent is written, and nothing shows that the system has taken it in.
    pub fn doubt(&mut self, exchange: ExchangeId) {
        self.doubted.insert(exchange);
    }

    /// A sub-agent asks the provider.
    pub(super) fn sub_agent_asks(&mut self, kind: RequestKind, commands: &mut Vec<Command>) {
        let RequestKind::OfSubAgent { call, reply, refused } = kind else { return };
        // A client that is refused asks again.
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

    /// A reply to a sub-agent is over.
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
            let is_doubted = self.doubted.contains(&exchange);
            let grade = if is_doubted { Confidence::Written } else { Confidence::Observed };
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
