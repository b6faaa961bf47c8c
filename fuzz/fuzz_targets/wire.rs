//! Checks that the decoder and the linter read the same content from a stream, regardless of how its bytes
//! are split.
#![no_main]

use brickbat_rules::dialect::Dialect;
use brickbat_search::oracle;

// The last byte is the number of bytes before it that are lengths of the pieces.
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((n_lengths, bytes)) = bytes.split_last() else { return };
    let (stream, lengths) = bytes.split_at(bytes.len().saturating_sub(usize::from(*n_lengths % 8)));
    for dialect in Dialect::ALL {
        assert_eq!(oracle::split(dialect, stream, lengths), None);
        assert_eq!(oracle::linted(dialect, stream, lengths), None);
    }
});
