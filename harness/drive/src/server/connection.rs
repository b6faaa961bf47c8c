//! One connection: its socket and its buffers, how it ends, and refusals.

use std::io::ErrorKind;
use std::mem::MaybeUninit;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use socket2::SockRef;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::http::{self, After, HttpRefusal};
use super::{Mounted, Shared};
use brickbat_scenario::trace::ExchangeId;

/// Room made for each read: most requests fit into a few.
pub(super) const READ_LEN: usize = 16 << 10;

/// Capacity that a buffer keeps between requests, so that one large body does not stay in memory.
pub(super) const KEPT_LEN: usize = 64 << 10;

/// The time for which a refused peer may continue to send while its bytes are discarded. Closing a socket
/// with unread bytes would destroy the refusal before the peer reads it.
const DRAIN_TIME: Duration = Duration::from_secs(1);

pub(super) struct Connection {
    pub(super) stream: TcpStream,
    pub(super) ours: Option<SocketAddr>,
    pub(super) peer: SocketAddr,
    pub(super) shared: Arc<Shared>,
    pub(super) n_written: u64,
    pub(super) input: Vec<u8>,
    /// The head of the request that is being served, as it was sent.
    pub(super) head: Vec<u8>,
    pub(super) output: Vec<u8>,
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

    pub(super) fn shrink(&mut self) {
        if self.input.capacity() > KEPT_LEN {
            self.input.shrink_to(KEPT_LEN);
        }
        if self.output.capacity() > KEPT_LEN {
            self.output = Vec::new();
        }
    }

    /// Waits for more bytes. Dropping the future loses nothing.
    pub(super) async fn fill(&mut self, room: usize) -> Result<(), Gone> {
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
    pub(super) fn peer_has_gone(&self) -> bool {
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

    pub(super) async fn refuse(&mut self, refusal: HttpRefusal, after: After) -> Result<(), Gone> {
        self.output.clear();
        http::write_refusal(&mut self.output, refusal, after);
        // No mount can end the wait for a peer that does not read, so it has a limit.
        let limit = self.shared.limits.request_time;
        timeout(limit, self.flush()).await.unwrap_or(Err(Gone))
    }

    pub(super) async fn refuse_and_close(&mut self, refusal: HttpRefusal) {
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
}
