//! The program that the page runs: reads a question from standard input and writes the answer to standard
//! output.
//!
//! It is built for WASI, so that Rust's own start-up code is the interface to JavaScript. Manually exported
//! functions would need `unsafe`. Each question is a separate run in fresh memory, so no text is left for the
//! next question.

use std::io::{Read, Write};
use std::process::ExitCode;

#[expect(clippy::disallowed_methods, reason = "these two streams are all of the outside world that it has")]
fn main() -> ExitCode {
    let mut question = Vec::new();
    // The page limits its text. This limit is for other callers.
    let read = std::io::stdin().take(MAX_QUESTION).read_to_end(&mut question);
    let written = read.and_then(|_| {
        let mut out = std::io::stdout().lock();
        out.write_all(&brickbat_web::answer(&question))?;
        out.flush()
    });
    if written.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Maximum size of a question in bytes: the largest text, with up to six bytes per byte as JSON, and the
/// other fields.
const MAX_QUESTION: u64 = 6 * brickbat_web::MAX_TEXT as u64 + (1 << 16);
