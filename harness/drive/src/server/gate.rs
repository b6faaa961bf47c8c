//! The gates: a system's tool, or a write to its store, waits there until the harness lets it continue.

use std::collections::HashMap;
use std::sync::Mutex;

use serde::Serialize;
use tokio::sync::oneshot;

use super::lock;
use brickbat_scenario::plan::ToolOutcome;

/// The number of one wait at a gate of one mount, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct GateId(pub u32);

#[derive(Debug, Default)]
pub(super) struct Gates {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    n_opened: u32,
    waiting: HashMap<GateId, oneshot::Sender<Vec<u8>>>,
}

impl Gates {
    /// Opens a gate; `announce` runs before any other gate can open, so that numbers are announced in order.
    /// The receiver gets the body of the answer.
    pub(super) fn open(&self, announce: impl FnOnce(GateId)) -> (GateId, oneshot::Receiver<Vec<u8>>) {
        let (sender, answer) = oneshot::channel();
        let mut inner = lock(&self.inner);
        let gate = GateId(inner.n_opened);
        inner.n_opened += 1;
        inner.waiting.insert(gate, sender);
        announce(gate);
        (gate, answer)
    }

    /// Forgets a gate after its client has disconnected.
    pub(super) fn forget(&self, gate: GateId) {
        lock(&self.inner).waiting.remove(&gate);
    }

    /// Answers the client that waits at a gate.
    pub(super) fn settle(&self, gate: GateId, outcome: &ToolOutcome) {
        self.answer(gate, outcome.gate_answer());
    }

    /// Answers the client that waits at a gate with this body.
    pub(super) fn answer(&self, gate: GateId, body: String) {
        if let Some(waiting) = lock(&self.inner).waiting.remove(&gate) {
            // The peer may just have disconnected, which its connection then reports.
            let _ = waiting.send(body.into_bytes());
        }
    }
}
