//! The program's output: results on standard output, notes and errors on standard error.
//!
//! The reader of a pipe may close it, as `head` does, and a disk may be full. A command still does its work to the end,
//! since it may have reports to write, and its exit code does not depend on the reader.

use std::borrow::Cow;
use std::fmt::Display;
use std::io::{self, ErrorKind, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

use super::error::BAD_INPUT;
use super::secrets::redactor;
use super::unread::{self, Kind, Stream};
use brickbat_report::report::text::Tone;
use brickbat_rules::plain;

/// The write error on standard output, if it can no longer be written.
static LOST: OnceLock<io::Error> = OnceLock::new();

/// True if the user asked to see private data.
static SHOWS_SECRETS: AtomicBool = AtomicBool::new(false);

/// From now on, output is not redacted.
pub(super) fn show_secrets() {
    SHOWS_SECRETS.store(true, Ordering::Relaxed);
}

/// A text without private data, unless the user asked for it.
fn clean(text: &str) -> Cow<'_, str> {
    if SHOWS_SECRETS.load(Ordering::Relaxed) { Cow::Borrowed(text) } else { redactor().text(text) }
}

/// Prints a text, redacted.
pub(super) fn print(text: &str) {
    print_plain(&safe(&clean(text)));
}

/// Prints a value as JSON, redacted.
pub(super) fn print_json(mut value: Value) {
    if !SHOWS_SECRETS.load(Ordering::Relaxed) {
        redactor().value(&mut value);
    }
    print(&format!("{value:#}\n"));
}

/// Prints a text that contains no user content, unchanged.
pub(super) fn print_plain(text: &str) {
    if let Some(text) = unread::take(Stream::Out, Kind::Event, text.to_owned()) {
        write_out(&text);
    }
}

/// Prints the answer to an order, unchanged. It has a place even when many events are unread.
pub(super) fn print_answer(text: &str) {
    if let Some(text) = unread::take(Stream::Out, Kind::Answer, text.to_owned()) {
        write_out(&text);
    }
}

/// From now on, a command that serves prints without waiting for a reader.
pub(super) fn print_aside() {
    unread::start(write_out);
}

/// Writes a text to standard output, and waits for its reader as long as needed.
fn write_out(text: &str) {
    if LOST.get().is_some() {
        return;
    }
    let mut out = anstream::stdout().lock();
    if let Err(error) = out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        // Another thread may have set it first.
        let _ = LOST.set(error);
    }
}

/// Prints an error. Rendered diagnostics already begin with `error:`.
pub(super) fn error(error: impl Display) {
    let words = error.to_string();
    let prefix = if words.starts_with("error:") { "" } else { "error: " };
    tell(format!("{prefix}{words}"));
}

/// Prints a note to standard error, redacted.
pub(super) fn tell(words: impl Display) {
    let words = words.to_string();
    if let Some(line) = unread::take(Stream::Err, Kind::Event, format!("{}\n", safe(&clean(&words)))) {
        // If standard error is closed, there is nowhere to report that.
        let _ = anstream::stderr().write_all(line.as_bytes());
    }
}

/// Escapes the characters that reverse the text direction, in the notation of JSON and most languages.
fn safe(text: &str) -> Cow<'_, str> {
    if !text.contains(plain::turns) {
        return Cow::Borrowed(text);
    }
    let each = text.chars().map(|c| match plain::turns(c) {
        true => format!("\\u{:04x}", u32::from(c)),
        false => c.to_string(),
    });
    Cow::Owned(each.collect())
}

/// The program's exit code, derived from its command's. Unwritten output counts as a failure.
///
/// A reader that closes the pipe has read enough, so a closed pipe is not an error.
pub(super) fn exit_code(of_command: u8) -> u8 {
    unread::end();
    match LOST.get() {
        Some(error) if error.kind() != ErrorKind::BrokenPipe => {
            tell(format!("error: cannot write to standard output: {error}"));
            BAD_INPUT
        }
        _ => of_command,
    }
}

/// Colours a word. The stream strips the colour if there is no terminal.
pub(super) fn paint(tone: Tone, word: &str) -> String {
    let code = match tone {
        Tone::Good => "32",
        Tone::Bad => "31;1",
        Tone::Warn => "33",
    };
    format!("\x1b[{code}m{word}\x1b[0m")
}
