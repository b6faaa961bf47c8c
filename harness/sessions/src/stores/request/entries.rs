//! The entries of a list in a body. Entries that are not edited keep their bytes.

use std::ops::Range;

use brickbat_rules::json::Document;
use serde_json::Value;

/// An editable list inside a JSON text.
pub(super) struct Entries {
    /// The byte range of the list, including its brackets.
    span: Range<usize>,
    entries: Vec<Entry>,
}

struct Entry {
    span: Range<usize>,
    state: State,
    /// The new entries after this one.
    after: Vec<Value>,
}

enum State {
    Untouched,
    /// Parsed, and unchanged in the text.
    Read(Value),
    Edited(Value),
    Dropped,
}

impl Entries {
    /// The list in this field of a body. If the text is a list, the text itself.
    pub(super) fn of(text: &[u8], field: &str) -> Option<Entries> {
        let document = Document::parse(text).ok()?;
        let root = document.root();
        let list = if root.is_array() { root } else { root.get(field)? };
        let entry = |span| Entry { span, state: State::Untouched, after: Vec::new() };
        let entries = list.items().map(|item| entry(item.span())).collect();
        Some(Entries { span: list.span(), entries })
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The entry, if it exists and is not dropped. Each entry is parsed once.
    pub(super) fn get(&mut self, text: &[u8], n: usize) -> Option<&Value> {
        let entry = self.entries.get_mut(n)?;
        if matches!(entry.state, State::Untouched) {
            entry.state = State::Read(Document::parse(&text[entry.span.clone()]).ok()?.root().to_value());
        }
        match &entry.state {
            State::Untouched | State::Dropped => None,
            State::Read(value) | State::Edited(value) => Some(value),
        }
    }

    /// The entry, for editing.
    pub(super) fn edit(&mut self, text: &[u8], n: usize) -> Option<&mut Value> {
        self.get(text, n)?;
        let entry = self.entries.get_mut(n)?;
        if let State::Read(value) = &mut entry.state {
            entry.state = State::Edited(value.take());
        }
        match &mut entry.state {
            State::Edited(value) => Some(value),
            State::Untouched | State::Read(_) | State::Dropped => None,
        }
    }

    pub(super) fn drop_entry(&mut self, n: usize) {
        if let Some(entry) = self.entries.get_mut(n) {
            entry.state = State::Dropped;
        }
    }

    /// Returns whether new entries were added after this one.
    pub(super) fn has_after(&self, n: usize) -> bool {
        self.entries.get(n).is_some_and(|entry| !entry.after.is_empty())
    }

    /// The new entries after this one, for adding more.
    pub(super) fn after(&mut self, n: usize) -> Option<&mut Vec<Value>> {
        Some(&mut self.entries.get_mut(n)?.after)
    }

    /// The text with the edited list.
    pub(super) fn write(&self, text: &[u8]) -> Vec<u8> {
        let mut out = text[..self.span.start + 1].to_vec();
        let mut has_any = false;
        let mut end = self.span.start + 1;
        for entry in &self.entries {
            // The separator between two entries is a comma and white space. It is kept.
            let between = &text[end..entry.span.start];
            end = entry.span.end;
            let kept: Option<Vec<u8>> = match &entry.state {
                State::Dropped => None,
                State::Edited(value) => Some(value.to_string().into_bytes()),
                State::Untouched | State::Read(_) => Some(text[entry.span.clone()].to_vec()),
            };
            if let Some(bytes) = kept {
                let space = between.iter().copied().filter(|byte| *byte != b',');
                if has_any {
                    out.push(b',');
                }
                out.extend(space);
                out.extend(bytes);
                has_any = true;
            }
            for value in &entry.after {
                if has_any {
                    out.extend(b", ");
                }
                out.extend(value.to_string().into_bytes());
                has_any = true;
            }
        }
        out.extend_from_slice(&text[end..]);
        out
    }
}
