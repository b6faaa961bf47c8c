//! How much a system has read from its sockets, by its own account.
//!
//! It is asked only on a machine that does not show the queues of sockets.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Deserialize;
use serde_json::Value;
use tokio::net::TcpStream;

use super::acp::Session;
use super::error::DriverError;
use super::protocol::Reading;

impl Session {
    /// Waits for a barrier, and returns what the adapter has read from its sockets. `None` if it does not report this.
    pub(crate) async fn readings(&self) -> Result<Option<Vec<Reading>>, DriverError> {
        match self.is_watched() {
            true => Ok(None),
            false => of_answer(self.extension("_brickbat/barrier").await?),
        }
    }
}

/// Reads the answer to a barrier. `None` if it reports nothing.
fn of_answer(mut answer: Value) -> Result<Option<Vec<Reading>>, DriverError> {
    let Some(read) = answer.get_mut("read").map(Value::take) else { return Ok(None) };
    match Vec::deserialize(&read) {
        Ok(readings) => Ok(Some(readings)),
        Err(error) => {
            let what = format!("`read` in its answer to _brickbat/barrier: {error}");
            Err(DriverError::violation(what, read))
        }
    }
}

/// The bytes that the sockets of an agent of our own have read, by their ports.
#[derive(Debug, Clone, Default)]
pub(super) struct Readings(Arc<Mutex<BTreeMap<(u16, u16), u64>>>);

impl Readings {
    pub(super) fn all(&self) -> Vec<Reading> {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        counts.iter().map(|((port, to), bytes)| Reading { port: *port, to: *to, bytes: *bytes }).collect()
    }

    /// Begins the count of a new connection, which may have the port of an old one.
    pub(super) fn begin(&self, stream: &TcpStream) -> Option<(u16, u16)> {
        let ports = (stream.local_addr().ok()?.port(), stream.peer_addr().ok()?.port());
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(ports, 0);
        Some(ports)
    }

    pub(super) fn add(&self, ports: (u16, u16), n: usize) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(ports).or_default() += n as u64;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_answer_may_report_nothing_and_no_nonsense() {
        assert_eq!(of_answer(json!({})), Ok(None));
        let reading = Reading { port: 50374, to: 4010, bytes: 41 };
        let answer = json!({ "read": [{ "port": 50374, "to": 4010, "bytes": 41 }] });
        assert_eq!(of_answer(answer), Ok(Some(vec![reading])));
        for read in
            [json!(7), json!([{ "port": 70000, "to": 1, "bytes": 0 }]), json!([{ "port": 1, "to": 1 }])]
        {
            assert!(of_answer(json!({ "read": read })).is_err());
        }
    }
}
