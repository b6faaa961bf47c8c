//! Output for commands that serve. They must continue even if the reader of their output stops reading.
//!
//! A pipe without a reader fills up after some kilobytes, and then each write blocks forever. `serve`,
//! `proxy` and `wrap` have to answer requests and Ctrl-C meanwhile, so separate threads write their lines. If
//! the buffer is full, lines are dropped and counted.

use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, channel, sync_channel};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

/// The maximum number of texts that wait for their thread: enough for a burst from a fast client, and less
/// than a few megabytes.
const N_WAITING: usize = 16_384;

/// How long the program waits for a reader when it ends. An active reader takes the rest within milliseconds.
const LAST_WAIT: Duration = Duration::from_secs(2);

/// The stream that receives a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stream {
    Out,
    Err,
}

/// The threads of both streams, set once a command serves.
static WRITERS: OnceLock<[Writer; 2]> = OnceLock::new();

/// A thread that writes to a stream.
struct Writer {
    /// None once the program ends.
    texts: Mutex<Option<SyncSender<String>>>,
    written: Mutex<Receiver<()>>,
    n_dropped: AtomicU64,
}

/// From now on, threads write all output: `write_out` to standard output.
pub(super) fn start(write_out: fn(&str)) {
    WRITERS.get_or_init(|| [Writer::start(write_out), Writer::start(write_err)]);
}

/// Gives a text to its thread. Returns it if this command prints without threads.
pub(super) fn take(stream: Stream, text: String) -> Option<String> {
    let Some([out, err]) = WRITERS.get() else { return Some(text) };
    let writer = if stream == Stream::Out { out } else { err };
    writer.send(text)
}

/// Waits, for a limited time, until everything is written, and reports how much was not.
pub(super) fn end() {
    let Some([out, err]) = WRITERS.get() else { return };
    let n_unwritten = out.end();
    if n_unwritten > 0 {
        let lines = if n_unwritten == 1 { "text was" } else { "texts were" };
        let words =
            format!("brickbat: {n_unwritten} {lines} not printed, because standard output was not read\n");
        // If standard error is not read either, there is nowhere to report it.
        let _ = err.send(words);
    }
    err.end();
}

impl Writer {
    fn start(write: fn(&str)) -> Writer {
        let (sender, texts) = sync_channel::<String>(N_WAITING);
        let (done, written) = channel();
        thread::spawn(move || {
            texts.iter().for_each(|text| write(&text));
            // The receiver may have stopped waiting.
            let _ = done.send(());
        });
        Writer { texts: Mutex::new(Some(sender)), written: Mutex::new(written), n_dropped: AtomicU64::new(0) }
    }

    /// Gives a text to the thread. Returns it if the thread has ended.
    fn send(&self, text: String) -> Option<String> {
        let texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        match texts.as_ref().map(|texts| texts.try_send(text)) {
            Some(Err(TrySendError::Full(_))) => {
                self.n_dropped.fetch_add(1, Ordering::Relaxed);
                None
            }
            Some(Err(TrySendError::Disconnected(text))) => Some(text),
            Some(Ok(())) | None => None,
        }
    }

    /// Lets the thread finish, and returns the number of texts dropped or left.
    fn end(&self) -> u64 {
        let texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(texts);
        let written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        let is_written = written.recv_timeout(LAST_WAIT).is_ok();
        self.n_dropped.load(Ordering::Relaxed) + u64::from(!is_written)
    }
}

fn write_err(text: &str) {
    // If standard error is closed, there is nowhere to report that.
    let _ = anstream::stderr().write_all(text.as_bytes());
}
