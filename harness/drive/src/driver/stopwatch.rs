//! Measures the time that the system under test was actually given, so that delays of a busy machine are not
//! attributed to it.
//!
//! A stopwatch pauses while the machine keeps the system waiting. Three things are subtracted from the
//! elapsed time: the delay of our own timers, because the system's timers are equally late; the time in which
//! a thread of the system was able to run and had no processor; and half of the time in which it ran, because
//! a system that works is not silent. The other half counts, so that an endless loop is detected eventually.
//!
//! If the system runs in this process, or the machine does not show its threads, only the first is known.

use std::future::Future;
use std::pin::pin;
use std::time::{Duration, Instant};

use super::busy::{Busy, ThreadTimes};

/// Measures how much time a system has been given to do something.
#[derive(Debug)]
pub(crate) struct Stopwatch {
    process: Option<u32>,
    counted: Duration,
    looked_at: Instant,
    /// The activity of the system's threads at that time.
    before: Option<Busy>,
}

/// The time limit is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TimeOver;

/// Pieces into which a short wait is cut: measurements exist only at their ends.
const N_TICKS: u32 = 4;
const MIN_TICK: Duration = Duration::from_millis(10);
const MAX_TICK: Duration = Duration::from_millis(250);

/// The longest wait in wall-clock time, as a multiple of its limit: enough for 80 busy loops on two
/// processors.
const MAX_STRETCH: u32 = 40;

/// Waits for a future until a system has been given `limit` for it. `process` is the root of the system's
/// processes, if they are known.
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

/// The length of the pieces into which a wait is cut.
fn tick_of(limit: Duration) -> Duration {
    (limit / N_TICKS).clamp(MIN_TICK, MAX_TICK).min(limit)
}

impl Stopwatch {
    pub(crate) fn start(process: Option<u32>) -> Stopwatch {
        Stopwatch { process, counted: Duration::ZERO, looked_at: Instant::now(), before: None }
    }

    /// True once the system has been given `limit`. A caller that waits for something else calls this
    /// repeatedly.
    pub(crate) fn has_counted(&mut self, limit: Duration) -> bool {
        let tick = tick_of(limit);
        if self.looked_at.elapsed() >= tick {
            self.count(tick);
        }
        self.counted >= limit
    }

    /// Counts the time since the last count, which should have been one tick.
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

/// The part of a tick that counts, given the most that one thread ran and the most that one waited.
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
    fn silence_counts_fully_work_counts_half_and_waiting_does_not_count() {
        assert_eq!(counted(TICK, times(0, 0), true), TICK);
        assert_eq!(counted(TICK, times(100, 0), false), TICK / 2);
        assert_eq!(counted(TICK, times(0, 100), true), Duration::ZERO);
        assert_eq!(counted(TICK, times(0, 0), false), Duration::ZERO);
        assert_eq!(counted(TICK, times(20, 40), true), TICK / 2);
    }

    #[tokio::test]
    async fn a_result_in_time_is_returned_and_a_missing_one_times_out() {
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
