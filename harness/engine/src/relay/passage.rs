//! One answer on its way through: bytes of the server in, steps out.

use std::sync::Arc;

use serde_json::{Value, json};

use super::pieces::{Cut, Pieces};
use super::place::{Reached, Whereabouts};
use super::said::Said;
use super::spoil::{At, Planned};
use crate::standalone::FaultKind;
use brickbat_rules::dialect::Dialect;
use brickbat_rules::redact::Redactor;
use brickbat_rules::streams::{Linter, StreamReport, StreamStrictness};
use brickbat_scenario::action::ErrorKind;
use brickbat_scenario::plan::Side;
use brickbat_scenario::point::Point;
use brickbat_scenario::trace::{Ending, ExchangeId};
use brickbat_scenario::wire::{self, Decoder, ReplyEvent};

/// What is to be done with an answer, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// The head is sent.
    Head,
    /// These bytes are sent.
    Send(Vec<u8>),
    /// Once the client has read everything, there is a silence.
    Stall,
    /// Once the client has read everything, the answer ends so, and the server is hung up on.
    End(Ending),
}

/// How an answer ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PassageEnd {
    /// As the server ended it.
    Whole,
    /// By a fault.
    Spoilt,
    /// The client went away.
    ClientGone,
    /// The server broke off, in these words.
    BrokeOff(String),
    /// The server gave no answer, in these words.
    Failed(String),
}

/// A request that goes on.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) exchange: ExchangeId,
    pub(super) dialect: Dialect,
    pub(super) streamed: bool,
    pub(super) model: String,
    pub(super) path: String,
    pub(super) strictness: StreamStrictness,
    /// The body, if it is recorded.
    pub(super) request: Vec<u8>,
    /// The rule that it breaks, and where.
    pub(super) refusal: Option<(&'static str, String)>,
}

impl Asked {
    /// The row of a request with the status of its answer; nothing if it is not recorded, or no JSON object.
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
        if let Some((rule, pointer)) = &self.refusal {
            row["breaks"] = json!({ "rule": rule, "at": pointer });
        }
        Some(row)
    }

    /// The row of a request that was refused here: what it says is no word of the server.
    pub(super) fn refused_row(&self, status: u16, message: &str, url: &str) -> Option<Value> {
        let mut row = self.row(status, url)?;
        row["by"] = Value::from("brickbat");
        row["error"] = Value::from(message);
        Some(row)
    }
}

/// An answer on its way.
#[derive(Debug)]
pub struct Passage {
    exchange: ExchangeId,
    /// What was asked, where that is understood.
    asked: Option<Asked>,
    planned: Option<Planned>,
    status: u16,
    linter: Option<Linter>,
    reader: Reader,
    said: Said,
    whereabouts: Whereabouts,
    /// The beginning of the stream, which the error inside it is made to fit.
    sent: Vec<u8>,
    /// What takes out of the server's words what must not be kept.
    redactor: Arc<Redactor>,
}

/// How what comes is read.
#[derive(Debug)]
enum Reader {
    /// Not at all.
    Nothing,
    /// As a stream; in pieces as long as it is to be spoilt.
    Stream(Decoder, Option<Pieces>),
    /// As one body, so far.
    Whole(Vec<u8>),
}

/// Bytes of a body in one piece that are kept until it can be read.
const MAX_WHOLE: usize = 32 << 20;

/// The same of an error. Those of providers have some hundred bytes.
const MAX_ERROR: usize = 64 << 10;

/// What came of an answer.
#[derive(Debug)]
pub(super) struct Over {
    pub(super) status: u16,
    /// The rule that the request breaks, which was let through.
    pub(super) refused: Option<&'static str>,
    /// The server's error, in its words.
    pub(super) reported: Option<String>,
    pub(super) stream: Option<StreamReport>,
    pub(super) row: Option<Value>,
}

impl Passage {
    /// An answer to something that is not understood.
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

    /// The same, with what is taken out of the server's words before they are kept or told.
    #[must_use]
    pub fn cleaned_by(self, redactor: Arc<Redactor>) -> Passage {
        Passage { redactor, ..self }
    }

    /// What takes out of the server's words what must not be kept.
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

    /// The server has begun to answer. `coding` is how its body is packed.
    pub fn head(&mut self, status: u16, content_type: &str, coding: Option<&str>) -> Vec<Step> {
        self.status = status;
        let is_success = (200..300).contains(&status);
        let is_packed = coding.is_some_and(|coding| !coding.eq_ignore_ascii_case("identity"));
        if let Some(asked) = self.asked.as_ref().filter(|_| !is_packed) {
            let is_frames = content_type.starts_with("application/vnd.amazon.eventstream");
            let is_events = content_type.starts_with("text/event-stream") || is_frames;
            // Gemini streams an array where the client does not ask for events.
            let is_array = asked.streamed && asked.dialect == Dialect::Gemini && !is_events;
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
            // What goes wrong already need not be made to, and what is not understood has no points.
            self.planned = None;
        }
        if !matches!(self.reader, Reader::Stream(..)) {
            // What is no stream has no events.
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

    /// The server has sent everything: what was held back is sent.
    pub fn rest(&mut self) -> Vec<Step> {
        match &mut self.reader {
            Reader::Stream(_, Some(pieces)) => {
                let rest = pieces.rest();
                if rest.is_empty() { Vec::new() } else { vec![Step::Send(rest)] }
            }
            _ => Vec::new(),
        }
    }

    /// Passes whole events on, up to the point at which something is to happen.
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
                // Everything goes its way from here on.
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

    /// What is to happen before or after an event that reaches these points.
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

    /// Keeps what was sent of a stream that is to end with an error.
    fn keep(&mut self, event: &[u8]) {
        if self.planned.as_ref().is_some_and(|planned| planned.kind == FaultKind::Error) {
            self.sent.extend_from_slice(event);
        }
    }

    /// The error inside the stream that a fault adds.
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

    /// The row of a recording: a request that the server has answered, with what it said.
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

/// The steps of a fault.
fn act(kind: FaultKind, error: Vec<u8>) -> Vec<Step> {
    match kind {
        FaultKind::Stall => vec![Step::Stall],
        FaultKind::Eof => vec![Step::End(Ending::Eof)],
        FaultKind::Reset => vec![Step::End(Ending::Reset)],
        FaultKind::EndEarly => vec![Step::End(Ending::EndEarly)],
        // An HTTP error in place of the reply is answered without asking the server.
        FaultKind::Error | FaultKind::Overloaded | FaultKind::RateLimit => {
            vec![Step::Send(error), Step::End(Ending::ErrorEvent)]
        }
    }
}

/// The sentence of an error body, whichever envelope it has.
fn words_of(answer: &Value) -> String {
    let places = ["/error/message", "/message", "/detail", "/error"];
    let found = places.iter().find_map(|place| answer.pointer(place)?.as_str());
    match (found, answer) {
        (Some(words), _) => words.to_owned(),
        (None, Value::String(text)) => text.clone(),
        (None, other) => other.to_string(),
    }
}
