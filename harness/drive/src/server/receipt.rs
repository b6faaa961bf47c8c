//! The *read* receipt: the proof that a peer on this machine has read everything that was sent to it.
//!
//! A TCP acknowledgement proves nothing, because the kernel acknowledges even for a process that reads
//! nothing. The proof is that the peer's socket has received as many bytes as were written, and that none of
//! them is unread. Linux shows both for any socket.
//!
//! Other systems, and some sandboxes, show neither. The system itself may then report how many bytes it has read from
//! each of its sockets, in its answer to a barrier. [`Sent`] is what that number is compared with.

#[cfg(target_os = "linux")]
mod linux;

use std::collections::BTreeMap;
use std::net::SocketAddr;

use super::GateId;
use brickbat_scenario::trace::{Confidence, ExchangeId};

/// The state of the bytes that were sent to a peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only Linux reports queues"))]
pub(super) enum Queue {
    /// The peer has read them all.
    Empty,
    /// Some are in transit or unread, or the connection is gone.
    Waiting,
    /// This operating system does not report it.
    Unknown,
}

/// What an operating system shows of the sockets of other processes.
pub(super) trait Machine: std::fmt::Debug + Send + Sync {
    /// True if the queues can be read.
    fn shows_queues(&self) -> bool;

    /// Examines the two ends of a connection on which we have written `n_written` bytes.
    fn look(&self, ours: SocketAddr, peer: SocketAddr, n_written: u64) -> Queue;
}

/// A machine that shows nothing.
#[derive(Debug)]
pub(super) struct Silent;

impl Machine for Silent {
    fn shows_queues(&self) -> bool {
        false
    }

    fn look(&self, _ours: SocketAddr, _peer: SocketAddr, _n_written: u64) -> Queue {
        Queue::Unknown
    }
}

/// Hides the queues if it is set and not empty, so that a run on Linux can be compared with one on a machine that does
/// not show them. It is for tests of Brickbat itself, so the help does not list it.
const HIDE_QUEUES: &str = "BRICKBAT_HIDE_QUEUES";

/// The machine that Brickbat runs on.
pub(super) fn machine() -> Box<dyn Machine> {
    match std::env::var_os(HIDE_QUEUES) {
        Some(value) if !value.is_empty() => Box::new(Silent),
        _ => as_it_is(),
    }
}

#[cfg(target_os = "linux")]
fn as_it_is() -> Box<dyn Machine> {
    Box::new(linux::Linux::open())
}

#[cfg(not(target_os = "linux"))]
fn as_it_is() -> Box<dyn Machine> {
    Box::new(Silent)
}

/// The number of bytes that were written on a connection by the end of an answer, or by a hold in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sent {
    /// The peer's port, and ours.
    pub(crate) ports: (u16, u16),
    pub(crate) n_written: u64,
    /// The grade that the machine has shown. At the end of a complete answer it is not looked at.
    pub(crate) grade: Confidence,
}

/// Answers that are kept for the runner. It asks about one as soon as it learns of it.
const N_KEPT: usize = 256;

/// How far the last answers were written.
#[derive(Debug, Default)]
pub(super) struct Deliveries {
    exchanges: BTreeMap<ExchangeId, Sent>,
    gates: BTreeMap<GateId, Sent>,
}

impl Deliveries {
    pub(super) fn note(&mut self, answer: Answered, sent: Sent) {
        match answer {
            Answered::Exchange(exchange) => keep(&mut self.exchanges, exchange, sent),
            Answered::Gate(gate) => keep(&mut self.gates, gate, sent),
        }
    }

    pub(super) fn of(&self, answer: Answered) -> Option<Sent> {
        match answer {
            Answered::Exchange(exchange) => self.exchanges.get(&exchange).copied(),
            Answered::Gate(gate) => self.gates.get(&gate).copied(),
        }
    }
}

fn keep<K: Ord>(kept: &mut BTreeMap<K, Sent>, key: K, sent: Sent) {
    kept.insert(key, sent);
    if kept.len() > N_KEPT {
        kept.pop_first();
    }
}

/// Something that the server has answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answered {
    Exchange(ExchangeId),
    Gate(GateId),
}
