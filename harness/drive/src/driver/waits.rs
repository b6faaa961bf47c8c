//! The waiting times for a system, before the machine's load is taken into account.

use std::time::Duration;

use serde::Deserialize;

/// The limits of the waits for a system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waits {
    /// From the start of the process to its answer to `initialize`.
    pub start: Duration,
    /// Any later answer that does not depend on the provider.
    pub answer: Duration,
    /// The silence in the middle of a turn after which the turn is considered hung.
    pub silence: Duration,
}

impl Waits {
    /// Enough for a healthy adapter.
    pub const STANDARD: Waits = Waits {
        // Node with one SDK starts in 0.4 to 2.5 s; Python with a large one in up to 10 s on a loaded CI
        // machine.
        start: Duration::from_secs(60),
        // An answer takes milliseconds.
        answer: Duration::from_secs(20),
        // An SDK may back off for some seconds between retries.
        silence: Duration::from_secs(15),
    };

    /// The same limits, multiplied by `factor`.
    pub(crate) fn times(self, factor: f64) -> Waits {
        Waits {
            start: self.start.mul_f64(factor),
            answer: self.answer.mul_f64(factor),
            silence: self.silence.mul_f64(factor),
        }
    }
}

/// The key `waits` of a manifest: seconds for each wait in which this system needs longer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WaitsSheet {
    /// From the start of the process to its answer to `initialize`, in seconds.
    start: Option<u16>,
    /// Any later answer that does not depend on the provider, in seconds.
    answer: Option<u16>,
    /// The silence in a turn after which it counts as hung, in seconds.
    silence: Option<u16>,
}

impl From<WaitsSheet> for Waits {
    fn from(sheet: WaitsSheet) -> Waits {
        let seconds = |given: Option<u16>, standard: Duration| {
            given.map_or(standard, |seconds| Duration::from_secs(seconds.max(1).into()))
        };
        let Waits { start, answer, silence } = Waits::STANDARD;
        Waits {
            start: seconds(sheet.start, start),
            answer: seconds(sheet.answer, answer),
            silence: seconds(sheet.silence, silence),
        }
    }
}
