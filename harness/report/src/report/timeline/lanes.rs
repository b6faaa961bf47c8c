//! Four lanes, arrows between them, and text next to them.

use super::super::columns::{columns, wrapped};
use super::super::text::Tone;

/// The actor of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::report) enum Lane {
    User,
    System,
    Provider,
    Tools,
}

impl Lane {
    pub(in crate::report) const ALL: [(Lane, &'static str); 4] = [
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

/// The column at which the text begins.
const WORDS: usize = 33;

/// The importance of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::report) enum Weight {
    /// A normal step.
    Plain,
    /// A planned fault.
    Fault,
    /// A step that should not happen.
    Wrong,
}

/// A drawing that grows line by line. Its layout is decided when it is finished.
#[derive(Debug, Default)]
pub(in crate::report) struct Drawing {
    pub(in crate::report) lines: Vec<Line>,
}

/// A line of a drawing, of any length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::report) enum Line {
    /// A line across, with a title.
    Heading(String),
    /// A step from one lane to another, or within one, with its text.
    Step { from: Lane, to: Lane, weight: Weight, words: String },
    /// More text for the previous step.
    More { weight: Weight, words: String },
}

impl Drawing {
    pub(super) fn heading(&mut self, title: &str) {
        self.lines.push(Line::Heading(title.to_owned()));
    }

    pub(super) fn step(&mut self, from: Lane, to: Lane, weight: Weight, words: &str) {
        self.lines.push(Line::Step { from, to, weight, words: words.to_owned() });
    }

    pub(super) fn more(&mut self, weight: Weight, words: &str) {
        self.lines.push(Line::More { weight, words: words.to_owned() });
    }

    /// The drawing as text, `width` columns wide.
    pub(super) fn text(&self, width: usize, paint: &dyn Fn(Tone, &str) -> String) -> String {
        let mut lines = vec![names()];
        let painted = |weight: Weight, line: &str| match weight {
            Weight::Plain => line.to_owned(),
            Weight::Fault => paint(Tone::Warn, line),
            Weight::Wrong => paint(Tone::Bad, line),
        };
        for line in &self.lines {
            match line {
                Line::Heading(title) => {
                    let rest = width.saturating_sub(columns(title) + 4);
                    lines.push(format!("── {title} {}", "─".repeat(rest)));
                }
                Line::Step { from, to, weight, words } => {
                    for (at, words) in wrapped(words, width - WORDS).iter().enumerate() {
                        let beginning = if at == 0 { arrow(*from, *to, *weight) } else { lanes() };
                        lines.push(format!("{beginning}{}", painted(*weight, words)));
                    }
                }
                Line::More { weight, words } => {
                    let wrapped = wrapped(words, width - WORDS - 2);
                    lines.extend(
                        wrapped.iter().map(|words| format!("{}  {}", lanes(), painted(*weight, words))),
                    );
                }
            }
        }
        lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()
    }
}

/// Each name in the middle of its lane.
fn names() -> String {
    let mut line = String::new();
    for (lane, name) in Lane::ALL {
        let start = (lane.column() + 1).saturating_sub(name.len().div_ceil(2));
        line.push_str(&" ".repeat(start.saturating_sub(line.chars().count())));
        line.push_str(name);
    }
    line
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

#[cfg(test)]
mod tests {
    use super::*;

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
