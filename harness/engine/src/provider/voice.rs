//! Encodes a provider's replies and errors as answers, with frames, holds and an ending.

use serde_json::Value;

use super::answer::{Answer, Hold, RETRY_AFTER_MS, Request, Sent};
use brickbat_rules::Violation;
use brickbat_rules::dialect::Dialect;
use brickbat_rules::json::Json;
use brickbat_scenario::action::{Action, HttpFault};
use brickbat_scenario::plan::{Mark, Plan, PlannedAction, PlannedPoint, Script, Side};
use brickbat_scenario::trace::{Ending, ExchangeId, Held};
use brickbat_scenario::wire::{self, Encoded, Envelope, Route, Tokens, Wire};

/// The terms of a request, wherever its dialect puts them.
#[derive(Debug, Clone)]
pub(crate) struct ReplyTerms {
    pub(crate) streamed: bool,
    pub(crate) model: String,
    /// True if it asks for a token report.
    usage: bool,
    /// True if the model is to show its thinking.
    pub(crate) thinking: bool,
}

impl ReplyTerms {
    /// Reads the terms of a request from its path and its body.
    pub(crate) fn of(wire: &Wire, route: &Route<'_>, body: Json) -> ReplyTerms {
        let named = body.field("model").as_str();
        ReplyTerms {
            streamed: route.streamed.unwrap_or_else(|| body.field("stream").as_bool() == Some(true)),
            model: route.model.as_deref().or(named.as_deref()).unwrap_or("brickbat").to_owned(),
            usage: wire.asks_for_usage(body),
            thinking: wire.asks_to_think(body),
        }
    }
}

/// The provider, while it answers one request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Voice<'a> {
    /// The plan with the calls that the scripts make.
    pub(crate) plan: &'a Plan,
    /// The dialect of the answer.
    pub(crate) dialect: Dialect,
    pub(crate) exchange: ExchangeId,
    /// Digits that are unique to the answer: 24 hexadecimal ones.
    pub(crate) unique: &'a str,
    /// The count of tokens that a reply reports.
    pub(crate) tokens: Tokens,
    /// The number of frames by which a canary is late.
    pub(crate) n_late: usize,
}

impl Voice<'_> {
    /// A reply of the model, with the holds and the ending that the actions require.
    pub(crate) fn speak(&self, asked: &ReplyTerms, script: &Script, actions: &[&PlannedAction]) -> Answer {
        let ReplyTerms { streamed, ref model, usage, .. } = *asked;
        let id = self.wire().message_id(self.unique);
        let envelope = Envelope { id: &id, model, usage, tokens: self.tokens };
        let encode = if streamed { wire::encode_stream } else { wire::encode_whole };
        let mut encoded = encode(self.dialect, self.plan, script, envelope);
        if streamed {
            actions.iter().for_each(|action| self.spoil(&mut encoded, action));
        }
        let mut answer = self.head(200, if streamed { self.wire().traits.stream_type } else { JSON });
        answer.streamed = streamed;

        let mut n_frames = encoded.frames.len();
        for action in actions {
            let PlannedPoint::Stream { mark, side, .. } = action.at else { continue };
            // A body in one piece has no points inside: actions planned there do not happen and are not
            // proven.
            let is_in_place = action.what.http().is_some() || action.what.tokens().is_some();
            if is_in_place || !(streamed || mark == Mark::Headers) {
                continue;
            }
            let after = match (mark, side) {
                (Mark::Headers, Side::Before) => Sent::Nothing,
                (Mark::Headers, Side::After) => Sent::Frames(0),
                (mark, side) => {
                    let Some(frame) = encoded.frame_of(mark) else { continue };
                    Sent::Frames(if side == Side::After { frame + 1 } else { frame })
                }
            };
            let after = self.delayed(after);
            let at = Held { mark, side };
            if !answer.holds.iter().any(|hold| hold.at == at) {
                answer.holds.push(Hold { after, at });
            }
            if let Some(ending) = action.what.spec().ending {
                answer.ending = ending;
                n_frames = match after {
                    Sent::Nothing => 0,
                    Sent::Frames(n_frames) => n_frames,
                };
            }
        }
        answer.holds.sort_by_key(|hold| hold.after);
        answer.frames = encoded.frames;
        answer.frames.truncate(n_frames);
        if answer.ending == Ending::ErrorEvent
            && let Some(Action::Error(kind)) =
                actions.iter().map(|action| &action.what).find(|what| what.ends_attempt())
        {
            let sent = answer.frames.slice(0..answer.frames.len());
            let frame = self.wire().error_frame(*kind, sent);
            answer.frames.push_with(|out| out.extend_from_slice(&frame));
        }
        answer
    }

    /// The HTTP error of a fault.
    pub(crate) fn http_fault(&self, fault: &HttpFault) -> Answer {
        if fault.overflow {
            return self.too_long();
        }
        let mut answer = self.whole(fault.status, &self.wire().status_body(fault.status));
        // Only if a retry can help. It cannot for 402, when the credit is used up.
        if matches!(fault.status, 408 | 409 | 429 | 500..) {
            answer.headers.push((RETRY_AFTER_MS, fault.retry_after_ms.to_string().into()));
            answer.headers.push(("retry-after", fault.retry_after_ms.div_ceil(1000).to_string().into()));
        }
        answer
    }

    /// The rejection of a request that is too long for the model.
    pub(crate) fn too_long(&self) -> Answer {
        self.whole(400, &self.wire().overflow_body())
    }

    /// The rejection of a request, with the provider's own message.
    pub(crate) fn refuse(&self, violation: &Violation) -> Answer {
        self.whole(violation.status(), &violation.envelope(&self.request_id()))
    }

    /// Inserts the frame that an action adds to a stream.
    fn spoil(&self, encoded: &mut Encoded, action: &PlannedAction) {
        let PlannedPoint::Stream { mark, side, .. } = action.at else { return };
        let at = match (mark, encoded.frame_of(mark)) {
            (Mark::Headers, _) => 0,
            (_, Some(frame)) => frame + usize::from(side == Side::After),
            (_, None) => return,
        };
        match action.what {
            // Gateways that write the opening themselves also pass on the provider's.
            Action::Duplicate => {
                let opening = encoded.frames.slice(0..1.min(encoded.frames.len())).to_vec();
                encoded.insert(at, &opening);
            }
            Action::Malformed => encoded.insert(at, &self.wire().malformed_frame()),
            // The others add no frame: they end, hold or replace the reply, or are not the provider's.
            _ => {}
        }
    }

    /// A position in an answer, shifted by the delay of a canary.
    fn delayed(&self, after: Sent) -> Sent {
        match (self.n_late, after) {
            (0, after) => after,
            (late, Sent::Nothing) => Sent::Frames(late - 1),
            (late, Sent::Frames(n_frames)) => Sent::Frames(n_frames + late),
        }
    }

    /// Answers a request for anything other than a reply: a model list, a token count or an unknown path.
    pub(crate) fn beside(&self, request: Request<'_>) -> Answer {
        self.found(self.wire().side_answer(request.method, request.path, request.body).as_ref())
    }

    /// A non-streamed answer with this body; without one, the error for an unknown path.
    pub(crate) fn found(&self, body: Option<&Value>) -> Answer {
        match body {
            Some(body) => self.whole(200, body),
            None => self.whole(404, &self.wire().status_body(404)),
        }
    }

    /// A non-streamed answer with this status.
    pub(crate) fn whole(&self, status: u16, body: &Value) -> Answer {
        let mut answer = self.head(status, JSON);
        answer.frames.push_with(|out| out.extend_from_slice(body.to_string().as_bytes()));
        if status >= 400 {
            let headers = self.wire().error_headers(status).iter();
            answer.headers.extend(headers.map(|(name, value)| (*name, (*value).into())));
            answer.ending = Ending::Status;
        }
        answer
    }

    fn head(&self, status: u16, content_type: &'static str) -> Answer {
        let headers = vec![
            ("content-type", content_type.into()),
            (self.wire().traits.request_id_header, self.request_id().into()),
        ];
        Answer::head(self.exchange, status, headers)
    }

    fn request_id(&self) -> String {
        self.wire().request_id(self.unique)
    }

    fn wire(&self) -> &'static Wire {
        wire::of(self.dialect)
    }
}

const JSON: &str = "application/json";
