//! A strict provider without a plan. Any program may send it requests, in every dialect, and the harness does
//! not drive that program.
//!
//! It is the plan provider with a different source of replies. The dialect follows from the path; the profile
//! follows from the path, the options, or the model. It checks each request against the rules. It rejects a
//! request that breaks one with the real provider's message. Otherwise it answers from a scenario or with an
//! improvised reply, and may inject a fault.
//!
//! It accepts replies in a history that it never sent, so a program may continue a thread that it began
//! elsewhere.

pub(crate) mod address;
pub(crate) mod faults;
pub(crate) mod log;
pub(crate) mod numbers;
mod order;
pub(crate) mod own;
mod reply;
mod runs;
mod sent;
mod stop;
mod tape;

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use serde_json::{Value, json};

pub use address::{Basis, Strictness, asks_other_dialect};
pub use faults::{Due, FaultKind, Faults};
pub use log::{Choice, Exchange, FaultRecord, Faulted, Followed, Log, Refusals, Requests, Unanswered};
pub use order::{Order, OrderRecord, Ordered};
pub use runs::{CutReply, Loss, Runs};
pub use sent::Sent;
pub use stop::{NoPoint, ProgramEnd, ProgramStop, ReplyPoint};

use crate::improvise::Manner;
use crate::provider::voice::ReplyTerms;
use crate::provider::{Answer, Request, conversation};
use address::{Addressed, addressed};
use brickbat_rules::dialect::Dialect;
use brickbat_rules::json::Document;
use brickbat_rules::{self as rules, Memory, Profile, Violation};
use brickbat_scenario::history::{Content, History};
use brickbat_scenario::plan::Plan;
use brickbat_scenario::trace::{Confidence, Ending, Event, ExchangeId, Held, RequestKind};
use brickbat_scenario::wire;
use numbers::ReplyNumbers;
use order::Orders;
use own::{OWN, OwnVoice};
use reply::Accepted;
use sent::SentHistories;
use tape::Tape;

/// The settings of the provider.
#[derive(Debug, Clone)]
pub struct Behaviour {
    /// The rules for requests, as far as the user specifies them.
    pub strictness: Strictness,
    /// The source of improvised replies.
    pub manner: Manner,
    /// A scenario's plans, one for each dialect. Replies in other dialects are improvised.
    pub scripted: Vec<Plan>,
    /// The token count that each reply reports for its request; `None` derives it from the size of the body.
    pub usage: Option<u64>,
    /// Faults in improvised replies.
    pub faults: Option<Faults>,
    /// The points at which the program is stopped or killed.
    pub stops: Vec<ProgramStop>,
}

impl Behaviour {
    /// A provider that improvises every reply and disturbs none.
    pub fn improvised(manner: Manner) -> Behaviour {
        Behaviour {
            strictness: Strictness::default(),
            manner,
            scripted: Vec::new(),
            usage: None,
            faults: None,
            stops: Vec::new(),
        }
    }
}

/// An event to report to the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// The profile that applies to requests to a path from now on.
    Chosen(Choice),
    /// A rejected request.
    Refused {
        /// The number of the exchange.
        exchange: u32,
        /// The name of the profile.
        profile: &'static str,
        /// The id of the rule.
        rule: &'static str,
        /// The location in the body, as a JSON pointer.
        pointer: String,
        /// The HTTP status.
        status: u16,
        /// The provider's error message.
        message: String,
        /// The history in the request, on one line.
        shape: String,
    },
    /// A request to a path that does not exist here.
    Unspoken {
        /// The method.
        method: String,
        /// The path.
        path: String,
    },
    /// A request that could not be read, for a reason that is not the program's fault.
    Unreadable(String),
    /// A fault that happened, or a reached point at which the program is ended.
    Delivered {
        /// The number of the exchange.
        exchange: u32,
        /// The fault or the end, and its position.
        words: String,
        /// The confidence of the receipt.
        grade: Confidence,
    },
}

impl Notice {
    pub(crate) fn refused(
        exchange: ExchangeId,
        profile: &'static Profile,
        refusal: &Violation,
        shape: &str,
    ) -> Notice {
        Notice::Refused {
            exchange: exchange.0,
            profile: profile.name,
            rule: refusal.rule.id,
            pointer: refusal.pointer.clone(),
            status: refusal.status(),
            message: refusal.message.clone(),
            shape: shape.to_owned(),
        }
    }
}

/// The next step for a held reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Do nothing.
    Nothing,
    /// Let the reply continue.
    Release(ExchangeId),
    /// Let the reply continue after a silence.
    ReleaseLater(ExchangeId),
    /// End the program after this time, then let the reply continue.
    EndProgram(ExchangeId, ProgramEnd, Duration),
}

/// The state of a strict provider without a plan.
#[derive(Debug)]
pub struct Standalone {
    behaviour: Behaviour,
    tapes: Vec<Tape>,
    memories: BTreeMap<Dialect, Memory>,
    n_exchanges: u32,
    numbers: ReplyNumbers,
    open: BTreeMap<ExchangeId, Open>,
    /// The last fault of each dialect, until the next request in it. A client may retry before it is known
    /// that the fault was delivered.
    unfollowed: BTreeMap<Dialect, ExchangeId>,
    orders: Orders,
    /// The reply after which the program is ended while its tools run.
    ended_after: Option<(ExchangeId, ProgramEnd, Duration)>,
    runs: Runs,
    /// The histories of requests, if a test asks for them.
    sent: Option<SentHistories>,
    log: Log,
    notices: VecDeque<Notice>,
}

/// The planned events in a reply that is being sent.
#[derive(Debug)]
struct Open {
    fault: Option<Ending>,
    stalls: bool,
    end: Option<(Held, ProgramEnd)>,
    grade: Option<Confidence>,
}

/// The maximum number of notices that wait to be printed.
const MAX_NOTICES: usize = 1000;

impl Standalone {
    /// Creates a provider that has not sent any reply yet.
    pub fn new(mut behaviour: Behaviour) -> Standalone {
        let tapes = std::mem::take(&mut behaviour.scripted).into_iter().map(Tape::of).collect();
        Standalone {
            behaviour,
            tapes,
            memories: BTreeMap::new(),
            n_exchanges: 0,
            numbers: ReplyNumbers::default(),
            open: BTreeMap::new(),
            unfollowed: BTreeMap::new(),
            orders: Orders::default(),
            ended_after: None,
            runs: Runs::default(),
            sent: None,
            log: Log::default(),
            notices: VecDeque::new(),
        }
    }

    /// The counts and records so far.
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// Begins a run of the program. The user's message in it is one of these texts, if a request contains it.
    pub fn begin_run(&mut self, texts: Vec<String>) {
        self.runs.begin(texts);
    }

    /// The runs of the program, with the contents of their threads.
    pub fn runs(&self) -> &Runs {
        &self.runs
    }

    /// Keeps the histories of the last requests from now on.
    pub fn keep_histories(&mut self) {
        self.sent.get_or_insert_default();
    }

    /// The kept histories, the earliest first.
    pub fn histories(&self) -> impl Iterator<Item = &Sent> {
        self.sent.iter().flat_map(SentHistories::iter)
    }

    /// Takes the notices that are not yet printed.
    pub fn take_notices(&mut self) -> Vec<Notice> {
        self.notices.drain(..).collect()
    }

    /// Removes the points at which the program is ended, because another program is running, or none.
    pub fn end_program_no_more(&mut self) {
        self.behaviour.stops.clear();
        self.ended_after = None;
    }

    /// Orders a stop or a fault in a future reply, counted from now. Returns the number of the order. At a
    /// stop the reply is held, as if the program were interrupted there.
    pub fn place(&mut self, order: Order) -> Result<usize, NoPoint> {
        self.orders.place(order, self.numbers.last)
    }

    /// The number of the order that is carried out in an exchange.
    pub fn order_of(&self, exchange: ExchangeId) -> Option<usize> {
        self.orders.of_exchange(exchange)
    }

    /// The outcome of each order.
    pub fn order_records(&self) -> Vec<OrderRecord> {
        let record = |(order, exchange): (&Order, Option<ExchangeId>)| {
            let exchange = exchange.map(|exchange| exchange.0);
            let fault = self.log.fault_records().find(|fault| Some(fault.exchange) == exchange);
            OrderRecord {
                words: order.to_string(),
                exchange,
                receipt: fault.and_then(|fault| fault.receipt),
                then: fault.and_then(|fault| fault.then),
            }
        };
        self.orders.iter().map(record).collect()
    }

    /// Answers a request.
    pub fn answer(&mut self, request: Request<'_>) -> (RequestKind, Answer) {
        let exchange = ExchangeId(self.n_exchanges);
        self.n_exchanges = self.n_exchanges.saturating_add(1);
        if let Some(own) = request.path.strip_prefix(OWN) {
            let answer = self.own(exchange).report(own, &self.log, &self.log);
            return (RequestKind::Auxiliary, answer);
        }
        let strictness = self.behaviour.strictness.clone();
        match addressed(&strictness, request.method, request.path, request.body) {
            Some(addressed) => self.exchange(exchange, request, &addressed.at_version_of(request.headers)),
            None => (RequestKind::Auxiliary, self.beside(exchange, request)),
        }
    }

    /// Takes in an event of an answer.
    pub fn observed(&mut self, event: &Event) -> Next {
        match *event {
            Event::Held { exchange, at, grade } => self.held(exchange, at, grade),
            Event::Replied { exchange, ending } => {
                if let Some(open) = self.open.remove(&exchange)
                    && open.fault == Some(ending)
                {
                    // A fault that replaces the complete answer has no place inside at which to hold.
                    self.delivered(exchange, open.grade.unwrap_or(Confidence::Written));
                }
                match self.ended_after.take_if(|(own, ..)| *own == exchange) {
                    Some((_, end, later)) if ending == Ending::Complete => {
                        self.delivered(exchange, Confidence::Written);
                        Next::EndProgram(exchange, end, later)
                    }
                    _ => Next::Nothing,
                }
            }
            Event::PeerClosed { exchange } => {
                self.open.remove(&exchange);
                Next::Nothing
            }
            _ => Next::Nothing,
        }
    }

    fn held(&mut self, exchange: ExchangeId, at: Held, grade: Confidence) -> Next {
        let Some(open) = self.open.get_mut(&exchange) else { return Next::Release(exchange) };
        open.grade = Some(grade);
        let (end, stalls) = (open.end, open.stalls);
        if let Some((_, end)) = end.filter(|(place, _)| *place == at) {
            self.delivered(exchange, grade);
            return Next::EndProgram(exchange, end, Duration::ZERO);
        }
        if stalls {
            self.delivered(exchange, grade);
            return Next::ReleaseLater(exchange);
        }
        Next::Release(exchange)
    }

    fn delivered(&mut self, exchange: ExchangeId, grade: Confidence) {
        if let Some(words) = self.log.delivered(exchange, grade) {
            self.notice(Notice::Delivered { exchange: exchange.0, words, grade });
        }
    }

    fn notice(&mut self, notice: Notice) {
        if self.notices.len() < MAX_NOTICES {
            self.notices.push_back(notice);
        }
    }

    fn exchange(
        &mut self,
        exchange: ExchangeId,
        request: Request<'_>,
        addressed: &Addressed<'_>,
    ) -> (RequestKind, Answer) {
        let Addressed { profile, basis, ref route } = *addressed;
        let dialect = profile.dialect;
        if let Some(choice) = self.log.chosen(request.path, profile, basis) {
            self.notice(Notice::Chosen(choice));
        }
        if let Some(coding) = coding(request) {
            self.notice(Notice::Unreadable(format!(
                "{} {}: content-encoding {coding} is not read here",
                request.method, request.path
            )));
            return (RequestKind::Auxiliary, self.own(exchange).status(dialect, 415));
        }
        let model = self.behaviour.strictness.model.clone();
        let read = profile.readable(request.body);
        let named = rules::naming(&read, model.as_deref());
        let document = Document::parse(&named);
        let asked_model = model.as_deref().or(route.model.as_deref());
        let memory = self.memories.entry(dialect).or_default();
        let violations = rules::validate_asking(profile, memory, asked_model, &named, &document);
        let document = document.unwrap_or_default();
        let body = document.root();
        let history = conversation(dialect, memory, body);
        self.log.results(dialect, &history);
        if let Some(sent) = &mut self.sent {
            sent.keep(exchange.0, history.clone(), request.body.len());
        }
        if wire::of(dialect).offers_tools(body) {
            self.log.offered(wire::offered_tools(dialect, body));
            self.runs.request(&history);
        }
        let terms = ReplyTerms::of(wire::of(dialect), route, body);
        self.log.streamed += u64::from(terms.streamed);
        let refusal = rules::refusal(&violations);
        let mut entry = Exchange::of(exchange, profile, &terms.model, shape(&history), refusal);
        if let Some(refusal) = refusal {
            self.follow(dialect, Followed::Refused(refusal.rule.id));
            self.log.refused(exchange, profile, refusal);
            self.notice(Notice::refused(exchange, profile, refusal, &entry.shape));
            self.log.exchange(entry);
            let answer = self.own(exchange).say(dialect, |voice| voice.refuse(refusal));
            return (RequestKind::Refused { status: refusal.status() }, answer);
        }
        self.follow(dialect, Followed::Accepted);
        let accepted = Accepted { exchange, dialect, terms: &terms, body, history: &history };
        let (kind, answer, fault) = self.reply(&accepted, request.body.len());
        entry.status = answer.status;
        entry.fault = fault;
        self.log.exchange(entry);
        (kind, answer)
    }

    fn follow(&mut self, dialect: Dialect, by: Followed) {
        if let Some(fault) = self.unfollowed.remove(&dialect) {
            self.log.followed(fault, by);
        }
    }

    /// Answers a request for anything other than a reply.
    fn beside(&mut self, exchange: ExchangeId, request: Request<'_>) -> Answer {
        for (dialect, path) in address::beside(request.path) {
            let Some(body) = wire::of(dialect).side_answer(request.method, &path, request.body) else {
                continue;
            };
            self.log.beside(dialect);
            return self.own(exchange).say(dialect, |voice| voice.whole(200, &body));
        }
        let is_greeting = matches!(request.method, "GET" | "HEAD") && request.path == "/";
        if is_greeting {
            return self.own(exchange).say(Dialect::ALL[0], |voice| voice.whole(200, &greeting()));
        }
        if self.log.unspoken(request.method, request.path) {
            let (method, path) = (request.method.to_owned(), request.path.to_owned());
            self.notice(Notice::Unspoken { method, path });
        }
        let dialect = address::split(request.path).0.map_or(Dialect::ALL[0], |profile| profile.dialect);
        self.own(exchange).status(dialect, 404)
    }

    /// An answer that does not come from the model.
    fn own(&self, exchange: ExchangeId) -> OwnVoice {
        OwnVoice { seed: self.behaviour.manner.seed, exchange }
    }
}

/// The page for a browser.
fn greeting() -> Value {
    let dialects: Vec<&str> = Dialect::ALL.into_iter().map(Dialect::name).collect();
    json!({
        "brickbat": "a strict provider",
        "dialects": dialects,
        "state": format!("{OWN}state"),
        "journal": format!("{OWN}journal"),
    })
}

/// The compression of a body, if it is compressed.
pub(crate) fn coding(request: Request<'_>) -> Option<String> {
    let coding = request.headers.named("content-encoding")?;
    (!coding.is_empty() && !coding.eq_ignore_ascii_case("identity")).then(|| coding.into_owned())
}

/// The history on one line. Calls are named by letters, in the order in which they occur.
pub(crate) fn shape(history: &History) -> String {
    let mut ids: Vec<&str> = Vec::new();
    for item in &history.items {
        if let Content::Call { id, .. } | Content::Result { id, .. } = &item.content
            && ids.len() < N_LETTERS
            && !ids.contains(&id.as_str())
        {
            ids.push(id);
        }
    }
    let letter = |at: usize| char::from(b'a' + u8::try_from(at).unwrap_or_default()).to_string();
    history.shape(|id| ids.iter().position(|own| *own == id).map_or_else(|| "?".to_owned(), letter))
}

/// The number of calls with their own letter in a shape.
const N_LETTERS: usize = 26;

#[cfg(test)]
mod tests;
