//! Checks that the requests in any pasted text are found, and its error explained, in bounded size.
#![no_main]

use brickbat_rules::Rule;
use brickbat_rules::check::CheckOptions;
use brickbat_rules::{explain, recordings};

/// The maximum number of pages about one text.
const MAX_PAGES: usize = 12;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let searched = recordings::searched(bytes, &CheckOptions::default());
    assert!(searched.found.len() <= bytes.len() && searched.around.len() <= 2 * bytes.len() + 2);
    let of_rules =
        |rules: &[&'static Rule]| rules.iter().map(|rule| rule.summary.to_owned()).collect::<Vec<String>>();
    let pages = explain::error_pages(&String::from_utf8_lossy(bytes), &of_rules);
    assert!(pages.len() <= MAX_PAGES && pages.iter().all(|page| !page.is_empty()), "{pages:?}");
});
