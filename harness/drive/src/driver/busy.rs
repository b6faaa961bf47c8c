//! Measures how busy a process is, together with every process that it started.
//!
//! This works only on Linux, where `/proc` shows each thread's processor time, the time that it has
//! waited for a processor, and whether it runs, waits for one, or sleeps.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The activity in a process tree so far.
#[derive(Debug)]
pub(super) struct Busy {
    /// Each thread's times, by the path of its `/proc` folder.
    threads: BTreeMap<PathBuf, ThreadTimes>,
    /// True if no thread runs, or waits for a processor or a disk.
    pub(super) is_asleep: bool,
}

/// The first two numbers of a thread's `schedstat`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct ThreadTimes {
    /// The processor time that the thread has used.
    pub(super) ran: Duration,
    /// The time in which the thread could have run but had no processor.
    pub(super) waited: Duration,
}

/// The maximum number of processes that are read per system. A coding agent has a tool server for each of
/// its sessions.
const MAX_PROCESSES: usize = 4096;

impl Busy {
    /// None if the process is gone, or this operating system does not show it.
    pub(super) fn of(root: u32) -> Option<Busy> {
        let mut busy = Busy { threads: BTreeMap::new(), is_asleep: true };
        let mut tree = vec![root];
        let mut next = 0;
        while let Some(process) = tree.get(next).copied().filter(|_| next < MAX_PROCESSES) {
            next += 1;
            // A process that has ended meanwhile has nothing left to consume.
            let Ok(threads) = fs::read_dir(format!("/proc/{process}/task")) else { continue };
            for thread in threads.flatten() {
                busy.add(thread.path(), &mut tree);
            }
        }
        (!busy.threads.is_empty()).then_some(busy)
    }

    fn add(&mut self, thread: PathBuf, tree: &mut Vec<u32>) {
        let Some(times) = times_of(&thread.join("schedstat")) else { return };
        let stat = fs::read_to_string(thread.join("stat")).unwrap_or_default();
        self.is_asleep &= state_of(&stat).is_none_or(|state| matches!(state, 'S' | 'Z' | 'X' | 'T' | 'I'));
        let children = fs::read_to_string(thread.join("children")).unwrap_or_default();
        tree.extend(children.split_ascii_whitespace().filter_map(|child| child.parse::<u32>().ok()));
        self.threads.insert(thread, times);
    }

    /// True if no thread has run for longer than `max_ran` since `before`. A thread that started or ended is
    /// treated as having run.
    pub(super) fn is_idle_since(&self, before: &Busy, max_ran: Duration) -> bool {
        let is_idle = |thread: &PathBuf, now: &ThreadTimes| {
            let ran = before.threads.get(thread).and_then(|before| now.ran.checked_sub(before.ran));
            ran.is_some_and(|ran| ran <= max_ran)
        };
        let mut threads = self.threads.iter();
        self.threads.len() == before.threads.len() && threads.all(|(thread, now)| is_idle(thread, now))
    }

    /// The longest time that one thread has run since `before`, and the longest time that one has waited for
    /// a processor.
    pub(super) fn most_since(&self, before: &Busy) -> ThreadTimes {
        let mut most = ThreadTimes::default();
        for (thread, now) in &self.threads {
            let before = before.threads.get(thread).copied().unwrap_or_default();
            most.ran = most.ran.max(now.ran.saturating_sub(before.ran));
            most.waited = most.waited.max(now.waited.saturating_sub(before.waited));
        }
        most
    }
}

/// The first two numbers of `schedstat`, which are nanoseconds.
pub(super) fn times_of(schedstat: &Path) -> Option<ThreadTimes> {
    let text = fs::read_to_string(schedstat).ok()?;
    let mut numbers = text.split_ascii_whitespace().map(|number| number.parse().ok());
    let mut next = || numbers.next().flatten().map(Duration::from_nanos);
    Some(ThreadTimes { ran: next()?, waited: next()? })
}

/// The state in a line of `stat`: the letter after the name, which is in parentheses and may contain
/// parentheses itself.
fn state_of(stat: &str) -> Option<char> {
    stat.rsplit_once(") ")?.1.chars().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_is_the_letter_after_the_name() {
        assert_eq!(state_of("1 (a) b) R 0 1"), Some('R'));
        assert_eq!(state_of(""), None);
    }
}
