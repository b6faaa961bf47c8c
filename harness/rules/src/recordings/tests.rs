use super::*;
use crate::check::CheckOptions;
use crate::{Profile, Rule};

const STOPPED: &str = r#"{"model":"claude-opus-4-5","messages":[{"role":"user","content":"Rain?"},{"role":"assistant","content":[{"type":"tool_use","id":"w1","name":"weather","input":{}}]},{"role":"user","content":"Well?"}]}"#;
const PLAIN: &str = r#"{"model":"gpt-5","messages":[{"role":"user","content":"Rain?"}]}"#;

fn judged(exchange: &Exchange) -> Comparison {
    compare(exchange, &CompareOptions::default())
}

/// The agreement if both reject because of this rule.
fn refused(rule: &str) -> Agreement {
    Agreement::Refused { rule: Rule::named(rule)[0].id }
}

#[test]
fn cassettes_are_read_with_every_format_of_bodies() {
    let text = format!(
        r#"interactions:
- request:
    body: '{PLAIN}'
    headers: {{ authorization: [Bearer x] }}
    method: POST
    uri: https://api.openai.com/v1/chat/completions?x=1
  response:
    body: {{ string: '{{}}' }}
    status: {{ code: 200, message: OK }}
- request:
    parsed_body:
      messages:
      - {{ role: user, content: "Rain?" }}
      model: gpt-5
    uri: https://api.openai.com/v1/chat/completions
  response:
    parsed_body: {{ error: {{ message: "no  such\nthing" }} }}
    status: {{ code: 400, message: Bad Request }}
- request:
    body: {{ base64_string: "{}" }}
    uri: https://api.openai.com/v1/chat/completions
  response: {{ status_code: 200, body: null }}
version: 1
"#,
        "eyJtZXNzYWdlcyI6W3sicm9sZSI6InVzZXIiLCJjb250ZW50IjoiaGkifV19"
    );
    let exchanges = read(text.as_bytes()).unwrap();
    let lines: Vec<u64> = exchanges.iter().map(|exchange| exchange.line).collect();
    assert_eq!(lines, [2, 10, 19]);
    assert_eq!(exchanges[0].request, PLAIN.as_bytes());
    assert_eq!(
        (exchanges[0].host.as_str(), exchanges[0].path.as_str()),
        ("api.openai.com", "/v1/chat/completions")
    );
    assert_eq!(exchanges[1].error, "no such thing");
    assert_eq!(exchanges[1].model().as_deref(), Some("gpt-5"));
    assert_eq!(exchanges[2].request, br#"{"messages":[{"role":"user","content":"hi"}]}"#);
    assert_eq!(
        judged(&exchanges[0]),
        Comparison::Judged(Profile::newest(Dialect::OpenaiChat).name, Agreement::Accepted)
    );
}

#[test]
fn a_har_and_a_row_are_read() {
    let har = serde_json::json!({ "log": { "entries": [
        {
            "request": { "method": "POST", "url": "https://api.anthropic.com/v1/messages", "postData": { "text": STOPPED } },
            "response": { "status": 400, "content": { "text": "{\"error\":{\"message\":\"no result\"}}" } },
        },
        {
            "request": { "method": "GET", "url": "https://api.anthropic.com/v1/models" },
            "response": { "status": 200, "content": {} },
        },
    ] } });
    let exchanges = read(format!("{har:#}").as_bytes()).unwrap();
    assert_eq!(exchanges[0].error, "no result");
    assert_eq!(
        judged(&exchanges[0]),
        Comparison::Judged(Profile::newest(Dialect::AnthropicMessages).name, refused("tool-result-missing"))
    );
    assert_eq!(judged(&exchanges[1]), Comparison::NoReply);
    assert!(exchanges[1].line > exchanges[0].line + 1);

    let line = format!(
        r#"{{"dialect":"anthropic-messages","host":"api.anthropic.com","model":"m","status":200,"request":{STOPPED},"error":null}}"#
    );
    let exchange = row(line.as_bytes(), 7).unwrap();
    assert_eq!((exchange.line, exchange.model().as_deref()), (7, Some("m")));
    let rule = Rule::find("ANT-TU-1").unwrap().id;
    let Comparison::Judged(_, Agreement::TooStrict { rule: found, .. }) = judged(&exchange) else { panic!() };
    assert_eq!(found, rule);
}

#[test]
fn rejections_are_classified_by_their_reason() {
    let refused = |status, error: &str| {
        let request = PLAIN.as_bytes().to_vec();
        let exchange = Exchange {
            request,
            status,
            error: error.to_owned(),
            ..Exchange::at("https://api.openai.com/v1/chat/completions")
        };
        match judged(&exchange) {
            Comparison::Judged(_, agreement) => agreement,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(refused(400, "messages[1] is wrong"), Agreement::TooLax);
    assert_eq!(refused(429, "slow down"), Agreement::SomethingElse);
    assert_eq!(refused(401, "who are you"), Agreement::SomethingElse);
    assert_eq!(refused(400, "The provided model identifier is invalid."), Agreement::SomethingElse);
}

#[test]
fn the_path_decides_the_dialect_before_the_body() {
    let spoken =
        |url: &str, body: &str| Exchange { request: body.as_bytes().to_vec(), ..Exchange::at(url) }.spoken();
    assert_eq!(spoken("https://a.b/v1/messages", PLAIN), Spoken::Dialect(Dialect::AnthropicMessages));
    assert_eq!(
        spoken("https://a.b/openai/v1/chat/completions", STOPPED),
        Spoken::Dialect(Dialect::OpenaiChat)
    );
    assert_eq!(spoken("https://a.b/v1/messages/count_tokens", STOPPED), Spoken::NoReply);
    assert_eq!(spoken("https://a.b/v1/embeddings", r#"{"input":"hi"}"#), Spoken::NoReply);
    assert_eq!(
        spoken("https://a.b/v1/publishers/x/models/claude:rawPredict", STOPPED),
        Spoken::Dialect(Dialect::AnthropicMessages)
    );
    let model = Exchange::at("https://h/v1beta/models/gemini-2.5-flash:generateContent");
    assert_eq!(model.model().as_deref(), Some("gemini-2.5-flash"));
}

#[test]
fn an_invalid_recording_is_reported_with_its_line() {
    let line = |text: &str| read(text.as_bytes()).unwrap_err();
    assert_eq!(line("{\n\"interactions\": [{}]}").line, Some(2));
    assert!(line("{}").words.contains("neither a HAR"));
    assert!(line("interactions:\n- request: {}\n  response: {}\n").words.contains("`uri`"));
    assert!(line("hello").words.contains("not a cassette"));
    assert!(line("").words.contains("not a cassette"));
    assert!(line("{").words.contains("not JSON"));
    let bomb = format!(
        "a: &a [x,x,x,x,x,x,x,x,x]\n{}",
        (0..9).map(|n| format!("b{n}: &b{n} [*a,*a,*a,*a,*a,*a,*a,*a,*a]\n")).collect::<String>()
    );
    assert!(read(bomb.as_bytes()).is_err());
    assert!(read(&[b'[', 0xff, 0xfe]).is_err());
    assert!(row(br#"{"request":{}}"#, 3).unwrap_err().words.contains("status"));
}

#[test]
fn base64_is_decoded() {
    assert_eq!(base64::decode("aGk=").as_deref(), Some(b"hi".as_slice()));
    assert_eq!(base64::decode("aGkh").as_deref(), Some(b"hi!".as_slice()));
    assert_eq!(base64::decode("aG\nkh").as_deref(), Some(b"hi!".as_slice()));
    assert_eq!(base64::decode("aGk=x"), None);
    assert_eq!(base64::decode("a"), None);
    assert_eq!(base64::decode("{}"), None);
}

#[test]
fn a_rule_for_some_models_reads_the_model_in_the_path() {
    let request = r#"{"contents":[{"role":"user","parts":[{"text":"Rain?"}]},{"role":"model","parts":[{"functionCall":{"name":"weather","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"weather","response":{"rain":true}}}]}]}"#;
    let of = |host: &str, model: &str, status| {
        let url = format!("https://{host}/v1beta/models/{model}:generateContent");
        judged(&Exchange { request: request.into(), status, ..Exchange::at(&url) })
    };
    let google = "generativelanguage.googleapis.com";
    let newest = Profile::newest(Dialect::Gemini).name;
    assert_eq!(
        of(google, "gemini-3-flash-preview", 400),
        Comparison::Judged(newest, refused("thought-signature-missing"))
    );
    assert_eq!(of(google, "gemini-2.5-flash", 200), Comparison::Judged(newest, Agreement::Accepted));
    let Comparison::Judged(profile, _) =
        of("europe-west4-aiplatform.googleapis.com", "gemini-2.5-flash", 200)
    else {
        panic!("it was not judged");
    };
    assert!(profile.starts_with("vertex-gemini@"), "{profile}");
}

#[test]
fn a_host_is_judged_only_by_its_own_profile() {
    let of = |host: &str| {
        let exchange =
            Exchange { host: host.to_owned(), status: 200, request: PLAIN.into(), ..Exchange::default() };
        judged(&exchange)
    };
    let Comparison::Judged(profile, _) = of("api.groq.com") else { panic!("it was not judged") };
    assert!(profile.starts_with("groq@"));
    // A provider's name within another host means nothing.
    for host in ["groq.example.org", "localhost:8787", "ollama.com"] {
        assert_eq!(of(host), Comparison::NoProfile(Dialect::OpenaiChat), "{host}");
    }
    let newest = Profile::newest(Dialect::OpenaiChat).name;
    assert_eq!(of(""), Comparison::Judged(newest, Agreement::Accepted));
}

/// A HAR, a cassette in two spellings, a row and a command.
#[test]
fn the_version_in_the_header_selects_the_profile_in_every_kind_of_recording() {
    let body = r#"{"model":"claude-sonnet-5","max_tokens":9,"temperature":1,"messages":[{"role":"user","content":"hi"}]}"#;
    let url = "https://api.anthropic.com/v1/messages";
    let quoted = serde_json::Value::from(body);
    let judged_at = |version: &str| {
        let texts = [
            format!(
                r#"{{"log":{{"entries":[{{"request":{{"url":"{url}","headers":[{{"name":"x","value":"y"}},{{"name":"Anthropic-Version","value":"{version}"}}],"postData":{{"text":{quoted}}}}},"response":{{"status":200}}}}]}}}}"#
            ),
            format!(
                "interactions:\n- request:\n    uri: {url}\n    headers:\n      anthropic-version:\n      - '{version}'\n    \
                 body: '{body}'\n  response:\n    status: 200\n"
            ),
            format!(
                "interactions:\n- request:\n    url: {url}\n    headers:\n      Anthropic-Version: '{version}'\n    \
                 body: '{body}'\n  response:\n    status: 200\n"
            ),
            format!(
                r#"{{"url":"{url}","headers":{{"anthropic-version":"{version}"}},"status":200,"request":{body}}}"#
            ),
        ];
        let mut exchanges: Vec<Exchange> =
            texts.iter().flat_map(|text| read(text.as_bytes()).unwrap()).collect();
        let command = format!("curl {url} -H 'anthropic-version: {version}' -d '{body}'");
        exchanges.extend(
            pasted(command.as_bytes(), &CheckOptions::default()).into_iter().map(|found| found.exchange),
        );
        assert_eq!(exchanges.len(), 5);
        exchanges.iter().map(judged).collect::<Vec<_>>()
    };
    for found in judged_at("2026-10-21") {
        let Comparison::Judged(profile, Agreement::TooStrict { rule, .. } | Agreement::Refused { rule }) =
            &found
        else {
            panic!("{found:?}")
        };
        assert!(profile.starts_with("anthropic-messages-2026-10-21@"), "{profile}");
        assert_eq!(*rule, "anthropic-messages/sampling-parameter");
    }
    for found in judged_at("2023-06-01") {
        let Comparison::Judged(profile, agreement) = &found else { panic!("{found:?}") };
        assert!(profile.starts_with("anthropic-messages@"), "{profile}");
        assert!(
            matches!(agreement, Agreement::Accepted | Agreement::TooLax | Agreement::SomethingElse),
            "{found:?}"
        );
    }
}

#[test]
fn claude_behind_invoke_model_is_judged_as_claude() {
    let request = STOPPED.replacen('{', r#"{"anthropic_version":"bedrock-2023-05-31","#, 1);
    for method in ["invoke", "invoke-with-response-stream"] {
        let exchange = Exchange {
            request: request.clone().into(),
            status: 400,
            error: "messages.2: Did not find 1 `tool_result` block(s) at the beginning of this message."
                .into(),
            ..Exchange::at(&format!(
                "https://bedrock-runtime.us-east-1.amazonaws.com/model/us.anthropic.claude-sonnet-4-20250514-v1%3A0/{method}"
            ))
        };
        let Comparison::Judged(profile, agreement) = judged(&exchange) else { panic!("it was not judged") };
        assert!(profile.starts_with("bedrock-anthropic@"), "{profile}");
        assert_eq!(agreement, refused("anthropic-messages/tool-result-missing"));
    }
}

#[test]
fn the_words_of_the_provider_behind_openrouter_are_read() {
    let answer = |metadata: &str| {
        let body = format!(
            r#"{{"error":{{"message":"Provider returned error","code":400,"metadata":{metadata}}},"user_id":"u"}}"#
        );
        let quoted = serde_json::Value::from(body);
        let text = format!(
            r#"{{"log":{{"entries":[{{"request":{{"url":"https://openrouter.ai/api/v1/chat/completions","postData":{{"text":"{{}}"}}}},"response":{{"status":400,"content":{{"text":{quoted}}}}}}}]}}}}"#
        );
        read(text.as_bytes()).unwrap().remove(0).error
    };
    // https://github.com/diegosouzapw/OmniRoute/issues/3044
    let in_json = answer(
        r#"{"raw":"{\"error\":{\"type\":\"invalid_request_error\",\"message\":\"Model 'moonshotai/kimi-k2.6' supports at most 1 image per prompt.\"}}","provider_name":"Crucible"}"#,
    );
    assert_eq!(in_json, "Model 'moonshotai/kimi-k2.6' supports at most 1 image per prompt.");
    // https://github.com/open-webui/computer/issues/293
    let in_words = answer(
        r#"{"raw":"z-ai/glm-5.3-flash is temporarily rate-limited upstream.","provider_name":"BaseTen"}"#,
    );
    assert_eq!(in_words, "z-ai/glm-5.3-flash is temporarily rate-limited upstream.");
    for without in ["{}", r#"{"raw":""}"#, r#"{"raw":7}"#, r#"{"raw":null,"provider_name":"x"}"#] {
        assert_eq!(answer(without), "Provider returned error", "{without}");
    }
    // The SDK leaves out the envelope: https://github.com/NousResearch/hermes-agent/pull/94199
    let row = r#"{"host":"openrouter.ai","status":400,"request":{},"error":{"message":"Provider returned error","metadata":{"raw":"{\"message\":\"too many images\"}"}}}"#;
    assert_eq!(read(row.as_bytes()).unwrap()[0].error, "too many images");
}

#[test]
fn a_rejection_in_our_words_is_about_the_history() {
    let prefill = r#"{"model":"claude-sonnet-5","messages":[{"role":"user","content":"Rain?"},{"role":"assistant","content":"It"}]}"#;
    let of = |error: &str| {
        let exchange = Exchange {
            request: prefill.into(),
            status: 400,
            error: error.to_owned(),
            ..Exchange::at("https://api.anthropic.com/v1/messages")
        };
        match judged(&exchange) {
            Comparison::Judged(_, agreement) => agreement,
            other => panic!("{other:?}"),
        }
    };
    let sentence = "This model does not support assistant message prefill. The conversation must end with a user message.";
    assert_eq!(of(sentence), refused("anthropic-messages/prefill-not-supported"));
    assert_eq!(of(&format!("Bad request: {sentence}")), refused("anthropic-messages/prefill-not-supported"));
    assert_eq!(of("This model does not support images."), Agreement::SomethingElse);
    assert_eq!(of("messages: wrong"), refused("anthropic-messages/prefill-not-supported"));
}

#[test]
fn a_cause_is_listed_once_with_its_count_and_every_place() {
    let mut table = Table::default();
    let of = |line, request: &str, status, error: &str| Exchange {
        line,
        request: request.into(),
        status,
        error: error.to_owned(),
        ..Exchange::at("https://api.openai.com/v1/chat/completions")
    };
    for line in 1..=300 {
        let error = format!("Invalid 'messages[{line}]': no such thing as call_{line}.");
        table.add("a", &of(line, PLAIN, 400, &error), judged(&of(line, PLAIN, 400, &error)));
    }
    let other = of(301, PLAIN, 400, "Other words.");
    table.add("a", &other, judged(&other));
    let json = table.to_json();
    let causes = json["disagreements"].as_array().unwrap();
    assert_eq!(causes.iter().map(|cause| &cause["count"]).collect::<Vec<_>>(), [300, 1]);
    assert_eq!(causes[0]["places"].as_array().unwrap().len(), 300);
    assert_eq!((&causes[0]["place"], &json["unlisted"]), (&"a:1".into(), &0.into()));
    let text = table.to_text();
    assert!(text.contains("300 with this cause, also a:2, a:3, a:4, a:5, a:6 and 294 more"), "{text}");
}

#[test]
fn a_table_counts_unjudged_exchanges_and_results_by_rule() {
    let mut table = Table::default();
    let url = "https://api.anthropic.com/v1/messages";
    let exchange =
        |url: &str, request: &str, status| Exchange { request: request.into(), status, ..Exchange::at(url) };
    for exchange in [
        exchange(url, STOPPED, 400),
        exchange(url, STOPPED, 200),
        exchange("http://localhost:8787/v1/messages", STOPPED, 200),
        exchange("https://api.openai.com/v1/conversations", "{}", 200),
        exchange("", r#"[{"role":"user","content":"hi"}]"#, 200),
    ] {
        table.add("a", &exchange, judged(&exchange));
    }
    let json = table.to_json();
    let rule = Rule::named("anthropic-messages/tool-result-missing")[0].id;
    assert_eq!(json["rules"], serde_json::json!([{ "rule": rule, "agreed": 1, "contradicted": 1 }]));
    let unknown = serde_json::json!([
        { "host": "localhost:8787", "dialect": "anthropic-messages", "requests": 1 }
    ]);
    assert_eq!((&json["no_profile"], &json["unclear"]), (&unknown, &serde_json::json!(1)));
    assert_eq!(json["not_spoken"]["OpenAI Conversations"], 1);
    assert_eq!((table.n_judged(), table.n_seen()), (2, 5));
    let words = "1 requests in anthropic-messages to localhost:8787: no profile known, not judged";
    assert!(table.to_text().contains(words), "{}", table.to_text());
}
