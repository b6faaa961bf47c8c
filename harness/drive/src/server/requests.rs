//! Serves the requests of a connection: reads them, asks the core or opens a gate, and refuses all others.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;
use tokio::time::timeout;

use super::chunks::ChunkReader;
use super::connection::{AfterRequest, Connection, Gone, KEPT_LEN, READ_LEN};
use super::gate::GateId;
use super::http::{self, After, Framing, Head, HttpRefusal};
use super::newcomers::Newcomer;
use super::pass_on::{NotPassed, Received, Response};
use super::{Answered, Mounted, Place, SAVING, ServerEvent, lock};
use brickbat_engine::provider;
use brickbat_scenario::trace::{Confidence, Ending, Event, RequestKind};

/// How early client timers may fire at most: Node.js counts whole milliseconds.
const CLOCK_GRAIN: Duration = Duration::from_millis(2);

struct HttpRequest {
    head: Head,
    body: Arc<[u8]>,
}

impl Connection {
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
            Ok(grade) => {
                self.note(mounted, Answered::Gate(gate), grade);
                (ServerEvent::GateSettled { gate, grade }, AfterRequest::from(request.head.after))
            }
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
                permit.send(ServerEvent::Trace(answer.requested(*kind, request.body.clone())));
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
