//! The server and the model for which `brickbat check` judges: those that are named, or those of a recording.

#![expect(clippy::unwrap_used, reason = "a test may fail anywhere, also outside its own function")]

use std::fs;

use crate::program::{Said, brickbat, folder_of, report};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A reply with a field that OpenAI accepts and a few compatible providers do not.
const CHAT: &str = r#"{"messages":[{"role":"user","content":"Rain?"},{"role":"assistant","content":"I look.","reasoning_content":"Rain.","tool_calls":[{"id":"call_a","type":"function","function":{"name":"weather","arguments":"{}"}}]},{"role":"tool","tool_call_id":"call_a","content":"yes"}]}"#;
/// A call without a signature, which only Gemini 3 rejects.
const UNSIGNED: &str = r#"{"contents":[{"role":"user","parts":[{"text":"Rain?"}]},{"role":"model","parts":[{"functionCall":{"name":"weather","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"weather","response":{"rain":true}}}]}]}"#;
const MISSING: &str = "gemini/thought-signature-missing";
const BAD: &str = r#"{"model":"claude-opus-4-5","messages":[{"role":"user","content":"Rain?"},{"role":"assistant","content":[{"type":"tool_use","id":"w1","name":"weather","input":{}}]},{"role":"user","content":"Well?"}]}"#;

fn said(folder: &TempDir, args: &[&str]) -> Said {
    brickbat(folder.path(), args, &[])
}

/// The requests of `check --format json`.
fn judged(folder: &TempDir, args: &[&str]) -> (Option<i32>, Vec<Value>) {
    let said = said(folder, &[&["check", "--format", "json"], args].concat());
    let path = folder.path().join("said.txt");
    fs::write(&path, &said.out).unwrap();
    (said.code, report(&path)["requests"].as_array().unwrap().clone())
}

#[test]
fn the_host_selects_the_profile() {
    let folder = folder_of(&[("chat.json", CHAT)]);
    let profile = |host: &str| {
        let (code, requests) = judged(&folder, &["--host", host, "chat.json"]);
        (code, requests[0]["profile"].as_str().unwrap_or_default().to_owned(), requests[0].clone())
    };
    let (code, name, request) = profile("api.groq.com");
    assert!(code == Some(1) && name.starts_with("groq@"), "{request}");
    assert_eq!((&request["profile_by"], &request["host"]), (&json!("host"), &json!("api.groq.com")));
    assert_eq!(request["findings"][0]["rule"], "openai-chat/unknown-message-field");
    assert!(profile("https://API.x.ai/v1/chat/completions").1.starts_with("xai@"));
    let (code, requests) = judged(&folder, &["chat.json"]);
    assert_eq!((code, &requests[0]["profile_by"]), (Some(0), &json!("newest")));
    let unknown = said(&folder, &["check", "--host", "ollama.com", "chat.json"]);
    assert_eq!((unknown.code, unknown.out.as_str()), (Some(2), ""), "{unknown:#?}");
    assert!(
        unknown.err.contains("chat.json: no profile known for openai-chat at ollama.com"),
        "{unknown:#?}"
    );
    assert!(unknown.err.contains("hint: --profile says how strict it is"), "{unknown:#?}");
    for args in [["--host", "a b"], ["--host", ""]] {
        assert_eq!(said(&folder, &[&["check", "chat.json"][..], &args].concat()).code, Some(2));
    }
    let both = ["check", "--host", "api.x.ai", "--profile", "xai", "chat.json"];
    assert_eq!(said(&folder, &both).code, Some(2));
}

#[test]
fn rules_that_depend_on_the_model_say_so_or_bind() {
    let folder = folder_of(&[("a.json", UNSIGNED), ("chat.json", CHAT)]);
    let unknown = said(&folder, &["check", "a.json"]);
    assert_eq!(unknown.code, Some(0), "{unknown:#?}");
    assert!(unknown.out.contains(&format!("warning[{MISSING}]")), "{unknown:#?}");
    let note = unknown.out.lines().find(|line| line.starts_with("note: 1 request names no model")).unwrap();
    assert!(note.contains(MISSING) && note.ends_with("--model names it"), "{note}");
    let google = "https://generativelanguage.googleapis.com/v1beta/models/gemini-3-flash:generateContent";
    for args in [["--model", "gemini-3-pro-preview"], ["--host", google]] {
        let new = said(&folder, &[&["check", "a.json"][..], &args].concat());
        assert_eq!(new.code, Some(1), "{new:#?}");
        assert!(new.out.contains(&format!("error[{MISSING}]")) && !new.out.contains("no model"), "{new:#?}");
    }
    let old = said(&folder, &["check", "--model", "gemini-2.5-pro", "--host", google, "a.json"]);
    assert_eq!((old.code, old.out.contains("warning")), (Some(0), false), "{old:#?}");
    let relatives = said(&folder, &["check", "chat.json"]);
    assert!(
        relatives
            .out
            .contains("note: 1 request names no host, so the dialect's own provider judged (openai-chat@")
    );
    let (_, requests) = judged(&folder, &["a.json"]);
    assert!(requests[0]["rules_by_model"].as_array().unwrap().contains(&json!(MISSING)));
}

#[test]
fn a_model_is_given_to_a_bare_list_and_to_a_body_of_another() {
    let list = r#"[{"role":"user","content":"Rain?"},{"role":"assistant","content":"It"}]"#;
    let body = format!(r#"{{"model":"claude-haiku-4-5","max_tokens":9,"messages":{list}}}"#);
    let folder = folder_of(&[("list.json", list), ("body.json", &body)]);
    for file in ["list.json", "body.json"] {
        for profile in ["anthropic-messages", "union"] {
            let check = |model: &str| {
                let dialect = "anthropic-messages";
                let args = ["check", file, "--dialect", dialect, "--profile", profile, "--model", model];
                said(&folder, &args)
            };
            assert_eq!(check("claude-haiku-4-5").code, Some(0), "{file}");
            let new = check("claude-sonnet-5");
            assert_eq!(new.code, Some(1), "{new:#?}");
            assert!(new.out.contains("anthropic-messages/prefill-not-supported"), "{new:#?}");
        }
    }
}

#[test]
fn rows_name_their_host_and_model() {
    let row = |rest: &str, body: &str| format!(r#"{{{rest},"status":200,"request":{body}}}"#);
    let rows = [
        row(r#""dialect":"gemini","model":"gemini-3-pro-preview""#, UNSIGNED),
        row(r#""host":"api.groq.com""#, CHAT),
        row(r#""url":"https://api.x.ai/v1/chat/completions","model":"grok-4""#, CHAT),
        row(r#""host":"llm.acme.dev:8787""#, CHAT),
        row(r#""dialect":"cohere-v2""#, r#"{"messages":[]}"#),
    ];
    let folder = folder_of(&[("rows.jsonl", &rows.join("\n"))]);
    let (code, requests) = judged(&folder, &["rows.jsonl"]);
    assert_eq!(code, Some(2));
    let of = |field: &str| requests.iter().map(|request| request[field].clone()).collect::<Vec<Value>>();
    assert_eq!(of("verdict"), ["refused", "refused", "accepted", "unjudged", "unjudged"]);
    assert_eq!(requests[0]["findings"][0]["rule"], MISSING);
    assert_eq!((&requests[2]["host"], &requests[2]["model"]), (&json!("api.x.ai"), &json!("grok-4")));
    assert!(
        requests[3]["reason"]
            .as_str()
            .unwrap()
            .contains("no profile known for openai-chat at llm.acme.dev:8787")
    );
    assert!(requests[4]["reason"].as_str().unwrap().contains("cohere-v2, which Brickbat does not support"));
}

#[test]
fn recordings_are_checked_entry_by_entry() {
    let text = serde_json::to_string(BAD).unwrap();
    let har = format!(
        r#"{{"log":{{"entries":[
{{"request":{{"method":"POST","url":"https://api.anthropic.com/v1/messages","postData":{{"text":{text}}}}},"response":{{"status":400,"content":{{}}}}}},
{{"request":{{"method":"GET","url":"https://api.anthropic.com/v1/models"}},"response":{{"status":200,"content":{{}}}}}},
{{"request":{{"method":"POST","url":"https://api.openai.com/v1/conversations","postData":{{"text":"{{}}"}}}},"response":{{"status":200,"content":{{}}}}}}
]}}}}"#
    );
    let cassette = format!(
        "interactions:\n- request:\n    uri: https://api.anthropic.com/v1/messages\n    body: '{BAD}'\n  response:\n    status: {{ code: 400 }}\nversion: 1\n"
    );
    let folder = folder_of(&[
        ("all/traffic.har", &har),
        ("all/cassette.yaml", &cassette),
        ("all/compose.yml", "services:\n  web: {}\n"),
        ("all/broken.yaml", "a: [\n"),
    ]);
    let told = said(&folder, &["check", "all"]);
    assert_eq!(told.code, Some(2), "{told:#?}");
    for words in [
        "error[anthropic-messages/tool-result-missing]: messages.1: ",
        " --> all/cassette.yaml:2:1 at /messages/1/content/0\n",
        " --> all/traffic.har:2:1 at /messages/1/content/0\n",
        "  | messages[2] user: \"Well?\"\n",
        "all/traffic.har: 1 requests: 0 accepted, 1 refused, 1 not judged, 1 asks for no reply\n",
        "2 other files passed over",
    ] {
        assert!(told.out.contains(words), "{words}\n{told:#?}");
    }
    assert!(
        told.err.contains(
            "all/traffic.har:4 is written for OpenAI Conversations, which Brickbat does not support"
        )
    );
    let (_, requests) = judged(&folder, &["all/traffic.har"]);
    let offset = requests[0]["findings"][0]["place"]["offset"].as_u64().unwrap() as usize;
    assert!(har[offset..].starts_with("{\"request\""), "{requests:#?}");
    let one = said(&folder, &["check", "--model", "claude-sonnet-5", "all/cassette.yaml"]);
    assert_eq!((one.code, one.err.as_str()), (Some(1), ""), "{one:#?}");
}

#[test]
fn a_history_of_a_framework_belongs_to_no_dialect() {
    let session =
        r#"{"messages":[{"kind":"request","parts":[{"part_kind":"user-prompt","content":"Rain?"}]}]}"#;
    let folder = folder_of(&[
        ("session.json", session),
        ("inter.json", r#"{"model":"gemini-3-pro","input":"Rain?"}"#),
    ]);
    let asked = said(&folder, &["check", "session.json"]);
    assert_eq!((asked.code, asked.out.as_str()), (Some(2), ""), "{asked:#?}");
    for words in ["session.json does not show its dialect\n", "\n  gemini: contents of a `role`", "--dialect"]
    {
        assert!(asked.err.contains(words), "{words}\n{asked:#?}");
    }
    let known = said(&folder, &["check", "inter.json"]);
    assert_eq!(known.code, Some(2));
    assert!(known.err.contains("inter.json is written for Gemini Interactions"), "{known:#?}");
}

#[test]
fn a_deeply_nested_body_has_a_verdict() {
    let nested = format!("{}1{}", r#"{"a":"#.repeat(9_000), "}".repeat(9_000));
    let folder = folder_of(&[("deep.json", &BAD.replace(r#""input":{}"#, &format!(r#""input":{nested}"#)))]);
    let told = said(&folder, &["check", "deep.json"]);
    assert_eq!(told.code, Some(1), "{}", told.err);
    assert!(told.out.contains("deep.json: refused by anthropic-messages@"), "{}", told.out);
    assert!(told.out.len() < 4000);
}

#[test]
fn a_stream_is_judged_for_its_host_and_an_unknown_grammar_is_reported() {
    let chunk = |id: &str, delta: &str, finish: &str| {
        format!(
            "data: {{\"id\":\"{id}\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{{\"index\":0,\"delta\":{delta},\"finish_reason\":{finish}}}]}}\n\n"
        )
    };
    let head = chunk("a", r#"{"role":"assistant","content":"Rain."}"#, "null");
    let rotated = format!("{head}{}data: [DONE]\n\n", chunk("b", "{}", r#""stop""#));
    let interaction = "event: interaction.created\ndata: {\"event_type\":\"interaction.created\",\"interaction\":{\"id\":\"v1_a\",\"object\":\"interaction\"}}\n\n";
    let folder = folder_of(&[("rotated.sse", &rotated), ("inter.sse", interaction)]);
    let check = |args: &[&str]| said(&folder, &[&["check", "--stream"], args].concat());
    assert_eq!(check(&["--host", "api.openai.com", "rotated.sse"]).code, Some(1));
    assert_eq!(check(&["--profile", "openai-chat", "rotated.sse"]).code, Some(1));
    let other = check(&["--host", "api.example.ai", "--format", "json", "rotated.sse"]);
    assert_eq!(other.code, Some(0), "{other:#?}");
    let path = folder.path().join("said.json");
    fs::write(&path, &other.out).unwrap();
    assert_eq!(report(&path)["streams"][0]["profile"], Value::Null);
    let unspoken = check(&["--dialect", "gemini", "inter.sse"]);
    assert_eq!(unspoken.code, Some(2), "{unspoken:#?}");
    assert!(
        unspoken
            .err
            .contains("inter.sse is a stream of Gemini Interactions, which Brickbat does not support")
    );
    assert_eq!(check(&["--profile", "union", "rotated.sse"]).code, Some(2));
    assert_eq!(check(&["--profile", "gemini", "--dialect", "openai-chat", "rotated.sse"]).code, Some(2));
}

#[test]
fn explain_says_which_providers_enforce_a_rule_and_how_that_is_known() {
    let folder = folder_of(&[]);
    let page = said(&folder, &["explain", MISSING]).out;
    for words in
        ["First seen 2025-12, ", "Models: Gemini 3 and later.", "Hosts: generativelanguage.googleapis.com, "]
    {
        assert!(page.contains(words), "{words}\n{page}");
    }
}

#[test]
fn the_evidence_of_recordings_is_kept_for_explain() {
    let row = |status: u16| {
        format!(r#"{{"host":"api.anthropic.com","status":{status},"request":{BAD},"error":null}}"#)
    };
    let empty = r#"{"schema":1,"comment":"c","collections":[]}"#;
    let folder =
        folder_of(&[("rows.jsonl", &format!("{}\n{}\n", row(400), row(200))), ("counts.json", empty)]);
    let keep = ["recordings", "--counts", "counts.json", "--source", "ours", "rows.jsonl"];
    for _ in 0..2 {
        assert_eq!(said(&folder, &keep).code, Some(1));
    }
    let counts = report(&folder.path().join("counts.json"));
    let collections = counts["collections"].as_array().unwrap();
    assert_eq!((collections.len(), &collections[0]["source"]), (1, &json!("ours")));
    let rule = &collections[0]["rules"]["anthropic-messages/tool-result-missing"];
    assert_eq!(rule, &json!({ "agreed": 1, "contradicted": 1 }));
    assert_eq!(said(&folder, &["recordings", "--counts", "counts.json", "rows.jsonl"]).code, Some(2));
}

#[test]
fn a_host_that_names_no_provider_does_not_stop_the_judgement() {
    let body = BAD_CALL.replace("MODEL", "deepseek/deepseek-v4-flash");
    let command = format!("curl http://127.0.0.1:8317/v1/chat/completions -d '{body}'\n");
    let folder = folder_of(&[
        ("run.sh", &command),
        (
            "azure.log",
            &format!("POST https://openai.azure.com/openai/deployments/gpt-4o/chat/completions {body}\n"),
        ),
    ]);
    let checked = said(&folder, &["check", "run.sh"]);
    assert!(checked.code == Some(1) && checked.out.contains("refused by deepseek@"), "{checked:#?}");
    let note = "names no host of a provider (127.0.0.1:8317), so the model's own provider judged";
    assert!(checked.out.contains(note), "{checked:#?}");
    let azure = said(&folder, &["check", "azure.log"]);
    assert!(azure.code == Some(1) && azure.out.contains("refused by openai-chat@"), "{azure:#?}");
}

#[test]
fn a_model_of_another_provider_is_named_beside_the_verdict() {
    let body = r#"{"model":"glm-5.3","max_tokens":9,"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"w","input":{}}]},{"role":"user","content":"Well?"}]}"#;
    let folder = folder_of(&[("body.json", body)]);
    let checked = said(&folder, &["check", "body.json"]);
    let note = "glm-5.3 is a model at api.z.ai. The rules there for this dialect are not known";
    assert!(checked.code == Some(1) && checked.out.contains(note), "{checked:#?}");
}

#[test]
fn the_path_of_a_request_chooses_among_the_dialects_of_a_host() {
    let body = r#"{"model":"deepseek-v4-pro","max_tokens":9,"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"w","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"noon"}]}]}"#;
    let to = |url: &str| format!("curl {url} -d '{body}'\n");
    let folder = folder_of(&[
        ("messages.sh", &to("https://api.deepseek.com/anthropic/v1/messages")),
        ("chat.sh", &to("https://api.deepseek.com/v1/chat/completions")),
        (
            "unknown.sh",
            &to("https://api.z.ai/api/anthropic/v1/messages").replace("deepseek-v4-pro", "glm-5.3"),
        ),
        ("body.json", body),
    ]);
    for (file, profile, rule) in [
        ("messages.sh", "deepseek-messages@", "thinking-not-returned"),
        ("chat.sh", "deepseek@", "part-not-text"),
        ("body.json", "deepseek-messages@", "thinking-not-returned"),
    ] {
        let checked = said(&folder, &["check", file]);
        let is_refused = checked.code == Some(1) && checked.out.contains(&format!("refused by {profile}"));
        assert!(is_refused && checked.out.contains(rule), "{file}: {checked:#?}");
    }
    let unknown = said(&folder, &["check", "unknown.sh"]);
    assert!(unknown.out.contains("accepted by anthropic-messages@"), "{unknown:#?}");
    assert!(unknown.err.contains("the strictness of api.z.ai is not known"), "{unknown:#?}");
}

/// A call without a result.
const BAD_CALL: &str = r#"{"model":"MODEL","messages":[{"role":"user","content":"Rain?"},{"role":"assistant","content":"","tool_calls":[{"id":"c","type":"function","function":{"name":"w","arguments":"{}"}}]},{"role":"user","content":"Why?"}]}"#;

#[test]
fn a_model_with_one_provider_is_judged_in_its_dialect() {
    let body = |model: &str| {
        let mut body: Value = serde_json::from_str(CHAT).unwrap();
        body["messages"][1].as_object_mut().unwrap().remove("reasoning_content");
        body["model"] = model.into();
        // A client of OpenAI's sends this field.
        body["parallel_tool_calls"] = true.into();
        body.to_string()
    };
    let folder = folder_of(&[
        ("own.json", &body("mistral-large-latest")),
        ("open.json", &body("mistralai/mistral-large")),
        ("local.json", &body("devstral:24b")),
    ]);
    for (name, profile) in
        [("own.json", "mistral@"), ("open.json", "openai-chat@"), ("local.json", "openai-chat@")]
    {
        let (_, requests) = judged(&folder, &[name]);
        assert!(requests[0]["profile"].as_str().unwrap().starts_with(profile), "{requests:#?}");
    }
    let (_, requests) = judged(&folder, &["--dialect", "openai-chat", "own.json"]);
    assert!(requests[0]["profile"].as_str().unwrap().starts_with("openai-chat@"), "{requests:#?}");
}
