//! Detects when a process, together with every process that it started, is idle.
//!
//! An agent that speaks plain ACP does not answer a barrier. But what it receives makes it work: data in a
//! socket or a pipe wakes a thread immediately. When none of its threads runs, or has run for a while, it has
//! consumed everything. Its timers are invisible, and rarely matter. The wait is longer only before a process
//! is killed, to let it finish work that it has postponed for a moment.
//!
//! A busy machine makes this take longer: only samples that were taken on time count, and of the time in
//! which the process works, only the processor time counts.

use std::path::Path;
use std::time::{Duration, Instant};

use super::busy::{Busy, times_of};

/// True if this machine shows when a process is idle.
pub(super) fn can_be_told() -> bool {
    times_of(Path::new("/proc/self/schedstat")).is_some()
}

/// The time without a running thread after which the process is idle. A working agent waits for other threads
/// or the disk for less than that.
const REST: Duration = Duration::from_millis(30);

/// The same, if postponed work must finish as well. A store may batch its writes: Claude Code 2.1 waits 100
/// ms for more lines. This is three times as long, because a system that waits for a timer looks idle.
const LONG_REST: Duration = Duration::from_millis(300);

/// The processor time of one thread during [`REST`] that still counts as idle. An idle JavaScript runtime
/// wakes about ten times a second for some 50 µs; consuming one server-sent event costs its thread more. The
/// sum over all threads would not work: opencode 1.18.33 has one more thread for each session that it has
/// seen, and each of them ticks.
const MAX_IDLE_TIME: Duration = Duration::from_micros(200);

/// The interval between samples.
const POLL: Duration = Duration::from_millis(5);

/// The limit after which it counts as not idle. Consuming a reply takes milliseconds of processor time.
const MAX_WAIT: Duration = Duration::from_secs(5);

/// The limit in wall-clock time, as a factor, for a machine that gives it almost no processor time.
const MAX_STRETCH: u32 = 40;

/// Waits until a process and its descendants are idle; false if they are not idle in time, or if that cannot
/// be determined.
pub(super) async fn reached(root: u32) -> bool {
    reached_within(root, REST, MAX_WAIT).await
}

/// Like [`reached`], but also waits until postponed work, such as a write, is done.
pub(super) async fn reached_for_long(root: u32) -> bool {
    reached_within(root, LONG_REST, MAX_WAIT).await
}

async fn reached_within(root: u32, rest: Duration, wait: Duration) -> bool {
    let start = Instant::now();
    let (mut counted, mut rested) = (Duration::ZERO, Duration::ZERO);
    let (mut looked_at, mut since) = (start, start);
    let Some(mut before) = Busy::of(root) else { return false };
    while counted < wait && start.elapsed() < wait * MAX_STRETCH {
        #[expect(
            clippy::disallowed_methods,
            reason = "nothing reports that the processes of someone else are idle"
        )]
        tokio::time::sleep(POLL).await;
        let Some(now) = Busy::of(root) else { return false };
        // A late sample shows nothing about the time before it.
        let on_time = looked_at.elapsed().min(POLL);
        looked_at = Instant::now();
        if now.is_asleep && now.is_idle_since(&before, max_idle(since.elapsed())) {
            rested += on_time;
            counted += on_time;
            if rested >= rest {
                return true;
            }
        } else {
            let ran = now.most_since(&before).ran.min(on_time);
            counted += if now.is_asleep { on_time } else { ran };
            (rested, since) = (Duration::ZERO, looked_at);
            before = now;
        }
    }
    false
}

/// The processor time of a thread during `elapsed` that still counts as idle.
fn max_idle(elapsed: Duration) -> Duration {
    MAX_IDLE_TIME.max(elapsed.mul_f64(MAX_IDLE_TIME.as_secs_f64() / REST.as_secs_f64()))
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::process::Stdio;

    use tokio::process::{Child, Command};

    use super::*;

    fn shell(script: &str) -> Child {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]).stdin(Stdio::piped()).kill_on_drop(true).spawn().unwrap()
    }

    #[tokio::test]
    async fn a_process_that_waits_is_at_rest_even_with_a_waiting_child() {
        for script in ["read line", "cat; true"] {
            let child = shell(script);
            assert!(reached(child.id().unwrap()).await, "{script}");
        }
    }

    #[tokio::test]
    async fn a_process_that_works_or_has_a_working_child_is_not_at_rest() {
        let parent = "while :; do :; done & read line; kill $!";
        for script in ["while :; do :; done", parent] {
            let mut child = shell(script);
            assert!(!reached_within(child.id().unwrap(), REST, Duration::from_millis(300)).await, "{script}");
            // Only the outer shell is killed with the test, so it ends the inner one itself.
            drop(child.stdin.take());
            if script == parent {
                child.wait().await.unwrap();
            }
        }
    }

    #[tokio::test]
    async fn postponed_work_is_done_after_a_long_rest() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("written");
        let script = format!("sleep 0.1; echo > '{}'; read line", file.display());
        let child = shell(&script);
        assert!(reached_for_long(child.id().unwrap()).await);
        assert!(file.exists());
    }

    #[tokio::test]
    async fn a_process_that_is_gone_is_not_at_rest() {
        let mut child = shell("exit 0");
        let id = child.id().unwrap();
        child.wait().await.unwrap();
        assert!(!reached(id).await);
    }
}
