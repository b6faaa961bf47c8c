//! `explain`.

use brickbat_rules::Rule;
use brickbat_rules::explain::{self, Counts};
use brickbat_rules::streams::StreamRule;
use serde_json::json;

use crate::text_of;

/// The maximum number of bytes of an error. The longest provider errors list hundreds of ids in about 20 kB.
const MAX_ERROR: usize = 64 << 10;

/// Explains the rule that a word names, or the errors that a text quotes.
pub(crate) fn explain(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let text = String::from_utf8_lossy(bytes);
    let text = text[..text.floor_char_boundary(MAX_ERROR)].trim();
    let of_rules = |rules: &[&'static Rule]| -> Vec<String> {
        rules.iter().map(|rule| explain::text(rule, None, &Counts::default())).collect()
    };
    let mut pages = of_rules(&Rule::named(text));
    pages.extend(StreamRule::named(text).into_iter().map(explain::stream_text));
    if pages.is_empty() && !text.is_empty() {
        pages = explain::error_pages(text, &of_rules);
    }
    Ok(text_of(&json!({ "pages": pages })))
}
