//! The record of one case: everything that is kept about a plan on a system, so that the case can be shown
//! later from only the record.
//!
//! A record becomes a handful of named files ([`Record::files`]) and is read back from them
//! ([`Record::read`]). It does not know where they are stored. Everything that goes into a file is redacted.
//! It judges nothing.

mod exchange;
mod files;
mod notes;
mod order;
mod pieces;
mod read;

use std::sync::Arc;

use serde_json::Value;

pub use exchange::{Exchange, Reply};
pub use files::RecordFile;
pub use notes::{CaseNote, FindingNote, PlanNote, ReceiptNote, SCHEMA};
pub use read::{FileReader, RecordError};

use brickbat_engine::provider::{Headers, Provider, Request};
use brickbat_rules::Profile;
use brickbat_scenario::plan::{CallKey, Plan, PlannedCall};
use brickbat_scenario::trace::{Event, ExchangeId, Trace};
use brickbat_scenario::wire::{self, Delivery};

/// Everything that is kept about one case.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// The plan that was run, and its judgement.
    pub case: CaseNote,
    pub plan: PlanNote,
    /// The proof for each action in the plan, in order.
    pub receipts: Vec<ReceiptNote>,
    /// Everything observed, if the plan was driven.
    pub observed: Option<Observed>,
}

/// The observations while a plan ran.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Observed {
    pub trace: Trace,
    /// Every request with its reply, in the order of their numbers.
    pub exchanges: Vec<Exchange>,
    /// The standard error of the adapter's process, if there is one.
    pub stderr: Option<String>,
    /// The history that the system has stored, in its own format, if it shows it.
    pub store: Option<Value>,
}

impl Observed {
    /// The observations of a simulation. The provider gives the same replies to the same requests, so the
    /// exchanges are generated again. `path` is the one that the agent posts to at the first provider of the
    /// plan.
    pub fn of_simulation(plan: &Arc<Plan>, profile: &'static Profile, path: &str, trace: &Trace) -> Observed {
        let mut provider = Provider::new(Arc::clone(plan), profile);
        let mut exchanges = Vec::new();
        for (turn, event) in trace.by_turn() {
            match event {
                Event::Prompted { turn } => {
                    provider.end_change();
                    provider.begin_turn(*turn);
                }
                Event::Requested { body, summary, .. } => {
                    // The application has the history summarised before the next turn.
                    if summary.is_some_and(|of| of.turn > turn) {
                        provider.begin_change();
                    }
                    let dialect = provider.dialect();
                    // At another provider our agent uses a current model, which determines the path.
                    let path = match wire::of(dialect) {
                        _ if dialect == plan.dialect => path.to_owned(),
                        wire => wire.post_path(wire.current_model(), Delivery::Streamed),
                    };
                    let request = Request { method: "POST", path: &path, headers: Headers::NONE, body };
                    let (_, answer) = provider.answer(request);
                    exchanges.push(Exchange::new(request, &answer));
                }
                _ => {}
            }
        }
        Observed { trace: trace.clone(), exchanges, stderr: None, store: None }
    }
}

impl Record {
    /// The call of the plan with a wire id.
    pub fn call_by_id(&self, id: &str) -> Option<CallKey> {
        let at = self.plan.calls.iter().position(|call| call.id == id)?;
        Some(CallKey(at as u32))
    }

    pub fn call(&self, key: CallKey) -> Option<&PlannedCall> {
        self.plan.calls.get(key.0 as usize)
    }

    pub fn exchange(&self, id: ExchangeId) -> Option<&Exchange> {
        self.observed.as_ref()?.exchanges.iter().find(|exchange| exchange.id == id)
    }
}

/// The size limit for one file in a record, in bytes. A built-in plan's largest file takes about 30 kB; a
/// larger file is not useful.
pub const MAX_FILE_BYTES: usize = 4 << 20;

/// Requests of one plan that are kept. The conductor stops a turn at 128, and a plan has a few turns.
const MAX_EXCHANGES: usize = 1000;

/// Cuts a text that is too long, and marks the cut at its end.
fn cut(text: &str, max_bytes: usize) -> String {
    if text.len() <= max_bytes {
        return text.to_owned();
    }
    let kept = &text[..text.floor_char_boundary(max_bytes)];
    format!("{kept}… [cut: {} of {} bytes are kept]", kept.len(), text.len())
}
