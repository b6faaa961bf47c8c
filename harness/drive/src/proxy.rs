//! A proxy between a program and a server with a supported dialect: it listens on 127.0.0.1 and connects only
//! to the URL that it is given.
//!
//! [`brickbat_engine::relay`] decides about requests and replies; this module moves the bytes. If the client
//! hangs up, the connection to the server is closed. If the server breaks off, the connection to the client
//! is closed. Keys pass through. They are kept only in memory, so that they can be redacted in recordings.

mod carry;
mod headers;
mod keys;
mod names;
mod recording;
mod upstream;

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::by_now::{by_now, received};
use crate::server::{
    Admission, Foreign, Mount, NotPassed, Received, Responder, Response, Server, ServerEvent, ServerLimits,
    has_dot_segments, origin_form,
};
use brickbat_engine::relay::{Decision, Relay, RelayBehaviour, RelayLog, RelayNotice};
use brickbat_rules::redact::Redactor;
use carry::Errand;
use keys::Keys;
pub use recording::Recording;
pub use upstream::{NoUpstream, Upstream};

/// The settings of a proxy besides its behaviour.
#[derive(Debug)]
pub struct ProxyTerms {
    /// The server.
    pub upstream: Upstream,
    /// The port of 127.0.0.1; a free one if it is 0.
    pub port: u16,
    /// The clients whose requests are accepted.
    pub admission: Admission,
    /// The delay after which a stalled reply continues.
    pub stall: Duration,
    /// The file in which exchanges are recorded.
    pub recording: Option<Recording>,
    /// Redacts recordings; the keys of requests are redacted as well.
    pub redactor: Redactor,
}

/// A proxy that listens. It stops when this is dropped.
#[derive(Debug)]
pub struct Proxy {
    base_url: String,
    shared: Arc<Shared>,
    seen: mpsc::Receiver<RelayNotice>,
    // Dropped last: it ends the task and the server.
    _task: JoinSet<()>,
}

/// Answers the requests.
struct Core {
    shared: Arc<Shared>,
    errands: JoinSet<()>,
}

/// The state that all requests in progress share.
#[derive(Debug)]
struct Shared {
    relay: Mutex<Relay>,
    upstream: Upstream,
    stall: Duration,
    recording: Option<Mutex<Recording>>,
    keys: Mutex<Keys>,
    seen: mpsc::Sender<RelayNotice>,
}

/// Notices that wait for a reader. Further ones are dropped; the log still counts them.
const N_WAITING: usize = 1024;

/// Parts of an answer that wait until the client takes them, so that a slow client slows the server down.
const N_PARTS: usize = 16;

impl Proxy {
    /// Starts to listen.
    ///
    /// # Errors
    ///
    /// The port is in use.
    pub async fn start(behaviour: RelayBehaviour, terms: ProxyTerms) -> io::Result<Proxy> {
        let server = Server::start_at(ServerLimits::STANDARD, terms.port, terms.admission).await?;
        let (sender, seen) = mpsc::channel(N_WAITING);
        let shared = Arc::new(Shared {
            relay: Mutex::new(Relay::new(behaviour)),
            upstream: terms.upstream,
            stall: terms.stall,
            recording: terms.recording.map(Mutex::new),
            keys: Mutex::new(Keys::new(terms.redactor)),
            seen: sender,
        });
        let mount = server.mount_at_root(Core { shared: shared.clone(), errands: JoinSet::new() });
        let base_url = mount.base_url();
        let mut task = JoinSet::new();
        task.spawn(observe(mount, shared.clone()));
        Ok(Proxy { base_url, shared, seen, _task: task })
    }

    /// The URL that programs use instead of the server's.
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// Everything that has happened so far.
    pub fn log(&self) -> RelayLog {
        lock(&self.shared.relay).log().clone()
    }

    /// Redacts secrets in a text, including the keys of recent requests.
    pub fn redactor(&self) -> Arc<Redactor> {
        lock(&self.shared.keys).redactor()
    }

    /// The next notice.
    pub async fn next(&mut self) -> Option<RelayNotice> {
        received(&mut self.seen).await
    }

    /// The notices that were not read yet.
    pub fn unread(&mut self) -> Vec<RelayNotice> {
        std::iter::from_fn(|| by_now(received(&mut self.seen)).flatten()).collect()
    }
}

impl Responder for Core {
    fn respond(&mut self, received: Received<'_>) -> Response {
        while self.errands.try_join_next().is_some() {}
        let Some(target) = origin_form(received.target).filter(|target| !target.contains('#')) else {
            return Response::NotPassed(NotPassed::Fragment);
        };
        if has_dot_segments(target) {
            return Response::NotPassed(NotPassed::DotSegments);
        }
        // The keys are learned before anything about the request is reported.
        let redactor = lock(&self.shared.keys).learn(received.asked.headers, received.target);
        let decision = self.shared.with_relay(|relay| relay.asked(received.asked));
        match decision {
            Decision::Answered(kind, answer, row) => {
                if let Some(row) = row {
                    self.shared.record(*row, &redactor);
                }
                Response::Planned(kind, *answer)
            }
            Decision::Onward(passage) => {
                let exchange = passage.exchange();
                let (sender, parts) = mpsc::channel(N_PARTS);
                let passage = passage.cleaned_by(redactor);
                let errand = Errand::of(passage, received.asked, target, sender, self.shared.clone());
                self.errands.spawn(errand.run());
                Response::Foreign(Foreign { exchange, parts })
            }
        }
    }
}

impl Shared {
    /// Runs `work` on the relay, and forwards its notices.
    fn with_relay<R>(&self, work: impl FnOnce(&mut Relay) -> R) -> R {
        let (done, notices) = {
            let mut relay = lock(&self.relay);
            (work(&mut relay), relay.take_notices())
        };
        for notice in notices {
            // The notices may have no reader.
            let _ = self.seen.try_send(notice);
        }
        done
    }

    fn record(&self, row: serde_json::Value, redactor: &Redactor) {
        let Some(recording) = &self.recording else { return };
        if let Err(error) = lock(recording).write(row, redactor) {
            let words = format!("the recording cannot be written: {error}");
            self.with_relay(|relay| relay.not_recorded(words));
        }
    }
}

/// Passes the events of answers that are given here to the relay, until the handle is dropped.
async fn observe(mut mount: Mount<Core>, shared: Arc<Shared>) {
    while let Some(event) = mount.next().await {
        if let ServerEvent::Trace(event) = event {
            shared.with_relay(|relay| relay.observed(&event));
        }
    }
}

/// Locks, even after a panic elsewhere: the values behind these locks are consistent between any two
/// statements.
fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
