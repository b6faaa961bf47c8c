//! Whether a process, with all that it started, has come to rest.
//!
//! An agent that speaks plain ACP does not answer a barrier. But what it has received makes it work: data in a socket or
//! a pipe wakes a thread at once. When none of its threads runs, or has run for a while, it has consumed everything.
//! Timers that it has set are not seen, and need not be.
//!
//! This is known on Linux only, from `/proc`: the processor time of each thread in nanoseconds.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Whether this machine shows when a process is at rest.
pub(super) fn can_be_told() -> bool {
    time_of(Path::new("/proc/self/schedstat")).is_some()
}

/// How long nothing may have run. An agent in the middle of something waits for other threads or the disk for less.
const REST: Duration = Duration::from_millis(30);

/// Processor time of one thread that is still rest. An idle JavaScript runtime wakes about ten times a second for some
/// 50 µs; taking one server-sent event in costs its thread more. Of all threads together it would be no measure:
/// opencode 1.18.33 has one more for each session that it has seen, and each of them ticks.
const MAX_IDLE_TIME: Duration = Duration::from_micros(200);

/// How often it is looked.
const POLL: Duration = Duration::from_millis(5);

/// After this it is not at rest. Taking a reply in takes milliseconds; a busy machine makes them hundreds.
const MAX_WAIT: Duration = Duration::from_secs(5);

/// Waits until a process and its descendants are at rest; false if they are not in time, or that cannot be known.
pub(super) async fn reached(root: u32) -> bool {
    reached_within(root, MAX_WAIT).await
}

async fn reached_within(root: u32, wait: Duration) -> bool {
    let deadline = Instant::now() + wait;
    let mut since = Instant::now();
    let Some(mut before) = Busy::of(root) else { return false };
    while Instant::now() < deadline {
        #[expect(
            clippy::disallowed_methods,
            reason = "nothing reports that the processes of someone else have come to rest"
        )]
        tokio::time::sleep(POLL).await;
        let Some(now) = Busy::of(root) else { return false };
        if now.is_asleep && now.idle_since(&before) {
            if since.elapsed() >= REST {
                return true;
            }
        } else {
            since = Instant::now();
            before = now;
        }
    }
    false
}

/// How busy a tree of processes has been so far.
#[derive(Debug)]
struct Busy {
    /// The processor time of each thread, by the name of its folder.
    times: BTreeMap<PathBuf, Duration>,
    is_asleep: bool,
}

/// Processes of one system; a coding agent has a tool server for each of its sessions.
const MAX_PROCESSES: usize = 4096;

impl Busy {
    /// None if the process is gone, or this system does not show it.
    fn of(root: u32) -> Option<Busy> {
        let mut busy = Busy { times: BTreeMap::new(), is_asleep: true };
        let mut tree = vec![root];
        let mut next = 0;
        while let Some(process) = tree.get(next).copied().filter(|_| next < MAX_PROCESSES) {
            next += 1;
            // One that has ended meanwhile has nothing left to consume.
            let Ok(threads) = fs::read_dir(format!("/proc/{process}/task")) else { continue };
            for thread in threads.flatten() {
                busy.add(thread.path(), &mut tree);
            }
        }
        (!busy.times.is_empty()).then_some(busy)
    }

    fn add(&mut self, thread: PathBuf, tree: &mut Vec<u32>) {
        let Some(time) = time_of(&thread.join("schedstat")) else { return };
        let stat = fs::read_to_string(thread.join("stat")).unwrap_or_default();
        self.is_asleep &= state_of(&stat).is_none_or(|state| matches!(state, 'S' | 'Z' | 'X' | 'T' | 'I'));
        let children = fs::read_to_string(thread.join("children")).unwrap_or_default();
        tree.extend(children.split_ascii_whitespace().filter_map(|child| child.parse::<u32>().ok()));
        self.times.insert(thread, time);
    }

    /// Whether next to nothing has run since then. A thread that came or went has run.
    fn idle_since(&self, before: &Busy) -> bool {
        let is_idle = |thread: &PathBuf, now: &Duration| {
            let ran = before.times.get(thread).and_then(|before| now.checked_sub(*before));
            ran.is_some_and(|ran| ran <= MAX_IDLE_TIME)
        };
        self.times.len() == before.times.len() && self.times.iter().all(|(thread, now)| is_idle(thread, now))
    }
}

/// The time that a thread has run, the first number of its `schedstat`.
fn time_of(schedstat: &Path) -> Option<Duration> {
    let text = fs::read_to_string(schedstat).ok()?;
    text.split_ascii_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}

/// The state in a line of `stat`: the letter after the name, which stands in parentheses and may hold any of its own.
fn state_of(stat: &str) -> Option<char> {
    stat.rsplit_once(") ")?.1.chars().next()
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
            assert!(!reached_within(child.id().unwrap(), Duration::from_millis(300)).await, "{script}");
            // Only the outer shell is killed with the test, so it ends the inner one itself.
            drop(child.stdin.take());
            if script == parent {
                child.wait().await.unwrap();
            }
        }
    }

    #[tokio::test]
    async fn a_process_that_is_gone_is_not_at_rest() {
        let mut child = shell("exit 0");
        let id = child.id().unwrap();
        child.wait().await.unwrap();
        assert!(!reached(id).await);
    }

    #[test]
    fn the_state_stands_after_the_name() {
        assert_eq!(state_of("1 (a) b) R 0 1"), Some('R'));
        assert_eq!(state_of(""), None);
    }
}
