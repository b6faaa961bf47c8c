//! Causes: which findings of one plan follow from which.
//!
//! A rejected thread has also lost what the rejected request does not contain. If a result is lost, the
//! display, the store and the requests all disagree about it. Printing all of that would print one bug
//! several times. So only the worst finding of a cause is printed, and the findings that follow from it are
//! folded under it.
//!
//! *Follows from* is narrow: the two name the same call or the same turn, or were judged on the same rejected
//! request, in the ways that `follows` lists, and in runs on the same model. All other findings are separate
//! causes.
//! Nothing is judged here, and no finding is dropped.

use brickbat_engine::checks::Check;
use brickbat_engine::triage::Signature;
use brickbat_scenario::trigger::Trigger;
use brickbat_scenario::verdict::{Finding, Severity};

/// The findings in a plan. A finding that follows from another is folded under it. The worst come first;
/// equal ones keep their order.
pub fn fold(mut findings: Vec<Finding>) -> Vec<Finding> {
    findings.sort_by_key(|finding| finding.severity);
    let mut heads: Vec<Finding> = Vec::new();
    for finding in findings {
        let is_head = |head: &&mut Finding| head.with_also().any(|known| follows(&finding, known));
        match heads.iter_mut().find(is_head) {
            Some(head) => head.also.push(finding),
            None => heads.push(finding),
        }
    }
    heads
}

/// True if a finding follows from another that is at least as severe.
fn follows(this: &Finding, from: &Finding) -> bool {
    let is_so = is_same_loss(this, from)
        || is_later_failure(this, from)
        || is_judged_on_refused(this, from)
        || is_of_failed_turn(this, from)
        || is_failure_of_lost_turn(this, from)
        || is_of_lost_turn(this, from)
        || is_of_lost_step(this, from)
        || is_of_dropped_call(this, from)
        || is_shift_of_repetition(this, from)
        || is_moved_in_altered_reply(this, from)
        || is_same_record(this, from)
        || is_end_of_same_turn(this, from)
        || is_refusal_of_rerun(this, from)
        || is_cut_reply_kept(this, from)
        || is_same_run(this, from)
        || is_same_arguments(this, from)
        || is_of_misread_reply(this, from);
    is_so && this.model == from.model
}

/// The same check reports the same about another call, at the same location. A system that drops calls may do
/// so in each of its replies.
fn is_same_loss(this: &Finding, from: &Finding) -> bool {
    Signature::of(from).is_same_damage(this) && (this.place == from.place || this.check == DROPPED)
}

/// The thread had failed before, or in the same turn, so another failure is not another bug. A failure before
/// the rejection is a separate one.
fn is_later_failure(this: &Finding, from: &Finding) -> bool {
    is_failure(this) && is_failure(from) && this.about.turn >= from.about.turn
}

/// It was judged on a request that the provider rejected, and a rejected request is not the state of a
/// thread.
fn is_judged_on_refused(this: &Finding, from: &Finding) -> bool {
    this.about.request.is_some_and(|request| from.about.refused.contains(&request))
}

/// The user's message of the failed turn is not in the thread.
fn is_of_failed_turn(this: &Finding, from: &Finding) -> bool {
    this.check == USER_MESSAGE && is_failure(from) && this.about.turn == from.about.turn
}

/// The turn failed and was not stored, so what it had is missing in later turns: both are one failure.
fn is_failure_of_lost_turn(this: &Finding, from: &Finding) -> bool {
    let is_failed_once = this.check == "thread-survives" && this.severity == Severity::TurnFailed;
    let is_loss = matches!(from.check, USER_MESSAGE | "results-kept");
    is_failed_once && is_loss && this.about.turn.is_some() && this.about.turn == from.about.turn
}

/// The complete turn is gone, with the user's message and its results.
fn is_of_lost_turn(this: &Finding, from: &Finding) -> bool {
    let is_of_result = matches!(this.check, "results-kept" | "calls-remembered" | "views-agree");
    is_of_result && from.check == USER_MESSAGE && this.about.turn == from.about.turn
}

/// The request lacks results of the same turn, so the calls that had no result yet are gone with them.
fn is_of_lost_step(this: &Finding, from: &Finding) -> bool {
    let is_pair = this.check == "calls-remembered" && from.check == "results-kept";
    is_pair && this.about.turn.is_some() && this.about.turn == from.about.turn
}

/// The texts and calls beside a dropped call were lost, or moved, together with it.
fn is_of_dropped_call(this: &Finding, from: &Finding) -> bool {
    let is_of_reply = matches!(this.check, "healthy-untouched" | "order-kept");
    is_of_reply && from.check == DROPPED && this.about.turn.is_some() && this.about.turn == from.about.turn
}

/// A text that is repeated or moved shifts everything after it in that request.
fn is_shift_of_repetition(this: &Finding, from: &Finding) -> bool {
    let is_shift = matches!(from.check, "texts-once" | "order-kept");
    this.check == "prefix-stable"
        && is_shift
        && this.about.request.is_some()
        && this.about.request == from.about.request
}

/// A reply that is sent back modified, with its text in another place: both are one change of that reply.
fn is_moved_in_altered_reply(this: &Finding, from: &Finding) -> bool {
    let is_pair = this.check == "order-kept" && from.check == "healthy-untouched";
    is_pair && this.about.turn.is_some() && this.about.turn == from.about.turn
}

/// Both report that the thread does not contain a call as it was.
fn is_same_record(this: &Finding, from: &Finding) -> bool {
    let is_of_record = |finding: &Finding| is_failure(finding) || RECORD.contains(&finding.check);
    let names_same = || this.about.calls.iter().any(|call| from.about.calls.contains(call));
    is_of_record(this) && is_of_record(from) && names_same()
}

/// A turn that never ends leaves its calls open, and a loop that runs on after the stop keeps the turn from
/// ending. A truncated reply was treated as complete if a partial call ran.
fn is_end_of_same_turn(this: &Finding, from: &Finding) -> bool {
    let is_of_end = match this.check {
        "parts-settled" => from.severity == Severity::Hang,
        "turn-ends" => from.severity == Severity::RunsOnAfterStop,
        "truncation-noticed" => is_of_arguments(from),
        _ => false,
    };
    is_of_end && this.about.turn.is_some() && this.about.turn == from.about.turn
}

/// The provider, or the SDK itself, refuses a thread because a reply that broke off is in it. The system took that
/// reply for a complete one.
fn is_cut_reply_kept(this: &Finding, from: &Finding) -> bool {
    let is_refusal = is_failure(from) && !from.about.calls.is_empty();
    let is_cut = from.trigger == Trigger::Stream && this.trigger == Trigger::Stream;
    this.check == "truncation-noticed" && is_refusal && is_cut && this.about.turn <= from.about.turn
}

/// A call ran late, and with partial arguments: both are one run of the tool.
fn is_same_run(this: &Finding, from: &Finding) -> bool {
    let is_late = this.check == "executed-once" && from.check == "arguments-complete";
    is_late && this.about.calls.iter().any(|call| from.about.calls.contains(call))
}

/// One interruption left the arguments of several calls incomplete. Some ran, others are only sent back.
fn is_same_arguments(this: &Finding, from: &Finding) -> bool {
    is_of_arguments(this) && is_of_arguments(from) && this.trigger == from.trigger
}

/// A misread reply: its tools ran with the arguments as the system read them, and it is sent back as the system read it.
fn is_of_misread_reply(this: &Finding, from: &Finding) -> bool {
    let is_misread = this.check == "healthy-untouched" && is_of_arguments(from);
    is_misread
        && this.trigger == from.trigger
        && this.about.turn.is_some()
        && this.about.turn == from.about.turn
}

fn is_of_arguments(finding: &Finding) -> bool {
    Check::find(finding.check).is_some_and(|check| check.is_about_arguments)
}

/// A system that runs the calls of an earlier turn again puts their results after the message of the turn
/// that has begun since, where the provider does not accept them. The rerun is a separate bug, and the
/// rejection follows from it: without a rerun, the thread continues.
fn is_refusal_of_rerun(this: &Finding, from: &Finding) -> bool {
    let is_refused_once =
        this.check == "thread-survives" && this.severity == Severity::TurnFailed && this.rule.is_some();
    let is_rerun = from.check == "executed-once" && from.severity == Severity::ExecutedAgain;
    is_refused_once && is_rerun && this.about.turn.is_some() && this.about.turn == from.about.turn
}

fn is_failure(finding: &Finding) -> bool {
    Check::find(finding.check).is_some_and(|check| check.is_about_failure)
}

const USER_MESSAGE: &str = "user-message-kept";

const DROPPED: &str = "calls-answered";

/// The checks that compare the thread with the actual events, call by call. Checks of tool runs are not
/// among them, because a call that runs twice is a separate bug, regardless of the thread.
const RECORD: [&str; 14] = [
    DROPPED,
    "calls-remembered",
    "results-kept",
    "results-once",
    "order-kept",
    "success-honest",
    "failure-honest",
    "arguments-complete",
    "arguments-whole",
    "healthy-untouched",
    "repair-stable",
    "parts-settled",
    "prefix-stable",
    "views-agree",
];

#[cfg(test)]
mod tests {
    use super::*;
    use brickbat_engine::checks::CHECKS;
    use brickbat_scenario::plan::CallKey;
    use brickbat_scenario::trace::ExchangeId;

    fn finding(check: &'static str, severity: Severity) -> Finding {
        Finding::new(check, severity, check)
    }

    /// The printed findings, each with those that are folded under it.
    fn folded(findings: Vec<Finding>) -> Vec<(String, Vec<String>)> {
        let folded = fold(findings).into_iter();
        folded.map(|head| (head.message, head.also.into_iter().map(|also| also.message).collect())).collect()
    }

    fn brick(turn: usize) -> Finding {
        finding("thread-survives", Severity::BrickedByProvider).of_turn(turn)
    }

    fn lost(call: u32) -> Finding {
        Finding { place: "turn 3 request 4".to_owned(), ..finding("results-kept", Severity::ResultsLost) }
            .of_calls([CallKey(call)])
    }

    /// The findings of these checks do not follow from a finding about the same call: a call that runs twice,
    /// or a turn that does not end, is a separate bug, regardless of the thread. The functions above list the
    /// few exceptions.
    const SEPARATE: [&str; 13] = [
        "consent-given",
        "executed-once",
        "pause-heeded",
        "refusal-heeded",
        "requests-bounded",
        "requests-end-with-turn",
        "rewind-honoured",
        "steps-kept-apart",
        "stops-when-stopped",
        "texts-once",
        "tools-current",
        "truncation-noticed",
        "turn-ends",
    ];

    /// The functions above name these severities, because their checks report several kinds of damage. A new
    /// severity that stands for one of them has to be added there.
    #[test]
    fn every_severity_is_named_above_or_counted_here() {
        const N_OTHERS: usize = 26;
        let functions = include_str!("causes.rs").split("mod tests").next().unwrap_or_default();
        let is_named = |severity: &Severity| functions.contains(&format!("Severity::{severity:?}"));
        let named: Vec<Severity> = Severity::ALL.into_iter().filter(is_named).collect();
        let known =
            [Severity::ExecutedAgain, Severity::Hang, Severity::RunsOnAfterStop, Severity::TurnFailed];
        assert_eq!(named, known);
        assert_eq!(Severity::ALL.len(), known.len() + N_OTHERS);
    }

    /// A check with the word in its id or its requirement is judged here, so that a new one is not forgotten.
    #[test]
    fn every_check_of_arguments_says_so() {
        // They compare whole calls; how much of one had arrived does not matter.
        const OF_WHOLE_CALLS: [&str; 0] = [];
        for check in CHECKS {
            let is_named = [check.id, check.summary].iter().any(|text| text.contains("arguments"));
            let is_of_whole_calls = OF_WHOLE_CALLS.contains(&check.id);
            assert_eq!(check.is_about_arguments, is_named && !is_of_whole_calls, "{}", check.id);
        }
        assert!(OF_WHOLE_CALLS.iter().all(|id| Check::find(id).is_some()));
    }

    /// A check is in exactly one list, so that a new one is not forgotten.
    #[test]
    fn every_check_is_in_one_of_the_lists() {
        let failures = CHECKS.iter().filter(|check| check.is_about_failure).map(|check| check.id);
        let mut listed = [&RECORD[..], &[USER_MESSAGE], &SEPARATE].concat();
        listed.extend(failures);
        let mut all: Vec<&str> = CHECKS.iter().map(|check| check.id).collect();
        listed.sort_unstable();
        all.sort_unstable();
        assert_eq!(listed, all);
    }

    #[test]
    fn a_finding_on_a_rejected_request_follows_from_the_rejection() {
        let mut refused = brick(1);
        refused.about.refused = vec![ExchangeId(3), ExchangeId(4)];
        let mut of_refused = lost(0);
        of_refused.about.request = Some(ExchangeId(4));
        let mut of_accepted = finding("user-message-kept", Severity::UserMessageLost).of_turn(0);
        of_accepted.about.request = Some(ExchangeId(2));
        let printed = folded(vec![of_refused, refused, of_accepted]);
        let also = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        assert_eq!(
            printed,
            [
                ("thread-survives".to_owned(), also(&["results-kept"])),
                ("user-message-kept".to_owned(), also(&[]))
            ]
        );
    }

    #[test]
    fn the_message_of_the_failed_turn_follows_and_another_does_not() {
        let message = |turn| finding("user-message-kept", Severity::UserMessageLost).of_turn(turn);
        assert_eq!(folded(vec![brick(1), message(1)]).len(), 1);
        assert_eq!(folded(vec![brick(1), message(0)]).len(), 2);
    }

    #[test]
    fn lost_results_of_a_lost_turn_follow_from_the_loss_of_its_message() {
        let message = || finding("user-message-kept", Severity::UserMessageLost).of_turn(0);
        assert_eq!(folded(vec![message(), lost(0).of_turn(0)]).len(), 1);
        assert_eq!(folded(vec![message(), lost(0).of_turn(1)]).len(), 2);
    }

    #[test]
    fn calls_without_a_result_follow_from_the_loss_of_their_siblings_results() {
        let forgotten =
            |turn| finding("calls-remembered", Severity::ForgottenCall).of_calls([CallKey(1)]).of_turn(turn);
        assert_eq!(folded(vec![lost(0).of_turn(0), forgotten(0)]).len(), 1);
        assert_eq!(folded(vec![lost(0).of_turn(0), forgotten(1)]).len(), 2);
    }

    #[test]
    fn a_later_failure_follows_and_an_earlier_one_does_not() {
        let raised = |turn| finding("thread-survives", Severity::BrickedByClient).of_turn(turn);
        assert_eq!(folded(vec![brick(1), raised(2)]).len(), 1);
        assert_eq!(folded(vec![brick(1), raised(0)]).len(), 2);
    }

    #[test]
    fn what_is_missing_around_a_dropped_call_follows_from_it() {
        let dropped = |place: &str| {
            let bare = finding("calls-answered", Severity::CallDropped).of_calls([CallKey(1)]).of_turn(0);
            Finding { place: place.to_owned(), ..bare }
        };
        let text = |turn| finding("healthy-untouched", Severity::HistoryAltered).of_turn(turn);
        assert_eq!(folded(vec![dropped("turn 1 request 2"), text(0), lost(1)]).len(), 1);
        assert_eq!(folded(vec![dropped("turn 1 request 2"), text(1)]).len(), 2);
        assert_eq!(folded(vec![dropped("turn 1 request 2"), dropped("turn 1 request 3")]).len(), 1);
    }

    #[test]
    fn the_failure_of_a_turn_that_was_not_stored_follows_from_the_loss() {
        let failed = |turn| finding("thread-survives", Severity::TurnFailed).of_turn(turn);
        assert_eq!(folded(vec![lost(0).of_turn(0), failed(0)]).len(), 1);
        assert_eq!(folded(vec![lost(0).of_turn(0), failed(1)]).len(), 2);
        let message = finding("user-message-kept", Severity::UserMessageLost).of_turn(0);
        assert_eq!(folded(vec![message, failed(0)]).len(), 1);
    }

    #[test]
    fn a_late_end_follows_from_what_runs_on_after_the_stop() {
        let runs_on = || finding("stops-when-stopped", Severity::RunsOnAfterStop).of_turn(0);
        let late = |turn| finding("turn-ends", Severity::LateStop).of_turn(turn);
        assert_eq!(folded(vec![runs_on(), late(0)]).len(), 1);
        assert_eq!(folded(vec![runs_on(), late(1)]).len(), 2);
    }

    #[test]
    fn a_reply_that_is_sent_back_as_it_was_misread_follows_from_the_arguments_of_its_tools() {
        let ran = |trigger| Finding {
            trigger,
            ..finding("arguments-complete", Severity::MissingArguments).of_calls([CallKey(0)]).of_turn(0)
        };
        let altered = || Finding {
            trigger: Trigger::Model,
            ..finding("healthy-untouched", Severity::HistoryAltered).of_calls([CallKey(1)]).of_turn(0)
        };
        assert_eq!(folded(vec![ran(Trigger::Model), altered()]).len(), 1);
        assert_eq!(folded(vec![ran(Trigger::Stream), altered()]).len(), 2);
    }

    #[test]
    fn a_changed_prefix_follows_from_a_repeated_text_in_the_same_request() {
        let at = |check, severity, request| {
            let mut bare = finding(check, severity);
            bare.about.request = Some(ExchangeId(request));
            bare
        };
        let changed = || at("prefix-stable", Severity::PrefixUnstable, 3);
        assert_eq!(folded(vec![at("texts-once", Severity::Reordered, 3), changed()]).len(), 1);
        assert_eq!(folded(vec![at("order-kept", Severity::Reordered, 2), changed()]).len(), 2);
    }

    #[test]
    fn a_text_that_moved_follows_from_the_change_of_its_reply() {
        let altered = || finding("healthy-untouched", Severity::HistoryAltered).of_turn(0);
        let moved = |turn| finding("order-kept", Severity::Reordered).of_turn(turn);
        assert_eq!(folded(vec![altered(), moved(0)]).len(), 1);
        assert_eq!(folded(vec![altered(), moved(1)]).len(), 2);
    }

    #[test]
    fn differing_views_follow_from_the_loss() {
        let differ = |call| finding("views-agree", Severity::ViewsDiffer).of_calls([CallKey(call)]);
        assert_eq!(folded(vec![lost(0), differ(0)]).len(), 1);
        assert_eq!(folded(vec![lost(0), differ(1)]).len(), 2);
    }

    #[test]
    fn indirect_consequences_are_folded_under_the_worst() {
        let refused = brick(1).of_calls([CallKey(0)]);
        let differ = finding("views-agree", Severity::ViewsDiffer).of_calls([CallKey(1)]);
        let printed = folded(vec![differ, lost(0).of_calls([CallKey(1)]), refused]);
        assert_eq!(printed.len(), 1, "{printed:?}");
        assert_eq!(printed[0].1, ["results-kept", "views-agree"]);
    }

    #[test]
    fn one_loss_of_several_calls_is_one_cause() {
        assert_eq!(folded(vec![lost(0), lost(1), lost(2)]).len(), 1);
        let elsewhere = Finding { place: "turn 2 request 2".to_owned(), ..lost(1) };
        assert_eq!(folded(vec![lost(0), elsewhere]).len(), 2);
    }

    #[test]
    fn a_tool_that_runs_twice_is_a_cause_of_its_own() {
        let again = finding("executed-once", Severity::ExecutedAgain).of_calls([CallKey(0)]);
        assert_eq!(folded(vec![brick(1).of_calls([CallKey(0)]), again]).len(), 2);
    }

    #[test]
    fn a_rejection_in_the_turn_that_runs_calls_again_follows_from_the_rerun() {
        let again = || finding("executed-once", Severity::ExecutedAgain).of_calls([CallKey(0)]).of_turn(1);
        let refused = |turn| Finding {
            rule: Some("openai-chat/tool-message-missing"),
            ..finding("thread-survives", Severity::TurnFailed).of_turn(turn)
        };
        assert_eq!(folded(vec![again(), refused(1)]).len(), 1);
        assert_eq!(folded(vec![again(), refused(2)]).len(), 2);
        // An error that the system raises by itself has another cause.
        assert_eq!(folded(vec![again(), Finding { rule: None, ..refused(1) }]).len(), 2);
    }

    #[test]
    fn calls_that_stay_open_follow_from_a_turn_that_does_not_end() {
        let stuck = |turn| finding("parts-settled", Severity::StuckPart).of_turn(turn);
        let hang = || finding("turn-ends", Severity::Hang).of_turn(1);
        assert_eq!(folded(vec![hang(), stuck(1)]).len(), 1);
        assert_eq!(folded(vec![hang(), stuck(0)]).len(), 2);
    }

    #[test]
    fn a_cut_reply_that_is_taken_as_whole_follows_from_the_refusal_of_its_calls() {
        let taken = || Finding {
            trigger: Trigger::Stream,
            ..finding("truncation-noticed", Severity::TruncationTaken).of_turn(0)
        };
        let refused = |trigger| Finding {
            rule: Some("anthropic-messages/tool-result-missing"),
            trigger,
            ..brick(1).of_calls([CallKey(0)])
        };
        assert_eq!(folded(vec![refused(Trigger::Stream), taken()]).len(), 1);
        assert_eq!(folded(vec![refused(Trigger::Stop), taken()]).len(), 2);
    }

    #[test]
    fn a_call_that_runs_late_with_partial_arguments_is_one_run() {
        let ran = |call| {
            finding("arguments-complete", Severity::PartialArguments).of_calls([CallKey(call)]).of_turn(0)
        };
        let late = || finding("executed-once", Severity::ExecutedAgain).of_calls([CallKey(0)]).of_turn(1);
        assert_eq!(folded(vec![ran(0), late()]).len(), 1);
        assert_eq!(folded(vec![ran(1), late()]).len(), 2);
    }

    #[test]
    fn partial_arguments_of_two_calls_are_one_cause() {
        let ran = || finding("arguments-complete", Severity::PartialArguments).of_calls([CallKey(0)]);
        let sent = || finding("arguments-whole", Severity::PartialArguments).of_calls([CallKey(1)]);
        assert_eq!(folded(vec![ran(), sent()]).len(), 1);
    }

    #[test]
    fn partial_arguments_that_ran_explain_the_unnoticed_truncation() {
        let taken = |turn| finding("truncation-noticed", Severity::TruncationTaken).of_turn(turn);
        let ran = || finding("arguments-complete", Severity::PartialArguments).of_turn(0);
        assert_eq!(folded(vec![ran(), taken(0)]).len(), 1);
        assert_eq!(folded(vec![ran(), taken(1)]).len(), 2);
    }
}
