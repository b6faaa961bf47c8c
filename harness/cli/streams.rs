//! Recorded streams in files, judged while they are read, however long they are.

use std::fs::File;
use std::io::{self, Read};

use brickbat_rules::lint::{self, Grammar, Linter, MAX_LOOK_BYTES, Report};

/// Judges the stream of a file, or of standard input for `-`. Nothing means that no grammar was given and the stream
/// does not show its own.
///
/// # Errors
///
/// The file cannot be read.
pub fn lint(path: &str, grammar: Option<Grammar>) -> io::Result<Option<Report>> {
    match path {
        "-" => lint_all(&mut io::stdin().lock(), grammar),
        path => lint_all(&mut File::open(path)?, grammar),
    }
}

/// Bytes that are read at once.
const CHUNK_BYTES: usize = 64 << 10;

fn lint_all(file: &mut impl Read, grammar: Option<Grammar>) -> io::Result<Option<Report>> {
    let mut head = Vec::new();
    file.take(MAX_LOOK_BYTES as u64).read_to_end(&mut head)?;
    let Some(grammar) = grammar.or_else(|| lint::detect(&head)) else {
        return Ok(None);
    };
    let mut linter = Linter::new(grammar);
    linter.feed(&head);
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        match file.read(&mut chunk) {
            Ok(0) => return Ok(Some(linter.finish())),
            Ok(n) => linter.feed(&chunk[..n]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
