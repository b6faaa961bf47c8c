//! Checks that the result of reading a stream does not depend on how its bytes are split.

use brickbat_rules::dialect::Dialect;
use brickbat_rules::streams::{self, Linter};
use brickbat_scenario::wire::{Decoder, ReplyEvent};

/// Reads a stream as a whole, and in pieces of the given lengths, which are used in rotation. Returns the
/// difference between the two.
pub fn split(dialect: Dialect, bytes: &[u8], lengths: &[u8]) -> Option<String> {
    let whole = decoded(dialect, std::iter::once(bytes));
    let parts = decoded(dialect, pieces(bytes, lengths).into_iter());
    (whole != parts).then(|| format!("{dialect} in one piece: {whole:?}; in {lengths:?}: {parts:?}"))
}

/// Like [`split`], for the linter.
pub fn linted(dialect: Dialect, bytes: &[u8], lengths: &[u8]) -> Option<String> {
    let whole = format!("{:?}", streams::lint(dialect, bytes));
    let mut linter = Linter::new(dialect);
    pieces(bytes, lengths).into_iter().for_each(|piece| linter.feed(piece));
    let parts = format!("{:?}", linter.finish());
    (whole != parts).then(|| format!("{dialect} in one piece: {whole}; in {lengths:?}: {parts}"))
}

fn decoded<'b>(dialect: Dialect, pieces: impl Iterator<Item = &'b [u8]>) -> Vec<ReplyEvent> {
    let mut decoder = Decoder::new(dialect);
    let mut said = Vec::new();
    pieces.for_each(|piece| decoder.feed(piece, |event| said.push(event)));
    said
}

/// Pieces of the given lengths, which are used in rotation; a piece is empty if its length is 0.
fn pieces<'b>(bytes: &'b [u8], lengths: &[u8]) -> Vec<&'b [u8]> {
    let lengths = if lengths.iter().all(|length| *length == 0) { &[1] } else { lengths };
    let mut pieces = Vec::new();
    let mut rest = bytes;
    for length in lengths.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (piece, after) = rest.split_at(rest.len().min(*length as usize));
        pieces.push(piece);
        rest = after;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_join_to_the_same_bytes() {
        assert_eq!(pieces(b"abcdef", &[2, 0, 1]), [&b"ab"[..], b"", b"c", b"de", b"", b"f"]);
        assert_eq!(pieces(b"abc", &[0]).concat(), b"abc");
        assert_eq!(pieces(b"", &[1]), [&b""[..]; 0]);
    }
}
