//! Keeps the exchanges between a system and the provider, if they are to be recorded.

use crate::server::Answerer;
use brickbat_engine::provider::{Answer, Provider, Request};
use brickbat_report::record::Exchange;
use brickbat_scenario::trace::RequestKind;

/// The maximum number of requests kept for one plan, equal to the limit for a record.
const MAX_KEPT: usize = 1000;

/// The maximum number of request bytes kept for one plan, equal to the limit for a trace.
const MAX_KEPT_BYTES: usize = 128 << 20;

/// The provider core, with or without a memory of its exchanges.
pub(super) struct Recorder {
    pub(super) provider: Provider,
    kept: Option<Vec<Exchange>>,
    n_bytes: usize,
}

impl Recorder {
    pub(super) fn forgetful(provider: Provider) -> Recorder {
        Recorder { provider, kept: None, n_bytes: 0 }
    }

    pub(super) fn keeping(provider: Provider) -> Recorder {
        Recorder { provider, kept: Some(Vec::new()), n_bytes: 0 }
    }

    pub(super) fn take(&mut self) -> Vec<Exchange> {
        self.kept.as_mut().map(std::mem::take).unwrap_or_default()
    }
}

impl Answerer for Recorder {
    fn answer(&mut self, request: Request<'_>) -> (RequestKind, Answer) {
        let (kind, answer) = self.provider.answer(request);
        if let Some(kept) = &mut self.kept {
            self.n_bytes += request.body.len();
            if kept.len() < MAX_KEPT && self.n_bytes <= MAX_KEPT_BYTES {
                kept.push(Exchange::new(request, &answer));
            }
        }
        (kind, answer)
    }
}
