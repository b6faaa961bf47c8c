//! The events that a provider without a plan keeps: counts, the last exchanges, and the last faults. It keeps
//! nothing from the conversations.

use std::collections::{BTreeMap, VecDeque};

use serde::Serialize;

use super::address::Basis;
use crate::improvise::Standing;
use brickbat_rules::dialect::Dialect;
use brickbat_rules::{Profile, Violation};
use brickbat_scenario::history::{Content, History};
use brickbat_scenario::trace::{Confidence, ExchangeId};

/// The number of exchanges and faults kept: enough to review a session.
const N_KEPT: usize = 1000;

/// The number of unknown paths and of profile choices kept. A program has a few, a scanner has thousands.
const N_NAMED: usize = 100;

/// The maximum number of characters kept of a path, a model or a shape.
const MAX_CHARS: usize = 200;

/// Counts and records of a provider's events.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Log {
    /// Requests by dialect.
    pub dialects: BTreeMap<Dialect, Requests>,
    /// Rejections by rule.
    pub refusals: BTreeMap<&'static str, Refusals>,
    /// Faults, and points at which the program was ended.
    pub faults: Faulted,
    /// Each choice of a profile.
    pub chosen: Vec<Choice>,
    /// Requests to paths that do not exist here.
    pub unspoken: BTreeMap<String, u64>,
    /// Accepted requests that offer tools.
    pub offers: u64,
    /// Numbered replies: replies to requests that offer tools, or all replies while no request has offered
    /// any.
    pub replies: u32,
    /// Requests for a streamed reply.
    #[serde(skip)]
    pub streamed: u64,
    /// The names of the tools that requests offered.
    #[serde(skip)]
    pub tools: BTreeMap<String, u64>,
    /// Replies with calls that have no result in any later request, the earliest first.
    pub unanswered: Vec<Unanswered>,
    #[serde(skip)]
    exchanges: Ring<Exchange>,
    #[serde(skip)]
    kept_faults: Ring<FaultRecord>,
}

/// The requests in a dialect.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Requests {
    /// Requests for a reply.
    pub requests: u64,
    /// Rejected requests for a reply.
    pub refused: u64,
    /// Other requests, such as counts of tokens.
    pub beside: u64,
}

/// The rejections by one rule, and the first of them.
#[derive(Debug, Clone, Serialize)]
pub struct Refusals {
    /// The number of those rejections.
    pub times: u64,
    /// The number of the first such exchange.
    pub exchange: u32,
    /// The name of the profile.
    pub profile: &'static str,
    /// The HTTP status.
    pub status: u16,
    /// The location in the body, as a JSON pointer.
    pub pointer: String,
    /// The provider's error message.
    pub message: String,
}

/// The number of faults, by outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Faulted {
    /// Planned faults.
    pub armed: u64,
    /// Faults that happened where they were planned.
    pub delivered: u64,
    /// Faults after which the next request was accepted.
    pub then_accepted: u64,
    /// Faults after which the next request was rejected.
    pub then_refused: u64,
}

/// A reply with calls that have no result in any later request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unanswered {
    /// The 1-based number of the reply.
    pub reply: u32,
    /// The dialect.
    pub dialect: Dialect,
    /// The ids of the calls.
    pub calls: Vec<String>,
}

/// The choice of a profile for a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Choice {
    /// The path, without the name of a profile at its beginning.
    pub path: String,
    /// The name of the profile.
    pub profile: &'static str,
    /// The reason for the choice.
    pub basis: Basis,
}

/// One exchange.
#[derive(Debug, Clone, Serialize)]
pub struct Exchange {
    /// Its 0-based number.
    pub exchange: u32,
    /// The dialect.
    pub dialect: Dialect,
    /// The name of the profile.
    pub profile: &'static str,
    /// The model in the request.
    pub model: String,
    /// The history in the request, on one line.
    pub shape: String,
    /// The HTTP status of the answer.
    pub status: u16,
    /// The rule that the request broke.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<&'static str>,
    /// The location in the body, as a JSON pointer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pointer: Option<String>,
    /// The fault that was planned for the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
}

impl Exchange {
    /// The exchange of a request, which breaks no rule if there is no refusal.
    pub(crate) fn of(
        exchange: ExchangeId,
        profile: &'static Profile,
        model: &str,
        shape: String,
        refusal: Option<&Violation>,
    ) -> Exchange {
        Exchange {
            exchange: exchange.0,
            dialect: profile.dialect,
            profile: profile.name,
            model: model.to_owned(),
            shape,
            status: refusal.map_or(200, Violation::status),
            rule: refusal.map(|refusal| refusal.rule.id),
            pointer: refusal.map(|refusal| refusal.pointer.clone()),
            fault: None,
        }
    }
}

/// One fault, or one point at which the program was ended.
#[derive(Debug, Clone, Serialize)]
pub struct FaultRecord {
    /// The exchange in which it happens.
    pub exchange: u32,
    /// The fault and its position, as a phrase.
    pub words: String,
    /// The confidence of its receipt, if it happened.
    pub receipt: Option<Confidence>,
    /// The answer to the next request in the same dialect.
    pub then: Option<Followed>,
}

/// The outcome of the request after a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Followed {
    /// The next request was accepted.
    Accepted,
    /// The next request was rejected by this rule.
    Refused(&'static str),
}

impl Log {
    /// The last exchanges, the earliest first.
    pub fn exchanges(&self) -> impl Iterator<Item = &Exchange> {
        self.exchanges.kept.iter()
    }

    /// The last faults, the earliest first.
    pub fn fault_records(&self) -> impl Iterator<Item = &FaultRecord> {
        self.kept_faults.kept.iter()
    }

    /// The number of exchanges that precede the kept ones.
    pub fn n_forgotten(&self) -> u64 {
        self.exchanges.n_dropped
    }

    /// The number of requests for a reply, in all dialects.
    pub fn n_requests(&self) -> u64 {
        self.dialects.values().map(|requests| requests.requests).sum()
    }

    /// The number of rejected requests for a reply, in all dialects.
    pub fn n_refused(&self) -> u64 {
        self.dialects.values().map(|requests| requests.refused).sum()
    }

    /// How many faults, or ends of the program, were followed by a request that got an answer.
    pub fn n_followed(&self) -> u64 {
        self.faults.then_accepted + self.faults.then_refused
    }

    /// Records a reply with calls. If very many are never answered, only the last ones are kept.
    pub(crate) fn called(&mut self, open: Unanswered) {
        if self.unanswered.len() >= N_KEPT {
            self.unanswered.remove(0);
        }
        self.unanswered.push(open);
    }

    /// Records the results in a request. A program may give the calls its own ids: if no id is known, the
    /// results belong to the first reply that waits for some.
    pub(crate) fn results(&mut self, dialect: Dialect, history: &History) {
        let of_results = || {
            history.items.iter().filter_map(|item| match &item.content {
                Content::Result { id, .. } => Some(id.as_str()),
                _ => None,
            })
        };
        let is_known = |id: &String| {
            history.items.iter().any(|item| match &item.content {
                Content::Call { id: own, .. } | Content::Result { id: own, .. } => own == id,
                _ => false,
            })
        };
        let waits = || self.unanswered.iter().filter(|open| open.dialect == dialect);
        let is_renamed =
            Standing::of(history).n_rounds > 0 && !waits().any(|open| open.calls.iter().any(is_known));
        let renamed = waits().next().filter(|_| is_renamed).map(|open| open.reply);
        for open in self.unanswered.iter_mut().filter(|open| open.dialect == dialect) {
            match renamed == Some(open.reply) {
                true => open.calls.clear(),
                false => open.calls.retain(|id| of_results().all(|own| own != id)),
            }
        }
        self.unanswered.retain(|open| !open.calls.is_empty());
    }

    /// Records the names of the tools that a request offers.
    pub(crate) fn offered(&mut self, names: Vec<String>) {
        for name in names {
            count(&mut self.tools, shortened(&name));
        }
    }

    pub(crate) fn beside(&mut self, dialect: Dialect) {
        self.dialects.entry(dialect).or_default().beside += 1;
    }

    /// Counts a request to an unknown path. Returns whether it is the first one to that path.
    pub(crate) fn unspoken(&mut self, method: &str, path: &str) -> bool {
        count(&mut self.unspoken, format!("{method} {}", shortened(path))) == Some(1)
    }

    /// Records the choice of a profile. Returns the choice if it is new.
    pub(crate) fn chosen(&mut self, path: &str, profile: &'static Profile, basis: Basis) -> Option<Choice> {
        let choice = Choice { path: shortened(path), profile: profile.name, basis };
        if self.chosen.contains(&choice) || self.chosen.len() >= N_NAMED {
            return None;
        }
        self.chosen.push(choice.clone());
        Some(choice)
    }

    pub(crate) fn exchange(&mut self, mut exchange: Exchange) {
        let requests = self.dialects.entry(exchange.dialect).or_default();
        requests.requests += 1;
        requests.refused += u64::from(exchange.rule.is_some());
        exchange.model = shortened(&exchange.model);
        exchange.shape = shortened(&exchange.shape);
        self.exchanges.push(exchange);
    }

    /// Records the final status of an exchange.
    pub(crate) fn answered(&mut self, exchange: ExchangeId, status: u16) {
        let mut exchanges = self.exchanges.kept.iter_mut().rev();
        if let Some(kept) = exchanges.find(|kept| kept.exchange == exchange.0) {
            kept.status = status;
        }
    }

    pub(crate) fn refused(&mut self, exchange: ExchangeId, profile: &'static Profile, by: &Violation) {
        let refusals = self.refusals.entry(by.rule.id).or_insert_with(|| Refusals {
            times: 0,
            exchange: exchange.0,
            profile: profile.name,
            status: by.status(),
            pointer: by.pointer.clone(),
            message: by.message.clone(),
        });
        refusals.times += 1;
    }

    pub(crate) fn armed(&mut self, exchange: ExchangeId, words: String) {
        self.faults.armed += 1;
        self.kept_faults.push(FaultRecord { exchange: exchange.0, words, receipt: None, then: None });
    }

    /// Records the proof that a fault happened. Returns its description.
    pub(crate) fn delivered(&mut self, exchange: ExchangeId, grade: Confidence) -> Option<String> {
        let record = self.record(exchange)?;
        if record.receipt.replace(grade).is_some() {
            return None;
        }
        let words = record.words.clone();
        self.faults.delivered += 1;
        Some(words)
    }

    pub(crate) fn followed(&mut self, exchange: ExchangeId, by: Followed) {
        match by {
            Followed::Accepted => self.faults.then_accepted += 1,
            Followed::Refused(_) => self.faults.then_refused += 1,
        }
        if let Some(record) = self.record(exchange) {
            record.then = Some(by);
        }
    }

    fn record(&mut self, exchange: ExchangeId) -> Option<&mut FaultRecord> {
        self.kept_faults.kept.iter_mut().rev().find(|record| record.exchange == exchange.0)
    }
}

/// The last items of a long series.
#[derive(Debug, Clone)]
struct Ring<T> {
    kept: VecDeque<T>,
    n_dropped: u64,
}

impl<T> Default for Ring<T> {
    fn default() -> Ring<T> {
        Ring { kept: VecDeque::new(), n_dropped: 0 }
    }
}

impl<T> Ring<T> {
    fn push(&mut self, item: T) {
        if self.kept.len() >= N_KEPT {
            self.kept.pop_front();
            self.n_dropped += 1;
        }
        self.kept.push_back(item);
    }
}

/// Increments the count of a name and returns it, as long as the number of names has not reached its limit.
pub(crate) fn count(counts: &mut BTreeMap<String, u64>, name: String) -> Option<u64> {
    if !counts.contains_key(&name) && counts.len() >= N_NAMED {
        return None;
    }
    let times = counts.entry(name).or_default();
    *times += 1;
    Some(*times)
}

pub(crate) fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_of_many_exchanges_are_kept() {
        let mut log = Log::default();
        for exchange in 0..N_KEPT as u32 + 5 {
            log.exchange(Exchange {
                exchange,
                dialect: Dialect::Gemini,
                profile: "gemini",
                model: "m".repeat(2 * MAX_CHARS),
                shape: String::new(),
                status: 200,
                rule: None,
                pointer: None,
                fault: None,
            });
            log.unspoken("GET", &format!("/{exchange}"));
        }
        assert_eq!((log.exchanges().count(), log.n_forgotten()), (N_KEPT, 5));
        assert_eq!(log.exchanges().next().map(|kept| kept.exchange), Some(5));
        assert_eq!((log.n_requests(), log.unspoken.len()), (N_KEPT as u64 + 5, N_NAMED));
        assert!(log.exchanges().all(|kept| kept.model.chars().count() == MAX_CHARS + 1));
    }
}
