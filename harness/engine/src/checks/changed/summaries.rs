//! The requests for a summary in a plan in which something happens to them.
//!
//! Content that no summary has replaced must not be missing. The fate of each request is read from the trace in advance:
//! a client can send its next request before the harness has recorded that the summary was sent.

use std::collections::BTreeMap;

use brickbat_scenario::action::{Action, PoorSummary};
use brickbat_scenario::plan::{Plan, PlannedPoint};
use brickbat_scenario::trace::{Compaction, Ending, Event, ExchangeId, Trace};

/// The answer that a request for a summary gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// It is answered with a complete summary.
    Given,
    /// It is answered with an error or a useless summary, or the system hangs up.
    Refused,
    /// The user or a kill ends the turn while it is being answered.
    Interrupted,
}

/// The requests for a summary up to an event of the trace.
#[derive(Debug)]
pub(super) struct Summaries {
    fates: BTreeMap<ExchangeId, Fate>,
    /// The fate of the last request.
    last: Option<Fate>,
    /// True if the turn ended while a summary was being sent, and none has come since.
    is_interrupted: bool,
    /// True if the system has asked for a summary since the last change.
    is_asked: bool,
    /// True if the system is to summarise its history and has not asked for a summary yet: the next one replaces it.
    is_put_off: bool,
}

impl Summaries {
    /// The requests of a trace, before its first event.
    pub(super) fn of(plan: &Plan, trace: &Trace) -> Summaries {
        let (fates, last) = (fates(plan, trace), None);
        Summaries { fates, last, is_interrupted: false, is_asked: false, is_put_off: false }
    }

    /// Takes a request for a summary. Returns true if its answer replaces the history because of an earlier command.
    pub(super) fn asked(&mut self, exchange: ExchangeId) -> bool {
        self.is_asked = true;
        self.last = self.fates.get(&exchange).copied();
        match self.last {
            Some(Fate::Given) => {
                self.is_interrupted = false;
                std::mem::take(&mut self.is_put_off)
            }
            Some(Fate::Interrupted) => {
                self.is_interrupted = true;
                false
            }
            Some(Fate::Refused) | None => false,
        }
    }

    /// Takes the end of a command to summarise the history. Returns true if a summary replaces it: a system that got none
    /// must still have everything. If something happens to requests for a summary, a system that has not asked yet will ask
    /// before its next request.
    pub(super) fn commanded(&mut self, plan: &Plan) -> bool {
        if plan.has_compactions() && !std::mem::take(&mut self.is_asked) {
            self.is_put_off = true;
            return false;
        }
        self.is_given()
    }

    /// True if no request is without a summary.
    pub(super) fn is_given(&self) -> bool {
        matches!(self.last, None | Some(Fate::Given))
    }

    /// True if the last summary was broken off with its turn. It must not replace anything.
    pub(super) fn is_interrupted(&self) -> bool {
        self.is_interrupted
    }
}

/// The fate of each request for a summary. A stop interrupts the request only if the system has not continued the
/// conversation since. A request that gets a complete summary in spite of a stop is answered.
fn fates(plan: &Plan, trace: &Trace) -> BTreeMap<ExchangeId, Fate> {
    let (mut fates, mut empty) = (BTreeMap::new(), Vec::new());
    let mut open: Option<ExchangeId> = None;
    for event in trace.events() {
        match event {
            Event::Requested { exchange, summary: Some(of), .. } => {
                fates.insert(*exchange, Fate::Refused);
                empty.extend(is_empty(plan, *of).then_some(*exchange));
                open = Some(*exchange);
            }
            Event::Requested { kind, .. } if kind.is_of_thread() => open = None,
            Event::Replied { exchange, ending } => {
                open.take_if(|own| own == exchange);
                if *ending == Ending::Complete && !empty.contains(exchange) {
                    fates.entry(*exchange).and_modify(|fate| *fate = Fate::Given);
                }
            }
            Event::PeerClosed { exchange } => drop(open.take_if(|own| own == exchange)),
            Event::Stopped | Event::Killed => {
                fates.extend(open.take().map(|exchange| (exchange, Fate::Interrupted)));
            }
            _ => {}
        }
    }
    fates
}

/// True if the reply to a request for a summary is planned to be empty.
fn is_empty(plan: &Plan, Compaction { turn, number }: Compaction) -> bool {
    let actions = plan.turns.get(turn).map(|turn| turn.actions.as_slice()).unwrap_or_default();
    actions.iter().any(|action| {
        matches!(action.at, PlannedPoint::Compaction(of, _) if of == number)
            && action.what == Action::Summary(PoorSummary::Empty)
    })
}
