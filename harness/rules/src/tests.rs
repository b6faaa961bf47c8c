//! Properties of the rules that a list of vectors cannot demonstrate.

use hashbrown::HashSet;

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;
use crate::json::Document;

#[test]
fn the_rules_of_a_dialect_are_listed_in_the_order_of_their_phases() {
    for dialect in Dialect::ALL {
        let rules = Rule::all().filter(|rule| rule.dialect() == dialect);
        assert!(rules.is_sorted_by_key(|rule| rule.phase), "{dialect}");
    }
}

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
fn every_rule_has_a_source() {
    for rule in Rule::all() {
        assert!(rule.id.starts_with(rule.dialect().name()), "{}", rule.id);
        assert!(!rule.sources.is_empty() && !rule.summary.is_empty() && !rule.why.is_empty(), "{}", rule.id);
        // Only a reference to a missing item and a large body have a status of their own.
        let expected: &[u16] = match rule.id.split('/').next_back() {
            Some("item-not-found") => &[404],
            Some("body-too-large") => &[413],
            _ => &[400, 422],
        };
        assert!(expected.contains(&rule.status), "{}", rule.id);
    }
}

#[test]
fn a_rejection_has_the_message_of_the_provider() {
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
fn openai_reports_the_place_of_a_missing_answer() {
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
fn the_first_phase_is_reported_before_the_second() {
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
fn warnings_cannot_displace_a_rejection() {
    let profile = Profile::newest(Dialect::OpenaiChat);
    let call = json!({ "id": "call_a", "type": "function", "function": { "name": "a", "arguments": "" } });
    let calls: Vec<_> = std::iter::repeat_n(call, 2 * MAX_VIOLATIONS).collect();
    let body = json!({ "messages": [{ "role": "assistant", "tool_calls": calls }] });
    let violations = validate_value(profile, &body);
    assert_eq!(violations.len(), MAX_VIOLATIONS + 1);
    assert_eq!(refusal(&violations).map(|violation| violation.rule.alias), Some("OAI-TC-1"));
}

#[test]
fn nesting_is_not_a_reason_to_reject() {
    let unclosed = "[".repeat(100_000);
    for profile in Profile::all() {
        assert!(refusal(&validate(profile, unclosed.as_bytes())).is_some());
    }
    for depth in [200, 9_000] {
        let input = format!("{}1{}", r#"{"a":"#.repeat(depth), "}".repeat(depth));
        let call = format!(r#"{{"type":"tool_use","id":"a","name":"b","input":{input}}}"#);
        let result = r#"{"type":"tool_result","tool_use_id":"a"}"#;
        let body = |answer: &str| {
            format!(
                r#"{{"messages":[{{"role":"user","content":"hi"}},{{"role":"assistant","content":[{call}]}},{{"role":"user","content":[{answer}]}}]}}"#
            )
        };
        let profile = Profile::newest(Dialect::AnthropicMessages);
        assert_eq!(validate(profile, body(result).as_bytes()), []);
        let violations = validate(profile, body(r#"{"type":"text","text":"stop"}"#).as_bytes());
        assert_eq!(refusal(&violations).map(|violation| violation.rule.alias), Some("ANT-TU-1"));
    }
}

#[test]
fn the_last_of_repeated_fields_counts() {
    let call = r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"b","input":{}}]}"#;
    let user = r#"{"role":"user","content":"hi"}"#;
    let profile = Profile::newest(Dialect::AnthropicMessages);
    let refused =
        |body: String| refusal(&validate(profile, body.as_bytes())).map(|violation| violation.rule.alias);
    assert_eq!(refused(format!(r#"{{"messages":[{user},{call},{user}],"messages":[{user}]}}"#)), None);
    assert_eq!(
        refused(format!(r#"{{"messages":[{user}],"messages":[{user},{call},{user}]}}"#)),
        Some("ANT-TU-1")
    );
    assert_eq!(refused(format!(r#"{{"messages":[{user}],"messages":5}}"#)), Some("ANT-BODY-2"));
    assert_eq!(refused(format!(r#"{{"messages":5,"messages":[{user}]}}"#)), None);
}

proptest! {
    #[test]
    fn any_bytes_can_be_validated(bytes in vec(any::<u8>(), 0..200)) {
        for profile in Profile::all() {
            let violations = validate(profile, &bytes);
            prop_assert!(violations.len() <= 2 * MAX_VIOLATIONS);
        }
    }

    #[test]
    fn every_violation_points_into_the_body(body in likely_body()) {
        let _ = detect(body.to_string().as_bytes());
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
}

proptest! {
    // Every profile reads each body in every spelling, which makes hundreds of validations.
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_spelling_of_a_body_changes_nothing(body in likely_body(), (batches, _) in batches()) {
        let valid = bodies(&batches, |_, _| ()).into_iter().map(|(_, body)| body);
        for body in valid.chain([body]) {
            for profile in Profile::all() {
                // Within a phase, violations in the fields of one object are reported in the order of the
                // fields.
                let sorted = |mut violations: Vec<Violation>| {
                    violations.sort_by_key(|it| (it.rule.phase, it.pointer.clone(), it.message.clone()));
                    violations
                };
                let expected = sorted(validate_value(profile, &body));
                for spelling in Spelling::ALL {
                    let text = spelling.of(&body);
                    let bytes = text.as_bytes();
                    prop_assert_eq!(&sorted(validate(profile, bytes)), &expected, "{:?} {}", spelling, text);
                    let document = Document::parse(bytes);
                    let read = validate_asking(profile, &Memory::default(), None, bytes, &document);
                    prop_assert_eq!(&sorted(read), &expected, "{:?} {}", spelling, text);
                }
            }
        }
    }
}

proptest! {
    #[test]
    fn every_placeholder_in_a_message_is_replaced(body in likely_body()) {
        for violation in Profile::all().flat_map(|profile| validate_value(profile, &body)) {
            let is_placeholder = |rest: &str| {
                rest.split_once('}').is_some_and(|(word, _)| {
                    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
                })
            };
            let message = &violation.message;
            prop_assert!(!message.split('{').skip(1).any(is_placeholder), "{}: {}", violation.rule.id, message);
        }
    }

    #[test]
    fn a_valid_history_stays_valid_when_legal_turns_are_appended(
        (batches, _) in batches(),
        more in vec(1..5_usize, 1..4),
    ) {
        let longer = [batches.clone(), more].concat();
        let both = bodies(&batches, |_, _| ()).into_iter().zip(bodies(&longer, |_, _| ()));
        for ((profile, short), (_, long)) in both {
            let list = list_of(profile.dialect);
            let messages = |body: &Value| body[list].as_array().cloned().unwrap_or_default();
            prop_assert!(messages(&long).starts_with(&messages(&short)));
            prop_assert_eq!(validate_value(profile, &short), []);
            prop_assert_eq!(validate_value(profile, &long), []);
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
    fn a_removed_result_is_rejected((batches, hit) in batches(), seed in any::<usize>()) {
        for (profile, body) in bodies(&batches, |batch, results| {
            if batch == hit {
                results.remove(seed % results.len());
            }
        }) {
            let violations = validate_value(profile, &body);
            let refused = refusal(&violations).map(|violation| violation.rule.alias);
            let aliases = [
                "ANT-TU-1", "OAI-TC-1", "RSP-FC-1", "GEM-FR-1", "GEM-FC-2", "BDR-TU-1", "MIS-CNT-1", "MIS-LAST-1",
            ];
            prop_assert!(refused.is_some_and(|alias| aliases.contains(&alias)), "{:?}", refused);
        }
    }

    #[test]
    fn a_repeated_result_is_reported((batches, hit) in batches(), seed in any::<usize>()) {
        for (profile, body) in bodies(&batches, |batch, results| {
            if batch == hit {
                results.push(results[seed % results.len()].clone());
            }
        }) {
            let aliases: Vec<_> = validate_value(profile, &body).iter().map(|violation| violation.rule.alias).collect();
            let expected = ["ANT-TR-2", "OAI-TM-3", "RSP-FO-2", "GEM-FR-1", "BDR-TR-3", "MIS-V11-2", "MIS-CNT-1"];
            prop_assert!(matches!(aliases[..], [alias] if expected.contains(&alias)), "{:?}", aliases);
        }
    }
}

/// A different way to write the same JSON.
#[derive(Debug, Clone, Copy)]
enum Spelling {
    /// The fields of every object in reverse order: `content` before `role`, `tools` after `messages`.
    Reversed,
    /// Every field twice. The last one counts.
    Twice,
    /// The first character of every string as an escape.
    Escaped,
    /// White space wherever it is allowed.
    Spaced,
}

impl Spelling {
    const ALL: [Spelling; 4] = [Spelling::Reversed, Spelling::Twice, Spelling::Escaped, Spelling::Spaced];

    fn of(self, value: &Value) -> String {
        let space = if matches!(self, Spelling::Spaced) { " \n" } else { "" };
        match value {
            Value::Array(items) => {
                let items: Vec<String> = items.iter().map(|item| self.of(item)).collect();
                format!("[{space}{}{space}]", items.join(&format!("{space},{space}")))
            }
            Value::Object(fields) => {
                let field = |(name, value): (&String, &Value)| {
                    let name = self.string(name);
                    let value = self.of(value);
                    match self {
                        Spelling::Twice => format!("{name}:[7],{name}:{value}"),
                        _ => format!("{name}{space}:{space}{value}"),
                    }
                };
                let mut fields: Vec<String> = fields.iter().map(field).collect();
                if matches!(self, Spelling::Reversed) {
                    fields.reverse();
                }
                format!("{{{space}{}{space}}}", fields.join(&format!("{space},{space}")))
            }
            Value::String(text) => self.string(text),
            other => other.to_string(),
        }
    }

    fn string(self, text: &str) -> String {
        match (self, text.bytes().next()) {
            (Spelling::Escaped, Some(first)) if first.is_ascii() => {
                let rest = Value::from(&text[1..]).to_string();
                format!("\"\\u{:04x}{}", first, &rest[1..])
            }
            _ => Value::from(text).to_string(),
        }
    }
}

/// Returns the batch sizes in a history, and the index of one batch.
fn batches() -> impl Strategy<Value = (Vec<usize>, usize)> {
    vec(1..5_usize, 1..6).prop_flat_map(|batches| {
        let n = batches.len();
        (Just(batches), 0..n)
    })
}

/// Returns the same history for every profile of the dialects' own providers. Vectors cover the additional
/// rules of the others. `edit` may change the results of a batch.
fn bodies(batches: &[usize], edit: impl Fn(usize, &mut Vec<Value>)) -> Vec<(&'static Profile, Value)> {
    let body = |profile: &'static Profile| match profile.dialect {
        Dialect::AnthropicMessages => (profile, anthropic_body(batches, &edit)),
        Dialect::OpenaiChat => (profile, openai_body(batches, &edit)),
        Dialect::OpenaiResponses => (profile, responses_body(batches, &edit)),
        Dialect::Gemini => (profile, gemini_body(batches, &edit)),
        Dialect::BedrockConverse => (profile, bedrock_body(batches, &edit)),
        Dialect::Mistral => (profile, mistral_body(batches, &edit)),
    };
    Profile::all().filter(|profile| profile.undated() == profile.dialect.name()).map(body).collect()
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

fn gemini_body(batches: &[usize], edit: impl Fn(usize, &mut Vec<Value>)) -> Value {
    let mut contents = Vec::new();
    for (batch, size) in batches.iter().enumerate() {
        let call = |k| {
            let mut part = json!({ "functionCall": { "name": "look", "args": {} } });
            if k == 0 {
                part["thoughtSignature"] = "c2lnbmVk".into();
            }
            part
        };
        let response = |k| json!({ "functionResponse": { "name": "look", "response": { "output": k } } });
        let mut responses: Vec<_> = (0..*size).map(response).collect();
        edit(batch, &mut responses);
        contents.push(json!({ "role": "user", "parts": [{ "text": "Look." }] }));
        contents.push(json!({ "role": "model", "parts": (0..*size).map(call).collect::<Vec<_>>() }));
        if !responses.is_empty() {
            contents.push(json!({ "role": "user", "parts": responses }));
        }
    }
    json!({ "model": "models/gemini-3-flash-preview", "contents": contents })
}

fn bedrock_body(batches: &[usize], edit: impl Fn(usize, &mut Vec<Value>)) -> Value {
    let mut messages = Vec::new();
    for (batch, size) in batches.iter().enumerate() {
        let ids = || (0..*size).map(|k| format!("call_{batch}_{k}"));
        let calls: Vec<_> =
            ids().map(|id| json!({ "toolUse": { "toolUseId": id, "name": "look", "input": {} } })).collect();
        let found = json!([{ "text": "found" }]);
        let mut results: Vec<_> =
            ids().map(|id| json!({ "toolResult": { "toolUseId": id, "content": found } })).collect();
        edit(batch, &mut results);
        results.push(json!({ "text": "Thanks." }));
        messages.push(json!({ "role": "user", "content": [{ "text": "Look." }] }));
        messages.push(json!({ "role": "assistant", "content": calls }));
        messages.push(json!({ "role": "user", "content": results }));
        messages.push(json!({ "role": "assistant", "content": [{ "text": "Gladly." }] }));
    }
    messages.pop();
    let tool = json!({ "toolSpec": { "name": "look", "inputSchema": { "json": { "type": "object" } } } });
    json!({ "modelId": "us.amazon.nova-pro-v1:0", "toolConfig": { "tools": [tool] }, "messages": messages })
}

fn responses_body(batches: &[usize], edit: impl Fn(usize, &mut Vec<Value>)) -> Value {
    let mut items = Vec::new();
    for (batch, size) in batches.iter().enumerate() {
        let ids = || (0..*size).map(|k| format!("call_{batch}_{k}"));
        let call = |id| json!({ "type": "function_call", "call_id": id, "name": "look", "arguments": "{}" });
        let output = |id| json!({ "type": "function_call_output", "call_id": id, "output": "found" });
        let mut outputs: Vec<_> = ids().map(output).collect();
        edit(batch, &mut outputs);
        items.push(json!({ "role": "user", "content": "Look." }));
        items.extend(ids().map(call));
        items.extend(outputs);
    }
    json!({ "model": "gpt-5", "input": items })
}

/// Returns OpenAI's messages with ids that Mistral accepts, and a reply before each next question.
fn mistral_body(batches: &[usize], edit: impl Fn(usize, &mut Vec<Value>)) -> Value {
    let mut messages = Vec::new();
    for (batch, size) in batches.iter().enumerate() {
        let ids = || (0..*size).map(|k| format!("call{batch:02}x{k:02}"));
        let function = json!({ "name": "look", "arguments": "{}" });
        let calls: Vec<_> = ids().map(|id| json!({ "id": id, "function": function })).collect();
        let mut results: Vec<_> =
            ids().map(|id| json!({ "role": "tool", "tool_call_id": id, "content": "found" })).collect();
        edit(batch, &mut results);
        messages.push(json!({ "role": "assistant", "content": "Yes?" }));
        messages.push(json!({ "role": "user", "content": "Look." }));
        messages.push(json!({ "role": "assistant", "content": "", "tool_calls": calls }));
        messages.extend(results);
    }
    json!({ "model": "mistral-large-latest", "messages": messages })
}

/// Returns JSON with the right keys at random positions, so most values are almost a body.
fn likely_body() -> impl Strategy<Value = Value> {
    let words = [
        "user",
        "assistant",
        "model",
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
        "function_call",
        "function_call_output",
        "reasoning",
        "item_reference",
        "rs_1",
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
        "call_id",
        "output",
        "summary",
        "store",
        "parts",
        "functionCall",
        "function_call",
        "functionResponse",
        "args",
        "response",
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
    let kinds = &["function_call", "function_call_output", "reasoning", "item_reference", "message"][..];
    let fields = (value.clone(), value.clone());
    let item = (proptest::sample::select(kinds), fields).prop_map(|(kind, (id, content))| {
        json!({ "type": kind, "role": "assistant", "id": id, "call_id": id, "output": content, "summary": content })
    });
    let items = vec(prop_oneof![3 => item, 1 => value.clone()], 0..6);
    let messages = vec(prop_oneof![3 => message, 1 => value.clone()], 0..6);
    let part = (
        proptest::sample::select(&["functionCall", "functionResponse", "text", "function_call"][..]),
        value.clone(),
    )
        .prop_map(|(field, value)| json!({ field: value }));
    let parts = prop_oneof![3 => vec(prop_oneof![3 => part, 1 => value.clone()], 0..4).prop_map(Value::from), 1 => value.clone()];
    let role = proptest::sample::select(&["user", "model", "function", "assistant"][..]);
    let content = (role, parts).prop_map(|(role, parts)| json!({ "role": role, "parts": parts }));
    let contents = vec(prop_oneof![4 => content, 1 => value.clone()], 0..6);
    prop_oneof![
        4 => (messages, value.clone()).prop_map(|(messages, thinking)| {
            json!({ "model": "claude-sonnet-5", "thinking": thinking, "messages": messages })
        }),
        4 => (items, value.clone()).prop_map(|(items, previous)| {
            json!({ "model": "gpt-5", "store": false, "previous_response_id": previous, "input": items })
        }),
        4 => contents.prop_map(|contents| json!({ "model": "gemini-3.6-flash", "contents": contents })),
        1 => value,
    ]
}
