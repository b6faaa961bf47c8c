use super::*;

const START: Start = Start { line: 1, offset: 0 };

fn judged(text: &str) -> CheckedRequest {
    check(text.as_bytes(), START, &CheckOptions::default()).expect("it is a request")
}

fn lines(finding: &Finding) -> Vec<&str> {
    finding.excerpt.lines.iter().map(|line| line.text.as_str()).collect()
}

fn marked(finding: &Finding) -> String {
    let line = finding.excerpt.lines.iter().find(|line| line.marked.is_some()).expect("a line is marked");
    let range = line.marked.clone().expect("it is marked");
    line.text.chars().skip(range.start).take(range.len()).collect()
}

const STOPPED: &str = r#"{"model":"claude-opus-4-5","messages":[{"role":"user","content":"Rain?"},{"role":"assistant","content":[{"type":"text","text":"I look."},{"type":"tool_use","id":"w1","name":"weather","input":{"place":"a town with quite a long name, longer than anyone would want"}}]},{"role":"user","content":"Well?"}]}"#;

#[test]
fn an_excerpt_shows_a_block_within_one_long_line() {
    let checked = judged(STOPPED);
    let finding = &checked.findings[0];
    assert_eq!((checked.status, finding.level), (Some(400), Level::Refused));
    assert_eq!(finding.pointer, "/messages/1/content/1");
    assert_eq!(
        (finding.place.line, finding.place.column),
        (1, STOPPED.find("{\"type\":\"tool_use").unwrap() as u64 + 1)
    );
    assert_eq!(
        lines(finding),
        [
            "messages[0] user: \"Rain?\"",
            "messages[1] assistant: {",
            "  \"role\": \"assistant\",",
            "  \"content\": [",
            "    { \"type\": \"text\", \"text\": \"I look.\" },",
            "    { \"type\": \"tool_use\", \"id\": \"w1\", \"name\": \"weather\", \"input\": { \"place\": \"a town with quite a long name, longer than anyon…\" } }",
            "  ]",
            "}",
            "messages[2] user: \"Well?\"",
        ]
    );
    assert!(marked(finding).starts_with("{ \"type\": \"tool_use\""), "{}", marked(finding));
}

#[test]
fn the_header_of_a_recorded_request_selects_the_version_of_the_api() {
    let row = |version: &str| {
        let body = r#"{"model":"claude-opus-5-5","max_tokens":9,"temperature":1,"messages":[{"role":"user","content":"a"}]}"#;
        format!(
            r#"{{"host":"api.anthropic.com","headers":{{"anthropic-version":"{version}"}},"request":{body}}}"#
        )
    };
    let first = judged(&row("2023-06-01"));
    assert!(first.findings.is_empty());
    let newer = judged(&row("2026-10-21"));
    assert_eq!(newer.findings[0].rule.id, "anthropic-messages/sampling-parameter");
}

#[test]
fn places_refer_to_the_file() {
    let text = format!("\n  {STOPPED}");
    let start = Start { line: 7, offset: 1000 };
    let checked = check(text.as_bytes(), start, &CheckOptions::default()).expect("it is a request");
    let place = checked.findings[0].place;
    assert_eq!(place.line, 8);
    let at = text.find("{\"type\":\"tool_use").unwrap();
    assert_eq!((place.offset, place.column), (1000 + at as u64, at as u64));
    assert!(text[at..at + place.length as usize].ends_with("want\"}}"));
}

#[test]
fn places_in_bare_lists_and_rows_refer_to_their_own_text() {
    let body: serde_json::Value = serde_json::from_str(STOPPED).unwrap();
    let list = body["messages"].to_string();
    assert_eq!(judged(&list).findings[0].pointer, "/1/content/1");
    let row = format!("{{\"status\":400,\"request\":{STOPPED}}}");
    let checked = judged(&row);
    let finding = &checked.findings[0];
    assert_eq!(finding.pointer, "/request/messages/1/content/1");
    assert!(row[finding.place.offset as usize..].starts_with("{\"type\":\"tool_use"));
}

#[test]
fn rules_can_be_switched_off_and_denied() {
    let rule = Rule::find("ANT-TU-1").unwrap();
    let off = CheckOptions { off: vec![rule], ..CheckOptions::default() };
    let checked = check(STOPPED.as_bytes(), START, &off).unwrap();
    assert_eq!((checked.status, checked.findings.len()), (None, 0));
    let reused = r#"{"model":"claude-opus-4-5","messages":[{"role":"user","content":"Rain?"},
        {"role":"assistant","content":[{"type":"tool_use","id":"w1","name":"weather","input":{}}]},
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"w1"}]},
        {"role":"assistant","content":[{"type":"tool_use","id":"w1","name":"weather","input":{}}]},
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"w1"}]}]}"#;
    let checked = judged(reused);
    assert_eq!((checked.status, checked.is_denied, checked.count(Level::Warning)), (None, false, 1));
    let deny = CheckOptions { denied: vec![checked.findings[0].rule], ..CheckOptions::default() };
    let checked = check(reused.as_bytes(), START, &deny).unwrap();
    assert_eq!((checked.status, checked.is_denied, checked.count(Level::Denied)), (None, true, 1));
}

#[test]
fn a_text_that_cannot_be_judged_has_a_reason() {
    let why = |text: &str| check(text.as_bytes(), START, &CheckOptions::default()).unwrap_err();
    assert!(matches!(why("{\"messages\":["), CheckError::NotJson(_)));
    assert!(matches!(why(""), CheckError::NotJson(_)));
    assert_eq!(why("{}"), CheckError::NoConversation);
    assert_eq!(why("7"), CheckError::NoConversation);
    assert_eq!(why(r#"[{"role":"user","content":"hi"}]"#), CheckError::NoDialect);
    let options = CheckOptions {
        strictness: Strictness::Profile(Profile::newest(Dialect::OpenaiChat)),
        ..CheckOptions::default()
    };
    assert!(matches!(check(b"{\"messages\":[", START, &options), Err(CheckError::NotJson(_))));
}

#[test]
fn hostile_bodies_give_short_excerpts() {
    let long = "\u{202e}\\u001b[31m".repeat(10_000);
    let block = format!(
        r#"{{"type":"tool_use","id":"{long}","name":"{long}","input":{{"{long}":[{}1]}}}}"#,
        "1,".repeat(10_000)
    );
    let text = format!(
        r#"{{"model":"claude-opus-4-5","messages":[{}{{"role":"assistant","content":[{block},{block}]}},{{"role":"user","content":"Well?"}}]}}"#,
        r#"{"role":"user","content":"hi"},"#.repeat(10_000)
    );
    for finding in judged(&text).findings {
        assert!(finding.excerpt.lines.len() < 40);
        for line in &finding.excerpt.lines {
            assert!(line.text.chars().count() < 400 && !line.text.contains('\u{202e}'), "{}", line.text);
        }
    }
}

#[test]
fn a_sarif_report_and_a_json_report_are_one_document() {
    for format in [CheckFormat::Json, CheckFormat::Sarif] {
        let mut report = CheckReport::new(format, crate::colour::Colour::Plain);
        let mut text = report.begin();
        text += &report.request("a b:c.json", &judged(STOPPED));
        text += &report.unjudged("d.json", Some(3), "it is no JSON");
        text += &report.end_of_file("d.json");
        text += &report.request("e.json", &judged(STOPPED));
        text += &report.end();
        let value: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
        match format {
            CheckFormat::Sarif => {
                let run = &value["runs"][0];
                assert_eq!(run["results"].as_array().map(Vec::len), Some(2));
                let result = &run["results"][0];
                let rule = &run["tool"]["driver"]["rules"][result["ruleIndex"].as_u64().unwrap() as usize];
                assert_eq!(rule["id"], result["ruleId"]);
                assert_eq!(
                    result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
                    "a%20b%3Ac.json"
                );
                assert_eq!(run["invocations"][0]["executionSuccessful"], false);
            }
            _ => {
                assert_eq!(value["requests"].as_array().map(Vec::len), Some(3));
                assert_eq!(value["summary"]["n_refused"], 2);
            }
        }
    }
}

#[test]
fn the_model_name_in_a_recording_does_not_change_the_body() {
    let messages = r#""messages":[{"role":"user","content":"Rain?"},{"role":"assistant","content":"It"}]"#;
    let row =
        |body: &str| format!(r#"{{"model":"claude-sonnet-5","status":200,"request":{{{body}{messages}}}}}"#);
    let options = CheckOptions { dialect: Some(Dialect::AnthropicMessages), ..CheckOptions::default() };
    let status = |text: &str, options: &CheckOptions| check(text.as_bytes(), START, options).unwrap().status;
    assert_eq!(status(&row(""), &options), Some(400));
    let named = row(r#""model":"claude-haiku-4-5","#);
    assert_eq!(status(&named, &options), None);
    let given = CheckOptions { model: Some("claude-sonnet-5".to_owned()), ..options };
    assert_eq!(status(&named, &given), Some(400));
}

#[test]
fn an_unpaired_surrogate_is_rejected_and_shown_in_its_place() {
    for (text, pointer) in [
        (STOPPED.replace("Rain?", r"Rain \ud83d"), "/messages/0/content"),
        (format!(r#"{{"status":400,"request":{}}}"#, STOPPED.replace("Rain?", r"\ude00")), "/request/messages/0/content"),
        (r#"[{"role":"user","content":[{"type":"text","text":"\ud83d\ud83d\ude00"}]},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"b","input":{}}]}]"#.to_owned(), "/0/content/0/text"),
    ] {
        let checked = judged(&text);
        let finding = &checked.findings[0];
        assert_eq!((checked.status, finding.rule.id), (Some(400), "anthropic-messages/body-not-json"), "{text}");
        assert!(finding.message.contains("surrogate in string"), "{}", finding.message);
        assert_eq!((finding.pointer.as_str(), checked.findings.len()), (pointer, 1), "{text}");
        let place = finding.place.offset as usize..(finding.place.offset + finding.place.length) as usize;
        assert!(text[place].contains(r"\ud"), "{text}");
    }
    let options = CheckOptions { strictness: Strictness::Union, ..CheckOptions::default() };
    let chat = r#"{"model":"gpt-5","messages":[{"role":"user","content":"\ud83d"}]}"#;
    let checked =
        check(chat.as_bytes(), START, &CheckOptions { dialect: Some(Dialect::OpenaiChat), ..options });
    assert_eq!(checked.expect("it is a request").findings[0].rule.id, "openai-chat/body-not-json");
    assert_eq!(
        judged(&STOPPED.replace("Rain?", r"\\ud83d \ud83d\ude00")).findings[0].rule.id,
        "anthropic-messages/tool-result-missing"
    );
}

/// Texts alone show no dialect, so the host decides, or the only provider of the model.
#[test]
fn a_conversation_without_signs_is_judged_as_its_host_or_its_model_expects() {
    let judged = |host: &str, body: &str| {
        let address = Address { host: host.to_owned(), ..Address::default() };
        let options = CheckOptions { address, ..CheckOptions::default() };
        check(body.as_bytes(), START, &options).map(|checked| match checked.providers {
            Providers::Profile(profile) => profile.name,
            Providers::Union(_) => "union",
        })
    };
    let of_model = |model: &str| {
        format!(
            r#"{{"model":"{model}","messages":[{{"role":"user","content":"a"}},{{"role":"assistant","content":"b"}}]}}"#
        )
    };
    let list = r#"[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]"#;
    assert!(judged("api.anthropic.com", list).unwrap().starts_with("anthropic-messages@"));
    assert!(judged("", list).is_err());
    let compacted = r#"{"model":"o","input":[{"type":"compaction","encrypted_content":"gAAAAA"}]}"#;
    for (host, body, profile) in [
        ("api.deepseek.com", of_model("x"), "deepseek@"),
        ("", of_model("deepseek-v4-pro"), "deepseek@"),
        ("api.anthropic.com", of_model("x"), "anthropic-messages@"),
        ("openrouter.ai", of_model("some/model"), "openrouter@"),
        ("api.mistral.ai", of_model("voxtral-small"), "mistral@"),
        ("api.openai.com", compacted.to_owned(), "openai-responses@"),
    ] {
        let name = judged(host, &body).unwrap();
        assert!(name.starts_with(profile), "{host} {body}: {name}");
    }
    // Several dialects of the first host have `messages`, and no provider accepts the parts of a framework.
    let of_framework = r#"{"messages":[{"role":"user","parts":[{"type":"text","text":"a"}]}]}"#;
    let hosts = ["bedrock-runtime.us-east-1.amazonaws.com", "api.deepseek.com", "example.org"];
    for (host, body) in hosts.into_iter().zip([of_model("x"), of_framework.to_owned(), of_model("x")]) {
        assert_eq!(judged(host, &body), Err(CheckError::NoDialect), "{host}");
    }
}
