//! The connections that are closed first when there is no slot for another.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::sync::oneshot;

use super::{Shared, lock};

/// Connections that have not sent a complete request to a mount yet, oldest first. They are the first to be
/// closed when slots run out, so that strangers cannot keep a plan's client out.
#[derive(Debug, Default)]
pub(super) struct Newcomers {
    n_seen: u64,
    waiting: BTreeMap<u64, oneshot::Sender<()>>,
}

/// A connection's entry among the newcomers.
#[derive(Debug)]
pub(super) struct Newcomer {
    shared: Arc<Shared>,
    number: u64,
    /// Resolves when the slot is taken away.
    pub(super) evicted: oneshot::Receiver<()>,
}

impl Newcomer {
    pub(super) fn enter(shared: &Arc<Shared>) -> Newcomer {
        let (sender, evicted) = oneshot::channel();
        let mut newcomers = lock(&shared.newcomers);
        let number = newcomers.n_seen;
        newcomers.n_seen += 1;
        newcomers.waiting.insert(number, sender);
        Newcomer { shared: shared.clone(), number, evicted }
    }

    /// Ends the newcomer status; false if the slot was just taken away.
    pub(super) fn stays(self) -> bool {
        lock(&self.shared.newcomers).waiting.remove(&self.number).is_some()
    }
}

impl Drop for Newcomer {
    fn drop(&mut self) {
        lock(&self.shared.newcomers).waiting.remove(&self.number);
    }
}

impl Shared {
    /// Takes the slot away from the oldest newcomer; false if there is none.
    pub(super) fn evict_newcomer(&self) -> bool {
        lock(&self.newcomers).waiting.pop_first().is_some()
    }
}
