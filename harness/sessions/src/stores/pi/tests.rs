use brickbat_rules::histories;

use super::*;
use crate::stores::testing::{Tested, repaired, rules};
use crate::{Place, Reason, Verdict, judge};

const HEADER: &str = r#"{"type":"session","version":3,"id":"s1","timestamp":"t0","cwd":"/w"}"#;
const ASK: &str = r#"{"type":"message","id":"a1","parentId":null,"timestamp":"t1","message":{"role":"user","content":"Compare both.","timestamp":1}}"#;
const BATCH: &str = r#"{"type":"message","id":"a2","parentId":"a1","timestamp":"t2","message":{"role":"assistant","api":"anthropic-messages","provider":"anthropic","model":"claude-sonnet-4-5","content":[{"type":"thinking","thinking":"Two.","thinkingSignature":"c2ln"},{"type":"text","text":"Both."},{"type":"toolCall","id":"toolu_1","name":"read","arguments":{"p":1}},{"type":"toolCall","id":"toolu_2","name":"read","arguments":{"p":2}}],"stopReason":"toolUse","timestamp":2}}"#;
const ONE: &str = r#"{"type":"message","id":"a3","parentId":"a2","timestamp":"t3","message":{"role":"toolResult","toolCallId":"toolu_1","toolName":"read","content":[{"type":"text","text":"one"}],"isError":false}}"#;
const TWO: &str = r#"{"type":"message","id":"a4","parentId":"a3","timestamp":"t4","message":{"role":"toolResult","toolCallId":"toolu_2","toolName":"read","content":[{"type":"text","text":"two"}],"isError":false}}"#;
const DONE: &str = r#"{"type":"message","id":"a5","parentId":"a4","timestamp":"t5","message":{"role":"assistant","api":"anthropic-messages","provider":"anthropic","model":"claude-sonnet-4-5","content":[{"type":"text","text":"Same."},{"type":"text","text":" "}],"stopReason":"stop"}}"#;

fn jsonl(lines: &[&str]) -> Files {
    Files::one("--w--/t0_s1.jsonl", format!("{HEADER}\n{}\n", lines.join("\n")))
}

const PI: Tested = Tested(&Pi);

fn lines(files: &Files) -> Vec<&str> {
    std::str::from_utf8(files.main()).unwrap().lines().collect()
}

fn place(session: &Session, line: u64, pointer: &str) -> Place {
    let blocks = session.messages.iter().chain(&session.off_branch).flat_map(|message| &message.blocks);
    let mut places = blocks.map(|block| &block.place);
    places.find(|place| place.line == Some(line) && place.pointer == pointer).unwrap().clone()
}

#[test]
fn a_healthy_session_is_accepted() {
    let (session, judgement) = PI.judged(&jsonl(&[ASK, BATCH, ONE, TWO, DONE]));
    assert_eq!(judgement.verdict, Verdict::Accepted, "{:?}", judgement.refusals);
    assert!(!judgement.is_assumed);
    assert_eq!(session.messages.len(), 5);
    assert_eq!(judgement.sent.mended, [("leaves out blank texts", 1)]);
    assert_eq!((session.n_forks, session.id.as_deref()), (0, Some("s1")));
}

#[test]
fn a_missing_result_is_filled_by_the_product_and_can_be_written() {
    let done = DONE.replace(r#""parentId":"a4""#, r#""parentId":"a3""#);
    let files = jsonl(&[ASK, BATCH, ONE, &done]);
    let (session, judgement) = PI.judged(&files);
    assert_eq!(judgement.verdict, Verdict::Accepted);
    assert!(judgement.sent.mended.contains(&("fills calls without a result", 1)));
    let edit = Edit::Synthesise { call: place(&session, 3, "/message/content/3"), id: "toolu_2".to_owned() };
    let filled = PI.written(&files, edit.clone());
    let (session, judgement) = PI.judged(&filled);
    assert_eq!(judgement.sent.mended, [("leaves out blank texts", 1)]);
    let result = session.messages[3].results().next().unwrap();
    assert_eq!(
        (result.call.as_str(), result.text().as_str(), result.is_error),
        ("toolu_2", crate::NOT_RECORDED, true)
    );
    // One line is new, and the next line names it as its parent. Everything else is unchanged.
    let (old, new) = (lines(&files), lines(&filled));
    assert_eq!(new[..4], old[..4]);
    let id = session.messages[3].id.clone().unwrap();
    assert_eq!(new[5], done.replace(r#""parentId":"a3""#, &format!(r#""parentId":"{id}""#)));
    assert_eq!(PI.written(&filled, edit), filled);
}

#[test]
fn a_result_without_its_call_is_refused_and_can_be_dropped() {
    let one = ONE.replace(r#""parentId":"a2""#, r#""parentId":"a1""#);
    let files = jsonl(&[ASK, &one, &TWO.replace("toolu_2", "toolu_9"), DONE]);
    let (session, judgement) = PI.judged(&files);
    assert_eq!(judgement.verdict, Verdict::Refused);
    assert!(rules(&judgement).contains(&"anthropic-messages/tool-result-orphan"), "{:?}", rules(&judgement));
    let drop = |line| Edit::Drop { block: place(&session, line, "/message") };
    let mended = Pi.write(&files, &session, &[drop(3), drop(4)]).unwrap();
    assert_eq!(mended, jsonl(&[ASK, &DONE.replace(r#""parentId":"a4""#, r#""parentId":"a1""#)]));
    assert_eq!(PI.judged(&mended).1.verdict, Verdict::Accepted);
}

#[test]
fn stopped_and_failed_replies_are_left_out() {
    for reason in ["aborted", "error"] {
        let stopped = BATCH.replace("toolUse", reason);
        let (session, judgement) = PI.judged(&jsonl(&[ASK, &stopped]));
        assert_eq!(judgement.verdict, Verdict::Accepted, "{reason}");
        assert_eq!(judgement.sent.messages.len(), 1);
        assert_ne!(session.messages[1].ending, Ending::Whole);
    }
    // The results of a reply that is left out have no call.
    let (_, judgement) = PI.judged(&jsonl(&[ASK, &BATCH.replace("toolUse", "aborted"), ONE, TWO, DONE]));
    assert_eq!(judgement.verdict, Verdict::Refused);
}

#[test]
fn trailing_calls_are_open() {
    let (session, judgement) = PI.judged(&jsonl(&[ASK, BATCH, ONE]));
    assert_eq!(judgement.verdict, Verdict::OpenTail);
    assert_eq!(Pi.fills_open_tail(&session), Some("answers them with `No result provided`"));
}

#[test]
fn a_late_result_is_refused_and_can_be_moved() {
    let more = r#"{"type":"message","id":"b1","parentId":"a3","timestamp":"t","message":{"role":"user","content":[{"type":"text","text":"And?"}]}}"#;
    let two = TWO.replace(r#""parentId":"a3""#, r#""parentId":"b1""#);
    let files = jsonl(&[ASK, BATCH, ONE, more, &two, DONE]);
    let (session, judgement) = PI.judged(&files);
    assert_eq!(judgement.verdict, Verdict::Refused);
    let (result, call) = (place(&session, 6, "/message"), place(&session, 3, "/message/content/3"));
    let mended = PI.written(&files, Edit::Move { result, call, id: "toolu_2".to_owned() });
    let (session, judgement) = PI.judged(&mended);
    assert_eq!(judgement.verdict, Verdict::Accepted, "{:?}", judgement.refusals);
    let ids: Vec<_> = session.messages.iter().filter_map(|message| message.id.as_deref()).collect();
    assert_eq!(ids, ["a1", "a2", "a3", "a4", "b1", "a5"]);
    assert_eq!(session.n_records, 7);
}

#[test]
fn a_result_off_the_branch_is_harmless_and_can_be_copied() {
    let done = DONE.replace(r#""parentId":"a4""#, r#""parentId":"a3""#);
    let files = jsonl(&[ASK, BATCH, ONE, TWO, &done]);
    let (session, judgement) = PI.judged(&files);
    assert_eq!((judgement.verdict, session.n_forks, session.off_branch.len()), (Verdict::Accepted, 1, 1));
    let (result, call) = (place(&session, 5, "/message"), place(&session, 3, "/message/content/3"));
    let mended = PI.written(&files, Edit::Move { result, call, id: "toolu_2".to_owned() });
    let session = PI.read(&mended);
    assert_eq!(session.messages[3].results().next().unwrap().text(), "two");
    assert_eq!((session.messages.len(), session.off_branch.len()), (5, 1));
    assert!(lines(&mended).contains(&TWO));
}

#[test]
fn a_branch_is_truncated_with_an_empty_line() {
    let files = jsonl(&[ASK, BATCH, ONE, TWO, DONE]);
    let session = PI.read(&files);
    let cut = PI.written(&files, Edit::Truncate { last: place(&session, 2, "/message/content") });
    let after = PI.read(&cut);
    assert_eq!(after.messages, session.messages[..1]);
    assert_eq!(after.off_branch.len(), 4);
    assert!(after.unknown.is_empty());
    assert!(cut.main().starts_with(files.main()));
    // Truncation at the end changes nothing.
    assert_eq!(PI.written(&files, Edit::Truncate { last: place(&session, 6, "/message/content/0") }), files);
}

#[test]
fn a_block_is_dropped_alone_and_the_last_with_its_line() {
    let files = jsonl(&[ASK, BATCH, ONE, TWO, DONE]);
    let session = PI.read(&files);
    let dropped = PI.written(&files, Edit::Drop { block: place(&session, 6, "/message/content/1") });
    assert_eq!(lines(&dropped)[5], DONE.replace(r#",{"type":"text","text":" "}"#, ""));
    let all = [0, 1].map(|n| Edit::Drop { block: place(&session, 6, &format!("/message/content/{n}")) });
    assert_eq!(Pi.write(&files, &session, &all).unwrap(), jsonl(&[ASK, BATCH, ONE, TWO]));
}

#[test]
fn a_compaction_replaces_what_it_does_not_keep() {
    let compaction = r#"{"type":"compaction","id":"c1","parentId":"a5","timestamp":"t","summary":"Compared.","firstKeptEntryId":"a5","tokensBefore":9}"#;
    let next = r#"{"type":"message","id":"d1","parentId":"c1","timestamp":"t","message":{"role":"user","content":"Next."}}"#;
    let (session, judgement) = PI.judged(&jsonl(&[ASK, BATCH, ONE, TWO, DONE, compaction, next]));
    assert_eq!(judgement.verdict, Verdict::Accepted);
    assert_eq!((session.messages.len(), session.off_branch.len(), session.n_compactions), (3, 4, 1));
    assert!(
        matches!(&session.messages[0].blocks[0].content, histories::Block::Text(text) if text.contains("Compared."))
    );
    let lost = compaction.replace(r#"EntryId":"a5""#, r#"EntryId":"zz""#);
    let session = PI.read(&jsonl(&[ASK, BATCH, ONE, TWO, DONE, &lost, next]));
    assert_eq!(session.troubles[0].words, "the first line that a compaction keeps is not on the branch");
}

#[test]
fn a_compaction_that_keeps_a_removed_result_first_keeps_the_lines_after_it() {
    let compaction = |kept: &str| {
        format!(
            r#"{{"type":"compaction","id":"c1","parentId":"a5","timestamp":"t","summary":"Compared.","firstKeptEntryId":"{kept}","tokensBefore":9}}"#
        )
    };
    let next = r#"{"type":"message","id":"d1","parentId":"c1","timestamp":"t","message":{"role":"user","content":"Next."}}"#;
    let files = jsonl(&[ASK, BATCH, ONE, TWO, DONE, &compaction("a3"), next]);
    let (fixed, reasons, verdict) = repaired(&files).unwrap();
    assert_eq!((reasons, verdict), (vec![Reason::Orphan; 2], Verdict::Accepted));
    let done = DONE.replace(r#""parentId":"a4""#, r#""parentId":"a2""#);
    assert_eq!(fixed, jsonl(&[ASK, BATCH, &done, &compaction("a5"), next]));
}

#[test]
fn a_compaction_can_keep_messages_of_its_own() {
    let compaction = r#"{"type":"compaction","id":"c1","parentId":"a5","timestamp":"t","summary":"Compared.","retainedTail":[{"role":"user","content":"Kept."}]}"#;
    let session = PI.read(&jsonl(&[ASK, BATCH, ONE, TWO, DONE, compaction]));
    assert_eq!(session.messages.len(), 2);
    assert_eq!(session.messages[1].blocks[0].place.pointer, "/retainedTail/0/content");
}

#[test]
fn a_branch_summary_is_a_user_message() {
    let summary = r#"{"type":"branch_summary","id":"b1","parentId":"a1","timestamp":"t","fromId":"a5","summary":"Tried."}"#;
    let session = PI.read(&jsonl(&[ASK, BATCH, ONE, TWO, DONE, summary]));
    assert_eq!((session.messages.len(), session.off_branch.len()), (2, 4));
    assert!(
        matches!(&session.messages[1].blocks[0].content, histories::Block::Text(text) if text.ends_with("Tried.</summary>"))
    );
}

#[test]
fn a_broken_parent_is_reported() {
    let (session, _) =
        PI.judged(&jsonl(&[ASK, BATCH, ONE, &TWO.replace(r#""parentId":"a3""#, r#""parentId":"zz""#), DONE]));
    assert_eq!(
        session.troubles[0].words,
        "its parent is not in the file, so everything before it is cut off"
    );
    assert_eq!(session.troubles[0].place.line, Some(5));
    assert_eq!((session.messages.len(), session.off_branch.len()), (2, 3));
}

#[test]
fn torn_lines_and_nul_bytes_are_reported_and_removed() {
    let healthy = jsonl(&[ASK, BATCH, ONE, TWO, DONE]);
    for tail in ["{\"type\":\"mess", "\0\0\0\0"] {
        let files = Files::one("a.jsonl", format!("{}{tail}", lines(&healthy).join("\n") + "\n"));
        let (session, judgement) = PI.judged(&files);
        assert_eq!((judgement.verdict, session.troubles.len()), (Verdict::Accepted, 1));
        let mended = PI.written(&files, Edit::Discard { place: session.troubles[0].place.clone() });
        assert_eq!(mended.main(), healthy.main().strip_suffix(b"\n").unwrap());
    }
}

#[test]
fn a_duplicate_line_is_harmless() {
    assert_eq!(PI.judged(&jsonl(&[ASK, BATCH, ONE, ONE, TWO, DONE])).1.verdict, Verdict::Accepted);
}

#[test]
fn thinking_of_another_model_is_sent_as_text() {
    let change = r#"{"type":"model_change","id":"m1","parentId":"a5","timestamp":"t","provider":"anthropic","modelId":"claude-opus-4-5"}"#;
    let (session, judgement) = PI.judged(&jsonl(&[ASK, BATCH, ONE, TWO, DONE, change]));
    assert_eq!((judgement.verdict, session.model.as_deref()), (Verdict::Accepted, Some("claude-opus-4-5")));
    assert_eq!(judgement.sent.messages[1].blocks[0].content, histories::Block::Text("Two.".to_owned()));
}

#[test]
fn ids_of_the_responses_api_are_split() {
    let to_responses = |line: &str| {
        let line = line.replace("anthropic-messages", "openai-responses").replace("toolu_1", "call_1|fc_1");
        line.replace("toolu_2", "call_2|fc_2")
            .replace("\"c2ln\"", r#""{\"type\":\"reasoning\",\"id\":\"rs_1\",\"summary\":[]}""#)
    };
    let lines = [ASK, BATCH, ONE, DONE].map(to_responses);
    let done = lines[3].replace(r#""parentId":"a4""#, r#""parentId":"a3""#);
    // Two texts of one message would have the same id and be rejected.
    let (_, judgement) = PI.judged(&jsonl(&[&lines[0], &lines[1], &lines[2], &done]));
    assert_eq!(rules(&judgement)[0], "openai-responses/item-duplicate");
    let done = done.replace(r#",{"type":"text","text":" "}"#, "");
    let files = jsonl(&[&lines[0], &lines[1], &lines[2], &done]);
    let (session, judgement) = PI.judged(&files);
    assert_eq!(judgement.verdict, Verdict::Accepted, "{:?}", judgement.refusals);
    assert_eq!(session.dialect, Some(Dialect::OpenaiResponses));
    let call = session.messages[1].calls().nth(1).unwrap();
    assert_eq!((call.id.as_str(), call.item.as_deref()), ("call_2", Some("fc_2")));
    let edit = Edit::Synthesise { call: place(&session, 3, "/message/content/3"), id: "call_2".to_owned() };
    let filled = PI.written(&files, edit);
    assert!(self::lines(&filled)[4].contains("call_2|fc_2"));
    assert_eq!(PI.judged(&filled).1.verdict, Verdict::Accepted);
}

#[test]
fn the_first_version_is_a_chain() {
    let header = HEADER.replace(r#""version":3,"#, "");
    let bare = |line: &str| {
        let mut value: Value = serde_json::from_str(line).unwrap();
        value.as_object_mut().unwrap().retain(|key, _| !matches!(key.as_str(), "id" | "parentId"));
        value.to_string()
    };
    let text = [ASK, BATCH, ONE, TWO, DONE].map(bare).join("\n");
    let (session, judgement) = PI.judged(&Files::one("a.jsonl", format!("{header}\n{text}\n")));
    assert_eq!((judgement.verdict, session.messages.len()), (Verdict::Accepted, 5));
}

#[test]
fn a_newer_version_and_an_unknown_role_are_unknown_forms() {
    let newer = Files::one("a.jsonl", HEADER.replace(":3,", ":4,"));
    assert!(matches!(Pi.read(&newer), Err(ReadError::Form { cause: FormError::Newer { found: 4, .. }, .. })));
    let files = jsonl(&[&ASK.replace("\"user\"", "\"oracle\"")]);
    assert!(matches!(Pi.read(&files), Err(ReadError::Form { .. })));
    let session =
        PI.read(&jsonl(&[ASK, r#"{"type":"new_thing","id":"n1","parentId":"a1","timestamp":"t"}"#]));
    assert_eq!(session.unknown, ["a line of another type"]);
}

#[test]
fn files_of_other_products_are_not_recognised() {
    for text in ["", "{}", "[]", "{\"type\":\"session\"}", "{\"type\":\"user\",\"uuid\":\"u\"}"] {
        assert!(!Pi.recognises(&Files::one("a.jsonl", text)), "{text}");
    }
}

#[test]
fn hostile_files_are_read_to_the_end() {
    let circle = [
        r#"{"type":"message","id":"x","parentId":"y","message":{"role":"user","content":"a"}}"#,
        r#"{"type":"message","id":"y","parentId":"x","message":{"role":"user","content":"b"}}"#,
    ];
    let session = PI.read(&jsonl(&circle));
    assert_eq!(
        (session.messages.len(), session.troubles[0].words.as_str()),
        (2, "its parents form a circle")
    );
    let fork = |n: usize| {
        format!(
            r#"{{"type":"message","id":"f{n}","parentId":"a1","message":{{"role":"user","content":"x"}}}}"#
        )
    };
    let forks: Vec<String> = (0..20_000).map(fork).collect();
    let mut all = vec![ASK];
    all.extend(forks.iter().map(String::as_str));
    let session = PI.read(&jsonl(&all));
    assert_eq!((session.messages.len(), session.n_forks), (2, 1));
    for line in [
        r#"{"type":"message","id":"x","message":{"role":"assistant","content":[null,{"type":"toolCall","id":7}],"stopReason":[]}}"#,
        r#"{"type":"compaction","id":"x","summary":7,"retainedTail":[{"role":"toolResult"}]}"#,
        "7",
        "[]",
    ] {
        let files = jsonl(&[ASK, line]);
        let session = PI.read(&files);
        judge(&session, None);
        for block in session.messages.iter().flat_map(|message| &message.blocks) {
            let _ = Pi.write(&files, &session, &[Edit::Drop { block: block.place.clone() }]);
            let _ = Pi.write(&files, &session, &[Edit::Truncate { last: block.place.clone() }]);
        }
    }
}

#[test]
fn a_refusal_that_pi_recorded_is_believed_and_the_result_is_added() {
    let failed = r#"{"type":"message","id":"a5","parentId":"a3","timestamp":"t5","message":{"role":"assistant","api":"anthropic-messages","provider":"anthropic","model":"claude-sonnet-4-5","content":[],"stopReason":"error","errorMessage":"400 messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_2. Each `tool_use` block must have a corresponding `tool_result` block in the next message."}}"#;
    let files = jsonl(&[ASK, BATCH, ONE, failed]);
    let (_, judgement) = PI.judged(&files);
    assert_eq!(rules(&judgement), ["anthropic-messages/tool-result-missing"]);
    let outcome = crate::repair(&files, 0, &crate::RepairOptions::default());
    let fixed = match outcome {
        Ok(crate::Repair::Mended(fixed)) => fixed, // quoted: the name of the variant
        other => panic!("not repaired: {other:?}"),
    };
    assert_eq!(fixed.edits.iter().map(|edit| edit.reason).collect::<Vec<_>>(), [Reason::NotRecorded]);
}

#[test]
fn openclaw_is_named_by_its_folder_or_its_own_words() {
    let (session, _) = PI.judged(&jsonl(&[ASK]));
    assert_eq!(session.writer(), "pi");
    let text = format!("{}\n{ASK}\n", HEADER.replace("/w\"", "/home/a/.openclaw/workspace\""));
    assert_eq!(crate::read(&Files::one("s.jsonl", text)).unwrap()[0].fork, Some("OpenClaw"));
    let (session, _) = PI.judged(&jsonl(&[&ASK.replace("Compare both.", "[openclaw] missing tool result")]));
    assert_eq!(session.fork, Some("OpenClaw"));
}

/// The table as OpenClaw 2026.7 makes it (`src/state/openclaw-agent-schema.sql`).
#[cfg(feature = "sqlite")]
#[test]
fn the_events_of_a_database_are_read_by_session() {
    let mut database = rusqlite::Connection::open_in_memory().unwrap();
    database
        .execute_batch(
            "CREATE TABLE transcript_events (session_id TEXT NOT NULL, seq INTEGER NOT NULL, event_json TEXT NOT NULL, \
             created_at INTEGER NOT NULL, PRIMARY KEY (session_id, seq))",
        )
        .unwrap();
    let add = |session: &str, lines: &[&str]| {
        for (n, line) in lines.iter().enumerate().rev() {
            let query = "INSERT INTO transcript_events VALUES (?1, ?2, ?3, 0)";
            database.execute(query, rusqlite::params![session, n as i64, line]).unwrap();
        }
    };
    add("s1", &[HEADER, ASK, BATCH, ONE, TWO, DONE]);
    // A result without its call is sent as it is.
    let orphan = TWO.replace("toolu_2", "toolu_9");
    add("s2", &[HEADER, ASK, BATCH, ONE, &orphan]);
    let bytes = database.serialize(rusqlite::MAIN_DB).unwrap().to_vec();
    let files = Files { files: vec![crate::File { name: "openclaw-agent.sqlite".to_owned(), bytes }] };
    let sessions = crate::read(&files).unwrap();
    let verdicts: Vec<Verdict> = sessions.iter().map(|session| judge(session, None).verdict).collect();
    assert_eq!(verdicts, [Verdict::Accepted, Verdict::Refused]);
    assert_eq!(sessions[1].messages[3].place.to_string(), "row 7 of transcript_events");
    assert!(!Pi.is_written(&sessions[0]) && PI.0.write(&files, &sessions[1], &[]).is_err());
}
