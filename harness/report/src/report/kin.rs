//! Causes that are likely one bug: the console lists them below the first of them.
//!
//! Each keeps its id and its plans, and nothing is judged here. A cause is listed below another one on the same
//! system in two ways: it is the same damage after another interruption, or the report shows that it follows from the
//! other cause. The ways are narrow: causes that merely occur in the same system stay apart, and so does a cause below
//! which a worse one would be hidden.

use std::collections::BTreeSet;

use super::Cause;
use brickbat_engine::checks::Check;
use brickbat_scenario::premise::Premise;
use brickbat_scenario::trigger::{CallState, Trigger};
use brickbat_scenario::verdict::Finding;

/// A cause, and those that are listed below it.
pub(super) struct Kin<'c, 'a> {
    pub first: &'c Cause<'a>,
    pub others: Vec<&'c Cause<'a>>,
}

impl<'c, 'a> Kin<'c, 'a> {
    fn has(&self, is_such: impl Fn(&Cause<'a>) -> bool) -> bool {
        is_such(self.first) || self.others.iter().any(|other| is_such(other))
    }
}

/// The causes in their order, each with those that are listed below it. Likeness comes second: a cause that follows
/// from another one takes those that are like it along.
pub(super) fn grouped<'c, 'a>(causes: &'c [Cause<'a>]) -> Vec<Kin<'c, 'a>> {
    let alone = causes.iter().map(|first| Kin { first, others: Vec::new() }).collect();
    merged(merged(alone, follows), is_like)
}

/// Puts each group below the first earlier one with a member that its first cause is kin to.
fn merged<'c, 'a>(groups: Vec<Kin<'c, 'a>>, is_kin: fn(&Cause<'_>, &Cause<'_>) -> bool) -> Vec<Kin<'c, 'a>> {
    let mut merged: Vec<Kin<'c, 'a>> = Vec::new();
    for group in groups {
        let this = group.first;
        let is_open = |kin: &Kin<'_, '_>| kin.first.signature.severity <= this.signature.severity;
        match merged.iter_mut().find(|kin| is_open(kin) && kin.has(|known| is_kin(this, known))) {
            Some(kin) => kin.others.extend(std::iter::once(this).chain(group.others)),
            None => merged.push(group),
        }
    }
    merged
}

/// The same damage in other circumstances: after another interruption, or with the calls in another state.
fn is_like(this: &Cause<'_>, from: &Cause<'_>) -> bool {
    let damage = |it: &Cause<'_>| {
        let it = &it.signature;
        (it.severity, it.check.clone(), it.says.clone())
    };
    this.system == from.system
        && damage(this) == damage(from)
        && is_one_kind_of_trigger(this, from)
        && match this.signature.check.as_str() {
            TRUNCATION => share_premise(this, from),
            check if OF_SEVERAL_BUGS.contains(&check) => sentence(this) == sentence(from),
            _ => true,
        }
}

/// A wrong reply of the model takes other ways through a system than an interruption.
fn is_one_kind_of_trigger(this: &Cause<'_>, from: &Cause<'_>) -> bool {
    let is = |cause: &Cause<'_>, trigger| cause.signature.trigger == Some(trigger);
    let is_healthy = is(this, Trigger::Nothing) || is(from, Trigger::Nothing);
    is_healthy || is(this, Trigger::Model) == is(from, Trigger::Model)
}

/// True if the report shows that a cause follows from another one, or has the same reason by definition.
fn follows(this: &Cause<'_>, from: &Cause<'_>) -> bool {
    let is_same_trigger = this.signature.trigger == from.signature.trigger;
    this.system == from.system
        && (is_one_refusal(this, from)
            || is_one_truncation(this, from)
            || (is_same_trigger && (is_folded_under(this, from) || is_only_with(this, from))))
}

/// The same rejection or error, of a thread that the system wrote or of one that it was given, once or permanently.
fn is_one_refusal(this: &Cause<'_>, from: &Cause<'_>) -> bool {
    let (a, b) = (&this.signature, &from.signature);
    // A family of rules is one word; errors and our own sentences are several.
    let is_rule = !a.says.is_empty() && !a.says.contains(' ');
    is_about_failure(this)
        && is_about_failure(from)
        && a.says == b.says
        && (is_rule || (a.severity == b.severity && !a.says.is_empty()))
        && is_one_kind_of_trigger(this, from)
}

/// A reply that was cut off is taken as complete: the turn ends with it, or runs its calls with what had arrived.
/// How severe that is depends on the dialect and on where the reply was cut.
fn is_one_truncation(this: &Cause<'_>, from: &Cause<'_>) -> bool {
    let is_stream = |it: &Cause<'_>| it.signature.trigger == Some(Trigger::Stream);
    let is_cut =
        |it: &Cause<'_>| is_stream(it) && (it.signature.check == TRUNCATION || is_about_arguments(it));
    if !is_cut(this) || !is_cut(from) {
        return false;
    }
    match this.signature.check == TRUNCATION && from.signature.check == TRUNCATION {
        true => share_premise(this, from),
        // A body that ends early, but correctly, is the only break that looks like an end.
        false => [this, from].iter().all(|it| premises(it).contains(&Some(Premise::Gateway))),
    }
}

/// In one plan at least, the finding is folded under the other cause: what that plan shows about its calls explains the
/// plans in which the milder part occurs by itself.
fn is_folded_under(this: &Cause<'_>, from: &Cause<'_>) -> bool {
    let is_pair = match this.signature.check.as_str() {
        "calls-remembered" => ["results-kept", "user-message-kept"].contains(&from.signature.check.as_str()),
        "parts-settled" => {
            let is_open = |it: &Cause<'_>| it.signature.calls == Some(CallState::Unanswered);
            is_about_failure(from) && is_open(this) && is_open(from)
        }
        TRUNCATION => is_about_arguments(from),
        _ => false,
    };
    let is_this = |finding: &Finding| {
        let it = &this.signature;
        finding.check == it.check && Some(finding.trigger) == it.trigger
    };
    is_pair && from.shown.iter().any(|(_, finding)| finding.also.iter().any(is_this))
}

/// Each plan that shows it also shows the other cause: calls that ran again have two results, and are repeated where
/// the model did not make them.
fn is_only_with(this: &Cause<'_>, from: &Cause<'_>) -> bool {
    const RERUN: &str = "executed-once";
    let from_check = from.signature.check.as_str();
    let is_pair = match this.signature.check.as_str() {
        "results-once" | "order-kept" | "old-thread-heals" => from_check == RERUN,
        "prefix-stable" => [RERUN, "results-once", "order-kept", "texts-once"].contains(&from_check),
        _ => false,
    };
    let plans = |cause: &Cause<'_>| -> BTreeSet<String> {
        cause.shown.iter().map(|(case, _)| case.plan.clone()).collect()
    };
    is_pair && plans(this).is_subset(&plans(from))
}

fn is_about_failure(cause: &Cause<'_>) -> bool {
    Check::find(&cause.signature.check).is_some_and(|check| check.is_about_failure)
}

fn is_about_arguments(cause: &Cause<'_>) -> bool {
    Check::find(&cause.signature.check).is_some_and(|check| check.is_about_arguments)
}

fn premises(cause: &Cause<'_>) -> BTreeSet<Option<Premise>> {
    cause.shown.iter().map(|(case, _)| case.premise).collect()
}

fn share_premise(this: &Cause<'_>, from: &Cause<'_>) -> bool {
    !premises(this).is_disjoint(&premises(from))
}

/// The sentence of the plan that represents a cause, without the digits in it.
fn sentence(cause: &Cause<'_>) -> Option<String> {
    let (_, finding) = cause.example()?;
    Some(finding.message.chars().filter(|letter| !letter.is_ascii_digit()).collect())
}

const TRUNCATION: &str = "truncation-noticed";

/// These checks have one sentence for each of several bugs: a turn that waits for a silent provider, or for a tool; a text that moved,
/// or a call that is repeated.
const OF_SEVERAL_BUGS: [&str; 2] = ["turn-ends", "order-kept"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Case, Report};
    use brickbat_rules::dialect::Dialect;
    use brickbat_scenario::plan::PlanId;
    use brickbat_scenario::verdict::{Judgement, Severity, Verdict};

    fn finding(check: &'static str, severity: Severity, trigger: Trigger) -> Finding {
        Finding { trigger, ..Finding::new(check, severity, check) }
    }

    fn of(check: &'static str, trigger: Trigger) -> Finding {
        finding(check, Check::find(check).map_or(Severity::Slow, |check| check.severity), trigger)
    }

    fn with(also: Vec<Finding>, finding: Finding) -> Finding {
        Finding { also, ..finding }
    }

    fn seen(plan: &str, premise: Premise, findings: Vec<Finding>) -> Case {
        let id = PlanId {
            scenario: "abort/mid-batch".to_owned(),
            variant: String::new(),
            dialect: Dialect::OpenaiChat,
            control: false,
        };
        let judgement = Judgement::with_findings(Verdict::Fail, findings);
        let case = Case::new("ai-sdk@6.0.326/ui-messages", &id, judgement, Vec::new(), String::new());
        Case { plan: plan.to_owned(), premise: Some(premise), ..case }
    }

    /// The checks of each group: the first, and those below it.
    fn groups(cases: Vec<Case>) -> Vec<Vec<String>> {
        let report = Report::new(0, Vec::new(), cases);
        let causes = report.causes();
        let checks = |kin: Kin<'_, '_>| {
            let all = std::iter::once(kin.first).chain(kin.others);
            all.map(|cause| cause.signature.check.clone()).collect()
        };
        grouped(&causes).into_iter().map(checks).collect()
    }

    const USER: Premise = Premise::User;
    const NETWORK: Premise = Premise::Network;
    const GATEWAY: Premise = Premise::Gateway;

    #[test]
    fn one_cut_reply_is_listed_once_however_severe_it_is_in_each_dialect() {
        let taken = |severity| finding(TRUNCATION, severity, Trigger::Stream);
        let cases = |premise| {
            vec![
                seen("end-early@anthropic-messages", GATEWAY, vec![taken(Severity::TruncationTaken)]),
                seen("other@openai-chat", premise, vec![taken(Severity::EndAssumed)]),
            ]
        };
        assert_eq!(groups(cases(GATEWAY)), [[TRUNCATION, TRUNCATION]]);
        // An error event that is swallowed is another bug.
        assert_eq!(groups(cases(Premise::Provider)).len(), 2);
    }

    #[test]
    fn a_tool_that_ran_with_a_part_of_its_arguments_is_the_cut_reply_that_was_taken() {
        let ran = |severity, trigger| finding("arguments-complete", severity, trigger);
        let cases = |premise, trigger| {
            vec![
                seen("a", premise, vec![ran(Severity::PartialArguments, trigger)]),
                seen("b", premise, vec![ran(Severity::MissingArguments, trigger)]),
                seen("c", GATEWAY, vec![of(TRUNCATION, Trigger::Stream)]),
            ]
        };
        assert_eq!(groups(cases(GATEWAY, Trigger::Stream)).len(), 1);
        // After a reset connection, the tool should not have run, but the system knows of the break.
        assert_eq!(groups(cases(NETWORK, Trigger::Stream)).len(), 3);
        // A model that leaves an argument out is another bug.
        assert_eq!(groups(cases(Premise::Model, Trigger::Model)).len(), 3);
    }

    #[test]
    fn a_forgotten_call_is_listed_below_the_lost_result_that_explains_it() {
        let forgotten = |trigger| of("calls-remembered", trigger);
        let lost = |also| with(also, of("results-kept", Trigger::Kill));
        let explained = vec![
            seen("kill/k=1", Premise::Process, vec![lost(vec![forgotten(Trigger::Kill)])]),
            seen("kill/k=0", Premise::Process, vec![forgotten(Trigger::Kill)]),
            seen("abort/k=0", Premise::Process, vec![forgotten(Trigger::Stop)]),
        ];
        assert_eq!(groups(explained), [["results-kept", "calls-remembered", "calls-remembered"]]);
        // The planted pair: nothing shows that one follows from the other.
        let apart = vec![
            seen("kill/k=1", Premise::Process, vec![lost(Vec::new())]),
            seen("kill/k=0", Premise::Process, vec![forgotten(Trigger::Kill)]),
        ];
        assert_eq!(groups(apart).len(), 2);
    }

    #[test]
    fn calls_that_run_again_explain_their_repetition_only_where_they_run_again() {
        let again = || of("executed-once", Trigger::Kill);
        let results = || of("results-once", Trigger::Kill);
        let moved = || of("order-kept", Trigger::Kill);
        let both = |plan| seen(plan, Premise::Process, vec![again(), results(), moved()]);
        assert_eq!(groups(vec![both("a"), both("b")]), [["executed-once", "results-once", "order-kept"]]);
        // A plan without a rerun that has two results as well: another bug.
        let other = seen("c", Premise::Process, vec![results()]);
        assert_eq!(
            groups(vec![both("a"), other]),
            [vec!["executed-once", "order-kept"], vec!["results-once"]]
        );
    }

    #[test]
    fn a_text_that_moved_and_a_repeated_call_stay_apart() {
        let says =
            |message: &str, trigger| Finding { message: message.to_owned(), ..of("order-kept", trigger) };
        let cases = |other: &str| {
            vec![
                seen("a", USER, vec![says("the model's text of turn 1 moved", Trigger::Nothing)]),
                seen("b", Premise::Process, vec![says(other, Trigger::Kill)]),
            ]
        };
        assert_eq!(groups(cases("calls are repeated")).len(), 2);
        assert_eq!(groups(cases("the model's text of turn 2 moved")).len(), 1);
    }

    #[test]
    fn one_rejection_is_listed_once_and_another_rule_apart() {
        let refused = |check, severity, rule, trigger| Finding {
            rule: Some(rule),
            ..finding(check, severity, trigger)
        };
        let cases = |rule, trigger| {
            vec![
                seen(
                    "a",
                    USER,
                    vec![refused("thread-survives", Severity::BrickedByProvider, MISSING, Trigger::Stop)],
                ),
                seen(
                    "b",
                    Premise::Process,
                    vec![refused("old-thread-heals", Severity::TurnFailed, rule, trigger)],
                ),
            ]
        };
        const MISSING: &str = "anthropic-messages/tool-result-missing";
        assert_eq!(groups(cases("openai-chat/tool-message-missing", Trigger::Given)).len(), 1);
        assert_eq!(groups(cases("openai-chat/function-name-pattern", Trigger::Given)).len(), 2);
        // A model that repeats an id leaves a call without a result for another reason.
        assert_eq!(groups(cases(MISSING, Trigger::Model)).len(), 2);
    }

    #[test]
    fn an_open_part_is_listed_below_the_brick_of_the_same_calls() {
        let open = |check, severity| Finding {
            calls: CallState::Unanswered,
            ..finding(check, severity, Trigger::Stream)
        };
        let stuck = || open("parts-settled", Severity::StuckPart);
        let brick = |also| with(also, open("thread-survives", Severity::BrickedByClient));
        let cases = |also| vec![seen("a", NETWORK, vec![brick(also)]), seen("b", NETWORK, vec![stuck()])];
        assert_eq!(groups(cases(vec![stuck()])), [["thread-survives", "parts-settled"]]);
        assert_eq!(groups(cases(Vec::new())).len(), 2);
    }

    #[test]
    fn a_worse_cause_is_not_listed_below_a_milder_one() {
        let taken = |severity| finding(TRUNCATION, severity, Trigger::Stream);
        let cases = vec![
            seen("a", NETWORK, vec![taken(Severity::EndAssumed)]),
            seen("b", GATEWAY, vec![taken(Severity::TruncationTaken), taken(Severity::EndAssumed)]),
        ];
        let first: Vec<usize> = groups(cases).iter().map(Vec::len).collect();
        assert_eq!(first, [1, 1]);
    }
}
