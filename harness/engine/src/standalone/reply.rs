//! The reply to an accepted request: from the scenario, or improvised, with its faults.

use std::borrow::Cow;

use super::faults;
use super::stop::end_of;
use super::tape::Served;
use super::{Open, Standalone, Unanswered};
use crate::improvise::{self, Improvised, Standing};
use crate::provider::Answer;
use crate::provider::recall::{Sight, remember, shown};
use crate::provider::voice::{ReplyTerms, Voice};
use brickbat_rules::dialect::Dialect;
use brickbat_rules::json::Json;
use brickbat_rules::{Delivery, Memory};
use brickbat_scenario::action::{Action, HttpFault};
use brickbat_scenario::history::History;
use brickbat_scenario::plan::{Mark, Plan, PlannedAction, PlannedPoint, Script};
use brickbat_scenario::random::Random;
use brickbat_scenario::trace::{Ending, ExchangeId, Held, RequestKind};
use brickbat_scenario::wire::{self, Tokens};

/// An accepted request.
#[derive(Debug, Clone, Copy)]
pub(super) struct Accepted<'r, 't, 'a> {
    pub(super) exchange: ExchangeId,
    pub(super) dialect: Dialect,
    pub(super) terms: &'r ReplyTerms,
    pub(super) body: Json<'t, 'a>,
    pub(super) history: &'r History,
}

/// An answer, with a phrase for the fault in it.
type Replied = (RequestKind, Answer, Option<String>);

/// The approximate number of bytes in a token.
const BYTES_PER_TOKEN: u64 = 4;

impl Standalone {
    /// Answers a request. `n_bytes` is the size of its body.
    pub(super) fn reply(&mut self, request: &Accepted<'_, '_, '_>, n_bytes: usize) -> Replied {
        let number = self.count(request);
        let standing = Standing::of(request.history);
        let seed = self.behaviour.manner.seed;
        let tokens = self.behaviour.usage.unwrap_or(n_bytes as u64 / BYTES_PER_TOKEN);
        if let Some(replied) = self.scripted(request, standing, tokens, number) {
            return replied;
        }
        let Improvised { plan, script } = improvise::reply(
            self.behaviour.manner,
            request.dialect,
            request.exchange.0,
            standing,
            request.body,
        );
        let script = shown(&plan, &script, &Sight::of_thinking(request.terms.thinking)).into_owned();
        let mut actions: Vec<PlannedAction> =
            self.ordered(request, number, &plan, &script).into_iter().collect();
        if let Some(number) = number.filter(|_| actions.is_empty()) {
            let stops = self.behaviour.stops.iter();
            actions.extend(stops.filter_map(|stop| stop.planned(number, &plan, &script)));
            let mut random = Random::of(seed, &[b"faults", &number.to_le_bytes()]);
            let drawn =
                self.behaviour.faults.as_ref().and_then(|faults| faults.of_reply(number, &mut random));
            actions.extend(drawn.map(|kind| {
                let (kind, marks) = match request.terms.streamed {
                    true => (kind, wire::marks(request.dialect, &script, &plan.calls)),
                    false => (kind.of_whole(), vec![Mark::Headers]),
                };
                let status = wire::of(request.dialect).overloaded_status();
                faults::planned(kind, status, &marks, &mut random)
            }));
        }
        match actions.iter().find_map(|action| action.what.http()) {
            Some(fault) => self.http_fault(request, &plan, fault),
            None => self.speak(request, number, (&plan, &script), &actions, tokens),
        }
    }

    /// The reply of the scenario, if there is a scenario and it is not over.
    fn scripted(
        &mut self,
        request: &Accepted<'_, '_, '_>,
        standing: Standing,
        tokens: u64,
        number: Option<u32>,
    ) -> Option<Replied> {
        let at = self.tapes.iter().position(|tape| tape.dialect() == request.dialect)?;
        // The tape is taken out while the reply is encoded, because encoding records the planned faults in
        // `self`.
        let mut tape = self.tapes.swap_remove(at);
        let plan = tape.plan_apart();
        let replied = match tape.take(standing) {
            Served::Reply(script, actions) => {
                let script = shown(&plan, script, &Sight::of_thinking(request.terms.thinking));
                // The HTTP errors before this reply have been sent.
                let is_left = |action: &&&PlannedAction| action.what.http().is_none();
                let mut actions: Vec<PlannedAction> =
                    actions.iter().filter(is_left).map(|action| PlannedAction::clone(action)).collect();
                actions.extend(self.ordered(request, number, &plan, &script));
                Some(match actions.iter().find_map(|action| action.what.http()) {
                    Some(fault) => self.http_fault(request, &plan, fault),
                    None => self.speak(request, number, (&plan, &script), &actions, tokens),
                })
            }
            Served::Fault(fault) => Some(self.http_fault(request, &plan, fault)),
            Served::Nothing => None,
        };
        self.tapes.push(tape);
        replied
    }

    /// The order for the reply with this number.
    fn ordered(
        &mut self,
        request: &Accepted<'_, '_, '_>,
        number: Option<u32>,
        plan: &Plan,
        script: &Script,
    ) -> Option<PlannedAction> {
        let status = wire::of(request.dialect).overloaded_status();
        self.orders.due(request.exchange, number?, plan, script, status)
    }

    /// The number of the reply, if it counts.
    fn count(&mut self, request: &Accepted<'_, '_, '_>) -> Option<u32> {
        let offers = wire::of(request.dialect).offers_tools(request.body);
        if offers && !self.numbers.has_offered {
            self.orders.count_anew();
        }
        self.log.offers += u64::from(offers);
        let number = self.numbers.next(offers)?;
        self.log.replies = number;
        Some(number)
    }

    fn http_fault(&mut self, request: &Accepted<'_, '_, '_>, plan: &Plan, fault: &HttpFault) -> Replied {
        let unique = self.own(request.exchange).unique();
        let answer = voice(plan, request.exchange, &unique, 0, 0).http_fault(fault);
        let words = format!("http {}", fault.status);
        let open = Open { fault: Some(Ending::Status), ..Open::NOTHING };
        self.arm(request, open, words.clone());
        let kind = RequestKind::Faulted { turn: 0, reply: 0, attempt: 0, status: fault.status };
        (kind, answer, Some(words))
    }

    fn speak(
        &mut self,
        request: &Accepted<'_, '_, '_>,
        number: Option<u32>,
        (plan, script): (&Plan, &Script),
        actions: &[PlannedAction],
        tokens: u64,
    ) -> Replied {
        let unique = self.own(request.exchange).unique();
        let n_said = script.text().len() + script.calls().map(|key| n_bytes(plan, key.0)).sum::<usize>();
        let voice = voice(plan, request.exchange, &unique, tokens, n_said);
        let actions: Vec<&PlannedAction> = actions.iter().collect();
        let answer = voice.speak(request.terms, script, &actions);
        let (open, words) = open(plan, &answer, &actions);
        let is_cut = open.as_ref().is_some_and(|open| open.fault.is_some() || open.end.is_some());
        let delivery = if is_cut { Delivery::Cut } else { Delivery::Whole };
        let memory = self.memories.entry(request.dialect).or_default();
        if memory.is_full() {
            // Forgotten replies are not rejected, so the memory may be emptied.
            *memory = Memory::default();
        }
        remember(memory, (plan, plan.dialect), &unique, script, request.body, delivery);
        let calls: Vec<String> = script.calls().map(|key| plan.calls[key.0 as usize].id.clone()).collect();
        if let Some(reply) = number {
            let fault = open.as_ref().and_then(|open| open.fault);
            match (fault, &words) {
                (Some(_), Some(words)) => self.runs.cut(reply, words, script.text()),
                _ => self.runs.replied(calls.iter().cloned()),
            }
        }
        // A program that ends its turn by a call need not answer it.
        let waiting = script.calls().map(|key| &plan.calls[key.0 as usize]);
        let waiting = waiting.filter(|call| !improvise::is_closing(&call.tool));
        let calls: Vec<String> = waiting.map(|call| call.id.clone()).collect();
        if let (Some(reply), false) = (number, is_cut)
            && !calls.is_empty()
        {
            self.log.called(Unanswered { reply, dialect: request.dialect, calls });
        }
        if let (Some(open), Some(words)) = (open, &words) {
            self.arm(request, open, words.clone());
        }
        let mut stops = self.behaviour.stops.iter();
        if let Some(stop) = stops.find(|stop| number.is_some_and(|number| stop.is_after(number))) {
            let (end, later, words) = (stop.end, stop.at.later(), stop.words());
            self.ended_after = Some((request.exchange, end, later));
            self.arm(request, Open::NOTHING, words);
        }
        (RequestKind::Scripted { turn: 0, reply: 0, attempt: 0 }, answer, words)
    }

    fn arm(&mut self, request: &Accepted<'_, '_, '_>, open: Open, words: String) {
        self.open.insert(request.exchange, open);
        self.unfollowed.insert(request.dialect, request.exchange);
        self.log.armed(request.exchange, words);
    }
}

impl Open {
    const NOTHING: Open = Open { fault: None, stalls: false, end: None, grade: None };
}

/// The planned events in an answer, and a phrase for them. `None` if their points are not in the answer.
fn open(plan: &Plan, answer: &Answer, actions: &[&PlannedAction]) -> (Option<Open>, Option<String>) {
    let mut open = Open::NOTHING;
    let mut words = Vec::new();
    for action in actions {
        let PlannedPoint::Stream { mark, side, .. } = action.at else { continue };
        let at = Held { mark, side };
        if !answer.holds.iter().any(|hold| hold.at == at) {
            continue;
        }
        let stalls = action.what == Action::Stall;
        open.stalls |= stalls;
        open.fault = action.what.spec().ending.or(open.fault);
        open.end = end_of(&action.what).map(|end| (at, end)).or(open.end);
        if stalls || action.what.spec().ending.is_some() || end_of(&action.what).is_some() {
            words.push(format!("{} {} {}", action.what.spec().name, side.name(), mark_words(plan, mark)));
        }
    }
    let words = (!words.is_empty()).then(|| words.join(", "));
    (words.is_some().then_some(open), words)
}

/// A mark, in the notation of scenarios.
fn mark_words(plan: &Plan, mark: Mark) -> Cow<'static, str> {
    let call = |key: brickbat_scenario::plan::CallKey| {
        plan.calls.get(key.0 as usize).map_or("?", |call| call.name.as_str())
    };
    let search = |key: brickbat_scenario::plan::SearchKey| {
        plan.searches.get(key.0 as usize).map_or("?", |search| search.name.as_str())
    };
    match mark {
        Mark::Headers => "headers".into(),
        Mark::Think(k) => format!("think {k}").into(),
        Mark::Text(k) => format!("text {k}").into(),
        Mark::Start(key) => format!("start {}", call(key)).into(),
        Mark::Delta(key, k) => format!("delta {} {k}", call(key)).into(),
        Mark::End(key) => format!("end {}", call(key)).into(),
        Mark::Search(key) => format!("search {}", search(key)).into(),
        Mark::Found(key) => format!("found {}", search(key)).into(),
        Mark::Calls => "calls".into(),
        Mark::Stop => "stop".into(),
        Mark::Reply => "reply".into(),
    }
}

fn n_bytes(plan: &Plan, call: u32) -> usize {
    plan.calls.get(call as usize).map_or(0, |call| call.deltas.iter().map(String::len).sum())
}

/// The provider while it answers one request, with the counts of tokens that it reports.
fn voice<'a>(plan: &'a Plan, exchange: ExchangeId, unique: &'a str, input: u64, n_said: usize) -> Voice<'a> {
    let tokens = Tokens { input, output: (n_said as u64 / BYTES_PER_TOKEN).max(1) };
    Voice { plan, dialect: plan.dialect, exchange, unique, tokens, n_late: 0 }
}
