//! The grades of receipts: no grade is above what was checked.

use std::time::Duration;

use super::Live;
use crate::driver::DriverError;
use crate::driver::stopwatch::Stopwatch;
use crate::server::Answered;
use brickbat_scenario::trace::{Confidence, Ending, ExchangeId};

/// Pause between two questions how much the system has read; the runtime's clock has no finer resolution.
const READING_PAUSE: Duration = Duration::from_millis(1);

impl Live<'_> {
    /// If the peer has read the bytes, the barrier shows whether the system has processed them. It shows
    /// nothing about bytes that may still be in transit.
    pub(super) async fn confirm(
        &mut self,
        grade: Confidence,
        answer: Answered,
    ) -> Result<Confidence, DriverError> {
        let grade = if self.mount.shows_queues() { grade } else { grade.max(self.told(answer).await?) };
        let passed = self.session.barrier().await?;
        Ok(if passed && grade >= Confidence::Read { Confidence::Observed } else { grade })
    }

    /// The grade that the system itself proves, on a machine that does not show what it has read: it reports the number
    /// of bytes, which must not be less than what was written.
    async fn told(&mut self, answer: Answered) -> Result<Confidence, DriverError> {
        let Some(sent) = self.mount.sent(answer) else { return Ok(Confidence::Written) };
        let mut stopwatch = Stopwatch::start(self.session.process());
        while let Some(n_read) = self.session.n_read(sent.ports).await? {
            if n_read >= sent.n_written {
                return Ok(Confidence::Read);
            }
            if stopwatch.has_counted(self.mount.receipt_time()) {
                break;
            }
            // It is asked again, so that nothing depends on the length of this pause.
            let _ = tokio::time::timeout(READING_PAUSE, std::future::pending::<()>()).await;
        }
        Ok(Confidence::Written)
    }

    /// The grade of a reply that was not held before its end. The server takes a receipt before it breaks a reply off, and
    /// not at another end. A machine that shows queues has then passed on what was written, so the barrier shows whether
    /// the system has processed it.
    pub(super) async fn confirm_end(
        &mut self,
        exchange: ExchangeId,
        ending: Ending,
    ) -> Result<Confidence, DriverError> {
        let answer = Answered::Exchange(exchange);
        if self.mount.shows_queues() && !matches!(ending, Ending::Eof | Ending::Reset) {
            let passed = self.session.barrier().await?;
            return Ok(if passed { Confidence::Observed } else { Confidence::Written });
        }
        let grade = self.mount.sent(answer).map_or(Confidence::Written, |sent| sent.grade);
        self.confirm(grade, answer).await
    }
}
