use brickbat_rules::Dialect;

use super::*;
use crate::stores::testing::{Tested, repaired};
use crate::{Place, Verdict};

fn event(kind: &str, id: u32, data: &str) -> String {
    format!(r#"{{"type":"{kind}","data":{data},"id":"e{id}","timestamp":"t{id}","parentId":"e{}"}}"#, id - 1)
}

fn start(version: &str) -> String {
    event(
        "session.start",
        1,
        &format!(
            r#"{{"sessionId":"s1","version":1,"producer":"copilot-agent","copilotVersion":"{version}","selectedModel":"claude-sonnet-4.6"}}"#
        ),
    )
}

fn done(call: &str, id: u32) -> String {
    event(
        "tool.execution_complete",
        id,
        &format!(
            r#"{{"toolCallId":"{call}","success":true,"result":{{"content":"of {call}","detailedContent":"x"}}}}"#
        ),
    )
}

fn healthy() -> Vec<String> {
    vec![
        start("1.0.24"),
        event("user.message", 2, r#"{"content":"Compare both.","attachments":[]}"#),
        event(
            "assistant.message",
            3,
            r#"{"messageId":"m1","content":"Both.","reasoningText":"Two.","reasoningOpaque":"c2ln","toolRequests":[{"toolCallId":"toolu_1","name":"view","arguments":{"p":1}},{"toolCallId":"toolu_2","name":"view","arguments":"{\"p\":2}"}]}"#,
        ),
        event("tool.execution_start", 4, r#"{"toolCallId":"toolu_1","toolName":"view"}"#),
        done("toolu_1", 5),
        done("toolu_2", 6),
        event("assistant.message", 7, r#"{"messageId":"m2","content":"Same.","toolRequests":[]}"#),
    ]
}

fn jsonl(lines: &[String]) -> Files {
    Files::one("s1/events.jsonl", format!("{}\n", lines.join("\n")))
}

const COPILOT_CLI: Tested = Tested(&CopilotCli);

fn written(files: &Files, edits: &[Edit]) -> Files {
    CopilotCli.write(files, &COPILOT_CLI.read(files), edits).unwrap()
}

fn discards(session: &Session) -> Vec<Edit> {
    session.troubles.iter().map(|trouble| Edit::Discard { place: trouble.place.clone() }).collect()
}

fn place(session: &Session, line: u64, pointer: &str) -> Place {
    let blocks = session.messages.iter().chain(&session.off_branch).flat_map(|message| &message.blocks);
    let mut places = blocks.map(|block| &block.place);
    places.find(|place| place.line == Some(line) && place.pointer == pointer).unwrap().clone()
}

/// Checks a file with line faults: their descriptions, that the product gives up, and that the repaired file
/// is `mended` and accepted.
fn check_lines(text: String, words: &[&str], mended: &str) {
    let files = Files::one("events.jsonl", text);
    let (session, judgement) = COPILOT_CLI.judged(&files);
    let found: Vec<&str> = session.troubles.iter().map(|trouble| trouble.words.as_str()).collect();
    assert_eq!(found, words);
    assert_eq!(judgement.verdict, Verdict::Refused);
    assert!(judgement.refusals[0].message.starts_with("Session file is corrupted (line "));
    let after = written(&files, &discards(&session));
    assert_eq!(std::str::from_utf8(after.main()).unwrap(), mended);
    let (session, judgement) = COPILOT_CLI.judged(&after);
    assert_eq!((judgement.verdict, session.troubles.len()), (Verdict::Accepted, 0));
}

#[test]
fn a_healthy_session_is_accepted() {
    let (session, judgement) = COPILOT_CLI.judged(&jsonl(&healthy()));
    assert_eq!(judgement.verdict, Verdict::Accepted, "{:?}", judgement.refusals);
    assert_eq!((session.messages.len(), session.dialect), (5, Some(Dialect::AnthropicMessages)));
    assert_eq!((session.version.as_deref(), session.id.as_deref()), (Some("1.0.24"), Some("s1")));
    assert_eq!(session.messages[1].blocks.len(), 4);
}

#[test]
fn raw_line_ends_inside_a_text_are_reported_and_escaped() {
    let whole = jsonl(&healthy());
    let text = String::from_utf8(whole.main().to_vec()).unwrap();
    let parted = text.replace("of toolu_2", "of\n toolu\r\n_2");
    let words = ["a raw line end inside a text"; 2];
    check_lines(parted, &words, &text.replace("of toolu_2", "of\\n toolu\\n_2"));
}

#[test]
fn separators_are_faults_before_the_version_that_accepts_them() {
    let whole = jsonl(&healthy());
    let text = String::from_utf8(whole.main().to_vec()).unwrap();
    let words = ["a raw U+2028 or U+2029, which the product takes for a line end"; 2];
    let escaped = text.replace("Both.", "Bo\\u2028th\\u2029.");
    check_lines(text.replace("Both.", "Bo\u{2028}th\u{2029}."), &words, &escaped);
    let newer = text.replace("1.0.24", "1.0.60").replace("Both.", "Bo\u{2028}th.");
    let (session, judgement) = COPILOT_CLI.judged(&Files::one("events.jsonl", newer));
    assert_eq!((judgement.verdict, session.troubles.len()), (Verdict::Accepted, 0));
}

#[test]
fn trailing_nul_bytes_are_reported_and_removed() {
    let text = String::from_utf8(jsonl(&healthy()).main().to_vec()).unwrap();
    check_lines(format!("{text}{}", "\0".repeat(1728)), &["1728 NUL bytes"], text.trim_end());
}

#[test]
fn torn_and_joined_events_are_split() {
    let text = String::from_utf8(jsonl(&healthy()).main().to_vec()).unwrap();
    let torn = text.replace(&healthy()[5], &format!("{}{}", &healthy()[5][..50], healthy()[5]));
    check_lines(torn, &["a torn event in front of another"], &text);
    let joined = text.replace(&format!("{}\n", healthy()[4]), &healthy()[4]);
    check_lines(joined, &["two events without a line end between them"], &text);
    check_lines(
        format!("{text}{}", &healthy()[1][..40]),
        &["a torn line: it ends before its JSON does"],
        text.trim_end(),
    );
}

#[test]
fn later_versions_skip_the_lines_that_older_ones_refuse() {
    let text = String::from_utf8(jsonl(&healthy()).main().to_vec()).unwrap();
    let zeros = format!("{text}{}\n", "\0".repeat(64));
    let torn = format!("{text}{}", &healthy()[1][..40]);
    let inside = text.replace("of toolu_2", "of\n toolu_2");
    let joined = text.replace(&format!("{}\n", healthy()[4]), &healthy()[4]);
    for (file, last, first) in [
        (zeros, "1.0.56", "1.0.57"),
        (torn, "1.0.57", "1.0.71"),
        (inside, "1.0.83", "1.0.87"),
        (joined, "1.0.83", "1.0.87"),
    ] {
        let of = |version: &str| Files::one("events.jsonl", file.replace("1.0.24", version));
        let (session, judgement) = COPILOT_CLI.judged(&of(last));
        assert_eq!((judgement.verdict, session.troubles.len()), (Verdict::Refused, 1), "{last}");
        let (session, judgement) = COPILOT_CLI.judged(&of(first));
        assert_eq!((judgement.verdict, session.troubles.len()), (Verdict::Accepted, 1), "{first}");
        assert!(session.troubles[0].words.ends_with(", which the product skips"));
        let (fixed, reasons, verdict) = repaired(&of(first)).unwrap();
        assert_eq!((reasons.len(), verdict), (1, Verdict::Accepted));
        assert_eq!(COPILOT_CLI.read(&fixed).troubles, []);
    }
}

#[test]
fn older_versions_reject_a_call_without_a_result_and_it_can_be_filled() {
    let mut lines = healthy();
    lines.remove(5);
    let files = jsonl(&lines);
    let (session, judgement) = COPILOT_CLI.judged(&files);
    assert_eq!(judgement.verdict, Verdict::Refused);
    assert_eq!(judgement.refusals[0].rule.unwrap().id, "anthropic-messages/tool-result-missing");
    let edit =
        Edit::Synthesise { call: place(&session, 3, "/data/toolRequests/1"), id: "toolu_2".to_owned() };
    let filled = written(&files, &[edit]);
    let (session, judgement) = COPILOT_CLI.judged(&filled);
    assert_eq!(judgement.verdict, Verdict::Accepted, "{:?}", judgement.refusals);
    let result = session.messages[3].results().next().unwrap();
    assert_eq!((result.text().as_str(), result.is_error), (crate::NOT_RECORDED, true));
    let text = std::str::from_utf8(filled.main()).unwrap();
    assert_eq!(text.lines().take(5).collect::<Vec<_>>(), lines[..5].iter().collect::<Vec<_>>());
    let added: Value = serde_json::from_str(text.lines().nth(5).unwrap()).unwrap();
    assert_eq!(added["parentId"], "e5");
}

#[test]
fn newer_versions_recover_calls() {
    let mut lines = healthy();
    lines[0] = start("1.0.57");
    lines.remove(5);
    let (_, judgement) = COPILOT_CLI.judged(&jsonl(&lines));
    assert_eq!(judgement.sent.mended, [("recovers interrupted calls", 1)]);
    assert_eq!(judgement.verdict, Verdict::Accepted, "{:?}", judgement.refusals);
    assert_eq!(COPILOT_CLI.judged(&jsonl(&lines[..5])).1.verdict, Verdict::OpenTail);
    assert_eq!(COPILOT_CLI.judged(&jsonl(&healthy()[..5])).1.verdict, Verdict::Refused);
}

#[test]
fn results_without_a_call_and_second_ones_are_left_out_before_calls_are_recovered() {
    let of = |version: &str, change: fn(&mut Vec<String>)| {
        let mut lines = healthy();
        lines[0] = start(version);
        change(&mut lines);
        COPILOT_CLI.judged(&jsonl(&lines)).1.verdict
    };
    let second = |lines: &mut Vec<String>| lines.insert(6, done("toolu_2", 8));
    let orphan = |lines: &mut Vec<String>| drop(lines.remove(2));
    let missing = |lines: &mut Vec<String>| drop(lines.remove(5));
    let verdicts = ["1.0.24", "1.0.44", "1.0.57"].map(|version| {
        let changes: [fn(&mut Vec<String>); 3] = [second, orphan, missing];
        changes.map(|change| of(version, change) == Verdict::Accepted)
    });
    assert_eq!(verdicts, [[false, false, false], [true, true, false], [true, true, true]]);
}

#[test]
fn a_late_result_is_refused_and_can_be_moved() {
    let mut lines = healthy();
    lines[5] = event("user.message", 6, r#"{"content":"And?"}"#);
    lines.push(done("toolu_2", 8));
    let files = jsonl(&lines);
    let (session, judgement) = COPILOT_CLI.judged(&files);
    assert_eq!(judgement.verdict, Verdict::Refused);
    let (result, call) = (place(&session, 8, "/data"), place(&session, 3, "/data/toolRequests/1"));
    let mended = written(&files, &[Edit::Move { result, call, id: "toolu_2".to_owned() }]);
    let (session, judgement) = COPILOT_CLI.judged(&mended);
    assert_eq!(judgement.verdict, Verdict::Accepted, "{:?}", judgement.refusals);
    assert_eq!(session.n_records, 8);
    let text = std::str::from_utf8(mended.main()).unwrap();
    assert!(text.lines().nth(6).unwrap().ends_with(r#""parentId":"e8"}"#));
}

#[test]
fn a_duplicate_result_is_rejected_and_can_be_dropped() {
    let mut lines = healthy();
    lines.insert(6, done("toolu_2", 6));
    let files = jsonl(&lines);
    let (session, judgement) = COPILOT_CLI.judged(&files);
    assert_eq!(judgement.verdict, Verdict::Refused);
    let mended = written(&files, &[Edit::Drop { block: place(&session, 7, "/data") }]);
    assert_eq!(mended, jsonl(&healthy()));
    assert_eq!(COPILOT_CLI.judged(&mended).1.verdict, Verdict::Accepted);
}

#[test]
fn a_result_without_its_call_is_dropped_and_its_child_relinked() {
    let mut lines = healthy();
    lines[5] = done("toolu_9", 6);
    lines.insert(5, done("toolu_2", 50).replace("\"e49\"", "\"e5\""));
    let files = jsonl(&lines);
    let (session, judgement) = COPILOT_CLI.judged(&files);
    assert_eq!(judgement.refusals[0].rule.unwrap().id, "anthropic-messages/tool-result-orphan");
    let mended = written(&files, &[Edit::Drop { block: place(&session, 7, "/data") }]);
    lines.remove(6);
    lines[6] = lines[6].replace("\"e6\"", "\"e5\"");
    assert_eq!(mended, jsonl(&lines));
}

#[test]
fn single_blocks_are_dropped_and_a_branch_is_truncated() {
    let files = jsonl(&healthy());
    let session = COPILOT_CLI.read(&files);
    let dropped = written(&files, &[Edit::Drop { block: place(&session, 3, "/data/content") }]);
    assert_eq!(COPILOT_CLI.read(&dropped).messages[1].blocks.len(), 3);
    let cut = written(&files, &[Edit::Truncate { last: place(&session, 2, "/data/content") }]);
    assert_eq!(cut.main(), jsonl(&healthy()[..2]).main());
}

#[test]
fn calls_of_sub_agents_and_the_user_are_not_sent() {
    let mut lines = healthy();
    lines.push(event("assistant.message", 8, r#"{"content":"Sub.","parentToolCallId":"toolu_1"}"#));
    lines.push(event("tool.user_requested", 9, r#"{"toolCallId":"u1","toolName":"bash"}"#));
    lines.push(done("u1", 10));
    let (session, judgement) = COPILOT_CLI.judged(&jsonl(&lines));
    assert_eq!((session.messages.len(), session.off_branch.len()), (5, 2));
    assert_eq!(judgement.verdict, Verdict::Accepted);
}

#[test]
fn a_compaction_replaces_what_existed_when_it_began() {
    let mut lines = healthy();
    lines.insert(5, event("session.compaction_start", 50, "{}"));
    lines.push(event("session.compaction_complete", 60, r#"{"success":true,"summaryContent":"So far."}"#));
    let (session, judgement) = COPILOT_CLI.judged(&jsonl(&lines));
    assert_eq!((session.messages.len(), session.off_branch.len(), session.n_compactions), (2, 4, 1));
    assert_eq!(judgement.verdict, Verdict::Accepted, "{:?}", judgement.refusals);
}

#[test]
fn unknown_types_are_noted_and_unknown_forms_are_not_judged() {
    let mut lines = healthy();
    lines.push(event("oracle.spoke", 8, "{}"));
    assert_eq!(COPILOT_CLI.read(&jsonl(&lines)).unknown, ["an event of another type"]);
    lines.push(event("assistant.message", 9, r#"{"content":7}"#));
    assert!(matches!(CopilotCli.read(&jsonl(&lines)), Err(ReadError::Form { .. })));
    for text in [
        "",
        "[]",
        "{}",
        r#"{"type":"session","id":"x","timestamp":"t"}"#,
        r#"{"type":"user.message","data":{}}"#,
    ] {
        assert!(!CopilotCli.recognises(&Files::one("events.jsonl", text)), "{text}");
    }
}

#[test]
fn hostile_lines_are_read_to_the_end() {
    let first = start("1.0.1");
    let open: Vec<String> = (0..20_000).map(|_| "{\"type\":\"a\",\"b\":\"".to_owned()).collect();
    let texts = [
        "{\\\"\n".repeat(20_000),
        open.join("\n"),
        open.concat(),
        "{\"a\":\"x\n".repeat(20_000),
        "{\"a\":\"\n\n\"".repeat(5_000),
        "\u{2028}".repeat(5_000),
        "{\"a\":[\n".repeat(20_000),
    ];
    for text in texts {
        let files = Files::one("events.jsonl", format!("{first}\n{text}"));
        let session = COPILOT_CLI.read(&files);
        let _ = CopilotCli.write(&files, &session, &discards(&session)).unwrap();
    }
}

#[test]
fn a_flag_that_the_loaders_refuse_is_taken_out() {
    for (from, to) in [
        (r#""type":"user.message""#, r#""ephemeral":false,"type":"user.message""#),
        (r#","parentId":"e1""#, r#","parentId":"e1","ephemeral":false"#),
    ] {
        let mut lines = healthy();
        lines[1] = lines[1].replacen(from, to, 1);
        let (session, judgement) = COPILOT_CLI.judged(&jsonl(&lines));
        assert_eq!((session.troubles.len(), judgement.verdict), (1, Verdict::Refused), "{:?}", lines[1]);
        let files = written(&jsonl(&lines), &discards(&session));
        assert_eq!(files, jsonl(&healthy()));
    }
    let mut lines = healthy();
    lines[1] = lines[1].replacen(r#""type":"user.message""#, r#""ephemeral":true,"type":"user.message""#, 1);
    assert_eq!(COPILOT_CLI.judged(&jsonl(&lines)).1.verdict, Verdict::Accepted);
}

/// The error is that of <https://github.com/github/copilot-cli/issues/3366>.
#[test]
fn a_refusal_that_copilot_cli_recorded_names_its_rule() {
    let refusal = {
        let words = "CAPIError: 400 {\\\"message\\\":\\\"messages.8: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1.\\\"}";
        let data = format!(r#"{{"errorType":"query","message":"{words}"}}"#);
        event("session.error", 9, &data)
    };
    let asked = event("user.message", 8, r#"{"content":"Continue.","attachments":[]}"#);
    let recorded = |lines: &[String]| {
        let session = COPILOT_CLI.read(&jsonl(lines));
        crate::judge(&session, None).recorded.map(|own| own.rule.id)
    };
    let refused = [healthy(), vec![asked.clone(), refusal.clone()]].concat();
    assert_eq!(recorded(&refused), Some("anthropic-messages/tool-result-missing"));
    let answered =
        event("assistant.message", 10, r#"{"messageId":"m3","content":"Done.","toolRequests":[]}"#);
    assert_eq!(recorded(&[refused, vec![answered]].concat()), None);
    let of_sub_agent = refusal.replacen("{\"type\"", "{\"agentId\":\"sub\",\"type\"", 1);
    assert_eq!(recorded(&[healthy(), vec![asked.clone(), of_sub_agent]].concat()), None);
    // Newer versions record the status apart from the words.
    for (status, rule) in [(422, Some("anthropic-messages/tool-result-missing")), (500, None)] {
        let by_status = refusal
            .replace(": 400 ", ": ")
            .replace("\"query\"", &format!("\"query\",\"statusCode\":{status}"));
        assert_eq!(recorded(&[healthy(), vec![asked.clone(), by_status]].concat()), rule, "{status}");
    }
}
