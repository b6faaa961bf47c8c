//! The provider turns request bytes into frames, holds and an ending. It does no I/O.
//!
//! There is only one core: [`crate::simulate`] calls it directly, and the socket server moves its bytes. Both
//! send an [`Answer`] by the same rule: write the head and the frames in order, stop at each hold until it is
//! released, then end the body as the answer specifies.
//!
//! The provider is strict: it checks each request against the rules of a profile. It rejects a request that
//! breaks them as the real provider would, without advancing the script.

mod address;
mod answer;
mod compaction;
pub(crate) mod playhead;
pub(crate) mod recall;
mod repeats;
mod stray;
pub(crate) mod voice;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use address::Addresses;
pub use address::Misaddressed;
pub use answer::{Answer, Headers, Hold, Request, Sent};
pub use brickbat_scenario::wire::Frames;
use compaction::{Compaction, When};
pub(crate) use compaction::{has_large_results, marks, replied};
use playhead::{Due, Playhead, Position};
pub(crate) use recall::Sight;
pub use recall::{Recall, refusal};
use repeats::Repeats;
use stray::Strays;
pub(crate) use stray::{conversation, says};
use voice::{ReplyTerms, Voice};

use brickbat_rules::dialect::Dialect;
use brickbat_rules::json::{Document, Json};
use brickbat_rules::{self as rules, Profile};
use brickbat_scenario::action::{HttpFault, SOON_MS};
use brickbat_scenario::history::{Content, History};
use brickbat_scenario::plan::{Plan, PlannedAction, PlannedPoint, Script};
use brickbat_scenario::trace::{Ending, ExchangeId, RequestHead, RequestKind};
use brickbat_scenario::wire::{self, Route, Tokens, Wire};

/// The provider of one plan.
#[derive(Debug)]
pub struct Provider {
    plan: Arc<Plan>,
    /// The profile for the plan's dialect.
    profile: &'static Profile,
    recall: Recall,
    strays: Strays,
    repeats: Repeats,
    addresses: Addresses,
    /// The turns after which the system has sent a request with its own text.
    asked_by_itself: BTreeSet<usize>,
    /// True while the history is being changed between two turns.
    is_changing: bool,
    compaction: Compaction,
    n_exchanges: u32,
    playhead: Playhead,
    /// The number of frames by which a canary is late.
    n_late: usize,
}

impl Provider {
    /// Creates a plan's provider, with a profile for the plan's dialect. Requests in turns in another dialect
    /// are checked against the newest profile of that dialect.
    pub fn new(plan: Arc<Plan>, profile: &'static Profile) -> Provider {
        let recall = Recall::of(&plan);
        Provider {
            plan,
            profile,
            recall,
            strays: Strays::default(),
            repeats: Repeats::default(),
            addresses: Addresses::default(),
            asked_by_itself: BTreeSet::new(),
            is_changing: false,
            compaction: Compaction::default(),
            n_exchanges: 0,
            playhead: Playhead::default(),
            n_late: 0,
        }
    }

    /// The same provider as a canary: everything it does at a point of a stream happens one frame late.
    pub fn firing_late(mut self) -> Provider {
        self.n_late = 1;
        self
    }

    /// Moves the script to a turn of the plan.
    pub fn begin_turn(&mut self, turn: usize) {
        self.strays.begin_turn();
        self.playhead.begin_turn(turn);
    }

    /// Notes that the system is asked to change its history between two turns. Requests that it sends
    /// meanwhile are not part of the thread, even if they offer tools: an agent may keep the tools in the
    /// request, so that the prompt stays in the provider's cache.
    pub fn begin_change(&mut self) {
        self.is_changing = true;
    }

    /// Notes that the history has been changed.
    pub fn end_change(&mut self) {
        self.is_changing = false;
    }

    /// Answers a request, and reports its kind.
    pub fn answer(&mut self, request: Request<'_>) -> (RequestKind, Answer) {
        let version = request.headers.named(Profile::VERSION_HEADER).map(Cow::into_owned);
        let body = self.profile_of(version.as_deref()).readable(request.body);
        let request = Request { body: &body, ..request };
        let route = self.wire().route(request.method, request.path);
        let model = route.as_ref().and_then(|route| route.model.as_deref()).map(str::to_owned);
        let asked = RequestHead { model, version };
        let (kind, answer) = self.answer_routed(request, route);
        let compacted = self.compaction.answered(&self.plan, kind, request.body);
        if answer.summary.is_some() && answer.ending != Ending::Complete {
            self.compaction.summary_failed();
        }
        if kind.is_of_thread() {
            self.repeats.answered(answer.exchange, self.playhead.turn(), request.body, answer.ending);
        }
        (kind, Answer { asked, compacted, ..answer })
    }

    fn answer_routed(&mut self, request: Request<'_>, route: Option<Route<'_>>) -> (RequestKind, Answer) {
        let exchange = ExchangeId(self.n_exchanges);
        self.n_exchanges = self.n_exchanges.saturating_add(1);
        let Some(route) = route else {
            let body = Document::parse(request.body).unwrap_or_default();
            let dialect = self.dialect();
            if self.has_replies_left() && !self.is_changing {
                let of = (self.playhead.turn(), dialect);
                self.addresses.unknown(&self.plan, of, request, body.root());
            }
            self.recall.replied(&self.plan, dialect, exchange, RequestKind::Auxiliary, body.root());
            return (
                RequestKind::Auxiliary,
                self.voice(exchange, &self.recall.unique(exchange)).beside(request),
            );
        };
        let document = Document::parse(request.body);
        let dialect = self.dialect();
        let memory = self.recall.memory(dialect);
        let profile = self.profile_of(request.headers.named(Profile::VERSION_HEADER).as_deref());
        let violations =
            rules::validate_asking(profile, memory, route.model.as_deref(), request.body, &document);
        let document = document.unwrap_or_default();
        let body = document.root();
        let is_of_thread = self.plan.tools.is_empty() || self.wire().offers_tools(body);
        let refusal = refusal(&self.plan, dialect, &violations, body);
        if let Some(of) = self.repeated(request.body, body) {
            let asked = ReplyTerms::of(self.wire(), &route, body);
            let answer = match refusal {
                Some(refusal) => self.voice(exchange, &self.recall.unique(exchange)).refuse(refusal),
                None => self.surplus(exchange, &asked, &Sight::of(&self.plan, dialect, body)).1,
            };
            let kind = RequestKind::Repeated { of };
            self.recall.replied(&self.plan, dialect, exchange, kind, body);
            return (kind, answer);
        }
        if let Some(refusal) = refusal {
            if is_of_thread {
                self.compaction.look(&self.plan, self.playhead.turn(), request.body);
            }
            let status = refusal.status();
            self.addresses.found(self.playhead.turn());
            let answer = self.voice(exchange, &self.recall.unique(exchange)).refuse(refusal);
            return (RequestKind::Refused { status }, answer);
        }
        let asked = ReplyTerms::of(self.wire(), &route, body);
        let sight = Sight::of(&self.plan, dialect, body);
        let asks_for_summary =
            || self.compaction.is_asked_for(&self.plan, request.body, || self.conversation(body));
        let (kind, answer) = if let Some(asked) = self.sub_agent_asks(exchange, &asked, body) {
            asked
        } else if !is_of_thread || self.is_changing || asks_for_summary() {
            (RequestKind::Auxiliary, self.outside_thread(exchange, &asked, request.body))
        } else if self.strays.has(&self.plan, self.playhead.turn(), self.recall.memory(dialect), body) {
            // The script belongs to the turn that the user has begun since.
            self.surplus(exchange, &asked, &sight)
        } else if let Some(turn) = self.asks_by_itself_after(request.body, body) {
            self.asked_by_itself.insert(turn);
            (RequestKind::Auxiliary, self.speak(exchange, &asked, &recall::title(), &[]))
        } else {
            self.compaction.look(&self.plan, self.playhead.turn(), request.body);
            match self.too_long(exchange, body) {
                Some(refused) => refused,
                None => self.scripted(exchange, &asked, &sight),
            }
        };
        if kind.is_of_thread() {
            self.addresses.found(self.playhead.turn());
        }
        self.recall.replied(&self.plan, dialect, exchange, kind, body);
        (kind, answer)
    }

    /// The first request in the thread that did not reach this provider, if there is one. Such a run proves
    /// nothing.
    pub fn misaddressed(&self) -> Option<&Misaddressed> {
        self.addresses.lost()
    }

    /// The failed request of an earlier turn that a request repeats. It contains what the user said before, and
    /// not what the user says in this turn.
    fn repeated(&self, bytes: &[u8], body: Json) -> Option<ExchangeId> {
        let turn = self.playhead.turn();
        let of = self.repeats.earlier(turn, bytes)?;
        let history = self.conversation(body);
        let said = self.plan.turns[..=turn.min(self.plan.turns.len() - 1)]
            .iter()
            .rposition(|planned| says(&history, planned));
        said.is_some_and(|said| said < turn).then_some(of)
    }

    fn has_replies_left(&self) -> bool {
        let planned = self.plan.turns.get(self.playhead.turn());
        planned.is_some_and(|planned| self.playhead.next().reply < planned.replies.len())
    }

    /// The turn after which a request asks something in the system's own text, with the thread before it: for
    /// example, what the user may want next. Such a request is not part of the thread. It comes when a turn
    /// has all its replies, or so late that the next turn has begun; then it contains the user's text from an
    /// earlier turn, but not from this one. It counts only once per turn: a system that repeats it is in a
    /// loop.
    fn asks_by_itself_after(&self, bytes: &[u8], body: Json) -> Option<usize> {
        let turn = self.playhead.turn();
        let planned = self.plan.turns.get(turn)?;
        let is_over = !self.has_replies_left();
        // Most requests contain the words unescaped, so the body need not be read.
        if !is_over
            && (turn == 0 || str::from_utf8(bytes).is_ok_and(|text| text.contains(planned.user.trim())))
        {
            return None;
        }
        let history = self.conversation(body);
        let last_said = self.plan.turns[..=turn].iter().rposition(|said| says(&history, said));
        let of_turn = match last_said {
            Some(of_turn) if is_over || of_turn < turn => of_turn,
            None if is_over => turn,
            Some(_) | None => return None,
        };
        let is_own = !self.asked_by_itself.contains(&of_turn)
            && stray::ends_in_words_of_the_system(&self.plan, &history);
        is_own.then_some(of_turn)
    }

    /// The answer to a sub-agent's request. It does not advance the thread's script, and requests in the
    /// thread do not advance the sub-agent.
    fn sub_agent_asks(
        &self,
        exchange: ExchangeId,
        asked: &ReplyTerms,
        body: Json,
    ) -> Option<(RequestKind, Answer)> {
        if self.plan.sub_agents.is_empty() {
            return None;
        }
        let conversation = self.conversation(body);
        // A thread that has taken over a sub-agent's messages is still the thread, because the user speaks in
        // it.
        if self.plan.turns.iter().any(|turn| says(&conversation, turn)) {
            return None;
        }
        let (agent, reply) = self.plan.sub_agent_of(&conversation)?;
        let refused = agent.refusal_of(reply);
        let answer = match refused {
            Some(status) => {
                let fault = HttpFault { status, times: 1, retry_after_ms: SOON_MS, overflow: false };
                self.voice(exchange, &self.recall.unique(exchange)).http_fault(&fault)
            }
            None => {
                let surplus = recall::surplus();
                let sight = Sight::of(&self.plan, self.dialect(), body);
                let script = agent.replies.get(reply).unwrap_or(&surplus);
                self.speak(exchange, asked, &recall::shown(&self.plan, script, &sight), &[])
            }
        };
        Some((RequestKind::OfSubAgent { call: agent.call, reply, refused }, answer))
    }

    /// The answer to a request outside the thread. One for a summary gets what is planned for it.
    fn outside_thread(&mut self, exchange: ExchangeId, asked: &ReplyTerms, body: &[u8]) -> Answer {
        let (plan, is_commanded) = (Arc::clone(&self.plan), self.is_changing);
        let when = When { turn: self.playhead.turn() + usize::from(is_commanded), is_commanded };
        let Some(summary) = self.compaction.summary(&plan, when, body) else {
            return self.speak(exchange, asked, &recall::title(), &[]);
        };
        let mut answer = match &summary.fault {
            Some(fault) => self.voice(exchange, &self.recall.unique(exchange)).http_fault(fault),
            None => {
                let actions: Vec<&PlannedAction> = summary.actions.iter().collect();
                self.speak(exchange, asked, &summary.script, &actions)
            }
        };
        if !summary.may_hold {
            answer.holds.clear();
        }
        Answer { summary: Some(summary.of), ..answer }
    }

    /// The rejection of a request if its results exceed the model's window.
    fn too_long(&mut self, exchange: ExchangeId, body: Json) -> Option<(RequestKind, Answer)> {
        let window = self.plan.window? as usize;
        let items = self.conversation(body).items;
        let results = items.iter().map(|item| match &item.content {
            Content::Result { text, .. } => text.len(),
            _ => 0,
        });
        if results.sum::<usize>() <= window {
            return None;
        }
        self.compaction.report(None);
        let (turn, Position { reply, attempt }) = (self.playhead.turn(), self.playhead.next());
        let answer = self.voice(exchange, &self.recall.unique(exchange)).too_long();
        Some((RequestKind::Faulted { turn, reply, attempt, status: answer.status }, answer))
    }

    /// A request that continues an earlier reply, with the conversation before it written out. `None` if it
    /// refers to no earlier reply, or to one that the provider does not know.
    pub fn written_out(&self, body: &[u8]) -> Option<Vec<u8>> {
        let document = Document::parse(body).ok()?;
        let written = self.recall.memory(self.dialect()).expanded(document.root())?;
        Some(written.body.to_string().into_bytes())
    }

    fn conversation(&self, body: Json) -> History {
        let dialect = self.dialect();
        conversation(dialect, self.recall.memory(dialect), body)
    }

    fn scripted(&mut self, exchange: ExchangeId, asked: &ReplyTerms, sight: &Sight) -> (RequestKind, Answer) {
        let plan = Arc::clone(&self.plan);
        let turn = self.playhead.turn();
        match self.playhead.take(&plan) {
            Due::Nothing => self.surplus(exchange, asked, sight),
            Due::Fault { fault, at: Position { reply, attempt } } => {
                if fault.overflow {
                    self.compaction.report(None);
                }
                let answer = self.voice(exchange, &self.recall.unique(exchange)).http_fault(fault);
                (RequestKind::Faulted { turn, reply, attempt, status: fault.status }, answer)
            }
            Due::Reply { script, actions, at: Position { reply, attempt } } => {
                let script = recall::shown(&plan, script, sight);
                let tokens = actions.iter().find_map(|action| action.what.tokens());
                if tokens.is_some() {
                    self.compaction.report(tokens);
                }
                let mut answer = self.speak(exchange, asked, &script, &actions);
                if plan.turns[turn].actions.iter().any(is_after_a_result) {
                    answer.wait_before_head();
                }
                (RequestKind::Scripted { turn, reply, attempt }, answer)
            }
        }
    }

    /// Answers a request that comes after the last scripted reply.
    fn surplus(&self, exchange: ExchangeId, asked: &ReplyTerms, sight: &Sight) -> (RequestKind, Answer) {
        let surplus = recall::surplus();
        let script = recall::shown(&self.plan, &surplus, sight);
        (RequestKind::Surplus, self.speak(exchange, asked, &script, &[]))
    }

    fn speak(
        &self,
        exchange: ExchangeId,
        asked: &ReplyTerms,
        script: &Script,
        actions: &[&PlannedAction],
    ) -> Answer {
        self.voice(exchange, &self.recall.unique(exchange)).speak(asked, script, actions)
    }

    fn voice<'a>(&'a self, exchange: ExchangeId, unique: &'a str) -> Voice<'a> {
        let usual = Tokens::of(&self.plan);
        let tokens = self.compaction.tokens().map_or(usual, |input| Tokens { input, ..usual });
        Voice { plan: &self.plan, dialect: self.dialect(), exchange, unique, tokens, n_late: self.n_late }
    }

    /// The dialect of the current turn.
    pub fn dialect(&self) -> Dialect {
        self.plan.dialect_of(self.playhead.turn())
    }

    /// The profile for a request in the current turn.
    fn profile_of(&self, version: Option<&str>) -> &'static Profile {
        profile_of(self.dialect(), self.profile, version)
    }

    fn wire(&self) -> &'static Wire {
        wire::of(self.dialect())
    }
}

/// The profile for requests of a dialect, in a plan with the profile `own`. The version of the API that a request
/// names replaces the dialect's default, but no other profile, which the user or the scenario has chosen.
pub(crate) fn profile_of(dialect: Dialect, own: &'static Profile, version: Option<&str>) -> &'static Profile {
    let newest = Profile::newest(dialect);
    let profile = if own.dialect == dialect { own } else { newest };
    match version {
        Some(version) if profile.name == newest.name => newest.at_version(version),
        _ => profile,
    }
}

/// True if an action may become due after the next request has already arrived: the system may respond to a
/// result with that request before the harness knows that the result has arrived.
fn is_after_a_result(action: &PlannedAction) -> bool {
    match action.at {
        PlannedPoint::SettledCount(_) | PlannedPoint::Settled(..) => true,
        PlannedPoint::Prompt
        | PlannedPoint::Stream { .. }
        | PlannedPoint::Asked(_)
        | PlannedPoint::StartedCount(_)
        | PlannedPoint::Started(_)
        | PlannedPoint::Saved(..)
        | PlannedPoint::Compaction(..)
        | PlannedPoint::Step(_) => false,
    }
}
