use brickbat_rules::histories::{self, Role};

use super::*;
use crate::files::File;
use crate::stores::testing::Tested;
use crate::{Message, Verdict, judge};

const ASK: &str = r#"{"role":"user","content":[{"type":"text","text":"Compare both."}],"ts":1}"#;
const BATCH: &str = r#"{"role":"assistant","content":[{"type":"thinking","thinking":"Two.","signature":"c2ln"},{"type":"text","text":"Both."},{"type":"tool_use","id":"toolu_1","name":"read","input":{"p":1}},{"type":"tool_use","id":"toolu_2","name":"read","input":{"p":2}}],"ts":2}"#;
const RESULTS: &str = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"one"},{"type":"tool_result","tool_use_id":"toolu_2","content":[{"type":"text","text":"two"}]},{"type":"text","text":"<environment/>"}],"ts":3}"#;
const ONE: &str =
    r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"one"}],"ts":3}"#;
const DONE: &str = r#"{"role":"assistant","content":[{"type":"text","text":"Same."}],"ts":4}"#;
const NEXT: &str = r#"{"role":"user","content":"And now?"}"#;

fn bare(messages: &[&str]) -> Files {
    Files::one("tasks/1/api_conversation_history.json", format!("[{}]", messages.join(", ")))
}

fn object(messages: &[&str]) -> Files {
    let list = messages.join(",\n    ");
    let text = format!(
        "{{\n  \"version\": 1,\n  \"updated_at\": \"t\",\n  \"agent\": \"lead\",\n  \"sessionId\": \"s1\",\n  \"messages\": [\n    {list}\n  ]\n}}\n"
    );
    Files::one("s1/s1.messages.json", text)
}

const CLINE: Tested = Tested(&Cline);

fn place(session: &Session, pointer: &str) -> Place {
    let blocks = session.messages.iter().flat_map(|message| &message.blocks);
    blocks.map(|block| &block.place).find(|place| place.pointer == pointer).unwrap().clone()
}

fn fill(session: &Session, pointer: &str, id: &str) -> Edit {
    Edit::Synthesise { call: place(session, pointer), id: id.to_owned() }
}

#[test]
fn a_healthy_list_is_accepted_in_both_forms() {
    let messages = [ASK, BATCH, RESULTS, DONE];
    let (session, judgement) = CLINE.judged(&bare(&messages));
    assert_eq!(judgement.verdict, Verdict::Accepted, "{:?}", judgement.refusals);
    assert_eq!((session.messages.len(), session.generation, judgement.is_assumed), (4, "JSON list", true));
    let (session, judgement) = CLINE.judged(&object(&messages));
    assert_eq!((judgement.verdict, session.id.as_deref()), (Verdict::Accepted, Some("s1")));
    assert_eq!(session.messages[1].blocks[2].place.pointer, "/messages/1/content/2");
}

#[test]
fn a_bare_list_with_another_name_or_form_is_not_recognised() {
    let text = format!("[{ASK}]");
    assert!(!Cline.recognises(&Files::one("history.json", text.clone())));
    assert!(!Cline.recognises(&Files::one("a.messages.json", text)));
    for text in [
        "[1]",
        "{}",
        "",
        "[{\"role\":\"tool\",\"content\":\"x\"}]",
        "[{\"role\":\"user\",\"parts\":[]}]",
        "[{\"ro",
    ] {
        assert!(!Cline.recognises(&Files::one("api_conversation_history.json", text)), "{text}");
    }
}

#[test]
fn a_call_in_the_middle_is_refused_in_the_older_form_and_can_be_filled() {
    let files = bare(&[ASK, BATCH, ONE, DONE, NEXT]);
    let (session, judgement) = CLINE.judged(&files);
    assert_eq!(judgement.verdict, Verdict::Refused);
    assert_eq!(judgement.refusals[0].rule.unwrap().id, "anthropic-messages/tool-result-missing");
    let filled = CLINE.written(&files, fill(&session, "/1/content/3", "toolu_2"));
    let (session, judgement) = CLINE.judged(&filled);
    assert_eq!(judgement.verdict, Verdict::Accepted, "{:?}", judgement.refusals);
    let result = session.messages[2].results().nth(1).unwrap();
    assert_eq!((result.text().as_str(), result.is_error), (crate::NOT_RECORDED, true));
    let block = serde_json::json!({ "type": "tool_result", "tool_use_id": "toolu_2", "content": crate::NOT_RECORDED, "is_error": true });
    let one = ONE.replace("\"one\"}", &format!("\"one\"}},{block}"));
    assert_eq!(filled, bare(&[ASK, BATCH, &one, DONE, NEXT]));
}

#[test]
fn the_newer_form_fills_every_call() {
    let (_, judgement) = CLINE.judged(&object(&[ASK, BATCH, ONE, DONE, NEXT]));
    assert_eq!(judgement.verdict, Verdict::Accepted, "{:?}", judgement.refusals);
    assert_eq!(judgement.sent.mended, [("fills calls without a result", 1)]);
}

#[test]
fn the_last_reply_is_filled_at_resume() {
    for (messages, n_filled) in [(vec![ASK, BATCH], 2), (vec![ASK, BATCH, ONE], 1)] {
        for files in [bare(&messages), object(&messages)] {
            let (_, judgement) = CLINE.judged(&files);
            assert_eq!(judgement.verdict, Verdict::OpenTail);
            assert_eq!(judgement.sent.mended, [("fills calls without a result", n_filled)]);
        }
    }
    let (_, judgement) = CLINE.judged(&bare(&[ASK, BATCH, NEXT]));
    assert_eq!(judgement.verdict, Verdict::Accepted, "{:?}", judgement.refusals);
    let filled = &judgement.sent.messages[2].results().next().unwrap();
    assert_eq!(
        (filled.text().as_str(), filled.is_error),
        ("Task was interrupted before this tool call could be completed.", false)
    );
}

#[test]
fn an_earlier_reply_is_not_filled_at_resume() {
    let (_, judgement) = CLINE.judged(&bare(&[ASK, BATCH, NEXT, NEXT]));
    assert_eq!(judgement.verdict, Verdict::Refused);
    assert!(judgement.sent.mended.is_empty());
}

/// Messages as Cline 3.57 wrote them, with results as texts (<https://github.com/mike4567/MRA04242026>).
#[test]
fn cline_itself_fills_each_reply() {
    let with_model = |reply: &str| {
        let fields = r#","modelInfo":{"modelId":"claude_4_5_opus","providerId":"openai","mode":"plan"}}"#;
        format!("{}{fields}", reply.trim_end().strip_suffix('}').unwrap())
    };
    let (_, judgement) = CLINE.judged(&bare(&[ASK, &with_model(BATCH), NEXT, NEXT]));
    assert_eq!(judgement.verdict, Verdict::Accepted, "{:?}", judgement.refusals);
    assert_eq!(judgement.sent.mended, [("fills calls without a result", 2)]);
    let (_, judgement) = CLINE.judged(&bare(&[ASK, &with_model(BATCH)]));
    assert_eq!(judgement.verdict, Verdict::OpenTail);
    // A result behind another message is none for it.
    let (_, judgement) = CLINE.judged(&bare(&[ASK, &with_model(BATCH), NEXT, DONE, ONE]));
    assert_eq!(judgement.verdict, Verdict::Refused);
}

#[test]
fn results_are_put_before_text_or_into_a_new_message() {
    let files = bare(&[ASK, BATCH, NEXT, DONE]);
    let session = CLINE.read(&files);
    let both = [fill(&session, "/1/content/2", "toolu_1"), fill(&session, "/1/content/3", "toolu_2")];
    let filled = Cline.write(&files, &session, &both).unwrap();
    let (session, judgement) = CLINE.judged(&filled);
    assert_eq!(judgement.verdict, Verdict::Accepted, "{:?}", judgement.refusals);
    assert_eq!(session.messages[2].blocks[2].content, histories::Block::Text("And now?".to_owned()));
    let files = bare(&[ASK, BATCH]);
    let session = CLINE.read(&files);
    let both = [fill(&session, "/1/content/2", "toolu_1"), fill(&session, "/1/content/3", "toolu_2")];
    let filled = Cline.write(&files, &session, &both).unwrap();
    assert_eq!(CLINE.judged(&filled).1.verdict, Verdict::Accepted);
    assert_eq!(CLINE.read(&filled).messages[2].role, Role::Tool);
}

#[test]
fn a_late_result_is_refused_and_can_be_moved() {
    let late =
        r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_2","content":"two"}]}"#;
    for files in [bare(&[ASK, BATCH, ONE, DONE, late]), object(&[ASK, BATCH, ONE, DONE, late])] {
        let (session, judgement) = CLINE.judged(&files);
        assert_eq!(judgement.verdict, Verdict::Refused);
        let result = session.messages[4].blocks[0].place.clone();
        let call = session.messages[1].blocks[3].place.clone();
        let mended = CLINE.written(&files, Edit::Move { result, call, id: "toolu_2".to_owned() });
        let (session, judgement) = CLINE.judged(&mended);
        assert_eq!(judgement.verdict, Verdict::Accepted, "{:?}", judgement.refusals);
        assert_eq!((session.messages.len(), session.messages[2].results().count()), (4, 2));
    }
}

#[test]
fn a_result_without_its_call_is_rejected_and_dropped_with_its_message() {
    let files = bare(&[ASK, ONE, DONE]);
    let (session, judgement) = CLINE.judged(&files);
    assert_eq!(judgement.refusals[0].rule.unwrap().id, "anthropic-messages/tool-result-orphan");
    let mended = CLINE.written(&files, Edit::Drop { block: session.messages[1].blocks[0].place.clone() });
    assert_eq!(mended, bare(&[ASK, DONE]));
    let twice = RESULTS
        .replace(r#""toolu_2","content":[{"type":"text","text":"two"}]"#, r#""toolu_1","content":"one""#);
    let files = bare(&[ASK, &twice]);
    let mended = CLINE.written(&files, Edit::Drop { block: place(&CLINE.read(&files), "/1/content/1") });
    assert_eq!(
        mended,
        bare(&[
            ASK,
            &RESULTS.replace(
                r#"{"type":"tool_result","tool_use_id":"toolu_2","content":[{"type":"text","text":"two"}]},"#,
                ""
            )
        ])
    );
}

#[test]
fn a_branch_can_be_truncated_after_a_message() {
    let files = bare(&[ASK, BATCH, RESULTS, DONE]);
    let cut = CLINE.written(&files, Edit::Truncate { last: place(&CLINE.read(&files), "/0/content/0") });
    assert_eq!(cut, bare(&[ASK]));
}

#[test]
fn half_a_file_is_reported_and_closed() {
    let whole = bare(&[ASK, BATCH, RESULTS]);
    let half = whole.main()[..whole.main().len() - 40].to_vec();
    let files = Files::one("api_conversation_history.json", half);
    let (session, judgement) = CLINE.judged(&files);
    assert_eq!((judgement.verdict, session.messages.len()), (Verdict::OpenTail, 2));
    assert_eq!(session.troubles[0].words, "the list is cut: the file ends before its JSON does");
    let closed = CLINE.written(&files, Edit::Discard { place: session.troubles[0].place.clone() });
    assert_eq!(closed.main(), bare(&[ASK, BATCH]).main());
    assert!(CLINE.read(&closed).troubles.is_empty());
}

#[test]
fn a_compaction_replaces_the_beginning() {
    let mut files = object(&[ASK, BATCH, RESULTS, DONE, NEXT]);
    let compaction = r#"{"version":1,"updated_at":"t","source_message_count":4,"messages":[{"role":"user","content":"Compared."},{"role":"assistant","content":"Yes."}]}"#;
    files.files.push(File { name: "s1/s1.compaction.json".to_owned(), bytes: compaction.into() });
    let (session, judgement) = CLINE.judged(&files);
    assert_eq!(judgement.verdict, Verdict::Accepted);
    let roles: Vec<Role> = session.messages.iter().map(|message: &Message| message.role).collect();
    assert_eq!((roles, session.off_branch.len()), (vec![Role::User, Role::Assistant, Role::User], 4));
    let block = session.messages[0].blocks[0].place.clone();
    assert_eq!(block.file, 1);
    assert!(Cline.write(&files, &session, &[Edit::Drop { block }]).is_err());
}

#[test]
fn a_newer_version_is_an_unknown_form() {
    let text = String::from_utf8(object(&[ASK]).main().to_vec()).unwrap();
    let files = Files::one("s1.messages.json", text.replace("\"version\": 1", "\"version\": 2"));
    assert!(matches!(
        Cline.read(&files),
        Err(ReadError::Form { cause: FormError::Newer { found: 2, .. }, .. })
    ));
}

#[test]
fn hostile_lists_are_harmless() {
    let odd = r#"{"role":"user","content":[null,7,{"type":"tool_result"},{"type":"tool_use","id":1},{"type":"image"},{"type":"image","source":{"data":"x"}}]}"#;
    let files = bare(&[odd, odd]);
    let session = CLINE.read(&files);
    judge(&session, None);
    for block in session.messages.iter().flat_map(|message| &message.blocks) {
        Cline.write(&files, &session, &[Edit::Drop { block: block.place.clone() }]).unwrap();
        assert!(
            Cline
                .write(
                    &files,
                    &session,
                    &[Edit::Synthesise { call: block.place.clone(), id: "x".to_owned() }]
                )
                .is_err()
        );
    }
    let deep = "[".repeat(100_000);
    assert!(!Cline.recognises(&Files::one("api_conversation_history.json", deep)));
    let many = vec![ASK; 10_000];
    assert_eq!(CLINE.read(&bare(&many)).messages.len(), 10_000);
}

#[test]
fn a_fork_is_named_by_its_fields_or_its_path() {
    let list = r#"[{"role":"user","content":"Look."},{"role":"assistant","content":"So far: all was well.","isSummary":true,"condenseId":"c1","ts":1}]"#;
    let session = crate::read(&Files::one("api_conversation_history.json", list)).unwrap().remove(0);
    assert_eq!(session.writer(), "Roo Code or Kilo Code (in the format of Cline)");
    let plain = r#"[{"role":"user","content":"Look."},{"role":"assistant","content":"Seen.","ts":1}]"#;
    let mut files = Files::one("api_conversation_history.json", plain);
    assert_eq!(crate::read(&files).unwrap()[0].writer(), "Cline");
    files.files.push(crate::File { name: "history_item.json".to_owned(), bytes: b"{}".to_vec() });
    assert_eq!(crate::read(&files).unwrap()[0].writer(), "Roo Code (in the format of Cline)");
    let at = |path: &str| Product::Cline.fork_at(path);
    assert_eq!(
        at("globalStorage/rooveterinaryinc.roo-cline/tasks/1/api_conversation_history.json"),
        Some("Roo Code")
    );
    assert_eq!(at(r"C:\Code\kilocode.kilo-code\tasks\1\api_conversation_history.json"), Some("Kilo Code"));
    assert_eq!(at("saoudrizwan.claude-dev/tasks/1/api_conversation_history.json"), None);
}
