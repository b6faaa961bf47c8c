//! One answer on its way through the relay: bytes of the server in, steps out.

use std::sync::Arc;

use serde_json::{Value, json};

use super::pieces::{Cut, Pieces};
use super::place::{Reached, Whereabouts};
use super::said::Said;
use super::spoil::{At, Planned};
use crate::standalone::FaultKind;
use brickbat_rules::Profile;
use brickbat_rules::dialect::Dialect;
use brickbat_rules::redact::Redactor;
use brickbat_rules::streams::{Linter, StreamReport, StreamStrictness};
use brickbat_scenario::action::ErrorKind;
use brickbat_scenario::plan::Side;
use brickbat_scenario::point::Point;
use brickbat_scenario::trace::{Ending, ExchangeId};
use brickbat_scenario::wire::{self, Decoder, ReplyEvent};

/// A step in passing on an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Send the head.
    Head,
    /// Send these bytes.
    Send(Vec<u8>),
    /// Send nothing for a while, once the client has read everything.
    Stall,
    /// End the answer this way once the client has read everything, and disconnect from the server.
    End(Ending),
}

/// The end of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PassageEnd {
    /// The server ended it.
    Whole,
    /// A fault ended it.
    Spoilt,
    /// The client disconnected.
    ClientGone,
    /// The server broke off, with this error.
    BrokeOff(String),
    /// The server did not answer, with this error.
    Failed(String),
}

/// A request that is passed on.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) exchange: ExchangeId,
    pub(super) dialect: Dialect,
    pub(super) streamed: bool,
    pub(super) model: String,
    pub(super) path: String,
    /// The version of the provider's API, from the header.
    pub(super) version: Option<String>,
    pub(super) strictness: StreamStrictness,
    /// The body, if it is recorded.
    pub(super) request: Vec<u8>,
    /// The rule that it breaks, and where.
    pub(super) refusal: Option<(&'static str, String)>,
}

impl Asked {
    /// The row of a request with the status of its answer. `None` if it is not recorded, or is not a JSON
    /// object.
    fn row(&self, status: u16, url: &str) -> Option<Value> {
        let request: Value = serde_json::from_slice(&self.request).ok().filter(Value::is_object)?;
        let mut row = json!({
            "exchange": self.exchange.0,
            "url": format!("{url}{}", self.path),
            "dialect": self.dialect.name(),
            "model": self.model,
            "status": status,
            "request": request,
        });
        if let Some(version) = &self.version {
            row["headers"] = json!({ Profile::VERSION_HEADER: version });
        }
        if let Some((rule, pointer)) = &self.refusal {
            row["breaks"] = json!({ "rule": rule, "at": pointer });
        }
        Some(row)
    }

    /// The row of a request that the relay rejected. The message is not the server's.
    pub(super) fn refused_row(&self, status: u16, message: &str, url: &str) -> Option<Value> {
        let mut row = self.row(status, url)?;
        row["by"] = Value::from("brickbat");
        row["error"] = Value::from(message);
        Some(row)
    }
}

/// An answer on its way to the client.
#[derive(Debug)]
pub struct Passage {
    exchange: ExchangeId,
    /// The request, if it was understood.
    asked: Option<Asked>,
    planned: Option<Planned>,
    status: u16,
    linter: Option<Linter>,
    reader: Reader,
    said: Said,
    whereabouts: Whereabouts,
    /// The beginning of the stream, from which an injected error takes its format.
    sent: Vec<u8>,
    /// Removes secrets from the server's text.
    redactor: Arc<Redactor>,
}

/// The reader of an answer's bytes.
#[derive(Debug)]
enum Reader {
    /// Reads nothing.
    Nothing,
    /// Reads a stream; splits it into events while a fault is still to be injected.
    Stream(Decoder, Option<Pieces>),
    /// Collects one body.
    Whole(Vec<u8>),
}

/// The maximum number of bytes kept of a non-streamed body until it can be read.
const MAX_WHOLE: usize = 32 << 20;

/// The same limit for an error. Providers' errors have a few hundred bytes.
const MAX_ERROR: usize = 64 << 10;

/// The outcome of an answer.
#[derive(Debug)]
pub(super) struct Over {
    pub(super) status: u16,
    /// The rule that the request breaks, if it was let through.
    pub(super) refused: Option<&'static str>,
    /// The server's error message.
    pub(super) reported: Option<String>,
    pub(super) stream: Option<StreamReport>,
    pub(super) row: Option<Value>,
}

impl Passage {
    /// An answer to a request that is not understood.
    pub(super) fn unread(exchange: ExchangeId) -> Passage {
        Passage {
            exchange,
            asked: None,
            planned: None,
            status: 0,
            linter: None,
            reader: Reader::Nothing,
            said: Said::default(),
            whereabouts: Whereabouts::default(),
            sent: Vec::new(),
            redactor: Arc::default(),
        }
    }

    /// The same passage with this redactor, which cleans the server's text before it is kept or reported.
    #[must_use]
    pub fn cleaned_by(self, redactor: Arc<Redactor>) -> Passage {
        Passage { redactor, ..self }
    }

    /// The redactor for the server's text.
    pub fn redactor(&self) -> Arc<Redactor> {
        self.redactor.clone()
    }

    pub(super) fn of(asked: Asked, planned: Option<Planned>) -> Passage {
        let exchange = asked.exchange;
        Passage { asked: Some(asked), planned, ..Passage::unread(exchange) }
    }

    /// The number of the exchange.
    pub fn exchange(&self) -> ExchangeId {
        self.exchange
    }

    /// Takes the head of the server's answer. `coding` is the compression of its body.
    pub fn head(&mut self, status: u16, content_type: &str, coding: Option<&str>) -> Vec<Step> {
        self.status = status;
        let is_success = (200..300).contains(&status);
        let is_packed = coding.is_some_and(|coding| !coding.eq_ignore_ascii_case("identity"));
        if let Some(asked) = self.asked.as_ref().filter(|_| !is_packed) {
            let is_frames = content_type.starts_with("application/vnd.amazon.eventstream");
            let is_events = content_type.starts_with("text/event-stream") || is_frames;
            let is_array = asked.streamed && asked.dialect.may_stream_array() && !is_events;
            if is_success && (is_events || is_array) {
                self.linter = Some(Linter::with(asked.strictness));
            }
            self.reader = match is_success && is_events {
                true => {
                    let cut = if is_frames { Cut::Frames } else { Cut::Lines };
                    let pieces = self.planned.is_some().then(|| Pieces::new(cut));
                    Reader::Stream(Decoder::new(asked.dialect), pieces)
                }
                // A reply in one piece is only recorded.
                false if is_success && asked.request.is_empty() => Reader::Nothing,
                false => Reader::Whole(Vec::new()),
            };
        }
        if !is_success || is_packed {
            // An answer that fails already needs no fault, and one that is not understood has no points.
            self.planned = None;
        }
        if !matches!(self.reader, Reader::Stream(..)) {
            // Only a stream has events.
            self.planned.take_if(|planned| matches!(planned.kind, FaultKind::Error | FaultKind::EndEarly));
        }
        match self.planned.take() {
            Some(Planned { kind, at: At::Point(Side::Before, Point::Headers) })
                if matches!(kind, FaultKind::Eof | FaultKind::Reset | FaultKind::Stall) =>
            {
                let mut steps = act(kind, Vec::new());
                if kind == FaultKind::Stall {
                    steps.push(Step::Head);
                }
                steps
            }
            Some(Planned { kind, at: At::Point(_, Point::Headers) | At::Pieces(0) }) => {
                let error = self.error(kind);
                [vec![Step::Head], act(kind, error)].concat()
            }
            planned => {
                self.planned = planned;
                vec![Step::Head]
            }
        }
    }

    /// Takes bytes of the body.
    pub fn body(&mut self, bytes: &[u8]) -> Vec<Step> {
        if let Some(linter) = &mut self.linter {
            linter.feed(bytes);
        }
        match &mut self.reader {
            Reader::Nothing => {}
            Reader::Whole(body) => {
                let max = if self.status >= 400 { MAX_ERROR } else { MAX_WHOLE };
                if body.len() + bytes.len() <= max {
                    body.extend_from_slice(bytes);
                }
            }
            Reader::Stream(_, Some(pieces)) => {
                let events = pieces.take(bytes);
                return self.events(events);
            }
            Reader::Stream(decoder, None) => {
                let said = &mut self.said;
                decoder.feed(bytes, |event| said.take(&event));
            }
        }
        vec![Step::Send(bytes.to_vec())]
    }

    /// Handles the end of the server's answer: sends the bytes that were held back.
    pub fn rest(&mut self) -> Vec<Step> {
        match &mut self.reader {
            Reader::Stream(_, Some(pieces)) => {
                let rest = pieces.rest();
                if rest.is_empty() { Vec::new() } else { vec![Step::Send(rest)] }
            }
            _ => Vec::new(),
        }
    }

    /// Passes complete events on, up to the point of the planned fault.
    fn events(&mut self, events: Vec<Vec<u8>>) -> Vec<Step> {
        let mut steps = Vec::new();
        let mut events = events.into_iter();
        while let Some(event) = events.next() {
            let mut said = Vec::new();
            if let Reader::Stream(decoder, _) = &mut self.reader {
                decoder.feed(&event, |event| said.push(event));
            }
            said.iter().for_each(|event| self.said.take(event));
            let reached = self.whereabouts.take(&said);
            let Some((planned, side)) = self.due(&said, &reached) else {
                self.keep(&event);
                steps.push(Step::Send(event));
                continue;
            };
            if side == Side::After {
                self.keep(&event);
                steps.push(Step::Send(event.clone()));
            }
            let error = self.error(planned);
            steps.extend(act(planned, error));
            self.planned = None;
            if planned == FaultKind::Stall {
                // From here on, everything passes unchanged.
                if side == Side::Before {
                    steps.push(Step::Send(event));
                }
                let mut rest: Vec<u8> = events.flatten().collect();
                if let Reader::Stream(decoder, pieces) = &mut self.reader {
                    if let Some(mut pieces) = pieces.take() {
                        rest.extend(pieces.rest());
                    }
                    let said = &mut self.said;
                    decoder.feed(&rest, |event| said.take(&event));
                }
                steps.push(Step::Send(rest));
            }
            return steps;
        }
        steps
    }

    /// The fault that is due before or after an event that reaches these points.
    fn due(&self, said: &[ReplyEvent], reached: &[Reached]) -> Option<(FaultKind, Side)> {
        let planned = self.planned.as_ref()?;
        match &planned.at {
            At::Point(side, point) => {
                let found = reached.iter().find(|reached| reached.point == *point)?;
                let side = if found.was_before { Side::Before } else { *side };
                Some((planned.kind, side))
            }
            At::Pieces(n) => {
                let is_end = |event: &ReplyEvent| matches!(event, ReplyEvent::Stop(_) | ReplyEvent::End);
                if said.iter().any(is_end) {
                    return Some((planned.kind, Side::Before));
                }
                (self.whereabouts.n_pieces >= *n).then_some((planned.kind, Side::After))
            }
        }
    }

    /// Keeps a copy of the sent events if the stream is to end with an error.
    fn keep(&mut self, event: &[u8]) {
        if self.planned.as_ref().is_some_and(|planned| planned.kind == FaultKind::Error) {
            self.sent.extend_from_slice(event);
        }
    }

    /// The error that a fault adds to the stream.
    fn error(&self, kind: FaultKind) -> Vec<u8> {
        match (kind, &self.asked) {
            (FaultKind::Error, Some(asked)) => {
                wire::of(asked.dialect).error_frame(ErrorKind::Overloaded, &self.sent)
            }
            _ => Vec::new(),
        }
    }

    pub(super) fn over(mut self, end: &PassageEnd, url: &str) -> Over {
        let is_told = matches!(end, PassageEnd::Whole | PassageEnd::BrokeOff(_));
        let mut answer = Value::Null;
        if let (Reader::Whole(body), Some(asked)) = (&self.reader, &self.asked) {
            if self.status >= 400 {
                answer = serde_json::from_slice(body)
                    .unwrap_or_else(|_| Value::from(String::from_utf8_lossy(body).into_owned()));
                self.said.error = Some(words_of(&answer));
            } else if self.linter.is_none() && matches!(end, PassageEnd::Whole) {
                let said = &mut self.said;
                wire::decode_whole(asked.dialect, body, |event| said.take(&event));
            }
        }
        let status = if matches!(end, PassageEnd::Failed(_)) { 502 } else { self.status };
        let stream = self.linter.take().filter(|_| is_told).map(Linter::finish);
        let row = self.row(end, &answer, url);
        let refused = self.asked.as_ref().and_then(|asked| asked.refusal.as_ref()).map(|(rule, _)| *rule);
        Over {
            status,
            refused: refused.filter(|_| is_told),
            reported: self.said.error.take().filter(|_| is_told),
            stream,
            row,
        }
    }

    /// The row of a recording: a request that the server has answered, with the answer.
    fn row(&self, end: &PassageEnd, answer: &Value, url: &str) -> Option<Value> {
        if matches!(end, PassageEnd::Failed(_)) || self.status == 0 {
            return None;
        }
        let mut row = self.asked.as_ref()?.row(self.status, url)?;
        if !answer.is_null() {
            row["error"] = answer.clone();
        }
        if let Some(reply) = self.said.blocks() {
            row["reply"] = reply;
        }
        row["ended"] = Value::from(match end {
            PassageEnd::Whole => "whole",
            PassageEnd::Spoilt => "spoilt",
            PassageEnd::ClientGone => "client-gone",
            PassageEnd::BrokeOff(_) | PassageEnd::Failed(_) => "broke-off",
        });
        Some(row)
    }
}

/// The steps that carry out a fault.
fn act(kind: FaultKind, error: Vec<u8>) -> Vec<Step> {
    match kind {
        FaultKind::Stall => vec![Step::Stall],
        FaultKind::Eof => vec![Step::End(Ending::Eof)],
        FaultKind::Reset => vec![Step::End(Ending::Reset)],
        FaultKind::EndEarly => vec![Step::End(Ending::EndEarly)],
        // An HTTP error instead of the reply is sent without asking the server.
        FaultKind::Error | FaultKind::Overloaded | FaultKind::RateLimit => {
            vec![Step::Send(error), Step::End(Ending::ErrorEvent)]
        }
    }
}

/// The message of an error body, in any envelope.
fn words_of(answer: &Value) -> String {
    let places = ["/error/message", "/message", "/detail", "/error"];
    let found = places.iter().find_map(|place| answer.pointer(place)?.as_str());
    match (found, answer) {
        (Some(words), _) => words.to_owned(),
        (None, Value::String(text)) => text.clone(),
        (None, other) => other.to_string(),
    }
}
