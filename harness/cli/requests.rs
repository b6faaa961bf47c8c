//! Requests in files: found, read piece by piece, checked on all cores, and passed on in their order.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use brickbat_rules::check::{
    CheckError, CheckOptions, CheckedRequest, Start, check, check_recorded, line_offsets,
};
use brickbat_rules::recordings;

/// A file with requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// As the user named it; `-` is standard input.
    pub path: String,
    /// Whether the user named it, or a folder that holds it.
    pub is_named: bool,
}

impl Input {
    /// Whether it may be a cassette, or any other YAML.
    pub fn is_yaml(&self) -> bool {
        Path::new(&self.path).extension().is_some_and(|ending| ending == "yaml" || ending == "yml")
    }
}

/// The files that the user means.
#[derive(Debug, Default)]
pub struct Inputs {
    /// In the order of the arguments; those of a folder are sorted.
    pub files: Vec<Input>,
    /// Files of folders with other endings than those of JSON, HAR files and cassettes.
    pub n_passed_over: usize,
    /// Folders that could not be listed, and why.
    pub unreadable: Vec<(String, String)>,
}

/// What happened while files were read.
#[derive(Debug)]
pub enum ReadEvent {
    /// A request was checked.
    Judged(Box<CheckedRequest>),
    /// A text could not be checked; with its line, where it is one of several.
    Unjudged(Option<u64>, CheckError),
    /// The file, or the line, cannot be read.
    Unreadable(Option<u64>, String),
    /// The file is at its end.
    End,
}

/// Bytes of one request; the largest request that a provider takes is 32 MiB.
pub const MAX_BYTES: u64 = 64 << 20;

/// Bytes that are checked at once: enough to keep all cores busy, and little compared to the largest request.
const BATCH_BYTES: u64 = 8 << 20;

/// Pieces that are checked at once, so that the findings in tiny ones are bounded as well.
const BATCH_PIECES: usize = 2048;

/// Folders inside folders.
const MAX_DEPTH: usize = 64;

impl Inputs {
    /// Files are taken as they are, folders are walked.
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
                // Links to folders are not followed, since they may lead in circles.
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
    let is_one = |ending: &OsStr| ["json", "har", "yaml", "yml"].iter().any(|known| ending == *known);
    path.is_file() && (path.extension().is_some_and(is_one) || has_lines(path))
}

fn has_lines(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "jsonl" || ending == "ndjson")
}

/// Checks every request of the files, and passes each event to `each` with the index of its file. `progress` gets the
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
#[derive(Debug)]
pub struct Piece {
    pub text: Vec<u8>,
    pub start: Start,
    /// Whether it is one of several in its file.
    pub is_line: bool,
}

/// A line that cannot be read, and why.
type ReadFailure = (Option<u64>, String);

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
    if !piece.is_line && recordings::is_recording(&piece.text) {
        return of_recording(&piece.text, terms);
    }
    let line = piece.is_line.then_some(piece.start.line);
    vec![event(line, check(&piece.text, piece.start, terms))]
}

/// Checks each exchange of a HAR or a cassette.
fn of_recording(text: &[u8], terms: &CheckOptions) -> Vec<ReadEvent> {
    let exchanges = match recordings::read(text) {
        Ok(exchanges) => exchanges,
        Err(problem) => return vec![ReadEvent::Unreadable(problem.line, problem.words)],
    };
    let offsets = line_offsets(text, exchanges.iter().map(|exchange| exchange.line));
    let each = exchanges.iter().zip(offsets).map(|(exchange, offset)| {
        let start = Start { line: exchange.line, offset };
        event(Some(exchange.line), check_recorded(exchange, start, terms))
    });
    each.collect()
}

fn event(line: Option<u64>, checked: Result<CheckedRequest, CheckError>) -> ReadEvent {
    match checked {
        Ok(checked) => ReadEvent::Judged(Box::new(checked)),
        Err(unjudged) => ReadEvent::Unjudged(line, unjudged),
    }
}

/// Reads a file, or standard input, piece by piece. A file whose first line is a whole JSON text, and not the only
/// one, is read line by line, whatever its name.
pub fn read(path: &str, each: &mut dyn FnMut(Result<Piece, ReadFailure>)) {
    let opened: io::Result<Box<dyn Read>> = match path {
        "-" => Ok(Box::new(io::stdin().lock())),
        path => File::open(path).map(|file| Box::new(file) as Box<dyn Read>),
    };
    let read = opened.and_then(|file| pieces(&mut BufReader::new(file), has_lines(Path::new(path)), each));
    if let Err(error) = read {
        each(Err((None, error.to_string())));
    }
}

fn pieces(
    file: &mut impl BufRead,
    has_lines: bool,
    each: &mut dyn FnMut(Result<Piece, ReadFailure>),
) -> io::Result<()> {
    let start = Start { line: 1, offset: 0 };
    let Some(first) = line(file)? else {
        if !has_lines {
            each(Ok(Piece { text: Vec::new(), start, is_line: false }));
        }
        return Ok(());
    };
    let is_over = file.fill_buf()?.is_empty();
    let is_whole = || first.is_whole && serde_json::from_slice::<serde::de::IgnoredAny>(&first.text).is_ok();
    if has_lines || (!is_over && is_whole()) {
        return lines(file, first, each);
    }
    let mut text = first.text;
    file.take((MAX_BYTES + 1).saturating_sub(text.len() as u64)).read_to_end(&mut text)?;
    if !first.is_whole || text.len() as u64 > MAX_BYTES {
        return Err(io::Error::other(format!("it is too large: more than {MAX_BYTES} bytes")));
    }
    each(Ok(Piece { text, start, is_line: false }));
    Ok(())
}

fn lines(
    file: &mut impl BufRead,
    first: RawLine,
    each: &mut dyn FnMut(Result<Piece, ReadFailure>),
) -> io::Result<()> {
    let mut start = Start { line: 1, offset: 0 };
    let mut next = Some(first);
    while let Some(RawLine { text, is_whole }) = next {
        let mut n_bytes = text.len() as u64;
        if !is_whole {
            n_bytes += file.skip_until(b'\n')? as u64;
            each(Err((Some(start.line), format!("it is too large: more than {MAX_BYTES} bytes"))));
        } else if !text.trim_ascii().is_empty() {
            // Without its end, so that a text that ends too early ends on its own line.
            let text = text.trim_ascii_end().to_vec();
            each(Ok(Piece { text, start, is_line: true }));
        }
        start = Start { line: start.line + 1, offset: start.offset + n_bytes };
        next = line(file)?;
    }
    Ok(())
}

/// A line of a file.
struct RawLine {
    text: Vec<u8>,
    /// Whether it is complete: of a line that is too long, `text` is the beginning.
    is_whole: bool,
}

fn line(file: &mut impl BufRead) -> io::Result<Option<RawLine>> {
    let mut text = Vec::new();
    file.take(MAX_BYTES + 1).read_until(b'\n', &mut text)?;
    let is_whole = text.len() as u64 <= MAX_BYTES || text.last() == Some(&b'\n');
    Ok((!text.is_empty()).then_some(RawLine { text, is_whole }))
}
