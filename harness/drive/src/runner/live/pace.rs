//! The times that a plan waits.

use std::time::Duration;

use crate::driver::manifest::StopKind;
use brickbat_engine::conductor::Patience;

/// The times that a plan waits, in the system's own time (see `driver::stopwatch`).
#[derive(Debug, Clone, Copy)]
pub(in crate::runner) struct Pace {
    /// The time without an event that makes a quiet spell.
    pub(super) quiet: Duration,
    /// A silence of this length is reported, even when it ends.
    pub(super) slow: Duration,
    pub(super) patience: Patience,
}

impl Pace {
    /// Our own agent answers within a millisecond; the margin is for a loaded machine.
    pub(in crate::runner) const OWN: Pace = Pace {
        quiet: Duration::from_millis(100),
        slow: Duration::from_secs(5),
        patience: Patience { progress: 20, hang: 50, grace: None },
    };

    /// The pace of an SDK. After a silence of this length, its turn is considered hung.
    pub(in crate::runner) fn adapted(silence: Duration, stop: StopKind) -> Pace {
        let grace = match stop {
            StopKind::Preemptive | StopKind::Dropped => None,
            StopKind::Cooperative => Some(GRACE),
        };
        let hang = u32::try_from(silence.as_millis() / QUIET.as_millis()).unwrap_or(u32::MAX).max(MIN_HANG);
        Pace {
            quiet: QUIET,
            slow: silence,
            patience: Patience { progress: hang / PROGRESS_PART, hang, grace },
        }
    }

    /// The pace for a system that is suspected of a hang.
    pub(in crate::runner) fn longer(self) -> Pace {
        let hang = self.patience.hang.saturating_mul(SUSPECT_FACTOR);
        Pace { patience: Patience { hang, ..self.patience }, ..self }
    }
}

/// The silence after which an SDK counts as quiet: many times longer than it needs to continue a
/// turn.
const QUIET: Duration = Duration::from_millis(250);

/// The quiet spells after a stop, for a system that notices the stop only at its next step: a second, as a
/// user might wait.
const GRACE: u32 = 4;

/// A divisor for the silence that counts as a hang. A step that has not started after that part will not
/// start: about 4 of 15 s.
const PROGRESS_PART: u32 = 4;

/// The factor for a longer wait for a suspect: 45 s for an SDK. Clients that back off for longer
/// make several requests, and the conductor already waits longer for those.
const SUSPECT_FACTOR: u32 = 3;

/// The minimum number of quiet spells before anything counts as a hang.
const MIN_HANG: u32 = 2 * PROGRESS_PART;
