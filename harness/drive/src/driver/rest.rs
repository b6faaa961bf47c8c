//! Whether a process, with all that it started, has come to rest.
//!
//! An agent that speaks plain ACP does not answer a barrier. But what it has received makes it work: data in a socket or
//! a pipe wakes a thread at once. When none of its threads runs, or has run for a while, it has consumed everything.
//! Timers that it has set are not seen, and need not be; only before a process is killed it is waited for longer, so that
//! what it has put off for a moment is done.
//!
//! A busy machine makes it take longer: only looks that came on time count, and of the time in which the process works
//! only what it has had of a processor.

use std::path::Path;
use std::time::{Duration, Instant};

use super::busy::{Busy, times_of};

/// Whether this machine shows when a process is at rest.
pub(super) fn can_be_told() -> bool {
    times_of(Path::new("/proc/self/schedstat")).is_some()
}

/// How long nothing may have run. An agent in the middle of something waits for other threads or the disk for less.
const REST: Duration = Duration::from_millis(30);

/// The same where what was only put off is to be done as well. A store may collect what it writes for a moment: Claude
/// Code 2.1 waits 100 ms for more lines. Three times as long, since a system at work is not seen to wait for a timer.
const LONG_REST: Duration = Duration::from_millis(300);

/// Processor time of one thread in so long that is still rest. An idle JavaScript runtime wakes about ten times a
/// second for some 50 µs; taking one server-sent event in costs its thread more. Of all threads together it would be no
/// measure: opencode 1.18.33 has one more for each session that it has seen, and each of them ticks.
const MAX_IDLE_TIME: Duration = Duration::from_micros(200);

/// How often it is looked.
const POLL: Duration = Duration::from_millis(5);

/// After this it is not at rest. Taking a reply in takes milliseconds of processor time.
const MAX_WAIT: Duration = Duration::from_secs(5);

/// The same by the clock on the wall, for a machine that leaves it next to no processor.
const MAX_STRETCH: u32 = 40;

/// Waits until a process and its descendants are at rest; false if they are not in time, or that cannot be known.
pub(super) async fn reached(root: u32) -> bool {
    reached_within(root, REST, MAX_WAIT).await
}

/// The same, and that they have done what they had put off, such as to write.
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
        // A look that comes late has seen nothing of the time before it.
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

/// The processor time of a thread in so long that is still rest.
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
    async fn a_process_that_waits_is_at_rest_and_so_is_one_whose_child_waits() {
        for script in ["read line", "cat; true"] {
            let child = shell(script);
            assert!(reached(child.id().unwrap()).await, "{script}");
        }
    }

    #[tokio::test]
    async fn a_process_that_works_is_not_and_neither_is_one_whose_child_works() {
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
    async fn what_a_process_has_put_off_for_a_moment_is_done_at_a_long_rest() {
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
