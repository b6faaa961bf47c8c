//! Tests of the send model.

use super::*;

#[test]
fn texts_of_white_space_are_left_out() {
    let mut lines = batch();
    lines.insert(2, said("w1", "a1", "m1", "\n\n"));
    lines[3]["parentUuid"] = json!("w1");
    let session = read_lines(&lines);
    assert_eq!(shape(&session)[1], "model: thinking, \n\n, call toolu_1, call toolu_2, call toolu_3");
    let sent = ClaudeCode.send(&session);
    assert_eq!(shape_of(&sent.messages[1]), "model: thinking, call toolu_1, call toolu_2, call toolu_3");
    assert_eq!(sent.mended, [("leaves out blank texts", 1)]);
    assert_accepted(&session);
}

#[test]
fn a_reply_of_only_white_space_is_left_out_and_its_neighbours_join() {
    let session =
        read_lines(&[user("u1", "", "Look."), said("a1", "u1", "m1", " \n"), user("u2", "a1", "Well?")]);
    let sent = ClaudeCode.send(&session);
    let shape: Vec<String> = sent.messages.iter().map(shape_of).collect();
    assert_eq!(shape, ["user: Look., Well?"]);
    assert_accepted(&session);
}

#[test]
fn results_come_before_user_messages_sent_while_the_tool_ran() {
    let session = read_lines(&[
        user("u1", "", "Look."),
        call("a1", "u1", "m1", "toolu_1"),
        user("u2", "a1", "Hurry."),
        result("r1", "u2", "toolu_1"),
        said("b1", "r1", "m2", "Done."),
    ]);
    let sent = ClaudeCode.send(&session);
    let shape: Vec<String> = sent.messages.iter().map(shape_of).collect();
    assert_eq!(
        shape,
        ["user: Look.", "model: call toolu_1", "tool: result toolu_1", "user: Hurry.", "model: Done."]
    );
    assert_accepted(&session);
}

#[test]
fn a_result_and_text_in_one_line_are_two_messages() {
    let mut interrupted = result("r1", "a1", "toolu_1");
    let words = json!({ "type": "text", "text": "[Request interrupted by user]" });
    interrupted["message"]["content"].as_array_mut().unwrap().push(words);
    let session = read_lines(&[user("u1", "", "Look."), call("a1", "u1", "m1", "toolu_1"), interrupted]);
    assert_eq!(shape(&session)[2..], ["tool: result toolu_1", "user: [Request interrupted by user]"]);
    assert_accepted(&session);
}

#[test]
fn adjacent_model_messages_are_one_message() {
    let session = read_lines(&[
        user("u1", "", "Look."),
        said("a1", "u1", "m1", "I look."),
        call("a2", "a1", "m2", "toolu_1"),
        result("r1", "a2", "toolu_1"),
    ]);
    assert_eq!(shape_of(&ClaudeCode.send(&session).messages[1]), "model: I look., call toolu_1");
    assert_accepted(&session);
}

#[test]
fn blocks_that_only_anthropic_has_stay_unchanged() {
    use brickbat_rules::histories::Block;
    let document =
        json!({ "type": "document", "source": { "type": "text", "media_type": "text/plain", "data": "x" } });
    let redacted = json!({ "type": "redacted_thinking", "data": "c2VjcmV0" });
    let image =
        json!({ "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": "aaaa" } });
    let mut asked = user("u1", "", "");
    asked["message"]["content"] = json!([document, image]);
    let session =
        read_lines(&[asked, reply("a1", "u1", "m1", redacted.clone()), said("a2", "a1", "m1", "Yes.")]);
    assert_eq!(shape(&session), ["user: document, image", "model: redacted_thinking, Yes."]);
    let Block::Native { value, .. } = &session.messages[1].blocks[0].content else { panic!("not native") };
    assert_eq!(*value, redacted);
}

#[test]
fn the_description_of_the_open_tail_depends_on_the_version() {
    let mut session = read_lines(&batch());
    let mut words = |version: &str| {
        session.version = Some(version.to_owned());
        ClaudeCode.fills_open_tail(&session)
    };
    assert_eq!(words("2.1.265"), Some("it keeps the call and marks it as interrupted when it resumes"));
    assert_eq!(words("2.1.264"), Some("it resumes past the call without an error"));
    let old = Some("it may still run the call; versions from 2.1.21 on resume past it without an error");
    assert_eq!(words("1.0.72"), old);
    assert_eq!(words("what?"), old);
}

#[test]
fn unpaired_calls_and_results_are_left_out_from_2_1_87_on() {
    let mut lines = batch();
    // The result of the first call is missing, and a result without a call comes before the thanks.
    lines.remove(5);
    lines.insert(8, result("r9", "b1", "toolu_9"));
    lines[9]["parentUuid"] = json!("r9");
    let mut session = read_lines(&lines);
    let mut judged = |version: &str| {
        session.version = Some(version.to_owned());
        judge(&session, None)
    };
    assert_eq!(judged("2.1.81").verdict, Verdict::Refused);
    let judgement = judged("2.1.87");
    assert_eq!(judgement.verdict, Verdict::Accepted, "{:?}", judgement.refusals);
    let mended = [("leaves out results without a call", 1), ("leaves out calls without a result", 1)];
    assert_eq!(judgement.sent.mended, mended);
    let sent: Vec<String> = judgement.sent.messages.iter().map(shape_of).collect();
    assert_eq!(sent[1], "model: thinking, call toolu_2, call toolu_3");
    assert_eq!(sent[4], "user: (no content), Thanks.");
}

#[test]
fn a_reply_with_only_thoughts_left_is_not_sent() {
    let mut lines = batch();
    lines.retain(|line| line["message"]["content"][0]["type"] != "tool_result");
    let n = lines.iter().position(|line| line["uuid"] == "b1").unwrap();
    lines[n]["parentUuid"] = json!("a4");
    let mut session = read_lines(&lines);
    session.version = Some("2.1.87".to_owned());
    let sent: Vec<String> = ClaudeCode.send(&session).messages.iter().map(shape_of).collect();
    assert_eq!(sent[..2], ["user: Look.", "model: All three are fine."]);
    assert_accepted(&session);
}

/// The batch, with its calls and results repeated after a line. The copies have their own uuids and are in a
/// reply with this id.
fn batch_twice(id: &str, after: &str) -> Vec<Value> {
    let mut lines = batch();
    let mut parent = after.to_owned();
    let mut copies = Vec::new();
    for line in lines[2..8].iter().cloned() {
        let uuid = format!("{}x", line["uuid"].as_str().unwrap());
        let mut copy = with(line, json!({ "uuid": uuid, "parentUuid": parent }));
        if copy["type"] == "assistant" {
            copy["message"]["id"] = json!(id);
        }
        parent = uuid;
        copies.push(copy);
    }
    let at = lines.iter().position(|line| line["uuid"] == after).unwrap();
    if let Some(next) = lines.get_mut(at + 1) {
        next["parentUuid"] = json!(parent);
    }
    lines.splice(at + 1..at + 1, copies);
    lines
}

#[test]
fn a_duplicate_batch_is_sent_once_by_2_1_76_and_twice_before() {
    let mut session = read_lines(&batch_twice("m1", "r2"));
    session.version = Some("2.1.69".to_owned());
    let judgement = judge(&session, None);
    assert_eq!(judgement.verdict, Verdict::Refused);
    assert!(rules(&judgement).contains(&"anthropic-messages/tool-use-id-duplicate"));

    session.version = Some("2.1.76".to_owned());
    let judgement = judge(&session, None);
    assert_eq!(judgement.verdict, Verdict::Accepted, "{:?}", judgement.refusals);
    assert_eq!(judgement.sent.mended, [("leaves out calls and results that were sent before", 3)]);
    let sent: Vec<String> = judgement.sent.messages.iter().map(shape_of).collect();
    assert_eq!(sent[1], "model: thinking, call toolu_1, call toolu_2, call toolu_3");
    assert_eq!(sent[3], "model: All three are fine.");
}

#[test]
fn the_replacement_of_an_empty_copy_is_the_one_2_1_318_sent() {
    for id in ["m1", "m9"] {
        let mut lines = batch_twice(id, "c1");
        for line in &mut lines {
            line["version"] = json!("2.1.318");
        }
        let judgement = judge(&read_lines(&lines), None);
        assert_eq!(judgement.verdict, Verdict::Accepted, "{:?}", judgement.refusals);
        assert_eq!(judgement.sent.mended, [("leaves out calls and results that were sent before", 6)]);
        let sent: Vec<String> = judgement.sent.messages.iter().map(shape_of).collect();
        // A reply with the id of an earlier one continues it.
        let last = match id {
            "m1" => "model: You are welcome.",
            _ => "model: You are welcome., [Tool use interrupted]",
        };
        assert_eq!(sent[1], "model: thinking, call toolu_1, call toolu_2, call toolu_3");
        assert_eq!(sent[5..], [last, "user: (no content)"]);
    }
}

#[test]
fn version_2_1_76_sends_the_first_of_two_results_of_one_call() {
    let mut lines = batch();
    let mut other = result("r2x", "r2", "toolu_2");
    other["message"]["content"][0]["content"] = json!("something else");
    lines.insert(8, other);
    lines[9]["parentUuid"] = json!("r2x");
    let mut session = read_lines(&lines);
    session.version = Some("2.1.69".to_owned());
    assert_eq!(rules(&judge(&session, None)), ["anthropic-messages/tool-result-duplicate"]);
    session.version = Some("2.1.76".to_owned());
    assert_accepted(&session);
    let sent = ClaudeCode.send(&session);
    let outputs: Vec<String> =
        sent.messages[2].results().map(|result| format!("{:?}", result.output)).collect();
    assert!(outputs.iter().any(|output| output.contains("out of toolu_2")));
    assert!(!outputs.iter().any(|output| output.contains("something else")));
}

#[test]
fn a_session_that_its_version_sends_correctly_is_not_repaired() {
    use crate::{Repair, RepairOptions, repair};
    let mut lines = batch_twice("m1", "r2");
    let repaired = |lines: &[Value]| repair(&file(lines), 0, &RepairOptions::default());
    assert!(matches!(repaired(&lines), Ok(Repair::Mended(_))));
    for line in &mut lines {
        line["version"] = json!("2.1.318");
    }
    assert!(matches!(repaired(&lines), Ok(Repair::Healthy(_))));
}
