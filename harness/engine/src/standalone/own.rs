//! The answers that no model gives. The relay gives them too.

use serde::Serialize;
use serde_json::json;

use super::Log;
use crate::improvise;
use crate::provider::Answer;
use crate::provider::voice::Voice;
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::trace::ExchangeId;
use brickbat_scenario::wire;

/// A report of the events so far is at paths below this one. The relay passes none of them on.
pub(crate) const OWN: &str = "/_brickbat/";

/// The author of the answers that no model gives.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OwnVoice {
    pub(crate) seed: u64,
    pub(crate) exchange: ExchangeId,
}

impl OwnVoice {
    /// The report of the events so far. `path` is the part below [`OWN`], and `state` the answer at `state`.
    pub(crate) fn report(self, path: &str, state: &impl Serialize, requests: &Log) -> Answer {
        let report = match path {
            "state" => serde_json::to_value(state).ok(),
            "journal" => Some(json!({
                "forgotten": requests.n_forgotten(),
                "exchanges": requests.exchanges().collect::<Vec<_>>(),
                "faults": requests.fault_records().collect::<Vec<_>>(),
            })),
            _ => None,
        };
        match report {
            Some(report) => self.say(Dialect::ALL[0], |voice| voice.whole(200, &report)),
            None => self.status(Dialect::ALL[0], 404),
        }
    }

    /// An error with only a status.
    pub(crate) fn status(self, dialect: Dialect, status: u16) -> Answer {
        self.say(dialect, |voice| voice.whole(status, &wire::of(dialect).status_body(status)))
    }

    /// Any other answer.
    pub(crate) fn say(self, dialect: Dialect, say: impl FnOnce(Voice<'_>) -> Answer) -> Answer {
        improvise::spoken(dialect, self.seed, self.exchange, say)
    }

    /// Digits that are unique to the answer.
    pub(crate) fn unique(self) -> String {
        improvise::unique(self.seed, self.exchange)
    }
}
