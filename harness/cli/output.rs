//! What the program says: results on standard output, notes and errors on standard error.
//!
//! The reader of a pipe may go, as `head` does, and a disk may be full. A command does its work to the end all the same,
//! since it may have reports to write, and its exit code is true whoever reads.

use std::fmt::Display;
use std::io::{self, ErrorKind, Write};
use std::sync::OnceLock;

use super::BAD_INPUT;
use super::secrets::redactor;

/// Why standard output takes nothing more, once that is so.
static LOST: OnceLock<io::Error> = OnceLock::new();

/// Prints a text, without what must not be told.
pub(super) fn print(text: &str) {
    print_plain(&redactor().text(text));
}

/// Prints a text that tells nothing of the user's, as it is.
pub(super) fn print_plain(text: &str) {
    if LOST.get().is_some() {
        return;
    }
    let mut out = anstream::stdout().lock();
    if let Err(error) = out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        // Another thread may have met it first.
        let _ = LOST.set(error);
    }
}

/// Tells an error, or something on the way, without what must not be told.
pub(super) fn tell(words: impl Display) {
    let words = words.to_string();
    // Whoever does not listen to errors cannot be told of one.
    let _ = writeln!(anstream::stderr(), "{}", redactor().text(&words));
}

/// The exit code of the program, given that of its command: a result that was lost is no result.
///
/// A reader who goes has seen what it wanted, and needs no words.
pub(super) fn exit_code(of_command: u8) -> u8 {
    match LOST.get() {
        Some(error) if error.kind() != ErrorKind::BrokenPipe => {
            tell(format!("error: cannot write to standard output: {error}"));
            BAD_INPUT
        }
        _ => of_command,
    }
}
