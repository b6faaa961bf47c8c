//! The program that the page runs: a question on standard input, its answer on standard output.
//!
//! It is built for WASI, so that Rust's own start-up code is the border to JavaScript: functions exported by hand would need
//! `unsafe`. Each question is a run of its own in fresh memory, so no text of one is left in the next.

use std::io::{Read, Write};
use std::process::ExitCode;

#[expect(clippy::disallowed_methods, reason = "these two streams are all of the outside world that it has")]
fn main() -> ExitCode {
    let mut question = Vec::new();
    // The page bounds its text; this bounds whoever else calls.
    let read = std::io::stdin().take(MAX_QUESTION).read_to_end(&mut question);
    let written = read.and_then(|_| {
        let mut out = std::io::stdout().lock();
        out.write_all(&brickbat_web::answer(&question))?;
        out.flush()
    });
    if written.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Bytes of a question: the largest text, each byte of which may take six as JSON, and what is said of it.
const MAX_QUESTION: u64 = 6 * brickbat_web::MAX_TEXT as u64 + (1 << 16);
