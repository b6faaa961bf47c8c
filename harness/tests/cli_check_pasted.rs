//! `check` and `check --fix` with the texts that people paste or save.

use std::fs;

use serde_json::Value;
use tempfile::TempDir;

use crate::program::{Said, brickbat, folder_of};

const BAD: &str = r#"{"model":"gpt-5","messages":[{"role":"user","content":"Rain?"},{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"weather","arguments":"{}"}}]},{"role":"user","content":"Well?"}]}"#;
const MISSING: &str = "openai-chat/tool-message-missing";

fn said(folder: &TempDir, args: &[&str]) -> Said {
    brickbat(folder.path(), args, &[])
}

fn body() -> Value {
    serde_json::from_str(BAD).expect("the body is JSON")
}

#[test]
fn every_form_is_found_named_and_fixed() {
    let python = BAD.replace("null", "None").replace('"', "'");
    let messages: String =
        body()["messages"].as_array().unwrap().iter().map(|message| format!("{message}\n")).collect();
    let otlp = serde_json::json!({ "attributes": [
        { "key": "gen_ai.request.model", "value": { "stringValue": "gpt-5" } },
        { "key": "gen_ai.input.messages", "value": { "stringValue": serde_json::json!([
            { "role": "user", "parts": [{ "type": "text", "content": "Rain?" }] },
            { "role": "assistant", "parts": [{ "type": "tool_call", "id": "call_1", "name": "weather", "arguments": {} }] },
            { "role": "user", "parts": [{ "type": "text", "content": "Well?" }] },
        ]).to_string() } },
    ] });
    let logged = format!(
        "2026-11-29 DEBUG request body=\"{}\" try=1\n",
        BAD.replace('\\', "\\\\").replace('"', "\\\"")
    );
    let langfuse = format!("{{\"observations\":[{{\"model\":\"gpt-5\",\"input\":{}}}]}}", body()["messages"]);
    for (name, text, place) in [
        ("dump.txt", format!("payload = {python}\n"), Some("at line 1")),
        ("run.py", format!("r = client.chat.completions.create(**{python})\n"), Some("at line 1")),
        ("messages.jsonl", messages, None),
        ("span.json", otlp.to_string(), Some("at /attributes, and written again as a request")),
        ("app.log", logged, Some("at line 1")),
        ("trace.json", langfuse, Some("at /observations/0/input")),
        (
            "saved.json",
            serde_json::json!({ "response": {}, "request": { "body": BAD } }).to_string(),
            Some("at /request/body"),
        ),
    ] {
        let folder = folder_of(&[(name, &text)]);
        let checked = said(&folder, &["check", name]);
        assert!(checked.code == Some(1) && checked.out.contains(MISSING), "{name}: {checked:#?}");
        assert!(place.is_none_or(|place| checked.err.contains(place)), "{name}: {checked:#?}");
        let fixed = said(&folder, &["check", "--fix", name]);
        assert_eq!(fixed.code, Some(0), "{name}: {fixed:#?}");
        let out = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let out = out.into_iter().find(|name| name.contains(".fixed.")).unwrap();
        let again = said(&folder, &["check", &out]);
        assert_eq!(again.code, Some(0), "{name}: {again:#?}");
        for words in ["Rain?", "Well?"] {
            assert!(fs::read_to_string(folder.path().join(&out)).unwrap().contains(words), "{name}");
        }
        assert_eq!(fs::read_to_string(folder.path().join(name)).unwrap(), text, "{name} was changed");
    }
}

#[test]
fn rows_with_only_texts_do_not_fail_the_others() {
    let plain = r#"{"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello"}]}"#;
    let call = r#"{"messages":[{"role":"user","content":"Rain?"},{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"w","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":"no"},{"role":"assistant","content":"No."}]}"#;
    let folder = folder_of(&[("train.jsonl", &format!("{plain}\n{call}\n{plain}\n"))]);
    let checked = said(&folder, &["check", "train.jsonl"]);
    assert_eq!(checked.code, Some(0), "{checked:#?}");
    assert_eq!(checked.err.matches("rows with only texts show no dialect").count(), 1, "{checked:#?}");
}

#[test]
fn a_session_is_named_once_with_the_command_for_it() {
    let line = r#"{"type":"user","uuid":"1","parentUuid":null,"sessionId":"s","timestamp":"2026-01-01T00:00:00Z","version":"2.1.0","message":{"role":"user","content":"Hi"}}"#;
    let folder = folder_of(&[(
        "s.jsonl",
        &format!("{line}\n{}\n", line.replace("\"1\"", "\"2\"").replace("null", "\"1\"")),
    )]);
    let checked = said(&folder, &["check", "s.jsonl"]);
    assert_eq!(checked.code, Some(2), "{checked:#?}");
    assert_eq!(checked.err.matches("is a session of Claude Code").count(), 1, "{checked:#?}");
    assert!(checked.err.contains("`brickbat session s.jsonl` judges it"), "{checked:#?}");
}

#[test]
fn the_model_chooses_the_provider_and_the_note_says_how_to_choose_another() {
    let lost = r#"{"model":"deepseek-v4-flash","tools":[],"messages":[{"role":"user","content":"Rain?"},{"role":"assistant","content":"","tool_calls":[{"id":"c","type":"function","function":{"name":"w","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":"no"},{"role":"user","content":"Why?"}]}"#;
    let folder = folder_of(&[("lost.json", lost)]);
    let checked = said(&folder, &["check", "lost.json"]);
    assert!(checked.out.contains("refused by deepseek@"), "{checked:#?}");
    assert!(checked.out.contains("the model's own provider judged (deepseek@"), "{checked:#?}");
    assert!(checked.out.contains("--host names another"), "{checked:#?}");
    let other = said(&folder, &["check", "--profile", "openai-chat", "lost.json"]);
    assert_eq!(other.code, Some(0), "{other:#?}");
}

#[test]
fn hostile_texts_end_soon_with_an_error() {
    let folder = TempDir::new().unwrap();
    let (deep, long) = ("[".repeat(10_000), "{\"a".repeat(1 << 20));
    for (name, bytes) in [
        ("deep.json", deep.as_bytes()),
        ("deep.py", "{'a':".repeat(10_000).as_bytes()),
        ("call.py", "f(a=".repeat(10_000).as_bytes()),
        ("long.txt", long.as_bytes()),
        ("bytes.txt", b"{'a': '\xff\xfe'}"),
        ("cut.gz", b"\x1f\x8b\x08\x00\x00"),
        ("cut.zst", b"\x28\xb5\x2f\xfd\x00"),
        ("cut.jsonl", b"{\"role\":\"user\",\"content\":\"a\"}\n{\"role\":\"us"),
    ] {
        fs::write(folder.path().join(name), bytes).unwrap();
        for args in [&["check", name][..], &["check", "--diff", name]] {
            let checked = said(&folder, args);
            assert_eq!(checked.code, Some(2), "{name}: {}", checked.err);
        }
    }
}

#[test]
fn a_part_that_was_left_out_is_reported_with_its_line() {
    let command = "It fails:\n\n```bash\ncurl -s http://127.0.0.1:8080/v1/chat/completions -d '{\n \"model\":\"m\",\"tools\":[...],\n \"messages\": [{\"role\":\"user\",\"content\":}]}'\n```\n";
    let folder = folder_of(&[("issue.md", command)]);
    let checked = said(&folder, &["check", "issue.md"]);
    assert_eq!(checked.code, Some(2), "{checked:#?}");
    assert!(
        checked.err.contains("cannot read issue.md:5: a part of the request is left out"),
        "{checked:#?}"
    );
}

#[test]
fn a_body_that_is_not_json_is_called_so_although_the_host_is_unknown() {
    let command =
        "curl https://llm.example.com/v1/chat/completions -d '{\"model\":\"m\",,\"messages\":[]}'\n";
    let folder = folder_of(&[("run.sh", command)]);
    let checked = said(&folder, &["check", "run.sh"]);
    assert!(checked.err.contains("cannot read run.sh:1 as JSON"), "{checked:#?}");
    assert!(!checked.err.contains("no profile known"), "{checked:#?}");
}
