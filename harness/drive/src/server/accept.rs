//! Accepts connections up to a limit, and decides which one to close when all slots are in use.

use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;

use super::connection::Connection;
use super::newcomers::Newcomer;
use super::{Shared, http};

/// Pause after a failed accept. Without free descriptors, accept fails again immediately; connections close
/// in the meantime.
const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

/// Accepts connections forever. Each has its own task, so a panic in one ends only that one.
pub(super) async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let places = Arc::new(Semaphore::new(shared.limits.n_connections));
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, peer)) => {
                    if let Some(place) = admit(&shared, &places).await {
                        let newcomer = Newcomer::enter(&shared);
                        let connection = Connection::new(stream, peer, shared.clone());
                        connections.spawn(serve(connection, newcomer, place));
                    } else {
                        turn_away(&stream);
                    }
                }
                Err(_) => {
                    shared.evict_newcomer();
                    #[expect(clippy::disallowed_methods, reason = "an accept that failed for want of file descriptors is tried again later")]
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

/// A slot for one more connection: a free one, or the oldest newcomer's.
async fn admit(shared: &Shared, places: &Arc<Semaphore>) -> Option<OwnedSemaphorePermit> {
    match places.clone().try_acquire_owned() {
        Ok(place) => Some(place),
        Err(_) if shared.evict_newcomer() => places.clone().acquire_owned().await.ok(),
        Err(_) => None,
    }
}

async fn serve(connection: Connection, newcomer: Newcomer, place: OwnedSemaphorePermit) {
    connection.serve(newcomer).await;
    drop(place);
}

/// Sends 503 to a peer for which there is no slot, without waiting for the peer.
fn turn_away(stream: &TcpStream) {
    let mut bytes = Vec::new();
    http::write_refusal(&mut bytes, http::HttpRefusal::Busy, http::After::Close);
    // If even this does not get through, the close tells the peer enough.
    let _ = stream.try_write(&bytes);
}
