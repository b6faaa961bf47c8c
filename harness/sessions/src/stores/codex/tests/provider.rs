//! Sessions with the models of another provider, which are judged by its rules.

use super::*;

/// A hook's note of the developer between a call and its output, with the reasoning of an open model.
fn interrupted(provider: &str) -> Session {
    let mut about = meta();
    about["payload"]["model_provider"] = json!(provider);
    let reasoning = json!({ "type": "reasoning", "summary": [],
        "content": [{ "type": "reasoning_text", "text": "I look." }], "encrypted_content": null });
    let items =
        [words("user", "Go."), reasoning, call("c1"), words("developer", "Noted."), output("c1", "done")];
    let records: Vec<Value> = std::iter::once(about).chain(items.into_iter().map(item)).collect();
    let lines: String = records.iter().map(|record| format!("{record}\n")).collect();
    only(Product::Codex, &Files::one("rollout.jsonl", lines.as_bytes()))
}

/// The report: <https://github.com/deepseek-ai/DeepSeek-V3/issues/1588>.
#[test]
fn a_message_of_the_developer_stays_where_it_is_and_deepseek_refuses_it_there() {
    let (session, rule) = (interrupted("deepseek"), "openai-responses/tool-outputs-interrupted");
    assert_eq!(verdict(&session), (Verdict::Refused, vec![rule.to_owned()]));
    assert!(session.troubles.is_empty(), "{:?}", session.troubles);
}

#[test]
fn the_rules_of_an_unknown_provider_are_not_known() {
    let session = interrupted("my-proxy");
    assert_eq!(verdict(&session).1, ["openai-responses/reasoning-content"]);
    assert!(session.troubles[0].words.contains("Its rules are not known"), "{:?}", session.troubles);
}
