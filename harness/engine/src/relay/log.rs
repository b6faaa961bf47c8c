//! The events that a relay keeps: counts, and the first event of each kind. It keeps nothing from the
//! conversations.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::standalone::Log;
use crate::standalone::log::{count, shortened};
use brickbat_rules::streams::{Ended, StreamReport};
use brickbat_scenario::trace::ExchangeId;

/// Counts and examples of the events at a relay.
#[derive(Debug, Clone, Default, Serialize)]
pub struct RelayLog {
    /// The requests, their rejections, and the faults.
    pub requests: Log,
    /// The streams that came back.
    pub streams: Streams,
    /// The rules that streams broke.
    pub broken: BTreeMap<&'static str, BrokenStreams>,
    /// Answers with an error, by status; 200 if the error came inside a stream.
    pub reported: BTreeMap<u16, u64>,
    /// Requests that break a rule and were let through, by rule: how many the server accepted, and how many
    /// it rejected.
    pub let_through: BTreeMap<&'static str, LetThrough>,
    /// Failures of the server, with their counts.
    pub failures: BTreeMap<String, u64>,
    /// Exchanges that could not be recorded.
    pub unrecorded: u64,
    /// Requests for anything other than a reply, by method and path.
    pub beside: BTreeMap<String, u64>,
}

/// The number of streams, by outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Streams {
    /// Legal streams that completed.
    pub complete: u64,
    /// Legal streams that ended with an error of the server.
    pub error_events: u64,
    /// Streams that are illegal or broke off.
    pub broken: u64,
}

/// The streams that broke one rule, and the first of them.
#[derive(Debug, Clone, Serialize)]
pub struct BrokenStreams {
    /// The number of those streams.
    pub times: u64,
    /// The number of the first such exchange.
    pub exchange: u32,
    /// The actual and the expected content.
    pub message: String,
}

/// The server's answers to requests that break a rule.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct LetThrough {
    /// The number of requests that it accepted.
    pub accepted: u64,
    /// The number of requests that it rejected.
    pub refused: u64,
}

impl RelayLog {
    /// True if a request was rejected, a stream was broken, or the server failed.
    pub fn has_findings(&self) -> bool {
        self.requests.n_refused() > 0 || self.streams.broken > 0 || !self.failures.is_empty()
    }

    /// Counts a request for anything other than a reply. Returns true for the first request to its path.
    pub(super) fn beside(&mut self, method: &str, path: &str) -> bool {
        count(&mut self.beside, format!("{method} {}", shortened(path))) == Some(1)
    }

    pub(super) fn failed(&mut self, words: &str) {
        count(&mut self.failures, shortened(words));
    }

    pub(super) fn reported(&mut self, status: u16) {
        *self.reported.entry(status).or_default() += 1;
    }

    pub(super) fn let_through(&mut self, rule: &'static str, status: u16) {
        let by_rule = self.let_through.entry(rule).or_default();
        let counted = if status < 400 { &mut by_rule.accepted } else { &mut by_rule.refused };
        *counted += 1;
    }

    pub(super) fn streamed(&mut self, exchange: ExchangeId, report: &StreamReport) {
        let counted = match report.ended {
            Ended::Complete => &mut self.streams.complete,
            Ended::ErrorEvent => &mut self.streams.error_events,
            Ended::Truncated | Ended::Illegal => &mut self.streams.broken,
        };
        *counted += 1;
        if let Some(violation) = report.error() {
            let broken = self.broken.entry(violation.rule.id).or_insert_with(|| BrokenStreams {
                times: 0,
                exchange: exchange.0,
                message: violation.message.clone(),
            });
            broken.times += 1;
        }
    }
}
