//! Requests in files: found, read piece by piece, checked on all cores, and passed on in their order.

mod messages;
mod pasted;
mod quoted;
mod rows;
mod unpack;

use std::ffi::OsStr;
use std::io::{self, BufRead, Read};
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::output::tell;
use super::regular;

use brickbat_rules::check::{
    CheckError, CheckOptions, CheckedRequest, Start, check, check_recorded, line_offsets,
};
use brickbat_rules::recordings::{self, Searched, Unreadable};
use brickbat_rules::{Dialect, Profile};

pub(super) use messages::parted;
pub(super) use unpack::{gunzipped, plain_name};

/// A file with requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// The path as the user wrote it; `-` is standard input.
    pub path: String,
    /// True if the user named the file itself, false if it was found in a folder.
    pub is_named: bool,
}

impl Input {
    /// True for YAML, which may be a cassette.
    pub fn is_yaml(&self) -> bool {
        Path::new(&self.path).extension().is_some_and(|ending| ending == "yaml" || ending == "yml")
    }
}

/// The files that the user's arguments name.
#[derive(Debug, Default)]
pub struct Inputs {
    /// In argument order; the files in a folder are sorted.
    pub files: Vec<Input>,
    /// The number of files in folders that were skipped, because their extension is not that of JSON, a HAR
    /// file or a cassette.
    pub n_passed_over: usize,
    /// Folders that could not be listed, each with the reason.
    pub unreadable: Vec<(String, String)>,
}

/// An event that occurs while the files are read.
#[derive(Debug)]
pub enum ReadEvent {
    /// A byte order mark at the beginning of the file was skipped.
    Marked,
    /// A request was found inside the file. Contains its place: a JSON pointer, or words.
    Found(Option<u64>, String),
    /// A part of a text looks like a request and could not be read, while others could. Contains its line.
    Missed(u64, Unreadable),
    /// The strictness of this host is not known, so the provider of the dialect or of the model judged.
    UnknownHost(String),
    /// A row with only texts, which every dialect could have written, was judged as this dialect.
    Guessed(Dialect),
    /// The last reply of a row without a model calls a tool. It was judged as a row for training.
    Training,
    /// A request was checked.
    Judged(Box<CheckedRequest>),
    /// A text could not be checked. It includes its line if the file has several.
    Unjudged(Option<u64>, CheckError),
    /// A text has no request. Contains the reason, and the text.
    NoRequest(CheckError, String),
    /// A text quotes a refusal of this provider, and its profile judged the request.
    Quoted(&'static Profile),
    /// The provider refused the request that was checked last, as a recording shows. Contains the line, the status and
    /// the words.
    Refused(u64, u16, String),
    /// The text around the requests of a file, or around a request that cannot be read.
    Around(String),
    /// The file, or the line, cannot be read.
    Unreadable(Option<u64>, String),
    /// The file has ended.
    End,
}

/// The maximum number of bytes in one request; the largest request that a provider accepts is 32 MiB.
pub const MAX_BYTES: u64 = 64 << 20;

/// The number of bytes checked at a time: enough to keep all cores busy, and little compared to the largest
/// request.
const BATCH_BYTES: u64 = 8 << 20;

/// The number of pieces checked at a time. This also limits the number of findings in tiny pieces.
const BATCH_PIECES: usize = 2048;

/// The maximum number of errors printed individually. A file of a different kind would have an error on every
/// line.
pub const MAX_ERRORS: usize = 20;

/// The number of lines tried at the beginning of a file; if none of them is JSON, the rest is not read. A log
/// of requests has a line of JSON sooner, and a file of random bytes never has one.
const MAX_FOREIGN_LINES: usize = 1000;

/// The bytes that Windows editors write at the beginning of a UTF-8 file. They are not part of the text.
pub const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The first bytes of UTF-16 files, which the Windows shell writes: with the low byte first, and with the high one.
const UTF_16: [&[u8]; 2] = [b"\xff\xfe", b"\xfe\xff"];

/// The maximum depth of nested folders.
const MAX_DEPTH: usize = 64;

impl Inputs {
    /// Takes files directly, and searches folders.
    pub fn of(words: &[String]) -> Inputs {
        let mut inputs = Inputs::default();
        for word in words {
            if word != "-" && Path::new(word).is_dir() {
                inputs.walk(Path::new(word), MAX_DEPTH);
            } else {
                inputs.files.push(Input { path: word.clone(), is_named: true });
            }
        }
        inputs
    }

    fn walk(&mut self, folder: &Path, depth: usize) {
        let entries = std::fs::read_dir(folder).and_then(|entries| entries.collect::<io::Result<Vec<_>>>());
        let mut entries = match entries {
            Ok(_) if depth == 0 => {
                let words = format!("folders are nested more than {MAX_DEPTH} deep");
                return self.unreadable.push((folder.display().to_string(), words));
            }
            Ok(entries) => entries,
            Err(error) => return self.unreadable.push((folder.display().to_string(), error.to_string())),
        };
        entries.sort_by_key(std::fs::DirEntry::file_name);
        for entry in entries {
            let path: PathBuf = entry.path();
            match entry.file_type() {
                // Links to folders are not followed, because they may form cycles.
                Ok(kind) if kind.is_dir() => self.walk(&path, depth - 1),
                Ok(_) if is_text(&path) => {
                    self.files.push(Input { path: path.display().to_string(), is_named: false });
                }
                _ => self.n_passed_over += 1,
            }
        }
    }
}

fn is_text(path: &Path) -> bool {
    if !path.is_file() {
        return false;
    }
    let path = Path::new(path.to_str().map_or("", plain_name));
    let is_one = |ending: &OsStr| ["json", "har", "yaml", "yml"].iter().any(|known| ending == *known);
    path.extension().is_some_and(is_one) || has_lines(path)
}

fn has_lines(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "jsonl" || ending == "ndjson")
}

/// Checks every request in the files, and passes each event to `each` with the index of its file. `progress` gets the
/// number of bytes that have been checked.
pub fn judge(
    files: &[Input],
    terms: &CheckOptions,
    mut each: impl FnMut(usize, ReadEvent),
    mut progress: impl FnMut(u64),
) {
    let mut batch = PieceBatch {
        terms,
        pieces: Vec::new(),
        n_bytes: 0,
        n_judged: 0,
        each: &mut each,
        progress: &mut progress,
    };
    for (index, input) in files.iter().enumerate() {
        read(&input.path, &mut |piece| {
            batch.add(index, piece.map_err(|(line, words)| ReadEvent::Unreadable(line, words)));
        });
        batch.add(index, Err(ReadEvent::End));
    }
    batch.judge();
}

/// A text that should be one request.
#[derive(Debug, Clone)]
pub struct Piece {
    pub text: Vec<u8>,
    pub start: Start,
    /// True if the file has several texts, one per line.
    pub is_line: bool,
    /// True if a byte order mark before the text was skipped.
    pub has_mark: bool,
    /// True if the file has one message per line, and the text is the list of them.
    pub is_joined: bool,
}

/// The note about a file that begins with a byte order mark.
pub fn marked(path: &str) -> String {
    format!("note: {path} begins with a byte order mark, which is not part of the request and was skipped")
}

/// The note about a request that was found inside a file.
pub fn found(path: &str, line: Option<u64>, place: &str) -> String {
    let line = line.map_or(String::new(), |line| format!(":{line}"));
    format!("note: {path}{line}: the request was found at {place}")
}

/// Prints how many errors were not printed one by one. `done` names the operation that failed.
pub fn tell_unprinted(n_errors: usize, done: &str) {
    match n_errors.saturating_sub(MAX_ERRORS) {
        0 => {}
        n => tell(format!("… and {n} more that could not be {done}")),
    }
}

/// A line that cannot be read, and the reason.
pub type ReadFailure = (Option<u64>, String);

/// Pieces that will be checked together, and the other events between them.
struct PieceBatch<'a> {
    terms: &'a CheckOptions,
    pieces: Vec<(usize, Result<Piece, ReadEvent>)>,
    n_bytes: u64,
    n_judged: u64,
    each: &'a mut dyn FnMut(usize, ReadEvent),
    progress: &'a mut dyn FnMut(u64),
}

impl PieceBatch<'_> {
    fn add(&mut self, index: usize, piece: Result<Piece, ReadEvent>) {
        self.n_bytes += piece.as_ref().map_or(0, |piece| piece.text.len() as u64);
        self.pieces.push((index, piece));
        if self.n_bytes >= BATCH_BYTES || self.pieces.len() >= BATCH_PIECES {
            self.judge();
        }
    }

    fn judge(&mut self) {
        let terms = self.terms;
        let of = |(index, piece): (usize, Result<Piece, ReadEvent>)| match piece {
            Ok(piece) => (index, of_piece(&piece, terms)),
            Err(event) => (index, vec![event]),
        };
        let pieces = std::mem::take(&mut self.pieces);
        self.n_judged += std::mem::take(&mut self.n_bytes);
        // Most runs check one request, which needs one core.
        let is_many = pieces.iter().filter(|(_, piece)| piece.is_ok()).nth(1).is_some();
        let events: Vec<(usize, Vec<ReadEvent>)> = if is_many {
            pieces.into_par_iter().map(of).collect()
        } else {
            pieces.into_iter().map(of).collect()
        };
        for (index, events) in events {
            events.into_iter().for_each(|event| (self.each)(index, event));
        }
        (self.progress)(self.n_judged);
    }
}

fn of_piece(piece: &Piece, terms: &CheckOptions) -> Vec<ReadEvent> {
    let mut events = Vec::new();
    events.extend(piece.has_mark.then_some(ReadEvent::Marked));
    if piece.is_recording() {
        events.extend(of_recording(piece, terms));
    } else {
        let mut checked = check(&piece.text, piece.start, terms);
        if let Ok(checked) = &mut checked
            && piece.is_line
            && rows::end_with_calls(&piece.text, checked)
        {
            events.push(ReadEvent::Training);
        }
        let is_plain = matches!(checked, Err(CheckError::NoDialect))
            && piece.is_line
            && rows::has_only_texts(&piece.text);
        let Searched { found: mut inside, unread, around } = match &checked {
            Err(CheckError::NotJson(_) | CheckError::NoConversation | CheckError::NoDialect) if !is_plain => {
                recordings::searched(&piece.text, terms)
            }
            _ => Default::default(),
        };
        // A message among other lines is a part of a session.
        inside.retain(|own| !piece.is_line || !own.exchange.left_out.is_excerpt());
        let in_file = |line: u64| piece.start.line + line - 1;
        match (checked, unread.first()) {
            _ if !inside.is_empty() => {
                events
                    .extend(unread.iter().map(|unread| ReadEvent::Missed(in_file(unread.line), unread.why)));
            }
            // A line of JSON that is cut says where.
            (Err(CheckError::NotJson(_)), Some(unread)) if !piece.is_line => {
                events.push(ReadEvent::Unreadable(Some(in_file(unread.line)), unread.why.to_string()));
                events.push(ReadEvent::Around(beginning(&piece.text)));
            }
            // Most rows of a set for training have no calls.
            (Err(_), _) if is_plain => {
                let dialect = Dialect::OpenaiChat;
                let terms = CheckOptions { dialect: Some(dialect), ..terms.clone() };
                events.push(ReadEvent::Guessed(dialect));
                events.push(event(piece.line(), check(&piece.text, piece.start, &terms)));
            }
            (Err(error), _) if !piece.is_line && may_quote_error(&error, &piece.text) => {
                events.push(ReadEvent::NoRequest(error, beginning(&piece.text)));
            }
            (checked, _) => events.push(event(piece.line(), checked)),
        }
        events.extend(pasted::of_text(piece, inside, &beginning(around.as_bytes()), terms));
    }
    events
}

/// The maximum number of bytes of a text without a request that are searched for an error.
const MAX_QUOTED: usize = 64 << 10;

/// The beginning of a text that is searched for an error.
fn beginning(text: &[u8]) -> String {
    String::from_utf8_lossy(&text[..text.len().min(MAX_QUOTED)]).into_owned()
}

/// Returns whether a text without a request may be about an error: words, or the error of a provider as JSON. JSON that
/// is broken is a request that cannot be read.
fn may_quote_error(error: &CheckError, text: &[u8]) -> bool {
    let begins_json = || {
        let mut bytes = text.iter().filter(|byte| !byte.is_ascii_whitespace());
        let first = bytes.next().is_some_and(|byte| matches!(byte, b'{' | b'['));
        first && bytes.next().is_none_or(|byte| matches!(byte, b'"' | b'{' | b'[' | b'\'' | b'}' | b']'))
    };
    let is_error = || {
        let value: Option<serde_json::Value> = serde_json::from_slice(text).ok();
        value.is_some_and(|value| ["error", "detail"].iter().any(|name| value.get(*name).is_some()))
    };
    match error {
        CheckError::NotJson(_) => !begins_json(),
        CheckError::NoConversation => is_error(),
        CheckError::NoDialect
        | CheckError::NotSpoken(_)
        | CheckError::NoProfile { .. }
        | CheckError::OtherDialect { .. }
        | CheckError::NoReply => false,
    }
}

impl Piece {
    /// The line where the piece begins, if the file has several.
    pub fn line(&self) -> Option<u64> {
        self.is_line.then_some(self.start.line)
    }

    /// True for a HAR file or a cassette.
    pub fn is_recording(&self) -> bool {
        !self.is_line && recordings::is_recording(&self.text)
    }
}

/// Checks each exchange in a HAR file or a cassette.
fn of_recording(piece: &Piece, terms: &CheckOptions) -> Vec<ReadEvent> {
    let exchanges = match recordings::read(&piece.text) {
        Ok(exchanges) => exchanges,
        Err(problem) => return vec![ReadEvent::Unreadable(problem.line, problem.words)],
    };
    let offsets = line_offsets(&piece.text, exchanges.iter().map(|exchange| exchange.line));
    let mut events = Vec::new();
    for (exchange, offset) in exchanges.iter().zip(offsets) {
        let start = Start { line: exchange.line, offset: piece.start.offset + offset };
        events.push(event(Some(exchange.line), check_recorded(exchange, start, terms)));
        if REFUSALS.contains(&exchange.status) && !exchange.is_ours && !exchange.error.is_empty() {
            events.push(ReadEvent::Refused(exchange.line, exchange.status, exchange.error.clone()));
        }
    }
    events
}

/// The statuses with which providers refuse a body.
const REFUSALS: [u16; 3] = [400, 413, 422];

fn event(line: Option<u64>, checked: Result<CheckedRequest, CheckError>) -> ReadEvent {
    match checked {
        Ok(checked) => ReadEvent::Judged(Box::new(checked)),
        Err(unjudged) => ReadEvent::Unjudged(line, unjudged),
    }
}

/// Reads a file, or standard input, piece by piece. If the first line is a complete JSON text and more lines
/// follow, the file is read line by line, whatever its name.
pub fn read(path: &str, each: &mut dyn FnMut(Result<Piece, ReadFailure>)) {
    let opened = regular::open_or_stdin(path).and_then(unpack::reader);
    let read =
        opened.and_then(|(mut file, _)| pieces(&mut file, has_lines(Path::new(plain_name(path))), each));
    if let Err(error) = read {
        each(Err((None, error.to_string())));
    }
}

/// The content of a file as UTF-8, with at most this many bytes, and whether it was packed or in another encoding.
pub fn content(path: &str, max_bytes: u64) -> io::Result<(Vec<u8>, bool)> {
    let (file, is_packed) = unpack::reader(regular::open_or_stdin(path)?)?;
    let mut bytes = Vec::new();
    file.take(max_bytes + 1).read_to_end(&mut bytes)?;
    match UTF_16.iter().position(|mark| bytes.starts_with(mark)) {
        Some(is_big) => Ok((of_utf_16(&bytes[2..], is_big == 1)?.into_bytes(), true)),
        None => Ok((bytes, is_packed)),
    }
}

/// The pieces of a file that is in memory, as [`read`] finds them.
pub fn pieces_of(path: &str, mut bytes: &[u8]) -> Vec<Result<Piece, ReadFailure>> {
    let mut all = Vec::new();
    let has_lines = has_lines(Path::new(plain_name(path)));
    let read = pieces(&mut bytes, has_lines, &mut |piece| all.push(piece));
    all.extend(read.err().map(|error| Err((None, error.to_string()))));
    all
}

fn pieces(
    file: &mut impl BufRead,
    has_lines: bool,
    each: &mut dyn FnMut(Result<Piece, ReadFailure>),
) -> io::Result<()> {
    let mut start = Start { line: 1, offset: 0 };
    let Some(mut first) = line(file)? else {
        if !has_lines {
            each(Ok(Piece { text: Vec::new(), start, is_line: false, has_mark: false, is_joined: false }));
        }
        return Ok(());
    };
    if let Some(is_big) = UTF_16.iter().position(|mark| first.text.starts_with(mark)) {
        let mut text = first.text;
        file.take(2 * MAX_BYTES).read_to_end(&mut text)?;
        let text = of_utf_16(&text[2..], is_big == 1)?;
        let each = &mut |piece: Result<Piece, ReadFailure>| {
            each(piece.map(|piece| Piece { has_mark: true, ..piece }))
        };
        return pieces(&mut text.as_bytes(), has_lines, each);
    }
    let has_mark = first.text.starts_with(BYTE_ORDER_MARK);
    if has_mark {
        first.text.drain(..BYTE_ORDER_MARK.len());
        start.offset = BYTE_ORDER_MARK.len() as u64;
    }
    let is_over = file.fill_buf()?.is_empty();
    if !is_over && first.is_whole && (messages::is_message(&first.text) || messages::is_note(&first.text)) {
        let mut text = first.text;
        let n_first = text.len();
        file.take(MAX_BYTES.saturating_sub(n_first as u64)).read_to_end(&mut text)?;
        let list = if file.fill_buf()?.is_empty() { messages::joined(&text) } else { None };
        if let Some(text) = list {
            each(Ok(Piece { text, start, is_line: false, has_mark, is_joined: true }));
            return Ok(());
        }
        let first = RawLine { text: text[..n_first].to_vec(), is_whole: true };
        return lines(&mut text[n_first..].chain(file), first, start, each);
    }
    if has_lines {
        return lines(file, first, start, each);
    }
    let mut text = first.text;
    if !is_over && first.is_whole && is_json(&text) {
        let n_first = text.len();
        file.take(MAX_LOOKED).read_to_end(&mut text)?;
        // A long log is read line by line: as one text, only its beginning is searched.
        let is_long = (text.len() - n_first) as u64 >= MAX_LOOKED;
        if is_long || is_lines(&text[n_first..]) {
            let first = RawLine { text: text[..n_first].to_vec(), is_whole: true };
            return lines(&mut text[n_first..].chain(file), first, start, each);
        }
    }
    file.take((MAX_BYTES + 1).saturating_sub(text.len() as u64)).read_to_end(&mut text)?;
    if !first.is_whole || text.len() as u64 > MAX_BYTES {
        return Err(io::Error::other(format!("it is too large: more than {MAX_BYTES} bytes")));
    }
    each(Ok(Piece { text, start, is_line: false, has_mark, is_joined: false }));
    Ok(())
}

/// Converts UTF-16 to UTF-8.
fn of_utf_16(bytes: &[u8], is_big: bool) -> io::Result<String> {
    let unit = |pair: &[u8; 2]| if is_big { u16::from_be_bytes(*pair) } else { u16::from_le_bytes(*pair) };
    let (pairs, rest) = bytes.as_chunks::<2>();
    let text: Result<String, _> = char::decode_utf16(pairs.iter().map(unit)).collect();
    match text {
        Ok(text) if rest.is_empty() => Ok(text),
        _ => Err(io::Error::other("it begins like UTF-16 and is none")),
    }
}

fn lines(
    file: &mut impl BufRead,
    first: RawLine,
    mut start: Start,
    each: &mut dyn FnMut(Result<Piece, ReadFailure>),
) -> io::Result<()> {
    let mut has_mark = start.offset > 0;
    let mut next = Some(first);
    // The number of lines before the first one that is JSON.
    let mut n_foreign = Some(0);
    while let Some(RawLine { text, is_whole }) = next {
        let mut n_bytes = text.len() as u64;
        n_foreign =
            n_foreign.filter(|_| !is_json(&text)).map(|n| n + usize::from(!text.trim_ascii().is_empty()));
        if n_foreign.is_some_and(|n| n > MAX_FOREIGN_LINES) {
            let words =
                format!("none of the first {MAX_FOREIGN_LINES} lines is JSON, so the rest is not read");
            return Err(io::Error::other(words));
        }
        if !is_whole {
            n_bytes += file.skip_until(b'\n')? as u64;
            each(Err((Some(start.line), format!("it is too large: more than {MAX_BYTES} bytes"))));
        } else if !text.trim_ascii().is_empty() {
            // The line end is removed, so that an error at the end of a truncated text is on the text's own
            // line.
            let text = text.trim_ascii_end().to_vec();
            let has_mark = std::mem::take(&mut has_mark);
            each(Ok(Piece { text, start, is_line: true, has_mark, is_joined: false }));
        }
        start = Start { line: start.line + 1, offset: start.offset + n_bytes };
        next = line(file)?;
    }
    Ok(())
}

/// Returns whether at least half of the lines at the beginning of a text are JSON, so that it is not a log with JSON over
/// several lines. `text` is what follows the first line, which is JSON.
fn is_lines(text: &[u8]) -> bool {
    let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    let asked = lines.take(MAX_ASKED);
    let (n_lines, n_json) =
        asked.fold((1, 1), |(n_lines, n_json), line| (n_lines + 1, n_json + usize::from(is_json(line))));
    2 * n_json >= n_lines
}

/// The number of bytes after the first line that a log with JSON over several lines may have, and the number of lines that
/// tell it from lines of JSON.
const MAX_LOOKED: u64 = 1 << 20;
const MAX_ASKED: usize = 40;

/// True if a text is JSON. The contents of its strings are not checked.
fn is_json(text: &[u8]) -> bool {
    serde_json::from_slice::<serde::de::IgnoredAny>(text).is_ok()
}

/// A line in a file.
struct RawLine {
    text: Vec<u8>,
    /// False if the line is too long; `text` is then its beginning.
    is_whole: bool,
}

fn line(file: &mut impl BufRead) -> io::Result<Option<RawLine>> {
    let mut text = Vec::new();
    file.take(MAX_BYTES + 1).read_until(b'\n', &mut text)?;
    let is_whole = text.len() as u64 <= MAX_BYTES || text.last() == Some(&b'\n');
    Ok((!text.is_empty()).then_some(RawLine { text, is_whole }))
}
