//! Output for commands that serve. They must continue even if the reader of their output stops reading.
//!
//! A pipe without a reader fills up after some kilobytes, and then each write blocks forever. `serve`,
//! `proxy` and `wrap` have to answer requests and Ctrl-C meanwhile, so separate threads write their lines. If
//! the buffer is full, lines are dropped and counted. Answers have places of their own, so a test that reads its
//! answers late still gets them.

use std::io::Write;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, channel, sync_channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

/// The maximum number of texts that wait for their thread: enough for a burst from a fast client, and less
/// than a few megabytes.
const N_WAITING: usize = 16_384;

/// The places behind these that only answers take: a test waits for each of its orders, and has few of them open.
const N_ANSWERS: usize = 1_024;

/// How long the program waits for a reader when it ends. An active reader takes the rest within milliseconds.
const LAST_WAIT: Duration = Duration::from_secs(2);

/// The stream that receives a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stream {
    Out,
    Err,
}

/// The two kinds of texts: only events may be dropped when many others wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A line about something that happened.
    Event,
    /// The answer to an order.
    Answer,
}

/// The threads of both streams, set once a command serves.
static WRITERS: OnceLock<[Writer; 2]> = OnceLock::new();

/// A thread that writes to a stream.
struct Writer {
    /// None once the program ends.
    texts: Mutex<Option<SyncSender<String>>>,
    written: Mutex<Receiver<()>>,
    n_waiting: Arc<AtomicUsize>,
    n_dropped: AtomicU64,
}

/// From now on, threads write all output: `write_out` to standard output.
pub(super) fn start(write_out: fn(&str)) {
    WRITERS.get_or_init(|| [Writer::start(write_out), Writer::start(write_err)]);
}

/// Gives a text to its thread. Returns it if this command prints without threads.
pub(super) fn take(stream: Stream, kind: Kind, text: String) -> Option<String> {
    let Some([out, err]) = WRITERS.get() else { return Some(text) };
    let writer = if stream == Stream::Out { out } else { err };
    writer.send(kind, text)
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
        let _ = err.send(Kind::Event, words);
    }
    err.end();
}

impl Writer {
    fn start(write: fn(&str)) -> Writer {
        let (sender, texts) = sync_channel::<String>(N_WAITING + N_ANSWERS);
        let (done, written) = channel();
        let n_waiting = Arc::new(AtomicUsize::new(0));
        let n_left = Arc::clone(&n_waiting);
        thread::spawn(move || {
            for text in texts {
                write(&text);
                n_left.fetch_sub(1, Ordering::Relaxed);
            }
            // The receiver may have stopped waiting.
            let _ = done.send(());
        });
        Writer {
            texts: Mutex::new(Some(sender)),
            written: Mutex::new(written),
            n_waiting,
            n_dropped: AtomicU64::new(0),
        }
    }

    /// Gives a text to the thread. Returns it if the thread has ended.
    fn send(&self, kind: Kind, text: String) -> Option<String> {
        let texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        let texts = texts.as_ref()?;
        if kind == Kind::Event && self.n_waiting.load(Ordering::Relaxed) >= N_WAITING {
            self.n_dropped.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        // Counted first, so that the thread never subtracts more than was added.
        self.n_waiting.fetch_add(1, Ordering::Relaxed);
        match texts.try_send(text) {
            Ok(()) => None,
            Err(TrySendError::Full(_)) => {
                self.n_waiting.fetch_sub(1, Ordering::Relaxed);
                self.n_dropped.fetch_add(1, Ordering::Relaxed);
                None
            }
            Err(TrySendError::Disconnected(text)) => Some(text),
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

#[cfg(test)]
mod tests {
    use super::*;

    /// While a test has it, nothing is written.
    static READER: Mutex<()> = Mutex::new(());
    static WRITTEN: Mutex<Vec<String>> = Mutex::new(Vec::new());

    fn write(text: &str) {
        let _reads = READER.lock().unwrap_or_else(PoisonError::into_inner);
        WRITTEN.lock().unwrap_or_else(PoisonError::into_inner).push(text.to_owned());
    }

    #[test]
    fn an_answer_is_written_after_events_were_dropped() {
        let absent = READER.lock().unwrap();
        let writer = Writer::start(write);
        for n in 0..N_WAITING + 10 {
            assert_eq!(writer.send(Kind::Event, n.to_string()), None);
        }
        assert_eq!(writer.send(Kind::Answer, "answer".to_owned()), None);
        drop(absent);
        assert_eq!(writer.end(), 10, "only events are dropped");
        let written = WRITTEN.lock().unwrap();
        assert_eq!((written.len(), written.last().unwrap().as_str()), (N_WAITING + 1, "answer"));
    }
}
