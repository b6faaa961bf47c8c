use super::*;
use crate::Api;

#[test]
fn a_curl_command_is_read_as_a_shell_reads_it() {
    let address = "api.example.com/v1/messages".to_owned();
    let quoted = BODY.replace('\'', "'\\''");
    let doubled = BODY.replace('"', "\\\"");
    for text in [
        format!("curl https://{address} \\\n  -H 'x-api-key: $KEY' \\\n  -d '{quoted}'"),
        format!("curl -X POST --url https://{address} --data-raw \"{doubled}\" | jq ."),
        format!("$ curl -sS --json '{quoted}' 'https://{address}?beta=true'"),
        format!("Try this:\n\n```sh\ncurl https://{address} --data='{quoted}'\n```\n"),
        format!("curl https://{address} -d $'{}'", BODY.replace('\'', "\\'")),
    ] {
        assert_eq!(found(&text), [("the curl command".to_owned(), address.clone(), body())], "{text}");
    }
    assert_eq!(found("curl https://api.example.com -d @body.json"), []);
    assert_eq!(found("curl 'unclosed"), []);
}

/// People leave the scheme out, or write a variable.
#[test]
fn a_curl_command_may_have_no_scheme_or_no_host() {
    for (address, host, dialect) in [
        ("api.mistral.ai/v1/chat/completions", "api.mistral.ai", Dialect::Mistral),
        ("localhost:8000/v1/chat/completions", "localhost:8000", Dialect::OpenaiChat),
        ("\"$HOST/v1/chat/completions\"", "", Dialect::OpenaiChat),
        ("${BASE_URL}/v1/messages", "", Dialect::AnthropicMessages),
        ("'{base_url}/v1/responses'", "", Dialect::OpenaiResponses),
        ("'<vllm server>/v1/chat/completions'", "", Dialect::OpenaiChat),
        ("https://$HOST/v1/chat/completions", "", Dialect::OpenaiChat),
    ] {
        let text = format!("curl -X POST {address} -H 'a: b/c' -d '{}'", BODY.replace('\'', "'\\''"));
        let [one] = &pasted(text.as_bytes(), &CheckOptions::default())[..] else { panic!("{text}") };
        let address = one.exchange.address();
        assert_eq!((address.host.as_str(), address.api()), (host, Some(Api::Spoken(dialect))), "{text}");
    }
}

/// LiteLLM's debug output has only the address of the API and a dictionary of Python's between single quotes
/// (<https://github.com/BerriAI/litellm/issues/8014>).
#[test]
fn the_dictionary_in_a_logged_curl_command_is_read() {
    let logged = |body: &str| {
        format!(
            "POST Request Sent from LiteLLM:\ncurl -X POST \\\nhttps://api.openai.com/v1/ \\\n-d '{body}'\n\n"
        )
    };
    let whole = logged(
        "{'model': 'm', 'messages': [{'role': 'user', 'content': \"Hi, it's me.\"}], 'extra_body': {}}",
    );
    let cut = &whole[..whole.find(" me.").unwrap()];
    let place = "the curl command, read as a literal of a program because it is not JSON";
    let Searched { found: read, unread, .. } =
        searched(format!("{whole}{cut}").as_bytes(), &CheckOptions::default());
    assert_eq!(read.len(), 1, "{read:?}");
    assert_eq!((read[0].place.as_str(), read[0].exchange.host.as_str()), (place, "api.openai.com"));
    let request: Value = serde_json::from_slice(&read[0].exchange.request).unwrap();
    assert_eq!(request["messages"], body()["messages"]);
    assert_eq!(unread, [Unread { line: 9, why: Unreadable::Cut }]);
}
