//! The server: it moves bytes between sockets on 127.0.0.1 and the provider core of each running plan.
//!
//! One server serves many plans, each mounted below its own base path. It makes no decisions about a reply:
//! it sends the core's [`Answer`](brickbat_engine::provider::Answer), stops at its holds, ends the body as
//! planned, and reports the events, in order, to the plan's runner. It also provides the gates at which
//! tools wait.
//!
//! It does not interpret bodies, and it does not trust its peers: every size, count and wait has a bound in
//! [`ServerLimits`].

mod accept;
mod admission;
mod chunks;
mod connection;
mod gate;
mod http;
mod newcomers;
mod pass_on;
mod play;
mod receipt;
mod requests;

use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;

use crate::by_now::received;
use crate::driver::FailingWrite;
use brickbat_engine::provider;
use brickbat_scenario::plan::ToolOutcome;
use brickbat_scenario::trace::{Confidence, Event, ExchangeId, RequestKind};

pub use admission::Admission;
pub use gate::GateId;
pub(crate) use http::{has_dot_segments, origin_form};
pub use pass_on::{Foreign, NotPassed, Part, Received, Responder, Response};

use gate::Gates;
use newcomers::Newcomers;
pub(crate) use receipt::{Answered, Sent};
use receipt::{Deliveries, Machine, machine};

/// Answers the requests that the server receives; the provider core of a running plan implements it.
pub trait Answerer: Send + 'static {
    /// The kind of the request, and the answer to send.
    fn answer(&mut self, request: provider::Request<'_>) -> (RequestKind, provider::Answer);
}

impl Answerer for provider::Provider {
    fn answer(&mut self, request: provider::Request<'_>) -> (RequestKind, provider::Answer) {
        provider::Provider::answer(self, request)
    }
}

/// The bounds of a server, and how it writes.
#[derive(Debug, Clone, Copy)]
pub struct ServerLimits {
    pub writes: Writes,
    pub head_bytes: usize,
    pub body_bytes: usize,
    pub n_connections: usize,
    /// The time limit for a request, from its first byte to its last.
    pub request_time: Duration,
    /// The time to wait for the proof that the peer has read everything.
    pub receipt_time: Duration,
}

impl ServerLimits {
    /// The limits that the harness uses.
    ///
    /// - 64 KiB of head: real clients send less than 4 KiB, common servers accept 8 to 64 KiB.
    /// - 32 MiB of body: the largest that a supported provider accepts (Anthropic's Messages API).
    /// - 1,024 connections: a system under test uses a handful, and a common limit of open files is 1,024 on
    ///   the peer's side.
    /// - 30 s for a request: on loopback the largest takes less than one second; the margin is for a loaded
    ///   machine.
    /// - 2 s for a receipt, in the system's time: a client that reads at all reads within milliseconds; the
    ///   margin is for a garbage collection.
    pub const STANDARD: ServerLimits = ServerLimits {
        writes: Writes::PerFrame,
        head_bytes: 64 << 10,
        body_bytes: 32 << 20,
        n_connections: 1024,
        request_time: Duration::from_secs(30),
        receipt_time: Duration::from_secs(2),
    };
}

/// How the frames of a streamed body are written. Each frame is one chunk in both cases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writes {
    /// One write for each frame, so that a frame is on its way before the next is written.
    PerFrame,
    /// One write up to the next hold.
    Coalesced,
}

/// Something that happened at a mount.
#[derive(Debug, Clone, PartialEq)]
pub enum ServerEvent {
    /// An event for the trace: a request has arrived, or its answer has reached a point. A held reply stops
    /// until [`Mount::release`].
    Trace(Event),
    /// A tool waits at its gate until [`Mount::settle`].
    GateOpened {
        gate: GateId,
        tool: String,
        /// The arguments exactly as the system passed them.
        args: String,
    },
    /// The store of the system waits, before or after a write, until [`Mount::settle`].
    SaveHeld {
        gate: GateId,
        /// The POST body, which describes the write.
        write: String,
    },
    /// The answer of a gate was delivered.
    GateSettled {
        gate: GateId,
        /// The certainty that the peer has received it.
        grade: Confidence,
    },
    /// The peer disconnected before it had the answer of the gate.
    GateDropped { gate: GateId },
    /// The core panicked, or this machine could not execute the plan. That is not the system's fault, so
    /// there must be no verdict on it.
    Broken,
}

/// The path below a mount that receives the writes of a store.
pub(crate) const SAVING: &str = "/saving";

/// Events that wait for the runner of the plan. A plan of the suite has about 60; when the queue is full,
/// connections wait.
const N_WAITING_EVENTS: usize = 1024;

/// Connections that the kernel keeps until they are accepted. Beyond that a client waits a second before it
/// tries again, so it is as large as Linux allows by default.
const BACKLOG: u32 = 4096;

/// A running server. Clones are handles to the same one; it stops when the last handle and the last mount are
/// dropped.
#[derive(Debug, Clone)]
pub struct Server {
    running: Arc<ServerTask>,
}

impl Server {
    /// Listens on a free port of 127.0.0.1, for this machine only.
    pub async fn start(limits: ServerLimits) -> std::io::Result<Server> {
        Server::start_at(limits, 0, Admission::LOCAL).await
    }

    /// Listens on that port of 127.0.0.1, or on a free one if it is 0.
    pub async fn start_at(limits: ServerLimits, port: u16, admission: Admission) -> std::io::Result<Server> {
        let socket = TcpSocket::new_v4()?;
        // A port that was just given up is free, even if old connections linger.
        socket.set_reuseaddr(port != 0)?;
        socket.bind((Ipv4Addr::LOCALHOST, port).into())?;
        Server::accept(socket.listen(BACKLOG)?, limits, admission, machine())
    }

    /// A server on a machine that does not show socket queues.
    #[cfg(test)]
    pub(crate) async fn start_unseeing(limits: ServerLimits) -> std::io::Result<Server> {
        let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        Server::accept(listener, limits, Admission::LOCAL, Box::new(receipt::Silent))
    }

    fn accept(
        listener: TcpListener,
        limits: ServerLimits,
        admission: Admission,
        machine: Box<dyn Machine>,
    ) -> std::io::Result<Server> {
        let addr = listener.local_addr()?;
        let shared = Arc::new(Shared {
            limits,
            admission,
            mounts: Mutex::default(),
            newcomers: Mutex::default(),
            machine,
        });
        let accepting = tokio::spawn(accept::accept(listener, shared.clone())).abort_handle();
        Ok(Server { running: Arc::new(ServerTask { addr, shared, accepting }) })
    }

    pub fn addr(&self) -> SocketAddr {
        self.running.addr
    }

    /// Mounts a core at its own base path, until the mount is dropped.
    pub fn mount<C: Responder>(&self, core: C) -> Mount<C> {
        self.mount_at(Place::Below, core)
    }

    /// Mounts a core, without gates, at all paths that belong to no other mount, until the mount is dropped.
    pub fn mount_at_root<C: Responder>(&self, core: C) -> Mount<C> {
        self.mount_at(Place::Root, core)
    }

    fn mount_at<C: Responder>(&self, place: Place, core: C) -> Mount<C> {
        let (sender, seen) = mpsc::channel(N_WAITING_EVENTS);
        let core = Arc::new(Mutex::new(core));
        let mounted = Arc::new(Mounted {
            place,
            core: core.clone(),
            seen: sender,
            holds: Mutex::default(),
            deliveries: Mutex::default(),
            gates: Gates::default(),
            bereaved: AtomicBool::new(false),
            process: AtomicU32::new(0),
            due: Mutex::new(None),
        });
        let mut mounts = lock(&self.running.shared.mounts);
        let token = mounts.n_given;
        mounts.n_given += 1;
        mounts.open.insert(token, mounted.clone());
        if place == Place::Root {
            mounts.root = Some(token);
        }
        Mount { running: self.running.clone(), token, mounted, core, seen }
    }
}

/// A core at its base path. Dropping it removes the path and closes the connections that were in the middle
/// of a request to it. Idle connections stay, because a client may be about to use one for another mount.
#[derive(Debug)]
pub struct Mount<C: Responder> {
    running: Arc<ServerTask>,
    token: u64,
    mounted: Arc<Mounted>,
    core: Arc<Mutex<C>>,
    seen: mpsc::Receiver<ServerEvent>,
}

impl<C: Responder> Mount<C> {
    /// The base URL that the system is given.
    pub fn base_url(&self) -> String {
        match self.mounted.place {
            Place::Below => format!("http://{}/p/{}", self.running.addr, self.token),
            Place::Root => format!("http://{}", self.running.addr),
        }
    }

    pub fn gate_url(&self, tool: &str) -> String {
        format!("{}/gate/{tool}", self.base_url())
    }

    /// The URL to which the system sends a request before and after each write to its store.
    pub fn saving_url(&self) -> String {
        format!("{}{SAVING}", self.base_url())
    }

    /// The next event. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<ServerEvent> {
        received(&mut self.seen).await
    }

    /// Continues a held reply. Has no effect if it is not held.
    pub fn release(&self, exchange: ExchangeId) {
        if let Some(held) = lock(&self.mounted.holds).remove(&exchange) {
            // The peer may just have disconnected, which its connection then reports.
            let _ = held.send(());
        }
    }

    /// Answers a gate. Has no effect if no tool waits there any more.
    pub fn settle(&self, gate: GateId, outcome: &ToolOutcome) {
        self.mounted.gates.settle(gate, outcome);
    }

    /// Lets a write of a store that waits at a gate continue, or fail.
    pub(crate) fn let_write(&self, gate: GateId, failing: Option<&FailingWrite>) {
        match failing {
            Some(failing) => self.mounted.gates.answer(gate, failing.answer()),
            None => self.settle(gate, &ToolOutcome::Return(String::new())),
        }
    }

    /// From here on, ignores each request that was abandoned before the core could handle it: it is a late
    /// request from a killed process, and needs no answer.
    pub fn drop_late_words(&self) {
        // A request that is being handled has its number; the others wait for the core.
        let _core = lock(&self.core);
        self.mounted.bereaved.store(true, Ordering::Relaxed);
    }

    /// Forgets the pause that an answer has asked the client for.
    pub(crate) fn forget_pause(&self) {
        *lock(&self.mounted.due) = None;
    }

    /// Sets the root of the processes that send requests here, so that waits for receipts use their time.
    pub(crate) fn belongs_to(&self, process: Option<u32>) {
        self.mounted.process.store(process.unwrap_or_default(), Ordering::Relaxed);
    }

    /// True if this machine shows what a peer has not read yet. Otherwise, only the system itself can report it.
    pub(crate) fn shows_queues(&self) -> bool {
        self.running.shared.machine.shows_queues()
    }

    /// How far an answer was written by its last hold or its end. `None` if it is too long ago.
    pub(crate) fn sent(&self, answer: Answered) -> Option<Sent> {
        lock(&self.mounted.deliveries).of(answer)
    }

    /// The time to wait for the proof that the system has read everything.
    pub(crate) fn receipt_time(&self) -> Duration {
        self.running.shared.limits.receipt_time
    }

    /// The core, for code that does not hold the mount.
    pub(crate) fn core(&self) -> Arc<Mutex<C>> {
        self.core.clone()
    }

    /// Gives access to the core, while no request is being answered.
    pub fn with_core<R>(&self, f: impl FnOnce(&mut C) -> R) -> R {
        f(&mut lock(&self.core))
    }
}

impl<C: Responder> Drop for Mount<C> {
    fn drop(&mut self) {
        lock(&self.running.shared.mounts).open.remove(&self.token);
    }
}

/// Stops the server when the last handle is dropped.
#[derive(Debug)]
struct ServerTask {
    addr: SocketAddr,
    shared: Arc<Shared>,
    accepting: AbortHandle,
}

impl Drop for ServerTask {
    fn drop(&mut self) {
        // The task owns all connections, so they end with it.
        self.accepting.abort();
    }
}

#[derive(Debug)]
struct Shared {
    limits: ServerLimits,
    admission: Admission,
    mounts: Mutex<Mounts>,
    newcomers: Mutex<Newcomers>,
    machine: Box<dyn Machine>,
}

/// The mounts by token. Tokens are counted, so that URLs are the same in every run.
#[derive(Debug, Default)]
struct Mounts {
    n_given: u64,
    /// The mount for all paths that belong to no other mount.
    root: Option<u64>,
    open: HashMap<u64, Arc<Mounted>>,
}

/// The path at which a core is mounted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Below its own base path.
    Below,
    /// At all paths that belong to no other mount.
    Root,
}

struct Mounted {
    place: Place,
    core: Arc<Mutex<dyn Responder>>,
    seen: mpsc::Sender<ServerEvent>,
    holds: Mutex<HashMap<ExchangeId, oneshot::Sender<()>>>,
    deliveries: Mutex<Deliveries>,
    gates: Gates,
    /// True if a process that sent requests here was killed.
    bereaved: AtomicBool,
    /// The root of the processes that send requests here, if it is known; otherwise 0.
    process: AtomicU32,
    /// The earliest time for the next request, if an answer has asked the client to wait.
    due: Mutex<Option<Instant>>,
}

impl std::fmt::Debug for Mounted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Mounted").field("gates", &self.gates).finish_non_exhaustive()
    }
}

impl Mounted {
    fn process(&self) -> Option<u32> {
        Some(self.process.load(Ordering::Relaxed)).filter(|process| *process > 0)
    }
}

impl Shared {
    /// The reason why no mount has a target. If a mount at the root was dropped, the server is about to
    /// stop.
    fn unfound(&self) -> http::HttpRefusal {
        let mounts = lock(&self.mounts);
        match mounts.root.is_some_and(|root| !mounts.open.contains_key(&root)) {
            true => http::HttpRefusal::Stopping,
            false => http::HttpRefusal::UnknownPath,
        }
    }

    /// The mount of a target, and the path below it.
    fn find<'t>(&self, target: &'t str) -> Option<(Arc<Mounted>, &'t str)> {
        let mounts = lock(&self.mounts);
        let path = http::path_of(target)?;
        let below = http::split_path(path);
        if let Some((token, path)) = below
            && let Some(mounted) = mounts.open.get(&token).filter(|mounted| mounted.place == Place::Below)
        {
            return Some((mounted.clone(), path));
        }
        let root = mounts.open.get(&mounts.root?)?;
        Some((root.clone(), path))
    }
}

/// Locks, even after a panic elsewhere: the values behind these locks are consistent between any two
/// statements.
fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
