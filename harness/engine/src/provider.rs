//! The provider: request bytes in, frames, holds and an ending out. It does no I/O.
//!
//! There is one core. [`crate::simulate`] calls it directly; the socket server moves its bytes.
//! Both play an [`Answer`] by the same rule: write the head and the frames in order, stop at each hold
//! until it is released, then end the body as the answer says.
//!
//! The provider is strict: each request is held against the rules of a profile, and one that breaks them
//! is refused as the real provider would, without moving the script.

mod answer;
pub(crate) mod recall;
mod stray;

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use answer::RETRY_AFTER_MS;
pub use answer::{Answer, Headers, Hold, Request, Sent};
use brickbat_scenario::action::Action;
pub use brickbat_scenario::wire::Frames;
pub use recall::{Recall, refusal};
use stray::Strays;
pub(crate) use stray::{conversation, says};

use brickbat_rules::json::{Document, Json};
use brickbat_rules::{self as rules, Profile};
use brickbat_scenario::plan::{BoundAction, Mark, Plan, PlannedAction, PlannedPoint, Script, Side};
use brickbat_scenario::trace::{Ending, ExchangeId, Held, RequestKind};
use brickbat_scenario::wire::{self, Encoded, Envelope, Route, Wire};

/// The provider of one plan.
#[derive(Debug)]
pub struct Provider {
    plan: Arc<Plan>,
    profile: &'static Profile,
    recall: Recall,
    strays: Strays,
    /// The turns after which the system has asked a question of its own.
    asked_by_itself: BTreeSet<usize>,
    n_exchanges: u32,
    turn: usize,
    next: Position,
    n_http_faults: u32,
    /// Frames by which a canary is late.
    n_late: usize,
}

/// Which attempt of which reply is served next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Position {
    reply: usize,
    attempt: usize,
}

/// What a request asks for, wherever its dialect says it.
#[derive(Debug, Clone, Copy)]
struct ReplyTerms<'a> {
    streamed: bool,
    model: &'a str,
    usage: bool,
    /// Whether the model is to show what it thinks.
    thinking: bool,
}

const FIRST: Position = Position { reply: 0, attempt: 0 };

impl Provider {
    /// The provider of a plan, as strict as a profile of its dialect.
    pub fn new(plan: Arc<Plan>, profile: &'static Profile) -> Provider {
        let recall = Recall::of(&plan);
        Provider {
            plan,
            profile,
            recall,
            strays: Strays::default(),
            asked_by_itself: BTreeSet::new(),
            n_exchanges: 0,
            turn: 0,
            next: FIRST,
            n_http_faults: 0,
            n_late: 0,
        }
    }

    /// The same provider, a canary: all that it does at a point of a stream it does one frame late.
    pub fn firing_late(mut self) -> Provider {
        self.n_late = 1;
        self
    }

    /// Moves the script to a turn of the plan.
    pub fn begin_turn(&mut self, turn: usize) {
        self.strays.begin_turn();
        self.turn = turn;
        self.next = FIRST;
        self.n_http_faults = 0;
    }

    /// Answers a request.
    pub fn answer(&mut self, request: Request<'_>) -> (RequestKind, Answer) {
        let route = self.wire().route(request.method, request.path);
        let model = route.as_ref().and_then(|route| route.model.as_deref()).map(str::to_owned);
        let (kind, answer) = self.answer_routed(request, route);
        (kind, Answer { model, ..answer })
    }

    fn answer_routed(&mut self, request: Request<'_>, route: Option<Route<'_>>) -> (RequestKind, Answer) {
        let exchange = ExchangeId(self.n_exchanges);
        self.n_exchanges = self.n_exchanges.saturating_add(1);
        let Some(route) = route else {
            let body = Document::parse(request.body).unwrap_or_default();
            self.recall.replied(&self.plan, exchange, RequestKind::Auxiliary, body.root());
            return (RequestKind::Auxiliary, self.beside(exchange, request));
        };
        let document = Document::parse(request.body);
        let memory = self.recall.memory();
        let violations =
            rules::validate_asking(self.profile, memory, route.model.as_deref(), request.body, &document);
        let document = document.unwrap_or_default();
        let body = document.root();
        if let Some(refusal) = refusal(&self.plan, &violations, body) {
            let status = refusal.status();
            let answer = self.whole(exchange, status, &refusal.envelope(&self.request_id(exchange)));
            return (RequestKind::Refused { status }, answer);
        }
        let named = body.field("model").as_str();
        let asked = ReplyTerms {
            streamed: route.streamed.unwrap_or_else(|| body.field("stream").as_bool() == Some(true)),
            model: route.model.as_deref().or(named.as_deref()).unwrap_or("brickbat"),
            usage: self.wire().asks_for_usage(body),
            thinking: self.wire().asks_to_think(body),
        };
        let is_of_thread = self.plan.tools.is_empty() || self.wire().offers_tools(body);
        let (kind, answer) = if !is_of_thread {
            (RequestKind::Auxiliary, self.speak(exchange, asked, &recall::title(), &[]))
        } else if self.strays.has(&self.plan, self.turn, self.recall.memory(), body) {
            // The script is for the turn that the user has begun since.
            self.surplus(exchange, asked)
        } else if let Some(turn) = self.asks_by_itself_after(request.body, body) {
            self.asked_by_itself.insert(turn);
            (RequestKind::Auxiliary, self.speak(exchange, asked, &recall::title(), &[]))
        } else {
            self.scripted(exchange, asked)
        };
        self.recall.replied(&self.plan, exchange, kind, body);
        (kind, answer)
    }

    /// The turn after which a request asks something in words of the system's own, with the thread before it: what the user
    /// may want next, say. It is no part of the thread. It comes when a turn has all its replies, or so late that the next
    /// turn has begun: then it holds the words of a turn before, and not of this one. Once for each turn: a system that asks
    /// again and again is in a loop.
    fn asks_by_itself_after(&self, bytes: &[u8], body: Json) -> Option<usize> {
        let turn = self.plan.turns.get(self.turn)?;
        let is_over = self.next.reply >= turn.replies.len();
        // Most requests hold the words as they are; then nothing need be read.
        if !is_over
            && (self.turn == 0 || str::from_utf8(bytes).is_ok_and(|text| text.contains(turn.user.trim())))
        {
            return None;
        }
        let history = conversation(&self.plan, self.recall.memory(), body);
        let last_said = self.plan.turns[..=self.turn].iter().rposition(|turn| says(&history, turn));
        let of_turn = match last_said {
            Some(of_turn) if is_over || of_turn < self.turn => of_turn,
            None if is_over => self.turn,
            Some(_) | None => return None,
        };
        let is_own = !self.asked_by_itself.contains(&of_turn)
            && stray::ends_in_words_of_the_system(&self.plan, &history);
        is_own.then_some(of_turn)
    }

    fn scripted(&mut self, exchange: ExchangeId, asked: ReplyTerms<'_>) -> (RequestKind, Answer) {
        let plan = Arc::clone(&self.plan);
        let Position { reply, attempt } = self.next;
        let script =
            plan.turns.get(self.turn).and_then(|turn| turn.replies.get(reply)?.attempts.get(attempt));
        let Some(script) = script else {
            return self.surplus(exchange, asked);
        };
        let actions: Vec<&PlannedAction> =
            plan.turns[self.turn].actions.iter().filter(|action| at_reply(action, reply, attempt)).collect();
        if let Some(fault) = actions.iter().find_map(|action| action.what.http())
            && self.n_http_faults < fault.times
        {
            self.n_http_faults += 1;
            let mut answer = self.whole(exchange, fault.status, &self.wire().status_body(fault.status));
            let status = fault.status;
            // Only where a retry can help: not for 402, when the credit is used up.
            if matches!(status, 408 | 409 | 429 | 500..) {
                answer.headers.push((RETRY_AFTER_MS, fault.retry_after_ms.to_string().into()));
                answer.headers.push(("retry-after", fault.retry_after_ms.div_ceil(1000).to_string().into()));
            }
            return (RequestKind::Faulted { turn: self.turn, reply, attempt, status }, answer);
        }
        self.n_http_faults = 0;
        let fails = actions.iter().any(|action| action.what.ends_attempt());
        self.next = if fails {
            Position { reply, attempt: attempt + 1 }
        } else {
            Position { reply: reply + 1, attempt: 0 }
        };
        let kind = RequestKind::Scripted { turn: self.turn, reply, attempt };
        let script = recall::shown(&plan, script, asked.thinking);
        let mut answer = self.speak(exchange, asked, &script, &actions);
        if plan.turns[self.turn].actions.iter().any(is_after_a_result) {
            answer.wait_before_head();
        }
        (kind, answer)
    }

    /// Answers a request for which the script has no reply.
    fn surplus(&self, exchange: ExchangeId, asked: ReplyTerms<'_>) -> (RequestKind, Answer) {
        let surplus = recall::surplus();
        let script = recall::shown(&self.plan, &surplus, asked.thinking);
        (RequestKind::Surplus, self.speak(exchange, asked, &script, &[]))
    }

    /// A reply of the model, with the holds and the ending that the actions ask for.
    fn speak(
        &self,
        exchange: ExchangeId,
        asked: ReplyTerms<'_>,
        script: &Script,
        actions: &[&PlannedAction],
    ) -> Answer {
        let ReplyTerms { streamed, model, usage, .. } = asked;
        let id = self.wire().message_id(&self.recall.unique(exchange));
        let envelope = Envelope { id: &id, model, usage };
        let encode = if streamed { wire::encode_stream } else { wire::encode_whole };
        let mut encoded = encode(self.plan.dialect, &self.plan, script, envelope);
        if streamed {
            actions.iter().for_each(|action| self.spoil(&mut encoded, action));
        }
        let mut answer =
            self.head(exchange, 200, if streamed { self.wire().traits.stream_type } else { JSON });
        answer.streamed = streamed;

        let mut n_frames = encoded.frames.len();
        for action in actions {
            let PlannedPoint::Stream { mark, side, .. } = action.at else { continue };
            // A body in one piece has no points inside: what is planned there does not happen, and is not proven.
            if action.what.http().is_some() || !(streamed || mark == Mark::Headers) {
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
            if let Some(ending) = ending_of(&action.what) {
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

    /// Puts the frame into a stream that an action adds to it.
    fn spoil(&self, encoded: &mut Encoded, action: &PlannedAction) {
        let PlannedPoint::Stream { mark, side, .. } = action.at else { return };
        let at = match (mark, encoded.frame_of(mark)) {
            (Mark::Headers, _) => 0,
            (_, Some(frame)) => frame + usize::from(side == Side::After),
            (_, None) => return,
        };
        match action.what {
            // Gateways that write the opening themselves also hand on the provider's.
            Action::Duplicate => {
                let opening = encoded.frames.slice(0..1.min(encoded.frames.len())).to_vec();
                encoded.insert(at, &opening);
            }
            Action::Malformed => encoded.insert(at, &self.wire().malformed_frame()),
            _ => {}
        }
    }

    /// A place in an answer as this provider keeps to it.
    fn delayed(&self, after: Sent) -> Sent {
        match (self.n_late, after) {
            (0, after) => after,
            (late, Sent::Nothing) => Sent::Frames(late - 1),
            (late, Sent::Frames(n_frames)) => Sent::Frames(n_frames + late),
        }
    }

    /// Answers what is not a request for a reply: models, token counts, anything unknown.
    fn beside(&self, exchange: ExchangeId, request: Request<'_>) -> Answer {
        match self.wire().side_answer(request.method, request.path, request.body) {
            Some(body) => self.whole(exchange, 200, &body),
            None => self.whole(exchange, 404, &self.wire().status_body(404)),
        }
    }

    fn whole(&self, exchange: ExchangeId, status: u16, body: &Value) -> Answer {
        let mut answer = self.head(exchange, status, JSON);
        answer.frames.push_with(|out| out.extend_from_slice(body.to_string().as_bytes()));
        if status >= 400 {
            let headers = self.wire().error_headers(status).iter();
            answer.headers.extend(headers.map(|(name, value)| (*name, (*value).into())));
            answer.ending = Ending::Status;
        }
        answer
    }

    fn head(&self, exchange: ExchangeId, status: u16, content_type: &'static str) -> Answer {
        Answer {
            exchange,
            model: None,
            status,
            headers: vec![
                ("content-type", content_type.into()),
                (self.wire().traits.request_id_header, self.request_id(exchange).into()),
            ],
            streamed: false,
            frames: Frames::default(),
            holds: Vec::new(),
            ending: Ending::Complete,
        }
    }

    fn request_id(&self, exchange: ExchangeId) -> String {
        self.wire().request_id(&self.recall.unique(exchange))
    }

    fn wire(&self) -> &'static Wire {
        wire::of(self.plan.dialect)
    }
}

const JSON: &str = "application/json";

fn at_reply(action: &PlannedAction, reply: usize, attempt: usize) -> bool {
    matches!(action.at, PlannedPoint::Stream { reply: r, attempt: a, .. } if r == reply && a == attempt)
}

/// Whether an action may be due when the next request is already here: the system may answer a result with it
/// before the harness knows that the result has arrived.
fn is_after_a_result(action: &PlannedAction) -> bool {
    matches!(action.at, PlannedPoint::SettledCount(_) | PlannedPoint::Settled(..))
}

/// The ending that a fault makes, if it makes one.
pub fn ending_of(fault: &BoundAction) -> Option<Ending> {
    match fault {
        Action::Reset => Some(Ending::Reset),
        Action::Eof => Some(Ending::Eof),
        Action::EndEarly => Some(Ending::EndEarly),
        Action::Error(_) => Some(Ending::ErrorEvent),
        Action::Http(_) => Some(Ending::Status),
        Action::Abort
        | Action::Kill
        | Action::Stall
        | Action::Pause
        | Action::Settle(_)
        | Action::Duplicate
        | Action::Malformed
        | Action::StopAgain
        | Action::Interrupt(_)
        | Action::Steer(_)
        | Action::Prompt(_)
        | Action::Inject(_)
        | Action::Ignore
        | Action::Trim(_)
        | Action::Summarise(_)
        | Action::Rewind(_)
        | Action::Aside(_)
        | Action::Thinking(_)
        | Action::Finish => None,
    }
}
