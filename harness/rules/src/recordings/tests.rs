use super::*;
use crate::{Profile, Rule};

const STOPPED: &str = r#"{"model":"claude-opus-4-5","messages":[{"role":"user","content":"Rain?"},{"role":"assistant","content":[{"type":"tool_use","id":"w1","name":"weather","input":{}}]},{"role":"user","content":"Well?"}]}"#;
const PLAIN: &str = r#"{"model":"gpt-5","messages":[{"role":"user","content":"Rain?"}]}"#;

fn judged(exchange: &Exchange) -> Comparison {
    compare(exchange, &CompareOptions::default())
}

#[test]
fn cassettes_are_read_however_they_write_bodies() {
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
        Comparison::Judged(Profile::newest(Dialect::AnthropicMessages).name, Agreement::Refused)
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
fn refusals_are_sorted_by_what_they_are_about() {
    let refused = |status, error: &str| {
        let request = PLAIN.as_bytes().to_vec();
        let exchange = Exchange {
            request,
            status,
            error: error.to_owned(),
            ..Exchange::at("https://h/v1/chat/completions")
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
fn the_path_tells_the_dialect_before_the_body() {
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
fn what_is_no_recording_is_told_with_its_line() {
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
fn the_model_is_read_from_the_path() {
    let model = |url: &str| Exchange::at(url).model().map(std::borrow::Cow::into_owned);
    let gemini = "https://aiplatform.googleapis.com/v1beta1/publishers/google/models/gemini-3-flash-preview";
    assert_eq!(model(&format!("{gemini}:generateContent")).as_deref(), Some("gemini-3-flash-preview"));
    let bedrock = "https://bedrock-runtime.us-east-1.amazonaws.com/model";
    for id in ["us.amazon.nova-pro-v1%3A0", "us.amazon.nova-pro-v1:0"] {
        let path = format!("{bedrock}/{id}/converse");
        assert_eq!(model(&path).as_deref(), Some("us.amazon.nova-pro-v1:0"));
    }
    assert_eq!(
        model(&format!("{bedrock}/arn%3Aaws%3Abedrock%2Fx1%/converse-stream")).as_deref(),
        Some("arn:aws:bedrock/x1%")
    );
    assert_eq!(model("https://api.openai.com/v1/chat/completions"), None);
}

#[test]
fn a_rule_that_binds_for_some_models_knows_the_one_of_the_path() {
    let request = r#"{"contents":[{"role":"user","parts":[{"text":"Rain?"}]},{"role":"model","parts":[{"functionCall":{"name":"weather","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"weather","response":{"rain":true}}}]}]}"#;
    let of = |host: &str, model: &str, status| {
        let url = format!("https://{host}/v1beta/models/{model}:generateContent");
        judged(&Exchange { request: request.into(), status, ..Exchange::at(&url) })
    };
    let google = "generativelanguage.googleapis.com";
    let newest = Profile::newest(Dialect::Gemini).name;
    assert_eq!(of(google, "gemini-3-flash-preview", 400), Comparison::Judged(newest, Agreement::Refused));
    assert_eq!(of(google, "gemini-2.5-flash", 200), Comparison::Judged(newest, Agreement::Accepted));
    let Comparison::Judged(profile, _) =
        of("europe-west4-aiplatform.googleapis.com", "gemini-2.5-flash", 200)
    else {
        panic!("it was not judged");
    };
    assert!(profile.starts_with("vertex-gemini@"), "{profile}");
}

#[test]
fn an_unknown_host_is_as_strict_as_the_dialect() {
    let of = |host: &str| {
        let exchange =
            Exchange { host: host.to_owned(), status: 200, request: PLAIN.into(), ..Exchange::default() };
        match judged(&exchange) {
            Comparison::Judged(profile, _) => profile,
            other => panic!("{other:?}"),
        }
    };
    assert!(of("api.groq.com").starts_with("groq@"));
    // The name of a provider somewhere in a host says nothing.
    assert_eq!(of("groq.example.org"), Profile::newest(Dialect::OpenaiChat).name);
    assert_eq!(of("localhost:8787"), Profile::newest(Dialect::OpenaiChat).name);
}
