//! Premises: who has to misbehave for a finding to occur.
//!
//! A maintainer weighs a finding by its premise: every user presses stop, and hardly any model sends a list
//! as arguments. The premise follows from the scenario, unless the scenario names it.

use crate::action::Action;
use crate::scenario::{Block, CallId, Reply, Scenario, Tool};
use crate::surrogate::HALF_CHARACTER;

crate::named! {
    /// Who does the unusual thing in a scenario, from the most common to the rarest.
    pub enum Premise {
        /// The user writes, stops, answers or takes something back; nothing else is unusual.
        User = "user",
        /// The connection breaks or stays silent.
        Network = "network",
        /// The provider refuses a request or reports an error.
        Provider = "provider",
        /// A tool fails, never returns, or is slower than another.
        Tool = "tool",
        /// The process dies, breaks a turn off, or shortens the history.
        Process = "process",
        /// The model sends something that does not fit.
        Model = "model",
        /// A gateway changes what the provider sends, or ends it early.
        Gateway = "gateway",
    }
}

impl Premise {
    /// The premise with a name.
    pub fn named(name: &str) -> Option<Premise> {
        Premise::ALL.into_iter().find(|premise| premise.name() == name)
    }

    /// The premise of an action.
    pub fn of_action<C, S>(action: &Action<C, S>) -> Premise {
        action.spec().premise
    }
}

impl Scenario {
    /// The premise: the one that the file names, otherwise the rarest of what the model, the actions and the
    /// tools do. Beside an action, a tool that fails does not count, because tools fail every day; one that
    /// never returns does. A client's tool that never returns is the user's, who has left the page.
    pub fn premise(&self) -> Premise {
        let replies = || self.turns.iter().flat_map(|turn| &turn.replies);
        let of_replies = replies().filter_map(of_reply).max();
        let of_names = self.tools.values().any(|tool| tool.missing || tool.called.is_some());
        let of_model = of_replies.max(of_names.then_some(Premise::Model));
        let actions = self.turns.iter().flat_map(|turn| &turn.at);
        let of_actions = actions.map(|at| Premise::of_action(&at.action)).max();
        let hangs = self.tools.values().any(|tool| tool.hangs && !tool.client);
        let of_actions = of_actions.max(hangs.then_some(Premise::Tool));
        let is_limited = self.limits.steps.is_some() || self.limits.window.is_some();
        self.premise
            .or(of_model)
            .or(of_actions)
            .or_else(|| self.tools.values().any(is_faulty).then_some(Premise::Tool))
            .or_else(|| (is_limited || self.given.is_some()).then_some(Premise::Process))
            .unwrap_or(Premise::User)
    }
}

/// The premise of a reply that is unusual.
fn of_reply(reply: &Reply) -> Option<Premise> {
    let blocks = || reply.attempts.iter().flatten();
    let calls = || reply.all_calls();
    let is_unnamed = |id: &CallId| match id {
        CallId::Missing => true,
        CallId::Text(text) => text.is_empty(),
        CallId::Same(_) => false,
    };
    let is_of_gateway = reply.interleave
        || reply.indices.is_some()
        || calls().any(|call| call.id.as_ref().is_some_and(is_unnamed));
    let is_of_model = (reply.stop.is_some() && !reply.pauses())
        || reply.attempts.iter().any(Vec::is_empty)
        || blocks().any(|block| matches!(block, Block::Text(text) if text.is_empty()))
        || calls().any(|call| call.raw.is_some() || call.id.is_some());
    match (is_of_gateway, is_of_model) {
        (true, _) => Some(Premise::Gateway),
        (false, true) => Some(Premise::Model),
        (false, false) => None,
    }
}

/// True if a tool does something unusual. A denial is the user's.
fn is_faulty(tool: &Tool) -> bool {
    // Every field is named here, so that a new one has to be judged.
    let Tool {
        returns,
        fails,
        throws,
        deaf,
        bytes,
        // The user's.
        denies: _,
        asks: _,
        client: _,
        // `Scenario::premise` reads them.
        missing: _,
        called: _,
        hangs: _,
        // Usual in a system that has them.
        ends: _,
        hands_over: _,
        agent: _,
    } = tool;
    fails.is_some()
        || throws.is_some()
        || *deaf
        || bytes.is_some()
        || returns.as_ref().is_some_and(|text| text.is_empty() || text.contains(HALF_CHARACTER))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;

    fn premise(lines: &str) -> Premise {
        let text = format!(
            "schema: 1\ncomment: x\n{lines}turns:\n  - user: Hi.\n    replies:\n      - - call: {{ as: a, tool: t, args: {{}} }}\n    at:\n      - {{ after: {{ settled: 0 }}, do: abort }}\n"
        );
        let variants = parse::parse("x.yaml", &text).unwrap();
        variants[0].scenario.premise()
    }

    #[test]
    fn a_file_may_name_its_premise() {
        assert_eq!(premise("tools: { t: { returns: ok } }\n"), Premise::User);
        assert_eq!(premise("premise: gateway\ntools: { t: { returns: ok } }\n"), Premise::Gateway);
    }

    #[test]
    fn a_failing_tool_beside_a_stop_leaves_the_premise_to_the_user() {
        assert_eq!(premise("tools: { t: { fails: no } }\n"), Premise::User);
        assert_eq!(premise("tools: { t: { missing: true } }\n"), Premise::Model);
    }
}
