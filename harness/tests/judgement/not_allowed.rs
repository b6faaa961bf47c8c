//! Replies that a request does not allow: no provider sends them, so they say nothing about the system.

use super::*;

/// A run in which each request also has this field.
fn with_field(run: &Run, key: &str, value: &Value) -> Run {
    rebuilt(run, |_, event| match event {
        Event::Requested { body, .. } => {
            let mut body: Value = serde_json::from_slice(body).expect("the body of a request is JSON");
            body[key] = value.clone();
            vec![with_body(event, body.to_string().into_bytes())]
        }
        event => vec![event.clone()],
    })
}

#[test]
fn a_reply_that_a_request_does_not_allow_says_nothing_about_the_system() {
    let plan = plan("control/plain-batch", Dialect::OpenaiChat);
    for (key, value, words) in [
        ("parallel_tool_calls", json!(false), "allows only one in a reply"),
        ("tool_choice", json!("required"), "requires one of the model"),
    ] {
        let judgement = judged(&plan, &with_field(&run(&plan), key, &value));
        assert_eq!(judgement.verdict, Verdict::Unsupported, "{judgement:#?}");
        assert!(judgement.reason.as_deref().is_some_and(|why| why.contains(words)), "{judgement:#?}");
    }
    let allowed = with_field(&run(&plan), "parallel_tool_calls", &json!(true));
    expect_unaccused(&plan, &allowed, Verdict::Pass);
}
