//! The standalone strict provider, on a port of this machine, for `serve`, `wrap` and in-process tests.
//!
//! It sends the answers of [`brickbat_engine::standalone`] through the server, and releases their holds. It
//! starts no program. At a point that ends the program, it asks its caller to end it.

pub mod variables;

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

use crate::by_now::{by_now, received};
use crate::server::{Admission, Answerer, Mount, Server, ServerEvent, ServerLimits};
use brickbat_engine::provider;
use brickbat_engine::standalone::{
    Behaviour, Log, Next, NoPoint, Notice, Order as Ordered, OrderRecord, ProgramEnd, Runs, Sent, Standalone,
};
use brickbat_scenario::plan::ToolOutcome;
use brickbat_scenario::trace::{ExchangeId, RequestKind};

impl Answerer for Standalone {
    fn answer(&mut self, request: provider::Request<'_>) -> (RequestKind, provider::Answer) {
        Standalone::answer(self, request)
    }
}

/// A strict provider that listens. It stops when this is dropped.
#[derive(Debug)]
pub struct StrictServer {
    base_url: String,
    core: Arc<Mutex<Standalone>>,
    seen: mpsc::Receiver<Seen>,
    orders: mpsc::UnboundedSender<Order>,
    // Dropped last: it ends the task and the server.
    _task: JoinSet<()>,
}

/// An event for the caller.
#[derive(Debug)]
pub enum Seen {
    /// A human-readable notice.
    Notice(Notice),
    /// The point at which the program is to be ended, after this time. The reply is held until [`StrictServer::release`].
    EndProgram(ExchangeId, ProgramEnd, Duration),
}

enum Order {
    Release(ExchangeId),
    Answer(oneshot::Sender<()>),
}

/// Events that wait for a reader. Further notices are dropped; they are in the log.
const N_WAITING: usize = 1024;

impl StrictServer {
    /// Listens on that port of 127.0.0.1, or on a free one if it is 0. A stalled reply continues after
    /// `stall`.
    pub async fn start(
        behaviour: Behaviour,
        port: u16,
        admission: Admission,
        stall: Duration,
    ) -> io::Result<StrictServer> {
        let server = Server::start_at(ServerLimits::STANDARD, port, admission).await?;
        let mount = server.mount_at_root(Standalone::new(behaviour));
        let (base_url, core) = (mount.base_url(), mount.core());
        let (sender, seen) = mpsc::channel(N_WAITING);
        let (orders, ordered) = mpsc::unbounded_channel();
        let mut task = JoinSet::new();
        task.spawn(play(mount, sender, ordered, stall));
        Ok(StrictServer { base_url, core, seen, orders, _task: task })
    }

    /// The base URL of all dialects, without a slash at its end.
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// Everything that has happened so far.
    pub fn log(&self) -> Log {
        self.with_core(|core| core.log().clone())
    }

    /// Begins a run of the program. The user's message in it is one of these texts, if a request contains it.
    pub fn begin_run(&self, texts: Vec<String>) {
        self.with_core(|core| core.begin_run(texts));
    }

    /// The runs of the program, with the contents of their threads.
    pub fn runs(&self) -> Runs {
        self.with_core(|core| core.runs().clone())
    }

    /// Keeps the histories of the last requests from now on.
    pub fn keep_histories(&self) {
        self.with_core(Standalone::keep_histories);
    }

    /// The kept histories, the earliest first.
    pub fn histories(&self) -> Vec<Sent> {
        self.with_core(|core| core.histories().cloned().collect())
    }

    /// The next event.
    pub async fn next(&mut self) -> Option<Seen> {
        received(&mut self.seen).await
    }

    /// The events that were not read yet.
    pub fn unread(&mut self) -> Vec<Seen> {
        std::iter::from_fn(|| by_now(received(&mut self.seen)).flatten()).collect()
    }

    /// Continues a reply that is held because the program is to be ended.
    pub fn release(&self, exchange: ExchangeId) {
        // If the task is gone, so is the reply.
        let _ = self.orders.send(Order::Release(exchange));
    }

    /// Waits until everything that the server has reported is in the log.
    pub async fn caught_up(&self) {
        let (answer, answered) = oneshot::channel();
        if self.orders.send(Order::Answer(answer)).is_ok() {
            // It is dropped unanswered only if the task is gone.
            let _ = answered.await;
        }
    }

    /// Orders a stop or a fault in a reply that is still to come, and returns the number of the order.
    pub fn place(&self, order: Ordered) -> Result<usize, NoPoint> {
        self.with_core(|core| core.place(order))
    }

    /// The number of the order that is carried out in an exchange.
    pub fn order_of(&self, exchange: ExchangeId) -> Option<usize> {
        self.with_core(|core| core.order_of(exchange))
    }

    /// The results of the orders.
    pub fn order_records(&self) -> Vec<OrderRecord> {
        self.with_core(|core| core.order_records())
    }

    /// From here on, ends no program.
    pub fn end_program_no_more(&self) {
        self.with_core(Standalone::end_program_no_more);
    }

    fn with_core<R>(&self, f: impl FnOnce(&mut Standalone) -> R) -> R {
        f(&mut self.core.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Runs until the handle is dropped.
async fn play(
    mut mount: Mount<Standalone>,
    sender: mpsc::Sender<Seen>,
    mut orders: mpsc::UnboundedReceiver<Order>,
    stall: Duration,
) {
    let mut stalled = JoinSet::new();
    loop {
        // Biased, so that events that were reported before an order are in the log before the order is
        // carried out.
        tokio::select! {
            biased;
            event = mount.next() => match event {
                None => return,
                Some(ServerEvent::Trace(event)) => {
                    let (next, notices) =
                        mount.with_core(|core| (core.observed(&event), core.take_notices()));
                    for notice in notices {
                        // The notices may have no reader.
                        let _ = sender.try_send(Seen::Notice(notice));
                    }
                    match next {
                        Next::Nothing => {}
                        Next::Release(exchange) => mount.release(exchange),
                        Next::ReleaseLater(exchange) => {
                            stalled.spawn(async move {
                                silence(stall).await;
                                exchange
                            });
                        }
                        Next::EndProgram(exchange, end, later) => {
                            // Without a reader, there is no program to end.
                            if sender.try_send(Seen::EndProgram(exchange, end, later)).is_err() {
                                mount.release(exchange);
                            }
                        }
                    }
                }
                // A mount at the root has no gates.
                Some(ServerEvent::GateOpened { gate, .. } | ServerEvent::SaveHeld { gate, .. }) => {
                    mount.settle(gate, &ToolOutcome::Error("there are no gates here".to_owned()));
                }
                Some(ServerEvent::GateSettled { .. } | ServerEvent::GateDropped { .. } | ServerEvent::Broken) => {}
            },
            Some(exchange) = stalled.join_next(), if !stalled.is_empty() => {
                if let Ok(exchange) = exchange {
                    mount.release(exchange);
                }
            }
            order = orders.recv() => match order {
                None => return,
                Some(Order::Release(exchange)) => mount.release(exchange),
                Some(Order::Answer(answer)) => {
                    // The caller may be gone.
                    let _ = answer.send(());
                }
            },
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a stall is a silence of a given length; no order of events hangs on it"
)]
async fn silence(length: Duration) {
    tokio::time::sleep(length).await;
}
