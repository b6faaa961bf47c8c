//! Properties of the rules that no list of vectors can show.

use std::collections::HashSet;

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Map, json};

use super::*;

#[test]
fn ids_and_aliases_are_unique_and_found() {
    let mut seen = HashSet::new();
    for rule in Rule::all() {
        assert!(seen.insert(rule.id) && seen.insert(rule.alias), "{} is not unique", rule.id);
        assert_eq!(Rule::find(rule.id), Some(rule));
        assert_eq!(Rule::find(rule.alias), Some(rule));
    }
    assert_eq!(Rule::find("no-such-rule"), None);
}

#[test]
fn every_rule_says_where_it_comes_from() {
    for rule in Rule::all() {
        assert!(rule.id.starts_with(rule.dialect().name()), "{}", rule.id);
        assert!(!rule.sources.is_empty() && !rule.summary.is_empty() && !rule.why.is_empty(), "{}", rule.id);
        assert_eq!(rule.status, 400, "{}", rule.id);
    }
}

#[test]
fn a_refusal_is_said_in_the_provider_s_own_words() {
    let profile = Profile::newest(Dialect::AnthropicMessages);
    let violations = validate_value(profile, &anthropic_body(&[2], |_, results| drop(results.remove(1))));
    let refusal = refusal(&violations).expect("a missing result is refused");
    assert_eq!(refusal.status(), 400);
    assert_eq!(refusal.pointer, "/messages/1/content/1");
    assert_eq!(
        refusal.envelope("req_1"),
        json!({
            "type": "error",
            "error": {
                "type": "invalid_request_error",
                "message": "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: \
                            call_0_1. Each `tool_use` block must have a corresponding `tool_result` block in the next \
                            message."
            },
            "request_id": "req_1"
        })
    );
}

#[test]
fn openai_names_the_place_where_an_answer_should_stand() {
    let profile = Profile::newest(Dialect::OpenaiChat);
    let violations = validate_value(profile, &openai_body(&[2], |_, results| drop(results.remove(0))));
    let refusal = refusal(&violations).expect("a missing result is refused");
    assert_eq!(
        refusal.envelope("req_1"),
        json!({
            "error": {
                "message": "An assistant message with 'tool_calls' must be followed by tool messages responding to each \
                            'tool_call_id'. The following tool_call_ids did not have response messages: call_0_0",
                "type": "invalid_request_error",
                "param": "messages.[3].role",
                "code": null
            }
        })
    );
}

#[test]
fn the_first_phase_is_answered_before_the_second() {
    let profile = Profile::newest(Dialect::AnthropicMessages);
    let mut body = anthropic_body(&[1, 1], |batch, results| {
        if batch == 0 {
            results.clear()
        }
    });
    body["messages"][4]["content"][0]["input"] = json!("{");
    let ids: Vec<_> = validate_value(profile, &body).iter().map(|violation| violation.rule.alias).collect();
    assert_eq!(ids.first(), Some(&"ANT-INP-1"));
    assert!(ids.contains(&"ANT-TU-1"));
}

#[test]
fn warnings_cannot_crowd_out_a_refusal() {
    let profile = Profile::newest(Dialect::OpenaiChat);
    let call = json!({ "id": "call_a", "type": "function", "function": { "name": "a", "arguments": "" } });
    let calls: Vec<_> = std::iter::repeat_n(call, 2 * MAX_VIOLATIONS).collect();
    let body = json!({ "messages": [{ "role": "assistant", "tool_calls": calls }] });
    let violations = validate_value(profile, &body);
    assert_eq!(violations.len(), MAX_VIOLATIONS + 1);
    assert_eq!(refusal(&violations).map(|violation| violation.rule.alias), Some("OAI-TC-1"));
}

#[test]
fn nesting_beyond_the_parser_s_limit_is_refused() {
    let bytes = "[".repeat(100_000);
    for profile in Profile::all() {
        assert!(refusal(&validate(profile, bytes.as_bytes())).is_some());
    }
}

proptest! {
    #[test]
    fn any_bytes_get_an_answer(bytes in vec(any::<u8>(), 0..200)) {
        for profile in Profile::all() {
            let violations = validate(profile, &bytes);
            prop_assert!(violations.len() <= 2 * MAX_VIOLATIONS);
        }
    }

    #[test]
    fn every_violation_points_into_the_body(body in likely_body()) {
        let _ = detect(&body);
        for profile in Profile::all() {
            let bytes = serde_json::to_vec(&body).unwrap();
            let violations = validate(profile, &bytes);
            prop_assert_eq!(&violations, &validate_value(profile, &body));
            for violation in violations {
                prop_assert!(body.pointer(&violation.pointer).is_some(), "{} {}", violation.rule.id, violation.pointer);
                prop_assert_eq!(violation.rule.dialect(), profile.dialect);
            }
        }
    }

    #[test]
    fn permuted_results_of_one_batch_are_accepted((batches, permuted) in batches(), seed in any::<usize>()) {
        for (profile, body) in bodies(&batches, |batch, results| {
            if batch == permuted {
                let half = seed % results.len();
                results.rotate_left(half);
                results[half..].reverse();
            }
        }) {
            prop_assert_eq!(validate_value(profile, &body), []);
        }
    }

    #[test]
    fn a_removed_result_is_refused((batches, hit) in batches(), seed in any::<usize>()) {
        for (profile, body) in bodies(&batches, |batch, results| {
            if batch == hit {
                results.remove(seed % results.len());
            }
        }) {
            let violations = validate_value(profile, &body);
            let refused = refusal(&violations).map(|violation| violation.rule.alias);
            prop_assert!(matches!(refused, Some("ANT-TU-1" | "OAI-TC-1")), "{:?}", refused);
        }
    }

    #[test]
    fn a_repeated_result_is_noticed((batches, hit) in batches(), seed in any::<usize>()) {
        for (profile, body) in bodies(&batches, |batch, results| {
            if batch == hit {
                results.push(results[seed % results.len()].clone());
            }
        }) {
            let aliases: Vec<_> = validate_value(profile, &body).iter().map(|violation| violation.rule.alias).collect();
            prop_assert!(matches!(aliases[..], ["ANT-TR-2" | "OAI-TM-3"]), "{:?}", aliases);
        }
    }
}

/// The sizes of the batches of a history, and the index of one of them.
fn batches() -> impl Strategy<Value = (Vec<usize>, usize)> {
    vec(1..5_usize, 1..6).prop_flat_map(|batches| {
        let n = batches.len();
        (Just(batches), 0..n)
    })
}

/// The same history in every profile. `edit` may change the results of a batch.
fn bodies(batches: &[usize], edit: impl Fn(usize, &mut Vec<Value>)) -> Vec<(&'static Profile, Value)> {
    let body = |profile: &'static Profile| match profile.dialect {
        Dialect::AnthropicMessages => (profile, anthropic_body(batches, &edit)),
        Dialect::OpenaiChat => (profile, openai_body(batches, &edit)),
    };
    Profile::all().iter().map(body).collect()
}

fn anthropic_body(batches: &[usize], edit: impl Fn(usize, &mut Vec<Value>)) -> Value {
    let mut messages = Vec::new();
    for (batch, size) in batches.iter().enumerate() {
        let ids = || (0..*size).map(|k| format!("call_{batch}_{k}"));
        let calls: Vec<_> =
            ids().map(|id| json!({ "type": "tool_use", "id": id, "name": "look", "input": {} })).collect();
        let mut results: Vec<_> =
            ids().map(|id| json!({ "type": "tool_result", "tool_use_id": id, "content": "found" })).collect();
        edit(batch, &mut results);
        results.push(json!({ "type": "text", "text": "Thanks." }));
        messages.push(json!({ "role": "user", "content": "Look." }));
        messages.push(json!({ "role": "assistant", "content": calls }));
        messages.push(json!({ "role": "user", "content": results }));
    }
    json!({ "model": "claude-sonnet-5", "max_tokens": 10, "messages": messages })
}

fn openai_body(batches: &[usize], edit: impl Fn(usize, &mut Vec<Value>)) -> Value {
    let mut messages = Vec::new();
    for (batch, size) in batches.iter().enumerate() {
        let ids = || (0..*size).map(|k| format!("call_{batch}_{k}"));
        let function = json!({ "name": "look", "arguments": "{}" });
        let calls: Vec<_> =
            ids().map(|id| json!({ "id": id, "type": "function", "function": function })).collect();
        let mut results: Vec<_> =
            ids().map(|id| json!({ "role": "tool", "tool_call_id": id, "content": "found" })).collect();
        edit(batch, &mut results);
        messages.push(json!({ "role": "user", "content": "Look." }));
        messages.push(json!({ "role": "assistant", "content": null, "tool_calls": calls }));
        messages.extend(results);
    }
    json!({ "model": "gpt-5", "messages": messages })
}

/// JSON with the right words in any place, so that most of it is almost a body.
fn likely_body() -> impl Strategy<Value = Value> {
    let words = [
        "user",
        "assistant",
        "system",
        "tool",
        "text",
        "tool_use",
        "tool_result",
        "thinking",
        "enabled",
        "function",
        "call_a",
        "call b",
        "",
        " ",
        "claude-sonnet-5",
        "claude-3-opus",
    ];
    let keys = [
        "role",
        "content",
        "type",
        "id",
        "name",
        "input",
        "text",
        "tool_use_id",
        "tool_call_id",
        "tool_calls",
        "function",
        "arguments",
        "signature",
        "thinking",
        "output_config",
    ];
    let leaf = prop_oneof![
        4 => proptest::sample::select(words.to_vec()).prop_map(Value::from),
        1 => Just(Value::Null),
        1 => any::<i32>().prop_map(Value::from),
        1 => Just(json!({})),
    ];
    let value = leaf.prop_recursive(4, 40, 6, move |inner| {
        let field = (proptest::sample::select(keys.to_vec()), inner.clone());
        prop_oneof![
            vec(inner, 0..5).prop_map(Value::from),
            vec(field, 0..6).prop_map(|fields| {
                Value::Object(
                    fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<Map<_, _>>(),
                )
            }),
        ]
    });
    let role = proptest::sample::select(&["user", "assistant", "tool", "system"][..]);
    let message = (role, value.clone(), value.clone()).prop_map(|(role, content, calls)| {
        json!({ "role": role, "content": content, "tool_calls": calls, "tool_call_id": "call_a" })
    });
    let messages = vec(prop_oneof![3 => message, 1 => value.clone()], 0..6);
    prop_oneof![
        4 => (messages, value.clone()).prop_map(|(messages, thinking)| {
            json!({ "model": "claude-sonnet-5", "thinking": thinking, "messages": messages })
        }),
        1 => value,
    ]
}
