//! The conversations of the probes.

use std::sync::Arc;

use crate::driver::DriverError;
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::lower;
use brickbat_scenario::plan::Plan;

#[derive(Debug, Clone, Copy)]
pub(super) struct Conversation {
    name: &'static str,
    tools: &'static str,
    turns: &'static str,
    /// The lines after the turns: more keys of the last turn, or of the scenario.
    rest: &'static str,
}

impl Conversation {
    /// The plan on a dialect. Plans of different seeds have no id in common.
    pub(super) fn plan(self, dialect: Dialect, seed: u64) -> Result<Arc<Plan>, DriverError> {
        let id = format!("verify/{}", self.name);
        let what = || format!("the probe {id} failed");
        let Conversation { name: _, tools, turns, rest } = self;
        let text =
            format!("schema: 1\ncomment: A probe.\nclass: [control]\ntools: {tools}\nturns:{turns}{rest}");
        let plans = lower::plans(&id, &id, &text, &[dialect], seed)
            .map_err(|error| DriverError::harness(what(), error))?;
        plans.into_iter().next().map(Arc::new).ok_or_else(|| DriverError::harness(what(), "it has no plan"))
    }

    #[cfg(test)]
    const ALL: [Conversation; 13] = [
        BATCH, PAUSED, WAITING, DEAF, FINAL, HANDED, DELEGATED, LIMITED, FULL, SAVED, SEARCHED, REFUSED,
        OUTSIDE,
    ];
}

/// Three calls in one batch, then an answer.
pub(super) const BATCH: Conversation = Conversation {
    name: "batch",
    tools: r#"{ lookup: { returns: "found {key}" }, measure: { returns: "{what} is 7" } }"#,
    turns: r#"
  - user: Please look up two orders and measure one thing.
    replies:
      - - text: Let me see.
        - call: { as: a, tool: lookup, args: { key: "order \"1\"" } }
        - call: { as: b, tool: measure, args: { what: "ångström\n", times: 2.5, exact: true } }
        - call: { as: c, tool: lookup, args: { key: order 2 } }
      - - text: All three are here.
"#,
    rest: "",
};

/// The provider pauses inside the last reply, and continues.
pub(super) const PAUSED: Conversation = Conversation {
    name: "paused",
    tools: LOOKUP,
    turns: "
  - user: Please look up an order.
    replies:
      - - call: { as: a, tool: lookup, args: { key: order 1 } }
      - - text: It is here, all of it.
    at:
      - { reply: 2, after: headers, do: pause }
      - { reply: 2, after: { text: 1 }, do: pause }
",
    rest: "",
};

const LOOKUP: &str = r#"{ lookup: { returns: "found {key}" } }"#;

const ONE_CALL: &str = "
  - user: Please look up an order.
    replies:
      - - call: { as: a, tool: lookup, args: { key: order 1 } }
      - - text: It is here.
";

/// One call of a tool that accepts the stop signal.
pub(super) const WAITING: Conversation =
    Conversation { name: "waiting", tools: LOOKUP, turns: ONE_CALL, rest: "" };

/// One call of a tool that does not.
pub(super) const DEAF: Conversation = Conversation {
    name: "deaf",
    tools: r#"{ lookup: { returns: "found {key}", deaf: true } }"#,
    turns: ONE_CALL,
    rest: "",
};

/// One call of a tool that ends the turn.
pub(super) const FINAL: Conversation = Conversation {
    name: "final",
    tools: r#"{ answer: { returns: "the answer is {key}", ends: true } }"#,
    turns: "
  - user: Please answer.
    replies:
      - - call: { as: a, tool: answer, args: { key: order 1 } }
",
    rest: "",
};

/// One call that hands over to another agent, which answers.
pub(super) const HANDED: Conversation = Conversation {
    name: "handed",
    tools: "{ transfer: { hands_over: true } }",
    turns: "
  - user: Please let me speak to your colleague.
    replies:
      - - call: { as: a, tool: transfer, args: { why: order 1 } }
      - - text: Here I am.
",
    rest: "",
};

/// One call that runs in the client, and one that does not.
pub(super) const OUTSIDE: Conversation = Conversation {
    name: "outside",
    tools: r#"{ lookup: { returns: "found {key}" }, pick: { returns: "the user picked {key}", client: true } }"#,
    turns: "
  - user: Please let me pick an order.
    replies:
      - - call: { as: a, tool: pick, args: { key: order 1 } }
        - call: { as: b, tool: lookup, args: { key: order 2 } }
      - - text: It is here.
",
    rest: "",
};

/// One call that starts a sub-agent, which itself makes a call.
pub(super) const DELEGATED: Conversation = Conversation {
    name: "delegated",
    tools: r#"{ lookup: { returns: "found {key}" }, task: { agent: true } }"#,
    turns: "
  - user: Please have an order looked up.
    replies:
      - - call:
            as: a
            tool: task
            agent:
              asked: Look up an order.
              replies:
                - - call: { as: b, tool: lookup, args: { key: order 1 } }
                - - text: It is paid.
      - - text: It is here.
",
    rest: "",
};

/// One call in a turn that has only one step.
pub(super) const LIMITED: Conversation =
    Conversation { name: "limited", tools: LOOKUP, turns: ONE_CALL, rest: "limits: { steps: 1 }\n" };

/// A context that is full with the last reply.
pub(super) const FULL: Conversation = Conversation {
    name: "full",
    tools: LOOKUP,
    turns: ONE_CALL,
    rest: "    at:\n      - { reply: 2, before: headers, do: { tokens: 190000 } }\n",
};

/// Two calls, with a store that asks about its writes because one write is a point in the plan. The probe
/// kills nothing there.
pub(super) const SAVED: Conversation = Conversation {
    name: "saved",
    tools: LOOKUP,
    turns: "
  - user: Please look up two orders.
    replies:
      - - call: { as: a, tool: lookup, args: { key: order 1 } }
        - call: { as: b, tool: lookup, args: { key: order 2 } }
      - - text: Both are here.
    at:
      - { after: { saved: 1 }, do: kill }
",
    rest: "",
};

/// The provider itself searches the web.
pub(super) const SEARCHED: Conversation = Conversation {
    name: "searched",
    tools: LOOKUP,
    turns: "
  - user: Please search for an order.
    replies:
      - - search: { as: s, query: an order, finds: One order }
        - text: It is there.
",
    rest: "",
};

/// The provider rejects the request permanently.
pub(super) const REFUSED: Conversation = Conversation {
    name: "refused",
    tools: "{}",
    turns: "
  - user: Please say something.
    replies: [[{ text: Something. }]]
    at:
      - { before: headers, do: { http: { status: 400, times: 20 } } }
",
    rest: "",
};

/// The provider's message when it does: a text that cannot come from an SDK.
pub(super) const REFUSAL: &str = "brickbat refuses this request for good";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_conversation_is_a_plan_on_every_dialect() {
        for conversation in Conversation::ALL {
            for dialect in Dialect::ALL {
                let plan = conversation.plan(dialect, 0).unwrap_or_else(|error| panic!("{error}"));
                let other = conversation.plan(dialect, 1).unwrap();
                let ids = |plan: &Plan| plan.calls.iter().map(|call| call.id.clone()).collect::<Vec<_>>();
                assert!(plan.calls.is_empty() || ids(&plan) != ids(&other));
            }
        }
    }
}
