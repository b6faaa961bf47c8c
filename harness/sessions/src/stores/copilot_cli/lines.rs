//! Event lines and their faults.
//!
//! Known faults: raw line ends inside a text (<https://github.com/github/copilot-cli/issues/2649>), U+2028
//! and U+2029 (<https://github.com/github/copilot-cli/issues/2012>), NUL bytes
//! (<https://github.com/github/copilot-cli/issues/2217>), and events that share a line, with the first one
//! torn (<https://github.com/github/copilot-cli/issues/4098>). The readable parts of such lines are read.

use std::ops::Range;

use brickbat_rules::json::Document;
use serde_json::Value;

use crate::json::{self, Line};
use crate::stores::records::{self, Record};
use crate::{Lost, Place, Trouble};

/// A fault in a line.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) trouble: Trouble,
    pub(super) kind: Kind,
}

/// The kinds of faults, by the versions that refuse a file with them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// U+2028 or U+2029, which is part of a text for later versions.
    Separator,
    /// A line of NUL bytes.
    Zeros,
    /// `ephemeral` is false.
    Flag,
    /// The last line is torn.
    End,
    /// Another line cannot be read.
    Inside,
}

impl Kind {
    /// The newest version that is known to refuse such a file. Later ones skip the line.
    ///
    /// - Separators: <https://github.com/github/copilot-cli/issues/2658>.
    /// - NUL bytes: fixed "as of v1.0.57" (<https://github.com/github/copilot-cli/issues/3593>).
    /// - Flags: no release is known to take them. VS Code and the SDK refuse such a file too
    ///   (<https://github.com/github/copilot-cli/issues/2000>, <https://github.com/github/copilot-sdk/issues/1007>).
    /// - The others are measured: 1.0.57 refuses a torn end and 1.0.71 does not; 1.0.83 refuses any other line and
    ///   1.0.87 does not.
    fn last_refused(self) -> [u64; 3] {
        match self {
            Kind::Separator => [1, 0, 24],
            Kind::Zeros => [1, 0, 56],
            Kind::Flag => [u64::MAX; 3],
            Kind::End => [1, 0, 57],
            Kind::Inside => [1, 0, 83],
        }
    }
}

/// The end of the description of a fault that the product skips.
pub(super) const SKIPPED: &str = ", which the product skips";

/// The loss for an event that cannot be read. A raw character in a text is written as an escape instead.
const TORN: Lost = Lost::Data("what is left of one event");

/// The text with which the product begins each event.
const BEGIN: &[u8] = b"{\"type\":\"";
/// Maximum number of event beginnings to try in an unreadable line. Reports mention two.
const MAX_TRIED: usize = 16;
/// Maximum number of separators to report per file. The first is enough for a rejection.
const MAX_SEPARATORS: usize = 1_000;

/// The troubles of a version. A separator is none for a version that reads it.
pub(super) fn troubles(faults: Vec<Fault>, version: Option<&str>) -> Vec<Trouble> {
    let version = version.and_then(parsed);
    let of = |Fault { mut trouble, kind }: Fault| {
        if version.is_some_and(|version| version > kind.last_refused()) {
            if kind == Kind::Separator {
                return None;
            }
            trouble.words.push_str(SKIPPED);
        }
        Some(trouble)
    };
    faults.into_iter().filter_map(of).collect()
}

/// The place of an `ephemeral` that is false, with the comma beside it.
fn flag(line: &Line<'_>) -> Option<Place> {
    let document = Document::parse(line.bytes).ok()?;
    let fields: Vec<_> = document.root().fields().collect();
    let at =
        fields.iter().position(|(name, value)| name.is("ephemeral") && value.as_bool() == Some(false))?;
    let (start, end) = match (fields.get(at + 1), at.checked_sub(1).and_then(|before| fields.get(before))) {
        (Some((next, _)), _) => (fields[at].0.span().start, next.span().start),
        (None, Some((_, before))) => (before.span().end, fields[at].1.span().end),
        (None, None) => return None,
    };
    Some(Place::in_line(line.n, (line.start + start) as u64..(line.start + end) as u64, ""))
}

/// The three numbers of a version. `None` if it has another form.
pub(super) fn parsed(version: &str) -> Option<[u64; 3]> {
    let mut numbers = version.split(['.', '-', '+']).map(|number| number.parse().ok());
    Some([numbers.next()??, numbers.next()??, numbers.next()??])
}

/// The events in a file, and the faults in its lines.
pub(super) fn read(bytes: &[u8]) -> (Vec<Record>, Vec<Fault>) {
    let lines: Vec<Line<'_>> = json::lines(bytes).collect();
    let (mut records, mut faults) = (Vec::new(), Vec::new());
    let mut n_separators = 0;
    // The lines up to here were read as one text without an end. None of them is tried again.
    let mut tried = 0;
    let mut n = 0;
    while let Some(line) = lines.get(n) {
        n += 1;
        if let Some(value) = json::parse(line.bytes) {
            faults.extend(flag(line).map(|place| {
                let words = "`ephemeral` is false, and the product wants it to be true or absent";
                Fault { kind: Kind::Flag, ..fault(place, words, Lost::Bookkeeping) }
            }));
            records.push(Record::of_line(line, value));
            for place in separators(line).take(MAX_SEPARATORS - n_separators) {
                n_separators += 1;
                let words = "a raw U+2028 or U+2029, which the product takes for a line end".to_owned();
                let trouble = Trouble { place, words, loses: Some(Lost::Nothing) };
                faults.push(Fault { trouble, kind: Kind::Separator });
            }
            continue;
        }
        if n > tried {
            match parted(bytes, &lines[n - 1..]) {
                Ok((record, ends)) => {
                    n += ends.len();
                    records.push(record);
                    let words = "a raw line end inside a text";
                    faults.extend(ends.into_iter().map(|place| fault(place, words, Lost::Nothing)));
                    continue;
                }
                Err(n_lines) => tried = n - 1 + n_lines,
            }
        }
        if let Some((own, own_faults)) = joined(line) {
            records.extend(own);
            faults.extend(own_faults);
        } else {
            let kind = match lines.get(n) {
                _ if line.bytes.iter().all(|byte| *byte == 0) => Kind::Zeros,
                None => Kind::End,
                Some(_) => Kind::Inside,
            };
            faults.push(Fault { trouble: records::trouble(line), kind });
        }
    }
    (records, faults)
}

fn fault(place: Place, words: &str, loses: Lost) -> Fault {
    Fault { trouble: Trouble { place, words: words.to_owned(), loses: Some(loses) }, kind: Kind::Inside }
}

fn separators(line: &Line<'_>) -> impl Iterator<Item = Place> {
    let is_separator = |bytes: &[u8]| matches!(bytes, [0xE2, 0x80, 0xA8 | 0xA9]);
    let found = line.bytes.windows(3).enumerate().filter(move |(_, bytes)| is_separator(bytes));
    let (n, start) = (line.n, line.start as u64);
    found.map(move |(at, _)| Place::in_line(n, start + at as u64..start + at as u64 + 3, ""))
}

/// An event with raw line ends in a text, so that it continues on the next lines, and the positions of
/// these line ends. The error is the number of lines examined.
fn parted(bytes: &[u8], lines: &[Line<'_>]) -> Result<(Record, Vec<Place>), usize> {
    let first = lines.first().filter(|line| line.bytes.starts_with(b"{")).ok_or(1_usize)?;
    let mut scan = Scan::default();
    let mut n_lines = 0;
    for line in lines {
        // If this line begins a new event, the one before it is torn.
        if n_lines > 0 && line.bytes.starts_with(BEGIN) {
            return Err(n_lines);
        }
        n_lines += 1;
        match scan.line(line.bytes) {
            Open::InText => {}
            Open::Nothing => break,
            Open::Structure => return Err(n_lines),
        }
    }
    let last = lines.get(n_lines - 1).filter(|_| n_lines > 1).ok_or(n_lines)?;
    let span = first.start..last.start + last.bytes.len();
    let mut joined = Vec::with_capacity(span.len());
    bytes[span.clone()].iter().for_each(|byte| match byte {
        b'\n' => joined.extend_from_slice(b"\\n"),
        b'\r' => {}
        byte => joined.push(*byte),
    });
    let value = json::parse(&joined).filter(Value::is_object).ok_or(n_lines)?;
    let ends = lines[..n_lines].windows(2).map(|pair| {
        let n_returns = usize::from(pair[0].bytes.ends_with(b"\r"));
        let end = pair[0].start + pair[0].bytes.len() - n_returns;
        Place::in_line(pair[0].n, end as u64..pair[1].start as u64, "")
    });
    Ok((Record { value, line: Some(first.n), span, pointer: String::new() }, ends.collect()))
}

/// The state of JSON at the end of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    Nothing,
    InText,
    Structure,
}

/// A position in JSON, kept from line to line.
#[derive(Debug, Default)]
struct Scan {
    depth: usize,
    is_in_text: bool,
    is_escaped: bool,
}

impl Scan {
    fn line(&mut self, bytes: &[u8]) -> Open {
        for byte in bytes {
            match (byte, self.is_in_text) {
                _ if self.is_escaped => self.is_escaped = false,
                (b'\\', true) => self.is_escaped = true,
                (b'"', _) => self.is_in_text = !self.is_in_text,
                (b'{' | b'[', false) => self.depth += 1,
                (b'}' | b']', false) => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
        }
        match (self.is_in_text, self.depth) {
            (true, _) => Open::InText,
            (false, 0) => Open::Nothing,
            (false, _) => Open::Structure,
        }
    }
}

/// The events that share a line, and the faults between them.
fn joined(line: &Line<'_>) -> Option<(Vec<Record>, Vec<Fault>)> {
    let place = |span: Range<usize>| {
        Place::in_line(line.n, (line.start + span.start) as u64..(line.start + span.end) as u64, "")
    };
    let (mut records, mut faults) = (Vec::new(), Vec::new());
    let mut at = 0;
    let starts = line.bytes.windows(BEGIN.len()).enumerate().filter(|(_, bytes)| *bytes == BEGIN);
    for (start, _) in starts.take(MAX_TRIED) {
        if start < at {
            continue;
        }
        let mut values = serde_json::Deserializer::from_slice(&line.bytes[start..]).into_iter::<Value>();
        let Some(Ok(value)) = values.next() else { continue };
        let end = start + values.byte_offset();
        if start > at {
            faults.push(fault(place(at..start), "a torn event in front of another", TORN));
        } else if at > 0 {
            faults.push(fault(place(at..at), "two events without a line end between them", Lost::Nothing));
        }
        let span = line.start + start..line.start + end;
        records.push(Record { value, line: Some(line.n), span, pointer: String::new() });
        at = end;
    }
    if at > 0 && !line.bytes[at..].iter().all(u8::is_ascii_whitespace) {
        let words = if line.bytes[at..].contains(&0) {
            "NUL bytes after an event"
        } else {
            "a torn event after another"
        };
        faults.push(fault(place(at..line.bytes.len()), words, TORN));
    }
    (!records.is_empty()).then_some((records, faults))
}
