use proptest::prelude::*;
use serde_json::json;

use super::*;

/// Checks that both readers, and the walk, agree on the value or on the error with its position.
fn check(bytes: &[u8]) {
    let plain = serde_json::from_slice::<Value>(bytes).map_err(|error| error.to_string());
    let taped = Document::parse(bytes).map(|read| read.root().to_value()).map_err(|error| error.to_string());
    assert_eq!(taped, plain, "{}", String::from_utf8_lossy(bytes));
    let walked = |bare| walked(bytes, bare).map_err(|error| error.to_string());
    assert_eq!(walked(false), plain, "{}", String::from_utf8_lossy(bytes));
    assert_eq!(walked(true), plain, "{}", String::from_utf8_lossy(bytes));
}

/// Builds the value from the parts of a walk with the list `a`.
fn walked(bytes: &[u8], bare: bool) -> Result<Value, serde_json::Error> {
    let (mut list, mut whole) = (None, Value::Null);
    let each = |part: Part| match part {
        Part::Begin => list = Some(Vec::new()),
        Part::Item(index, item) => {
            let list = list.as_mut().unwrap();
            assert_eq!(index, list.len());
            list.push(item.to_value());
        }
        Part::Rest(rest) => whole = rest.to_value(),
    };
    if bare {
        walk_list(bytes, each)?
    } else {
        walk(bytes, "a", each)?
    }
    // A later field of the same name that is not a list replaces the list.
    let is_list = |value: &Value| value.as_array().is_some_and(Vec::is_empty);
    match list {
        Some(list) if whole.is_null() => whole = Value::Array(list),
        Some(list) if is_list(&whole["a"]) => whole["a"] = Value::Array(list),
        _ => {}
    }
    Ok(whole)
}

#[test]
fn serde_json_accepts_and_rejects_the_same_bytes() {
    let texts = [
        r#" {"a":[1,-2,3.5,1e400,18446744073709551615,99999999999999999999],"b":{}} "#,
        r#"{"a":[1,-2,3.5,18446744073709551615,99999999999999999999,-0],"b":{},"c":null}"#,
        r#"{"a":1,"b":2,"a":3,"\u0061":4}"#,
        r#"{"a":[1],"b":2,"a":[3,4],"\u0061":[5]}"#,
        r#"{"a":[1],"a":true}"#,
        r#"[{"a":[]},[],"text"]"#,
        r#""line\nbreak \ud83d\ude00""#,
        r#"["\ud83d"]"#,
        r#"["\ud83d\ud83d"]"#,
        r#"["\ud83dx", "\ude00", "\u00e9", "\x"]"#,
        "[01]",
        "[1.]",
        "[-]",
        "[1e]",
        "[1e999999999999]",
        "\"line\nbreak\"",
        "[1] x",
        "[1,]",
        "{1:2}",
        r#"{"a" 1}"#,
        r#"{"a":1,}"#,
        "",
        "nul",
        "[true,false,null]",
    ];
    for text in texts {
        check(text.as_bytes());
        (0..text.len()).for_each(|end| check(&text.as_bytes()[..end]));
    }
    check(b"[\"ab\xff\"]");
    check(b"[1]\xff");
    check(format!("[{}]", "9".repeat(400)).as_bytes());
    check(format!("[0.{}]", "9".repeat(400)).as_bytes());
}

#[test]
fn strings_of_every_length_end_at_their_quote() {
    for length in 0..300 {
        for end in ["\"", "\\n\"", "\n\"", "\u{1f}\"", "é\"", "\\\"\"", ""] {
            check(format!("\"{}{end}", "x".repeat(length)).as_bytes());
        }
    }
}

#[test]
fn only_strings_with_escapes_are_copied() {
    let document = Document::parse(br#"{"pl\u0061in":"text","key":"two\nlines"}"#).unwrap();
    let root = document.root();
    assert!(matches!(root.field("plain").as_str(), Some(Cow::Borrowed("text"))));
    assert!(matches!(root.field("key").as_str(), Some(Cow::Owned(text)) if text == "two\nlines"));
    assert!(root.field("key").is("two\nlines") && !root.field("key").is("two\\nlines"));
}

#[test]
fn missing_values_are_null() {
    let document = Document::parse(br#"{"a":[true]}"#).unwrap();
    let json = document.root();
    assert_eq!(json.field("a").item(0).as_bool(), Some(true));
    assert!(json.field("a").item(1).is_null() && json.field("b").field("c").item(7).is_null());
    assert!(json.item(0).is_null() && json.get("b").is_none());
    assert_eq!(json.field("b").raw(), "null");
}

#[test]
fn white_space_is_recognized_in_every_spelling() {
    for (text, is_blank) in [("", true), (" \\n\\u0009\u{a0}", true), (" a", false), (" \\u0061", false)] {
        let text = format!("\"{text}\"");
        let document = Document::parse(text.as_bytes()).unwrap();
        assert_eq!(document.root().is_blank(), is_blank, "{text}");
    }
}

#[test]
fn pointers_resolve_to_byte_ranges() {
    let text = br#"{ "a/b": [ {"c": "d"}, 12 ], "e~": null }"#;
    let found =
        |pointer| locate(text, pointer).map(|range| String::from_utf8_lossy(&text[range]).into_owned());
    assert_eq!(found("/a~1b/0/c").as_deref(), Some("\"d\""));
    assert_eq!(found("/a~1b/1").as_deref(), Some("12"));
    assert_eq!(found("/a~1b/0").as_deref(), Some("{\"c\": \"d\"}"));
    assert_eq!(found("/e~0").as_deref(), Some("null"));
    assert_eq!(found("").map(|all| all.len()), Some(text.len()));
    assert_eq!(found("/a~1b/2"), None);
    assert_eq!(found("/nowhere"), None);
}

#[test]
fn a_text_may_be_deeper_than_a_value() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let nested = |depth: usize| format!("{}1{}", open.repeat(depth), close.repeat(depth));
        check(nested(126).as_bytes());
        check(nested(127).as_bytes());
        for depth in [MAX_DEPTH + 1, 200_000] {
            let text = nested(depth);
            let error = Document::parse(text.as_bytes()).unwrap_err().to_string();
            assert_eq!(error, "recursion limit exceeded: more than 10000 levels");
            let walked = walk(text.as_bytes(), "a", |_| {}).unwrap_err().to_string();
            assert_eq!(walked, error);
        }
        for depth in [128, 200, MAX_DEPTH] {
            let text = nested(depth);
            let document = Document::parse(text.as_bytes()).unwrap();
            assert_eq!(document.root().raw(), text);
            let innermost = (0..depth).fold(document.root(), |json, _| {
                if json.is_array() { json.item(0) } else { json.field("a") }
            });
            assert_eq!(innermost.as_u64(), Some(1));
            assert!(walk(text.as_bytes(), "a", |_| {}).is_ok() && walk_list(text.as_bytes(), |_| {}).is_ok());
        }
    }
}

#[test]
fn an_error_deep_inside_is_reported() {
    let error = |text: String| Document::parse(text.as_bytes()).unwrap_err().to_string();
    assert!(error("[".repeat(100_000)).starts_with("EOF while parsing"), "{}", error("[".repeat(100_000)));
    let deep = |inner: &str| format!("{}{inner}{}", "[".repeat(200), "]".repeat(200));
    assert!(error(deep("1,")).ends_with(" at line 1 column 203"), "{}", error(deep("1,")));
    assert!(error(deep(r#""\ud83d""#)).starts_with("a string that is not text"));
    assert!(Document::parse(deep(r#""\ud83d\ude00""#).as_bytes()).is_ok());
}

#[test]
fn a_copy_is_cut_at_the_maximum_depth_of_values() {
    let text = format!("{}1{}", "[".repeat(MAX_DEPTH), "]".repeat(MAX_DEPTH));
    let value = Document::parse(text.as_bytes()).unwrap().root().to_value();
    assert_eq!(value.to_string().matches('[').count(), MAX_VALUE_DEPTH);
}

#[test]
fn the_last_of_many_repeated_names_counts() {
    let fields: Vec<String> = (0..100_000).map(|n| format!("\"a{}\":{n}", n % 3)).collect();
    let text = format!("{{{}}}", fields.join(","));
    let document = Document::parse(text.as_bytes()).unwrap();
    assert_eq!(document.root().field("a0").to_value(), json!(99_999));
    assert_eq!(document.root().to_value(), json!({ "a0": 99_999, "a1": 99_997, "a2": 99_998 }));
}

proptest! {
    #[test]
    fn both_readers_agree_on_any_bytes(text in r#"[\[\]{},:"a\\u0d8 1e.tru\n-]{0,40}"#) {
        check(text.as_bytes());
    }

    #[test]
    fn both_readers_agree_on_any_value(text in r#"(\[|\{"a":|\{"b":)*("[ -~é\\n]{0,80}"|-?[0-9]{1,25}(\.[0-9]{1,4})?|null|\{\}|\[\])[\]}]*"#) {
        check(text.as_bytes());
    }
}

#[test]
fn lone_surrogates_are_replaced_and_pairs_are_kept() {
    for (line, expected) in [
        (r#"{"a":"x\ud83d y"}"#, r#"{"a":"x\ufffd y"}"#),
        (r#"{"a":"\ude00\ud83d"}"#, r#"{"a":"\ufffd\ufffd"}"#),
        (r#"{"a":"\ud83d\ud83d\ude00"}"#, r#"{"a":"\ufffd\ud83d\ude00"}"#),
        (r#"{"a":"\ud83d\ude00 \u00e9"}"#, r#"{"a":"\ud83d\ude00 \u00e9"}"#),
        (r#"{"a":"\\ud83d"}"#, r#"{"a":"\\ud83d"}"#),
        (r#"{"a":"\ud83"}"#, r#"{"a":"\ud83"}"#),
        ("\\", "\\"),
        (r"\u+83d", r"\u+83d"),
    ] {
        let whole = without_halves(line.as_bytes());
        assert_eq!(str::from_utf8(&whole), Ok(expected), "{line}");
    }
}
