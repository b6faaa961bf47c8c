//! The checks: oracles over a plan, its trace and its ledger.
//!
//! Each check is one file, named after its id, with everything about it. It knows no SDK: it reads the
//! observed events and reports the harm to the user of the system. Each check is proven in two ways: it
//! catches a canary, and it has no findings for the reference agent. `README.md` in the same folder lists the
//! invariants that the checks cover.

mod changed;
mod evidence;
mod given;
mod models;
mod offered;
mod said;
mod stable;
mod unreachable;

mod arguments_complete;
mod arguments_whole;
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
mod results_kept;
mod results_once;
mod rewind_honoured;
mod steps_kept_apart;
mod stops_when_stopped;
mod success_honest;
mod thread_survives;
mod truncation_noticed;
mod turn_ends;
mod user_message_kept;
mod views_agree;

pub use models::would_refuse;
pub use unreachable::Concurrency;

// The imports that check files get with `use super::*`, together with the items below.
use evidence::{CallView, Evidence, RequestView, ResultView, StepEnd};

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
    user_message_kept::CHECK,
    results_kept::CHECK,
    results_once::CHECK,
    order_kept::CHECK,
    steps_kept_apart::CHECK,
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
    failure_honest::CHECK,
    prefix_stable::CHECK,
    pause_heeded::CHECK,
    refusal_heeded::CHECK,
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
    /// The harm to the user, unless a finding overrides it.
    pub severity: Severity,
    /// The duties that its evidence rests on, unless a finding overrides them. If the application has one of
    /// these duties, the finding is not the system's.
    pub rests_on: &'static [Duty],
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
            applies: |_| false,
            find: |_| Vec::new(),
        }
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
    /// Causes that also occur in the control plan; they are reported there.
    pub known: &'a [Signature],
    /// The duties of the application around the system. Findings that rest on them are listed separately.
    pub application: &'a Application,
}

/// Judges one run of a plan, with some findings kept separate.
pub fn judge_apart_from(
    Apart { known, application }: Apart<'_>,
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
    let unfit = disagreement(&evidence)
        .or_else(|| offered::absent(&evidence))
        .or_else(|| offered::unasked_thinking(&evidence))
        .or_else(|| offered::unoffered_search(&evidence))
        .or_else(|| offered::other_model(&evidence))
        .or_else(|| consent_given::question_about_nobody(&evidence));
    if let Some(reason) = unfit {
        return Judgement::without_run(Verdict::HarnessError, reason);
    }
    if let Some(reason) = given::unsent(&evidence) {
        return Judgement::without_run(Verdict::Vacuous, reason);
    }
    let found = CHECKS.iter().flat_map(|check| (check.find)(&evidence));
    let found = found.map(|finding| finding.beside(application));
    let mut findings: Vec<Finding> =
        found.filter(|finding| !known.contains(&Signature::of(finding))).collect();
    let ask = |check: &Check| Asked {
        check: check.id,
        level: check.level,
        spoke: (check.applies)(&evidence),
        is_of_application: application.does_any(check.rests_on),
    };
    let asked: Vec<Asked> = CHECKS.iter().map(ask).collect();
    findings.iter_mut().for_each(|finding| finding.model.clone_from(&plan.model));
    findings.sort_by(|a, b| (a.harm, &a.check, &a.place).cmp(&(b.harm, &b.check, &b.place)));
    let (application, findings): (Vec<Finding>, Vec<Finding>) =
        findings.into_iter().partition(|finding| application.does_any(&finding.rests_on));

    let proven = |receipt: &&Receipt| receipt.fired && receipt.grade >= Some(needed);
    let missing = run.receipts.iter().find(|receipt| !proven(receipt));
    // An action happened, but it is unknown what the system had read by then. So nothing follows from the
    // system's behaviour.
    let is_unread =
        run.receipts.iter().any(|receipt| receipt.fired && receipt.grade < Some(Confidence::Read));
    let judgement = |verdict, reason| Judgement {
        verdict,
        findings: findings.clone(),
        application: application.clone(),
        reason,
        asked: asked.clone(),
    };
    // A finding without the planned fault does not belong to this plan, and a second run need not repeat it.
    let nothing = |verdict, reason: String| Judgement {
        findings: Vec::new(),
        application: Vec::new(),
        ..judgement(verdict, Some(reason))
    };
    let is_hang = |finding: &Finding| finding.harm == Severity::Hang;
    let hangs = findings.iter().any(is_hang);
    match missing {
        Some(missing) if findings.is_empty() || is_unread || !is_played_in_order(run, proven) => {
            match unreachable::why(&evidence, missing, concurrency) {
                // The rest of the plan was not played because the turn never ends.
                _ if hangs => judgement(Verdict::Fail, Some(format!("no receipt for `{}`", missing.words))),
                None if application.iter().any(is_hang) => {
                    let why = "the turn waits for what the application has to end";
                    judgement(
                        Verdict::Unreachable,
                        Some(format!("no receipt for `{}`: {why}", missing.words)),
                    )
                }
                Some(reason) => nothing(Verdict::Unreachable, reason),
                None => nothing(Verdict::Vacuous, no_receipt(missing)),
            }
        }
        _ if !findings.is_empty() => judgement(Verdict::Fail, None),
        _ if is_oddity_unsent(&evidence) => judgement(
            Verdict::Vacuous,
            Some("what is odd in the model's reply was never fully sent".to_owned()),
        ),
        _ => match undelivered_failure(&evidence) {
            Some(name) => {
                judgement(Verdict::Vacuous, Some(format!("the failure of call {name} was never delivered")))
            }
            None => judgement(Verdict::Pass, None),
        },
    }
}

/// The reason why a plan is vacuous.
fn no_receipt(missing: &Receipt) -> String {
    let words = &missing.words;
    match missing.grade {
        Some(Confidence::Written) if missing.fired => {
            format!(
                "no receipt for `{words}`: nothing shows that the system had read what was sent before it"
            )
        }
        _ => format!("no receipt for `{words}`"),
    }
}

/// True if a planned action happened and none before it is missing. Later actions may be missing, because a
/// broken thread does not reach them.
fn is_played_in_order(run: &Run, proven: impl Fn(&&Receipt) -> bool) -> bool {
    let n_first = run.receipts.iter().take_while(&proven).count();
    n_first > 0 && n_first == run.receipts.iter().filter(&proven).count()
}

/// True if a turn has replies with malformed output or with a handoff, and none of them was sent completely,
/// which would prove it.
fn is_oddity_unsent(evidence: &Evidence<'_>) -> bool {
    let plan = evidence.plan;
    let is_over = |exchange: ExchangeId| {
        let over = Event::Replied { exchange, ending: Ending::Complete };
        evidence.run.trace.events().contains(&over)
    };
    let is_sent = |at: (usize, usize, usize)| {
        let (turn, reply, attempt) = at;
        let kind = RequestKind::Scripted { turn, reply, attempt };
        evidence.requests.iter().any(|request| request.kind == kind && is_over(request.exchange))
    };
    let wrong = |turn: usize| {
        let replies = plan.turns[turn].replies.iter().enumerate();
        let scripts = replies.flat_map(move |(reply, planned)| {
            planned.attempts.iter().enumerate().map(move |(attempt, script)| ((turn, reply, attempt), script))
        });
        let is_odd = |script: &Script| script.is_wrong(&plan.calls) || script.hands_over(&plan.calls);
        scripts.filter(move |(_, script)| is_odd(script)).map(|(at, _)| at)
    };
    let mut turns = (0..plan.turns.len()).filter(|turn| plan.turns[*turn].actions.is_empty());
    turns.any(|turn| wrong(turn).next().is_some() && !wrong(turn).any(is_sent))
}

/// The call whose planned failure was never delivered. If the fault of a turn is a failing tool, its delivery
/// is the receipt. If the user is asked about the call, the denial is delivered instead.
fn undelivered_failure<'a>(evidence: &Evidence<'a>) -> Option<&'a str> {
    let without_actions = |turn: usize| evidence.plan.turns[turn].actions.is_empty();
    let fails = |call: &PlannedCall| !call.outcome.is_success() && !call.is_invalid();
    let planned = |turn: usize| {
        evidence.calls().filter(move |(call, _)| call.turn == turn && !call.given && fails(call))
    };
    let is_pending = |call: &PlannedCall, account: &CallRecord| {
        account.settled.is_none() && !(call.is_refused() && account.consent == Some(Consent::Refused))
    };
    let turns = (0..evidence.plan.turns.len()).filter(|turn| without_actions(*turn));
    turns
        .filter(|turn| planned(*turn).all(|(call, account)| is_pending(call, account)))
        .find_map(|turn| planned(turn).next().map(|(call, _)| call.name.as_str()))
}

/// A disagreement between the rules in the provider, which run live, and the rules here, which run
/// afterwards. They must agree.
fn disagreement(evidence: &Evidence<'_>) -> Option<String> {
    let differs = |request: &&RequestView| {
        let refused = matches!(request.kind, RequestKind::Refused { .. });
        request.kind != RequestKind::Auxiliary && refused != request.refusal.is_some()
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

/// The maximum number of characters of a result, or of arguments, that a finding quotes.
const MAX_QUOTED: usize = 120;

fn quoted(text: &str) -> String {
    format!("`{}`", text.chars().take(MAX_QUOTED).collect::<String>())
}
