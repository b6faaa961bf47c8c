//! Feeds sequences of events, through an adapter, to a consumer of an SDK's own stream.

use std::path::Path;

use super::system::{Prepared, Subject, System};
use crate::driver::{Adapter, DriverError, Progress};
use brickbat_engine::events::{Breach, Event, Refused, Wrong, breaches, without};

/// An adapter with consumers, ready to be fed.
pub struct Feeder {
    // Dropped before the folder that it works in.
    adapter: Adapter,
    prepared: Prepared,
}

/// The result of a sequence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Played {
    /// The errors in the stored calls, in the order of the calls.
    pub breaches: Vec<Breach>,
    /// The first event that was rejected with an error.
    pub refused: Option<Refused>,
}

impl Feeder {
    /// Starts a system's adapter. `supervisor` is the program `brickbat`; `note` gets a line about long
    /// preparations.
    pub async fn start(
        system: &System,
        supervisor: &Path,
        note: Progress<'_>,
    ) -> Result<Feeder, DriverError> {
        let System::Adapted(subject) = system else {
            let what = format!("{} has no event stream to feed", system.name());
            return Err(DriverError::harness(what, "`reference/acp` has one"));
        };
        let subject: &Subject = subject;
        let prepared = Prepared::new(subject, supervisor, note).await?;
        let adapter = prepared.start().await?;
        Ok(Feeder { adapter, prepared })
    }

    /// The consumers that can be fed, as the adapter reports them.
    pub fn consumers(&self) -> &[String] {
        &self.adapter.about().consumers
    }

    /// The SDK and its exact version, as the adapter reports them.
    pub fn sdk(&self) -> String {
        let about = self.adapter.about();
        format!("{} {}", about.sdk, about.version)
    }

    /// Feeds a sequence to a consumer, and judges the stored result. An adapter that has died is started
    /// again.
    pub async fn play(&mut self, consumer: &str, events: &[Event]) -> Result<Played, DriverError> {
        if self.adapter.is_over() {
            self.adapter = self.prepared.start().await?;
        }
        let consumed = self.adapter.feed(consumer, events).await?;
        let breaches = breaches(events, &consumed).into_iter().collect();
        Ok(Played { breaches, refused: consumed.refused })
    }

    /// Shrinks a sequence with a breach of this kind: events are removed as long as the breach remains.
    pub async fn smallest(
        &mut self,
        consumer: &str,
        events: Vec<Event>,
        wrong: Wrong,
    ) -> Result<Vec<Event>, DriverError> {
        let mut events = events;
        loop {
            let mut smaller = None;
            for candidate in without(&events) {
                if self.play(consumer, &candidate).await?.has(wrong) {
                    smaller = Some(candidate);
                    break;
                }
            }
            match smaller {
                Some(found) => events = found,
                None => return Ok(events),
            }
        }
    }
}

impl Played {
    /// True if there is a breach of this kind.
    pub fn has(&self, wrong: Wrong) -> bool {
        self.breaches.iter().any(|breach| breach.wrong == wrong)
    }
}
