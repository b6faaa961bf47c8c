//! The toy dialect in the crates above the engine. See "Adding a dialect" in `ARCHITECTURE.md`.

#![expect(clippy::unwrap_used, reason = "a test may stop at what it does not expect")]

use std::process::Command;

use brickbat_filter_suite::{Facts, Form, written};
use brickbat_rules::{Dialect, Profile};
use brickbat_sessions::{judge, read_body};
use serde_json::{Value, json};

/// A conversation with one call and its result.
fn body() -> Value {
    let said = |role: &str, part: Value| json!({ "role": role, "content": [part] });
    json!({ "messages": [
        said("user", json!({ "text": "Look." })),
        said("assistant", json!({ "call": { "id": "c1", "name": "look", "args": {} } })),
        said("tool", json!({ "result": { "id": "c1", "text": "found", "is_error": false } })),
        said("user", json!({ "text": "Well?" })),
    ] })
}

#[test]
fn the_command_line_runs_scenarios_in_a_seventh_dialect() {
    let scenarios = ["control/plain-batch", "abort/mid-batch", "fault/tool-error"];
    let mut run = Command::new(env!("CARGO_BIN_EXE_brickbat"));
    let output = run.args(["run", "--verbose", "--dialect", "toy"]).args(scenarios).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("0 fail"), "{said}");
}

#[test]
fn a_body_in_a_seventh_dialect_is_read_and_judged() {
    let session = read_body(body().to_string().as_bytes(), Dialect::Toy).unwrap();
    assert_eq!(session.messages.len(), 4);
    assert!(judge(&session, Some(Profile::newest(Dialect::Toy))).refusals.is_empty());
}

#[test]
fn filters_read_a_seventh_dialect() {
    let body = body();
    let facts = Facts::of(&body, Dialect::Toy);
    assert_eq!(facts.user(), "Look.\nWell?\n");
    assert_eq!(facts.answers()[0][0].text, "found");
    for form in [Form::AiSdkModel, Form::AiSdkUi, Form::PydanticAi] {
        assert!(written(form, &body, Dialect::Toy).is_ok(), "{form:?}");
    }
}

#[test]
fn the_provider_has_a_base_url_for_a_seventh_dialect() {
    let base_urls = brickbat_drive::strict_server::variables::base_urls("http://127.0.0.1:1");
    assert!(base_urls.keys().copied().eq(Dialect::ALL));
}
