//! Requests in files: found, read piece by piece, judged on all cores, and handed on in their order.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use brickbat_rules::check::{CheckError, CheckOptions, CheckedRequest, Start, check};

/// A file with requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// As the user named it; `-` is standard input.
    pub path: String,
    /// Whether the user named it, or a folder that holds it.
    pub is_named: bool,
}

/// The files that the user's words mean.
#[derive(Debug, Default)]
pub struct Inputs {
    /// In the order of the words; those of a folder are sorted.
    pub files: Vec<Input>,
    /// Files of folders that are named neither `.json` nor `.jsonl`.
    pub n_passed_over: usize,
    /// What could not be listed, and why.
    pub unreadable: Vec<(String, String)>,
}

/// What has come of reading.
#[derive(Debug)]
pub enum Event {
    /// A request was judged.
    Judged(Box<CheckedRequest>),
    /// A text was not; with its line, where it is one of several.
    Unjudged(Option<u64>, CheckError),
    /// The file, or the line, cannot be read.
    Unreadable(Option<u64>, String),
    /// The file is at its end.
    End,
}

/// Bytes of one request; the largest request that a provider takes is 32 MiB.
pub const MAX_BYTES: u64 = 64 << 20;

/// Bytes that are judged at once: enough to keep all cores busy, and little beside the largest request.
const BATCH_BYTES: u64 = 8 << 20;

/// Pieces that are judged at once, so that what is found in tiny ones is bounded as well.
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
                // A link may lead back to where we come from, so only what it names itself is followed.
                Ok(kind) if kind.is_dir() => self.walk(&path, depth - 1),
                Ok(_) if is_json(&path) => {
                    self.files.push(Input { path: path.display().to_string(), is_named: false });
                }
                _ => self.n_passed_over += 1,
            }
        }
    }
}

fn is_json(path: &Path) -> bool {
    path.is_file() && path.extension().is_some_and(|ending| ending == "json") || has_lines(path)
}

fn has_lines(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "jsonl" || ending == "ndjson")
}

/// Judges every request of the files, and hands on what comes of it with the index of its file. `progress` is told how
/// many bytes have been judged.
pub fn judge(
    files: &[Input],
    terms: &CheckOptions,
    mut each: impl FnMut(usize, Event),
    mut progress: impl FnMut(u64),
) {
    let mut batch = Batch {
        terms,
        pieces: Vec::new(),
        n_bytes: 0,
        n_judged: 0,
        each: &mut each,
        progress: &mut progress,
    };
    for (index, input) in files.iter().enumerate() {
        read(&input.path, &mut |piece| {
            batch.add(index, piece.map_err(|(line, words)| Event::Unreadable(line, words)));
        });
        batch.add(index, Err(Event::End));
    }
    batch.judge();
}

/// A text that should be one request.
#[derive(Debug)]
pub struct Piece {
    /// Its bytes.
    pub text: Vec<u8>,
    /// Where it begins.
    pub start: Start,
    /// Whether it is one of several in its file.
    pub is_line: bool,
}

/// A line, and why it cannot be read.
type Trouble = (Option<u64>, String);

/// Pieces that will be judged together, and what else happened between them.
struct Batch<'a> {
    terms: &'a CheckOptions,
    pieces: Vec<(usize, Result<Piece, Event>)>,
    n_bytes: u64,
    n_judged: u64,
    each: &'a mut dyn FnMut(usize, Event),
    progress: &'a mut dyn FnMut(u64),
}

impl Batch<'_> {
    fn add(&mut self, index: usize, piece: Result<Piece, Event>) {
        self.n_bytes += piece.as_ref().map_or(0, |piece| piece.text.len() as u64);
        self.pieces.push((index, piece));
        if self.n_bytes >= BATCH_BYTES || self.pieces.len() >= BATCH_PIECES {
            self.judge();
        }
    }

    fn judge(&mut self) {
        let terms = self.terms;
        let of = |(index, piece): (usize, Result<Piece, Event>)| match piece {
            Ok(piece) => (index, of_piece(&piece, terms)),
            Err(event) => (index, event),
        };
        let pieces = std::mem::take(&mut self.pieces);
        self.n_judged += std::mem::take(&mut self.n_bytes);
        // One request needs one core, and most runs have one.
        let is_many = pieces.iter().filter(|(_, piece)| piece.is_ok()).nth(1).is_some();
        let events: Vec<(usize, Event)> = match is_many {
            true => pieces.into_par_iter().map(of).collect(),
            false => pieces.into_iter().map(of).collect(),
        };
        events.into_iter().for_each(|(index, event)| (self.each)(index, event));
        (self.progress)(self.n_judged);
    }
}

fn of_piece(piece: &Piece, terms: &CheckOptions) -> Event {
    match check(&piece.text, piece.start, terms) {
        Ok(audited) => Event::Judged(Box::new(audited)),
        Err(unjudged) => Event::Unjudged(piece.is_line.then_some(piece.start.line), unjudged),
    }
}

/// Reads a file, or standard input, piece by piece. A file whose first line is a whole JSON text, and not the only
/// one, is read line by line, whatever its name.
pub fn read(path: &str, each: &mut dyn FnMut(Result<Piece, Trouble>)) {
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
    each: &mut dyn FnMut(Result<Piece, Trouble>),
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
    each: &mut dyn FnMut(Result<Piece, Trouble>),
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

/// A line as it stands in a file.
struct RawLine {
    text: Vec<u8>,
    /// Whether it is not too long; of one that is too long this is the beginning.
    is_whole: bool,
}

fn line(file: &mut impl BufRead) -> io::Result<Option<RawLine>> {
    let mut text = Vec::new();
    file.take(MAX_BYTES + 1).read_until(b'\n', &mut text)?;
    let is_whole = text.len() as u64 <= MAX_BYTES || text.last() == Some(&b'\n');
    Ok((!text.is_empty()).then_some(RawLine { text, is_whole }))
}
