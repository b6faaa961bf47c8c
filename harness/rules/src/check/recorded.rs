//! Checks requests inside recordings, where the file stores a body as text or bytes instead of JSON.

use super::addressee::Around;
use super::{CheckError, CheckOptions, CheckedRequest, FileSpan, Start, Subject, judge};
use crate::UnionViolation;
use crate::json::without_halves;
use crate::recordings::{Exchange, Spoken};

/// Judges the request of a recorded exchange. Every finding is placed at the beginning of the exchange.
///
/// # Errors
///
/// Fails if the request asks for no reply or cannot be judged.
pub fn check_recorded(
    exchange: &Exchange,
    start: Start,
    options: &CheckOptions,
) -> Result<CheckedRequest, CheckError> {
    // A recording may contain other requests too, to which the dialect from the user's options does not
    // apply.
    let looks_spoken = || crate::detect(&exchange.request).is_some();
    let is_given = options.address.api().is_some() || (options.dialect.is_some() && looks_spoken());
    match exchange.spoken() {
        _ if exchange.request.is_empty() => return Err(CheckError::NoReply),
        Spoken::NoReply if !is_given => return Err(CheckError::NoReply),
        _ => {}
    }
    let around = Around {
        address: exchange.address(),
        dialect: exchange.dialect.clone(),
        model: exchange.model().map(std::borrow::Cow::into_owned),
        version: exchange.version.clone(),
    };
    let place = FileSpan { line: start.line, column: 1, offset: start.offset, length: 0 };
    let readable = without_halves(&exchange.request);
    let subject = Subject::of(&exchange.request, &readable, None);
    let counts =
        |found: &UnionViolation, dialect| exchange.left_out.lets(&found.violation, dialect, subject.is_list);
    judge(&subject, &around, start.line, options, counts, |_| place)
}

/// Returns the offset at which each of the given lines begins. Line numbers are in ascending order and
/// start at 1. A line past the end of the text begins at the end.
pub fn line_offsets(text: &[u8], lines: impl Iterator<Item = u64>) -> Vec<u64> {
    let newlines = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at as u64 + 1);
    let mut starts = std::iter::once(0).chain(newlines);
    let (mut line, mut offset) = (0, 0);
    lines
        .map(|wanted| {
            while line < wanted {
                offset = starts.next().unwrap_or(text.len() as u64);
                line += 1;
            }
            offset
        })
        .collect()
}
