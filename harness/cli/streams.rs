//! Recorded streams in files, judged while they are read, however long they are.

use std::fs::File;
use std::io::{self, Read};

use brickbat_rules::dialect::Dialect;
use brickbat_rules::streams::{self, Linter, MAX_LOOK_BYTES, StreamReport};

/// Judges the stream of a file, or of standard input for `-`. Nothing means that no dialect was given and the stream
/// does not show its own.
///
/// # Errors
///
/// The file cannot be read.
pub fn lint(path: &str, dialect: Option<Dialect>) -> io::Result<Option<StreamReport>> {
    match path {
        "-" => lint_all(&mut io::stdin().lock(), dialect),
        path => lint_all(&mut File::open(path)?, dialect),
    }
}

/// Bytes that are read at once.
const CHUNK_BYTES: usize = 64 << 10;

fn lint_all(file: &mut impl Read, dialect: Option<Dialect>) -> io::Result<Option<StreamReport>> {
    let mut head = Vec::new();
    file.take(MAX_LOOK_BYTES as u64).read_to_end(&mut head)?;
    let Some(dialect) = dialect.or_else(|| streams::detect(&head)) else {
        return Ok(None);
    };
    let mut linter = Linter::new(dialect);
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
