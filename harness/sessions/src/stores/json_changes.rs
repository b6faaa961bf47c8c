//! Many changes to one JSON text, as edits to its bytes.

use std::collections::BTreeMap;
use std::ops::Range;

use brickbat_rules::json::{Json, JsonType};

use super::list::Changes;

/// The changes to a value and to everything inside it.
#[derive(Debug, Default)]
pub(crate) struct JsonChanges {
    /// The changes to its items, if it is a list.
    items: Changes,
    /// New fields of an object as JSON texts, by name. `None` for a field to remove.
    fields: BTreeMap<&'static str, Option<String>>,
    /// The changes to the values inside it, by name or index.
    below: BTreeMap<String, JsonChanges>,
}

impl JsonChanges {
    /// Removes an item from its list.
    pub(crate) fn remove(&mut self, pointer: &str) {
        if let Some((list, n)) = parted(pointer) {
            self.at(list).items.gone.insert(n);
        }
    }

    /// Inserts a JSON text after an item of a list.
    pub(crate) fn insert_after(&mut self, pointer: &str, text: String) {
        if let Some((list, n)) = parted(pointer) {
            self.at(list).items.come.entry(Some(n)).or_default().push(text);
        }
    }

    /// Sets a field of an object.
    pub(crate) fn set(&mut self, object: &str, name: &'static str, text: String) {
        self.at(object).fields.insert(name, Some(text));
    }

    /// Removes a field from an object, if it exists.
    pub(crate) fn unset(&mut self, object: &str, name: &'static str) {
        self.at(object).fields.insert(name, None);
    }

    /// The edits to the text that contains the value.
    pub(crate) fn edits(&self, value: Json<'_, '_>) -> Vec<(Range<usize>, Vec<u8>)> {
        let mut edits = Vec::new();
        self.collect(value, &mut edits);
        edits
    }

    fn at(&mut self, pointer: &str) -> &mut JsonChanges {
        pointer
            .split('/')
            .skip(1)
            .fold(self, |changes, step| changes.below.entry(step.to_owned()).or_default())
    }

    fn collect(&self, value: Json<'_, '_>, edits: &mut Vec<(Range<usize>, Vec<u8>)>) {
        match value.kind() {
            JsonType::Array => {
                edits.extend(self.items.edits(value));
                for (n, item) in value.items().enumerate() {
                    if let Some(below) = self.below.get(&n.to_string())
                        && !self.items.gone.contains(&n)
                    {
                        below.collect(item, edits);
                    }
                }
            }
            JsonType::Object => {
                for (name, below) in &self.below {
                    if let Some(field) = value.get(name) {
                        below.collect(field, edits);
                    }
                }
                self.collect_fields(value, edits);
            }
            _ => {}
        }
    }

    fn collect_fields(&self, object: Json<'_, '_>, edits: &mut Vec<(Range<usize>, Vec<u8>)>) {
        let fields: Vec<Range<usize>> =
            object.fields().map(|(name, value)| name.span().start..value.span().end).collect();
        let goes = |own: Json<'_, '_>| self.fields.iter().any(|(name, text)| text.is_none() && own.is(name));
        let names = object.fields().map(|(name, _)| name).enumerate();
        let gone = names.filter(|(_, name)| goes(*name)).map(|(n, _)| n).collect();
        let gone = Changes { gone, ..Changes::default() };
        edits.extend(gone.removals(&fields));
        let last = fields.iter().enumerate().rev().find(|(n, _)| !gone.gone.contains(n));
        let last = last.map(|(_, field)| field.end);
        let mut added = Vec::new();
        for (name, text) in self.fields.iter().filter_map(|(name, text)| Some((name, text.as_ref()?))) {
            match object.get(name) {
                Some(field) => edits.push((field.span(), text.clone().into_bytes())),
                None => added.push(format!("\"{name}\":{text}")),
            }
        }
        if !added.is_empty() {
            let start = last.unwrap_or(object.span().start + 1);
            let comma = if last.is_some() { "," } else { "" };
            edits.push((start..start, format!("{comma}{}", added.join(",")).into_bytes()));
        }
    }
}

/// Splits a pointer to an item into the pointer to its list and the index.
fn parted(pointer: &str) -> Option<(&str, usize)> {
    let (list, n) = pointer.rsplit_once('/')?;
    Some((list, n.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use brickbat_rules::json::Document;

    use super::*;
    use crate::json::splice;

    #[test]
    fn many_changes_are_made_at_once_and_the_rest_is_unchanged() {
        let text = br#"[ {"a" : [1, 2], "b": 1}, {}, 7, {"c":null} ]"#;
        let mut changes = JsonChanges::default();
        changes.remove("/0/a/1");
        changes.set("/0", "b", "2".to_owned());
        changes.set("/0", "n", "3".to_owned());
        changes.set("/1", "m", "4".to_owned());
        changes.remove("/2");
        changes.insert_after("/3", "8".to_owned());
        let document = Document::parse(text).unwrap();
        let written = splice(text, changes.edits(document.root()));
        let expected = r#"[ {"a" : [1], "b": 2,"n":3}, {"m":4}, {"c":null},8 ]"#;
        assert_eq!(String::from_utf8(written).unwrap(), expected);
    }

    #[test]
    fn fields_are_removed_with_their_commas_while_others_are_added() {
        let written = |text: &str, gone: &[&'static str], set: &[(&'static str, &str)]| {
            let mut changes = JsonChanges::default();
            gone.iter().for_each(|name| changes.unset("", name));
            set.iter().for_each(|(name, text)| changes.set("", name, (*text).to_owned()));
            let document = Document::parse(text.as_bytes()).unwrap();
            String::from_utf8(splice(text.as_bytes(), changes.edits(document.root()))).unwrap()
        };
        let text = r#"{"a": 1, "b": {"c": 2}, "d": 3}"#;
        assert_eq!(written(text, &["a"], &[]), r#"{"b": {"c": 2}, "d": 3}"#);
        assert_eq!(written(text, &["b"], &[("d", "4")]), r#"{"a": 1, "d": 4}"#);
        assert_eq!(written(text, &["d"], &[("e", "4")]), r#"{"a": 1, "b": {"c": 2},"e":4}"#);
        assert_eq!(written(r#"{ "a": 1 }"#, &["a"], &[("e", "4")]), r#"{"e":4  }"#);
        assert_eq!(written(text, &["x"], &[]), text);
    }

    #[test]
    fn missing_places_change_nothing() {
        let mut changes = JsonChanges::default();
        for pointer in ["", "/x", "/9", "/0/1/2"] {
            changes.remove(pointer);
            changes.set(pointer, "a", "1".to_owned());
        }
        let document = Document::parse(b"[1]").unwrap();
        assert!(changes.edits(document.root()).is_empty());
    }
}
