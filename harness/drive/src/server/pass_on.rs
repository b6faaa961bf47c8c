//! Passes on the answer of another server, part by part, as it comes.

use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};

use super::connection::{AfterRequest, Connection, Gone};
use super::http::{self, After, Framing};
use super::play::is_cut;
use super::{Answerer, Mounted};
use brickbat_engine::provider::{Answer, Request};
use brickbat_scenario::trace::{Confidence, Ending, ExchangeId, RequestKind};

/// A request with what a provider core does not look at.
#[derive(Debug, Clone, Copy)]
pub struct Received<'a> {
    /// The request.
    pub asked: Request<'a>,
    /// The target as it was sent, with its query.
    pub target: &'a str,
}

/// What is sent for a request.
#[derive(Debug)]
pub enum Response {
    /// All of it is known.
    Planned(RequestKind, Answer),
    /// It comes from elsewhere, while it is sent.
    Foreign(Foreign),
    /// It is refused, since it would not reach the other server as it is.
    NotPassed(NotPassed),
}

/// Why a request is not passed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotPassed {
    /// Its path has segments `.` or `..`.
    DotSegments,
    /// Its target has a fragment.
    Fragment,
}

/// An answer that comes from elsewhere.
#[derive(Debug)]
pub struct Foreign {
    /// The number of the request.
    pub exchange: ExchangeId,
    /// What comes. Nobody takes it any more once the client has gone.
    pub parts: mpsc::Receiver<Part>,
}

/// A part of an answer that comes from elsewhere.
#[derive(Debug)]
pub enum Part {
    /// The status and the headers, without those of the framing.
    Head {
        /// The status.
        status: u16,
        /// The headers.
        headers: Vec<(String, Vec<u8>)>,
        /// Bytes of the body, where that is known.
        length: Option<u64>,
        /// Whether there is a body at all.
        has_body: bool,
    },
    /// Bytes of the body.
    Bytes(Vec<u8>),
    /// Who sends the parts wants to know when the client has read everything.
    Receipt(oneshot::Sender<Confidence>),
    /// The end.
    End(Ending),
}

/// What answers requests, here or by asking somebody else.
pub trait Responder: Send + 'static {
    /// What to send for a request.
    fn respond(&mut self, received: Received<'_>) -> Response;
}

impl<A: Answerer> Responder for A {
    fn respond(&mut self, received: Received<'_>) -> Response {
        let (kind, answer) = self.answer(received.asked);
        Response::Planned(kind, answer)
    }
}

impl Connection {
    /// Sends the parts of an answer as they come.
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
                    // Whoever asked may be gone; then the end is next.
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
                    // A body of given length that lacks a part can only be ended by closing.
                    let is_whole = ending == Ending::Complete;
                    return Ok(if is_whole { after.into() } else { AfterRequest::Close });
                }
                // Whoever sent the parts is gone without an end; the client must not take this for the whole.
                None => return self.cut(mounted, foreign.exchange, Ending::Eof).await,
            }
        }
    }
}
