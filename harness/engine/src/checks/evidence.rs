//! The evidence for the checks: all facts about one run, gathered once.

use super::changed::Changed;
use super::given;
use super::repeated::{RepeatedRequest, repeated};
use super::request_view::{RequestView, ResultView, view};
use crate::provider::{Recall, says};
use crate::run::Run;
use brickbat_rules::Profile;
use brickbat_scenario::action::{Action, WriteFailure};
use brickbat_scenario::history::{Content, made_up_word, result_word};
use brickbat_scenario::plan::{
    CallKey, Plan, PlannedCall, PlannedPoint, Script, Side, ToolOutcome, is_made_up,
};
use brickbat_scenario::trace::{
    Aside, CallRecord, Consent, Ending, Event, ExchangeId, Ledger, RequestKind, ShownState, TurnOutcome,
};
use serde_json::Value;

pub struct Evidence<'a> {
    pub plan: &'a Plan,
    pub run: &'a Run,
    /// The real outcomes of the tools.
    pub ledger: Ledger,
    /// The requests in the thread.
    pub requests: Vec<RequestView>,
    /// Requests from a run that continued after its turn was stopped. They arrived in a later turn and do not
    /// belong to the thread.
    strays: Vec<StrayRequest>,
    /// Requests of an earlier turn that a client sent again on its own. They are not in the thread.
    pub repeated: Vec<RepeatedRequest>,
    /// Sub-agent requests, with their turns. Their conversations are not the thread, and are only checked
    /// against the rules.
    of_sub_agents: Vec<(ExchangeId, usize)>,
    pub changed: Changed,
    /// True if the store has lost something without an error.
    pub is_store_lossy: bool,
    /// The history that the system had stored at the end of the plan, in its own format.
    pub stored: Option<Value>,
}

struct StrayRequest {
    exchange: ExchangeId,
    /// The turn to which it belongs by its content.
    of_turn: usize,
}

impl<'a> Evidence<'a> {
    pub fn gather(plan: &'a Plan, run: &'a Run, profile: &'static Profile) -> Evidence<'a> {
        let mut recall = Recall::of(plan);
        let mut requests = Vec::new();
        for (turn, event) in run.trace.by_turn() {
            let Event::Requested { exchange, kind, head, body, .. } = event else { continue };
            requests.push(view(plan, profile, &mut recall, (*exchange, turn, *kind), (head, body)));
        }
        let mut ledger = Ledger::of(&run.trace, plan.calls.len());
        given::enter(plan, &mut ledger);
        let changed = Changed::of(plan, &run.trace);
        let repeated = repeated(run, &requests);
        requests.retain(|request| repeated.iter().all(|repeated| repeated.exchange != request.exchange));
        let strays = strays(plan, run, &requests);
        let is_of_sub_agent = |request: &RequestView| matches!(request.kind, RequestKind::OfSubAgent { .. });
        let of_sub_agents = requests.iter().filter(|request| is_of_sub_agent(request));
        let of_sub_agents = of_sub_agents.map(|request| (request.exchange, request.turn)).collect();
        requests.retain(|request| !is_of_sub_agent(request));
        requests.retain(|request| strays.iter().all(|stray| stray.exchange != request.exchange));
        let mut evidence = Evidence {
            plan,
            run,
            ledger,
            requests,
            strays,
            repeated,
            of_sub_agents,
            changed,
            is_store_lossy: false,
            stored: stored(run),
        };
        evidence.mark_shown_in_time();
        evidence.note_failed_writes();
        evidence
    }

    /// Notes the turns that a failing store may have lost. A system may lose what the store has lost without an error. If it
    /// got an error, it may end the turn with that error: the application then knows that the turn has failed. A turn that
    /// returns as if nothing had happened loses nothing, since the store works again after one failed write.
    fn note_failed_writes(&mut self) {
        let failed = self.run.receipts.iter().filter_map(|receipt| match receipt.what {
            Action::Fail(how) if receipt.fired => Some((receipt.turn, how)),
            _ => None,
        });
        let returned = |turn: usize| {
            let mut outcomes = self.outcomes().filter(|(of, _)| *of == turn).peekable();
            outcomes.peek().is_some() && outcomes.all(|(_, outcome)| *outcome == TurnOutcome::Returned)
        };
        let is_kept = |turn: usize, how: WriteFailure| {
            how.is_told() && !how.lasts() && returned(turn) && !self.was_stopped(turn)
        };
        let failed: Vec<(usize, WriteFailure)> = failed.collect();
        let lost = failed.iter().filter(|(turn, how)| !is_kept(*turn, *how)).map(|(turn, _)| *turn);
        for turn in lost.collect::<Vec<usize>>() {
            self.changed.lost(self.plan, turn);
        }
        self.is_store_lossy = failed.iter().any(|(_, how)| !how.is_told());
    }

    /// Corrects results that were recorded as late. A fast system sends a result before the harness has
    /// recorded its delivery. A result in a request in the call's own turn, before a stop of that turn,
    /// arrived in time, regardless of the record.
    fn mark_shown_in_time(&mut self) {
        let keys = (0..self.plan.calls.len() as u32).map(CallKey);
        let is_late = |key: &CallKey| self.account(*key).settled_late && self.is_said_in_turn(*key);
        let late: Vec<CallKey> = keys.filter(is_late).collect();
        late.iter().for_each(|key| self.ledger.calls[key.0 as usize].settled_late = false);
    }

    /// True if a request in the call's own turn, before a stop of that turn, contains the tool's result.
    fn is_said_in_turn(&self, key: CallKey) -> bool {
        let call = self.call(key);
        let is_of_turn = |request: &&RequestView| request.turn == call.turn && !self.came_after_stop(request);
        let is_returned = matches!(call.outcome, ToolOutcome::Return(_)) && !call.outcome.text().is_empty();
        is_returned
            && self
                .requests
                .iter()
                .filter(is_of_turn)
                .any(|request| self.shows_result(request, key, |_| true))
    }

    /// True if the end of a call is certain and not a race: nothing broke off its turn, a request in the turn
    /// contains the result, or the turn was broken off at a point that depends on the result. Whether a check
    /// applies must not depend on machine load.
    pub fn is_sure(&self, key: CallKey) -> bool {
        let call = self.call(key);
        let rests_on_end = |at: &PlannedPoint| match *at {
            PlannedPoint::SettledCount(n) => n > 0,
            PlannedPoint::Settled(of, side) => of == key && side == Side::After,
            PlannedPoint::Step(n) => (call.reply as u64) < u64::from(n),
            PlannedPoint::Prompt
            | PlannedPoint::Stream { .. }
            | PlannedPoint::Asked(_)
            | PlannedPoint::StartedCount(_)
            | PlannedPoint::Started(_)
            | PlannedPoint::Saved(..)
            | PlannedPoint::Compaction(..) => false,
        };
        let is_broken_off = self.was_stopped(call.turn) || self.died_in(call.turn);
        let actions = || self.plan.turns.get(call.turn).into_iter().flat_map(|turn| &turn.actions);
        call.given
            || !is_broken_off
            || actions().any(|action| rests_on_end(&action.at))
            || self.is_said_in_turn(key)
    }

    pub fn turn_of(&self, exchange: ExchangeId) -> Option<usize> {
        let repeated = self.repeated.iter().find(|repeated| repeated.exchange == exchange);
        if let Some(RepeatedRequest { of, .. }) = repeated {
            return self.turn_of(*of);
        }
        let stray = self.strays.iter().find(|stray| stray.exchange == exchange).map(|stray| stray.of_turn);
        stray
            .or_else(|| {
                self.requests.iter().find(|request| request.exchange == exchange).map(|request| request.turn)
            })
            .or_else(|| self.of_sub_agents.iter().find(|(of, _)| *of == exchange).map(|(_, turn)| *turn))
    }

    /// The last readable request in the thread. Its content is what the thread remembers.
    pub fn last_request(&self) -> Option<&RequestView> {
        let is_of_thread = |request: &&RequestView| request.kind != RequestKind::Auxiliary && request.is_read;
        self.requests.iter().rev().find(is_of_thread)
    }

    /// True if a request contains the result of a call: in a result of that call that counts, or in a text,
    /// if a system paraphrases the history.
    pub fn shows_result(
        &self,
        request: &RequestView,
        key: CallKey,
        counts: impl Fn(&ResultView<'_>) -> bool,
    ) -> bool {
        let (marker, is_silent) = (self.call(key).marker.as_str(), self.call(key).outcome.text().is_empty());
        let is_its = |result: &ResultView<'_>| match self.answered(request, result.id) {
            // A tool that returned an empty text returned no marker either, so any result for its own call is
            // accepted.
            Some(answered) => answered == key && (is_silent || result.text.contains(marker)),
            None => !is_silent && result.text.contains(marker),
        };
        let in_words = || {
            request.history.items.iter().any(|item| match &item.content {
                Content::Text { text } => text.contains(marker),
                Content::Raw { value } => value.to_string().contains(marker),
                Content::Thought { .. } | Content::Call { .. } | Content::Result { .. } => false,
            })
        };
        request.results().any(|result| is_its(&result) && counts(&result)) || in_words()
    }

    /// True if a call is a handoff that the system left out because it took another one of its batch.
    pub fn is_skipped_handoff(&self, key: CallKey) -> bool {
        self.plan.is_extra_handoff(key) && self.account(key).starts.is_empty()
    }

    /// True if the system could have sent what a tool returned.
    pub fn could_send(&self, key: CallKey) -> bool {
        matches!(self.account(key).settled, Some(ToolOutcome::Return(_))) && self.could_send_outcome(key)
    }

    /// True if the system could have sent the error of a tool. The error of a sub-agent is that of its provider,
    /// and the system words it.
    pub fn could_send_error(&self, key: CallKey) -> bool {
        let is_error =
            matches!(self.account(key).settled, Some(ToolOutcome::Error(_) | ToolOutcome::Throw(_)));
        is_error
            && !self.call(key).given
            && self.plan.sub_agent(key).is_none()
            && self.could_send_outcome(key)
    }

    /// True if the system could have sent an outcome: it arrived in time, and a request followed. Results of a
    /// sub-agent's calls go into its own conversation.
    fn could_send_outcome(&self, key: CallKey) -> bool {
        let (call, account) = (self.call(key), self.account(key));
        call.within.is_none() && !account.settled_late && (call.given || account.asked_since)
    }

    /// The call of the plan with this wire id, if it is the only one.
    pub fn call_by_id(&self, id: &str) -> Option<(CallKey, &PlannedCall)> {
        let key = self.plan.call_with_id(id)?;
        Some((key, self.call(key)))
    }

    /// The call that a result in a request answers. `None` if several calls have its id, which is ambiguous.
    pub fn answered(&self, request: &RequestView, id: &str) -> Option<CallKey> {
        if request.n_calls_with(id) > 1 {
            return None;
        }
        request.key_of(id).or_else(|| self.call_by_id(id).map(|(key, _)| key))
    }

    /// True if a call belongs to a turn with a run that continued after its stop.
    pub fn is_astray(&self, key: CallKey) -> bool {
        let turn = self.call(key).turn;
        self.ran_astray(key) || self.strays.iter().any(|stray| stray.of_turn == turn)
    }

    pub fn call(&self, key: CallKey) -> &'a PlannedCall {
        &self.plan.calls[key.0 as usize]
    }

    pub fn account(&self, key: CallKey) -> &CallRecord {
        &self.ledger.calls[key.0 as usize]
    }

    /// All calls, with their real outcomes.
    pub fn calls(&self) -> impl Iterator<Item = (&'a PlannedCall, &CallRecord)> + Clone {
        self.plan.calls.iter().zip(&self.ledger.calls)
    }

    /// The scenario's name for a call in a request. A call that is ambiguous keeps its id.
    pub fn name_of(&self, request: &RequestView, id: &str) -> String {
        self.answered(request, id).map_or_else(|| id.to_owned(), |key| self.call(key).name.clone())
    }

    /// The script's reply to a request.
    pub fn script_of(&self, request: &RequestView) -> Option<&'a Script> {
        let RequestKind::Scripted { turn, reply, attempt } = request.kind else { return None };
        self.plan.turns.get(turn)?.replies.get(reply)?.attempts.get(attempt)
    }

    pub fn events_of(&self, turn: usize) -> impl Iterator<Item = &Event> {
        self.run.trace.by_turn().filter(move |(at, _)| *at == turn).map(|(_, event)| event)
    }

    pub fn has_results(&self) -> bool {
        self.requests.iter().any(|request| request.results().next().is_some())
    }

    pub fn has_calls(&self) -> bool {
        self.requests.iter().any(|request| request.calls().next().is_some())
    }

    /// True if a tool has run to its end. A tool that the user stopped immediately may or may not have begun;
    /// that is a race, which no record can decide.
    pub fn has_run(&self) -> bool {
        let mut keys = (0..self.plan.calls.len() as u32).map(CallKey);
        let has_ended = |key: CallKey| self.account(key).settled.is_some() && self.is_sure(key);
        !self.ledger.strangers.is_empty() || keys.any(has_ended)
    }

    /// The human-readable shape of a request, with the scenario's names.
    pub fn shape(&self, request: &RequestView) -> String {
        let name = |id: &str| self.answered(request, id).map(|key| self.call(key).name.clone());
        let word = |id: &str, text: &str, is_error: Option<bool>| {
            let made_up =
                |key: CallKey| is_made_up(&self.plan.calls, key, self.account(key).settled.as_ref(), text);
            match self.answered(request, id).is_some_and(made_up) {
                true => made_up_word(is_error),
                false => result_word(is_error),
            }
        };
        request.history.shape_with(|id| name(id).unwrap_or_else(|| "?".to_owned()), word)
    }

    pub fn outcomes(&self) -> impl Iterator<Item = (usize, &TurnOutcome)> {
        self.run.trace.by_turn().filter_map(|(turn, event)| match event {
            Event::TurnEnded { outcome } => Some((turn, outcome)),
            _ => None,
        })
    }

    /// True if the process was killed before the turn ended.
    pub fn died_in(&self, turn: usize) -> bool {
        let killed = self.events_of(turn).any(|event| *event == Event::Killed);
        killed && self.outcomes().all(|(ended, _)| ended != turn)
    }

    /// How the process acknowledged the result of a call, visibly for others, before it was killed: it showed
    /// the call as completed, or sent the result to the provider. The second may race with the kill, so if
    /// both happened, the first is returned.
    pub fn acknowledged(&self, key: CallKey) -> Option<&'static str> {
        let call = self.call(key);
        let alive = || self.events_of(call.turn).take_while(|event| **event != Event::Killed);
        let is_sent = |event: &Event| match event {
            Event::Requested { exchange, .. } => self.has_result(*exchange, call),
            _ => false,
        };
        let is_shown = |event: &Event| match event {
            // A status update for an id that several calls share is ambiguous.
            Event::CallShown { id, state: ShownState::Completed } => self.plan.call_with_id(id) == Some(key),
            _ => false,
        };
        if alive().any(is_shown) {
            return Some("shown the call as completed");
        }
        alive().any(is_sent).then_some("sent it to the provider")
    }

    fn has_result(&self, exchange: ExchangeId, call: &PlannedCall) -> bool {
        let of_exchange = |request: &&RequestView| request.exchange == exchange;
        let mut results = self.requests.iter().filter(of_exchange).flat_map(RequestView::results);
        results.any(|result| result.text.contains(call.marker.as_str()))
    }

    /// True if the turn was stopped by the user or broken off by an exception.
    pub fn was_stopped(&self, turn: usize) -> bool {
        was_stopped(self.run, turn)
    }

    /// True if a request came after the stop of the turn in which it came.
    pub fn came_after_stop(&self, request: &RequestView) -> bool {
        let is_it = |event: &Event| matches!(event, Event::Requested { exchange, .. } if *exchange == request.exchange);
        self.events_of(request.turn).find(|event| is_stop(event) || is_it(event)).is_some_and(is_stop)
    }

    /// True if the turn was stopped or failed.
    pub fn ended_badly(&self, turn: usize) -> bool {
        let has_failed = |event: &Event| match event {
            Event::TurnEnded { outcome } => *outcome != TurnOutcome::Returned,
            _ => false,
        };
        self.was_stopped(turn) || self.events_of(turn).any(has_failed)
    }

    /// The end of the step with this call.
    pub fn step_end(&self, key: CallKey) -> StepEnd {
        let step = |call: &PlannedCall| (call.turn, call.reply, call.attempt);
        let call = self.call(key);
        let calls = (0..).map(CallKey).zip(self.calls());
        let batch = || calls.clone().filter(|(_, (other, _))| !other.given && step(other) == step(call));
        let is_asking = batch().any(|(other, _)| self.has_open_question(other));
        let is_broken = self.was_stopped(call.turn) && batch().any(|(other, _)| self.is_open(other));
        match (is_asking && !call.given, is_broken && !call.given) {
            (true, true) => StepEnd::BrokenOffAsking,
            (true, false) => StepEnd::Asking,
            (false, true) => StepEnd::BrokenOff,
            (false, false) => StepEnd::Whole,
        }
    }

    /// True if the result of a call never came in its turn.
    pub fn is_open(&self, key: CallKey) -> bool {
        let account = self.account(key);
        account.settled.is_none() || account.settled_late
    }

    /// True if a call runs in the client and never ended.
    pub fn is_left_to_client(&self, key: CallKey) -> bool {
        let call = self.call(key);
        self.is_open(key) && self.plan.tools.iter().any(|tool| tool.name == call.tool && tool.client)
    }

    /// True if the user was asked about a call and has neither approved nor denied it.
    pub fn has_open_question(&self, key: CallKey) -> bool {
        let mut open = None;
        for event in self.run.trace.events() {
            match event {
                Event::Asked { question, call: Some(call), .. } if *call == key => open = Some(*question),
                Event::Answered { question, consent: Consent::Given | Consent::Refused, .. }
                    if open == Some(*question) =>
                {
                    open = None;
                }
                _ => {}
            }
        }
        open.is_some()
    }

    /// True if the last reply of a turn was empty or was cut off.
    pub fn came_to_nothing(&self, turn: usize) -> bool {
        let of_turn = |request: &&RequestView| request.turn == turn && request.kind != RequestKind::Auxiliary;
        let Some(last) = self.requests.iter().rfind(of_turn) else { return false };
        let is_cut = |event: &Event| match event {
            Event::Replied { exchange, ending } => *exchange == last.exchange && *ending != Ending::Complete,
            _ => false,
        };
        let is_empty = |script: &Script| !script.has_calls() && script.text().is_empty();
        self.script_of(last).is_some_and(is_empty) || self.run.trace.events().iter().any(is_cut)
    }

    /// True if a call ran after its turn had been stopped and another had begun, and only for a run that
    /// continued: no later request in the thread contains its result.
    pub fn ran_astray(&self, key: CallKey) -> bool {
        let (call, account) = (self.call(key), self.account(key));
        let is_late = account.start_turns.iter().all(|turn| *turn > call.turn);
        let in_thread = || {
            self.requests
                .iter()
                .any(|request| request.turn > call.turn && self.shows_result(request, key, |_| true))
        };
        !account.start_turns.is_empty() && is_late && self.was_stopped(call.turn) && !in_thread()
    }

    /// Messages to running turns, with the turn, that the system accepted and that have not been cut from the
    /// history since.
    pub fn asides(&self) -> impl Iterator<Item = (usize, Aside, &str)> {
        let refused = |turn: usize| self.events_of(turn).any(|event| *event == Event::PromptRefused);
        let said = self.run.trace.by_turn().filter_map(|(turn, event)| match event {
            Event::Said { way, text } => Some((turn, *way, text.as_str())),
            _ => None,
        });
        let kept = said.enumerate().filter(|(nth, _)| !self.changed.aside_may_be_gone(*nth));
        let kept = kept.map(|(_, aside)| aside);
        kept.filter(move |(turn, way, _)| *way != Aside::Prompted || !refused(*turn))
    }
}

/// The end of a step, that is, of a reply with calls and the tools for these calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepEnd {
    /// Each call of the batch ended, or nothing broke off the step.
    Whole,
    /// The turn was stopped before every call of the batch had ended.
    BrokenOff,
    /// A question about a call of the batch was never answered.
    Asking,
    /// The turn was stopped, and a question was never answered.
    BrokenOffAsking,
}

fn stored(run: &Run) -> Option<Value> {
    let mut events = run.trace.events().iter().rev();
    let history = events.find_map(|event| match event {
        Event::Stored { history } => Some(history),
        _ => None,
    })?;
    serde_json::from_slice(history).ok()
}

fn was_stopped(run: &Run, turn: usize) -> bool {
    run.trace.by_turn().any(|(at, event)| at == turn && is_stop(event))
}

fn is_stop(event: &Event) -> bool {
    matches!(event, Event::Stopped | Event::Interrupted { .. })
}

/// The requests that belong to a stopped turn but came in a later one. Such a request lacks the user's latest
/// message, which another request contains, and nothing in it belongs to a later turn.
fn strays(plan: &Plan, run: &Run, requests: &[RequestView]) -> Vec<StrayRequest> {
    let of_thread = |request: &&RequestView| request.kind.is_of_thread() && request.is_read;
    let latest = |request: &RequestView| {
        plan.turns.iter().rposition(|turn| says(&request.history, turn)).filter(|_| of_thread(&request))
    };
    let stray = |request: &RequestView| {
        let of_turn = latest(request).filter(|turn| *turn < request.turn && was_stopped(run, *turn))?;
        let is_of_later = request.calls().any(|call| plan.calls[call.key.0 as usize].turn > of_turn);
        let is_said = requests.iter().any(|other| latest(other) >= Some(request.turn));
        (is_said && !is_of_later).then_some(StrayRequest { exchange: request.exchange, of_turn })
    };
    requests.iter().filter_map(stray).collect()
}
