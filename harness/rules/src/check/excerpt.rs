//! Shows the location of a rule violation in a few short lines, regardless of how long the line in
//! the file is.
//!
//! The excerpt shows the message with its number and role, and its neighbours. Within the message, only the
//! values that lead to the location are unfolded; everything else stays on one line. Long strings and lines
//! are cut.

use std::collections::BTreeMap;
use std::ops::Range;

use super::Subject;
use crate::json::{self, Json, JsonType, Part};
use crate::plain::is_plain;
use crate::redact::{REDACTED, Redactor, is_secret_field};

/// A few lines that show a location.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Excerpt {
    /// From top to bottom.
    pub lines: Vec<Line>,
}

/// A line of an excerpt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// The text, without control characters.
    pub text: String,
    /// The characters to mark.
    pub marked: Option<Range<usize>>,
}

impl Excerpt {
    /// Returns each line, with carets below the marked characters.
    pub fn to_lines(&self) -> Vec<String> {
        let carets = |marked: &Range<usize>| {
            format!("{}{}", " ".repeat(marked.start), "^".repeat(marked.len().max(1)))
        };
        let each = self.lines.iter();
        each.flat_map(|line| [Some(line.text.clone()), line.marked.as_ref().map(carets)]).flatten().collect()
    }
}

/// Maximum width of a line in characters.
const MAX_WIDTH: usize = 96;

/// Maximum length of a string in characters.
const MAX_STRING: usize = 48;

/// Maximum depth of unfolded values around a location. A block in a message is at depth three.
const MAX_UNFOLDED: usize = 5;

/// Maximum number of fields shown for an unfolded object.
const MAX_FIELDS: usize = 8;

/// Returns the location and the excerpt for each pointer into a body.
pub(super) fn excerpts(
    subject: &Subject,
    list: &str,
    pointers: &[&str],
) -> Result<Vec<(Range<usize>, Excerpt)>, serde_json::Error> {
    let mut search = Search::new(list, pointers);
    if subject.is_list {
        json::walk_list(subject.readable, |part| search.take(part))?
    } else {
        json::walk(subject.readable, list, |part| search.take(part))?
    }
    let whole = 0..subject.bytes.len();
    Ok(search.finish(whole))
}

/// Locates violations while a body is read, so only one message is in memory.
struct Search<'v> {
    list: &'v str,
    pointers: &'v [&'v str],
    /// The violations in each message.
    of_message: BTreeMap<usize, Vec<usize>>,
    /// One line for each neighbouring message.
    lines: BTreeMap<usize, String>,
    found: Vec<Option<(Range<usize>, Vec<Line>)>>,
}

impl<'v> Search<'v> {
    fn new(list: &'v str, pointers: &'v [&'v str]) -> Search<'v> {
        let mut of_message = BTreeMap::<usize, Vec<usize>>::new();
        for (index, pointer) in pointers.iter().enumerate() {
            if let Some((message, _)) = in_message(pointer, list) {
                of_message.entry(message).or_default().push(index);
            }
        }
        let found = vec![None; pointers.len()];
        Search { list, pointers, of_message, lines: BTreeMap::new(), found }
    }

    fn take(&mut self, part: Part<'_, '_>) {
        match part {
            Part::Begin => self.lines.clear(),
            Part::Item(n, message) => self.message(n, message),
            Part::Rest(body) => {
                for (index, pointer) in self.pointers.iter().enumerate() {
                    if in_message(pointer, self.list).is_none() && !body.is_null() {
                        let place = body.pointer(pointer);
                        let target = if place.span() == (0..0) { body.span() } else { place.span() };
                        let mut lines = Vec::new();
                        unfold(&mut lines, body, &target, Around::default());
                        self.found[index] = Some((target, lines));
                    }
                }
            }
        }
    }

    fn message(&mut self, n: usize, message: Json) {
        let is_wanted = |n: usize| self.of_message.contains_key(&n);
        if is_wanted(n + 1) || n.checked_sub(1).is_some_and(is_wanted) {
            let Around { head, .. } = Around::message(self.list, n, message);
            let line = Compact::of(said(message), &(0..0));
            self.lines.insert(n, format!("{head}{}", line.text));
        }
        for index in self.of_message.get(&n).into_iter().flatten() {
            let Some(pointer) = self.pointers.get(*index) else { continue };
            let rest = in_message(pointer, self.list).map_or("", |(_, rest)| rest);
            let place = message.pointer(rest);
            let target = if place.span() == (0..0) { message.span() } else { place.span() };
            let mut lines = Vec::new();
            unfold(&mut lines, message, &target, Around::message(self.list, n, message));
            self.found[*index] = Some((target, lines));
        }
    }

    /// Adds the neighbours around each message. `whole` is the location for violations without a more
    /// specific one.
    fn finish(self, whole: Range<usize>) -> Vec<(Range<usize>, Excerpt)> {
        let neighbour = |n: Option<usize>| {
            let text = self.lines.get(&n?)?.clone();
            Some(Line { text, marked: None })
        };
        let each = self.pointers.iter().zip(self.found).map(|(pointer, found)| {
            let (span, own) = found.unwrap_or_else(|| (whole.clone(), Vec::new()));
            let message = in_message(pointer, self.list).map(|(message, _)| message);
            let before = neighbour(message.and_then(|n| n.checked_sub(1)));
            let after = neighbour(message.map(|n| n + 1));
            (span, Excerpt { lines: before.into_iter().chain(own).chain(after).collect() })
        });
        each.collect()
    }
}

/// Returns the number of the message that a pointer leads into, and the rest of the pointer.
fn in_message<'p>(pointer: &'p str, list: &str) -> Option<(usize, &'p str)> {
    let rest = pointer.strip_prefix('/')?.strip_prefix(list)?.strip_prefix('/')?;
    let end = rest.find('/').unwrap_or(rest.len());
    Some((rest[..end].parse().ok()?, &rest[end..]))
}

/// Returns the content of a message, or the complete message if it has tool calls or a call id.
fn said<'t, 'a>(message: Json<'t, 'a>) -> Json<'t, 'a> {
    let is_plain = message.get("tool_calls").is_none() && message.get("tool_call_id").is_none();
    let content = message.get("content").or_else(|| message.get("parts"));
    content.filter(|_| is_plain).unwrap_or(message)
}

/// The text around a value on its line.
#[derive(Debug, Clone, Default)]
struct Around {
    depth: usize,
    head: String,
    tail: &'static str,
}

impl Around {
    fn message(list: &str, n: usize, message: Json) -> Around {
        let role = message.get("role").or_else(|| message.get("type")).and_then(Json::as_str);
        let role = role.map(|role| format!(" {}", shown(&role, MAX_STRING))).unwrap_or_default();
        Around { depth: 0, head: format!("{list}[{n}]{role}: "), tail: "" }
    }

    fn line(&self, text: &str, marked: Option<Range<usize>>) -> Line {
        let before = format!("{}{}", "  ".repeat(self.depth), self.head);
        let n_before = before.chars().count();
        let marked = marked.map(|marked| marked.start + n_before..marked.end + n_before);
        Line { text: format!("{before}{text}{}", self.tail), marked }
    }
}

/// Writes a value on one line if that shows the location. Otherwise unfolds the values that lead to it.
fn unfold(lines: &mut Vec<Line>, value: Json, target: &Range<usize>, around: Around) {
    let compact = Compact::of(value, target);
    let is_inside = holds(&value.span(), target) && value.span() != *target;
    let is_deep = around.depth >= MAX_UNFOLDED || !matches!(value.kind(), JsonType::Array | JsonType::Object);
    if !is_inside || is_deep || (compact.marked.is_some() && !compact.is_cut) {
        let whole = 0..compact.text.chars().count();
        let marked = holds(&value.span(), target).then(|| compact.marked.unwrap_or(whole));
        lines.push(around.line(&compact.text, marked));
        return;
    }
    let (open, close) = if value.is_array() { ("[", "]") } else { ("{", "}") };
    lines.push(Around { tail: "", ..around.clone() }.line(open, None));
    let depth = around.depth + 1;
    match value.kind() {
        JsonType::Array => items(lines, value, target, depth),
        _ => fields(lines, value, target, depth),
    }
    lines.push(Around { head: String::new(), ..around }.line(close, None));
}

/// Writes the item at the location, and its neighbours.
fn items(lines: &mut Vec<Line>, list: Json, target: &Range<usize>, depth: usize) {
    let at = list.items().position(|item| holds(&item.span(), target)).unwrap_or(0);
    let first = at.saturating_sub(1);
    let n_items = list.len();
    let note = |n: usize| Line { text: format!("{}… {n} more", "  ".repeat(depth)), marked: None };
    lines.extend((first > 0).then(|| note(first)));
    for (index, item) in list.items().enumerate().skip(first).take(at + 2 - first) {
        let tail = if index + 1 < n_items { "," } else { "" };
        unfold(lines, item, target, Around { depth, head: String::new(), tail });
    }
    let n_after = n_items.saturating_sub(at + 2);
    lines.extend((n_after > 0).then(|| note(n_after)));
}

/// Writes the first fields, and the one at the location.
fn fields(lines: &mut Vec<Line>, object: Json, target: &Range<usize>, depth: usize) {
    let n_fields = object.len();
    let is_shown =
        |(index, (_, value)): &(usize, (Json, Json))| *index < MAX_FIELDS || holds(&value.span(), target);
    for (index, (name, value)) in object.fields().enumerate().filter(is_shown) {
        let head = format!("{}: ", Compact::of(name, &(0..0)).text);
        let tail = if index + 1 < n_fields { "," } else { "" };
        unfold(lines, value, target, Around { depth, head, tail });
    }
    if n_fields > MAX_FIELDS {
        lines.push(Line { text: format!("{}…", "  ".repeat(depth)), marked: None });
    }
}

fn holds(outer: &Range<usize>, inner: &Range<usize>) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

/// A value on one line.
struct Compact {
    text: String,
    /// The range of the target in the text, in characters.
    marked: Option<Range<usize>>,
    /// True if something is left out.
    is_cut: bool,
    n_chars: usize,
}

impl Compact {
    /// Writes `value` on one line, and records the range of the value with the span `target`.
    fn of(value: Json, target: &Range<usize>) -> Compact {
        let mut compact = Compact { text: String::new(), marked: None, is_cut: false, n_chars: 0 };
        compact.value(value, target);
        compact
    }

    fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.n_chars += text.chars().count();
    }

    fn value(&mut self, value: Json, target: &Range<usize>) {
        let start = self.n_chars;
        match value.kind() {
            JsonType::Array => self.inside(value.items().map(|item| (None, item)), ["[", "]"], target),
            JsonType::Object => {
                self.inside(value.fields().map(|(name, value)| (Some(name), value)), ["{ ", " }"], target);
            }
            JsonType::String => {
                let raw = value.raw();
                self.push("\"");
                self.push(&shown(&raw[1..raw.len() - 1], MAX_STRING));
                self.push("\"");
            }
            _ => self.push(&shown(value.raw(), MAX_STRING)),
        }
        if value.span() == *target {
            self.marked = Some(start..self.n_chars);
        }
    }

    /// Writes the placeholder for a secret.
    fn secret(&mut self, is_target: bool) {
        let start = self.n_chars;
        self.push(&format!("\"{REDACTED}\""));
        if is_target {
            self.marked = Some(start..self.n_chars);
        }
    }

    fn inside<'t, 'a: 't>(
        &mut self,
        values: impl Iterator<Item = (Option<Json<'t, 'a>>, Json<'t, 'a>)>,
        [open, close]: [&str; 2],
        target: &Range<usize>,
    ) {
        let mut values = values.peekable();
        if values.peek().is_none() {
            return self.push(&format!("{}{}", open.trim_end(), close.trim_start()));
        }
        self.push(open);
        for (index, (name, value)) in values.enumerate() {
            if index > 0 {
                self.push(", ");
            }
            if self.n_chars >= MAX_WIDTH {
                self.is_cut = true;
                self.push("…");
                break;
            }
            let is_secret = name.is_some_and(|name| is_secret(name, value));
            if let Some(name) = name {
                self.value(name, &(0..0));
                self.push(": ");
            }
            match is_secret {
                true => self.secret(value.span() == *target),
                false => self.value(value, target),
            }
        }
        self.push(close);
    }
}

/// Returns whether the name and the value of a field show that it is a secret.
fn is_secret(name: Json, value: Json) -> bool {
    let text = |json: Json| json.as_str().map(std::borrow::Cow::into_owned);
    value.kind() == JsonType::String
        && text(name).zip(text(value)).is_some_and(|(name, value)| is_secret_field(&name, &value))
}

/// Bytes of a string to search for secrets beyond the part that is shown: half a key is not recognized.
const MAX_SECRET: usize = 16 << 10;

/// Shortens a text, and removes secrets and characters that move the cursor or reverse the text direction.
pub(super) fn shown(text: &str, max_chars: usize) -> String {
    let end = text.floor_char_boundary(text.len().min(4 * max_chars + MAX_SECRET));
    let clean = Redactor::default();
    let clean = clean.text(&text[..end]);
    let mut chars = clean.chars();
    let mut shown: String =
        chars.by_ref().take(max_chars).map(|c| if is_plain(c) { c } else { '\u{fffd}' }).collect();
    if chars.next().is_some() {
        shown.push('…');
    }
    shown
}

/// Writes a complete request: one line for each message, and one for each other field except the model and
/// its limits.
pub fn conversation(body: &[u8], list: &str) -> Vec<String> {
    let (mut lines, mut others) = (Vec::new(), Vec::new());
    let read = json::walk(body, list, |part| match part {
        Part::Begin => lines.clear(),
        Part::Item(n, message) => {
            let head = Around::message(list, n, message).head;
            lines.push(format!("{head}{}", Compact::of(said(message), &(0..0)).text));
        }
        Part::Rest(body) => {
            let is_told = |name: Json| !["model", "max_tokens", list].iter().any(|known| name.is(known));
            for (name, value) in body.fields().filter(|(name, _)| is_told(*name)) {
                let name = name.as_str().unwrap_or_default();
                others.push(format!("{}: {}", shown(&name, MAX_STRING), Compact::of(value, &(0..0)).text));
            }
            if !body.field(list).is_array() {
                let value = Compact::of(body.field(list), &(0..0)).text;
                others.push(format!("{list}: {value}"));
            }
        }
    });
    match read {
        Ok(()) if lines.is_empty() && others.is_empty() => vec![format!("{list}: []")],
        Ok(()) => others.into_iter().chain(lines).collect(),
        Err(_) => vec![shown(&String::from_utf8_lossy(body), MAX_BODY)],
    }
}

/// Maximum number of characters shown from a body that is not JSON.
const MAX_BODY: usize = 200;
