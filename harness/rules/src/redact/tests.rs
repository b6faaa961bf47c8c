use serde_json::json;

use super::*;

fn clean(text: &str) -> String {
    Redactor::new(["Zq7-planted-in-env", "pa\"ss/w\u{f6}rd9"], Some("/home/ada")).text(text).into_owned()
}

#[test]
fn keys_of_known_shapes_are_taken_out() {
    let digits = "0123456789abcdefABCDEF0123456789abcdefABCDEF";
    for beginning in [
        "sk-ant-api03-",
        "sk-proj-",
        "sk-",
        "AIza",
        "ya29.",
        "ghp_",
        "github_pat_",
        "glpat-",
        "hf_",
        "npm_",
        "xoxb-",
        "xapp-",
        "ABSK",
        "bedrock-api-key-",
    ] {
        let key = format!("{beginning}{digits}");
        for (before, after) in
            [("", ""), ("key=", " and"), ("{\"a\":\"", "\"}"), ("line\\n", "\\n"), ("x%20", "&b")]
        {
            let expected = format!("{before}[redacted]{after}");
            assert_eq!(clean(&format!("{before}{key}{after}")), expected, "{key}");
        }
    }
    assert_eq!(clean("AKIAIOSFODNN7EXAMPLE,"), "[redacted],");
    let base64 = "QmVkcm9ja0FQSUtleS1hYmNkLWF0LTEyMzQ1Njc4OTAxMjpz+/Ab==";
    assert_eq!(clean(&format!("token ABSK{base64}, and")), "token [redacted], and");
    assert_eq!(clean(&format!("{{\"a\":\"bedrock-api-key-{base64}\"}}")), "{\"a\":\"[redacted]\"}");
    assert_eq!(clean("a eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmN b"), "a [redacted] b");
    assert_eq!(clean("Authorization header: Bearer abcdefgh1234"), "Authorization header: Bearer [redacted]");
    assert_eq!(clean("https://ada:pa55@proxy:80/x"), "https://[redacted]@proxy:80/x");
    let pem = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----";
    assert_eq!(clean(&format!("<{pem}>")), "<[redacted]>");
}

#[test]
fn headers_in_a_dump_are_taken_out() {
    assert_eq!(clean("X-Api-Key: abcdefghij\r\nhost: a"), "X-Api-Key: [redacted]\r\nhost: a");
    assert_eq!(clean("{ 'x-api-key': 'abcdefghij', b: 1 }"), "{ 'x-api-key': '[redacted]', b: 1 }");
    assert_eq!(clean(r#"{\"authorization\":\"Basic YTpi\"}"#), r#"{\"authorization\":\"[redacted]\"}"#);
    assert_eq!(clean("GET /x?api_key=abcdefghij&b=1"), "GET /x?api_key=[redacted]&b=1");
}

#[test]
fn what_the_environment_holds_is_taken_out_however_it_is_written() {
    assert_eq!(clean("<Zq7-planted-in-env>"), "<[redacted]>");
    assert_eq!(clean("xZq7-planted-in-envx"), "x[redacted]x");
    assert_eq!(clean("pa\"ss/w\u{f6}rd9"), "[redacted]");
    assert_eq!(clean(r#"{"a":"pa\"ss/wörd9"}"#), r#"{"a":"[redacted]"}"#);
    assert_eq!(clean("q=pa%22ss%2Fw%C3%B6rd9"), "q=[redacted]");
}

#[test]
fn the_home_path_is_shortened() {
    assert_eq!(clean("/home/ada/x.yaml"), "~/x.yaml");
    assert_eq!(clean("in /home/ada."), "in ~.");
    for other in ["/home/adam", "/mnt/home/ada-2", "a/home/ada", "/home/ada.old.txt"] {
        let expected = if other.ends_with(".txt") { "~.old.txt" } else { other };
        assert_eq!(clean(other), expected);
    }
    assert_eq!(Redactor::new([], Some("/")).text("/x"), "/x");
}

#[test]
fn what_is_no_secret_stays() {
    for text in [
        "toolu_01A09q90qw90lq917835lq9",
        "call_3cT0kZ8nWq2mVbX1yLpR5sDf",
        "msg_01cbf29ce48422232500000001",
        "chatcmpl-cbf29ce48422232500000001",
        "req_cbf29ce48422232500000001",
        "invalid x-api-key",
        "sk-learn is a library; task-0123456789abcdefghijklmnop is a task",
        "the bearer of bad news",
        "https://example.org/a@b",
        "http://127.0.0.1:4010/p/7",
        "abort/mid-batch#k=1@anthropic-messages",
        "reference",
    ] {
        assert_eq!(clean(text), text);
    }
    // A stand-in for a key is a word of the report.
    assert_eq!(
        Redactor::new(["reference", "test", "1234567"], None).text("reference test 1234567"),
        "reference test 1234567"
    );
}

#[test]
fn what_is_clean_stays_clean() {
    for text in ["X-Api-Key: abcdefghij", "Bearer abcdefgh1234", "https://ada:pa55@proxy", "/home/ada/x"] {
        let once = clean(text);
        assert_eq!(clean(&once), once);
    }
}

#[test]
fn values_stay_values() {
    let mut value = json!({
        "authorization": "abcdef", "cookie": "chocolate", "n": 1,
        "list": ["Zq7-planted-in-env", { "Zq7-planted-in-env": null }],
    });
    Redactor::new(["Zq7-planted-in-env"], None).value(&mut value);
    let expected = json!({
        "authorization": "[redacted]", "cookie": "chocolate", "n": 1,
        "list": ["[redacted]", { "[redacted]": null }],
    });
    assert_eq!(value, expected);
}

#[test]
fn headers_with_credentials_are_taken_out_whole() {
    let redactor = Redactor::default();
    for name in ["Authorization", "X-API-KEY", "cookie", "x-goog-api-key"] {
        assert_eq!(redactor.header(name, "plain words"), "[redacted]");
    }
    assert_eq!(redactor.header("accept", "*/*"), "*/*");
}

#[test]
fn variables_are_known_by_their_names() {
    for name in ["ANTHROPIC_API_KEY", "gh_token", "DB_PASSWORD", "AWS_ACCESS_KEY_ID"] {
        assert!(is_credential_variable(name), "{name}");
    }
    for name in ["PATH", "HOME", "TOKENIZERS_PARALLELISM", "OPENAI_BASE_URL"] {
        assert!(!is_credential_variable(name), "{name}");
    }
}

proptest::proptest! {
    #[test]
    fn a_known_secret_is_in_no_cleaned_text(
        text in "(Zq7-planted-in-env|sk-|Bearer |://|x-api-key|cookie: |[a-z0-9:@\\\\\"é ]|/home/ada|eyJ|-----BEGIN ){0,40}",
    ) {
        proptest::prop_assert!(!clean(&text).contains("Zq7-planted-in-env"));
    }
}
