use super::*;
use crate::stores::testing::{Tested, rules};
use crate::{Place, Verdict, judge};

const METADATA: &str =
    r#"{"sessionId":"s1","projectHash":"p1","startTime":"t","lastUpdated":"t","kind":"main"}"#;
const ASK: &str = r#"{"id":"u1","type":"user","content":[{"text":"Compare both."}]}"#;
const BATCH: &str = r#"{"id":"g1","type":"gemini","content":"Both.","model":"gemini-3-pro-preview","thoughts":[{"subject":"Plan","description":"two"}],"toolCalls":[{"id":"c1","name":"read","args":{"p":1},"status":"success","result":[{"functionResponse":{"id":"c1","name":"read","response":{"output":"one"}}}]},{"id":"c2","name":"read","args":{"p":2},"status":"success","result":"two"}]}"#;
const DONE: &str = r#"{"id":"g2","type":"gemini","content":"Same.","model":"gemini-3-pro-preview"}"#;

fn jsonl(lines: &[&str]) -> Files {
    Files::one("chats/session-1.jsonl", format!("{METADATA}\n{}\n", lines.join("\n")))
}

const GEMINI_CLI: Tested = Tested(&GeminiCli);

fn text_of(files: &Files) -> &str {
    std::str::from_utf8(files.main()).unwrap()
}

fn call_at(session: &Session, id: &str) -> Place {
    let blocks = session.messages.iter().flat_map(|message| &message.blocks);
    let mut found =
        blocks.filter(|block| matches!(&block.content, histories::Block::Call(call) if call.id == id));
    found.next().unwrap().place.clone()
}

fn results_at(messages: &[Message], id: &str) -> Vec<Place> {
    let blocks = messages.iter().flat_map(|message| &message.blocks);
    let is_result =
        |block: &&Block| matches!(&block.content, histories::Block::Result(result) if result.call == id);
    blocks.filter(is_result).map(|block| block.place.clone()).collect()
}

/// The batch, with the second call as the product leaves it when it is killed.
fn without_second() -> String {
    BATCH.replace(r#""status":"success","result":"two""#, r#""status":"executing","result":null"#)
}

#[test]
fn a_healthy_session_is_accepted() {
    let (session, judgement) = GEMINI_CLI.judged(&jsonl(&[ASK, BATCH, DONE]));
    assert_eq!(judgement.verdict, Verdict::Accepted, "{:?}", judgement.refusals);
    assert_eq!(session.messages.len(), 4);
    assert_eq!(session.messages[1].blocks.len(), 4);
    assert_eq!(results_at(&session.messages, "c2")[0].pointer, "/toolCalls/1/result");
    assert_eq!((session.id.as_deref(), session.n_records), (Some("s1"), 4));
    assert_eq!(judgement.sent.mended, [("leaves out thoughts", 1)]);
}

#[test]
fn the_older_json_form_is_read() {
    let body = format!(
        "{{\n \"sessionId\": \"s1\",\n \"projectHash\": \"p\",\n \"messages\": [{ASK},\n{BATCH},{DONE}]\n}}"
    );
    let (session, judgement) = GEMINI_CLI.judged(&Files::one("session-1.json", body.clone()));
    assert_eq!((judgement.verdict, session.generation), (Verdict::Accepted, "JSON"));
    assert_eq!(call_at(&session, "c1").pointer, "/messages/1/toolCalls/0");
    let cut = GEMINI_CLI
        .written(&Files::one("session-1.json", body), Edit::Truncate { last: call_at(&session, "c1") });
    assert_eq!(GEMINI_CLI.read(&cut).messages.len(), 3);
    assert!(text_of(&cut).ends_with("]}]\n}"));
}

#[test]
fn the_last_record_of_an_id_wins_at_the_first_position() {
    let early = r#"{"id":"g1","type":"gemini","content":"","toolCalls":[{"id":"c1","name":"read","args":{},"status":"executing"}]}"#;
    let (session, judgement) = GEMINI_CLI.judged(&jsonl(&[ASK, early, DONE, BATCH]));
    assert_eq!(judgement.verdict, Verdict::Accepted);
    assert_eq!(session.messages[1].place.line, Some(5));
    assert_eq!(session.messages[3].place.line, Some(4));
}

#[test]
fn a_rewind_removes_a_message_and_all_after_it() {
    let session = GEMINI_CLI.read(&jsonl(&[ASK, BATCH, DONE, r#"{"$rewindTo":"g1"}"#]));
    assert_eq!((session.messages.len(), session.off_branch.len(), session.n_forks), (1, 3, 1));
    assert!(session.troubles.is_empty());
}

#[test]
fn a_rewind_to_an_unknown_id_clears_everything_and_is_reported() {
    let files = jsonl(&[ASK, BATCH, DONE, r#"{"$rewindTo":"nowhere"}"#]);
    let (session, judgement) = GEMINI_CLI.judged(&files);
    assert_eq!(judgement.verdict, Verdict::Unreadable);
    assert_eq!(session.off_branch.len(), 4);
    assert_eq!(session.troubles[0].place.line, Some(5));
    let mended = GEMINI_CLI.written(&files, Edit::Discard { place: session.troubles[0].place.clone() });
    assert_eq!(mended, jsonl(&[ASK, BATCH, DONE]));
}

#[test]
fn a_new_list_replaces_all_messages() {
    let set = format!(r#"{{"$set":{{"messages":[{ASK},{DONE}],"lastUpdated":"t"}}}}"#);
    let files = jsonl(&[ASK, BATCH, DONE, &set]);
    let session = GEMINI_CLI.read(&files);
    assert_eq!(session.messages.len(), 2);
    assert_eq!(session.messages[1].blocks[0].place.pointer, "/$set/messages/1/content");
    let dropped =
        GEMINI_CLI.written(&files, Edit::Drop { block: session.messages[1].blocks[0].place.clone() });
    assert_eq!(text_of(&dropped), text_of(&files).replace(&format!("[{ASK},{DONE}]"), &format!("[{ASK}]")));
}

#[test]
fn a_call_without_a_result_is_refused_and_can_be_filled() {
    let files = jsonl(&[ASK, &without_second(), DONE]);
    let (session, judgement) = GEMINI_CLI.judged(&files);
    assert_eq!(judgement.verdict, Verdict::Refused);
    assert_eq!(rules(&judgement), ["gemini/response-count"]);
    let edit = Edit::Synthesise { call: call_at(&session, "c2"), id: "c2".to_owned() };
    let filled = GEMINI_CLI.written(&files, edit.clone());
    let (session, judgement) = GEMINI_CLI.judged(&filled);
    assert_eq!(judgement.verdict, Verdict::Accepted, "{:?}", judgement.refusals);
    let result = session.messages[2].results().nth(1).unwrap();
    assert_eq!((result.text().as_str(), result.is_error), (crate::NOT_RECORDED, true));
    assert_eq!(GEMINI_CLI.written(&files, edit), filled);
    let part = r#"[{"functionResponse":{"id":"c2","name":"read","response":{"error":"No result of this call was recorded. It may or may not have run; check before you run it again."}}}]"#;
    assert_eq!(text_of(&filled), text_of(&files).replace(r#""result":null"#, &format!(r#""result":{part}"#)));
}

#[test]
fn a_call_without_a_result_field_can_be_filled() {
    let open = BATCH.replace(r#","result":"two""#, "");
    let files = jsonl(&[ASK, &open, DONE]);
    let session = GEMINI_CLI.read(&files);
    let filled =
        GEMINI_CLI.written(&files, Edit::Synthesise { call: call_at(&session, "c2"), id: "c2".to_owned() });
    assert_eq!(GEMINI_CLI.judged(&filled).1.verdict, Verdict::Accepted);
}

#[test]
fn calls_in_the_content_are_filled_beside_it() {
    let modern = r#"{"id":"g1","type":"gemini","content":[{"functionCall":{"id":"c1","name":"read","args":{}},"thoughtSignature":"c2ln"}],"model":"gemini-3-pro-preview"}"#;
    let files = jsonl(&[ASK, modern, DONE]);
    let (session, judgement) = GEMINI_CLI.judged(&files);
    assert_eq!(judgement.verdict, Verdict::Refused);
    let filled =
        GEMINI_CLI.written(&files, Edit::Synthesise { call: call_at(&session, "c1"), id: "c1".to_owned() });
    let (session, judgement) = GEMINI_CLI.judged(&filled);
    assert_eq!(judgement.verdict, Verdict::Accepted, "{:?}", judgement.refusals);
    assert_eq!(session.messages[1].blocks[0].state.as_deref(), Some("error"));
}

#[test]
fn trailing_open_calls_are_sent_unchanged() {
    let (session, judgement) = GEMINI_CLI.judged(&jsonl(&[ASK, &without_second()]));
    assert!(session.has_open_tail());
    assert_eq!(judgement.verdict, Verdict::Refused);
}

#[test]
fn duplicate_results_are_sent_twice_and_can_be_dropped() {
    let copy = r#"{"id":"u2","type":"user","content":[{"functionResponse":{"id":"c1","name":"read","response":{"output":"one"}}},{"functionResponse":{"id":"c2","name":"read","response":{"output":"two"}}}]}"#;
    let files = jsonl(&[ASK, BATCH, copy, DONE]);
    let (session, judgement) = GEMINI_CLI.judged(&files);
    assert_eq!(judgement.verdict, Verdict::Refused);
    let drop = |id: &str| Edit::Drop { block: results_at(&session.messages, id)[1].clone() };
    let mended = GeminiCli.write(&files, &session, &[drop("c1"), drop("c2")]).unwrap();
    assert_eq!(mended, jsonl(&[ASK, BATCH, DONE]));
    let half = GeminiCli.write(&files, &session, &[drop("c1")]).unwrap();
    assert_eq!(GEMINI_CLI.read(&half).messages[3].blocks.len(), 1);
}

#[test]
fn the_copy_of_a_result_beside_its_call_is_dropped() {
    let batch = BATCH.replace(
        r#""result":"two""#,
        r#""result":[{"functionResponse":{"id":"c2","name":"read","response":{"output":"two"}}}]"#,
    );
    let copy = r#"{"id":"u2","type":"user","content":[{"functionResponse":{"id":"c1","name":"read","response":{"output":"one"}}},{"functionResponse":{"id":"c2","name":"read","response":{"output":"two"}}}]}"#;
    let files = jsonl(&[ASK, &batch, copy, DONE]);
    let Ok(crate::Repair::Mended(mended)) = crate::repair(&files, 0, &crate::RepairOptions::default()) else {
        panic!("not mended")
    };
    let text = text_of(&mended.files);
    assert!(text.contains(copy), "{text}");
    assert_eq!(text.matches(r#""result":[]"#).count(), 2, "{text}");
    let (session, judgement) = GEMINI_CLI.judged(&mended.files);
    assert_eq!((judgement.verdict, session.n_batches()), (Verdict::Accepted, 1));
}

#[test]
fn a_result_that_was_rewound_can_be_moved() {
    let late = r#"{"id":"x1","type":"user","content":[{"functionResponse":{"id":"c2","name":"read","response":{"output":"late"}}}]}"#;
    let files = jsonl(&[ASK, late, r#"{"$rewindTo":"x1"}"#, &without_second(), DONE]);
    let session = GEMINI_CLI.read(&files);
    let result = results_at(&session.off_branch, "c2").remove(0);
    let call = call_at(&session, "c2");
    let mended = GEMINI_CLI.written(&files, Edit::Move { result, call, id: "c2".to_owned() });
    let (session, judgement) = GEMINI_CLI.judged(&mended);
    assert_eq!(judgement.verdict, Verdict::Accepted, "{:?}", judgement.refusals);
    assert_eq!(session.messages[2].results().nth(1).unwrap().text(), "late");
    assert!(text_of(&mended).contains(late));
}

#[test]
fn a_branch_is_cut_with_a_rewind() {
    let files = jsonl(&[ASK, BATCH, DONE]);
    let session = GEMINI_CLI.read(&files);
    let cut = GEMINI_CLI.written(&files, Edit::Truncate { last: call_at(&session, "c1") });
    assert_eq!(text_of(&cut), format!("{}{{\"$rewindTo\":\"g2\"}}\n", text_of(&files)));
    assert_eq!(GEMINI_CLI.read(&cut).messages, session.messages[..3]);
}

#[test]
fn a_message_is_removed_with_its_earlier_records() {
    let early = r#"{"id":"g2","type":"gemini","content":"Sa"}"#;
    let files = jsonl(&[ASK, BATCH, early, DONE]);
    let session = GEMINI_CLI.read(&files);
    let dropped =
        GEMINI_CLI.written(&files, Edit::Drop { block: session.messages[3].blocks[0].place.clone() });
    assert_eq!(dropped, jsonl(&[ASK, BATCH]));
}

#[test]
fn commands_and_context_are_not_sent() {
    let command = r#"{"id":"u0","type":"user","content":"/help"}"#;
    let context = r#"{"id":"u9","type":"user","content":[{"text":"<session_context>x"}]}"#;
    let session = GEMINI_CLI.read(&jsonl(&[command, context, ASK, DONE]));
    assert_eq!((session.messages.len(), session.off_branch.len()), (2, 2));
}

#[test]
fn a_reply_with_an_empty_part_is_left_out_with_its_calls() {
    let empty = r#"{"id":"g1","type":"gemini","content":[{"text":""},{"functionCall":{"id":"c1","name":"read","args":{}}}],"toolCalls":[{"id":"c1","name":"read","args":{},"status":"success","result":"one"}]}"#;
    let (_, judgement) = GEMINI_CLI.judged(&jsonl(&[ASK, empty, DONE]));
    assert_eq!(judgement.verdict, Verdict::Refused);
    assert_eq!(judgement.sent.mended[0], ("leaves out replies with an empty part", 1));
    assert_eq!(rules(&judgement), ["gemini/response-not-after-call"]);
}

#[test]
fn calls_of_the_active_loop_are_signed() {
    let results = r#"{"id":"u2","type":"user","content":[{"text":"And?"}]}"#;
    let (_, judgement) = GEMINI_CLI.judged(&jsonl(&[ASK, BATCH]));
    assert_eq!(judgement.verdict, Verdict::Accepted);
    let last = judgement.sent.messages.last().unwrap();
    assert_eq!(
        last.blocks[0].content,
        histories::Block::Text("[The previous response was interrupted before it completed.]".to_owned())
    );
    // Older versions joined the results with the next user message, so the loop began at the user message
    // before.
    let unsigned = BATCH.replace(r#""thoughts":[{"subject":"Plan","description":"two"}],"#, "");
    let (_, judgement) = GEMINI_CLI.judged(&jsonl(&[ASK, &unsigned, results]));
    let call = judgement.sent.messages[1].calls().next().unwrap();
    assert_eq!(call.signature.as_deref(), Some("skip_thought_signature_validator"));
}

#[test]
fn a_torn_last_line_is_reported_and_removed() {
    let files = jsonl(&[ASK, BATCH, DONE, r#"{"id":"u2","type":"us"#]);
    let (session, judgement) = GEMINI_CLI.judged(&files);
    assert_eq!(judgement.verdict, Verdict::Accepted);
    assert_eq!(session.troubles[0].words, "a torn line: it ends before its JSON does");
    let mended = GEMINI_CLI.written(&files, Edit::Discard { place: session.troubles[0].place.clone() });
    assert_eq!(mended, jsonl(&[ASK, BATCH, DONE]));
}

#[test]
fn a_duplicate_line_is_harmless() {
    assert_eq!(GEMINI_CLI.judged(&jsonl(&[ASK, BATCH, BATCH, DONE])).1.verdict, Verdict::Accepted);
}

#[test]
fn unknown_content_is_an_unknown_form_and_an_unknown_patch_is_noted() {
    let files = jsonl(&[ASK, r#"{"id":"g1","type":"gemini","content":7}"#]);
    assert!(matches!(GeminiCli.read(&files), Err(ReadError::Form { .. })));
    let session =
        GEMINI_CLI.read(&jsonl(&[ASK, r#"{"$new":1}"#, r#"{"id":"z","type":"later","content":""}"#]));
    assert_eq!(
        session.unknown,
        ["a record that is neither a message nor a patch", "a message of another type"]
    );
}

#[test]
fn lists_of_other_products_are_not_recognised() {
    for text in [
        "",
        "[]",
        "{}",
        "null",
        "{\"messages\":[]}",
        "{\"sessionId\":1,\"projectHash\":2,\"messages\":[]}",
        "{\"sessionId\":\"s\"}\n",
    ] {
        assert!(!GeminiCli.recognises(&Files::one("session-1.json", text)), "{text}");
    }
}

#[test]
fn hostile_values_are_harmless() {
    for line in [
        r#"{"id":"g1","type":"gemini","content":[null,1,{}],"toolCalls":[null,[],{"result":[null]},{"result":7}],"thoughts":[1]}"#,
        r#"{"id":"g1","type":"gemini","toolCalls":{"a":1},"thoughts":"x"}"#,
        r#"{"$set":{"messages":[1,null,{"id":7},{"id":"a"}]}}"#,
    ] {
        let files = jsonl(&[ASK, line]);
        let session = GEMINI_CLI.read(&files);
        judge(&session, None);
        for message in &session.messages {
            for block in &message.blocks {
                let last = block.place.clone();
                GeminiCli.write(&files, &session, &[Edit::Drop { block: last.clone() }]).unwrap();
                GeminiCli.write(&files, &session, &[Edit::Truncate { last }]).unwrap();
            }
        }
    }
    let many: Vec<String> = (0..20_000).map(|n| format!(r#"{{"$rewindTo":"{n}"}}"#)).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert_eq!(GEMINI_CLI.read(&jsonl(&many)).n_forks, 20_000);
    let elsewhere = Place::in_line(9, 900..901, "/content");
    assert!(
        GeminiCli
            .write(&jsonl(&[ASK]), &GEMINI_CLI.read(&jsonl(&[ASK])), &[Edit::Drop { block: elsewhere }])
            .is_err()
    );
}
