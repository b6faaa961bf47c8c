//! Passes on the answer of another server, part by part, as it arrives.

use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};

use super::connection::{AfterRequest, Connection, Gone};
use super::http::{self, After, Framing};
use super::play::is_cut;
use super::{Answerer, Mounted};
use brickbat_engine::provider::{Answer, Request};
use brickbat_scenario::trace::{Confidence, Ending, ExchangeId, RequestKind};

/// A request, with the parts that a provider core ignores.
#[derive(Debug, Clone, Copy)]
pub struct Received<'a> {
    /// The request.
    pub asked: Request<'a>,
    /// The target as it was sent, with its query.
    pub target: &'a str,
}

/// The response to a request.
#[derive(Debug)]
pub enum Response {
    /// The complete answer is known.
    Planned(RequestKind, Answer),
    /// The answer comes from another server, while it is sent.
    Foreign(Foreign),
    /// The request is refused, because it would not reach the other server unchanged.
    NotPassed(NotPassed),
}

/// The reason why a request is not passed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotPassed {
    /// Its path has segments `.` or `..`.
    DotSegments,
    /// Its target has a fragment.
    Fragment,
}

/// An answer that comes from another server.
#[derive(Debug)]
pub struct Foreign {
    /// The number of the request.
    pub exchange: ExchangeId,
    /// The parts in order. The receiver is dropped when the client has disconnected.
    pub parts: mpsc::Receiver<Part>,
}

/// A part of an answer that comes from another server.
#[derive(Debug)]
pub enum Part {
    /// The status and the headers, without the framing headers.
    Head {
        /// The status.
        status: u16,
        /// The headers.
        headers: Vec<(String, Vec<u8>)>,
        /// The length of the body in bytes, if it is known.
        length: Option<u64>,
        /// True if there is a body.
        has_body: bool,
    },
    /// Bytes of the body.
    Bytes(Vec<u8>),
    /// A request for a receipt, which is answered when the client has read everything.
    Receipt(oneshot::Sender<Confidence>),
    /// The end.
    End(Ending),
}

/// Answers requests, itself or by asking another server.
pub trait Responder: Send + 'static {
    /// The response to a request.
    fn respond(&mut self, received: Received<'_>) -> Response;
}

impl<A: Answerer> Responder for A {
    fn respond(&mut self, received: Received<'_>) -> Response {
        let (kind, answer) = self.answer(received.asked);
        Response::Planned(kind, answer)
    }
}

impl Connection {
    /// Sends the parts of an answer as they arrive.
    pub(super) async fn pass_on(
        &mut self,
        mounted: &Arc<Mounted>,
        mut foreign: Foreign,
        after: After,
    ) -> Result<AfterRequest, Gone> {
        self.output.clear();
        let mut is_chunked = false;
        loop {
            let part = tokio::select! {
                biased;
                part = foreign.parts.recv() => part,
                () = self.gone() => return Err(Gone),
            };
            match part {
                Some(Part::Head { status, headers, length, has_body }) => {
                    let length = length.and_then(|length| usize::try_from(length).ok());
                    let framing = match (has_body, length) {
                        (_, Some(length)) => Some(Framing::Length(length)),
                        (true, None) => Some(Framing::Chunked),
                        (false, None) => None,
                    };
                    is_chunked = framing == Some(Framing::Chunked);
                    http::write_foreign_head(&mut self.output, status, &headers, framing, after);
                    self.flush().await?;
                }
                Some(Part::Bytes(bytes)) => {
                    match is_chunked {
                        true => http::write_chunk(&mut self.output, &bytes),
                        false => self.output.extend_from_slice(&bytes),
                    }
                    self.flush().await?;
                }
                Some(Part::Receipt(answer)) => {
                    self.flush().await?;
                    // If the receiver is gone, the end comes next.
                    let _ = answer.send(self.receipt(mounted).await?);
                }
                Some(Part::End(ending)) if is_cut(ending) => {
                    return self.cut(mounted, foreign.exchange, ending).await;
                }
                Some(Part::End(ending)) => {
                    if is_chunked {
                        self.output.extend_from_slice(http::LAST_CHUNK);
                    }
                    self.flush().await?;
                    // A body of known length that lacks a part can only be ended by closing.
                    let is_whole = ending == Ending::Complete;
                    return Ok(if is_whole { after.into() } else { AfterRequest::Close });
                }
                // The sender is gone without an end; the client must not take this for the complete answer.
                None => return self.cut(mounted, foreign.exchange, Ending::Eof).await,
            }
        }
    }
}
