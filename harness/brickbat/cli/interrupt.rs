//! Ctrl-C and the other signals that ask a program to exit. The first one ends the run, which is then
//! reported; the second one ends the program immediately.

use std::thread;

use tokio::signal::unix::{Signal, SignalKind, signal};

use super::output::tell;

/// A signal that asks a program to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EndSignal {
    /// Ctrl-C.
    Interrupt,
    /// SIGTERM, from a CI system, a container or a service manager.
    Terminate,
    /// The terminal was closed.
    HangUp,
}

/// Listeners for the signals that ask the program to end.
struct EndSignals {
    listened: Vec<(EndSignal, Signal)>,
}

/// Runs something to its end. `None` if a signal asks the program to end.
pub(super) async fn until_interrupted<T>(run: impl Future<Output = T>) -> Option<T> {
    // The handlers are in place before the work begins.
    let mut signals = EndSignals::listen();
    let asked = tokio::select! {
        biased;
        asked = signals.next() => asked,
        done = run => return Some(done),
    };
    // A separate thread, so that it can end the program while the other threads wait.
    thread::spawn(quit_at_the_second);
    tell(asked.words());
    None
}

fn quit_at_the_second() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    if let Ok(runtime) = runtime {
        let again = runtime.block_on(async { EndSignals::listen().next().await });
        std::process::exit(again.exit_code());
    }
}

/// Waits until the program is asked to end.
pub(super) async fn asked_to_end() {
    EndSignals::listen().next().await;
}

impl EndSignals {
    fn listen() -> EndSignals {
        let wanted = EndSignal::ALL.into_iter().filter(|wanted| !wanted.is_ignored());
        // Without a handler, the signal ends brickbat as it ends any program.
        let listened = wanted.filter_map(|wanted| Some((wanted, signal(wanted.kind()).ok()?)));
        EndSignals { listened: listened.collect() }
    }

    /// Waits for the next signal.
    async fn next(&mut self) -> EndSignal {
        let waits = self.listened.iter_mut().map(|(which, signal)| {
            Box::pin(async move {
                signal.recv().await;
                *which
            })
        });
        let waits: Vec<_> = waits.collect();
        if waits.is_empty() {
            return std::future::pending().await;
        }
        futures::future::select_all(waits).await.0
    }
}

impl EndSignal {
    const ALL: [EndSignal; 3] = [EndSignal::Interrupt, EndSignal::Terminate, EndSignal::HangUp];

    fn kind(self) -> SignalKind {
        match self {
            EndSignal::Interrupt => SignalKind::interrupt(),
            EndSignal::Terminate => SignalKind::terminate(),
            EndSignal::HangUp => SignalKind::hangup(),
        }
    }

    fn words(self) -> &'static str {
        match self {
            EndSignal::Interrupt => "interrupted; press Ctrl-C again to quit without a report",
            EndSignal::Terminate => "asked to end (SIGTERM); a second signal quits without a report",
            EndSignal::HangUp => "the terminal was closed (SIGHUP); a second signal quits without a report",
        }
    }

    /// The exit code of a program ended by the signal, as in shells: 128 plus the signal number.
    fn exit_code(self) -> i32 {
        128 + self.kind().as_raw_value()
    }

    /// True if the parent process set the signal to be ignored, as `nohup` does, so that brickbat outlives
    /// its terminal.
    fn is_ignored(self) -> bool {
        match self {
            EndSignal::Interrupt | EndSignal::Terminate => false,
            EndSignal::HangUp => {
                // The only way to ask without unsafe code. Without this file, the signal ends the run with a
                // report.
                let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
                is_ignored_in(&status, self.kind().as_raw_value())
            }
        }
    }
}

/// True if `/proc/self/status` lists a signal as ignored.
fn is_ignored_in(status: &str, number: i32) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask & (1 << (number - 1)) != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_that_is_ignored_is_known_by_its_bit() {
        let of_nohup = "Name:\tbrickbat\nSigBlk:\t0000000000000000\nSigIgn:\t0000000000001001\n";
        assert!(is_ignored_in(of_nohup, 1));
        assert!(!is_ignored_in(of_nohup, 2));
        assert!(!is_ignored_in("", 1));
    }
}
