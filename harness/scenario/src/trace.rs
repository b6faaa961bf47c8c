//! The trace: everything observed while a plan ran, in one total order, append-only.
//!
//! The ledger, which records the real side effects, is computed from the trace. It counts what happened at
//! the gates, not what the system reports.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::plan::{CallKey, Change, Mark, Side, ToolOutcome};
use crate::scenario::InterruptCause;

/// The 0-based number of a request within its plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ExchangeId(pub u32);

/// Identifies a question to the user among those that await an answer in one conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct QuestionId(pub u32);

/// All events of a run, in order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Trace {
    entries: Vec<Event>,
    n_bytes: usize,
    overflowed: bool,
}

/// The maximum number of events in one plan. A plan in the built-in suite has about 60; a request storm is
/// cut off long before this.
const MAX_EVENTS: usize = 20_000;

/// The maximum size of the bodies, arguments and names in one plan, in bytes. A plan in the built-in suite
/// has about 10 kB; one request that a provider accepts has at most 32 MiB.
const MAX_BYTES: usize = 128 << 20;

impl Trace {
    /// Appends an event. Events beyond the bounds are dropped, and [`Trace::overflowed`] then returns true.
    pub fn push(&mut self, event: Event) {
        self.n_bytes += match &event {
            Event::Requested { head, body, .. } => body.len() + head.len(),
            Event::Stored { history } => history.len(),
            Event::ToolStarted { args, .. } => args.len(),
            Event::CallShown { id, .. } | Event::Asked { id, .. } => id.len(),
            Event::Said { text, .. } => text.len(),
            Event::TurnEnded { outcome: TurnOutcome::Raised { class, text } } => class.len() + text.len(),
            _ => 0,
        };
        if self.entries.len() >= MAX_EVENTS || self.n_bytes > MAX_BYTES {
            self.overflowed = true;
        } else {
            self.entries.push(event);
        }
    }

    /// True if events were dropped, so that nothing can be judged.
    pub fn overflowed(&self) -> bool {
        self.overflowed
    }

    /// The events, in order.
    pub fn events(&self) -> &[Event] {
        &self.entries
    }

    /// The events, each with its 0-based turn.
    pub fn by_turn(&self) -> impl Iterator<Item = (usize, &Event)> {
        self.entries.iter().scan(None, |turn, event| {
            if let Event::Prompted { turn: started } = event {
                *turn = Some(*started);
            }
            Some((turn.unwrap_or(0), event))
        })
    }
}

/// One thing that was observed or done.
#[expect(missing_docs, reason = "the names are self-explanatory")]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "event")]
pub enum Event {
    /// The harness gave the system the user's message of a turn.
    Prompted { turn: usize },
    /// A request reached the provider.
    Requested {
        exchange: ExchangeId,
        /// How the provider handles the request.
        kind: RequestKind,
        /// It is not stored, because the path and the headers are stored with the request.
        #[serde(skip)]
        head: RequestHead,
        /// True if the request reveals that the system compacted its history on its own: the context was
        /// reported to be full, and part of the history is missing since then.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        compacted: bool,
        /// The compaction that it belongs to, if it asks for a summary in a plan in which something happens to such a
        /// request.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        summary: Option<Compaction>,
        #[serde(skip)]
        body: Arc<[u8]>,
    },
    /// That request arrived before the time that the provider had named in its refusal.
    Early { exchange: ExchangeId },
    /// The provider waits before it sends more.
    Held {
        exchange: ExchangeId,
        at: Held,
        /// How certain it is that the system has received it.
        grade: Confidence,
    },
    /// The provider has finished the reply.
    Replied { exchange: ExchangeId, ending: Ending },
    /// The client closed the connection before the reply ended.
    PeerClosed { exchange: ExchangeId },
    /// A tool started: its gate was reached.
    ToolStarted {
        /// The call, if the arguments contain the marker of one.
        call: Option<CallKey>,
        /// The arguments exactly as the system passed them.
        args: String,
    },
    /// A tool's result has been delivered to the system.
    ToolSettled {
        call: CallKey,
        outcome: ToolOutcome,
        /// How certain it is that the system has received it.
        grade: Confidence,
    },
    /// The system gave up a running tool: it dropped its connection to the gate.
    ToolCancelled { call: CallKey },
    /// A run of a call has ended that is not its last run. The end of the one is not the end of the other.
    OldRunEnded {
        call: CallKey,
        /// The 0-based turn in which the run started.
        turn: usize,
        /// The result that was delivered. `None` if the system gave the run up.
        outcome: Option<ToolOutcome>,
    },
    /// The system showed the state of a call.
    CallShown {
        /// The wire id that it showed.
        id: String,
        state: ShownState,
    },
    /// The system asked the user whether a tool may run.
    Asked {
        question: QuestionId,
        /// The wire id of the call that the question is about.
        id: String,
        /// The call, if it belongs to the plan.
        call: Option<CallKey>,
    },
    /// The user's answer was given to the system.
    Answered {
        question: QuestionId,
        /// The call, if it belongs to the plan.
        call: Option<CallKey>,
        consent: Consent,
    },
    /// The system was told that the user stopped the turn.
    Stopped,
    /// An exception left the system's loop.
    Interrupted { cause: InterruptCause },
    /// A text was sent to the running turn.
    Said { way: Aside, text: String },
    /// The system refused another prompt while its turn ran.
    PromptRefused,
    /// The system's process was killed and is gone. Its turn has no outcome, and its requests and tools have
    /// no end: they close because the process is dead, not because the system gave them up, so no event
    /// records that.
    Killed,
    /// A new process has loaded the session.
    Resumed,
    /// The system has changed the history as requested; or, if a turn is running, it will do so when it can.
    Changed { change: Change },
    /// An entry of the turn is about to be written to the store, or the write is over. If the write has failed, the
    /// next entry gets the same number.
    Saving {
        /// Its 1-based number.
        entry: u32,
        /// Before or after the write.
        side: Side,
        /// True if the write has failed, so that the store does not have the entry.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        failed: bool,
    },
    /// The user continues in another process, which has loaded the session while the first process keeps
    /// running.
    Switched {
        /// The process, 1 or 2.
        process: u32,
    },
    /// Nothing happened for as long as the harness waits.
    Quiet,
    /// The system continues on its own after this many seconds; after such a silence, other systems would
    /// have been considered hung.
    Waited { seconds: u32 },
    /// The turn did not end at its stop, so the harness lets something that it held continue.
    LetGo { what: LetGo },
    /// The harness gave up waiting for the turn to end.
    GaveUp,
    /// The adapter repaired something in the turn in the application's place, as the documentation asks.
    Repaired {
        /// The name of the repair.
        repair: String,
    },
    /// The system ended the turn.
    TurnEnded { outcome: TurnOutcome },
    /// The plan has ended, and the system has returned its stored history, in its own format.
    Stored {
        /// JSON. It is not written with the events but to its own file in a run folder.
        #[serde(skip)]
        history: Arc<[u8]>,
    },
}

impl Event {
    /// A request that names no model and shows no compaction.
    pub fn requested(exchange: ExchangeId, kind: RequestKind, body: impl Into<Arc<[u8]>>) -> Event {
        let head = RequestHead::default();
        Event::Requested { exchange, kind, head, compacted: false, summary: None, body: body.into() }
    }
}

/// A compaction of the history, by its place in the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compaction {
    /// The turn in which the system asks for a summary, from 0, or the one before which the application asks for it.
    pub turn: usize,
    /// Its number in that turn, from 1.
    pub number: u32,
}

/// The facts about a request that are not in its body.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequestHead {
    /// The model that is asked, if the path names it.
    pub model: Option<String>,
    /// The version of the provider's API, if a header names it.
    pub version: Option<String>,
}

impl RequestHead {
    fn len(&self) -> usize {
        [&self.model, &self.version].into_iter().flatten().map(String::len).sum()
    }
}

/// The part that the harness lets continue in a stopped turn that has not ended: first the replies, then the tools. A
/// provider that went silent by plan is never let continue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LetGo {
    /// The replies that the harness holds at a point of the plan.
    Replies,
    /// The tools that are still running.
    Tools,
}

/// The way in which a text is sent to a running turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Aside {
    /// The user steers the turn with it.
    Steered,
    /// The user sends it as another prompt.
    Prompted,
    /// A hook adds it for the model.
    Injected,
}

/// How the provider handles a request.
#[expect(missing_docs, reason = "the names are self-explanatory")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum RequestKind {
    /// It is answered with a scripted reply (all indices are 0-based).
    Scripted { turn: usize, reply: usize, attempt: usize },
    /// It is refused, because the history breaks a rule.
    Refused { status: u16 },
    /// It gets the planned HTTP error.
    Faulted { turn: usize, reply: usize, attempt: usize, status: u16 },
    /// The turn's script has no reply left; the request gets a short text.
    Surplus,
    /// It repeats, byte for byte, a request of an earlier turn that failed there, and does not contain what the
    /// user has said since: a client sends it again on its own. It gets a short text, or its refusal.
    Repeated { of: ExchangeId },
    /// It asks for a title, a token count or a list of models, and is answered without the script.
    Auxiliary,
    /// It belongs to the sub-agent that a call has started, which has its own conversation. It is answered
    /// with the reply at this 0-based index, or with an HTTP error instead.
    OfSubAgent { call: CallKey, reply: usize, refused: Option<u16> },
}

impl RequestKind {
    /// True if a request continues the thread, or tries to.
    pub fn is_of_thread(self) -> bool {
        match self {
            RequestKind::Scripted { .. }
            | RequestKind::Refused { .. }
            | RequestKind::Faulted { .. }
            | RequestKind::Surplus => true,
            RequestKind::Repeated { .. } | RequestKind::Auxiliary | RequestKind::OfSubAgent { .. } => false,
        }
    }
}

/// The position of a held reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    /// The mark at which it is held.
    pub mark: Mark,
    /// Before or after the mark.
    pub side: Side,
}

crate::named! {
    /// How certain it is that the system has received what was sent to it.
    #[schemars(rename = "Grade")]
    pub enum Confidence {
        /// Our side has written it.
        Written = "written",
        /// The system has read it, as its socket or its own count of bytes shows.
        Read = "read",
        /// The system has reported, or its process has shown, that it took it in.
        Observed = "observed",
    }
}

/// How a reply ended.
#[expect(missing_docs, reason = "the names are self-explanatory")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    Complete,
    /// The body was completed without the terminal event.
    EndEarly,
    /// FIN inside the body.
    Eof,
    Reset,
    /// An error event, then the connection was closed.
    ErrorEvent,
    Status,
}

/// The user's answer to the question whether a tool may run.
#[expect(missing_docs, reason = "the names are self-explanatory")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Consent {
    Given,
    Refused,
    /// The user has stopped the turn instead of answering.
    Withheld,
}

/// A call's state, as the system shows it to the user.
#[expect(missing_docs, reason = "the names are self-explanatory")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ShownState {
    Pending,
    InProgress,
    Completed,
    /// Failed, cancelled or refused.
    Failed,
}

impl ShownState {
    /// The state, as the Agent Client Protocol writes it.
    pub fn name(self) -> &'static str {
        match self {
            ShownState::Pending => "pending",
            ShownState::InProgress => "in_progress",
            ShownState::Completed => "completed",
            ShownState::Failed => "failed",
        }
    }

    /// True if no other state can follow.
    pub fn is_final(self) -> bool {
        matches!(self, ShownState::Completed | ShownState::Failed)
    }
}

/// How a turn ended, as the adapter saw it.
#[expect(missing_docs, reason = "the names are self-explanatory")]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "outcome")]
pub enum TurnOutcome {
    /// The SDK's call returned.
    Returned,
    /// The SDK raised an error.
    Raised { class: String, text: String },
    /// The SDK reported that the turn was stopped.
    Cancelled,
}

/// The actual course of one call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct CallRecord {
    /// The arguments of each start, in order.
    pub starts: Vec<String>,
    /// The 0-based turn of each start.
    pub start_turns: Vec<usize>,
    /// The outcome, if the result was delivered.
    pub settled: Option<ToolOutcome>,
    /// True if the result was delivered after the user's stop of that turn, after the turn's end, or after
    /// its death.
    pub settled_late: bool,
    /// True if the system sent the model a request after that.
    pub asked_since: bool,
    /// True if the system gave it up.
    pub cancelled: bool,
    /// The user's last answer to a question about it.
    pub consent: Option<Consent>,
    /// True if it started while the user had not agreed; this matters only for a tool that asks.
    pub unasked: bool,
}

/// The calls that really started, settled and were cancelled.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Ledger {
    /// One record for each call in the plan.
    pub calls: Vec<CallRecord>,
    /// The arguments in starts that have no marker from the plan.
    pub strangers: Vec<String>,
}

impl Ledger {
    /// Computes the ledger of a plan with `n_calls` calls from its trace.
    pub fn of(trace: &Trace, n_calls: usize) -> Ledger {
        let mut ledger = Ledger { calls: vec![CallRecord::default(); n_calls], strangers: Vec::new() };
        let mut stopped = false;
        // Calls that were still running at a stop.
        let mut outlived = vec![false; n_calls];
        for (turn, event) in trace.by_turn() {
            match event {
                Event::Prompted { .. } | Event::Said { way: Aside::Prompted, .. } => stopped = false,
                Event::Stopped | Event::Interrupted { .. } | Event::TurnEnded { .. } | Event::Killed => {
                    stopped = true;
                    outlived
                        .iter_mut()
                        .zip(&ledger.calls)
                        .for_each(|(late, call)| *late |= !call.starts.is_empty());
                }
                Event::ToolStarted { call: Some(key), args } => {
                    if let Some(account) = ledger.calls.get_mut(key.0 as usize) {
                        account.unasked |= account.consent != Some(Consent::Given);
                        account.starts.push(args.clone());
                        account.start_turns.push(turn);
                        outlived[key.0 as usize] = false;
                    }
                }
                Event::ToolStarted { call: None, args } => ledger.strangers.push(args.clone()),
                Event::ToolSettled { call, outcome, .. } => {
                    if let Some(account) = ledger.calls.get_mut(call.0 as usize) {
                        account.settled_late = stopped
                            || outlived[call.0 as usize]
                            || account.start_turns.last().is_some_and(|start| *start < turn);
                        account.settled = Some(outcome.clone());
                        account.asked_since = false;
                    }
                }
                Event::Requested { kind, .. } if kind.is_of_thread() => {
                    ledger
                        .calls
                        .iter_mut()
                        .for_each(|account| account.asked_since |= account.settled.is_some());
                }
                Event::Answered { call: Some(call), consent, .. } => {
                    if let Some(account) = ledger.calls.get_mut(call.0 as usize) {
                        account.consent = Some(*consent);
                    }
                }
                Event::ToolCancelled { call } => {
                    if let Some(account) = ledger.calls.get_mut(call.0 as usize) {
                        account.cancelled = true;
                    }
                }
                _ => {}
            }
        }
        ledger
    }
}
