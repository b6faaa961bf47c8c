//! Checks of requests inside recordings, where the file holds a body as a text and not as JSON of its own.

use super::addressee::Around;
use super::{CheckError, CheckOptions, CheckedRequest, FileSpan, Start, Subject, judge};
use crate::json::without_halves;
use crate::recordings::{Exchange, Spoken};

/// Judges the request of a recorded exchange. Every finding stands at the beginning of the exchange.
///
/// # Errors
///
/// The request asks for no reply, or cannot be judged.
pub fn check_recorded(
    exchange: &Exchange,
    start: Start,
    options: &CheckOptions,
) -> Result<CheckedRequest, CheckError> {
    // A recording holds requests of other kinds, too, to which a dialect that the user has named does not apply.
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
    };
    let place = FileSpan { line: start.line, column: 1, offset: start.offset, length: 0 };
    let readable = without_halves(&exchange.request);
    judge(&Subject::of(&exchange.request, &readable, None), &around, start.line, options, |_| place)
}

/// Where lines begin in a text: the first byte of each of these lines, which are in order and counted from 1. A line
/// that is not there begins at the end.
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
