//! A strict provider accepts a history that is made of its own replies, whatever the options of a request
//! are.

#![expect(clippy::unwrap_used, reason = "a test may stop at what it does not expect")]

use std::sync::Arc;

use brickbat_engine::agent::{Agent, Delivery, Input, Output, SansIo};
use brickbat_engine::simulate::{assess, play};
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::lower;
use brickbat_scenario::plan::Plan;
use brickbat_scenario::scenario::Need;
use brickbat_scenario::trace::Event;
use brickbat_scenario::verdict::Verdict;
use serde_json::{Value, json};

use crate::plans::built_in;

/// The reference agent with options in each request that it does not send by itself.
struct WithOptions {
    agent: Agent,
    options: Value,
}

impl WithOptions {
    fn add(&self, output: Output) -> Output {
        let Output::Request { request, body } = output else { return output };
        let mut body: Value = serde_json::from_slice(&body).unwrap();
        for (name, value) in self.options.as_object().unwrap() {
            body[name] = value.clone();
        }
        Output::Request { request, body: body.to_string().into_bytes() }
    }
}

impl SansIo for WithOptions {
    fn of_plan(_: &Plan) -> Option<WithOptions> {
        None
    }

    fn can(_: Need) -> bool {
        true
    }

    fn path(&self) -> &str {
        self.agent.path()
    }

    fn step(&mut self, input: Input<'_>) -> Vec<Output> {
        let outputs = self.agent.step(input);
        outputs.into_iter().map(|output| self.add(output)).collect()
    }

    fn history(&self) -> Vec<u8> {
        self.agent.history()
    }

    fn saved(&self) -> Vec<u8> {
        self.agent.saved()
    }

    fn reborn_from(&self, saved: &[u8]) -> WithOptions {
        WithOptions { agent: self.agent.reborn_from(saved), options: self.options.clone() }
    }
}

/// The thinking options in requests of real SDKs, and true for those that ask for thinking.
fn options(dialect: Dialect) -> Vec<(Value, bool)> {
    let own = match dialect {
        Dialect::AnthropicMessages => vec![
            (json!({ "thinking": { "type": "disabled" } }), false),
            (json!({ "thinking": { "type": "enabled", "budget_tokens": 1024 } }), true),
            (
                json!({ "thinking": { "type": "enabled", "budget_tokens": 31_999 }, "max_tokens": 32_000 }),
                true,
            ),
            (json!({ "thinking": { "type": "adaptive" } }), true),
            (json!({ "thinking": { "type": "adaptive" }, "output_config": { "effort": "high" } }), true),
        ],
        Dialect::BedrockConverse => {
            let fields = |fields: Value| json!({ "additionalModelRequestFields": fields });
            vec![
                (fields(json!({ "thinking": { "type": "disabled" } })), false),
                (fields(json!({ "thinking": { "type": "enabled", "budget_tokens": 1024 } })), true),
                (fields(json!({ "reasoning_config": { "type": "enabled", "budget_tokens": 1024 } })), true),
                (fields(json!({ "thinking": { "type": "adaptive" } })), true),
            ]
        }
        Dialect::Gemini => {
            let config = |config: Value| json!({ "generationConfig": { "thinkingConfig": config } });
            vec![
                (config(json!({ "thinkingBudget": 0 })), false),
                (config(json!({ "includeThoughts": true })), true),
                (config(json!({ "includeThoughts": true, "thinkingLevel": "high" })), true),
                (config(json!({ "includeThoughts": true, "thinkingBudget": -1 })), true),
            ]
        }
        Dialect::OpenaiResponses => {
            // If the provider stores its replies, clients refer to its items by their ids, which the
            // reference agent does not do.
            let encrypted = json!(["reasoning.encrypted_content"]);
            vec![
                (json!({ "reasoning": { "effort": "low" } }), false),
                (json!({ "reasoning": { "summary": "auto" }, "include": encrypted }), true),
                (
                    json!({ "reasoning": { "summary": "detailed" }, "include": encrypted, "store": false }),
                    true,
                ),
            ]
        }
        Dialect::OpenaiChat => vec![(json!({ "reasoning_effort": "high" }), false)],
        Dialect::Mistral => vec![(json!({ "prompt_mode": "reasoning" }), false)],
    };
    std::iter::once((json!({}), false)).chain(own).collect()
}

/// Conversations without a fault, with tools and without.
fn conversations(dialect: Dialect) -> Vec<Arc<Plan>> {
    let is_control = |plan: &Plan| plan.dialect == dialect && plan.id.scenario.starts_with("control/");
    let plans = built_in().into_iter().flat_map(|(_, plans)| plans).filter(is_control);
    let talk = "schema: 1\ncomment: Nobody needs a tool.\nclass: [control]\nturns:\n  - user: Hello.\n    \
                replies: [[{ text: Hello to you. }]]\n  - user: How are you?\n    replies: [[{ text: Well. }]]\n";
    let talk = lower::plans("talk", "talk", talk, &[dialect], 0).unwrap_or_else(|error| panic!("{error}"));
    plans.chain(talk).map(Arc::new).collect()
}

#[test]
fn a_provider_accepts_its_own_replies_whatever_the_options() {
    for dialect in Dialect::ALL {
        for plan in conversations(dialect) {
            for (options, asks) in options(dialect) {
                for delivery in [Delivery::Streamed, Delivery::Whole] {
                    let agent = Agent::reference(dialect, delivery, &plan.tools);
                    let run = play(&plan, WithOptions { agent, options: options.clone() }, None);
                    let judgement = assess(&plan, &run, None);
                    let place = format!("{} {delivery:?} {options}", plan.id);
                    assert_eq!(judgement.verdict, Verdict::Pass, "{place}: {judgement:#?}");
                    let thought = |event: &&Event| match event {
                        Event::Requested { body, .. } => {
                            String::from_utf8_lossy(body).contains("The user asks me for something.")
                        }
                        _ => false,
                    };
                    let n_thoughtful = run.trace.events().iter().filter(thought).count();
                    // Gemini gets back only the signatures of its thinking.
                    assert_eq!(n_thoughtful > 0, asks && dialect != Dialect::Gemini, "{place}");
                }
            }
        }
    }
}
