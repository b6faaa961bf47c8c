//! Mistakes of sub-agents.

use super::{mistake, snapshot};
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::lower::plans;

/// A scenario with a sub-agent, with one piece replaced.
fn delegated(from: &str, to: &str) -> String {
    assert!(DELEGATED.contains(from), "{from}");
    mistake(&DELEGATED.replacen(from, to, 1))
}

const DELEGATED: &str = r#"schema: 1
comment: The user has an order looked up.
class: [subagent-state]
tools:
  lookup: { returns: "found {key}" }
  task: { agent: true }
turns:
  - user: Have the order looked up.
    replies:
      - - call:
            as: a
            tool: task
            agent:
              asked: Look up the order.
              replies:
                - - call: { as: b, tool: lookup, args: { key: b } }
                - - text: It is paid.
      - [{ text: It is paid. }]
    settle: [b]
    at:
      - { before: { settled: b }, do: abort }
"#;

#[test]
fn mistakes_of_sub_agents() {
    assert!(plans("x", "good.yaml", DELEGATED, &Dialect::ALL, 7).is_ok());
    let inner = "call: { as: b, tool: lookup, args: { key: b } }";
    snapshot(
        "sub_agents",
        &[
            ("two ends", delegated("{ agent: true }", "{ agent: true, returns: found }")),
            ("no agent", delegated("{ agent: true }", "{ returns: found }")),
            (
                "of its own",
                delegated(inner, "call: { as: b, tool: task, agent: { asked: Go., replies: [] } }"),
            ),
            ("nothing said", delegated(inner, "call: { as: b, tool: task }")),
            ("no last words", delegated("                - - text: It is paid.\n", "")),
            (
                "many deltas",
                delegated(inner, "call: { as: b, tool: lookup, args: { key: b }, deltas: 1000000000 }"),
            ),
            ("a point in its stream", delegated("before: { settled: b }", "after: { end: b }")),
            ("it settles", delegated("settle: [b]", "settle: [a]")),
            (
                "cut",
                delegated(
                    "before: { settled: b }",
                    "before: { settled: b }, do: { settle: b } }\n      - { after: { settled: a }",
                ),
            ),
            (
                "its reply fails",
                delegated("{ before: { settled: b }, do: abort }", "{ after: { end: a }, do: reset }"),
            ),
            ("asked what the user says", delegated("asked: Look up the order.", "asked: Go on. Do it.")),
            ("trimmed", delegated("do: abort", "do: { trim: 2 }")),
        ],
    );
}
