use serde_json::json;

use super::*;
use crate::Dialect;

fn clean(text: &str) -> String {
    Redactor::new(["Zq7-planted-in-env", "pa\"ss/w\u{f6}rd9"], Some("/home/ada")).text(text).into_owned()
}

#[test]
fn keys_of_known_formats_are_removed() {
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
fn headers_in_a_dump_are_removed() {
    assert_eq!(clean("X-Api-Key: abcdefghij\r\nhost: a"), "X-Api-Key: [redacted]\r\nhost: a");
    assert_eq!(clean("{ 'x-api-key': 'abcdefghij', b: 1 }"), "{ 'x-api-key': '[redacted]', b: 1 }");
    assert_eq!(clean(r#"{\"authorization\":\"Basic YTpi\"}"#), r#"{\"authorization\":\"[redacted]\"}"#);
    assert_eq!(clean("GET /x?api_key=abcdefghij&b=1"), "GET /x?api_key=[redacted]&b=1");
}

#[test]
fn values_of_the_environment_are_removed_in_every_spelling() {
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
    for (path, expected) in [
        ("/home/adam/x", "/home/[redacted]/x"),
        ("/mnt/home/ada-2", "/mnt/home/ada-2"),
        ("a/home/ada", "a/home/ada"),
        ("/home/ada.old.txt", "~.old.txt"),
    ] {
        assert_eq!(clean(path), expected);
    }
    assert_eq!(Redactor::new([], Some("/")).text("/x"), "/x");
}

/// The characters of the planted keys.
const SOME: &str = "Zk9qLmT4wXr2Pb7Nc1Vd8Ys3Hf6Gj5Ku0QeRaSiOtUyWxEzBvMn";
const HEX: &str = "3fa85f6457174562b3fc2c963f66afa69b1deb4d3b7d4bad9bdd2b0d7b3dcb6d";

/// Keys that are recognized by their format.
fn shaped() -> Vec<(&'static str, String)> {
    let some = |beginning: &str, n: usize| format!("{beginning}{}", &SOME[..n]);
    let hex = |beginning: &str, n: usize| format!("{beginning}{}", &HEX[..n]);
    vec![
        ("Anthropic", some("sk-ant-api03-", 40)),
        ("OpenAI", some("sk-proj-", 40)),
        ("OpenRouter", hex("sk-or-v1-", 64)),
        ("DeepSeek", hex("sk-", 32)),
        ("Google API", some("AIzaSy", 33)),
        ("Google auth", some("AQ.Ab8RN6", 44)),
        ("xAI", some("xai-", 48)),
        ("Groq", some("gsk_", 48)),
        ("Fireworks", some("fw_", 24)),
        ("Cerebras", some("csk-", 48)),
        ("Perplexity", some("pplx-", 48)),
        ("NVIDIA", some("nvapi-", 50)),
        ("Replicate", some("r8_", 37)),
        ("Together", some("tgp_v1_", 40)),
        ("Hugging Face", some("hf_", 34)),
        ("AWS key", "AKIAIOSFODNN7EXAMPLE".to_owned()),
        ("AWS secret", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY".to_owned()),
        ("AWS secret", some("", 40)),
        ("Azure AI", format!("{}JQQJ99BAACYeBjFXJ3w3AAABACOGx1y2", SOME)),
        ("Azure storage", format!("{}{}+AStR9z8w7v6==", &SOME[..40], &SOME[..30])),
        ("Entra", format!("abC8Q~{}", &SOME[..34])),
        ("Google OAuth", some("ya29.a0", 40)),
        ("Google client", some("GOCSPX-", 28)),
        ("DigitalOcean", hex("dop_v1_", 64)),
        ("Databricks", hex("dapi", 32)),
        ("Alibaba", some("LTAI5t", 18)),
        ("Stripe", some("rk_live_", 24)),
        ("SendGrid", format!("SG.{}.{}", &SOME[..22], &SOME[..43])),
        ("Telegram", format!("1234567890:AA{}", &SOME[..33])),
        ("Discord", format!("MTA1{}.GhIjKl.{}", &SOME[..22], &SOME[..38])),
        ("Twilio", hex("SK", 32)),
        ("GitHub", some("ghp_", 36)),
        ("GitLab", some("glpat-", 20)),
        ("Slack", "xoxb-123456789012-abcdefABCDEF".to_owned()),
        ("npm", some("npm_", 36)),
        ("Linear", some("lin_api_", 40)),
        ("Notion", some("ntn_", 46)),
        ("Atlassian", some("ATATT3xFf", 50)),
        ("LangSmith", hex("lsv2_pt_", 32)),
        ("Supabase", hex("sbp_", 40)),
        ("Vault", some("hvs.", 30)),
        ("JWT", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmN".to_owned()),
        ("e-mail", "ada.lovelace+x@analytical.example.co.uk".to_owned()),
        ("shell", "ada@adas-mbp".to_owned() + "\u{0}"),
        ("mDNS", "adas-macbook-pro.local".to_owned()),
        ("Windows", "DESKTOP-AB12CD3".to_owned()),
        ("EC2", "ip-10-0-31-7.eu-west-1.compute.internal".to_owned()),
    ]
}

#[test]
fn every_kind_of_key_and_name_is_removed_everywhere() {
    for (kind, key) in shaped() {
        // A host on its own is recognized by the text after it.
        let (key, after_key) = match key.strip_suffix('\u{0}') {
            Some(key) => (key.to_owned(), ":~"),
            None => (key, ""),
        };
        for (before, after) in [
            ("", ""),
            ("my key is ", ", he said"),
            ("{\"text\":\"", "\"}"),
            ("line\\n", "\\nnext"),
            ("(", ")"),
            ("<", ">"),
            ("'", "'"),
            ("\t", "\r\n"),
            ("q=", "&x=1"),
            ("“", "”"),
            ("- ", "."),
        ] {
            let text = format!("{before}{key}{after_key}{after}");
            let expected = format!("{before}[redacted]{after_key}{after}");
            assert_eq!(Redactor::default().text(&text), expected, "{kind}");
        }
    }
}

#[test]
fn a_secret_is_recognized_by_the_name_next_to_it() {
    let hex = &HEX[..32];
    for (text, expected) in [
        ("aws_secret_access_key=wJalrXUtnFEMIbPxRfiCY9".to_owned(), "aws_secret_access_key=[redacted]"),
        (format!("AZURE_OPENAI_API_KEY={hex}"), "AZURE_OPENAI_API_KEY=[redacted]"),
        (format!("export MISTRAL_API_KEY='{hex}'"), "export MISTRAL_API_KEY='[redacted]'"),
        (format!("CO_KEY: {hex}"), "CO_KEY: [redacted]"),
        (format!("Ocp-Apim-Subscription-Key: {hex}"), "Ocp-Apim-Subscription-Key: [redacted]"),
        (format!("x-litellm-api-key: {hex}"), "x-litellm-api-key: [redacted]"),
        (format!("AccountName=a;AccountKey={hex}/+w==;End=1"), "AccountName=a;AccountKey=[redacted];End=1"),
        ("password: hunter2".to_owned(), "password: [redacted]"),
        ("my password is hunter2, do not tell".to_owned(), "my password is [redacted], do not tell"),
        ("Password=swordfish;Server=db".to_owned(), "Password=[redacted];Server=db"),
        ("{\"password\":\"swordfish\",\"n\":1}".to_owned(), "{\"password\":\"[redacted]\",\"n\":1}"),
        (r#"{\"password\": \"sword fish\"}"#.to_owned(), r#"{\"password\": \"sword fish\"}"#),
        (r#"{\"db_password\": \"sw0rd\u00e9\"}"#.to_owned(), r#"{\"db_password\": \"sw0rd\u00e9\"}"#),
        ("'pwd' => 's3cr3t!'".to_owned(), "'pwd' => '[redacted]'"),
        ("login --password s3cr3t-word --user ada".to_owned(), "login --password [redacted] --user ada"),
        ("clientSecret: 'a1b2c3d4e5'".to_owned(), "clientSecret: '[redacted]'"),
        (format!("token = \"{hex}\""), "token = \"[redacted]\""),
        (format!("/x?alt=sse&sig={}%3D&b=1", &SOME[..20]), "/x?alt=sse&sig=[redacted]&b=1"),
        (
            format!("?X-Amz-Signature={HEX}&X-Amz-Date=20251128T000000Z"),
            "?X-Amz-Signature=[redacted]&X-Amz-Date=[redacted]",
        ),
        ("/cb?code=4/0AX4XfWh&state=1".to_owned(), "/cb?code=[redacted]&state=1"),
        (
            format!(
                "Authorization: AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20251128/us-east-1/s3/aws4_request, \
                 SignedHeaders=host, Signature={HEX}\nhost: a"
            ),
            "Authorization: [redacted]\nhost: a",
        ),
        (format!("bad signature: Signature={HEX}"), "bad signature: Signature=[redacted]"),
        ("cookie: a=b1; session=c2; d=e3\nx: 1".to_owned(), "cookie: [redacted]\nx: 1"),
        ("\"hostname\":\"adas-mbp\"".to_owned(), "\"hostname\":\"[redacted]\""),
        ("COMPUTERNAME=ADAPC01".to_owned(), "COMPUTERNAME=[redacted]"),
        (
            "https://hooks.slack.com/services/T0AB/B0CD/abcdefghij0123".to_owned(),
            "https://hooks.slack.com/services/[redacted]",
        ),
        ("postgres://ada:pa55@db/x".to_owned(), "postgres://[redacted]@db/x"),
    ] {
        assert_eq!(Redactor::default().text(&text), expected);
    }
}

#[test]
fn the_user_is_removed_from_home_paths() {
    for (path, expected) in [
        ("/home/ada/x.yaml", "/home/[redacted]/x.yaml"),
        ("/Users/ada.lovelace/x", "/Users/[redacted]/x"),
        ("in /Users/ada.", "in /Users/[redacted]."),
        ("file:///home/ada/x", "file:///home/[redacted]/x"),
        ("\"cwd\":\"/Users/ada\"", "\"cwd\":\"/Users/[redacted]\""),
        ("line\\n/home/ada/x", "line\\n/home/[redacted]/x"),
        ("/home/müller/x", "/home/[redacted]/x"),
        (r"C:\Users\ada\x", r"C:\Users\[redacted]\x"),
        (r#"{"cwd":"C:\\Users\\Ada Lovelace\\x"}"#, r#"{"cwd":"C:\\Users\\[redacted]\\x"}"#),
        ("c:/users/ada/x", "c:/users/[redacted]/x"),
        ("/c/Users/ada/x", "/c/Users/[redacted]/x"),
        ("/mnt/c/Users/ada/x", "/mnt/c/Users/[redacted]/x"),
        ("file:///C:/Users/ada/x", "file:///C:/Users/[redacted]/x"),
        (r"C:\Users\ada is mine", r"C:\Users\[redacted] is mine"),
        ("/home/ad…", "/home/[redacted]…"),
        (r"C:\Users\Public\x", r"C:\Users\Public\x"),
        ("/Users/Shared/x", "/Users/Shared/x"),
        ("GET https://a.example/Users/7", "GET https://a.example/Users/7"),
        ("./home/ada", "./home/ada"),
        ("/home/", "/home/"),
        ("/Users/{id}", "/Users/{id}"),
    ] {
        assert_eq!(Redactor::default().text(path), expected);
    }
}

#[test]
fn a_key_that_was_cut_for_display_is_recognized() {
    let redactor = Redactor::new(["Zq7-planted-in-env"], None);
    for (text, expected) in [
        ("AKIAIOSF…", "[redacted]…"),
        ("a ghp_abc… b", "a [redacted]… b"),
        ("\"password\": \"hunter2-and-m…\"", "\"password\": \"[redacted]…\""),
        ("Zq7-plant…", "[redacted]…"),
        ("ada.lovelace@analyt…", "[redacted]…"),
        ("-----BEGIN PRIVATE KEY-----\\nMIIEvQIBADANBg…", "[redacted]…"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzd…", "[redacted]…"),
        ("https://ada:pa55…", "https://[redacted]…"),
    ] {
        assert_eq!(redactor.text(text), expected);
    }
    let pem = "{\"a\":\"-----BEGIN RSA PRIVATE KEY-----\\nMIIE\",\"b\":1}";
    assert_eq!(redactor.text(pem), "{\"a\":\"[redacted]\",\"b\":1}");
}

#[test]
fn ordinary_text_stays() {
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
        "abort/after-all-calls#p=calls@anthropic-mes… (three calls)",
        "control/plain-batch@openai…",
        "reference",
        "resp_68a1f0c2b3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f6",
        "fc_68a1f0c2b3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f6",
        "srvtoolu_014hJH82Qum7Td6UV8gDXThB",
        "{\"id\":\"toolu_01A09q90qw90lq917835lq9\",\"token\":17}",
        "550e8400-e29b-41d4-a716-446655440000",
        "e8fd2249b7c1a0f39d64e2585c7f10ab93dd4e21",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "sha512-3q2+7w0z8Jx5mKp1fUu6d0sGm7XbB9c4QmVkcm9ja0FQSUtleS1hYmNkLWF0LTEyMzQ1Njc4OTAxMjpz==",
        "password: str",
        "password: String, token: Option<String>, api_key: &str",
        "password: SecretStr = Field(...)",
        "\"password\": {\"type\": \"string\"}",
        "{\"password\": \"string\", \"required\": [\"password\", \"email\"]}",
        "\"password\": \"The password of the user.\"",
        "client(api_key=api_key, password=password)",
        "apiKey: process.env.OPENAI_API_KEY",
        "api_key = os.environ[\"OPENAI_API_KEY\"]",
        "password=$DB_PASSWORD",
        "password: ${{ secrets.DB_PASSWORD }}",
        "password = get_password()",
        "the password is required and the token is missing",
        "password: ********",
        "--api-key $KEY --password",
        "max_tokens: 1000000, total_tokens=1234567",
        "prompt_cache_key: thread-12345678",
        "\"signature\": \"EqQBCgIYAhIM1gbcDa9GJwZA2b3hGgxBdjrkzLoky3dl1pk\"",
        "\"key\": \"messages.3.content\", \"code\": \"invalid_api_key\"",
        "?code=400&page=2&max_tokens=1000",
        "pass: 1234567, fail: 12",
        "uses: org/action@v4.1.2 and @scope/pkg@1.2.3 and ai-sdk@6/ui-messages",
        "git@github.com:org/repo.git",
        "icon@2x.png, x @ w, @app.route(\"/\")",
        "settings.local.json and .env.local and config.local",
        "hostname: api.openai.com, hostname: string",
        "src/deep/Folder1/Another/Path2/OfSources/x and Users/ada",
        "token: identifier, secret: true, authorize: yes",
        "const CACHE_KEY = \"users-list\"",
    ] {
        assert_eq!(clean(text), text);
    }
    // A placeholder for a key can be an ordinary word in a report.
    assert_eq!(
        Redactor::new(["reference", "test", "1234567"], None).text("reference test 1234567"),
        "reference test 1234567"
    );
}

#[test]
fn clean_text_stays_unchanged() {
    let own = [
        "X-Api-Key: abcdefghij",
        "Bearer abcdefgh1234",
        "https://ada:pa55@proxy",
        "/home/ada/x",
        "/home/adam/x",
    ];
    let named = ["password: hunter22", "{\"password\":\"hunter22\"}", "ada@b.example", "a?sig=0123456789"];
    let shaped: Vec<String> = shaped().into_iter().map(|(_, key)| key).collect();
    for text in own.into_iter().chain(named).chain(shaped.iter().map(String::as_str)) {
        let once = clean(text);
        assert_eq!(clean(&once), once);
    }
}

#[test]
fn secrets_are_removed_inside_json_values() {
    let mut value = json!({
        "authorization": "abcdef", "cookie": "chocolate", "n": 1,
        "password": "swordfish", "signature": "EqQBCgIYAhIM1gbcDa9GJwZA", "token": "word", "secretAccessKey": "wJalrXUtnFEMI",
        "list": ["Zq7-planted-in-env", { "Zq7-planted-in-env": null }],
        "schema": { "password": { "type": "string" }, "required": ["password"] },
    });
    Redactor::new(["Zq7-planted-in-env"], None).value(&mut value);
    let expected = json!({
        "authorization": "[redacted]", "cookie": "chocolate", "n": 1,
        "password": "[redacted]", "signature": "EqQBCgIYAhIM1gbcDa9GJwZA", "token": "word", "secretAccessKey": "[redacted]",
        "list": ["[redacted]", { "[redacted]": null }],
        "schema": { "password": { "type": "string" }, "required": ["password"] },
    });
    assert_eq!(value, expected);
}

#[test]
fn headers_with_credentials_are_removed_completely() {
    let redactor = Redactor::default();
    for name in ["Authorization", "X-API-KEY", "cookie", "x-goog-api-key"] {
        assert_eq!(redactor.header(name, "plain words"), "[redacted]");
    }
    assert_eq!(redactor.header("accept", "*/*"), "*/*");
}

#[test]
fn credential_variables_are_recognized_by_name() {
    for name in ["ANTHROPIC_API_KEY", "gh_token", "DB_PASSWORD", "AWS_ACCESS_KEY_ID"] {
        assert!(is_credential_variable(name), "{name}");
    }
    for name in ["PATH", "HOME", "TOKENIZERS_PARALLELISM", "OPENAI_BASE_URL"] {
        assert!(!is_credential_variable(name), "{name}");
    }
}

proptest::proptest! {
    #[test]
    fn no_cleaned_text_has_a_known_secret(
        text in "(Zq7-planted-in-env|sk-|Bearer |://|x-api-key|cookie: |password: |[a-z0-9:@\\\\\"é… ]|/home/ada|/Users/|C:\\\\Users|\\.local|%40|\\?sig=|JQQJ99|8Q~|eyJ|-----BEGIN |PRIVATE KEY|…){0,40}",
    ) {
        proptest::prop_assert!(!clean(&text).contains("Zq7-planted-in-env"));
    }

    #[test]
    fn json_stays_json(
        text in "(sk-|Bearer |://|x-api-key: |cookie: |password: |[a-z0-9:@\\\\\"é…\\n ]|/home/ada|/Users/|C:\\\\Users|ada@b\\.example|%40|\\?sig=|JQQJ99|8Q~|eyJ|-----BEGIN |PRIVATE KEY|AAAAAAAA){0,40}",
    ) {
        let json = json!({ "password": &text, "a": [text] }).to_string();
        proptest::prop_assert!(serde_json::from_str::<Value>(&clean(&json)).is_ok(), "{}", clean(&json));
    }
}

/// A made-up key of the provider of a dialect, and the text before it. A key without a known beginning is
/// recognized only by its name.
fn made_up_key(dialect: Dialect) -> (&'static str, &'static str) {
    match dialect {
        Dialect::AnthropicMessages => ("", "sk-ant-api03-Zk3v9Qm2Xc7Lp5Rt8Wn1Bd4Hs6"),
        Dialect::OpenaiChat | Dialect::OpenaiResponses => ("", "sk-proj-Zk3v9Qm2Xc7Lp5Rt8Wn1Bd4Hs6Jf0Gy"),
        Dialect::Gemini => ("", "AIzaZk3v9Qm2Xc7Lp5Rt8Wn1Bd4Hs6Jf0Gya"),
        Dialect::BedrockConverse => ("", "ABSKZk3v9Qm2Xc7Lp5Rt8Wn1Bd4Hs6Jf0GyaZk3v9Qm2Xc7L"),
        Dialect::Mistral => ("MISTRAL_API_KEY=", "Zk3v9Qm2Xc7Lp5Rt8Wn1Bd4Hs6Jf0Gya"),
        #[cfg(feature = "toy-dialect")]
        Dialect::Toy => ("TOY_API_KEY=", "Zk3v9Qm2Xc7Lp5Rt8Wn1Bd4Hs6Jf0Gya"),
    }
}

#[test]
fn a_key_of_each_provider_is_removed() {
    for dialect in Dialect::ALL {
        let (before, key) = made_up_key(dialect);
        assert_eq!(clean(&format!("{before}{key}")), format!("{before}{REDACTED}"), "{dialect}");
    }
}
