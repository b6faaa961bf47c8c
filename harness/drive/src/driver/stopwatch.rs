//! Time as the system under test has had it, so that a busy machine is not held against it.
//!
//! A stopwatch stands still while the machine keeps the system waiting. Three things are subtracted from the time that
//! passes: what our own timers come late, since the system's come as late; the time in which a thread of the system was
//! able to run and had no processor; and half of the time in which it ran, because who works is not silent. The other
//! half counts, so that a loop that never ends is found in the end.
//!
//! Where the system runs in this process, or the machine does not show its threads, only the first is known.

use std::future::Future;
use std::pin::pin;
use std::time::{Duration, Instant};

use super::busy::{Busy, ThreadTimes};

/// Measures how long a system has been given to do something.
#[derive(Debug)]
pub(crate) struct Stopwatch {
    process: Option<u32>,
    counted: Duration,
    looked_at: Instant,
    /// What was known then of the system's threads.
    before: Option<Busy>,
}

/// The time is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TimeOver;

/// Pieces into which a short wait is cut: what is measured is known only at their ends.
const N_TICKS: u32 = 4;
const MIN_TICK: Duration = Duration::from_millis(10);
const MAX_TICK: Duration = Duration::from_millis(250);

/// How often its limit a wait may last by the clock on the wall: 80 busy loops on two processors.
const MAX_STRETCH: u32 = 40;

/// Waits for something until a system has had so long for it. `process` is the root of the system's processes, where
/// they are known.
pub(crate) async fn within<F: Future>(
    process: Option<u32>,
    limit: Duration,
    future: F,
) -> Result<F::Output, TimeOver> {
    let mut future = pin!(future);
    let mut stopwatch = Stopwatch::start(process);
    let start = Instant::now();
    let tick = tick_of(limit);
    while stopwatch.counted < limit && start.elapsed() < limit.saturating_mul(MAX_STRETCH) {
        if let Ok(output) = tokio::time::timeout(tick, future.as_mut()).await {
            return Ok(output);
        }
        stopwatch.count(tick);
    }
    Err(TimeOver)
}

/// The pieces into which a wait is cut.
fn tick_of(limit: Duration) -> Duration {
    (limit / N_TICKS).clamp(MIN_TICK, MAX_TICK).min(limit)
}

impl Stopwatch {
    pub(crate) fn start(process: Option<u32>) -> Stopwatch {
        Stopwatch { process, counted: Duration::ZERO, looked_at: Instant::now(), before: None }
    }

    /// Whether the system has been given so long; asked again and again by who waits for something else.
    pub(crate) fn has_counted(&mut self, limit: Duration) -> bool {
        let tick = tick_of(limit);
        if self.looked_at.elapsed() >= tick {
            self.count(tick);
        }
        self.counted >= limit
    }

    /// Counts the time since it last did, which should have been a tick.
    fn count(&mut self, tick: Duration) {
        let on_time = self.looked_at.elapsed().min(tick);
        self.looked_at = Instant::now();
        let now = self.process.and_then(Busy::of);
        let times = match (&now, &self.before) {
            (Some(now), Some(before)) => now.most_since(before),
            (Some(_) | None, _) => ThreadTimes::default(),
        };
        let is_asleep = now.as_ref().is_none_or(|now| now.is_asleep);
        self.counted += counted(on_time, times, is_asleep);
        self.before = now;
    }
}

/// What counts of a tick, in which one thread ran for so long and one waited for so long.
fn counted(on_time: Duration, times: ThreadTimes, is_asleep: bool) -> Duration {
    let worked = times.ran / 2;
    if is_asleep { on_time.saturating_sub(times.waited).saturating_sub(worked) } else { worked.min(on_time) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TICK: Duration = Duration::from_millis(100);

    fn times(ran: u64, waited: u64) -> ThreadTimes {
        ThreadTimes { ran: Duration::from_millis(ran), waited: Duration::from_millis(waited) }
    }

    #[test]
    fn silence_counts_in_full_work_by_half_and_waiting_for_a_processor_not_at_all() {
        assert_eq!(counted(TICK, times(0, 0), true), TICK);
        assert_eq!(counted(TICK, times(100, 0), false), TICK / 2);
        assert_eq!(counted(TICK, times(0, 100), true), Duration::ZERO);
        assert_eq!(counted(TICK, times(0, 0), false), Duration::ZERO);
        assert_eq!(counted(TICK, times(20, 40), true), TICK / 2);
    }

    #[tokio::test]
    async fn what_comes_in_time_is_given_back_and_what_does_not_come_is_waited_for_no_longer() {
        assert_eq!(within(None, TICK, async { 7 }).await, Ok(7));
        assert_eq!(within(None, TICK, std::future::pending::<()>()).await, Err(TimeOver));
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn less_time_counts_for_a_process_that_works_than_for_one_that_sleeps() {
        let shell = |script: &str| {
            let mut command = tokio::process::Command::new("/bin/sh");
            command
                .args(["-c", script])
                .stdin(std::process::Stdio::piped())
                .kill_on_drop(true)
                .spawn()
                .unwrap()
        };
        let (sleeps, works) = (shell("read line"), shell("while :; do :; done"));
        let [mut of_sleep, mut of_work] = [&sleeps, &works].map(|child| Stopwatch::start(child.id()));
        // The first tick has nothing to compare with.
        for _ in 0..8 {
            assert_eq!(within(None, TICK, std::future::pending::<()>()).await, Err(TimeOver));
            of_sleep.count(TICK);
            of_work.count(TICK);
        }
        assert!(of_work.counted < of_sleep.counted, "{of_work:?} {of_sleep:?}");
    }
}
