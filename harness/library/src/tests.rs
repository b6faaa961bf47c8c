#![expect(clippy::disallowed_methods, reason = "a test may read the crate and the stored sessions")]

use std::path::Path;

use serde_json::{Value, json};

use crate::ask;

/// A stop before the second result, and a new question.
const BROKEN: &str = r#"[{"role":"user","content":"Look."},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"t","input":{}}]},{"role":"user","content":"And?"}]"#;

fn answer(question: &Value, about: &[u8]) -> Value {
    serde_json::from_slice(&ask(question.to_string().as_bytes(), about)).unwrap()
}

#[test]
fn a_refused_list_has_a_rule_a_text_and_a_repair() {
    let refused = answer(&json!({ "ask": "check" }), BROKEN.as_bytes());
    assert_eq!(refused["verdict"]["verdict"], "refused");
    assert_eq!(refused["verdict"]["findings"][0]["rule"], "anthropic-messages/tool-result-missing");
    assert!(
        refused["text"].as_str().unwrap().contains("were found without `tool_result` blocks"),
        "{refused}"
    );
    let repaired = answer(&json!({ "ask": "repair" }), BROKEN.as_bytes());
    let text = repaired["repaired"]["text"].as_str().unwrap();
    let accepted = answer(&json!({ "ask": "check" }), text.as_bytes());
    assert_eq!((&accepted["verdict"]["verdict"], &accepted["text"]), (&json!("accepted"), &json!("")));
    assert_eq!(answer(&json!({ "ask": "repair" }), text.as_bytes()), json!({ "healthy": true }));
}

#[test]
fn options_select_the_rules_and_wrong_ones_are_errors() {
    let body = r#"{"messages":[{"role":"user","content":"a"}]}"#.as_bytes();
    let checked =
        answer(&json!({ "ask": "check", "dialect": "openai-chat", "host": "api.deepseek.com" }), body);
    assert_eq!(checked["verdict"]["host"], "api.deepseek.com");
    for (question, words) in [
        (json!({ "ask": "check", "dialect": "klingon" }), "no dialect `klingon`"),
        (json!({ "ask": "check", "profile": "klingon" }), "no profile `klingon`"),
    ] {
        assert_eq!(answer(&question, body)["unjudged"]["reason"], words);
    }
    let both = json!({ "ask": "check", "profile": "union", "host": "api.x.ai" });
    assert!(answer(&both, body)["error"].as_str().unwrap().contains("cannot be combined"));
    assert!(
        answer(&json!({ "ask": "check", "hots": "x" }), body)["error"].as_str().unwrap().contains("hots")
    );
}

#[test]
fn hostile_bytes_have_an_answer() {
    let questions = [
        json!({ "ask": "check" }),
        json!({ "ask": "repair" }),
        json!({ "ask": "explain" }),
        json!({ "ask": "session", "name": "x.jsonl" }),
        json!({ "ask": "history", "dialect": "gemini", "kind": "unrepairable" }),
        json!({ "ask": "lunch" }),
    ];
    let deep = "[".repeat(200_000);
    let texts: [&[u8]; 6] = [
        b"",
        b"\0",
        b"\xff\xfe",
        deep.as_bytes(),
        br#"{"messages":[{"role":"user","content":"\ud800"}]}"#,
        b"{",
    ];
    for question in &questions {
        for text in texts {
            assert!(answer(question, text).is_object(), "{question}");
        }
    }
    assert!(answer(&json!([]), b"")["error"].is_string());
}

#[test]
fn a_rule_and_an_error_are_explained() {
    let of_rule = answer(&json!({ "ask": "explain" }), b"anthropic-messages/tool-result-missing");
    assert!(of_rule["pages"][0].as_str().unwrap().contains("ANT-TU-1"));
    let of_error =
        answer(&json!({ "ask": "explain" }), b"400 No tool output found for function call call_abc.");
    assert!(of_error["pages"][0].as_str().unwrap().contains("openai-responses/"), "{of_error}");
    assert_eq!(answer(&json!({ "ask": "explain" }), b"qwertz"), json!({ "pages": [] }));
}

/// The transcript is an entry of the corpus, in the form that Claude Code writes.
#[test]
fn a_session_is_judged_and_a_database_names_the_command_that_reads_it() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpora/sessions/claude-code");
    let name = "call-without-result.jsonl";
    let bytes = std::fs::read(corpus.join(name)).unwrap();
    let judged = answer(&json!({ "ask": "session", "name": name }), &bytes);
    assert_eq!(judged["sessions"][0]["product"], "claude-code");
    assert_eq!(judged["sessions"][0]["verdict"], "bricked");
    assert!(!judged["text"].as_str().unwrap().is_empty());
    let database = answer(&json!({ "ask": "session", "name": "opencode.db" }), b"SQLite format 3\0rest");
    assert!(database["error"].as_str().unwrap().contains("`brickbat session opencode.db`"));
    assert_eq!(answer(&json!({ "ask": "session" }), b"{}")["unread"].as_array().unwrap().len(), 1);
}

#[test]
fn bytes_make_histories_and_the_rules_agree_with_their_labels() {
    let dialects =
        ["anthropic-messages", "openai-chat", "openai-responses", "gemini", "bedrock-converse", "mistral"];
    let mut state = 1_u32;
    for n in 0..600_usize {
        let bytes: Vec<u8> = std::iter::repeat_with(|| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        })
        .take(n % 97)
        .collect();
        let kind = ["valid", "repairable", "unrepairable"][n % 3];
        let history = answer(&json!({ "ask": "history", "dialect": dialects[n % 6], "kind": kind }), &bytes);
        let body = history["body"].to_string();
        let checked = answer(&json!({ "ask": "check", "dialect": dialects[n % 6] }), body.as_bytes());
        let is_valid = history["fault"].is_null();
        assert_eq!(checked["verdict"]["verdict"] == "accepted", is_valid, "{history}: {checked}");
        assert!(history["body"][history["list"].as_str().unwrap()].is_array());
        if kind == "valid" {
            assert!(is_valid);
        }
    }
}

/// The compiler refuses `unsafe` blocks and functions here, except where the lint is switched off. That is done on the two
/// exports only.
#[test]
fn only_the_attribute_of_the_exports_is_unsafe() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    assert!(manifest.contains("unsafe_code = \"deny\""));
    let mut code = String::new();
    for entry in std::fs::read_dir(folder.join("src")).unwrap() {
        let path = entry.unwrap().path();
        assert!(path.is_file(), "{}: files in folders are not checked", path.display());
        if !path.ends_with("tests.rs") {
            code.push_str(&std::fs::read_to_string(path).unwrap());
        }
    }
    assert_eq!(unsafe_uses(&code), Ok(2));
    for planted in
        ["unsafe { f() }", "unsafe fn f() {}", "unsafe impl Send for A {}", "#![allow(unsafe_code)]\n"]
    {
        assert!(unsafe_uses(&format!("{code}\n{planted}")).is_err(), "{planted}");
    }
}

/// Counts the exported functions. An error if there is any other `unsafe`.
fn unsafe_uses(code: &str) -> Result<usize, String> {
    const EXPORT: &str = "#[expect(unsafe_code, reason = \"an exported name needs the attribute\")]\n#[unsafe(no_mangle)]\npub extern \"C\" fn ";
    let without_comments =
        code.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
    let rest = without_comments.replace(EXPORT, "");
    match rest.contains("unsafe") {
        true => Err(rest),
        false => Ok(without_comments.matches(EXPORT).count()),
    }
}
