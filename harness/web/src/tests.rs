use std::collections::BTreeMap;

use brickbat_rules::{Dialect, Profile};
use serde_json::{Value, json};

use crate::{MAX_TEXT, answer};

/// A turn that ended before its second tool returned.
const BROKEN: &str = r#"{"model":"claude-sonnet-5","max_tokens":9,"messages":[{"role":"user","content":"Schau 𝄞 nach."},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"t","input":{}},{"type":"tool_use","id":"b","name":"t","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"x"}]},{"role":"assistant","content":"Ja."},{"role":"user","content":"Und?"}]}"#;

fn ask(question: &Value) -> Value {
    serde_json::from_slice(&answer(question.to_string().as_bytes())).unwrap()
}

fn utf16(text: &str, place: &Value) -> String {
    let units: Vec<u16> = text.encode_utf16().collect();
    let at = |name: &str| usize::try_from(place[name].as_u64().unwrap()).unwrap();
    String::from_utf16(&units[at("start")..at("end")]).unwrap()
}

#[test]
fn a_rejected_text_has_a_rule_a_place_and_an_explanation() {
    let answer = ask(&json!({ "ask": "check", "text": BROKEN }));
    let request = &answer["report"]["requests"][0];
    assert_eq!((request["verdict"].as_str(), request["status"].as_u64()), (Some("refused"), Some(400)));
    let rule = "anthropic-messages/tool-result-missing";
    assert_eq!(request["findings"][0]["rule"], rule);
    let place = utf16(BROKEN, &answer["places"][0]);
    assert!(place.starts_with('{') && place.contains(r#""id":"b""#), "{place}");
    let lines = answer["places"][0]["lines"].as_array().unwrap();
    assert!(lines.iter().any(|line| line["marked"].is_array()), "{lines:?}");
    assert!(answer["explained"][rule].as_str().unwrap().contains("ANT-TU-1"));
}

#[test]
fn a_repaired_text_is_accepted_and_its_pieces_lead_to_it() {
    let mended = &ask(&json!({ "ask": "repair", "text": BROKEN }))["mended"];
    let text = mended["text"].as_str().unwrap();
    assert_eq!(ask(&json!({ "ask": "check", "text": text }))["report"]["requests"][0]["verdict"], "accepted");
    assert_eq!(ask(&json!({ "ask": "repair", "text": text })), json!({ "healthy": true }));
    assert_eq!(mended["edits"].as_array().unwrap().len(), 1);
    let put: Vec<&str> =
        mended["pieces"].as_array().unwrap().iter().filter_map(|piece| piece["in"].as_str()).collect();
    assert!(put.concat().contains("No result of this call was recorded"), "{put:?}");
    assert!(mended["pieces"].as_array().unwrap().iter().all(|piece| piece["out"].is_null()));
}

#[test]
fn a_row_of_a_log_is_repaired_in_place() {
    let row = format!(r#"{{"n": 1, "request": {BROKEN}, "url": "https://api.anthropic.com/v1/messages"}}"#);
    let mended = &ask(&json!({ "ask": "repair", "text": row }))["mended"]["text"];
    let mended: Value = serde_json::from_str(mended.as_str().unwrap()).unwrap();
    assert_eq!(mended["n"], 1);
    assert_eq!(mended["request"]["messages"][2]["content"].as_array().unwrap().len(), 2);
}

#[test]
fn a_conversation_is_truncated_only_on_request() {
    let twice = r#"{"model":"claude-sonnet-5","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"t","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"x"},{"type":"tool_result","tool_use_id":"a","content":"y"}]},{"role":"user","content":"d"}]}"#;
    let beyond = &ask(&json!({ "ask": "repair", "text": twice }))["beyond"];
    assert_eq!(beyond["can_truncate"], true, "{beyond}");
    let mended = &ask(&json!({ "ask": "repair", "text": twice, "truncate": true }))["mended"];
    let edits = mended["edits"].as_array().unwrap();
    assert!(edits.iter().any(|edit| edit["loses"] == true), "{edits:?}");
}

#[test]
fn a_text_that_is_not_a_request_gets_hints() {
    let unjudged = |question: Value| ask(&question)["unjudged"].clone();
    let hints = |text: &str| {
        let found = unjudged(json!({ "ask": "check", "text": text }));
        (found["reason"].as_str().unwrap().to_owned(), found["hints"].as_array().unwrap().clone())
    };
    assert!(hints("{").0.starts_with("not JSON"));
    assert!(hints("[{\"role\":\"user\",\"content\":\"a\"}]").1.len() == Dialect::ALL.len());
    assert!(hints("{\"a\":1}\n{\"b\":2}\n").1[0].as_str().unwrap().contains("several"));
    let session = r#"[{"id":"m1","role":"user","parts":[{"type":"text","text":"a"}]},{"id":"m2","role":"assistant","parts":[{"type":"step-start"},{"type":"tool-t","toolCallId":"c","state":"output-available","input":{},"output":1}]}]"#;
    assert!(hints(session).1[0].as_str().unwrap().contains("`brickbat repair FILE`"), "{:?}", hints(session));
    let too_large = unjudged(json!({ "ask": "check", "text": " ".repeat(MAX_TEXT + 1) }));
    assert!(too_large["reason"].as_str().unwrap().contains("MiB"), "{too_large}");
}

#[test]
fn unknown_names_are_rejected() {
    for (name, value) in [("dialect", "latin"), ("profile", "nobody@2026-09"), ("profile", "union:latin")] {
        let reason =
            ask(&json!({ "ask": "check", "text": BROKEN, name: value }))["unjudged"]["reason"].clone();
        assert!(
            reason.as_str().unwrap().contains("latin") || reason.as_str().unwrap().contains("nobody"),
            "{reason}"
        );
    }
    let both = json!({ "ask": "check", "text": BROKEN, "dialect": "gemini", "profile": "mistral" });
    assert!(ask(&both)["unjudged"]["reason"].as_str().unwrap().contains("gemini"));
    for no_question in ["", "[]", "{}", r#"{"ask":"why"}"#, r#"{"ask":"check","txt":"a"}"#, "\u{0}"] {
        let answer: Value = serde_json::from_slice(&answer(no_question.as_bytes())).unwrap();
        assert!(answer["error"].is_string(), "{no_question}");
    }
}

#[test]
fn host_model_and_union_change_the_verdict() {
    let request = |more: Value| {
        let mut question = json!({ "ask": "check", "text": BROKEN });
        question.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        ask(&question)["report"]["requests"][0].clone()
    };
    assert_eq!(request(json!({ "host": "api.anthropic.com" }))["profile_by"], "host");
    assert_eq!(request(json!({ "model": "claude-haiku-4-5" }))["model"], "claude-haiku-4-5");
    assert_eq!(
        request(json!({ "profile": "anthropic-messages@2026-05" }))["profile"],
        "anthropic-messages@2026-05"
    );
    assert_eq!(request(json!({ "profile": "union" }))["profile"], "union:anthropic-messages");
    let union = ask(&json!({ "ask": "repair", "text": BROKEN, "profile": "union" }));
    assert!(union["beyond"]["reason"].as_str().unwrap().contains("one provider"));
}

#[test]
fn the_catalogue_lists_every_dialect_and_profile() {
    let catalogue = ask(&json!({ "ask": "catalogue" }));
    let names = |list: &str| -> Vec<String> {
        let all = catalogue[list].as_array().unwrap().iter();
        all.map(|one| one["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names("dialects"), Dialect::ALL.map(|dialect| dialect.to_string()));
    assert_eq!(names("profiles"), Profile::all().map(|profile| profile.name).collect::<Vec<_>>());
    let hosts = catalogue["hosts"].as_array().unwrap();
    assert!(hosts.contains(&json!("api.x.ai")));
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    hosts.iter().for_each(|host| *counts.entry(host.as_str().unwrap()).or_default() += 1);
    assert!(counts.values().all(|n| *n == 1), "{counts:?}");
}

#[test]
fn a_request_inside_a_text_is_judged_and_can_be_repaired() {
    let quoted = BROKEN.replace('\'', "'\\''");
    let curl = format!("curl https://api.anthropic.com/v1/messages -d '{quoted}'");
    let log = format!("{{\"lines\": 2}} sent {BROKEN} to the provider");
    let export = json!({ "observations": [{ "input": serde_json::from_str::<Value>(BROKEN).unwrap() }] });
    for text in [curl, log, export.to_string()] {
        let answer = ask(&json!({ "ask": "check", "text": text }));
        assert_eq!(answer["report"]["requests"][0]["verdict"], "refused", "{text}: {answer}");
        let found = &answer["found"];
        assert_eq!(found["n"], 1);
        let repaired = ask(&json!({ "ask": "repair", "text": found["text"] }));
        assert!(repaired["mended"]["text"].is_string(), "{repaired}");
    }
    let unjudged = ask(&json!({ "ask": "check", "text": "curl https://api.anthropic.com/v1/messages" }));
    assert!(unjudged["unjudged"].is_object(), "{unjudged}");
}

#[test]
fn an_error_message_leads_to_its_rule() {
    let text = "400 No tool output found for function call call_abc.";
    let answer = ask(&json!({ "ask": "check", "text": text }));
    let hint = answer["unjudged"]["hints"][0].as_str().unwrap();
    assert!(hint.contains("`openai-responses/tool-output-missing`"), "{answer}");
}
