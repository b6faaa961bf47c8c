use super::*;
use brickbat_scenario::lower::lower;
use serde_json::json;

fn of(request: &Value, reply: Option<&Value>) -> Recorded {
    let recorded =
        recorded(Dialect::AnthropicMessages, request.to_string().as_bytes(), reply).expect("a conversation");
    for dialect in Dialect::ALL {
        let plan = lower("recorded", "", &recorded.scenario, dialect, 0);
        assert!(plan.is_ok(), "{dialect}: {plan:?}\n{:#?}", recorded.scenario);
    }
    recorded
}

fn call(id: &str, key: &str) -> Value {
    json!({ "type": "tool_use", "id": id, "name": "read.file", "input": { "path": key, "lines": [1, 2] } })
}

fn result(id: &str, text: &str) -> Value {
    json!({ "type": "tool_result", "tool_use_id": id, "content": text })
}

#[test]
fn a_conversation_keeps_its_structure_and_its_last_reply() {
    let request = json!({ "system": "Be kind.", "messages": [
        { "role": "user", "content": "Look." },
        { "role": "assistant", "content": [{ "type": "text", "text": "I look." }, call("1", "x"), call("2", "y")] },
        { "role": "user", "content": [result("1", "{x}"), result("2", "why"), { "type": "text", "text": "A note." }] },
        { "role": "assistant", "content": [{ "type": "text", "text": "Seen." }] },
        { "role": "user", "content": "And more?" },
    ] });
    let reply = json!([{ "text": "More." }, { "call": { "id": "3", "name": "other", "arguments": "{}" } }]);
    let Recorded { scenario, left_out } = of(&request, Some(&reply));
    let shape: Vec<(&str, Vec<Vec<&str>>)> = scenario
        .turns
        .iter()
        .map(|turn| {
            let replies = turn.replies.iter().map(|reply| {
                let block = |block: &Block| if matches!(block, Block::Call(_)) { "call" } else { "text" };
                reply.attempts[0].iter().map(block).collect()
            });
            (turn.user.as_str(), replies.collect())
        })
        .collect();
    let expected = [
        ("Look.", vec![vec!["text", "call", "call"], vec!["text"]]),
        ("And more?", vec![vec!["text", "call"], vec!["text"]]),
    ];
    assert_eq!(shape, expected);
    let returns = scenario.tools["read_file"].returns.as_deref();
    assert_eq!(returns, Some("result of read_file for {lines}"));
    assert!(left_out.contains(&"notes beside results"), "{left_out:?}");
    assert!(left_out.contains(&"the structure of arguments, which become texts"), "{left_out:?}");
}

#[test]
fn a_constant_result_is_kept_without_argument_references() {
    let request = json!({ "messages": [
        { "role": "user", "content": [{ "type": "text", "text": "Look." }] },
        { "role": "assistant", "content": [call("1", "x")] },
        { "role": "user", "content": [result("1", "{ok} {\"a\": {b}} {")] },
    ] });
    let Recorded { scenario, .. } = of(&request, None);
    assert_eq!(scenario.tools["read_file"].returns.as_deref(), Some("{ ok} {\"a\": { b}} {"));
    assert_eq!(scenario.turns[0].replies.len(), 2);
}

#[test]
fn long_conversations_are_cut_to_the_bounds_of_scenarios() {
    let mut messages = Vec::new();
    for n in 0..40 {
        messages.push(json!({ "role": "user", "content": "x".repeat(50_000) }));
        for step in 0..20 {
            let id = format!("{n}-{step}");
            messages.push(json!({ "role": "assistant", "content": [call(&id, "x")] }));
            messages.push(json!({ "role": "user", "content": [result(&id, "y")] }));
        }
    }
    let Recorded { scenario, left_out } = of(&json!({ "messages": messages }), None);
    assert!(scenario.turns.len() <= MAX_TURNS && left_out.len() >= 3, "{left_out:?}");
}

#[test]
fn only_conversations_become_scenarios() {
    for nothing in ["", "{}", "[]", r#"{"messages":[{"role":"assistant","content":"Hi."}]}"#] {
        assert_eq!(recorded(Dialect::AnthropicMessages, nothing.as_bytes(), None), None, "{nothing}");
    }
}
