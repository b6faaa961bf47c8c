use super::*;
use crate::stores::testing::Tested;
use crate::{Place, Repair, RepairOptions, Verdict, judge, repair};

fn line(id: &str, parent: &str, kind: &str, rest: &str) -> String {
    let parent = if parent.is_empty() { "null".to_owned() } else { format!("\"{parent}\"") };
    format!(
        r#"{{"uuid":"{id}","parentUuid":{parent},"sessionId":"s1","timestamp":"t","type":"{kind}","cwd":"/w","version":"0.15.10",{rest}}}"#
    )
}

fn ask() -> String {
    line("a1", "", "user", r#""message":{"role":"user","parts":[{"text":"Compare both."}]}"#)
}

fn batch() -> String {
    line(
        "a2",
        "a1",
        "assistant",
        r#""model":"qwen3-coder-plus","message":{"role":"model","parts":[{"text":"Two.","thought":true},{"text":"Both."},{"functionCall":{"id":"c1","name":"read","args":{"p":1}}},{"functionCall":{"id":"c2","name":"read","args":{"p":2}}}]}"#,
    )
}

fn result(id: &str, parent: &str, call: &str) -> String {
    let rest = format!(
        r#""message":{{"role":"user","parts":[{{"functionResponse":{{"id":"{call}","name":"read","response":{{"output":"of {call}"}}}}}}]}},"toolCallResult":{{"callId":"{call}"}}"#
    );
    line(id, parent, "tool_result", &rest)
}

fn done(parent: &str) -> String {
    line(
        "a5",
        parent,
        "assistant",
        r#""model":"qwen3-coder-plus","message":{"role":"model","parts":[{"text":"Same."}]}"#,
    )
}

fn auth(id: &str, parent: &str, auth_type: &str) -> String {
    line(
        id,
        parent,
        "system",
        &format!(r#""subtype":"ui_telemetry","systemPayload":{{"uiEvent":{{"auth_type":"{auth_type}"}}}}"#),
    )
}

fn jsonl(lines: &[String]) -> Files {
    Files::one("chats/s1.jsonl", format!("{}\n", lines.join("\n")))
}

fn healthy() -> Vec<String> {
    vec![ask(), batch(), result("a3", "a2", "c1"), result("a4", "a3", "c2"), done("a4")]
}

const QWEN_CODE: Tested = Tested(&QwenCode);

fn place(session: &Session, line: u64, part: usize) -> Place {
    let blocks = session.messages.iter().chain(&session.off_branch).flat_map(|message| &message.blocks);
    let mut places = blocks.map(|block| &block.place);
    let pointer = format!("/message/parts/{part}");
    places.find(|place| place.line == Some(line) && place.pointer == pointer).unwrap().clone()
}

#[test]
fn a_healthy_session_is_accepted_in_each_dialect() {
    let (session, judgement) = QWEN_CODE.judged(&jsonl(&healthy()));
    assert_eq!(judgement.verdict, Verdict::Accepted, "{:?}", judgement.refusals);
    assert_eq!((session.dialect, session.version.as_deref()), (Some(Dialect::OpenaiChat), Some("0.15.10")));
    assert_eq!((session.messages.len(), session.model.as_deref()), (5, Some("qwen3-coder-plus")));
    for (auth_type, dialect) in [("anthropic", Dialect::AnthropicMessages), ("gemini", Dialect::Gemini)] {
        let mut lines = healthy();
        lines.push(auth("s2", "a5", auth_type));
        let (session, judgement) = QWEN_CODE.judged(&jsonl(&lines));
        assert_eq!((judgement.verdict, session.dialect), (Verdict::Accepted, Some(dialect)));
    }
    // A name that no dialect has is not taken for Chat Completions.
    let mut lines = healthy();
    lines.push(auth("s2", "a5", "unheard-of"));
    assert_eq!(QWEN_CODE.judged(&jsonl(&lines)).0.dialect, None);
}

#[test]
fn calls_without_a_result_are_left_out_of_chat_completions_only() {
    let lines = vec![ask(), batch(), result("a3", "a2", "c1"), done("a3")];
    let (_, judgement) = QWEN_CODE.judged(&jsonl(&lines));
    assert_eq!(judgement.verdict, Verdict::Accepted);
    assert_eq!(judgement.sent.mended, [("leaves out calls without a result", 1)]);
    let to_anthropic = jsonl(&[lines, vec![auth("s2", "a5", "anthropic")]].concat());
    let (session, judgement) = QWEN_CODE.judged(&to_anthropic);
    assert_eq!(judgement.verdict, Verdict::Refused);
    let edit = Edit::Synthesise { call: place(&session, 2, 3), id: "c2".to_owned() };
    let filled = QWEN_CODE.written(&to_anthropic, edit.clone());
    let (session, judgement) = QWEN_CODE.judged(&filled);
    assert_eq!(judgement.verdict, Verdict::Accepted, "{:?}", judgement.refusals);
    let result = session.messages[3].results().next().unwrap();
    assert_eq!((result.text().as_str(), result.is_error), (crate::NOT_RECORDED, true));
    assert_eq!(QWEN_CODE.written(&filled, edit), filled);
    let text = |files: &Files| String::from_utf8(files.main().to_vec()).unwrap();
    let (old, new) = (text(&to_anthropic), text(&filled));
    assert_eq!(new.lines().take(3).collect::<Vec<_>>(), old.lines().take(3).collect::<Vec<_>>());
    assert_eq!(new.lines().last(), old.lines().last());
}

#[test]
fn results_without_a_call_are_left_out_and_can_be_dropped() {
    let lines = vec![ask(), result("a3", "a1", "c1"), done("a3"), auth("s2", "a5", "anthropic")];
    let (session, judgement) = QWEN_CODE.judged(&jsonl(&lines));
    assert_eq!(judgement.refusals[0].rule.unwrap().id, "anthropic-messages/tool-result-orphan");
    let mended = QWEN_CODE.written(&jsonl(&lines), Edit::Drop { block: place(&session, 2, 0) });
    assert_eq!(mended, jsonl(&[ask(), done("a1"), auth("s2", "a5", "anthropic")]));
    let (_, judgement) = QWEN_CODE.judged(&jsonl(&lines[..3]));
    assert_eq!(judgement.sent.mended, [("leaves out results without a call", 1)]);
}

#[test]
fn a_late_result_is_refused_and_can_be_moved() {
    let more = line("b1", "a3", "user", r#""message":{"role":"user","parts":[{"text":"And?"}]}"#);
    let files =
        jsonl(&[ask(), batch(), result("a3", "a2", "c1"), more, result("a4", "b1", "c2"), done("a4")]);
    let (session, judgement) = QWEN_CODE.judged(&files);
    assert_eq!(judgement.verdict, Verdict::Refused);
    let edit = Edit::Move { result: place(&session, 5, 0), call: place(&session, 2, 3), id: "c2".to_owned() };
    let (session, judgement) = QWEN_CODE.judged(&QWEN_CODE.written(&files, edit));
    assert_eq!(judgement.verdict, Verdict::Accepted, "{:?}", judgement.refusals);
    let results: Vec<String> =
        session.messages.iter().flat_map(Message::results).map(|result| result.text()).collect();
    assert_eq!((results, session.messages.len()), (vec!["of c1".to_owned(), "of c2".to_owned()], 6));
}

#[test]
fn rewound_messages_are_off_the_branch() {
    let rewind = line("r1", "a1", "system", r#""subtype":"rewind","systemPayload":{}"#);
    let session = QWEN_CODE.read(&jsonl(&[healthy(), vec![rewind]].concat()));
    assert_eq!((session.messages.len(), session.off_branch.len(), session.n_forks), (1, 4, 1));
}

#[test]
fn a_branch_is_cut_with_a_rewind() {
    let files = jsonl(&healthy());
    let session = QWEN_CODE.read(&files);
    let cut = QWEN_CODE.written(&files, Edit::Truncate { last: place(&session, 1, 0) });
    assert_eq!(QWEN_CODE.read(&cut).messages, session.messages[..1]);
    assert!(cut.main().starts_with(files.main()));
    assert!(QWEN_CODE.read(&cut).unknown.is_empty());
}

#[test]
fn a_compression_replaces_everything_before_it() {
    let compression = line(
        "z1",
        "a5",
        "system",
        r#""subtype":"chat_compression","systemPayload":{"compressedHistory":[{"role":"user","parts":[{"text":"So far."}]},{"role":"model","parts":[{"text":"Got it."}]}]}"#,
    );
    let next = line("z2", "z1", "user", r#""message":{"role":"user","parts":[{"text":"Next."}]}"#);
    let (session, judgement) = QWEN_CODE.judged(&jsonl(&[healthy(), vec![compression, next]].concat()));
    assert_eq!(judgement.verdict, Verdict::Accepted);
    assert_eq!((session.messages.len(), session.off_branch.len(), session.n_compactions), (3, 5, 1));
    assert_eq!(session.messages[1].blocks[0].place.pointer, "/systemPayload/compressedHistory/1/parts/0");
}

#[test]
fn a_duplicate_line_doubles_its_parts() {
    let mut lines = healthy();
    lines.insert(3, lines[2].clone());
    let (session, judgement) = QWEN_CODE.judged(&jsonl(&lines));
    assert_eq!(session.messages[2].blocks.len(), 2);
    assert_eq!(judgement.verdict, Verdict::Refused);
    let mended = QWEN_CODE.written(&jsonl(&lines), Edit::Drop { block: place(&session, 4, 0) });
    assert_eq!(QWEN_CODE.judged(&mended).1.verdict, Verdict::Accepted);
}

#[test]
fn records_that_share_a_line_are_read_as_the_product_does() {
    let lines = healthy();
    let text = format!("{}{}\n{}\n{}\n{}\n", lines[0], lines[1], lines[2], lines[3], lines[4]);
    let (session, judgement) =
        QWEN_CODE.judged(&Files::one("s1.jsonl", format!("{}\n{text}", auth("p", "", "openai"))));
    assert_eq!(
        (judgement.verdict, session.messages.len(), session.troubles.len()),
        (Verdict::Accepted, 5, 0)
    );
}

#[test]
fn torn_lines_and_broken_parents_are_reported() {
    let mut lines = healthy();
    lines[2].truncate(60);
    let (session, _) = QWEN_CODE.judged(&jsonl(&lines));
    let words: Vec<&str> = session.troubles.iter().map(|trouble| trouble.words.as_str()).collect();
    assert_eq!(
        words,
        [
            "a torn line: it ends before its JSON does",
            "its parent is not in the file, so everything before it is cut off"
        ]
    );
    assert_eq!(session.troubles[0].place.line, Some(3));
    let files = Files::one("s1.jsonl", format!("{}\n\0\0\0\0", healthy().join("\n")));
    let session = QWEN_CODE.read(&files);
    assert_eq!((session.messages.len(), session.troubles[0].words.as_str()), (5, "4 NUL bytes"));
    let mended = QWEN_CODE.written(&files, Edit::Discard { place: session.troubles[0].place.clone() });
    assert_eq!(mended.main(), healthy().join("\n").as_bytes());
}

#[test]
fn trailing_open_calls_depend_on_the_dialect() {
    let lines = [ask(), batch(), result("a3", "a2", "c1")];
    assert_eq!(QWEN_CODE.judged(&jsonl(&lines)).1.verdict, Verdict::OpenTail);
    let lines = [lines.to_vec(), vec![auth("s2", "a3", "anthropic")]].concat();
    assert_eq!(QWEN_CODE.judged(&jsonl(&lines)).1.verdict, Verdict::Refused);
}

#[test]
fn lines_of_claude_code_are_not_recognised() {
    let claude = r#"{"uuid":"u","parentUuid":null,"sessionId":"s","type":"user","cwd":"/w","version":"2","message":{"role":"user","content":"x"}}"#;
    for text in [
        "",
        "[]",
        "{}",
        claude,
        r#"{"uuid":"u","parentUuid":null,"sessionId":"s","type":"system","subtype":"local_command"}"#,
    ] {
        assert!(!QwenCode.recognises(&Files::one("s1.jsonl", text)), "{text}");
    }
}

#[test]
fn a_thread_cut_before_its_compression_is_beyond_repair() {
    let history =
        r#"[{"role":"user","parts":[{"text":"So far."}]},{"role":"model","parts":[{"text":"Got it."}]}]"#;
    let rest = format!(r#""subtype":"chat_compression","systemPayload":{{"compressedHistory":{history}}}"#);
    let files = jsonl(&[ask(), line("a9", "gone", "system", &rest)]);
    assert_eq!(QWEN_CODE.judged(&files).1.verdict, Verdict::Cut);
    for truncate in [false, true] {
        let options = RepairOptions { truncate, ..RepairOptions::default() };
        assert!(matches!(repair(&files, 0, &options), Ok(Repair::Beyond(_))));
    }
}

#[test]
fn hostile_files_are_read_to_the_end() {
    let circle = [
        line("x", "y", "user", r#""message":{"role":"user","parts":[{"text":"a"}]}"#),
        line("y", "x", "user", r#""message":{"role":"user","parts":[]}"#),
    ];
    let session = QWEN_CODE.read(&jsonl(&circle));
    assert_eq!(
        (session.messages.len(), session.troubles[0].words.as_str()),
        (2, "its parents form a circle")
    );
    let odd = line(
        "o",
        "a1",
        "assistant",
        r#""message":{"role":"model","parts":[null,7,{},{"functionCall":7},{"functionResponse":{"parts":[{}]}}]}"#,
    );
    let files = jsonl(&[ask(), odd]);
    let session = QWEN_CODE.read(&files);
    judge(&session, None);
    for block in session.messages.iter().flat_map(|message| &message.blocks) {
        QwenCode.write(&files, &session, &[Edit::Drop { block: block.place.clone() }]).unwrap();
    }
    let bad = jsonl(&[ask(), line("o", "a1", "assistant", r#""message":{"role":"model","parts":7}"#)]);
    assert!(matches!(QwenCode.read(&bad), Err(ReadError::Form { .. })));
    let glued = "{}".repeat(50_000);
    assert_eq!(QWEN_CODE.read(&jsonl(&[ask(), glued])).n_records, 50_001);
}
