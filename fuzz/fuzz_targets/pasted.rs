//! Checks that the requests in any pasted text are found, and its error explained, in bounded size.
#![no_main]

use std::sync::LazyLock;

use brickbat_rules::check::CheckOptions;
use brickbat_rules::explain::{Answer, Vocabulary, Wordings};
use brickbat_rules::recordings;

/// All sentences that a text may quote.
static SENTENCES: LazyLock<(Vocabulary, Wordings)> =
    LazyLock::new(|| (Vocabulary::of_all_sentences(), Wordings::all()));

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    assert!(recordings::pasted(bytes, &CheckOptions::default()).len() <= bytes.len());
    let (vocabulary, wordings) = &*SENTENCES;
    match vocabulary.answer(wordings, &String::from_utf8_lossy(bytes)) {
        Answer::Said(rules) => assert!(!rules.is_empty()),
        Answer::Reported(found) => assert!(!found.is_empty() && found.len() <= 3),
        Answer::Near(near) => assert!(near.len() <= 3),
    }
});
