//! Each event as a step of the drawing.

use std::collections::BTreeMap;

use serde_json::Value;

use super::super::shape::{call_name, shape};
use super::appearance::Appearance;
use super::lanes::{Drawing, Lane, Weight};
use super::words;
use crate::record::{ReceiptNote, Record};
use brickbat_scenario::action::{Action, PoorSummary, WriteFailure};
use brickbat_scenario::plan::{CallKey, Mark, PlannedAction, PlannedCall, PlannedPoint, Side};
use brickbat_scenario::trace::{
    Compaction, Confidence, Ending, Event, ExchangeId, Held, LetGo, RequestKind, TurnOutcome,
};

/// Draws every event.
pub(super) fn draw(record: &Record, drawing: &mut Drawing) {
    let events = record.observed.as_ref().map_or(&[][..], |observed| observed.trace.events());
    let (kinds, summaries) = (BTreeMap::new(), BTreeMap::new());
    let mut story = Story { record, drawing, turn: 0, kinds, summaries, n_reports: 0 };
    let mut n_quiet = 0;
    for (at, event) in events.iter().enumerate() {
        if *event == Event::Quiet {
            n_quiet += 1;
            continue;
        }
        story.quiet(std::mem::take(&mut n_quiet));
        story.tell(event, at);
    }
    story.quiet(n_quiet);
    story.unproven();
}

struct Story<'a, 'd> {
    record: &'a Record,
    drawing: &'d mut Drawing,
    turn: usize,
    kinds: BTreeMap<ExchangeId, RequestKind>,
    /// The requests for a summary, in a plan with actions at such requests.
    summaries: BTreeMap<ExchangeId, Compaction>,
    /// The number of reported full contexts after which the system has compacted its history so far.
    n_reports: usize,
}

impl Story<'_, '_> {
    fn tell(&mut self, event: &Event, at: usize) {
        use Lane::{Provider, System, User};
        match event {
            Event::Prompted { turn } => self.begin(*turn),
            Event::Requested { exchange, kind, compacted, summary, body, .. } => {
                self.request(*exchange, *kind, body, at);
                if let Some(of) = summary {
                    self.summary(*exchange, *of);
                }
                if *compacted {
                    self.compacted(*exchange);
                }
            }
            Event::Held { exchange, at, grade } => self.hold(*exchange, *at, *grade),
            Event::Replied { exchange, ending } => self.replied(*exchange, *ending),
            Event::PeerClosed { exchange } => {
                let words = format!("closes the connection before reply {} is complete", exchange.0 + 1);
                self.plain(System, Provider, &words);
            }
            Event::Early { exchange } => {
                let words = format!("request {} comes earlier than the provider allowed", exchange.0 + 1);
                self.drawing.step(System, Provider, Weight::Wrong, &words);
            }
            Event::ToolStarted { .. }
            | Event::ToolSettled { .. }
            | Event::ToolCancelled { .. }
            | Event::OldRunEnded { .. } => self.tool(event),
            Event::CallShown { id, state } => {
                let call = self.record.call_by_id(id);
                let words = format!("shows {} as {}", self.name(call, id), words::state(*state));
                self.plain(System, User, &words);
            }
            Event::Asked { id, call, .. } => {
                self.plain(System, User, &format!("asks whether {} may run", self.name(*call, id)));
                if let Some(fault) = self.fault_as(&Appearance::NoAnswer) {
                    self.drawing.more(Weight::Fault, &format!("FAULT the user does not answer ({fault})"));
                }
            }
            Event::Answered { consent, .. } => self.plain(User, System, words::consent(*consent)),
            Event::Resumed => self.plain(System, System, "a new process has loaded the session"),
            Event::Saving { entry, side: Side::After, failed } => {
                let verb = if *failed { "could not save" } else { "has saved" };
                self.plain(System, System, &format!("{verb} entry {entry} of the turn"));
                let fault = self.fault(|action| {
                    let is_here = action.at == PlannedPoint::Saved(*entry, Side::Before);
                    let is_it = *failed || action.what == Action::Fail(WriteFailure::Unconfirmed);
                    is_here && is_it && Appearance::of(&action.what) == Appearance::FailedWrite
                });
                if let Some(fault) = fault {
                    self.drawing
                        .more(Weight::Fault, &format!("FAULT the write of the store fails ({fault})"));
                }
            }
            Event::Switched { process } => {
                self.plain(User, System, &format!("the user continues in process {process}"));
            }
            Event::PromptRefused => self.plain(System, User, "rejects another prompt while the turn runs"),
            Event::Waited { seconds } => {
                self.plain(System, System, &format!("continues after a silence of {seconds} s"));
            }
            Event::Repaired { repair } => {
                let words = format!("the adapter has repaired in the application's place: {repair}");
                self.plain(System, System, &words);
            }
            Event::LetGo { what } => {
                let what = match what {
                    LetGo::Replies => "the provider",
                    LetGo::Tools => "the tools",
                };
                let words = format!("the turn has not ended; the harness lets {what} continue");
                self.plain(System, System, &words);
            }
            Event::GaveUp => {
                let words = "the turn does not end; the harness stops waiting";
                self.drawing.step(System, System, Weight::Wrong, words);
            }
            Event::TurnEnded { outcome } => self.ended(outcome),
            Event::Killed
            | Event::Changed { .. }
            | Event::Stopped
            | Event::Interrupted { .. }
            | Event::Said { .. } => self.intervention(event),
            Event::Saving { .. } | Event::Quiet | Event::Stored { .. } => {}
        }
    }

    fn tool(&mut self, event: &Event) {
        use Lane::{System, Tools};
        let record = self.record;
        match event {
            Event::ToolStarted { call: Some(call), args } => {
                let planned = record.call(*call);
                let tool = planned.map_or("?", |call| call.tool.as_str());
                let habit = planned.map(habit).unwrap_or_default();
                let name = call_name(record, *call);
                let words = format!("runs {name}: {tool} {}{habit}", words::beginning(args));
                self.plain(System, Tools, &words);
            }
            Event::ToolStarted { call: None, args } => {
                let words =
                    format!("runs a tool with arguments that match no call: {}", words::beginning(args));
                self.drawing.step(System, Tools, Weight::Wrong, &words);
            }
            Event::ToolSettled { call, outcome, grade } => {
                let (name, outcome_words) = (call_name(record, *call), words::outcome(outcome));
                let words = format!("{name} {outcome_words}{}", doubt(*grade));
                let weight = if outcome.is_success() { Weight::Plain } else { Weight::Fault };
                match self.fault_as(&Appearance::Settled(*call)) {
                    Some(fault) => {
                        self.drawing.step(Tools, System, Weight::Fault, &format!("FAULT {words} ({fault})"));
                    }
                    None => self.drawing.step(Tools, System, weight, &words),
                }
            }
            Event::ToolCancelled { call } => {
                self.plain(System, Tools, &format!("cancels {} while it runs", call_name(record, *call)));
            }
            Event::OldRunEnded { call, turn, outcome } => {
                let run = format!("the run of {} that began in turn {}", call_name(record, *call), turn + 1);
                match outcome {
                    Some(outcome) => {
                        self.plain(Tools, System, &format!("{run} {}", words::outcome(outcome)));
                    }
                    None => self.plain(System, Tools, &format!("cancels {run}")),
                }
            }
            _ => {}
        }
    }

    /// An intervention from outside, in the running turn or in the history.
    fn intervention(&mut self, event: &Event) {
        use Lane::{System, User};
        match event {
            Event::Killed => {
                let fault = self.fault_as(&Appearance::Kill);
                self.fault_step(System, System, "the system's process is killed", fault);
            }
            Event::Changed { change } => {
                let fault = self.fault_as(&Appearance::Change(Some(change.clone())));
                let words = format!("{}{}", words::change(change), in_brackets(fault));
                self.drawing.step(User, System, Weight::Fault, &words);
            }
            Event::Stopped => {
                let fault = self.fault(|action| Appearance::of(&action.what).has_stop());
                self.fault_step(User, System, "the user stops the turn", fault);
            }
            Event::Interrupted { cause } => {
                let words = format!("the turn is interrupted: {}", cause.name());
                let fault = self.fault_as(&Appearance::Interruption(*cause));
                self.fault_step(System, System, &words, fault);
            }
            Event::Said { way, text } => {
                let words = format!("{} {}", words::aside(*way), words::quoted(text));
                let fault = self.fault_as(&Appearance::Text(text));
                self.fault_step(User, System, &words, fault);
            }
            _ => {}
        }
    }

    /// A fault that has happened, with the action that planned it.
    fn fault_step(&mut self, from: Lane, to: Lane, words: &str, fault: Option<String>) {
        let words = format!("FAULT {words}{}", in_brackets(fault));
        self.drawing.step(from, to, Weight::Fault, &words);
    }

    /// The scenario's name for a call, or the system's id if there is none.
    fn name(&self, call: Option<CallKey>, id: &str) -> String {
        call.map_or_else(|| format!("?{}", words::beginning(id)), |call| call_name(self.record, call))
    }

    fn begin(&mut self, turn: usize) {
        if turn > 0 {
            self.unproven();
        }
        self.turn = turn;
        let planned = self.record.plan.turns.get(turn);
        let added = match planned {
            Some(planned) if planned.follow_up => ", added by the harness to see whether the thread survives",
            _ => "",
        };
        self.drawing.heading(&format!("turn {}{added}", turn + 1));
        let says = planned.map(|planned| words::quoted(&planned.user)).unwrap_or_default();
        self.plain(Lane::User, Lane::System, &format!("says {says}"));
    }

    /// The last request shows a compaction by the system itself. It follows from every full context that was reported
    /// since the last one, which may have been in an earlier turn.
    fn compacted(&mut self, id: ExchangeId) {
        let is_reported = |turn: usize, action: &PlannedAction| {
            let mut earlier = self.kinds.iter().filter(|(of, _)| **of != id);
            earlier.any(|(_, kind)| match *kind {
                RequestKind::Scripted { turn: of, reply, attempt } => {
                    let (mark, side) = (Mark::Headers, Side::Before);
                    of == turn && action.at == PlannedPoint::Stream { reply, attempt, mark, side }
                }
                _ => false,
            })
        };
        let reported = actions(self.record).filter(|(turn, action, receipt)| {
            let is_report = Appearance::of(&action.what) == Appearance::Compaction && receipt.fired;
            is_report && is_reported(*turn, action)
        });
        let mut reports = reported.skip(self.n_reports).map(|(_, _, receipt)| planned(receipt));
        let first = reports.next();
        let further: Vec<String> = reports.collect();
        self.n_reports += usize::from(first.is_some()) + further.len();
        let words = format!("FAULT the system has compacted its history{}", in_brackets(first));
        self.drawing.more(Weight::Fault, &words);
        for report in further {
            self.drawing.more(Weight::Fault, &format!("FAULT a further report of a full context ({report})"));
        }
    }

    /// The last request asks for a summary. An error or a summary of no use is its complete reply.
    fn summary(&mut self, id: ExchangeId, of: Compaction) {
        self.summaries.insert(id, of);
        self.drawing.more(Weight::Plain, "asks for a summary of the conversation");
        let status = self.record.exchange(id).map(|exchange| exchange.reply.status);
        if let Some(status) = status.filter(|status| *status != 200) {
            let fault = self.fault_at_summary(of, &Appearance::Status);
            let words = format!("status {status} instead of the summary");
            return self.fault_step(Lane::Provider, Lane::System, &words, fault);
        }
        for poor in PoorSummary::ALL {
            if let Some(fault) = self.fault_at_summary(of, &Appearance::PoorSummary(poor)) {
                let words = words::poor_summary(poor);
                self.fault_step(Lane::Provider, Lane::System, words, Some(fault));
            }
        }
    }

    fn request(&mut self, id: ExchangeId, kind: RequestKind, body: &[u8], at: usize) {
        self.kinds.insert(id, kind);
        let number = id.0 + 1;
        if kind == RequestKind::Auxiliary {
            let exchange = self.record.exchange(id);
            let what = exchange.map(|exchange| format!(": {} {}", exchange.method, exchange.path));
            let words = format!("request {number}, outside the conversation{}", what.unwrap_or_default());
            return self.plain(Lane::System, Lane::Provider, &words);
        }
        if let RequestKind::Repeated { of } = kind {
            let words = format!("request {number} repeats request {} of an earlier turn", of.0 + 1);
            return self.drawing.step(Lane::System, Lane::Provider, Weight::Wrong, &words);
        }
        let words = format!("request {number}: {}", shape(self.record, body, at));
        self.plain(Lane::System, Lane::Provider, &words);
        match kind {
            RequestKind::Scripted { turn, reply, attempt } => {
                let turn = self.record.plan.turns.get(turn);
                let script = turn.and_then(|turn| turn.replies.get(reply)?.attempts.get(attempt));
                let says = script.map(|script| words::script(self.record, script)).unwrap_or_default();
                let again = if attempt > 0 { format!(" (attempt {})", attempt + 1) } else { String::new() };
                self.drawing.more(Weight::Plain, &format!("will be answered{again}: {says}"));
            }
            RequestKind::Refused { status } => {
                let sentence = words::with_names(self.record, self.sentence(id));
                self.drawing.step(
                    Lane::Provider,
                    Lane::System,
                    Weight::Wrong,
                    &format!("REFUSED with status {status}: {sentence}"),
                );
            }
            RequestKind::Faulted { status, .. } => {
                let words = format!("status {status} instead of the reply");
                let fault = self.fault_as(&Appearance::Status);
                self.fault_step(Lane::Provider, Lane::System, &words, fault);
            }
            RequestKind::Surplus => {
                self.drawing
                    .more(Weight::Plain, "the script has no more replies; the provider answers \"Done.\"");
            }
            RequestKind::OfSubAgent { call, reply, refused } => {
                let agent = self.record.call(call).map_or("?", |call| call.name.as_str());
                let words = match refused {
                    Some(status) => {
                        format!("of the sub-agent of {agent}: status {status} instead of the reply")
                    }
                    None => format!("of the sub-agent of {agent}, reply {}", reply + 1),
                };
                self.drawing.more(Weight::Plain, &words);
            }
            RequestKind::Auxiliary | RequestKind::Repeated { .. } => {}
        }
    }

    fn hold(&mut self, id: ExchangeId, at: Held, grade: Confidence) {
        let place = words::held(self.record, at);
        let kind = self.kinds.get(&id).copied();
        let summary = self.summaries.get(&id).copied();
        let is_here = |point: &PlannedPoint| match (point, kind) {
            (PlannedPoint::Compaction(number, side), _) => {
                summary.is_some_and(|of| (of.number, at.side) == (*number, *side))
            }
            (
                PlannedPoint::Stream { reply, attempt, mark, side },
                Some(RequestKind::Scripted { reply: r, attempt: a, .. }),
            ) => (*reply, *attempt, *mark, *side) == (r, a, at.mark, at.side),
            _ => false,
        };
        let fault = self.fault(|action| Appearance::of(&action.what).has_silence() && is_here(&action.at));
        let words = format!("waits {place}, reply to request {}{}", id.0 + 1, doubt(grade));
        let added =
            self.fault(|action| Appearance::of(&action.what) == Appearance::Frame && is_here(&action.at));
        if let Some(added) = added {
            let words = format!("FAULT an extra or malformed frame is sent {place} ({added})");
            return self.drawing.step(Lane::Provider, Lane::System, Weight::Fault, &words);
        }
        match fault {
            Some(fault) => {
                let words = format!("FAULT the provider goes silent {place} ({fault})");
                self.drawing.step(Lane::Provider, Lane::Provider, Weight::Fault, &words);
            }
            None => self.plain(Lane::Provider, Lane::Provider, &words),
        }
    }

    fn replied(&mut self, id: ExchangeId, ending: Ending) {
        let words = format!("the reply to request {} {}", id.0 + 1, words::ending(ending));
        match ending {
            Ending::Complete | Ending::Status => self.plain(Lane::Provider, Lane::System, &words),
            Ending::EndEarly | Ending::Eof | Ending::Reset | Ending::ErrorEvent => {
                let ending = Appearance::Ending(Some(ending));
                let fault = match self.summaries.get(&id) {
                    Some(of) => self.fault_at_summary(*of, &ending),
                    None => self.fault_as(&ending),
                };
                self.fault_step(Lane::Provider, Lane::System, &words, fault);
            }
        }
    }

    fn ended(&mut self, outcome: &TurnOutcome) {
        let number = self.turn + 1;
        if let Some(fault) = self.fault_as(&Appearance::End) {
            let words = format!("FAULT the system must now end the turn by itself ({fault})");
            self.drawing.step(Lane::System, Lane::System, Weight::Fault, &words);
        }
        match outcome {
            TurnOutcome::Returned => self.plain(Lane::System, Lane::User, &format!("turn {number} is over")),
            TurnOutcome::Cancelled => {
                self.plain(Lane::System, Lane::User, &format!("turn {number} is over: stopped"));
            }
            TurnOutcome::Raised { class, text } => {
                let text = words::with_names(self.record, text.clone());
                let words = format!("turn {number} is over: raised {class}: {text}");
                self.drawing.step(Lane::System, Lane::User, Weight::Wrong, &words);
            }
        }
    }

    fn quiet(&mut self, n_spells: usize) {
        if n_spells > 0 {
            self.drawing.more(Weight::Plain, "… nothing happens for a while …");
        }
    }

    /// Draws the actions that were planned for the turn and did not happen.
    fn unproven(&mut self) {
        let missing: Vec<String> = actions(self.record)
            .filter(|(turn, _, receipt)| *turn == self.turn && !receipt.fired)
            .map(|(_, _, receipt)| format!("PLANNED, but it did not happen: {}", receipt.words))
            .collect();
        missing.iter().for_each(|words| self.drawing.more(Weight::Fault, words));
    }

    fn plain(&mut self, from: Lane, to: Lane, words: &str) {
        self.drawing.step(from, to, Weight::Plain, words);
    }

    /// The action with this appearance that was planned here, with the grade of its receipt.
    fn fault_as(&self, appearance: &Appearance<'_>) -> Option<String> {
        self.fault(|action| Appearance::of(&action.what) == *appearance)
    }

    /// The action that was planned here, with the grade of its receipt.
    fn fault(&self, is_it: impl Fn(&PlannedAction) -> bool) -> Option<String> {
        // Events between two turns belong to the later one.
        let is_here =
            |turn: usize, action: &PlannedAction| turn == self.turn + usize::from(action.is_between_turns());
        let (_, _, receipt) = actions(self.record)
            .find(|(turn, action, receipt)| is_here(*turn, action) && receipt.fired && is_it(action))?;
        Some(planned(receipt))
    }

    /// The action with this appearance that was planned at a request for a summary, with the grade of its receipt. Such a
    /// request may come between two turns.
    fn fault_at_summary(&self, of: Compaction, appearance: &Appearance<'_>) -> Option<String> {
        let is_here = |turn: usize, action: &PlannedAction| {
            turn == of.turn && matches!(action.at, PlannedPoint::Compaction(number, _) if number == of.number)
        };
        let (_, _, receipt) = actions(self.record).find(|(turn, action, receipt)| {
            is_here(*turn, action) && receipt.fired && Appearance::of(&action.what) == *appearance
        })?;
        Some(planned(receipt))
    }

    /// The provider's message in a refusal.
    fn sentence(&self, id: ExchangeId) -> String {
        let body = self.record.exchange(id).map(|exchange| exchange.reply.frames.concat());
        let body = body.unwrap_or_default();
        match serde_json::from_str::<Value>(&body) {
            // Only some providers put the message into an `error` object.
            Ok(value) => match value["error"]["message"].as_str().or(value["message"].as_str()) {
                Some(message) => message.to_owned(),
                None => words::beginning(&body),
            },
            Err(_) => words::beginning(&body),
        }
    }
}

/// The actions in the plan, each with its turn and receipt.
fn actions(record: &Record) -> impl Iterator<Item = (usize, &PlannedAction, &ReceiptNote)> {
    let turns = record.plan.turns.iter().enumerate();
    let actions = turns.flat_map(|(turn, planned)| planned.actions.iter().map(move |action| (turn, action)));
    actions.zip(&record.receipts).map(|((turn, action), receipt)| (turn, action, receipt))
}

/// The planned action, with the grade of its receipt.
fn planned(receipt: &ReceiptNote) -> String {
    let grade = receipt.grade.map_or("none", Confidence::name);
    format!("planned: {}; receipt: {grade}", receipt.words)
}

/// The action that planned a fault, in brackets.
fn in_brackets(fault: Option<String>) -> String {
    fault.map(|fault| format!(" ({fault})")).unwrap_or_default()
}

/// A note if it is not certain that the system has read everything sent so far.
fn doubt(grade: Confidence) -> &'static str {
    match grade {
        Confidence::Written => " (not proven to be read)",
        Confidence::Read => " (read)",
        Confidence::Observed => "",
    }
}

/// The habit of a call's tool that explains why a turn may not end.
fn habit(call: &PlannedCall) -> &'static str {
    match (call.hangs, call.deaf) {
        (true, true) => " (never returns, and ignores a stop)",
        (true, false) => " (does not return)",
        (false, true) => " (ignores a stop)",
        (false, false) => "",
    }
}
