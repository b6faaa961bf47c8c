//! The checks: oracles over a plan, its trace and its ledger.
//!
//! Each check is one file, named after its id, with everything about it. It knows no SDK: it reads the
//! observed events and reports the harm to the user of the system. Each check is proven in two ways: it
//! catches a canary, and it has no findings for the reference agent. `README.md` in the same folder lists the
//! invariants that the checks cover.

mod changed;
mod circumstances;
mod evidence;
mod found;
mod given;
mod models;
mod offered;
mod played;
mod quote;
mod repeated;
mod request_view;
mod said;
mod stable;
mod turn_events;
mod unreachable;

mod arguments_complete;
mod arguments_whole;
mod calls_answered;
mod calls_remembered;
mod consent_given;
mod executed_once;
mod failure_honest;
mod healthy_untouched;
mod old_thread_heals;
mod order_kept;
mod parts_settled;
mod pause_heeded;
mod prefix_stable;
mod refusal_heeded;
mod repair_stable;
mod requests_bounded;
mod requests_end_with_turn;
mod results_kept;
mod results_once;
mod rewind_honoured;
mod steps_kept_apart;
mod stops_when_stopped;
mod success_honest;
mod texts_once;
mod thread_survives;
mod tools_current;
mod truncation_noticed;
mod turn_ends;
mod user_message_kept;
mod views_agree;

pub use models::would_refuse;
pub use unreachable::Concurrency;

// The imports that check files get with `use super::*`, together with the items below.
use evidence::{Evidence, StepEnd};
use found::Found;
use played::Played;
use quote::{MAX_QUOTED, quoted, quoted_apart};
use request_view::{CallView, RequestView, ResultView};

use brickbat_scenario::action::Action;
use brickbat_scenario::duty::{Application, Duty};
use brickbat_scenario::history::{Content, Role};
use brickbat_scenario::plan::{CallKey, Plan, PlannedAction, PlannedCall, Script, ToolOutcome};
use brickbat_scenario::trace::{
    Aside, CallRecord, Confidence, Consent, Ending, Event, ExchangeId, RequestKind, ShownState, Trace,
    TurnOutcome,
};
use brickbat_scenario::verdict::{About, Asked, Finding, Judgement, Level, Permanence, Severity, Verdict};
use serde_json::Value;

use crate::run::{Receipt, Run};
use crate::triage::Signature;
use brickbat_rules::Profile;

/// All checks, in the order of the tables.
pub const CHECKS: &[Check] = &[
    thread_survives::CHECK,
    calls_answered::CHECK,
    user_message_kept::CHECK,
    results_kept::CHECK,
    results_once::CHECK,
    texts_once::CHECK,
    order_kept::CHECK,
    steps_kept_apart::CHECK,
    calls_remembered::CHECK,
    success_honest::CHECK,
    arguments_complete::CHECK,
    consent_given::CHECK,
    executed_once::CHECK,
    arguments_whole::CHECK,
    rewind_honoured::CHECK,
    turn_ends::CHECK,
    requests_bounded::CHECK,
    stops_when_stopped::CHECK,
    parts_settled::CHECK,
    truncation_noticed::CHECK,
    healthy_untouched::CHECK,
    repair_stable::CHECK,
    views_agree::CHECK,
    tools_current::CHECK,
    failure_honest::CHECK,
    prefix_stable::CHECK,
    pause_heeded::CHECK,
    refusal_heeded::CHECK,
    requests_end_with_turn::CHECK,
    old_thread_heals::CHECK,
];

/// A requirement for runs.
pub struct Check {
    /// Never changes.
    pub id: &'static str,
    /// The requirement, as reports and tables print it.
    pub summary: &'static str,
    /// The level that a system misses if this check finds something.
    pub level: Level,
    /// The numbers of the invariants that it covers.
    pub invariants: &'static [u8],
    /// The severity, unless a finding overrides it.
    pub severity: Severity,
    /// The duties that its evidence rests on, unless a finding overrides them. If the application has one of
    /// these duties, the finding is not the system's.
    pub rests_on: &'static [Duty],
    /// True if it judges the arguments of calls. For other damage it does not matter how much of a call had
    /// arrived: a stop in the arguments and one after them leave the same call without a result.
    pub is_about_arguments: bool,
    /// True if it reports that the thread does not continue.
    pub is_about_failure: bool,
    /// True if a run has anything to judge. Finding nothing in a run with nothing to judge proves nothing, so
    /// reports count the two separately.
    applies: fn(&Evidence<'_>) -> bool,
    find: fn(&Evidence<'_>) -> Vec<Finding>,
}

impl Check {
    /// A check that applies to no run so far and finds nothing.
    const fn new(id: &'static str, level: Level, severity: Severity) -> Check {
        Check {
            id,
            summary: "",
            level,
            invariants: &[],
            severity,
            rests_on: &[],
            is_about_arguments: false,
            is_about_failure: false,
            applies: |_| false,
            find: |_| Vec::new(),
        }
    }

    /// The check with an id.
    pub fn find(id: &str) -> Option<&'static Check> {
        CHECKS.iter().find(|check| check.id == id)
    }

    /// A finding of this check, without details so far.
    fn finding(&self, place: impl Into<Place>) -> Finding {
        let Place { text, turn, request } = place.into();
        let about = About { turn, request, ..About::default() };
        let bare = Finding::new(self.id, self.severity, "");
        Finding { place: text, about, rests_on: self.rests_on.to_vec(), ..bare }
    }
}

/// The location of a finding: a text, and its turn and request, if any.
struct Place {
    text: String,
    turn: Option<usize>,
    request: Option<ExchangeId>,
}

impl Place {
    /// The location in a request, at a pointer if it is not empty.
    fn of_request(turn: usize, request: ExchangeId, pointer: &str) -> Place {
        let gap = if pointer.is_empty() { "" } else { " " };
        let text = format!("turn {} request {}{gap}{pointer}", turn + 1, request.0 + 1);
        Place { text, turn: Some(turn), request: Some(request) }
    }
}

impl From<&str> for Place {
    fn from(text: &str) -> Place {
        Place { text: text.to_owned(), turn: None, request: None }
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

/// Judges one run of a plan on a system that has no application around it. `needed` is the grade of receipts
/// that this driver can achieve; `concurrency` is the result of the control plan, if there was one.
pub fn judge(
    plan: &Plan,
    run: &Run,
    profile: &'static Profile,
    needed: Confidence,
    concurrency: Option<&Concurrency>,
) -> Judgement {
    let apart = Apart { known: &[], application: &Application::default() };
    judge_apart_from(apart, plan, run, profile, needed, concurrency)
}

/// The findings that are kept separate from a plan's findings.
#[derive(Clone, Copy)]
pub struct Apart<'a> {
    /// Causes that also occur in the control plan; damage that the control plan shows is reported there,
    /// whatever interrupted the system here.
    pub known: &'a [Signature],
    /// The duties of the application around the system. Findings that rest on them are listed separately.
    pub application: &'a Application,
}

/// Judges one run of a plan, with some findings kept separate.
pub fn judge_apart_from(
    apart: Apart<'_>,
    plan: &Plan,
    run: &Run,
    profile: &'static Profile,
    needed: Confidence,
    concurrency: Option<&Concurrency>,
) -> Judgement {
    if run.trace.overflowed() {
        let why = "the trace is full: the system, or its adapter, floods the harness with events";
        return Judgement::without_run(Verdict::HarnessError, why);
    }
    let evidence = Evidence::gather(plan, run, profile);
    if let Some(reason) = unfit(&evidence) {
        return Judgement::without_run(Verdict::HarnessError, reason);
    }
    if let Some(reason) = offered::impossible_reply(&evidence) {
        return Judgement::without_run(Verdict::Unsupported, reason);
    }
    if let Some(reason) = given::unsent(&evidence) {
        return Judgement::without_run(Verdict::Vacuous, reason);
    }
    let found = Found::of(&evidence, apart);
    match Played::of(run, needed) {
        Played::Unproven(missing) => found.without_proof(&evidence, missing, concurrency),
        Played::UpTo(missing) if found.findings.is_empty() => {
            found.without_proof(&evidence, missing, concurrency)
        }
        Played::UpTo(_) | Played::Fully => found.with_proof(&evidence),
    }
}

/// The reason why the harness, or the adapter, is at fault.
fn unfit(evidence: &Evidence<'_>) -> Option<String> {
    disagreement(evidence)
        .or_else(|| offered::absent(evidence))
        .or_else(|| offered::unasked_thinking(evidence))
        .or_else(|| offered::unoffered_search(evidence))
        .or_else(|| offered::other_model(evidence))
        .or_else(|| consent_given::question_about_nobody(evidence))
}

/// A disagreement between the rules in the provider, which run live, and the rules here, which run
/// afterwards. They must agree.
fn disagreement(evidence: &Evidence<'_>) -> Option<String> {
    let differs = |request: &&RequestView| {
        let refused = matches!(request.kind, RequestKind::Refused { .. });
        let is_apart = matches!(request.kind, RequestKind::Auxiliary | RequestKind::Repeated { .. });
        !is_apart && refused != request.refusal.is_some()
    };
    let request = evidence.requests.iter().find(differs)?;
    Some(format!("the provider and the checks disagree about request {}", request.exchange.0))
}

/// True if two values are equal. `10` and `10.0` are, because JSON has one kind of number.
fn is_same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| is_same(a, b)))
        }
        _ => a == b,
    }
}

fn in_turn(turn: usize) -> Place {
    Place { text: format!("turn {}", turn + 1), turn: Some(turn), request: None }
}
