//! The relay between a program and a server with a supported dialect.
//!
//! It checks each request against the rules before forwarding it. A request that breaks a rule is rejected
//! with the provider's own message, unless the user wants such requests let through. It checks each returned
//! stream against its dialect's grammar. It can cut and delay replies. It does no I/O: it decides what
//! happens to the bytes, and counts.
//!
//! It never changes a byte of a reply unless it injects a fault into that reply.

mod log;
mod passage;
mod pieces;
mod place;
mod said;
mod spoil;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::Value;

pub use log::{BrokenStreams, RelayLog, Streams};
pub use passage::{Passage, PassageEnd, Step};
pub use spoil::{NoSpoil, Spoil};

use crate::provider::voice::ReplyTerms;
use crate::provider::{Answer, Request, conversation};
use crate::standalone::address::{self, Addressed};
use crate::standalone::numbers::ReplyNumbers;
use crate::standalone::own::{OWN, OwnVoice};
use crate::standalone::{Basis, Exchange, FaultKind, Faults, Followed, Notice, Strictness, coding, shape};
use brickbat_rules::dialect::Dialect;
use brickbat_rules::json::Document;
use brickbat_rules::streams::StreamStrictness;
use brickbat_rules::{self as rules, Memory, Profile};
use brickbat_scenario::action::{HttpFault, SOON_MS};
use brickbat_scenario::random::Random;
use brickbat_scenario::trace::{Confidence, Ending, Event, ExchangeId, RequestKind};
use brickbat_scenario::wire;
use passage::Asked;
use spoil::Planned;

/// How a request that breaks a rule is handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// The relay rejects it with the provider's message, and the server never sees it.
    Here,
    /// It is reported and passed on.
    LetThrough,
}

/// The settings of a relay.
#[derive(Debug, Clone)]
pub struct RelayBehaviour {
    /// The rules for requests, as far as the user specifies them.
    pub strictness: Strictness,
    /// The host of the server.
    pub host: String,
    /// The server URL, which is the prefix of the paths in a recording.
    pub url: String,
    /// How requests that break a rule are handled.
    pub refused: Refused,
    /// Faults that are injected at random points of replies.
    pub faults: Option<Faults>,
    /// Faults that are injected at given points.
    pub spoils: Vec<Spoil>,
    /// The seed of the random points.
    pub seed: u64,
    /// True if exchanges are recorded.
    pub records: bool,
}

/// An event to report to the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RelayNotice {
    /// A notice about a request or a fault.
    Request(Notice),
    /// The server's answer to a request that breaks a rule.
    LetThrough {
        /// The number of the exchange.
        exchange: u32,
        /// The status of the server's answer.
        status: u16,
    },
    /// The server's stream broke a rule.
    Stream {
        /// The number of the exchange.
        exchange: u32,
        /// The id of the rule.
        rule: &'static str,
        /// The position in the stream.
        place: String,
        /// The actual and the expected content.
        message: String,
    },
    /// The server answered with an error, or reported one inside a stream.
    Reported {
        /// The number of the exchange.
        exchange: u32,
        /// The HTTP status.
        status: u16,
        /// The server's error message.
        words: String,
    },
    /// The server could not be reached, or its answer broke off.
    Failed {
        /// The number of the exchange.
        exchange: u32,
        /// The error.
        words: String,
    },
    /// A request for anything other than a reply; it is forwarded unchanged.
    Beside {
        /// The method.
        method: String,
        /// The path.
        path: String,
    },
}

/// The decision about a request.
#[derive(Debug)]
pub enum Decision {
    /// The relay answers it. The row is for the recording, if there is one.
    Answered(RequestKind, Box<Answer>, Option<Box<Value>>),
    /// It is passed on to the server.
    Onward(Box<Passage>),
}

/// The state of a relay between a program and a server.
#[derive(Debug)]
pub struct Relay {
    behaviour: RelayBehaviour,
    n_exchanges: u32,
    numbers: ReplyNumbers,
    /// Exchanges that the relay deliberately answers with an error.
    faulted: BTreeSet<ExchangeId>,
    /// The last fault of each dialect, until the next request in it.
    unfollowed: BTreeMap<Dialect, ExchangeId>,
    log: RelayLog,
    notices: VecDeque<RelayNotice>,
}

/// The maximum number of notices that wait to be printed.
const MAX_NOTICES: usize = 1000;

impl Relay {
    /// Creates a relay.
    pub fn new(mut behaviour: RelayBehaviour) -> Relay {
        // The strictness is known for some hosts; for the others the model and the dialect decide.
        if behaviour.strictness.host.is_none() && rules::is_known_host(&behaviour.host) {
            behaviour.strictness.host = Some(behaviour.host.clone());
        }
        Relay {
            behaviour,
            n_exchanges: 0,
            numbers: ReplyNumbers::default(),
            faulted: BTreeSet::new(),
            unfollowed: BTreeMap::new(),
            log: RelayLog::default(),
            notices: VecDeque::new(),
        }
    }

    /// The counts and examples so far.
    pub fn log(&self) -> &RelayLog {
        &self.log
    }

    /// Takes the notices that are not yet printed.
    pub fn take_notices(&mut self) -> Vec<RelayNotice> {
        self.notices.drain(..).collect()
    }

    /// Decides whether the relay answers a request itself or passes it on.
    pub fn asked(&mut self, request: Request<'_>) -> Decision {
        let exchange = ExchangeId(self.n_exchanges);
        self.n_exchanges = self.n_exchanges.saturating_add(1);
        if let Some(own) = request.path.strip_prefix(OWN) {
            let report = self.own(exchange).report(own, &self.log, &self.log.requests);
            return Decision::Answered(RequestKind::Auxiliary, Box::new(report), None);
        }
        let strictness = self.behaviour.strictness.clone();
        match address::addressed(&strictness, request.method, request.path, request.body) {
            Some(addressed) => self.exchange(exchange, request, &addressed.at_version_of(request.headers)),
            None => {
                if self.log.beside(request.method, request.path) {
                    let (method, path) = (request.method.to_owned(), request.path.to_owned());
                    self.notice(RelayNotice::Beside { method, path });
                }
                Decision::Onward(Box::new(Passage::unread(exchange)))
            }
        }
    }

    fn exchange(
        &mut self,
        exchange: ExchangeId,
        request: Request<'_>,
        addressed: &Addressed<'_>,
    ) -> Decision {
        let Addressed { profile, basis, ref route } = *addressed;
        let dialect = profile.dialect;
        let is_by_upstream = basis == Basis::Host
            && self.behaviour.strictness.host.as_deref() == Some(self.behaviour.host.as_str());
        let basis = if is_by_upstream { Basis::Upstream } else { basis };
        if let Some(choice) = self.log.requests.chosen(request.path, profile, basis) {
            self.notice(RelayNotice::Request(Notice::Chosen(choice)));
        }
        if let Some(coding) = coding(request) {
            let words = format!(
                "{} {}: a body in content-encoding {coding} is passed on unread",
                request.method, request.path
            );
            self.notice(RelayNotice::Request(Notice::Unreadable(words)));
            return Decision::Onward(Box::new(Passage::unread(exchange)));
        }
        let model = self.behaviour.strictness.model.clone();
        let read = profile.readable(request.body);
        let named = rules::naming(&read, model.as_deref());
        let document = Document::parse(&named);
        let asked_model = model.as_deref().or(route.model.as_deref());
        let violations = rules::validate_asking(profile, &Memory::default(), asked_model, &named, &document);
        let document = document.unwrap_or_default();
        let body = document.root();
        let history = conversation(dialect, &Memory::default(), body);
        let terms = ReplyTerms::of(wire::of(dialect), route, body);
        let refusal = rules::refusal(&violations);
        let shape = shape(&history);
        let entry = Exchange::of(exchange, profile, &terms.model, shape.clone(), refusal);
        self.log.requests.exchange(entry);
        let followed = refusal.map_or(Followed::Accepted, |refusal| Followed::Refused(refusal.rule.id));
        if let Some(fault) = self.unfollowed.remove(&dialect) {
            self.log.requests.followed(fault, followed);
        }
        let asked = Asked {
            exchange,
            dialect,
            streamed: terms.streamed,
            model: terms.model.clone(),
            path: request.path.to_owned(),
            version: request.headers.named(Profile::VERSION_HEADER).map(Cow::into_owned),
            strictness: self.stream_strictness(dialect, &terms.model),
            request: if self.behaviour.records { request.body.to_vec() } else { Vec::new() },
            refusal: refusal.map(|refusal| (refusal.rule.id, refusal.pointer.clone())),
        };
        if let Some(refusal) = refusal {
            self.log.requests.refused(exchange, profile, refusal);
            self.notice(RelayNotice::Request(Notice::refused(exchange, profile, refusal, &shape)));
            if self.behaviour.refused == Refused::Here {
                let status = refusal.status();
                let answer = self.own(exchange).say(dialect, |voice| voice.refuse(refusal));
                let row = asked.refused_row(status, &refusal.message, &self.behaviour.url).map(Box::new);
                return Decision::Answered(RequestKind::Refused { status }, Box::new(answer), row);
            }
        }
        let number = self.numbers.next(wire::of(dialect).offers_tools(body));
        match number.and_then(|number| self.planned(number, &terms)) {
            None => Decision::Onward(Box::new(Passage::of(asked, None))),
            Some(Planned { kind: FaultKind::Overloaded, .. }) => {
                self.http_fault(exchange, dialect, wire::of(dialect).overloaded_status())
            }
            Some(Planned { kind: FaultKind::RateLimit, .. }) => self.http_fault(exchange, dialect, 429),
            Some(planned) => {
                self.arm(exchange, dialect, planned.words());
                Decision::Onward(Box::new(Passage::of(asked, Some(planned))))
            }
        }
    }

    /// The strictness for the server's streams. For an unknown host, only violations that no compatible
    /// server has shown count.
    fn stream_strictness(&self, dialect: Dialect, model: &str) -> StreamStrictness {
        let strictness = &self.behaviour.strictness;
        let given = strictness.profile.filter(|profile| profile.dialect == dialect);
        match (given, &strictness.host) {
            (Some(profile), _) => StreamStrictness::Profile(profile),
            (None, Some(host)) => StreamStrictness::at_host(dialect, host, model),
            (None, None) => StreamStrictness::AnyRelative(dialect),
        }
    }

    /// The fault that is planned for this reply.
    fn planned(&self, number: u32, terms: &ReplyTerms) -> Option<Planned> {
        let given = self.behaviour.spoils.iter().find(|spoil| spoil.at.reply == number);
        if let Some(spoil) = given {
            return Some(Planned::given(spoil));
        }
        let mut random = Random::of(self.behaviour.seed, &[b"faults", &number.to_le_bytes()]);
        let kind = self.behaviour.faults.as_ref()?.of_reply(number, &mut random)?;
        Some(match terms.streamed {
            true => Planned::drawn(kind, &mut random),
            false => Planned::of_whole(kind.of_whole()),
        })
    }

    fn http_fault(&mut self, exchange: ExchangeId, dialect: Dialect, status: u16) -> Decision {
        self.arm(exchange, dialect, format!("http {status}"));
        self.faulted.insert(exchange);
        self.log.requests.answered(exchange, status);
        let fault = HttpFault { status, overflow: false, times: 1, retry_after_ms: SOON_MS };
        let answer = self.own(exchange).say(dialect, |voice| voice.http_fault(&fault));
        Decision::Answered(
            RequestKind::Faulted { turn: 0, reply: 0, attempt: 0, status },
            Box::new(answer),
            None,
        )
    }

    fn arm(&mut self, exchange: ExchangeId, dialect: Dialect, words: String) {
        self.unfollowed.insert(dialect, exchange);
        self.log.requests.armed(exchange, words);
    }

    /// Takes in an event of an answer that the relay itself gave.
    pub fn observed(&mut self, event: &Event) {
        match *event {
            Event::Replied { exchange, ending: Ending::Status } if self.faulted.remove(&exchange) => {
                // An answer that is replaced completely has no place inside at which a receipt could be
                // awaited.
                self.delivered(exchange, Confidence::Written);
            }
            Event::PeerClosed { exchange } => {
                self.faulted.remove(&exchange);
            }
            _ => {}
        }
    }

    /// Notes that a fault happened where it was planned.
    pub fn delivered(&mut self, exchange: ExchangeId, grade: Confidence) {
        if let Some(words) = self.log.requests.delivered(exchange, grade) {
            self.notice(RelayNotice::Request(Notice::Delivered { exchange: exchange.0, words, grade }));
        }
    }

    /// Notes that a row could not be recorded.
    pub fn not_recorded(&mut self, words: String) {
        self.log.unrecorded += 1;
        if self.log.unrecorded == 1 {
            self.notice(RelayNotice::Request(Notice::Unreadable(words)));
        }
    }

    /// Handles the end of an answer. Returns the row for the recording, if there is one.
    pub fn over(&mut self, passage: Passage, end: PassageEnd) -> Option<Value> {
        let exchange = passage.exchange();
        let redactor = passage.redactor();
        if let PassageEnd::Failed(words) | PassageEnd::BrokeOff(words) = &end {
            let words = redactor.text(words).into_owned();
            self.log.failed(&words);
            self.notice(RelayNotice::Failed { exchange: exchange.0, words });
        }
        let url = self.behaviour.url.clone();
        let mut over = passage.over(&end, &url);
        // A server may quote the keys in a request.
        over.reported.iter_mut().for_each(|words| redactor.string(words));
        let violations = over.stream.iter_mut().flat_map(|stream| &mut stream.violations);
        violations.for_each(|violation| redactor.string(&mut violation.message));
        let status = over.status;
        if let Some(rule) = over.refused {
            self.log.let_through(rule, status);
            self.notice(RelayNotice::LetThrough { exchange: exchange.0, status });
        }
        if let Some(words) = over.reported {
            self.log.reported(status);
            self.notice(RelayNotice::Reported { exchange: exchange.0, status, words });
        }
        self.log.requests.answered(exchange, status);
        if let Some(report) = &over.stream {
            let broken = report.error();
            self.log.streamed(exchange, report);
            if let Some(violation) = broken {
                self.notice(RelayNotice::Stream {
                    exchange: exchange.0,
                    rule: violation.rule.id,
                    place: violation.place.to_string(),
                    message: violation.message.clone(),
                });
            }
        }
        over.row
    }

    fn notice(&mut self, notice: RelayNotice) {
        if self.notices.len() < MAX_NOTICES {
            self.notices.push_back(notice);
        }
    }

    /// An answer that the relay gives instead of the server.
    fn own(&self, exchange: ExchangeId) -> OwnVoice {
        OwnVoice { seed: self.behaviour.seed, exchange }
    }
}

#[cfg(test)]
mod tests;
