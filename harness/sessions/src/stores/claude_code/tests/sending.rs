//! What is sent of what is stored.

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
    assert_eq!(sent.mended, [("leaves out texts of white space", 1)]);
    assert_accepted(&session);
}

#[test]
fn a_reply_of_white_space_alone_is_left_out_and_its_neighbours_are_one() {
    let session =
        read_lines(&[user("u1", "", "Look."), said("a1", "u1", "m1", " \n"), user("u2", "a1", "Well?")]);
    let sent = ClaudeCode.send(&session);
    let shape: Vec<String> = sent.messages.iter().map(shape_of).collect();
    assert_eq!(shape, ["user: Look., Well?"]);
    assert_accepted(&session);
}

#[test]
fn results_come_before_what_the_user_said_while_the_tool_ran() {
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
fn a_result_and_words_in_one_line_are_two_messages() {
    let mut interrupted = result("r1", "a1", "toolu_1");
    let words = json!({ "type": "text", "text": "[Request interrupted by user]" });
    interrupted["message"]["content"].as_array_mut().unwrap().push(words);
    let session = read_lines(&[user("u1", "", "Look."), call("a1", "u1", "m1", "toolu_1"), interrupted]);
    assert_eq!(shape(&session)[2..], ["tool: result toolu_1", "user: [Request interrupted by user]"]);
    assert_accepted(&session);
}

#[test]
fn neighbours_of_the_model_are_one_message() {
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
fn what_only_anthropic_knows_stays_as_it_is() {
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
fn words_of_the_open_tail_follow_the_version() {
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
fn calls_without_a_result_and_results_without_a_call_are_mended_by_2_1_318() {
    let mut lines = batch();
    // The result of the first call is gone, and one of nobody's stands before the thanks.
    lines.remove(5);
    lines.insert(8, result("r9", "b1", "toolu_9"));
    lines[9]["parentUuid"] = json!("r9");
    let mut session = read_lines(&lines);
    let mut judged = |version: &str| {
        session.version = Some(version.to_owned());
        judge(&session, None)
    };
    assert_eq!(judged("2.1.317").verdict, Verdict::Refused);
    let judgement = judged("2.1.318");
    assert_eq!(judgement.verdict, Verdict::Accepted, "{:?}", judgement.refusals);
    let mended = [("leaves out results without a call", 1), ("fills calls without a result", 1)];
    assert_eq!(judgement.sent.mended, mended);
}
