//! The histories of the last requests, for a test that asks what its agent has sent.
//!
//! Nothing is kept unless a test asks for it, because conversations are private.

use std::collections::VecDeque;

use serde::Serialize;

use brickbat_scenario::history::History;

/// The history of one request.
#[derive(Debug, Clone, Serialize)]
pub struct Sent {
    /// The number of the exchange.
    pub exchange: u32,
    /// The messages of the request, in one form for all dialects.
    pub items: History,
    #[serde(skip)]
    n_bytes: usize,
}

/// The histories that are kept.
#[derive(Debug, Default)]
pub(super) struct SentHistories {
    kept: VecDeque<Sent>,
    n_bytes: usize,
}

/// The maximum number of histories. A test of one agent sends about ten requests.
const MAX_HISTORIES: usize = 100;

/// The maximum size of the requests with these histories. They are printed on one line.
const MAX_BYTES: usize = 16 * 1024 * 1024;

impl SentHistories {
    /// Keeps the history of a request of this size, and forgets the earliest ones beyond the limits.
    pub(super) fn keep(&mut self, exchange: u32, items: History, n_bytes: usize) {
        self.n_bytes = self.n_bytes.saturating_add(n_bytes);
        self.kept.push_back(Sent { exchange, items, n_bytes });
        while self.kept.len() > MAX_HISTORIES || self.n_bytes > MAX_BYTES {
            let Some(forgotten) = self.kept.pop_front() else { return };
            self.n_bytes = self.n_bytes.saturating_sub(forgotten.n_bytes);
        }
    }

    /// The histories, the earliest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Sent> {
        self.kept.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(sizes: &[usize]) -> Vec<u32> {
        let mut sent = SentHistories::default();
        for (exchange, n_bytes) in (0..).zip(sizes) {
            sent.keep(exchange, History::default(), *n_bytes);
        }
        sent.iter().map(|sent| sent.exchange).collect()
    }

    #[test]
    fn the_last_histories_are_kept_within_the_limits() {
        assert_eq!(kept(&[1; MAX_HISTORIES + 2]).first(), Some(&2));
        assert_eq!(kept(&[MAX_BYTES, 1, 1]), [1, 2]);
        assert_eq!(kept(&[1, MAX_BYTES + 1]), [0; 0]);
        assert_eq!(kept(&[usize::MAX, 1]), [1]);
    }
}
