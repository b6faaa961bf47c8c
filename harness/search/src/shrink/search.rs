//! The search: decides which elements are tried next from the verdicts so far.

use super::Setting;
use super::edit::{self, ElementKind};
use brickbat_scenario::scenario::Scenario;

#[derive(Debug, Clone)]
pub(super) struct Search {
    current: Scenario,
    /// The kind of elements being tried, as an index.
    kind: usize,
    /// The 0-based number of the round. After the first, elements are tried one by one.
    round: usize,
    /// The number of elements to try at once; 0 when a kind begins.
    size: usize,
    /// The index of the first of them.
    at: usize,
    /// True if this round has made the scenario smaller.
    is_smaller: bool,
    /// The candidate that awaits its verdict.
    pending: Option<Scenario>,
    is_over: bool,
}

impl Search {
    pub fn of(current: Scenario) -> Search {
        let (kind, round, size, at) = (0, 0, 0, 0);
        Search { current, kind, round, size, at, is_smaller: false, pending: None, is_over: false }
    }

    pub fn current(&self) -> &Scenario {
        &self.current
    }

    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// The next candidate that can be run; `None` if no element is left to try.
    pub fn candidate(&mut self, setting: &Setting<'_>) -> Option<Scenario> {
        while self.pending.is_none() && !self.is_over {
            self.advance(setting);
        }
        self.pending.clone()
    }

    /// Takes the verdict on the candidate.
    pub fn step(&mut self, shows: bool) {
        match self.pending.take() {
            // The elements after the removed ones have moved to their indices.
            Some(candidate) if shows => {
                self.current = candidate;
                self.is_smaller = true;
            }
            _ => self.at += self.size,
        }
    }

    fn advance(&mut self, setting: &Setting<'_>) {
        let Some(kind) = ElementKind::ALL.get(self.kind) else { return self.end_round() };
        let elements = edit::elements(&self.current, *kind);
        if self.size == 0 {
            self.at = 0;
            self.size = if self.round == 0 { elements.len().max(1) } else { 1 };
        }
        if self.at >= elements.len() {
            self.at = 0;
            match self.size {
                1 => {
                    self.kind += 1;
                    self.size = 0;
                }
                // Half the size, or half of what is left.
                size => self.size = size.min(elements.len()).div_ceil(2).max(1),
            }
            return;
        }
        let end = elements.len().min(self.at + self.size);
        let candidate = edit::without(&self.current, &elements[self.at..end]);
        if candidate == self.current || !setting.is_valid(&candidate) {
            self.at += self.size;
        } else {
            self.pending = Some(candidate);
        }
    }

    /// The last round is the one in which nothing could be removed.
    fn end_round(&mut self) {
        self.is_over = !self.is_smaller;
        (self.kind, self.size, self.is_smaller) = (0, 0, false);
        self.round += 1;
    }
}
