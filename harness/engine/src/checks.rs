//! The checkers: oracles over a plan, its trace and its ledger.
//!
//! A checker knows no SDK. It reads what was observed, and says what the user of the system loses.
//! Each is proven by a canary that it catches and by the reference agent, which it does not accuse.

mod changed;
mod effects;
mod evidence;
mod given;
mod healthy;
mod heed;
mod honesty;
mod manners;
mod memory;
mod offered;
mod reach;
mod spoken;
mod stable;
mod survival;
mod views;

pub use evidence::{Evidence, RequestView};
pub use reach::Reach;

use crate::run::Run;
use brickbat_rules::Profile;
use brickbat_scenario::plan::{Plan, PlannedCall};
use brickbat_scenario::trace::{CallRecord, Consent, Ending, Event, ExchangeId, Grade, RequestKind};
use brickbat_scenario::verdict::{Asked, Finding, Judgement, Level, Verdict};

/// One checker.
pub struct Check {
    /// Its name, stable for ever.
    pub id: &'static str,
    /// What it holds the system to.
    pub summary: &'static str,
    /// The level that a system does not keep where it finds something.
    pub level: Level,
    /// Whether a run has anything that it can speak about.
    speaks: fn(&Evidence<'_>) -> bool,
    run: fn(&Evidence<'_>) -> Vec<Finding>,
}

/// Every checker.
pub const CHECKS: &[Check] = &[
    Check {
        id: "thread-survives",
        summary: "every request of the thread is accepted, and every later turn works",
        level: Level::L0,
        speaks: spoken::always,
        run: survival::thread_survives,
    },
    Check {
        id: "user-message-kept",
        summary: "what the user said is in the last request",
        level: Level::L2,
        speaks: spoken::always,
        run: memory::user_message_kept,
    },
    Check {
        id: "results-kept",
        summary: "results that were delivered in time are in the last request",
        level: Level::L3,
        speaks: spoken::has_result_in_time,
        run: memory::results_kept,
    },
    Check {
        id: "results-once",
        summary: "no call has two results in one request",
        level: Level::L1,
        speaks: spoken::tells_results,
        run: memory::results_once,
    },
    Check {
        id: "order-kept",
        summary: "calls stand in the order in which the model made them",
        level: Level::L1,
        speaks: spoken::tells_calls,
        run: memory::order_kept,
    },
    Check {
        id: "steps-kept-apart",
        summary: "calls of two replies do not share a message",
        level: Level::L1,
        speaks: spoken::tells_calls,
        run: memory::steps_kept_apart,
    },
    Check {
        id: "success-honest",
        summary: "a call that did not succeed is not recorded as a success",
        level: Level::L3,
        speaks: spoken::tells_results,
        run: memory::success_honest,
    },
    Check {
        id: "arguments-complete",
        summary: "tools run with the arguments that the model gave",
        level: Level::L3,
        speaks: spoken::has_run,
        run: effects::arguments_complete,
    },
    Check {
        id: "consent-given",
        summary: "a call that needs the user's consent runs only after the user has said yes",
        level: Level::L3,
        speaks: spoken::asks,
        run: effects::consent_given,
    },
    Check {
        id: "executed-once",
        summary: "no call runs twice or in a later turn",
        level: Level::L3,
        speaks: spoken::has_run,
        run: effects::executed_once,
    },
    Check {
        id: "arguments-whole",
        summary: "the arguments of each call in a request are a JSON object",
        level: Level::L0,
        speaks: spoken::tells_calls,
        run: changed::arguments_whole,
    },
    Check {
        id: "rewind-honoured",
        summary: "what the user took back is in no later request",
        level: Level::L2,
        speaks: spoken::has_rewind,
        run: changed::rewind_honoured,
    },
    Check {
        id: "turn-ends",
        summary: "every turn ends",
        level: Level::L0,
        speaks: spoken::always,
        run: manners::turn_ends,
    },
    Check {
        id: "requests-bounded",
        summary: "a turn sends no more requests than it needs, and after the user's stop at most the one that was on its way",
        level: Level::L0,
        speaks: spoken::always,
        run: manners::requests_bounded,
    },
    Check {
        id: "parts-settled",
        summary: "no call of a turn that is over is shown as running to the end of the thread",
        level: Level::L2,
        speaks: spoken::shows_calls,
        run: manners::parts_settled,
    },
    Check {
        id: "truncation-noticed",
        summary: "a turn whose last reply was cut off does not end as a success",
        level: Level::L3,
        speaks: spoken::has_cut_reply,
        run: manners::truncation_noticed,
    },
    Check {
        id: "healthy-untouched",
        summary: "a turn in which nothing went wrong is told as it happened",
        level: Level::L1,
        speaks: healthy::has_healthy,
        run: healthy::healthy_untouched,
    },
    Check {
        id: "repair-stable",
        summary: "what is mended after a break stays as it was mended",
        level: Level::L1,
        speaks: stable::has_repair,
        run: stable::repair_stable,
    },
    Check {
        id: "views-agree",
        summary: "what the user is shown, what is stored and what the model is told have the same results",
        level: Level::L2,
        speaks: views::has_views,
        run: views::views_agree,
    },
    Check {
        id: "failure-honest",
        summary: "a call that succeeded is not recorded as failed, and one that ran not as one that did not",
        level: Level::L3,
        speaks: honesty::has_run,
        run: honesty::failure_honest,
    },
    Check {
        id: "prefix-stable",
        summary: "a request begins with all that the one before it held, but for what is mended after a break",
        level: Level::L4,
        speaks: stable::has_prefix,
        run: stable::prefix_stable,
    },
    Check {
        id: "pause-heeded",
        summary: "a request does not come before the time that the provider names in a refusal",
        level: Level::L4,
        speaks: heed::has_pause,
        run: heed::pause_heeded,
    },
    Check {
        id: "refusal-heeded",
        summary: "a request that cannot succeed (400, 401, 402, 404, 422) is not sent again as it was",
        level: Level::L4,
        speaks: heed::has_refusal,
        run: heed::refusal_heeded,
    },
    Check {
        id: "old-thread-heals",
        summary: "a thread that was broken when the system found it works again",
        level: Level::L5,
        speaks: spoken::finds_broken_thread,
        run: survival::old_thread_heals,
    },
];

/// Judges one run of a plan. `needed` is the grade of receipt that this driver can give;
/// `reach` is what the control plan has shown of the system, if there was one.
pub fn judge(
    plan: &Plan,
    run: &Run,
    profile: &'static Profile,
    needed: Grade,
    reach: Option<&Reach>,
) -> Judgement {
    if run.trace.overflowed() {
        let why = "more happened than a trace holds: the system, or its adapter, floods the harness";
        return Judgement::without_run(Verdict::HarnessError, why);
    }
    let evidence = Evidence::gather(plan, run, profile);
    let unfit = disagreement(&evidence)
        .or_else(|| offered::absent(&evidence))
        .or_else(|| offered::unasked_thinking(&evidence))
        .or_else(|| effects::question_about_nobody(&evidence, &run.trace));
    if let Some(reason) = unfit {
        return Judgement::without_run(Verdict::HarnessError, reason);
    }
    if let Some(reason) = given::untold(&evidence) {
        return Judgement::without_run(Verdict::Vacuous, reason);
    }
    let mut findings: Vec<Finding> = CHECKS.iter().flat_map(|check| (check.run)(&evidence)).collect();
    let ask = |check: &Check| Asked { check: check.id, level: check.level, spoke: (check.speaks)(&evidence) };
    let asked: Vec<Asked> = CHECKS.iter().map(ask).collect();
    findings.sort_by(|a, b| (a.harm, &a.check, &a.place).cmp(&(b.harm, &b.check, &b.place)));

    let proven = |receipt: &&crate::run::Receipt| receipt.fired && receipt.grade >= Some(needed);
    let n_proven = run.receipts.iter().filter(proven).count();
    let missing = run.receipts.iter().find(|receipt| !proven(receipt));
    let judgement =
        |verdict, reason| Judgement { verdict, findings: findings.clone(), reason, asked: asked.clone() };
    match missing {
        Some(missing) if n_proven == 0 || findings.is_empty() => {
            match reach::unreachable(&evidence, missing, reach) {
                Some(reason) if findings.is_empty() => judgement(Verdict::Unreachable, Some(reason)),
                // What was found has another cause than the one that was planned, and was found all the same.
                Some(reason) => judgement(Verdict::Fail, Some(reason)),
                None => judgement(Verdict::Vacuous, Some(format!("no receipt for `{}`", missing.words))),
            }
        }
        _ if !findings.is_empty() => judgement(Verdict::Fail, None),
        _ if unsaid(&evidence) => {
            judgement(Verdict::Vacuous, Some("what the model says wrongly was never sent whole".to_owned()))
        }
        _ => match undelivered_failure(&evidence) {
            Some(name) => {
                judgement(Verdict::Vacuous, Some(format!("the failure of call {name} was never delivered")))
            }
            None => judgement(Verdict::Pass, None),
        },
    }
}

/// What the model says wrongly is proven by the reply that says it, sent to its end: whether a turn has such replies, and
/// none of them was.
fn unsaid(evidence: &Evidence<'_>) -> bool {
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
        scripts.filter(|(_, script)| script.is_wrong(&plan.calls)).map(|(at, _)| at)
    };
    let mut turns = (0..plan.turns.len()).filter(|turn| plan.turns[*turn].actions.is_empty());
    turns.any(|turn| wrong(turn).next().is_some() && !wrong(turn).any(is_sent))
}

/// Where the fault of a turn is a tool that fails, its delivery is the receipt: the call whose failure was planned
/// and of which, in that turn, not one was delivered. Where the user is asked, the refusal is what is delivered.
fn undelivered_failure<'a>(evidence: &Evidence<'a>) -> Option<&'a str> {
    let calls = || evidence.plan.calls.iter().zip(&evidence.ledger.calls);
    let without_actions = |turn: usize| evidence.plan.turns[turn].actions.is_empty();
    let fails = |call: &PlannedCall| !call.outcome.is_success() && !call.is_invalid();
    let planned =
        |turn: usize| calls().filter(move |(call, _)| call.turn == turn && !call.given && fails(call));
    let is_pending = |call: &PlannedCall, account: &CallRecord| {
        account.settled.is_none() && !(call.is_refused() && account.consent == Some(Consent::Refused))
    };
    let turns = (0..evidence.plan.turns.len()).filter(|turn| without_actions(*turn));
    turns
        .filter(|turn| planned(*turn).all(|(call, account)| is_pending(call, account)))
        .find_map(|turn| planned(turn).next().map(|(call, _)| call.name.as_str()))
}

/// The rules run twice, live in the provider and here at rest; they must agree.
fn disagreement(evidence: &Evidence<'_>) -> Option<String> {
    let differs = |request: &&RequestView| {
        let refused = matches!(request.kind, RequestKind::Refused { .. });
        request.kind != RequestKind::Auxiliary && refused != request.refusal.is_some()
    };
    let request = evidence.requests.iter().find(differs)?;
    Some(format!("the provider and the checkers disagree about request {}", request.exchange.0))
}
