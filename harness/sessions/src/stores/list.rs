//! Edits to a JSON list in its bytes: items are removed and added.
//!
//! All changes are made in one pass, because edits to single items would overlap at their commas.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use brickbat_rules::json::Json;

/// The changes to a list.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    /// The items to remove.
    pub(crate) gone: BTreeSet<usize>,
    /// New items as JSON texts, by the index after which they are inserted, or `None` for the start.
    pub(crate) come: BTreeMap<Option<usize>, Vec<String>>,
}

impl Changes {
    /// Returns whether a list with this number of items is empty after the changes.
    pub(crate) fn leave_nothing(&self, n_items: usize) -> bool {
        self.come.is_empty() && (0..n_items).all(|n| self.gone.contains(&n))
    }

    /// The edits to the bytes. Each comma is added or removed with its item.
    pub(crate) fn edits(&self, list: Json<'_, '_>) -> Vec<(Range<usize>, Vec<u8>)> {
        let items: Vec<Range<usize>> = list.items().map(Json::span).collect();
        let mut edits = self.removals(&items);
        let mut come: BTreeMap<Option<usize>, Vec<&str>> = BTreeMap::new();
        // New items after a removed one are inserted after the last remaining item before it.
        let mut stays: Vec<Option<usize>> = Vec::with_capacity(items.len());
        for n in 0..items.len() {
            let before = stays.last().copied().flatten();
            stays.push(if self.gone.contains(&n) { before } else { Some(n) });
        }
        for (after, texts) in &self.come {
            let stays = after.and_then(|after| stays.get(after).copied().unwrap_or(Some(after)));
            come.entry(stays).or_default().extend(texts.iter().map(String::as_str));
        }
        let has_kept = (0..items.len()).any(|n| !self.gone.contains(&n));
        for (after, texts) in come {
            let text = texts.join(",");
            let start = items.first().map_or(list.span().start + 1, |first| first.start);
            edits.push(match after.and_then(|after| items.get(after)) {
                Some(item) => (item.end..item.end, format!(",{text}").into_bytes()),
                None if has_kept => (start..start, format!("{text},").into_bytes()),
                None => (start..start, text.into_bytes()),
            });
        }
        edits
    }

    /// One removal for each run of removed items.
    pub(crate) fn removals(&self, items: &[Range<usize>]) -> Vec<(Range<usize>, Vec<u8>)> {
        let mut removals = Vec::new();
        let mut n = 0;
        while n < items.len() {
            if !self.gone.contains(&n) {
                n += 1;
                continue;
            }
            let first = n;
            while n < items.len() && self.gone.contains(&n) {
                n += 1;
            }
            let span = match items.get(n) {
                Some(next) => items[first].start..next.start,
                None if first > 0 => items[first - 1].end..items[n - 1].end,
                None => items[first].start..items[n - 1].end,
            };
            removals.push((span, Vec::new()));
        }
        removals
    }
}

#[cfg(test)]
mod tests {
    use brickbat_rules::json::Document;

    use super::Changes;
    use crate::json::splice;

    fn changed(text: &str, gone: &[usize], come: &[(Option<usize>, &str)]) -> String {
        let mut changes = Changes { gone: gone.iter().copied().collect(), ..Changes::default() };
        for (after, text) in come {
            changes.come.entry(*after).or_default().push((*text).to_owned());
        }
        let document = Document::parse(text.as_bytes()).unwrap();
        String::from_utf8(splice(text.as_bytes(), changes.edits(document.root()))).unwrap()
    }

    #[test]
    fn items_are_removed_with_their_commas() {
        assert_eq!(changed("[1, 2, 3]", &[0], &[]), "[2, 3]");
        assert_eq!(changed("[1, 2, 3]", &[1, 2], &[]), "[1]");
        assert_eq!(changed("[1, 2, 3]", &[0, 2], &[]), "[2]");
        assert_eq!(changed("[ 1, 2 ]", &[0, 1], &[]), "[  ]");
    }

    #[test]
    fn items_are_inserted_after_remaining_items() {
        assert_eq!(changed("[1, 2]", &[], &[(Some(0), "8"), (Some(0), "9")]), "[1,8,9, 2]");
        assert_eq!(changed("[1, 2]", &[], &[(None, "9")]), "[9,1, 2]");
        assert_eq!(changed("[1, 2]", &[1], &[(Some(1), "9")]), "[1,9]");
        assert_eq!(changed("[1, 2]", &[0], &[(Some(0), "9")]), "[9,2]");
        assert_eq!(changed("[1]", &[0], &[(Some(0), "9")]), "[9]");
        assert_eq!(changed("[]", &[], &[(None, "9")]), "[9]");
    }
}
