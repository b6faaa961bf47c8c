//! One request on its way to the server, and its answer on the way back.

use std::sync::Arc;

use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use hyper::{HeaderMap, Response};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use super::upstream::NoAnswer;
use super::{Shared, headers};
use crate::server::Part;
use brickbat_engine::provider::Request;
use brickbat_engine::relay::{Passage, PassageEnd, Step};
use brickbat_scenario::trace::{Ending, ExchangeId};

/// A request to send, and the channel for its answer.
pub(super) struct Errand {
    passage: Passage,
    method: String,
    target: String,
    headers: HeaderMap,
    body: Vec<u8>,
    parts: mpsc::Sender<Part>,
    shared: Arc<Shared>,
}

/// The client has disconnected.
struct Gone;

impl Errand {
    pub(super) fn of(
        passage: Passage,
        asked: Request<'_>,
        target: &str,
        parts: mpsc::Sender<Part>,
        shared: Arc<Shared>,
    ) -> Errand {
        Errand {
            passage,
            method: asked.method.to_owned(),
            target: target.to_owned(),
            headers: headers::onward(asked.headers),
            body: asked.body.to_vec(),
            parts,
            shared,
        }
    }

    /// Sends the request, and carries the answer back. A client that disconnects ends this at any point,
    /// which closes the connection to the server.
    pub(super) async fn run(self) {
        let Errand { mut passage, method, target, headers, body, parts, shared } = self;
        let carried = async {
            let asking = shared.upstream.ask(&method, &target, headers, body);
            let answer = timeout(shared.upstream.silence, asking).await;
            match answer.unwrap_or(Err(NoAnswer::TimedOut)) {
                Ok(answer) => {
                    let carrier = Carrier { parts: &parts, shared: &shared };
                    carrier.answer(&mut passage, answer, method == "HEAD").await
                }
                Err(error) => {
                    let words = format!("cannot reach the server: {error}");
                    refuse(&parts, &words).await.map(|()| PassageEnd::Failed(words))
                }
            }
        };
        let end = tokio::select! {
            biased;
            end = carried => end.unwrap_or(PassageEnd::ClientGone),
            () = parts.closed() => PassageEnd::ClientGone,
        };
        let ending = ending_of(&end);
        let redactor = passage.redactor();
        let row = shared.with_relay(|relay| relay.over(passage, end));
        if let Some(row) = row {
            shared.record(row, &redactor);
        }
        // Sent last, so that a client with the complete answer finds it in the log and in the recording.
        if let Some(ending) = ending {
            // The client may just have disconnected.
            let _ = parts.send(Part::End(ending)).await;
        }
    }
}

/// The way in which the answer to the client ends. `None` if the end was already sent, or the client
/// is gone.
fn ending_of(end: &PassageEnd) -> Option<Ending> {
    match end {
        PassageEnd::Whole | PassageEnd::Failed(_) => Some(Ending::Complete),
        PassageEnd::BrokeOff(_) => Some(Ending::Eof),
        PassageEnd::Spoilt | PassageEnd::ClientGone => None,
    }
}

/// Reports to the client that the server did not answer.
async fn refuse(parts: &mpsc::Sender<Part>, words: &str) -> Result<(), Gone> {
    let body = serde_json::json!({
        "error": { "type": "brickbat_error", "message": format!("brickbat proxy: {words}") },
    });
    let body = body.to_string().into_bytes();
    let head = Part::Head {
        status: 502,
        headers: vec![("content-type".to_owned(), b"application/json".to_vec())],
        length: Some(body.len() as u64),
        has_body: true,
    };
    parts.send(head).await.map_err(|_| Gone)?;
    parts.send(Part::Bytes(body)).await.map_err(|_| Gone)
}

/// Carries an answer back.
struct Carrier<'a> {
    parts: &'a mpsc::Sender<Part>,
    shared: &'a Shared,
}

impl Carrier<'_> {
    async fn answer(
        &self,
        passage: &mut Passage,
        answer: Response<Incoming>,
        is_head: bool,
    ) -> Result<PassageEnd, Gone> {
        let exchange = passage.exchange();
        let (head, mut body) = answer.into_parts();
        let status = head.status.as_u16();
        let text = |name: &str| head.headers.get(name).and_then(|value| value.to_str().ok());
        let steps = passage.head(status, text("content-type").unwrap_or_default(), text("content-encoding"));
        let length = match is_head {
            true => text("content-length").and_then(|length| length.parse().ok()),
            false => body.size_hint().exact().filter(|_| text("content-length").is_some()),
        };
        let has_body = !is_head && status >= 200 && status != 204 && status != 304;
        let mut head = Some(Part::Head { status, headers: headers::back(&head.headers), length, has_body });
        if let Some(end) = self.perform(exchange, steps, &mut head).await? {
            return Ok(end);
        }
        loop {
            let next = match timeout(self.shared.upstream.silence, body.frame()).await {
                Ok(next) => next,
                Err(_) => {
                    return Ok(PassageEnd::BrokeOff(
                        "the server went silent in the middle of its answer".to_owned(),
                    ));
                }
            };
            let mut is_over = false;
            let steps = match next {
                None => {
                    is_over = true;
                    passage.rest()
                }
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(bytes) => passage.body(&bytes),
                    // Trailers belong to this connection only.
                    Err(_) => continue,
                },
                Some(Err(error)) => {
                    let words = super::upstream::words_of(&error);
                    return Ok(PassageEnd::BrokeOff(format!("the server cut its answer off: {words}")));
                }
            };
            if let Some(end) = self.perform(exchange, steps, &mut head).await? {
                return Ok(end);
            }
            if is_over {
                return Ok(PassageEnd::Whole);
            }
        }
    }

    /// Performs the relay's instructions. Returns the end of the answer if one of them is a fault that ends
    /// it.
    async fn perform(
        &self,
        exchange: ExchangeId,
        steps: Vec<Step>,
        head: &mut Option<Part>,
    ) -> Result<Option<PassageEnd>, Gone> {
        for step in steps {
            match step {
                Step::Head => {
                    if let Some(head) = head.take() {
                        self.send(head).await?;
                    }
                }
                Step::Send(bytes) if bytes.is_empty() => {}
                Step::Send(bytes) => self.send(Part::Bytes(bytes)).await?,
                Step::Stall => {
                    self.delivered(exchange).await?;
                    silence(self.shared.stall).await;
                }
                Step::End(ending) => {
                    self.delivered(exchange).await?;
                    self.send(Part::End(ending)).await?;
                    return Ok(Some(PassageEnd::Spoilt));
                }
            }
        }
        Ok(None)
    }

    /// Waits until the client has read everything, and notes it.
    async fn delivered(&self, exchange: ExchangeId) -> Result<(), Gone> {
        let (answer, grade) = oneshot::channel();
        self.send(Part::Receipt(answer)).await?;
        let grade = grade.await.map_err(|_| Gone)?;
        self.shared.with_relay(|relay| relay.delivered(exchange, grade));
        Ok(())
    }

    async fn send(&self, part: Part) -> Result<(), Gone> {
        self.parts.send(part).await.map_err(|_| Gone)
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a stall is a silence of a given length; no order of events hangs on it"
)]
async fn silence(length: std::time::Duration) {
    tokio::time::sleep(length).await;
}
