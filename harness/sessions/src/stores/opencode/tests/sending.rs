//! Tests of the send model.

use super::*;

fn texts(judgement: &Judgement) -> Vec<String> {
    let blocks = judgement.sent.messages.iter().flat_map(|message| &message.blocks);
    let text = |block: &crate::Block| match &block.content {
        histories::Block::Text(text) => Some(text.clone()),
        histories::Block::Result(result) => Some(result.text()),
        _ => None,
    };
    blocks.filter_map(text).collect()
}

#[test]
fn an_open_call_is_sent_with_an_error() {
    for (form, files) in open("anthropic", "claude-sonnet-4-5", false).forms() {
        let judgement = judged(&files);
        assert_eq!(judgement.verdict, Verdict::Accepted, "{form}");
        assert_eq!(shape(&judgement), "Ut Atcc Tre Ut", "{form}");
        assert_eq!(judgement.sent.mended, [("fills calls without a result", 1)]);
        assert!(texts(&judgement).contains(&"[Tool execution was interrupted]".to_owned()));
    }
}

#[test]
fn versions_up_to_1_1_16_leave_an_open_call_out() {
    let mut fixture = open("anthropic", "claude-sonnet-4-5", false);
    for (version, shape) in
        [("1.1.16", "Ut Atc Tr Ut"), ("0.15.8", "Ut Atc Tr Ut"), ("1.1.27", "Ut Atcc Tre Ut")]
    {
        fixture.info["version"] = json!(version);
        let judgement = judged(&fixture.folder());
        assert_eq!(super::shape(&judgement), shape, "{version}");
        assert_eq!(judgement.verdict, Verdict::Accepted);
    }
    // Only 1.2 and later read a database, whichever version began the session.
    fixture.info["version"] = json!("0.15.8");
    assert_eq!(super::shape(&judged(&fixture.database())), "Ut Atcc Tre Ut");
}

#[test]
fn an_empty_text_beside_a_signed_thought_is_sent_as_a_space() {
    let mut fixture = healthy();
    fixture.messages[1].1[2]["text"] = json!("");
    let judgement = judged(&fixture.export());
    assert_eq!(shape(&judgement), "Ut Ahtcc Trr At Ut");
    assert!(texts(&judgement).contains(&" ".to_owned()));
    assert_eq!(judgement.verdict, Verdict::Accepted);
    fixture.messages[1].1.remove(1);
    assert_eq!(shape(&judged(&fixture.export())), "Ut Acc Trr At Ut");
}

#[test]
fn a_trailing_open_call_is_an_open_tail() {
    let files = open("anthropic", "claude-sonnet-4-5", true).database();
    let judgement = judged(&files);
    assert_eq!(judgement.verdict, Verdict::OpenTail);
    let fills = store_of(Product::Opencode).unwrap().fills_open_tail(&one(&files));
    assert_eq!(fills, Some("fills it with “[Tool execution was interrupted]”"));
}

#[test]
fn a_failed_reply_is_left_out_with_its_results() {
    let mut fixture = healthy();
    let info = fixture.reply(vec![step(), words("So"), done("toolu_3", "x")]);
    info["error"] = json!({ "name": "APIError", "data": { "message": "m" } });
    let judgement = judged(&fixture.export());
    assert_eq!(shape(&judgement), "Ut Ahtcc Trr At Ut");
    assert_eq!(judgement.sent.mended, [("leaves out failed replies", 1)]);
    assert_eq!(shape_of(&one(&fixture.export()).messages), "Ut Ahtcc Trr At Ut Atc Tr");
}

#[test]
fn a_stopped_reply_is_sent_if_it_has_more_than_thoughts() {
    let stopped = |parts: Vec<Value>| {
        let mut fixture = healthy();
        fixture.reply(parts)["error"] = json!({ "name": "MessageAbortedError", "data": { "message": "m" } });
        fixture.user("anthropic", "claude-sonnet-4-5", vec![words("Go on.")]);
        shape(&judged(&fixture.export()))
    };
    assert_eq!(stopped(vec![step(), words("So")]), "Ut Ahtcc Trr At Ut At Ut");
    assert_eq!(stopped(vec![step(), thought("EqQC")]), "Ut Ahtcc Trr At Ut Ut");
    // Any other part beside the thoughts is enough for them to be sent.
    assert_eq!(stopped(vec![step(), thought("EqQC"), end()]), "Ut Ahtcc Trr At Ut Ah Ut");
}

#[test]
fn a_step_without_a_beginning_is_merged_into_the_one_before() {
    let mut fixture = Fixture::new("anthropic", "claude-sonnet-4-5");
    let failed =
        call("toolu_1", json!({ "status": "error", "input": {}, "error": "Tool execution aborted" }));
    fixture.reply(vec![step(), words("One."), failed, words("Again."), done("toolu_2", "x"), end()]);
    fixture.user("anthropic", "claude-sonnet-4-5", vec![words("Go on.")]);
    let session = one(&fixture.rows());
    let judgement = judge(&session, None);
    assert_eq!(shape(&judgement), "Ut Atctc Ter Ut");
    // Provider behaviour changed over time: the newest profile accepts this, the one of May 2026 does not.
    assert_eq!(judgement.verdict, Verdict::Accepted);
    let before = judge(&session, brickbat_rules::Profile::named("anthropic-messages@2026-05"));
    assert_eq!(rules(&before), ["anthropic-messages/text-after-tool-use"]);
    assert_eq!(before.refusals[0].place, Some(session.messages[1].blocks[2].place.clone()));
}

#[test]
fn cleared_outputs_are_sent_as_cleared() {
    let mut fixture = healthy();
    fixture.messages[1].1[3]["state"]["time"]["compacted"] = json!(7);
    let judgement = judged(&fixture.database());
    assert!(texts(&judgement).contains(&"[Old tool result content cleared]".to_owned()));
    assert_eq!(judgement.sent.mended, [("clears old outputs", 1)]);
}

#[test]
fn the_output_of_an_interrupted_tool_is_its_result() {
    let mut fixture = healthy();
    fixture.messages[1].1[3]["state"] = json!({ "status": "error", "input": {}, "error": "e", "metadata": { "interrupted": true, "output": "half" } });
    let judgement = judged(&fixture.export());
    assert_eq!(shape(&judgement), "Ut Ahtcc Trr At Ut");
    assert!(texts(&judgement).contains(&"half".to_owned()));
}

#[test]
fn a_compaction_is_sent_as_its_summary_and_the_kept_messages() {
    let mut fixture = healthy();
    fixture.reply(vec![step(), words("Yes?"), end()]);
    let compaction = json!({ "type": "compaction", "auto": true, "tail_start_id": "msg_003" });
    fixture.user("anthropic", "claude-sonnet-4-5", vec![compaction]);
    let info = fixture.reply(vec![step(), words("Summary."), end()]);
    info["summary"] = json!(true);
    fixture.user("anthropic", "claude-sonnet-4-5", vec![words("And now?")]);
    for (form, files) in fixture.forms() {
        let session = one(&files);
        assert_eq!(session.n_compactions, 1, "{form}");
        let judgement = judge(&session, None);
        let said = ["What did we do so far?", "Summary.", "Thanks.", "Yes?", "And now?"];
        assert_eq!(texts(&judgement), said, "{form}");
        assert_eq!(shape_of(&session.off_branch), "Ut Ahtcc Trr At", "{form}");
        assert_eq!(judgement.verdict, Verdict::Accepted);
    }
    // If the kept messages cannot be found, everything is sent.
    let mut lost = fixture.clone();
    lost.messages[4].1[0]["tail_start_id"] = json!("msg_999");
    assert_eq!(shape(&judged(&lost.export())), "Ut Ahtcc Trr At Ut At Ut At Ut");
    // If no messages were kept, everything before the question is replaced.
    lost.messages[4].1[0]["tail_start_id"] = json!(null);
    assert_eq!(shape(&judged(&lost.export())), "Ut At Ut");
    // A failed summary replaces nothing.
    fixture.messages[5].0["error"] = json!({ "name": "APIError" });
    assert_eq!(one(&fixture.export()).n_compactions, 0);
}

#[test]
fn thoughts_of_another_model_are_sent_as_text() {
    let mut fixture = healthy();
    fixture.user("openai", "gpt-5", vec![words("And you?")]);
    let session = one(&fixture.export());
    assert_eq!(session.dialect, Some(Dialect::OpenaiResponses));
    let judgement = judge(&session, None);
    assert_eq!(shape(&judgement), "Ut Attcc Trr At Ut Ut");
    assert_eq!(judgement.verdict, Verdict::Accepted);
}

#[test]
fn items_of_openai_are_sent_without_their_ids() {
    let mut fixture = Fixture::new("openai", "gpt-5");
    let mut own = done("call_1", "x");
    own["metadata"] = json!({ "openai": { "itemId": "fc_1" } });
    let thought = json!({ "type": "reasoning", "text": "", "metadata": { "openai": { "itemId": "rs_1" } } });
    fixture.reply(vec![step(), thought, own, end()]);
    let session = one(&fixture.export());
    assert_eq!(session.messages[1].calls().next().unwrap().item.as_deref(), Some("fc_1"));
    let body = judge(&session, None).request().to_string();
    assert!(body.contains("call_1") && !body.contains("fc_1") && !body.contains("rs_1"), "{body}");
}

#[test]
fn pictures_are_moved_out_of_text_only_results() {
    let of = |provider: &str, model: &str| {
        let mut fixture = Fixture::new(provider, model);
        let mut own = done("call_1", "x");
        own["state"]["attachments"] =
            json!([{ "type": "file", "mime": "image/png", "url": "data:image/png;base64,iVBORw0KGgo=" }]);
        fixture.reply(vec![step(), own, end(), step(), words("Seen."), end()]);
        judged(&fixture.database())
    };
    assert_eq!(shape(&of("groq", "llama")), "Ut Ac Tr At Uti");
    assert_eq!(of("groq", "llama").verdict, Verdict::Accepted);
    assert_eq!(shape(&of("anthropic", "claude-sonnet-4-5")), "Ut Ac Tr At");
}

#[test]
fn ids_are_rewritten_for_the_provider() {
    let ids = |provider: &str, model: &str| -> Vec<String> {
        let mut fixture = Fixture::new(provider, model);
        fixture.reply(vec![step(), done("call:1|x", "x"), end()]);
        fixture.user(provider, model, vec![words("Go on.")]);
        let judgement = judged(&fixture.export());
        assert_eq!(judgement.verdict, Verdict::Accepted, "{provider}");
        let messages = &judgement.sent.messages;
        let calls = messages.iter().flat_map(crate::Message::calls).map(|call| call.id.clone());
        calls
            .chain(messages.iter().flat_map(crate::Message::results).map(|result| result.call.clone()))
            .collect()
    };
    assert_eq!(ids("anthropic", "claude-sonnet-4-5"), ["call_1_x", "call_1_x"]);
    assert_eq!(ids("mistral", "devstral"), ["call1x000", "call1x000"]);
    assert_eq!(ids("groq", "llama"), ["call:1|x", "call:1|x"]);
}

#[test]
fn mistral_gets_a_reply_between_results_and_the_user() {
    let mut fixture = open("mistral", "devstral", false);
    fixture.messages[1].1.pop();
    assert_eq!(shape(&judged(&fixture.export())), "Ut Atc Tr At Ut");
    fixture.messages.pop();
    let judgement = judged(&fixture.export());
    assert_eq!(shape(&judgement), "Ut Atc Tr At");
    assert_eq!(judgement.verdict, Verdict::Accepted);
}

#[test]
fn user_files_are_sent_except_for_texts() {
    let mut fixture = Fixture::new("anthropic", "claude-sonnet-4-5");
    let file = |mime: &str, url: &str| json!({ "type": "file", "mime": mime, "url": url, "filename": "f" });
    let parts = vec![
        words(""),
        json!({ "type": "text", "text": "hidden", "ignored": true }),
        file("text/plain", "file:///w/f"),
        file("image/png", "data:image/png;base64,iVBORw0KGgo="),
        file("application/pdf", "data:application/pdf;base64,JVBERi0="),
        file("audio/wav", "file:///w/f"),
    ];
    fixture.user("anthropic", "claude-sonnet-4-5", parts);
    let judgement = judged(&fixture.export());
    assert_eq!(shape(&judgement), "Ut Uint");
    assert_eq!(judgement.sent.mended, [("leaves out empty texts", 1)]);
    assert_eq!(judgement.verdict, Verdict::Accepted);
}

#[test]
fn reverted_messages_are_hidden() {
    let mut fixture = healthy();
    fixture.info["revert"] = json!({ "messageID": "msg_003" });
    for (_, files) in fixture.forms() {
        let session = one(&files);
        assert_eq!(shape_of(&session.messages), "Ut Ahtcc Trr At");
        assert_eq!(shape_of(&session.off_branch), "Ut");
        assert_eq!(session.n_forks, 1);
    }
    fixture.info["revert"] = json!({ "messageID": "msg_002", "partID": "prt_002004" });
    let session = one(&fixture.export());
    assert_eq!(shape_of(&session.messages), "Ut Ahtc Tr");
    assert_eq!(shape_of(&session.off_branch), "Ac Tr At Ut");
}

#[test]
fn sub_agents_are_off_the_branch_of_their_session() {
    let connection = database();
    healthy().insert_into(&connection);
    for (id, parent) in [("ses_2", "ses_1"), ("ses_3", "ses_2")] {
        let mut child = Fixture::new("anthropic", "claude-haiku-4-5");
        child.info["id"] = json!(id);
        child.info["parentID"] = json!(parent);
        for (info, parts) in &mut child.messages {
            info["id"] = json!(format!("msg_{id}"));
            info["sessionID"] = json!(id);
            for part in parts {
                part["id"] = json!(format!("prt_{id}"));
            }
        }
        child.insert_into(&connection);
    }
    let session = one(&bytes_of(connection));
    assert_eq!(shape_of(&session.messages), "Ut Ahtcc Trr At Ut");
    assert_eq!(shape_of(&session.off_branch), "Ut Ut");
}

#[test]
fn a_history_that_ends_with_the_model_is_sent_unchanged() {
    let mut fixture = Fixture::new("anthropic", "claude-sonnet-4-6");
    let interrupted = json!({ "status": "error", "input": {}, "error": "Tool execution aborted", "metadata": { "interrupted": true } });
    fixture.reply(vec![step(), words("On it."), call("toolu_1", interrupted), step(), words("Half")]);
    let judgement = judged(&fixture.export());
    // A run that continued by itself sent this and was rejected (anomalyco/opencode#26177). The next user
    // message fixes it.
    assert_eq!(shape(&judgement), "Ut Atc Te At");
    assert_eq!(judgement.verdict, Verdict::Accepted);
}
