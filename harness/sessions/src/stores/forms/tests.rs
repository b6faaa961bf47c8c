//! The stored sessions of `corpora/sessions` in these forms, whole and damaged.

use std::path::Path;

use super::*;
use crate::stores::STORES;
use crate::stores::testing::repaired;
use crate::{Place, RepairOptions, Verdict, judge, read, repair};

pub(crate) const FORMS: [&Form; 55] = [
    &AGENT_FRAMEWORK,
    &AGENTSCOPE,
    &AGNO,
    &AIDER_DESK,
    &AMP,
    &AUTOGEN,
    &CODEWHALE,
    &CLOUDFLARE_AGENTS,
    &CONTINUE,
    &CRUSH,
    &CURSOR,
    &DEEPCODE,
    &DEEPSEEK_HARNESS,
    &DOCKER_AGENT,
    &DROID,
    &DURABLE_AGENT,
    &GENKIT,
    &GOOGLE_ADK,
    &GROK_CLI,
    &HAYSTACK,
    &HERMES,
    &JAN,
    &JCODE,
    &KIMI,
    &KIMI_CODE,
    &KIRO,
    &LANGCHAIN,
    &LANGCHAIN4J,
    &LANGGRAPH_STATE,
    &LARAVEL_AI,
    &LETTA,
    &LIBRECHAT,
    &LIVEKIT,
    &LLAMAINDEX,
    &LLM,
    &LM_STUDIO,
    &MASTRA,
    &MESSAGE_LINES,
    &MISTRAL_VIBE,
    &N8N,
    &NANOBOT,
    &OPENHANDS,
    &OPEN_WEBUI,
    &ROO_CODE,
    &SEMANTIC_KERNEL,
    &SHAREGPT,
    &SPRING_AI,
    &RUBY_LLM,
    &SILLYTAVERN,
    &STRANDS,
    &SUPERAGENT_GROK,
    &SWE_AGENT,
    &VOLTAGENT,
    &VSCODE_CHAT,
    &ZED,
];

/// The stored sessions of a form: the name of each file and its bytes.
#[expect(clippy::disallowed_methods, reason = "a test may read the stored sessions")]
fn stored(form: &Form) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpora/sessions").join(form.product.id());
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let stores = entries.filter(|path| path.extension().is_some_and(|ending| ending != "yaml"));
    let stores = stores.filter(|path| path.is_file());
    let mut stored: Vec<(String, Vec<u8>)> = stores
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let bytes = std::fs::read(&path).unwrap();
            // A database is kept as its SQL.
            let bytes = if name.ends_with(".sql") { database(&bytes) } else { bytes };
            (name, bytes)
        })
        .collect();
    stored.sort();
    stored
}

fn database(sql: &[u8]) -> Vec<u8> {
    let mut connection = rusqlite::Connection::open_in_memory().unwrap();
    connection.execute_batch(std::str::from_utf8(sql).unwrap()).unwrap();
    connection.serialize(rusqlite::MAIN_DB).unwrap().to_vec()
}

/// The file under the name that the product gives it.
fn file(form: &Form, name: &str, bytes: &[u8]) -> Files {
    let own = match form.product {
        Product::MistralVibe => "messages.jsonl",
        Product::RooCode => "api_conversation_history.json",
        _ => name,
    };
    Files::one(own, bytes)
}

#[test]
fn each_form_reads_its_sessions_and_no_other_store_does() {
    for form in FORMS {
        let stored = stored(form);
        assert!(stored.len() >= 2, "{}", form.product);
        for (name, bytes) in &stored {
            let id = format!("{}/{name}", form.product);
            let files = file(form, name, bytes);
            let owners: Vec<Product> = STORES
                .iter()
                .filter(|(_, store)| store.recognises(&files))
                .map(|(product, _)| *product)
                .collect();
            // An export of a table has no owner before it is a table.
            let is_export = name.ends_with(".csv");
            assert!(is_export || owners.first() == Some(&form.product), "{id}: {owners:?}");
            // An export with a list of messages is a request, too, as far as nothing else is known.
            let general = [Product::Request, Product::MessageLines];
            let others = owners.iter().filter(|owner| !general.contains(*owner)).count();
            assert!(form.other.is_none() || is_export || others == 1, "{id}: {owners:?}");
            let session = read(&files).unwrap_or_else(|error| panic!("{id}: {error}")).remove(0);
            assert!(session.messages.len() >= 3, "{id}: {}", session.messages.len());
            let judgement = judge(&session, None);
            let is_lost = !session.troubles.is_empty();
            let is_accepted = name.starts_with("healthy") || is_lost;
            let expected = match judgement.sent.gives_up {
                Some(_) => Verdict::Refused,
                None if session.cut.is_some() => Verdict::Cut,
                // The last call waits for its answer.
                None if name.contains("pause") => Verdict::OpenTail,
                None if is_accepted => Verdict::Accepted,
                None => Verdict::Refused,
            };
            let messages: Vec<&str> =
                judgement.refusals.iter().map(|refusal| refusal.message.as_str()).collect();
            assert_eq!(judgement.verdict, expected, "{id}: {messages:?}");
            assert_eq!(session.unknown, Vec::<String>::new(), "{id}");
            let is_written = form.answer.is_some() && session.generation == form.generation;
            if expected == Verdict::Refused && is_written {
                let (_, _, verdict) = repaired(&files).unwrap_or_else(|| panic!("{id} is not repaired"));
                assert_eq!(verdict, Verdict::Accepted, "{id}");
            }
        }
    }
}

#[test]
fn damaged_files_of_each_form_are_read_without_a_panic() {
    for form in FORMS {
        for (name, bytes) in stored(form) {
            let deep = [b"{\"messages\":".as_slice(), "[".repeat(10_000).as_bytes()].concat();
            let nested =
                String::from_utf8_lossy(&bytes).replacen("\"Look up both.\"", &"[".repeat(10_000), 1);
            let closed = format!("{}1{}", "[".repeat(10_000), "]".repeat(10_000));
            let whole = String::from_utf8_lossy(&bytes).replacen("\"Look up both.\"", &closed, 1);
            let invalid: Vec<u8> =
                bytes.iter().map(|byte| if *byte == b'o' { 0xff } else { *byte }).collect();
            let long = [bytes.as_slice(), &vec![b' '; 1 << 20]].concat();
            let cut = (0..bytes.len()).step_by((bytes.len() / 40).max(211)).map(|end| bytes[..end].to_vec());
            let variants =
                cut.chain([deep, nested.into_bytes(), whole.into_bytes(), invalid, long, Vec::new()]);
            for variant in variants {
                let files = file(form, &name, &variant);
                if let Ok(sessions) = read(&files) {
                    sessions.iter().for_each(|session| drop(judge(session, None)));
                    let _ = repair(&files, 0, &RepairOptions::default());
                }
            }
        }
    }
}

#[test]
fn a_text_of_librechat_may_be_an_object() {
    let (name, bytes) = stored(&LIBRECHAT).remove(0);
    let session = read(&file(&LIBRECHAT, &name, &bytes)).unwrap().remove(0);
    let blocks = session.messages.iter().flat_map(|message| &message.blocks);
    let said = |block: &crate::Block| matches!(&block.content, brickbat_rules::histories::Block::Text(text) if text == "Found.");
    assert_eq!(blocks.filter(|block| said(block)).count(), 1);
}

#[test]
fn cursor_s_server_has_the_calls_and_zed_sends_what_has_no_call() {
    let read = |form: &Form, name: &str| {
        let stored = stored(form);
        let (name, bytes) = stored.iter().find(|(own, _)| own == name).unwrap();
        read(&file(form, name, bytes)).unwrap().remove(0)
    };
    let stopped = read(&CURSOR, "healthy-stopped-in-a-batch.sql");
    let ids: Vec<&str> =
        stopped.messages.iter().flat_map(crate::Message::calls).map(|call| call.id.as_str()).collect();
    assert_eq!(ids, ["call_1", "call_2"]);
    assert_eq!(judge(&stopped, None).sent.mended, [("answers calls without a result", 1)]);
    let orphan = read(&ZED, "result-without-a-call.sql");
    assert_eq!(judge(&orphan, None).sent.mended, []);
    let summary = read(&CRUSH, "healthy-behind-a-summary.sql");
    assert_eq!((summary.off_branch.len(), summary.messages.len()), (2, 3));
}

#[test]
fn a_torn_line_is_removed_and_the_messages_before_it_are_kept() {
    for form in [&KIMI, &MISTRAL_VIBE, &MESSAGE_LINES] {
        let (name, bytes) = stored(form).remove(0);
        let torn = &bytes[..bytes.len() - 9];
        let files = file(form, &name, torn);
        let session = read(&files).unwrap().remove(0);
        assert_eq!(session.troubles.len(), 1, "{}", form.product);
        let (copy, _, _) = repaired(&files).unwrap();
        let end = torn.iter().rposition(|byte| *byte == b'\n').unwrap();
        assert_eq!(copy.main(), &torn[..=end], "{}", form.product);
    }
}

#[test]
fn a_result_after_the_user_is_moved_to_its_call() {
    for form in [&KIMI, &MESSAGE_LINES, &LANGCHAIN] {
        let (name, bytes) = stored(form).remove(0);
        let files = file(form, &name, &bytes);
        let session = read(&files).unwrap().remove(0);
        let results: Vec<Place> = session
            .messages
            .iter()
            .filter(|message| message.results().next().is_some())
            .map(|message| message.place.clone())
            .collect();
        // Put the second result at the end.
        let span = |place: &Place| usize::try_from(place.start).unwrap()..usize::try_from(place.end).unwrap();
        let second = span(&results[1]);
        let text = bytes[second.clone()].to_vec();
        let last = span(&session.messages.last().unwrap().place);
        let is_lines = session.messages[0].place.line.is_some();
        let separator = if is_lines { b"\n".as_slice() } else { b"," };
        let before = &bytes[..span(&results[0]).end];
        let between = &bytes[second.end..last.end];
        let broken = [before, between, separator, &text, &bytes[last.end..]].concat();
        let files = file(form, &name, &broken);
        let (_, _, verdict) = repaired(&files).unwrap_or_else(|| panic!("{}", form.product));
        assert_eq!(verdict, Verdict::Accepted, "{}", form.product);
    }
}

#[test]
fn a_result_names_no_id_that_the_file_does_not_have() {
    let of = |call: &str| {
        let text = format!(
            r#"{{"messages":[{{"role":"user","content":[{{"text":"Look."}}]}},{{"role":"model","content":[{{"toolRequest":{call}}}]}},{{"role":"user","content":[{{"text":"Well?"}}]}}]}}"#
        );
        repaired(&file(&GENKIT, "session.json", text.as_bytes())).map(|(_, _, verdict)| verdict)
    };
    assert_eq!(of(r#"{"name":"pay","ref":"7","input":{}}"#), Some(Verdict::Accepted));
    assert_eq!(of(r#"{"name":"pay","input":{}}"#), None);
}
