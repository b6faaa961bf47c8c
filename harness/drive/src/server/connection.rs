//! One connection: reads requests, asks the core or opens a gate, and refuses all other requests.

use std::io::ErrorKind;
use std::mem::MaybeUninit;
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use socket2::SockRef;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::chunks::ChunkReader;
use super::gate::GateId;
use super::http::{self, After, Framing, Head, HttpRefusal};
use super::newcomers::Newcomer;
use super::pass_on::{NotPassed, Received, Response};
use super::{Mounted, Place, SAVING, ServerEvent, Shared, lock};
use brickbat_engine::provider;
use brickbat_scenario::trace::{Confidence, Ending, Event, ExchangeId, RequestKind};

/// Room made for each read: most requests fit into a few.
const READ_LEN: usize = 16 << 10;

/// Capacity that a buffer keeps between requests, so that one large body does not stay in memory.
const KEPT_LEN: usize = 64 << 10;

/// The time for which a refused peer may continue to send while its bytes are discarded. Closing a socket
/// with unread bytes would destroy the refusal before the peer reads it.
const DRAIN_TIME: Duration = Duration::from_secs(1);

/// How early client timers may fire at most: Node.js counts whole milliseconds.
const CLOCK_GRAIN: Duration = Duration::from_millis(2);

pub(super) struct Connection {
    pub(super) stream: TcpStream,
    pub(super) ours: Option<SocketAddr>,
    pub(super) peer: SocketAddr,
    pub(super) shared: Arc<Shared>,
    pub(super) n_written: u64,
    input: Vec<u8>,
    /// The head of the request that is being served, as it was sent.
    head: Vec<u8>,
    pub(super) output: Vec<u8>,
}

struct HttpRequest {
    head: Head,
    body: Arc<[u8]>,
}

/// The peer has closed the connection, or it broke.
pub(super) struct Gone;

pub(super) enum AfterRequest {
    Read,
    Close,
    /// Send this refusal, then continue.
    Refuse(HttpRefusal),
    Reset(Arc<Mounted>, ExchangeId),
}

impl From<After> for AfterRequest {
    fn from(after: After) -> AfterRequest {
        match after {
            After::KeepAlive => AfterRequest::Read,
            After::Close => AfterRequest::Close,
        }
    }
}

impl Connection {
    pub(super) fn new(stream: TcpStream, peer: SocketAddr, shared: Arc<Shared>) -> Connection {
        // Without it frames may arrive late and together, but they arrive.
        let _ = stream.set_nodelay(true);
        let ours = stream.local_addr().ok();
        Connection {
            stream,
            ours,
            peer,
            shared,
            n_written: 0,
            input: Vec::new(),
            head: Vec::new(),
            output: Vec::new(),
        }
    }

    /// Serves requests until the connection ends. A newcomer may lose its slot until it has sent a request to
    /// a mount.
    pub(super) async fn serve(mut self, newcomer: Newcomer) {
        let mut newcomer = Some(newcomer);
        loop {
            let request = match &mut newcomer {
                None => self.next_request().await,
                Some(newcomer) => tokio::select! {
                    biased;
                    request = self.next_request() => request,
                    _ = &mut newcomer.evicted => None,
                },
            };
            let Some(request) = request else { return };
            if let Err(refusal) = request.head.admitted(&self.shared.admission) {
                return self.refuse_and_close(refusal).await;
            }
            let next = match self.shared.find(&request.head.target) {
                None => match self.shared.unfound() {
                    HttpRefusal::Stopping => return self.refuse_and_close(HttpRefusal::Stopping).await,
                    refusal => AfterRequest::Refuse(refusal),
                },
                Some(_) if newcomer.take().is_some_and(|newcomer| !newcomer.stays()) => return,
                Some((mounted, path)) => self.serve_request(&mounted, path, &request).await,
            };
            match next {
                AfterRequest::Read => {}
                AfterRequest::Close => return,
                AfterRequest::Refuse(refusal) => {
                    let after = request.head.after;
                    if self.refuse(refusal, after).await.is_err() || after == After::Close {
                        return;
                    }
                }
                AfterRequest::Reset(mounted, exchange) => {
                    // With no time to linger, closing sends a RST. Without the option it would be a FIN.
                    let seen = match self.stream.set_zero_linger() {
                        Ok(()) => ServerEvent::Trace(Event::Replied { exchange, ending: Ending::Reset }),
                        Err(_) => ServerEvent::Broken,
                    };
                    drop(self.stream);
                    // If the mount is gone, nothing receives this.
                    let _ = mounted.seen.send(seen).await;
                    return;
                }
            }
            self.shrink();
        }
    }

    /// Reads a request. `None` if the connection ends instead.
    async fn next_request(&mut self) -> Option<HttpRequest> {
        match self.read_request().await {
            Ok(request) => request,
            Err(refusal) => {
                self.refuse_and_close(refusal).await;
                None
            }
        }
    }

    fn shrink(&mut self) {
        if self.input.capacity() > KEPT_LEN {
            self.input.shrink_to(KEPT_LEN);
        }
        if self.output.capacity() > KEPT_LEN {
            self.output = Vec::new();
        }
    }

    /// Reads a request. `None` if the peer closes instead.
    async fn read_request(&mut self) -> Result<Option<HttpRequest>, HttpRefusal> {
        if self.input.is_empty() && self.fill(READ_LEN).await.is_err() {
            return Ok(None);
        }
        let limit = self.shared.limits.request_time;
        match timeout(limit, self.read_rest()).await {
            Ok(Ok(request)) => Ok(Some(request)),
            Ok(Err(ReadError::Gone)) => Ok(None),
            Ok(Err(ReadError::Refused(refusal))) => Err(refusal),
            Err(_) => Err(HttpRefusal::TimedOut),
        }
    }

    async fn read_rest(&mut self) -> Result<HttpRequest, ReadError> {
        let limits = self.shared.limits;
        let head = loop {
            if let Some(head) = http::read_head(&self.input, limits.body_bytes)? {
                break head;
            }
            self.read_to_end_of_head(limits.head_bytes).await?;
        };
        if head.len > limits.head_bytes {
            return Err(HttpRefusal::HeadTooLarge.into());
        }
        self.head.clear();
        self.head.extend_from_slice(&self.input[..head.len]);
        let has_body = head.framing != Framing::Length(0);
        if head.expects_continue && has_body && self.input.len() == head.len {
            self.output.clear();
            self.output.extend_from_slice(http::CONTINUE);
            self.flush().await?;
        }
        let body = match head.framing {
            Framing::Length(n) => self.read_length(&head, n).await?,
            Framing::Chunked => self.read_chunks(&head, limits.body_bytes).await?,
        };
        Ok(HttpRequest { head, body })
    }

    async fn read_to_end_of_head(&mut self, max_head: usize) -> Result<(), ReadError> {
        loop {
            // The end of a head has at most three bytes before the last.
            let searched = self.input.len().saturating_sub(3);
            if self.input.len() > max_head {
                return Err(HttpRefusal::HeadTooLarge.into());
            }
            self.fill(READ_LEN).await?;
            if http::may_end_head(&self.input[searched..]) {
                return Ok(());
            }
        }
    }

    async fn read_length(&mut self, head: &Head, n: usize) -> Result<Arc<[u8]>, ReadError> {
        let end = head.len + n;
        while self.input.len() < end {
            let missing = end - self.input.len();
            self.fill(missing.clamp(READ_LEN, KEPT_LEN)).await?;
        }
        let body = Arc::from(&self.input[head.len..end]);
        self.input.drain(..end);
        Ok(body)
    }

    async fn read_chunks(&mut self, head: &Head, max_body: usize) -> Result<Arc<[u8]>, ReadError> {
        let mut reader = ChunkReader::new(max_body);
        let mut body = Vec::new();
        let mut used = head.len;
        loop {
            used += reader.read(&self.input[used..], &mut body)?;
            self.input.drain(..used);
            if reader.is_done() {
                return Ok(Arc::from(body));
            }
            used = 0;
            self.fill(READ_LEN).await?;
        }
    }

    /// Waits for more bytes. Dropping the future loses nothing.
    async fn fill(&mut self, room: usize) -> Result<(), Gone> {
        self.input.reserve(room);
        match self.stream.read_buf(&mut self.input).await {
            Ok(n) if n > 0 => Ok(()),
            _ => Err(Gone),
        }
    }

    /// Waits until the peer closes. Bytes that arrive in the meantime are kept for the next request, up to a
    /// bound.
    pub(super) async fn gone(&mut self) {
        while self.input.len() <= self.shared.limits.head_bytes {
            if self.fill(READ_LEN).await.is_err() {
                return;
            }
        }
        std::future::pending().await
    }

    /// True if the peer has closed, according to the kernel at this moment; tokio learns of it
    /// later.
    fn peer_has_gone(&self) -> bool {
        match SockRef::from(&self.stream).peek(&mut [MaybeUninit::uninit()]) {
            Ok(n) => n == 0,
            Err(error) => error.kind() != ErrorKind::WouldBlock,
        }
    }

    pub(super) async fn flush(&mut self) -> Result<(), Gone> {
        if !self.output.is_empty() {
            self.stream.write_all(&self.output).await.map_err(|_| Gone)?;
            self.n_written += self.output.len() as u64;
            self.output.clear();
        }
        Ok(())
    }

    async fn refuse(&mut self, refusal: HttpRefusal, after: After) -> Result<(), Gone> {
        self.output.clear();
        http::write_refusal(&mut self.output, refusal, after);
        // No mount can end the wait for a peer that does not read, so it has a limit.
        let limit = self.shared.limits.request_time;
        timeout(limit, self.flush()).await.unwrap_or(Err(Gone))
    }

    async fn refuse_and_close(&mut self, refusal: HttpRefusal) {
        if self.refuse(refusal, After::Close).await.is_err() || self.stream.shutdown().await.is_err() {
            return;
        }
        let drained = async {
            loop {
                self.input.clear();
                if self.fill(READ_LEN).await.is_err() {
                    return;
                }
            }
        };
        // The connection is closed either way.
        let _ = timeout(DRAIN_TIME, drained).await;
    }

    async fn serve_request(
        &mut self,
        mounted: &Arc<Mounted>,
        path: &str,
        request: &HttpRequest,
    ) -> AfterRequest {
        let served = async {
            match Waiting::at(path).filter(|_| mounted.place == Place::Below) {
                Some(_) if request.head.method != "POST" => AfterRequest::Refuse(HttpRefusal::GateMethod),
                Some(waiting) => self.serve_gate(mounted, waiting, request).await,
                None => self.serve_exchange(mounted, path, request).await,
            }
        };
        // The second arm is polled only when the first has to wait.
        tokio::select! {
            biased;
            next = served => next,
            () = mounted.seen.closed() => AfterRequest::Close,
        }
    }

    async fn serve_gate(
        &mut self,
        mounted: &Mounted,
        waiting: Waiting<'_>,
        request: &HttpRequest,
    ) -> AfterRequest {
        let Ok(permit) = mounted.seen.reserve().await else { return AfterRequest::Close };
        let body = String::from_utf8_lossy(&request.body).into_owned();
        let (gate, answer) = {
            // A call that was cancelled before its gate took it has not run. Without this check, the gate of
            // a stopped turn might open after that turn, and look like a call that runs late. The lock keeps
            // the core from beginning the next turn between the two.
            let _core = lock(&mounted.core);
            if self.peer_has_gone() {
                return AfterRequest::Close;
            }
            mounted.gates.open(|gate| permit.send(waiting.announced(gate, body)))
        };
        let settled = self.settle_gate(mounted, answer, request.head.after).await;
        let (seen, next) = match settled {
            Ok(grade) => (ServerEvent::GateSettled { gate, grade }, AfterRequest::from(request.head.after)),
            Err(Gone) => {
                mounted.gates.forget(gate);
                (ServerEvent::GateDropped { gate }, AfterRequest::Close)
            }
        };
        // If the mount is gone, nothing receives this.
        let _ = mounted.seen.send(seen).await;
        next
    }

    async fn settle_gate(
        &mut self,
        mounted: &Mounted,
        answer: oneshot::Receiver<Vec<u8>>,
        after: After,
    ) -> Result<Confidence, Gone> {
        let body = tokio::select! {
            biased;
            () = self.gone() => return Err(Gone),
            answer = answer => answer.map_err(|_| Gone)?,
        };
        self.output.clear();
        http::write_json(&mut self.output, 200, &body, after);
        self.flush().await?;
        self.receipt(mounted).await
    }

    async fn serve_exchange(
        &mut self,
        mounted: &Arc<Mounted>,
        path: &str,
        request: &HttpRequest,
    ) -> AfterRequest {
        let arrived = Instant::now();
        let Ok(permit) = mounted.seen.reserve().await else { return AfterRequest::Close };
        let response = {
            let mut core = lock(&mounted.core);
            // A client that abandoned its request before it was handled gets no reply: handled after the
            // turn, the request would use up a reply of the next one. Only a new connection, or one of a
            // process that was killed, can have waited that long; checking every connection would cost a
            // system call each.
            let is_suspect = self.n_written == 0 || mounted.bereaved.load(Ordering::Relaxed);
            if is_suspect && self.peer_has_gone() {
                return AfterRequest::Close;
            }
            let method = request.head.method.as_str();
            let headers = provider::Headers::of_head(&self.head);
            let asked = provider::Request { method, path, headers, body: &request.body };
            let received = Received { asked, target: &request.head.target };
            let Ok(response) = catch_unwind(AssertUnwindSafe(|| core.respond(received))) else {
                permit.send(ServerEvent::Broken);
                return AfterRequest::Refuse(HttpRefusal::Broken);
            };
            // Sent before the core is free again, so that requests are reported in the order of their
            // numbers.
            if let Response::Planned(kind, answer) = &response {
                let (exchange, model, compacted) = (answer.exchange, answer.model.clone(), answer.compacted);
                permit.send(ServerEvent::Trace(Event::Requested {
                    exchange,
                    kind: *kind,
                    model,
                    compacted,
                    body: request.body.clone(),
                }));
            }
            response
        };
        let (kind, answer) = match response {
            Response::Planned(kind, answer) => (kind, answer),
            Response::NotPassed(NotPassed::DotSegments) => {
                return AfterRequest::Refuse(HttpRefusal::DotSegments);
            }
            Response::NotPassed(NotPassed::Fragment) => return AfterRequest::Refuse(HttpRefusal::Fragment),
            Response::Foreign(foreign) => {
                return match self.pass_on(mounted, foreign, request.head.after).await {
                    Ok(next) => next,
                    // The sender of the parts notices when they are no longer taken.
                    Err(Gone) => AfterRequest::Close,
                };
            }
        };
        if kind.is_of_thread() && lock(&mounted.due).is_some_and(|due| arrived < due) {
            let _ = mounted.seen.send(ServerEvent::Trace(Event::Early { exchange: answer.exchange })).await;
        }
        if let Some(pause_ms) = answer.pause_ms().filter(|_| kind.is_of_thread()) {
            // The peer reads this after it is written, so a client that waits for the full time is never too
            // early.
            let pause = Duration::from_millis(pause_ms).saturating_sub(CLOCK_GRAIN);
            *lock(&mounted.due) = Some(Instant::now() + pause);
        }
        // A real provider closes after an error event. Announcing it in the head keeps the client from racing
        // its next request against the FIN.
        // Side requests come at any time. A scripted request must not find its connection used or fresh by
        // chance, because some clients handle a break of the two differently.
        let closes = answer.ending == Ending::ErrorEvent || kind == RequestKind::Auxiliary;
        let after = if closes { After::Close } else { request.head.after };
        let played = if request.head.method == "HEAD" {
            self.play_head(mounted, &answer, after).await
        } else {
            self.play(mounted, &answer, after).await
        };
        match played {
            Ok(next) => next,
            Err(Gone) => {
                let _ = mounted
                    .seen
                    .send(ServerEvent::Trace(Event::PeerClosed { exchange: answer.exchange }))
                    .await;
                AfterRequest::Close
            }
        }
    }
}

/// The client that waits at a gate.
enum Waiting<'p> {
    Tool(&'p str),
    /// The store, during one of its writes.
    Store,
}

impl Waiting<'_> {
    fn at(path: &str) -> Option<Waiting<'_>> {
        if path == SAVING {
            return Some(Waiting::Store);
        }
        path.strip_prefix("/gate/").map(Waiting::Tool)
    }

    fn announced(self, gate: GateId, body: String) -> ServerEvent {
        match self {
            Waiting::Tool(tool) => ServerEvent::GateOpened { gate, tool: tool.to_owned(), args: body },
            Waiting::Store => ServerEvent::SaveHeld { gate, write: body },
        }
    }
}

/// The reason why a request could not be read.
enum ReadError {
    Gone,
    Refused(HttpRefusal),
}

impl From<Gone> for ReadError {
    fn from(Gone: Gone) -> ReadError {
        ReadError::Gone
    }
}

impl From<HttpRefusal> for ReadError {
    fn from(refusal: HttpRefusal) -> ReadError {
        ReadError::Refused(refusal)
    }
}
