//! A store of calls that does not depend on the order of events, and bugs to plant in it.

use super::{Consumed, Event, State, Stored};

/// Stored calls, independent of event order. A result that comes early waits for its call; anything after the
/// end of a call is ignored.
#[derive(Debug, Default)]
pub struct Store {
    calls: Vec<Stored>,
    /// Results that came before their calls were ready, each with whether it is an error.
    early: Vec<(String, String, bool)>,
    is_over: bool,
    bug: Option<StoreBug>,
}

/// A bug that real stores have had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreBug {
    /// A result that comes before its call is ready is dropped.
    DropsEarlyResult,
    /// A call that is declared again begins again.
    RestartReopens,
    /// The end of the arguments sets a call with a result back to ready.
    ReadyReopens,
    /// A call that is declared again is stored twice.
    RestartAppends,
    /// The end of the turn leaves calls unchanged.
    LeavesOpen,
    /// A result replaces an earlier one.
    LastResultWins,
    /// Arguments that come after their end are appended.
    TakesLateArguments,
}

impl StoreBug {
    /// All bugs that can be planted.
    pub const ALL: [StoreBug; 7] = [
        StoreBug::DropsEarlyResult,
        StoreBug::RestartReopens,
        StoreBug::ReadyReopens,
        StoreBug::RestartAppends,
        StoreBug::LeavesOpen,
        StoreBug::LastResultWins,
        StoreBug::TakesLateArguments,
    ];

    /// The name, such as `leaves-open`.
    pub fn name(self) -> &'static str {
        match self {
            StoreBug::DropsEarlyResult => "drops-early-result",
            StoreBug::RestartReopens => "restart-reopens",
            StoreBug::ReadyReopens => "ready-reopens",
            StoreBug::RestartAppends => "restart-appends",
            StoreBug::LeavesOpen => "leaves-open",
            StoreBug::LastResultWins => "last-result-wins",
            StoreBug::TakesLateArguments => "takes-late-arguments",
        }
    }
}

/// The contents of a store after each event in a sequence, optionally with a bug.
pub fn consume(events: &[Event], bug: Option<StoreBug>) -> Consumed {
    let mut store = Store { bug, ..Store::default() };
    let mut stored: Vec<Vec<Stored>> = Vec::with_capacity(events.len() + 1);
    for event in events {
        store.take(event);
        stored.push(store.calls.clone());
    }
    store.end();
    stored.push(store.calls);
    Consumed { stored, refused: None }
}

impl Store {
    /// Takes the next event.
    pub fn take(&mut self, event: &Event) {
        match event {
            Event::Start { call, .. } => self.start(call),
            Event::Arguments { call, text } => self.arguments(call, text),
            Event::Ready { call } => self.ready(call),
            Event::Result { call, text, failed } => self.result(call, text, *failed),
            Event::Finish => self.end(),
        }
    }

    fn start(&mut self, call: &str) {
        match self.find(call) {
            Some(at) if self.has(StoreBug::RestartReopens) => self.calls[at] = begun(call),
            Some(_) if !self.has(StoreBug::RestartAppends) => {}
            _ => self.calls.push(begun(call)),
        }
        // A call that is declared after the turn is over will get no result.
        if self.is_over {
            self.end();
        }
    }

    fn arguments(&mut self, call: &str, text: &str) {
        let takes_late = self.has(StoreBug::TakesLateArguments);
        if let Some(at) = self.find(call)
            && (takes_late || self.calls[at].state == State::Streaming)
        {
            self.calls[at].arguments.get_or_insert_default().push_str(text);
        }
    }

    fn ready(&mut self, call: &str) {
        let Some(at) = self.find(call) else { return };
        if self.calls[at].state == State::Streaming || self.has(StoreBug::ReadyReopens) {
            self.calls[at].state = State::Ready;
            self.settle(at);
        }
    }

    fn result(&mut self, call: &str, text: &str, failed: bool) {
        match self.find(call) {
            Some(at) if self.calls[at].state.is_terminal() => {
                if self.has(StoreBug::LastResultWins) {
                    finish(&mut self.calls[at], text.to_owned(), failed);
                }
            }
            Some(at) if self.calls[at].state == State::Ready => {
                finish(&mut self.calls[at], text.to_owned(), failed)
            }
            _ if self.has(StoreBug::DropsEarlyResult) => {}
            _ => self.early.push((call.to_owned(), text.to_owned(), failed)),
        }
    }

    fn end(&mut self) {
        self.is_over = true;
        if self.has(StoreBug::LeavesOpen) {
            return;
        }
        for at in 0..self.calls.len() {
            self.settle(at);
            let call = &mut self.calls[at];
            if !call.state.is_terminal() {
                call.state = State::Interrupted;
            }
        }
    }

    /// Gives a call the first result that waits for it.
    fn settle(&mut self, at: usize) {
        let call = &mut self.calls[at];
        if call.state.is_terminal() {
            return;
        }
        if let Some(found) = self.early.iter().position(|(waits_for, ..)| *waits_for == call.call) {
            let (_, text, failed) = self.early.remove(found);
            finish(call, text, failed);
        }
    }

    fn find(&self, call: &str) -> Option<usize> {
        self.calls.iter().position(|stored| stored.call == call)
    }

    fn has(&self, bug: StoreBug) -> bool {
        self.bug == Some(bug)
    }
}

fn begun(call: &str) -> Stored {
    Stored { call: call.to_owned(), state: State::Streaming, arguments: None, result: None }
}

fn finish(call: &mut Stored, text: String, failed: bool) {
    call.state = if failed { State::Failed } else { State::Succeeded };
    call.result = Some(text);
}
