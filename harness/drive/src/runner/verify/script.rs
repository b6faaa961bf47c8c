//! The conversations of the probes.

use std::sync::Arc;

use crate::driver::DriverError;
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::lower;
use brickbat_scenario::plan::Plan;

/// A conversation, as a scenario.
#[derive(Debug, Clone, Copy)]
pub(super) struct Conversation {
    name: &'static str,
    text: &'static str,
}

impl Conversation {
    /// The plan on a dialect. Plans of different seeds have no id in common.
    pub(super) fn plan(self, dialect: Dialect, seed: u64) -> Result<Arc<Plan>, DriverError> {
        let id = format!("verify/{}", self.name);
        let what = || format!("the probe {id} failed");
        let plans = lower::plans(&id, &id, self.text, &[dialect], seed)
            .map_err(|error| DriverError::harness(what(), error))?;
        plans.into_iter().next().map(Arc::new).ok_or_else(|| DriverError::harness(what(), "it has no plan"))
    }

    #[cfg(test)]
    const ALL: [Conversation; 5] = [BATCH, PAUSED, HEARING, DEAF, REFUSED];
}

/// Three calls in one batch, then an answer.
pub(super) const BATCH: Conversation = Conversation {
    name: "batch",
    text: r#"
schema: 1
comment: Three calls in one batch, then an answer.
class: [control]
tools: { lookup: { returns: "found {key}" }, measure: { returns: "{what} is 7" } }
turns:
  - user: Please look up two orders and measure one thing.
    replies:
      - - text: Let me see.
        - call: { as: a, tool: lookup, args: { key: "order \"1\"" } }
        - call: { as: b, tool: measure, args: { what: "ångström\n", times: 2.5, exact: true } }
        - call: { as: c, tool: lookup, args: { key: order 2 } }
      - - text: All three are here.
"#,
};

/// The provider falls silent inside the last reply, and goes on.
pub(super) const PAUSED: Conversation = Conversation {
    name: "paused",
    text: r#"
schema: 1
comment: The provider falls silent inside the last reply, and goes on.
class: [control]
tools: { lookup: { returns: "found {key}" } }
turns:
  - user: Please look up an order.
    replies:
      - - call: { as: a, tool: lookup, args: { key: order 1 } }
      - - text: It is here, all of it.
    at:
      - { reply: 2, after: headers, do: pause }
      - { reply: 2, after: { text: 1 }, do: pause }
"#,
};

/// A tool that hears the stop.
pub(super) const HEARING: Conversation = Conversation {
    name: "hearing",
    text: r#"
schema: 1
comment: One call of a tool that hears the stop.
class: [control]
tools: { lookup: { returns: "found {key}" } }
turns:
  - user: Please look up an order.
    replies:
      - - call: { as: a, tool: lookup, args: { key: order 1 } }
      - - text: It is here.
"#,
};

/// A tool that does not hear the stop.
pub(super) const DEAF: Conversation = Conversation {
    name: "deaf",
    text: r#"
schema: 1
comment: One call of a tool that does not hear the stop.
class: [control]
tools: { lookup: { returns: "found {key}", deaf: true } }
turns:
  - user: Please look up an order.
    replies:
      - - call: { as: a, tool: lookup, args: { key: order 1 } }
      - - text: It is here.
"#,
};

/// The provider refuses the request for good.
pub(super) const REFUSED: Conversation = Conversation {
    name: "refused",
    text: r#"
schema: 1
comment: The provider refuses the request for good.
class: [control]
turns:
  - user: Please say something.
    replies: [[{ text: Something. }]]
    at:
      - { before: headers, do: { http: { status: 400, times: 20 } } }
"#,
};

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
