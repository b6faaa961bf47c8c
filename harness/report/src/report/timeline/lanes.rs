//! Four lanes, arrows between them, and words next to them.

use super::super::text::Tone;

/// Columns of a whole line.
pub(super) const WIDTH: usize = 100;

/// Who does something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lane {
    User,
    System,
    Provider,
    Tools,
}

impl Lane {
    const ALL: [(Lane, &'static str); 4] = [
        (Lane::User, "user"),
        (Lane::System, "system"),
        (Lane::Provider, "provider"),
        (Lane::Tools, "tools"),
    ];

    fn column(self) -> usize {
        match self {
            Lane::User => 2,
            Lane::System => 11,
            Lane::Provider => 20,
            Lane::Tools => 29,
        }
    }
}

/// The column at which words begin.
const WORDS: usize = 33;

/// How much a line matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Weight {
    /// Nothing is unusual.
    Plain,
    /// It was planned to go wrong.
    Fault,
    /// It should not happen.
    Wrong,
}

/// A drawing that grows line by line.
pub(super) struct Drawing<'a> {
    text: String,
    paint: &'a dyn Fn(Tone, &str) -> String,
}

impl<'a> Drawing<'a> {
    pub(super) fn new(paint: &'a dyn Fn(Tone, &str) -> String) -> Drawing<'a> {
        let mut drawing = Drawing { text: String::new(), paint };
        let mut line = String::new();
        for (lane, name) in Lane::ALL {
            // Each name stands in the middle of its lane.
            let start = (lane.column() + 1).saturating_sub(name.len().div_ceil(2));
            line.push_str(&" ".repeat(start.saturating_sub(line.chars().count())));
            line.push_str(name);
        }
        drawing.push(&line);
        drawing
    }

    /// A line across, with a title.
    pub(super) fn heading(&mut self, title: &str) {
        let rest = WIDTH.saturating_sub(columns(title) + 4);
        self.push(&format!("── {title} {}", "─".repeat(rest)));
    }

    /// A step from one lane to another, or within one, with its words.
    pub(super) fn step(&mut self, from: Lane, to: Lane, weight: Weight, words: &str) {
        let lines = wrapped(words, WIDTH - WORDS);
        for (at, line) in lines.iter().enumerate() {
            let lanes = if at == 0 { arrow(from, to, weight) } else { lanes() };
            self.push(&format!("{lanes}{}", self.painted(weight, line)));
        }
    }

    /// More words to the step before.
    pub(super) fn more(&mut self, weight: Weight, words: &str) {
        for line in wrapped(words, WIDTH - WORDS - 2) {
            self.push(&format!("{}  {}", lanes(), self.painted(weight, &line)));
        }
    }

    fn painted(&self, weight: Weight, line: &str) -> String {
        match weight {
            Weight::Plain => line.to_owned(),
            Weight::Fault => (self.paint)(Tone::Warn, line),
            Weight::Wrong => (self.paint)(Tone::Bad, line),
        }
    }

    pub(super) fn finish(self) -> String {
        self.text
    }

    fn push(&mut self, line: &str) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }
}

fn lanes() -> String {
    let mut cells = [' '; WORDS];
    Lane::ALL.iter().for_each(|(lane, _)| cells[lane.column()] = '│');
    cells.iter().collect()
}

fn arrow(from: Lane, to: Lane, weight: Weight) -> String {
    let mut cells: Vec<char> = lanes().chars().collect();
    let (start, end) = (from.column(), to.column());
    let line = if weight == Weight::Fault { '═' } else { '─' };
    if start < end {
        cells[start + 1..end].fill(line);
        cells[end - 1] = '▶';
    } else if end < start {
        cells[end + 1..start].fill(line);
        cells[end + 1] = '◀';
    }
    cells[start] = match weight {
        Weight::Plain => '●',
        Weight::Fault | Weight::Wrong => '✖',
    };
    cells.into_iter().collect()
}

/// A text in lines of so many columns at most, broken between words where there are any. Control characters are
/// spaces.
pub(super) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = vec![String::new()];
    let mut used = 0;
    for word in text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()) {
        let gap = usize::from(used > 0);
        if used + gap + columns(word) > width && used > 0 {
            lines.push(String::new());
            used = 0;
        } else if gap == 1 {
            lines.last_mut().into_iter().for_each(|line| line.push(' '));
            used += 1;
        }
        for c in word.chars() {
            if used + column_of(c) > width {
                lines.push(String::new());
                used = 0;
            }
            lines.last_mut().into_iter().for_each(|line| line.push(c));
            used += column_of(c);
        }
    }
    lines
}

fn columns(text: &str) -> usize {
    text.chars().map(column_of).sum()
}

/// Terminals give two columns to the scripts of East Asia and to pictures.
fn column_of(c: char) -> usize {
    let wide = matches!(u32::from(c), 0x1100..=0x115f | 0x2e80..=0xa4cf | 0xac00..=0xd7a3 | 0xf900..=0xfaff
        | 0xfe30..=0xfe6f | 0xff00..=0xff60 | 0x1f300..=0x1faff | 0x20000..=0x3fffd);
    if wide { 2 } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_no_wider_than_they_may_be() {
        for text in ["a bc def ghij", "abcdefghijklmnop", "日本語のテキスト", "\u{1b}[31m\n\tx", "", "a  b"]
        {
            let lines = wrapped(text, 5);
            assert!(lines.iter().all(|line| columns(line) <= 5), "{lines:?}");
            let joined: String = lines.concat().split(' ').collect();
            let expected: String = text.split(|c: char| c.is_whitespace() || c.is_control()).collect();
            assert_eq!(joined, expected);
        }
        assert_eq!(wrapped("a bc def", 5), ["a bc", "def"]);
    }

    #[test]
    fn arrows_lead_from_lane_to_lane() {
        assert_eq!(
            arrow(Lane::User, Lane::System, Weight::Plain).trim_end(),
            "  ●───────▶│        │        │"
        );
        assert_eq!(
            arrow(Lane::Tools, Lane::System, Weight::Fault).trim_end(),
            "  │        │◀════════════════✖"
        );
        assert_eq!(
            arrow(Lane::Provider, Lane::Provider, Weight::Wrong).trim_end(),
            "  │        │        ✖        │"
        );
    }
}
