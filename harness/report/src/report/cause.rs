//! Causes in a run: the findings on a system, one for each signature, with the plans in which it
//! occurs.

use std::cmp::Reverse;

use super::{Case, Report, short};
use brickbat_engine::triage::Signature;
use brickbat_scenario::premise::Premise;
use brickbat_scenario::verdict::{Finding, Severity};

/// Findings with one signature on one system.
#[derive(Debug, Clone)]
pub struct Cause<'a> {
    /// The system, with version and mode.
    pub system: &'a str,
    /// The properties that its findings share.
    pub signature: Signature,
    /// The plans in which it occurs, each with its first finding for this cause: control plans first,
    /// otherwise in report order. There is at least one.
    pub shown: Vec<(&'a Case, &'a Finding)>,
}

impl Cause<'_> {
    /// The plan that represents the others: the first confirmed plan in which it occurs in every
    /// run.
    pub fn example(&self) -> Option<(&Case, &Finding)> {
        let mut confirmed = self.shown.iter().filter(|(case, _)| !case.unconfirmed);
        let steady = confirmed.clone().find(|(case, _)| case.label().is_none());
        steady.or_else(|| confirmed.next()).or(self.shown.first()).copied()
    }

    /// True if it occurs in a control plan. Then no fault is needed to show it, and it may damage every
    /// conversation.
    pub fn fails_without_fault(&self) -> bool {
        self.shown.iter().any(|(case, _)| case.is_control())
    }

    /// The severity, and the remark if no fault is needed to show the cause.
    pub fn severity_words(&self) -> String {
        let name = self.signature.severity.name();
        if self.fails_without_fault() { format!("{name}, {WITHOUT_FAULT}") } else { name.to_owned() }
    }

    /// True if it occurs in a confirmed plan, rather than only in first runs that were to be
    /// confirmed.
    pub fn is_confirmed(&self) -> bool {
        self.shown.iter().any(|(case, _)| !case.unconfirmed)
    }

    /// Who does the unusual thing: the most common one in the plans in which it occurs.
    pub fn premise(&self) -> Option<Premise> {
        self.shown.iter().filter_map(|(case, _)| case.premise).min()
    }

    /// The position among the causes of a run: those that need no fault first, then by premise, by severity, and
    /// the most frequent first.
    fn weight(&self) -> (bool, Option<Premise>, Severity, Reverse<usize>) {
        let needs_fault = !self.fails_without_fault();
        let premise = self.premise().filter(|_| needs_fault);
        (needs_fault, premise, self.signature.severity, Reverse(self.shown.len()))
    }

    /// Its id: 16 hexadecimal digits, the same in every run in which it occurs, regardless of the run's
    /// other results.
    pub fn id(&self) -> String {
        short::cause_id(self.system, &self.signature)
    }
}

impl Report {
    /// The causes of everything that counts: those that need no fault first, then those with the most common
    /// premise, and among them the worst and most frequent.
    pub fn causes(&self) -> Vec<Cause<'_>> {
        let mut causes: Vec<Cause<'_>> = Vec::new();
        for case in &self.cases {
            for finding in case.counted() {
                let signature = Signature::of(finding);
                let known = causes
                    .iter_mut()
                    .find(|known| known.system == case.system && known.signature == signature);
                match known {
                    Some(known) if known.shown.last().is_some_and(|(last, _)| std::ptr::eq(*last, case)) => {}
                    Some(known) => known.shown.push((case, finding)),
                    None => {
                        causes.push(Cause { system: &case.system, signature, shown: vec![(case, finding)] })
                    }
                }
            }
        }
        // A control plan represents its cause.
        causes.iter_mut().for_each(|cause| cause.shown.sort_by_key(|(case, _)| !case.is_control()));
        causes.sort_by(|a, b| {
            (a.weight())
                .cmp(&b.weight())
                .then_with(|| (a.system, &a.signature).cmp(&(b.system, &b.signature)))
        });
        causes
    }
}

/// The remark on a failure that occurs in a control plan.
pub(super) const WITHOUT_FAULT: &str = "fails without any fault";

#[cfg(test)]
mod tests {
    use crate::report::brief::{self, Page};
    use crate::report::format::FORMATS;
    use crate::report::{Case, Cause, Circumstances, EarlyEnd, Report, annotations, text};
    use brickbat_rules::dialect::Dialect;
    use brickbat_scenario::plan::PlanId;
    use brickbat_scenario::premise::Premise;
    use brickbat_scenario::trigger::{CallState, Trigger};
    use brickbat_scenario::verdict::{Finding, Judgement, Severity, Verdict};
    use std::collections::BTreeSet;

    const SYSTEM: &str = "ai-sdk@6.0.326/ui-messages";

    fn case(variant: &str, findings: &[(&'static str, Severity)]) -> Case {
        let findings =
            findings.iter().map(|(check, severity)| Finding::new(check, *severity, check)).collect();
        let judgement = Judgement::with_findings(Verdict::Fail, findings);
        let (scenario, variant) = ("abort/mid-batch".to_owned(), variant.to_owned());
        let plan = PlanId { scenario, variant, dialect: Dialect::OpenaiChat, control: false };
        Case::new(SYSTEM, &plan, judgement, Vec::new(), "brickbat run".to_owned())
    }

    const LOST: (&str, Severity) = ("results-kept", Severity::ResultsLost);
    const STUCK: (&str, Severity) = ("parts-settled", Severity::StuckPart);

    /// The end of the output of a run with these cases.
    fn rendered(cases: Vec<Case>) -> String {
        let report = Report::new(0, Vec::new(), cases);
        let kept = |_: &Case| None;
        let paint = |_, word: &str| word.to_owned();
        brief::render(
            &report,
            &Page { width: 80, room: 80, fail_on: Severity::MILDEST, kept: &kept, paint: &paint },
        )
    }

    /// The ids that are printed, in their order.
    fn printed(cases: Vec<Case>) -> Vec<String> {
        let text = rendered(cases);
        let lines = text.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
        lines.filter_map(|line| Some(line.split_whitespace().next()?.to_owned())).collect()
    }

    #[test]
    fn the_id_of_a_cause_does_not_depend_on_its_plan() {
        let both = printed(vec![case("k=1", &[LOST, STUCK])]);
        assert!(both.len() == 2 && both[0] != both[1], "{both:?}");
        // As in another shard, where another plan represents each.
        assert_eq!(printed(vec![case("k=0", &[LOST]), case("k=2", &[STUCK])]), both);
        assert_eq!(printed(vec![case("k=2", &[STUCK])]), both[1..]);
    }

    #[test]
    fn the_same_damage_after_another_interruption_is_a_line_below_its_first_cause() {
        let lost = |plan: &str, trigger| {
            let bare = Finding::new("results-kept", Severity::ResultsLost, "results-kept");
            seen(plan, Finding { trigger, ..bare })
        };
        let stuck =
            |plan: &str| seen(plan, Finding::new("parts-settled", Severity::StuckPart, "parts-settled"));
        let cases = vec![lost("a@gemini", Trigger::Stop), lost("b@gemini", Trigger::Kill), stuck("c@gemini")];
        let ids: Vec<String> =
            Report::new(0, Vec::new(), cases.clone()).causes().iter().map(Cause::id).collect();
        assert_eq!(ids.len(), 3);
        let text = rendered(cases.clone());
        assert_eq!(printed(cases).len(), 2, "{text}");
        let also: Vec<&str> = text.lines().filter(|line| line.trim_start().starts_with("also ")).collect();
        let [also] = also[..] else { panic!("{text}") };
        assert!(also.contains("after a kill of the process, 1 plan: b@gemini"), "{text}");
        assert!(text.starts_with("fail: 3 causes in 3 of 3 judged plans"), "{text}");
    }

    /// A plan with one finding, in these circumstances.
    fn seen(plan: &str, finding: Finding) -> Case {
        Case { plan: plan.to_owned(), findings: vec![finding], ..case("x", &[]) }
    }

    fn refused(rule: &'static str, trigger: Trigger, calls: CallState) -> Finding {
        let bare = Finding::new("thread-survives", Severity::BrickedByProvider, rule);
        Finding { rule: Some(rule), trigger, calls, ..bare }
    }

    fn raised(message: &str, trigger: Trigger, calls: CallState) -> Finding {
        let bare = Finding::new("thread-survives", Severity::BrickedByClient, message);
        Finding { trigger, calls, ..bare }
    }

    /// The number of plans of each cause.
    fn counts(cases: Vec<Case>) -> Vec<usize> {
        let report = Report::new(0, Vec::new(), cases);
        let causes = report.causes();
        let ids: BTreeSet<String> = causes.iter().map(Cause::id).collect();
        assert_eq!(ids.len(), causes.len(), "no id is printed twice");
        causes.iter().map(|cause| cause.shown.len()).collect()
    }

    #[test]
    fn one_brick_in_three_dialects_is_one_cause() {
        // As LangGraph: a call without a result, after a stop at different points.
        let brick = |rule| refused(rule, Trigger::Stop, CallState::Unanswered);
        let cases = vec![
            seen("abort/mid-batch#k=1@openai-chat", brick("openai-chat/tool-message-missing")),
            seen("abort/mid-batch#k=3@openai-responses", brick("openai-responses/tool-output-missing")),
            seen("abort/in-arguments@anthropic-messages", brick("anthropic-messages/tool-result-missing")),
            seen("abort/second-batch@gemini", brick("gemini/response-count")),
        ];
        assert_eq!(counts(cases), [4]);
    }

    #[test]
    fn a_split_reply_is_one_cause_whichever_rule_refuses_it() {
        // As google-genai: each chunk becomes a content of its own.
        let split = |rule| Finding {
            severity: Severity::TurnFailed,
            ..refused(rule, Trigger::Nothing, CallState::Answered)
        };
        let cases = vec![
            seen("abort/after-all-calls@gemini+control", split("gemini/thought-signature-missing")),
            seen("model/text-between-calls@gemini", split("gemini/call-not-after-user")),
        ];
        assert_eq!(counts(cases), [2]);
    }

    #[test]
    fn a_broken_stream_is_one_cause_in_whichever_way_it_breaks() {
        let lost = || Finding {
            trigger: Trigger::Stream,
            calls: CallState::Answered,
            ..Finding::new("results-kept", Severity::ResultsLost, "gone")
        };
        let plans = ["reset-in-stream", "eof-in-stream", "error-event", "end-early"];
        let cases: Vec<Case> = plans.iter().map(|plan| seen(&format!("fault/{plan}@x"), lost())).collect();
        assert_eq!(counts(cases.clone()), [4]);
        // As Mastra: a model that repeats an id loses a result as well, and that is another bug.
        let same_id = Finding { trigger: Trigger::Model, ..lost() };
        assert_eq!(counts([cases, vec![seen("model/same-id@x", same_id)]].concat()), [4, 1]);
    }

    #[test]
    fn an_approval_is_a_cause_apart_from_a_broken_stream() {
        // As the AI SDK: one error message, two bugs.
        let missing = |trigger, n: usize| {
            raised(&format!("Tool results are missing for calls call_{n}."), trigger, CallState::Unanswered)
        };
        let cases = vec![
            seen("approval/kill-after-consent@x", missing(Trigger::Approval, 1)),
            seen("fault/eof-in-stream#p=a@x", missing(Trigger::Stream, 2)),
            seen("fault/reset-in-stream#p=b@x", missing(Trigger::Stream, 3)),
        ];
        assert_eq!(counts(cases), [2, 1]);
        // As ADK for TypeScript: one refusal, an approval and a repeated id.
        let brick = |trigger| refused("gemini/response-count", trigger, CallState::Unanswered);
        let cases = vec![
            seen("approval/batch@gemini", brick(Trigger::Approval)),
            seen("model/same-id@gemini", brick(Trigger::Model)),
        ];
        assert_eq!(counts(cases), [1, 1]);
    }

    #[test]
    fn one_damage_of_two_severities_has_two_ids() {
        // As Genkit.
        let failed =
            |severity| Finding { severity, ..refused("gemini/text-empty", Trigger::Stop, CallState::NoCall) };
        let both = vec![failed(Severity::BrickedByProvider), failed(Severity::TurnFailed)];
        assert_eq!(counts(vec![Case { findings: both, ..case("x", &[]) }]), [1, 1]);
    }

    #[test]
    fn what_the_user_does_comes_before_what_the_model_does() {
        let of =
            |premise, variant, findings: &[_]| Case { premise: Some(premise), ..case(variant, findings) };
        let cases = vec![of(Premise::Model, "k=0", &[LOST]), of(Premise::User, "k=1", &[STUCK])];
        let report = Report::new(0, Vec::new(), cases);
        let checks: Vec<String> = report.causes().into_iter().map(|cause| cause.signature.check).collect();
        assert_eq!(checks, ["parts-settled", "results-kept"]);
        let paint = |_, word: &str| word.to_owned();
        let page = Page { width: 80, room: 80, fail_on: Severity::MILDEST, kept: &|_| None, paint: &paint };
        let text = brief::render(&report, &page);
        let headings: Vec<&str> = text.lines().filter(|line| line.starts_with("premise ")).collect();
        assert!(headings.len() == 2 && headings[0].starts_with("premise user: "), "{text}");
    }

    #[test]
    fn each_cause_has_its_message_however_many_there_are() {
        let checks = ["a-b", "c-d", "e-f", "g-h", "i-j", "k-l", "m-n", "o-p", "q-r", "s-t", "u-v", "w-x"];
        let text = rendered(vec![case("k=1", &checks.map(|check| (check, Severity::ResultsLost)))]);
        for check in checks {
            assert!(text.contains(&format!("({check})\n        {check}\n")), "{check} in {text}");
        }
    }

    #[test]
    fn a_cause_in_a_control_plan_comes_first_in_every_format() {
        const MOVED: (&str, Severity) = ("order-kept", Severity::Reordered);
        let control = |variant, findings| {
            let case = case(variant, findings);
            Case { plan: format!("{}+control", case.plan), ..case }
        };
        let cases = vec![case("k=0", &[LOST]), case("k=1", &[MOVED]), control("k=2", &[MOVED])];
        let report = Report::new(0, Vec::new(), cases);
        let causes = report.causes();
        let order: Vec<_> =
            causes.iter().map(|it| (it.signature.severity, it.fails_without_fault())).collect();
        assert_eq!(order, [(Severity::Reordered, true), (Severity::ResultsLost, false)]);
        assert!(causes[0].example().unwrap().0.is_control());
        let kept = |_: &Case| None;
        let paint = |_, word: &str| word.to_owned();
        let page = Page { width: 80, room: 80, fail_on: Severity::MILDEST, kept: &kept, paint: &paint };
        // JSON has the cases in their order.
        let files = FORMATS.iter().filter(|format| format.ending != "json");
        let files = files.map(|format| format.render(&report, Severity::MILDEST, &[]));
        let printed = [
            brief::render(&report, &page),
            text::render(&report, Severity::MILDEST, |_, word| word.to_owned()),
            annotations::to_github(&report, Severity::MILDEST),
        ];
        for text in printed.into_iter().chain(files) {
            let first = text.find("order-kept").unwrap();
            assert!(first < text.rfind("results-kept").unwrap(), "{text}");
            let remark = text.to_lowercase().replace("failswithoutfault", "fails without any fault");
            assert!(remark.contains("fails without any fault"), "{text}");
        }
    }

    #[test]
    fn unjudged_plans_and_a_clean_rest_are_not_called_clean() {
        let of = |variant: &str, verdict| Case {
            verdict,
            reason: Some("no receipt".to_owned()),
            ..case(variant, &[])
        };
        let text = rendered(vec![of("k=0", Verdict::Pass), of("k=1", Verdict::Vacuous)]);
        assert!(text.starts_with("not judged: 1 plan; the other 1 plan passed\n"), "{text}");
    }

    #[test]
    fn a_cause_is_confirmed_and_represented_by_a_confirmed_plan() {
        let seen = |variant, findings| Case { unconfirmed: true, ..case(variant, findings) };
        let cases = vec![seen("k=0", &[LOST, STUCK]), case("k=1", &[LOST])];
        let stopped = EarlyEnd { why: "the time was up".to_owned(), confirms: true };
        let run = Circumstances { stopped: Some(stopped), ..Circumstances::default() };
        let report = Report::new(0, Vec::new(), cases).of_run(run);
        assert_eq!(report.seen_words().unwrap(), "2 causes seen, 1 confirmed");
        let causes = report.causes();
        assert!(causes[0].example().unwrap().0.plan.contains("k=1") && causes[0].is_confirmed());
        assert!(!causes[1].is_confirmed());
        let lines = annotations::to_github(&report, Severity::MILDEST);
        assert!(lines.contains("::seen, not confirmed: parts-settled"), "{lines}");
        assert!(lines.contains("::stopped: 2 causes seen, 1 confirmed; the time was up"), "{lines}");
        assert_eq!(report.exit_code(Severity::MILDEST), 1);
        assert_eq!(report.exit_code(Severity::ResultsLost), 1);
        assert_eq!(report.exit_code(Severity::BrickedByProvider), 3, "what is left was not judged");
    }
}
