//! Stray bytes beside the records of a file: a leading byte order mark, and torn records that share a line
//! with complete ones.
//!
//! Windows editors add the mark, and JSON parsers reject it. A crash leaves a record without its end, and the
//! next record is appended to it (modelscope/ms-agent#1000, github/copilot-cli#4098). In both cases the data
//! after it is complete. Stray bytes are therefore read as blanks, and the location of each range is
//! recorded. This works the same way for every store. If two complete records share a line, they are read as
//! if the missing line end were there.

use std::collections::BTreeSet;
use std::ops::Range;

use brickbat_rules::json::Document;
use serde_json::Value;

use crate::{Edit, Files, Lost, Place, Session, Trouble, json};

/// The UTF-8 byte order mark.
const MARK: &[u8] = b"\xef\xbb\xbf";
/// The descriptions of the troubles.
const OF_MARK: &str = "a byte order mark, so the file is not valid JSON";
const OF_HEADING: &str = "a text before the JSON; delete it before the product reads the file";
const OF_TORN: &str = "a torn record on one line with a complete one";
const OF_GLUED: &str = "two records on one line";
const OF_COPY: &str = "the same line as line ";
/// The beginning of a record.
const BEGIN: &[u8] = b"{\"";
/// Maximum number of records whose field names are collected, to recognise other records. A store has a dozen
/// kinds of records.
const MAX_SHAPES: usize = 2_000;
/// Maximum number of lines to examine. A file with more such lines was not torn by occasional crashes.
const MAX_LINES: usize = 1_000;
/// Maximum number of possible record starts to try on one line. A record contains a few hundred objects
/// before it is torn.
const MAX_TRIED: usize = 10_000;

/// The files with their byte order marks, and a text before the JSON of the first one, blanked. `None` if they have
/// neither.
pub(crate) fn unmarked(files: &Files) -> Option<Files> {
    let heading = heading(files.main());
    if heading.is_empty() && !files.files.iter().any(|file| file.bytes.starts_with(MARK)) {
        return None;
    }
    let mut files = files.clone();
    for file in files.files.iter_mut().filter(|file| file.bytes.starts_with(MARK)) {
        file.bytes[..MARK.len()].fill(b' ');
    }
    if let Some(main) = files.files.first_mut() {
        main.bytes[heading].fill(b' ');
    }
    Some(files)
}

/// A text before the JSON of a file: the message of a command in front of its output
/// (<https://github.com/anomalyco/opencode/issues/12130>), or the comments of an export for the product's support. Empty
/// if the file has none, or the rest is not one JSON value.
fn heading(bytes: &[u8]) -> Range<usize> {
    let start = if bytes.starts_with(MARK) { MARK.len() } else { 0 };
    let begin = &bytes[start..bytes.len().min(start + MAX_HEADING)];
    let at = begin.iter().position(|byte| matches!(byte, b'{' | b'['));
    let is_text = |text: &[u8]| {
        let text = text.trim_ascii();
        !text.is_empty() && std::str::from_utf8(text).is_ok_and(|text| !text.contains(is_foreign))
    };
    match at.filter(|at| is_text(&begin[..*at])) {
        Some(at) if Document::parse(&bytes[start + at..]).is_ok() => start..start + at,
        _ => 0..0,
    }
}

/// The longest text before the JSON of a file, in bytes.
const MAX_HEADING: usize = 1_024;

/// True for a character that no note of a program has, but a part of a record, of a program or of a binary file has.
fn is_foreign(letter: char) -> bool {
    letter.is_control() && !letter.is_whitespace() || matches!(letter, '"' | '=' | '}' | ']')
}

/// Notes the byte order mark of the first file, and the text before its JSON.
pub(crate) fn note_mark(files: &Files, sessions: &mut [Session]) {
    let heading = heading(files.main());
    let mark = if files.main().starts_with(MARK) { 0..MARK.len() } else { 0..0 };
    for (span, words, loses) in [(heading, OF_HEADING, None), (mark, OF_MARK, Some(Lost::Nothing))] {
        if span.is_empty() {
            continue;
        }
        for session in sessions.iter_mut() {
            let place = Place::in_file(span.start as u64..span.end as u64, "");
            session.troubles.insert(0, Trouble { place, words: words.to_owned(), loses });
        }
    }
}

/// The first file with every record on its own line, and the changes that were made for this.
pub(crate) struct Parted {
    /// The files.
    pub(crate) files: Files,
    troubles: Vec<Trouble>,
    /// Offsets in the split file of line ends that the original does not have.
    added: Vec<usize>,
    /// Offsets in the split file of all line ends that the original lacks, including stray bytes overwritten
    /// with one.
    ends: Vec<usize>,
}

/// A part of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Record(Range<usize>),
    Torn(Range<usize>),
}

impl Parted {
    /// Splits the lines that contain records beside unreadable bytes. `None` if there are none. `sessions` is
    /// the result of reading the unsplit files.
    pub(crate) fn of(files: &Files, sessions: &[Session]) -> Option<Parted> {
        let troubles = sessions.iter().flat_map(|session| &session.troubles);
        let is_torn =
            |trouble: &&Trouble| trouble.place.file == 0 && matches!(trouble.loses, Some(Lost::Data(_)));
        let lines: BTreeSet<u64> =
            troubles.filter(is_torn).filter_map(|trouble| trouble.place.line).collect();
        if lines.is_empty() || lines.len() > MAX_LINES {
            return None;
        }
        let bytes = files.main();
        let shapes = shapes(bytes, &lines);
        let mut parted =
            Parted { files: files.clone(), troubles: Vec::new(), added: Vec::new(), ends: Vec::new() };
        let mut insertions = Vec::new();
        for line in json::lines(bytes).filter(|line| lines.contains(&line.n)) {
            let Some(pieces) = pieces(line.bytes, &shapes) else { continue };
            parted.take(&line, &pieces, &mut insertions);
        }
        if parted.troubles.is_empty() {
            return None;
        }
        parted.added = insertions.iter().enumerate().map(|(n, at)| at + n).collect();
        let blanked = parted.files.files.first_mut()?;
        let edits = insertions.iter().map(|at| (*at..*at, b"\n".to_vec())).collect();
        blanked.bytes = json::splice(&blanked.bytes, edits);
        // The ends were noted without the insertions before them.
        for end in &mut parted.ends {
            *end += insertions.partition_point(|at| at <= end);
        }
        parted.ends.extend(&parted.added);
        parted.ends.sort_unstable();
        Some(parted)
    }

    /// Splits one line.
    fn take(&mut self, line: &json::Line<'_>, pieces: &[Piece], insertions: &mut Vec<usize>) {
        let at = |span: &Range<usize>| line.start + span.start..line.start + span.end;
        let mut trouble = |span: Range<usize>, words: &str, loses: Lost| {
            let place = Place::in_line(line.n, span.start as u64..span.end as u64, "");
            self.troubles.push(Trouble { place, words: words.to_owned(), loses: Some(loses) });
        };
        let mut was_record = false;
        for (n, piece) in pieces.iter().enumerate() {
            match piece {
                Piece::Record(span) => {
                    if was_record {
                        let start = line.start + span.start;
                        trouble(start..start, OF_GLUED, Lost::Nothing);
                        insertions.push(start);
                    }
                    was_record = true;
                }
                Piece::Torn(span) => {
                    let span = at(span);
                    trouble(span.clone(), OF_TORN, Lost::Data("what is left of one record"));
                    let is_between = n > 0 && n + 1 < pieces.len();
                    if let Some(torn) =
                        self.files.files.first_mut().and_then(|file| file.bytes.get_mut(span.clone()))
                    {
                        torn.fill(b' ');
                        if let Some(last) = torn.last_mut().filter(|_| is_between) {
                            *last = b'\n';
                            self.ends.push(span.end - 1);
                        }
                    }
                    was_record = false;
                }
            }
        }
    }

    /// Notes the stray bytes, and translates all places back to the original file.
    pub(crate) fn note(&self, sessions: &mut [Session]) {
        for session in sessions {
            let messages = session.messages.iter_mut().chain(&mut session.off_branch);
            for message in messages {
                self.shift(&mut message.place);
                message.blocks.iter_mut().for_each(|block| self.shift(&mut block.place));
            }
            session.troubles.iter_mut().for_each(|trouble| self.shift(&mut trouble.place));
            if let Some(cut) = &mut session.cut {
                self.shift(&mut cut.place);
                cut.parent.iter_mut().for_each(|place| self.shift(place));
            }
            session.troubles.splice(0..0, self.troubles.iter().cloned());
        }
    }

    fn shift(&self, place: &mut Place) {
        if place.file > 0 || place.row.is_some() {
            return;
        }
        let before = |list: &[usize], at: u64| list.partition_point(|own| (*own as u64) < at) as u64;
        if let Some(line) = &mut place.line {
            *line -= before(&self.ends, place.start);
        }
        place.start -= before(&self.added, place.start);
        place.end -= before(&self.added, place.end);
    }
}

/// Returns whether a trouble is a range that is read as blanks.
pub(crate) fn is_stray(trouble: &Trouble) -> bool {
    [OF_MARK, OF_TORN, OF_GLUED].contains(&trouble.words.as_str()) || trouble.words.starts_with(OF_COPY)
}

/// The trouble of a line with an id that is there again. It is removed before any other edit, since an edit of one of
/// the two would make them differ.
pub(crate) fn copy(place: Place, first: u64) -> Trouble {
    Trouble { place, words: format!("{OF_COPY}{first}"), loses: Some(Lost::Nothing) }
}

/// The files without these ranges. `None` if there is any other edit.
pub(crate) fn taken_out(files: &Files, session: &Session, edits: &[Edit]) -> Option<Files> {
    let strays: BTreeSet<&Place> =
        session.troubles.iter().filter(|trouble| is_stray(trouble)).map(|trouble| &trouble.place).collect();
    let bytes = files.main();
    let mut cuts = Vec::new();
    for edit in edits {
        let Edit::Discard { place } = edit else { return None };
        if !strays.contains(place) {
            return None;
        }
        let span = usize::try_from(place.start).ok()?..usize::try_from(place.end).ok()?;
        let is_line_end = |byte: Option<&u8>| byte.is_none_or(|byte| *byte == b'\n');
        // The records before and after it need a line end between them.
        let before = span.start.checked_sub(1).and_then(|at| bytes.get(at));
        let is_between = !is_line_end(before) && !is_line_end(bytes.get(span.end));
        // A whole line goes with its end.
        let is_line = is_line_end(before) && bytes.get(span.end) == Some(&b'\n');
        let span = span.start..span.end + usize::from(is_line);
        cuts.push((span, if is_between { b"\n".to_vec() } else { Vec::new() }));
    }
    if cuts.is_empty() {
        return None;
    }
    let mut files = files.clone();
    let bytes = json::splice(files.main(), cuts);
    files.files.first_mut()?.bytes = bytes;
    Some(files)
}

/// The field names in a file's records, except for records on some lines.
fn shapes(bytes: &[u8], without: &BTreeSet<u64>) -> BTreeSet<Vec<String>> {
    let lines = json::lines(bytes).filter(|line| !without.contains(&line.n)).take(MAX_SHAPES);
    lines.filter_map(|line| shape(&json::parse(line.bytes)?)).collect()
}

fn shape(value: &Value) -> Option<Vec<String>> {
    let mut names: Vec<String> = value.as_object()?.keys().cloned().collect();
    names.sort_unstable();
    Some(names)
}

/// Splits a line that is not JSON into records and torn parts. `None` if it contains no record.
///
/// An object inside a torn record may be complete. It counts as a record only if it has the fields of one.
fn pieces(line: &[u8], shapes: &BTreeSet<Vec<String>>) -> Option<Vec<Piece>> {
    let mut shapes = shapes.clone();
    let is_blank = |byte: &u8| byte.is_ascii_whitespace();
    let start = line.iter().position(|byte| !is_blank(byte))?;
    // If the line begins with a complete record, the others may have the same fields.
    if let Some((value, _)) = object_at(&line[start..]) {
        shapes.extend(shape(&value));
    }
    let record_at = |at: usize| {
        let (value, n) = object_at(&line[at..])?;
        is_like(&shape(&value)?, &shapes).then_some(at..at + n)
    };
    let mut pieces = Vec::new();
    let mut at = start;
    let mut n_tried = 0;
    while at < line.len() && n_tried < MAX_TRIED {
        n_tried += 1;
        if let Some(record) = record_at(at) {
            at = record.end;
            pieces.push(Piece::Record(record));
        } else {
            let starts = (at + 1..line.len()).filter(|at| line[*at..].starts_with(BEGIN));
            let next = starts.take(MAX_TRIED - n_tried).find(|at| {
                n_tried += 1;
                record_at(*at).is_some()
            });
            let end = next.unwrap_or(line.len());
            pieces.push(Piece::Torn(at..end));
            at = end;
        }
        at += line[at..].iter().take_while(|byte| is_blank(byte)).count();
    }
    let has_record = pieces.iter().any(|piece| matches!(piece, Piece::Record(_)));
    (has_record && pieces.len() > 1 && at >= line.len()).then_some(pieces)
}

/// The object at the beginning of the bytes, and its length.
fn object_at(bytes: &[u8]) -> Option<(Value, usize)> {
    let mut values = serde_json::Deserializer::from_slice(bytes).into_iter::<Value>();
    let value = values.next()?.ok().filter(Value::is_object)?;
    Some((value, values.byte_offset()))
}

/// Returns whether the fields that an object has in common with some record are at least half of the fields
/// of both.
fn is_like(own: &[String], shapes: &BTreeSet<Vec<String>>) -> bool {
    shapes.iter().any(|other| {
        let n_common = own.iter().filter(|name| other.binary_search(name).is_ok()).count();
        n_common > 0 && 2 * n_common >= own.len() + other.len() - n_common
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Mended, Product, Reason, Repair, RepairOptions, Verdict, judge, read, repair};

    /// Line-based stores: the product and its lines. The last line but one contains the text "Sort them."
    fn stores() -> Vec<(Product, Vec<String>)> {
        let claude = |id: usize, role: &str, content: &str| {
            let parent = if id == 1 { "null".to_owned() } else { format!("\"u{}\"", id - 1) };
            format!(
                r#"{{"parentUuid":{parent},"isSidechain":false,"cwd":"/w","sessionId":"s","version":"2.1.20","type":"{role}","message":{{"role":"{role}","content":{content}}},"uuid":"u{id}","timestamp":"t"}}"#
            )
        };
        let said = |text: &str| format!(r#"[{{"type":"text","text":"{text}"}}]"#);
        let pi = |id: usize, role: &str, text: &str| {
            let parent = if id == 1 { "null".to_owned() } else { format!("\"p{}\"", id - 1) };
            format!(
                r#"{{"type":"message","id":"p{id}","parentId":{parent},"timestamp":"t","message":{{"role":"{role}","content":{}}}}}"#,
                said(text)
            )
        };
        let codex = |role: &str, kind: &str, text: &str| {
            format!(
                r#"{{"timestamp":"t","type":"response_item","payload":{{"type":"message","role":"{role}","content":[{{"type":"{kind}","text":"{text}"}}]}}}}"#
            )
        };
        let qwen = |id: usize, role: &str, author: &str, text: &str| {
            let parent = if id == 1 { "null".to_owned() } else { format!("\"q{}\"", id - 1) };
            format!(
                r#"{{"uuid":"q{id}","parentUuid":{parent},"sessionId":"s","timestamp":"t","type":"{role}","cwd":"/w","version":"0.15.10","message":{{"role":"{author}","parts":[{{"text":"{text}"}}]}}}}"#
            )
        };
        let goose =
            |role: &str, text: &str| format!(r#"{{"role":"{role}","created":1,"content":{}}}"#, said(text));
        vec![
            (
                Product::ClaudeCode,
                vec![
                    claude(1, "user", "\"Look.\""),
                    claude(2, "assistant", &said("Seen.")),
                    claude(3, "user", "\"Sort them.\""),
                    claude(4, "assistant", &said("Sorted.")),
                ],
            ),
            (
                Product::Pi,
                vec![
                    r#"{"type":"session","version":3,"id":"s","timestamp":"t","cwd":"/w"}"#.to_owned(),
                    pi(1, "user", "Look."),
                    pi(2, "assistant", "Seen."),
                    pi(3, "user", "Sort them."),
                    pi(4, "assistant", "Sorted."),
                ],
            ),
            (
                Product::Codex,
                vec![
                    r#"{"timestamp":"t","type":"session_meta","payload":{"id":"s","cli_version":"0.169.0"}}"#
                        .to_owned(),
                    codex("user", "input_text", "Look."),
                    codex("assistant", "output_text", "Seen."),
                    codex("user", "input_text", "Sort them."),
                    codex("assistant", "output_text", "Sorted."),
                ],
            ),
            (
                Product::QwenCode,
                vec![
                    qwen(1, "user", "user", "Look."),
                    qwen(2, "assistant", "model", "Seen."),
                    qwen(3, "user", "user", "Sort them."),
                    qwen(4, "assistant", "model", "Sorted."),
                ],
            ),
            (
                Product::Goose,
                vec![
                    r#"{"working_dir":"/w","message_count":4,"description":"d"}"#.to_owned(),
                    goose("user", "Look."),
                    goose("assistant", "Seen."),
                    goose("user", "Sort them."),
                    goose("assistant", "Sorted."),
                ],
            ),
        ]
    }

    fn mended(files: &Files) -> Mended {
        match repair(files, 0, &RepairOptions::default()) {
            Ok(Repair::Mended(mended)) => *mended,
            other => panic!("{other:?}"),
        }
    }

    fn text(bytes: &[u8]) -> String {
        String::from_utf8(bytes.to_vec()).unwrap()
    }

    #[test]
    fn the_mark_is_removed_and_the_first_record_kept_in_every_line_store() {
        for (product, lines) in stores() {
            let whole = lines.join("\n") + "\n";
            let marked = Files::one("s.jsonl", [MARK, whole.as_bytes()].concat());
            let sessions = read(&marked).unwrap_or_else(|error| panic!("{product}: {error}"));
            let plain = read(&Files::one("s.jsonl", whole.clone())).unwrap();
            assert_eq!((sessions[0].product, sessions[0].troubles.len()), (product, 1));
            assert_eq!(sessions[0].messages.len(), plain[0].messages.len(), "{product}");
            assert_eq!(judge(&sessions[0], None).verdict, judge(&plain[0], None).verdict, "{product}");
            let mended = mended(&marked);
            assert_eq!(text(mended.files.main()), whole, "{product}");
            assert_eq!(mended.edits.iter().map(|edit| edit.reason).collect::<Vec<_>>(), [Reason::Stray]);
        }
    }

    #[test]
    fn a_record_after_a_torn_one_is_kept_in_every_line_store() {
        for (product, lines) in stores() {
            let n = lines.len() - 2;
            let torn = lines[n].find("Sort").unwrap() + 2;
            let mut broken = lines.clone();
            broken[n] = format!("{}{}", &lines[n][..torn], lines[n]);
            let files = Files::one("s.jsonl", broken.join("\n") + "\n");
            let session = read(&files).unwrap().remove(0);
            assert_eq!(session.troubles.len(), 1, "{product}: {:?}", session.troubles);
            let place = &session.troubles[0].place;
            assert_eq!((place.line, place.end - place.start), (Some(n as u64 + 1), torn as u64), "{product}");
            let mended = mended(&files);
            assert_eq!(text(mended.files.main()), lines.join("\n") + "\n", "{product}");
            assert_eq!(mended.edits[0].reason, Reason::Unreadable, "{product}");
        }
    }

    #[test]
    fn records_that_share_a_line_are_split_and_keep_their_places() {
        for (product, lines) in stores().into_iter().filter(|(product, _)| *product != Product::QwenCode) {
            let n = lines.len() - 2;
            let glued = format!("{}\n{}{}\n", lines[..n].join("\n"), lines[n], lines[n + 1]);
            let torn = format!(
                "{}\n{}{}{}\n",
                lines[..n].join("\n"),
                lines[n],
                &lines[n][..lines[n].len() / 2],
                lines[n + 1]
            );
            for text_of in [glued, torn] {
                let files = Files::one("s.jsonl", text_of.clone());
                let session = read(&files).unwrap().remove(0);
                let last = session.messages.last().unwrap();
                let start = usize::try_from(last.place.start).unwrap();
                assert_eq!(last.place.line, Some(n as u64 + 1), "{product}");
                assert!(
                    text_of[start..].contains("Sorted.") && !text_of[start..].contains("Sort t"),
                    "{product}"
                );
                let mended = mended(&files);
                assert_eq!(text(mended.files.main()), lines.join("\n") + "\n", "{product}");
            }
        }
    }

    #[test]
    fn the_mark_is_removed_from_json_stores_and_bodies() {
        let stores = [
            r#"[{"id":"u","role":"user","parts":[{"type":"text","text":"Look."}]}]"#,
            r#"[{"role":"user","content":"Look."},{"role":"assistant","content":"Seen."}]"#,
            r#"{"model":"claude-sonnet-4-5","max_tokens":9,"messages":[{"role":"user","content":"Look."}]}"#,
        ];
        for store in stores {
            let name = "api_conversation_history.json";
            let plain = read(&Files::one(name, store)).unwrap().remove(0);
            let files = Files::one(name, [MARK, store.as_bytes()].concat());
            assert_eq!(read(&files).unwrap()[0].product, plain.product);
            let mended = mended(&files);
            assert_eq!(text(mended.files.main()), store);
            assert_eq!(mended.after.verdict, Verdict::Accepted);
        }
    }

    #[test]
    fn a_complete_object_inside_a_torn_record_is_not_a_record() {
        let (_, lines) = stores().remove(0);
        let end = lines[1].find("]").unwrap();
        let torn = format!("{}\n{}\n{}\n", lines[0], &lines[1][..end], lines[0]);
        let files = Files::one("s.jsonl", torn);
        let session = read(&files).unwrap().remove(0);
        assert!(session.troubles[0].words.starts_with("a torn line"), "{:?}", session.troubles);
        let shapes = BTreeSet::from([vec!["a".to_owned(), "b".to_owned()]]);
        for line in ["{\"a\":1,\"b\":{\"c\":{\"d\":1}", "{\"a\":{\"a\":{\"a\":", "{\"{\"{\"", "x", "\0\0"] {
            assert_eq!(pieces(line.as_bytes(), &shapes), None, "{line}");
        }
        let nested = "{\"a\":".repeat(20_000);
        assert_eq!(pieces(nested.as_bytes(), &shapes), None);
    }
}
