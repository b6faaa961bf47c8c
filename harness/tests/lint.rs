//! The stream linter: the vectors in `corpora/streams`, our own provider's streams, and hostile bytes.

#![expect(clippy::unwrap_used, reason = "a test may stop at what it does not expect")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use aws_smithy_eventstream::frame::write_message_to;
use aws_smithy_types::event_stream::{Header, HeaderValue, Message};
use brickbat_rules::dialect::Dialect;
use brickbat_rules::streams::{
    Ended, Linter, StreamKind, StreamReport, StreamRule, StreamStrictness, detect, lint, lint_as, recognise,
};
use brickbat_rules::{Profile, Severity, streams};
use brickbat_scenario::scenario::ErrorKind;
use brickbat_scenario::wire::{self, Envelope, SseReader, Tokens};
use proptest::prelude::*;
use serde::Deserialize;
use serde_json::Value;

use crate::plans;

/// A file of vectors, all about one rule. The file is named after the rule.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    /// The version of this format.
    schema: u32,
    /// The subject of the vectors.
    comment: String,
    /// The id of the rule; none in a file of shapes that break no rule.
    rule: Option<String>,
    /// The place where the rule was seen.
    source: String,
    vectors: Vec<Vector>,
}

/// One stream and what the linter reports about it. It is written in one of three ways.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Vector {
    /// Unique in its file, in kebab-case.
    name: String,
    /// A sentence about the stream.
    comment: String,
    /// The place where this stream was seen, if it differs from the file's.
    source: Option<String>,
    /// The host that sent it. Without host and profile, the stream itself determines how it is judged.
    host: Option<String>,
    /// The profile that judges it.
    profile: Option<String>,
    /// Lines, each of which ends with a line feed.
    lines: Option<Vec<String>>,
    /// Frames of the binary event stream.
    frames: Option<Vec<Frame>>,
    /// Bytes in hexadecimal, if they are not text or not complete frames.
    hex: Option<String>,
    result: Outcome,
    /// How the stream ends.
    ended: String,
    /// The ids of all rules that are broken.
    faults: BTreeSet<String>,
    /// The event at which the rule of the file is broken.
    event: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Frame {
    /// `event` or `exception`.
    kind: String,
    #[serde(rename = "type")]
    name: String,
    payload: Value,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, Debug)]
#[serde(rename_all = "lowercase")]
enum Outcome {
    /// Nothing is wrong.
    Valid,
    /// Legal, with a warning.
    Acceptable,
    /// Illegal or truncated.
    Invalid,
}

#[test]
fn every_vector_is_judged_as_it_says() {
    let mut failures = Vec::new();
    for (path, grammar, file) in files() {
        let mut names = BTreeSet::new();
        for vector in &file.vectors {
            let mut fail = |what| failures.push(format!("{}: {}: {what}", path.display(), vector.name));
            if !names.insert(&vector.name) || !is_kebab_case(&vector.name) || vector.comment.is_empty() {
                fail("a vector needs a unique name in kebab-case and a comment".to_owned());
            }
            if let Err(what) = check(grammar, file.rule.as_deref(), vector) {
                fail(what);
            }
        }
    }
    assert!(failures.is_empty(), "{} vectors fail\n{}", failures.len(), failures.join("\n"));
}

fn check(grammar: Dialect, rule: Option<&str>, vector: &Vector) -> Result<(), String> {
    let report = lint_as(strictness_of(grammar, vector)?, &bytes_of(vector));
    let told: String = report.violations.iter().map(|fault| format!("\n{fault}")).collect();
    let ids: BTreeSet<String> = report.violations.iter().map(|fault| fault.rule.id.to_owned()).collect();
    if ids != vector.faults || report.ended.name() != vector.ended {
        let (ended, faults) = (&vector.ended, &vector.faults);
        return Err(format!("expected {ended} with {faults:?}, got {}{told}", report.ended.name()));
    }
    let result = match (&report.error(), report.violations.is_empty()) {
        (Some(_), _) => Outcome::Invalid,
        (None, false) => Outcome::Acceptable,
        (None, true) => Outcome::Valid,
    };
    if result != vector.result {
        return Err(format!("the result is {result:?}{told}"));
    }
    let fault = report.violations.iter().find(|fault| Some(fault.rule.id) == rule);
    if fault.map(|fault| fault.place.event) != vector.event {
        return Err(format!("expected the fault at event {:?}{told}", vector.event));
    }
    Ok(())
}

fn strictness_of(grammar: Dialect, vector: &Vector) -> Result<StreamStrictness, String> {
    match (&vector.profile, &vector.host) {
        (Some(name), None) => {
            let profile = Profile::named(name).ok_or(format!("there is no profile {name}"))?;
            Ok(StreamStrictness::Profile(profile))
        }
        (None, Some(host)) => Ok(StreamStrictness::at_host(grammar, host, "")),
        (None, None) => Ok(StreamStrictness::AsItSays(grammar)),
        (Some(_), Some(_)) => Err("either a host or a profile".to_owned()),
    }
}

#[test]
fn every_rule_has_a_stream_that_keeps_it_and_one_that_breaks_it() {
    let mut outcomes = BTreeMap::<String, BTreeSet<Outcome>>::new();
    for (_, _, file) in files() {
        for (rule, vector) in file.rule.iter().flat_map(|rule| file.vectors.iter().map(move |v| (rule, v))) {
            let breaks = vector.faults.contains(rule);
            assert_eq!(breaks, vector.result != Outcome::Valid, "{rule}: {}", vector.name);
            outcomes.entry(rule.clone()).or_default().insert(vector.result);
        }
    }
    for rule in StreamRule::all() {
        let outcomes = outcomes.get(rule.id).unwrap_or_else(|| panic!("no vectors for {}", rule.id));
        let broken = match rule.severity {
            Severity::Error => Outcome::Invalid,
            Severity::Warning => Outcome::Acceptable,
        };
        assert!(outcomes.contains(&Outcome::Valid), "no stream keeps {}", rule.id);
        assert!(outcomes.contains(&broken), "no stream breaks {}", rule.id);
    }
}

#[test]
fn every_file_is_named_after_its_rule_and_says_where_it_comes_from() {
    for (path, grammar, file) in files() {
        let stem = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let place = path.display();
        assert_eq!(file.schema, 1, "{place}");
        assert!(!file.comment.is_empty() && !file.source.is_empty(), "{place}: say what and where");
        let sources = file.vectors.iter().filter_map(|vector| vector.source.as_deref());
        assert!(sources.into_iter().all(|source| source.starts_with("https://")), "{place}: say where");
        match &file.rule {
            None => assert_eq!(stem, "accepted-shapes", "{place}: a file without a rule"),
            Some(rule) => {
                assert!(StreamRule::find(rule).is_some(), "{place}: there is no rule {rule}");
                assert_eq!(*rule, format!("{grammar}/stream/{stem}"), "{place}");
            }
        }
    }
}

#[test]
fn every_rule_is_named_after_its_grammar_and_has_a_source() {
    let mut ids = BTreeSet::new();
    for grammar in Dialect::ALL {
        assert_eq!(Dialect::from_name(grammar.name()), Some(grammar));
        for rule in StreamRule::of(grammar) {
            assert!(ids.insert(rule.id), "{} is there twice", rule.id);
            assert!(rule.id.starts_with(&format!("{grammar}/stream/")), "{}", rule.id);
            assert!(rule.source.starts_with("https://") && !rule.summary.is_empty(), "{}", rule.id);
        }
    }
}

#[test]
fn the_grammar_of_every_valid_vector_is_guessed() {
    // Streams with only what several grammars share, or what none has.
    const SILENT: [&str; 1] = ["error-at-once"];
    for (path, grammar, file) in files() {
        let valid = file.vectors.iter().filter(|vector| vector.result == Outcome::Valid);
        for vector in valid.filter(|vector| !SILENT.contains(&vector.name.as_str())) {
            let guess = detect(&bytes_of(vector));
            // Chunks of Mistral's models that other hosts serve look like OpenAI's.
            let is_alike = grammar == Dialect::Mistral && guess == Some(Dialect::OpenaiChat);
            assert!(guess == Some(grammar) || is_alike, "{}: {}: {guess:?}", path.display(), vector.name);
        }
    }
    assert_eq!(detect(b""), None);
    assert_eq!(detect(b"data: {\"x\":1}\n\n"), None);
}

#[test]
fn an_unknown_grammar_is_reported() {
    let cases = [
        ("Gemini Interactions", r#"{"event_type":"interaction.start","interaction":{"id":"a"}}"#),
        (
            "Gemini Interactions",
            r#"{"event_type":"content.delta","index":0,"delta":{"type":"text","text":"Hi"}}"#,
        ),
        ("Mistral Conversations", r#"{"type":"conversation.response.started","conversation_id":"conv_1"}"#),
        ("Mistral Conversations", r#"{"type":"message.output.delta","content":"Hi"}"#),
        ("OpenAI Conversations", r#"{"id":"conv_1","object":"conversation","created_at":1}"#),
        ("OpenAI Assistants", r#"{"type":"thread.run.created"}"#),
        ("Cohere", r#"{"type":"message-start","id":"a"}"#),
    ];
    for (name, event) in cases {
        for text in [format!("data: {event}\n\n"), event.to_owned()] {
            assert_eq!(recognise(text.as_bytes()), Some(StreamKind::NotSpoken(name)), "{text}");
            assert_eq!(detect(text.as_bytes()), None, "{text}");
        }
    }
    let named = "event: thread.run.created\ndata: {\"id\":\"run_1\",\"object\":\"thread.run\"}\n\n";
    assert_eq!(recognise(named.as_bytes()), Some(StreamKind::NotSpoken("OpenAI Assistants")));
    // {"outputText":"Hi"}, as Titan sends it.
    let payload = serde_json::json!({ "bytes": "eyJvdXRwdXRUZXh0IjoiSGkifQ==" });
    let titan = frame_bytes(&Frame { kind: "event".to_owned(), name: "chunk".to_owned(), payload });
    let name = "Bedrock InvokeModel with a model that is not Claude";
    assert_eq!(recognise(&titan), Some(StreamKind::NotSpoken(name)));
}

#[test]
fn a_stream_is_judged_for_a_provider_that_the_report_names() {
    let chunk = |model: &str| format!("data: {{\"id\":\"c\",\"model\":\"{model}\",\"choices\":[]}}\n\n");
    let judged = |host: &str, model: &str| {
        let strictness = StreamStrictness::at_host(Dialect::OpenaiChat, host, model);
        lint_as(strictness, chunk(model).as_bytes()).profile
    };
    let newest = Some(Profile::newest(Dialect::OpenaiChat).name);
    assert_eq!(judged("", "gpt-5"), newest);
    assert_eq!(judged("api.openai.com", "gpt-5"), newest);
    assert_eq!(judged("", "sonar-pro"), None);
    assert_eq!(judged("localhost:4000", "gpt-5"), None);
    assert_eq!(judged("ollama.com", "glm-5.3"), None);
    assert_eq!(judged("api.z.ai", "glm-5.3"), Profile::named("zai").map(|profile| profile.name));
    assert_eq!(judged("openrouter.ai", "x-ai/grok-4.3"), Profile::named("xai").map(|profile| profile.name));
    assert_eq!(streams::model_of(chunk("sonar-pro").as_bytes()).as_deref(), Some("sonar-pro"));
    assert_eq!(
        streams::model_of(b"data: {\"message\":{\"model\":\"claude-opus-5\"}}\n\n").as_deref(),
        Some("claude-opus-5")
    );
}

#[test]
fn mistral_is_known_by_its_ids_and_models() {
    let chunk = r#"{"id":"0123456789abcdef0123456789abcdef","model":"mistral-large-latest","choices":[]}"#;
    assert_eq!(detect(format!("data: {chunk}\n\n").as_bytes()), Some(Dialect::Mistral));
}

/// Mistral's streams look like OpenAI's; the model distinguishes them.
fn model_of(dialect: Dialect) -> &'static str {
    if dialect == Dialect::Mistral { "mistral-large-latest" } else { "a model" }
}

#[test]
fn our_own_streams_are_clean() {
    let mut n_streams = 0;
    for plan in plans::built_in().into_iter().flat_map(|(_, plans)| plans) {
        let replies = plan.turns.iter().enumerate().flat_map(|(turn, said)| {
            let grammar = plan.dialect_of(turn);
            said.replies.iter().map(move |reply| (grammar, reply))
        });
        // Deliberately wrong replies are what the grammar is there to find.
        let scripts =
            replies.flat_map(|(grammar, reply)| reply.attempts.iter().map(move |script| (grammar, script)));
        for (grammar, script) in scripts.filter(|(_, script)| !script.is_wrong(&plan.calls)) {
            for usage in [false, true] {
                let envelope = Envelope {
                    id: "0123456789abcdef0123456789abcdef",
                    model: model_of(grammar),
                    usage,
                    tokens: Tokens::PLANNED,
                };
                let encoded = wire::encode_stream(grammar, &plan, script, envelope);
                let bytes = encoded.frames.slice(0..encoded.frames.len());
                let report = lint(grammar, bytes);
                assert_eq!((report.ended, &report.violations[..]), (Ended::Complete, &[][..]), "{}", plan.id);
                assert_eq!(detect(bytes), Some(grammar), "{}", plan.id);
                n_streams += 1;
            }
        }
    }
    assert!(n_streams > 500, "only {n_streams} streams");
}

#[test]
fn our_own_error_frames_end_a_stream_legally() {
    for dialect in brickbat_rules::dialect::Dialect::ALL {
        let report = lint(dialect, &wire::of(dialect).error_frame(ErrorKind::Overloaded, b""));
        assert_eq!((report.ended, &report.violations[..]), (Ended::ErrorEvent, &[][..]), "{dialect}");
        assert!(report.provider_error.is_some(), "{dialect}");
    }
}

#[test]
fn a_fault_has_a_message_a_place_and_its_event() {
    let stream = "event: ping\ndata: {\"type\":\"ping\"}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";
    let report = lint(Dialect::AnthropicMessages, stream.as_bytes());
    assert_eq!((report.ended, report.n_events, report.n_bytes), (Ended::Illegal, 2, stream.len()));
    assert_eq!(
        report.error().unwrap().to_string(),
        "error[anthropic-messages/stream/message-start-first]: message_stop before message_start\n  \
         at event 1, byte 35, line 4\n  | {\"type\":\"message_stop\"}"
    );
    let long = format!("data: {{\"x\":\"{}\"\n\n", "\u{1}é".repeat(1000));
    let report = lint(Dialect::OpenaiChat, long.as_bytes());
    assert!(report.error().unwrap().excerpt.chars().count() <= 201);
    assert!(report.error().unwrap().to_string().lines().count() == 3);
}

#[test]
fn an_event_that_is_too_large_is_reported() {
    let piece = "x".repeat(1 << 20);
    for grammar in [Dialect::OpenaiChat, Dialect::Gemini] {
        for head in ["data: {\"x\":\"", "[{\"x\":\""] {
            let mut linter = Linter::new(grammar);
            linter.feed(head.as_bytes());
            (0..17).for_each(|_| linter.feed(piece.as_bytes()));
            linter.feed(b"\"}]\n\n");
            let report = linter.finish();
            assert!(report.error().is_some(), "{grammar}: {head}");
        }
    }
    let mut linter = Linter::new(Dialect::OpenaiChat);
    linter.feed(b": ");
    (0..17).for_each(|_| linter.feed(piece.as_bytes()));
    linter.feed(
        b"\n\ndata: {\"choices\":[{\"delta\":{\"role\":\"assistant\"},\"finish_reason\":\"stop\"}]}\n\n",
    );
    linter.feed(b"data: [DONE]\n\n");
    assert_eq!(linter.finish().violations, [], "a comment may be as long as it likes");
}

#[test]
fn many_calls_and_deep_json_are_survived() {
    let deep = format!("data: {}\n\n", "[".repeat(200_000));
    let many: String = (0..30_000)
        .map(|n| format!("data: {{\"choices\":[{{\"index\":{n},\"delta\":{{\"tool_calls\":[{{\"index\":{n},\"id\":\"a\",\"function\":{{\"name\":\"b\",\"arguments\":\"{{\"}}}}]}}}}]}}\n\n"))
        .collect();
    for grammar in Dialect::ALL {
        lint(grammar, deep.as_bytes());
        lint(grammar, many.as_bytes());
    }
    let report = lint(Dialect::OpenaiChat, many.as_bytes());
    assert_eq!((report.ended, report.n_events), (Ended::Truncated, 30_000));
}

#[test]
fn a_second_reply_after_the_first_is_detected() {
    // A client that retries may write both answers into one file. Nothing distinguishes two blocked prompts.
    const ALIKE: [&str; 1] = ["blocked"];
    for (path, grammar, file) in files() {
        let is_whole = |vector: &&Vector| vector.result == Outcome::Valid && vector.ended == "complete";
        for vector in file.vectors.iter().filter(is_whole) {
            let bytes = bytes_of(vector).repeat(2);
            let is_seen = !lint(grammar, &bytes).violations.is_empty();
            assert!(is_seen || ALIKE.contains(&vector.name.as_str()), "{}: {}", path.display(), vector.name);
        }
    }
}

#[test]
fn a_stream_without_its_last_event_is_not_complete() {
    for (path, grammar, file) in files() {
        let is_whole = |vector: &&Vector| vector.result == Outcome::Valid && vector.ended == "complete";
        for vector in file.vectors.iter().filter(is_whole) {
            let bytes = bytes_of(vector);
            // Bytes are removed until one event is missing.
            let n_events = lint(grammar, &bytes).n_events;
            let reports = (0..bytes.len()).rev().map(|end| lint(grammar, &bytes[..end]));
            let cut = reports.into_iter().find(|report| report.n_events < n_events);
            let ended = cut.map(|report| (report.ended, report.violations.is_empty()));
            // Pings and usage may follow the end, and the finish reason or messageStop may be the end.
            let may_end = ["ping-after", "usage-after", "empty-delta"].contains(&vector.name.as_str());
            let is_told = ended.is_some_and(|(ended, is_clean)| ended == Ended::Truncated || !is_clean);
            assert!(is_told || may_end, "{}: {}: {ended:?}", path.display(), vector.name);
        }
    }
}

/// Bytes that are almost a stream: a vector's, with some of them changed, cut out or repeated.
fn nearly_a_stream() -> impl Strategy<Value = (Dialect, Vec<u8>)> {
    let streams: Vec<(Dialect, Vec<u8>)> = files()
        .into_iter()
        .flat_map(|(_, grammar, file)| file.vectors.into_iter().map(move |v| (grammar, bytes_of(&v))))
        .collect();
    let change = (any::<prop::sample::Index>(), any::<u8>(), 0..4_usize, 0..200_usize);
    (prop::sample::select(streams), prop::collection::vec(change, 0..4)).prop_map(
        |((grammar, mut bytes), changes)| {
            for (at, byte, how, length) in
                changes.into_iter().filter(|_| !bytes.is_empty()).collect::<Vec<_>>()
            {
                if bytes.is_empty() {
                    break;
                }
                let at = at.index(bytes.len());
                let end = bytes.len().min(at + length);
                match how {
                    0 => bytes[at] = byte,
                    1 => drop(bytes.drain(at..end)),
                    2 => bytes.extend_from_within(at..end),
                    _ => bytes.insert(at, byte),
                }
            }
            (grammar, bytes)
        },
    )
}

fn in_pieces(grammar: Dialect, bytes: &[u8], cuts: &[prop::sample::Index]) -> StreamReport {
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
    cuts.extend([0, bytes.len()]);
    cuts.sort_unstable();
    let mut linter = Linter::new(grammar);
    cuts.windows(2).for_each(|cut| linter.feed(&bytes[cut[0]..cut[1]]));
    linter.finish()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_split_of_the_bytes_gives_the_same_report(
        (grammar, bytes) in nearly_a_stream(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
    ) {
        let report = lint(grammar, &bytes);
        prop_assert_eq!(&in_pieces(grammar, &bytes, &cuts), &report);
        let mut linter = Linter::new(grammar);
        bytes.chunks(1).for_each(|byte| linter.feed(byte));
        prop_assert_eq!(&linter.finish(), &report);
    }

    #[test]
    fn any_bytes_get_an_answer(bytes in prop::collection::vec(any::<u8>(), 0..300), (near, _) in nearly_a_stream()) {
        for grammar in Dialect::ALL {
            let report = lint(grammar, &bytes);
            prop_assert_eq!(report.n_bytes, bytes.len());
            let is_bad = matches!(report.ended, Ended::Illegal | Ended::Truncated);
            prop_assert_eq!(report.error().is_some(), is_bad);
        }
        detect(&bytes);
        prop_assert!(Dialect::ALL.contains(&near));
    }

    #[test]
    fn every_fault_is_at_the_start_of_an_event((grammar, bytes) in nearly_a_stream()) {
        for fault in lint(grammar, &bytes).violations {
            prop_assert!(fault.place.offset <= bytes.len());
            if let Some(line) = fault.place.line {
                let ends = |bytes: &[u8]| {
                    let text: Vec<u8> = bytes.to_vec();
                    let n_cr = text.iter().filter(|byte| **byte == b'\r').count();
                    let n_crlf = text.windows(2).filter(|pair| pair == b"\r\n").count();
                    text.iter().filter(|byte| **byte == b'\n').count() + n_cr - n_crlf
                };
                let is_array = bytes.trim_ascii_start().starts_with(b"[") && grammar == Dialect::Gemini;
                prop_assert!(is_array || line == ends(&bytes[..fault.place.offset]) + 1, "{fault}");
            }
            prop_assert!(fault.to_string().lines().count() <= 3);
        }
    }

    #[test]
    fn every_prefix_of_a_legal_stream_is_legal(
        (grammar, bytes) in nearly_a_stream(),
        cut in any::<prop::sample::Index>(),
    ) {
        let cut = &bytes[..cut.index(bytes.len() + 1)];
        // Inside an event, it is unknown what it would have been.
        let end = cut.windows(2).rposition(|pair| pair == b"\n\n").map_or(0, |at| at + 2);
        let report = lint(grammar, &cut[..end]);
        if report.ended == Ended::Illegal {
            prop_assert_eq!(report.violations, lint(grammar, &bytes).violations);
        }
    }

    #[test]
    fn both_readers_see_the_same_events((_, bytes) in nearly_a_stream()) {
        // A stream of valid events: the linter counts them, the reader of the wire passes them on.
        let mut n_events = 0;
        SseReader::default().feed(&bytes, |_| n_events += 1);
        let report = lint(Dialect::AnthropicMessages, &bytes);
        if report.ended != Ended::Illegal && std::str::from_utf8(&bytes).is_ok() && bytes.ends_with(b"\n\n") {
            prop_assert_eq!(report.n_events, n_events);
        }
    }
}

fn bytes_of(vector: &Vector) -> Vec<u8> {
    match (&vector.lines, &vector.frames, &vector.hex) {
        (Some(lines), None, None) => {
            lines.iter().flat_map(|line| [line.as_bytes(), b"\n"].concat()).collect()
        }
        (None, Some(frames), None) => frames.iter().flat_map(frame_bytes).collect(),
        (None, None, Some(hex)) => {
            let digits: Vec<u8> =
                hex.bytes().map(|digit| (digit as char).to_digit(16).unwrap() as u8).collect();
            digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
        }
        _ => panic!("{}: either lines, frames or hex", vector.name),
    }
}

fn frame_bytes(frame: &Frame) -> Vec<u8> {
    let text = |value: &str| HeaderValue::String(value.to_owned().into());
    let message = Message::new(frame.payload.to_string().into_bytes())
        .add_header(Header::new(":message-type", text(&frame.kind)))
        .add_header(Header::new(format!(":{}-type", frame.kind), text(&frame.name)))
        .add_header(Header::new(":content-type", text("application/json")));
    let mut bytes = Vec::new();
    write_message_to(&message, &mut bytes).unwrap();
    bytes
}

/// Every file of vectors with its grammar, sorted by path.
fn files() -> Vec<(PathBuf, Dialect, File)> {
    let mut files = Vec::new();
    for grammar in Dialect::ALL {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpora/streams").join(grammar.name());
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let text = fs::read_to_string(&path).unwrap();
            let file =
                serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            files.push((path, grammar, file));
        }
    }
    files.sort_by(|a, b| a.0.cmp(&b.0));
    files
}

fn is_kebab_case(name: &str) -> bool {
    !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}
