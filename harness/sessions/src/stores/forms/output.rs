//! The output of a result, which a store keeps as a text, a list of texts, or any JSON.

use brickbat_rules::histories::Block as Content;
use brickbat_rules::json::Json;

/// The texts of an output, or its JSON.
pub(super) fn said(output: Json<'_, '_>) -> Vec<Content> {
    if let Some(words) = output.as_str() {
        return vec![Content::Text(words.into_owned())];
    }
    let words = |item: Json<'_, '_>| {
        let own = ["text", "content", "value", "Text"].into_iter().find_map(|key| item.field(key).as_str());
        item.as_str().or(own).map(|words| Content::Text(words.into_owned()))
    };
    let texts: Option<Vec<Content>> = output.items().map(words).collect();
    match texts.filter(|_| output.is_array()) {
        Some(texts) => texts,
        None => vec![Content::Text(output.raw().to_owned())],
    }
}
