use serde_json::{Value, json};

use super::*;
use brickbat_rules::json::Document;
use brickbat_scenario::wire::{Delivery, OfferedTool, Thinking, thread::Message};

const MANNER: Manner = Manner { seed: 7, n_rounds: 1 };

/// The reply to a prompt in a dialect, with these tools.
fn said(dialect: Dialect, seed: u64, number: u32, names: &[&str], standing: Standing) -> Improvised {
    let schema =
        json!({ "type": "object", "properties": { "city": { "type": "string" } }, "required": ["city"] });
    let tools: Vec<OfferedTool<'_>> =
        names.iter().map(|name| OfferedTool { name, description: "", input_schema: &schema }).collect();
    let wire = wire::of(dialect);
    let thread = [Message::User("Look around.".to_owned())];
    let declared = wire.declared_tools(&tools, wire::Searching::Unoffered);
    let body = wire.request_body("m", Delivery::Streamed, Thinking::Unasked, &declared, &thread);
    let document = Document::parse(&body).unwrap();
    reply(Manner { seed, ..MANNER }, dialect, number, standing, document.root())
}

const PROMPTED: Standing = Standing { n_rounds: 0, has_begun: false };
const ANSWERED: Standing = Standing { n_rounds: 1, has_begun: true };

#[test]
fn prompts_get_several_calls_and_results_get_a_text_in_every_dialect() {
    for dialect in Dialect::ALL {
        for number in 0..50 {
            let Improvised { plan, script } = said(dialect, 7, number, &["get_weather", "bash"], PROMPTED);
            assert!((2..=3).contains(&script.calls().count()), "{dialect}");
            assert!(plan.calls.iter().all(|call| call.tool == "get_weather"), "{dialect}");
            assert!(plan.calls.iter().all(|call| call.args["city"].is_string()), "{dialect}");
            for call in &plan.calls {
                assert_eq!(call.deltas.concat(), call.args.to_string());
            }
            let text = said(dialect, 7, number, &["get_weather"], ANSWERED);
            assert!(!text.script.has_calls() && !text.script.text().is_empty(), "{dialect}");
        }
    }
}

#[test]
fn the_reply_depends_on_the_seed_and_the_number() {
    let one = |seed, number| {
        let Improvised { plan, script } = said(Dialect::OpenaiChat, seed, number, &["a", "b"], PROMPTED);
        (plan.calls, script)
    };
    assert_eq!(one(7, 0), one(7, 0));
    let mut ids: Vec<String> = (0..200).flat_map(|number| one(7, number).0).map(|call| call.id).collect();
    ids.extend(one(8, 0).0.into_iter().map(|call| call.id));
    let n_ids = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), n_ids);
}

#[test]
fn a_requests_limits_on_calls_are_respected() {
    let offered = |more: Value| {
        let mut body = json!({
            "model": "m",
            "messages": [{ "role": "user", "content": "Look." }],
            "tools": [
                { "type": "function", "function": { "name": "look", "parameters": { "type": "object" } } },
                { "type": "function", "function": { "name": "find", "parameters": { "type": "object" } } },
                { "type": "custom", "custom": { "name": "free" } },
            ],
        });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let text = body.to_string();
        let document = Document::parse(text.as_bytes()).unwrap();
        let replies =
            (0..50).map(|number| reply(MANNER, Dialect::OpenaiChat, number, PROMPTED, document.root()));
        replies.collect::<Vec<_>>()
    };
    let n_calls = |more| offered(more).iter().map(|said| said.plan.calls.len()).collect::<Vec<_>>();
    assert!(n_calls(json!({})).iter().all(|n| (2..=3).contains(n)));
    assert!(n_calls(json!({ "parallel_tool_calls": false })).iter().all(|n| *n == 1));
    assert!(n_calls(json!({ "tool_choice": "none" })).iter().all(|n| *n == 0));
    let only = offered(json!({ "tool_choice": { "type": "function", "function": { "name": "find" } } }));
    assert!(only.iter().all(|said| said.plan.calls.len() == 1 && said.plan.calls[0].tool == "find"));
    let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] });
    let format = json!({ "tool_choice": "none", "response_format": {
        "type": "json_schema", "json_schema": { "name": "n", "schema": schema },
    } });
    for said in offered(format) {
        let answer: Value = serde_json::from_str(&said.script.text()).unwrap();
        assert!(answer["n"].is_i64(), "{answer}");
    }
}

#[test]
fn results_are_counted_back_to_the_last_prompt() {
    let standing = |messages: Value| {
        let text = json!({ "messages": messages }).to_string();
        let document = Document::parse(text.as_bytes()).unwrap();
        Standing::of(&wire::history(Dialect::AnthropicMessages, document.root()))
    };
    let prompt = json!({ "role": "user", "content": "Look." });
    let call = |id: &str| json!({ "role": "assistant", "content": [{ "type": "tool_use", "id": id, "name": "look", "input": {} }] });
    let result = |id: &str| {
        json!({ "role": "user", "content": [
            { "type": "tool_result", "tool_use_id": id, "content": "x" },
            { "type": "text", "text": "<a note of the program>" },
        ] })
    };
    assert_eq!(standing(json!([prompt])), PROMPTED);
    assert_eq!(standing(json!([prompt, call("a"), result("a")])), ANSWERED);
    let twice = standing(json!([prompt, call("a"), result("a"), call("b"), result("b")]));
    assert_eq!(twice.n_rounds, 2);
    let again = standing(
        json!([prompt, call("a"), result("a"), { "role": "assistant", "content": "Done." }, prompt]),
    );
    assert_eq!(again, Standing { n_rounds: 0, has_begun: true });
    assert_eq!(standing(json!([])), PROMPTED);
}

#[test]
fn a_tool_that_ends_the_turn_is_called_last_and_only_once() {
    const CLOSED: Standing = Standing { n_rounds: 2, has_begun: true };
    for dialect in Dialect::ALL {
        for (number, closing) in
            (0..20).zip(["final_answer", "finish", "attemptCompletion"].into_iter().cycle())
        {
            let tools = |standing| {
                let Improvised { plan, .. } = said(dialect, 7, number, &[closing, "order"], standing);
                plan.calls.iter().map(|call| call.tool.clone()).collect::<Vec<_>>()
            };
            assert!(tools(PROMPTED).iter().all(|tool| tool == "order"), "{dialect}");
            assert_eq!(tools(ANSWERED), [closing], "{dialect}");
            assert!(tools(CLOSED).is_empty(), "{dialect}");
        }
    }
}
