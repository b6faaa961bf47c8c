//! Tests of how the runs of one plan are merged.

use super::*;
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::plan::PlanId;
use brickbat_scenario::trace::Trace;

fn run(verdict: Verdict, checks: &[(&'static str, Severity)]) -> PlanRun {
    let finding = |(check, severity): &(&'static str, Severity)| Finding::new(check, *severity, "");
    let findings = checks.iter().map(finding).collect();
    let judgement = Judgement::with_findings(verdict, findings);
    PlanRun {
        outcome: Attempt {
            judgement,
            receipts: Vec::new(),
            run: None,
            kept: None,
            is_late: false,
            took: None,
        },
        process: Some(1),
        company: Company::Others,
    }
}

const STUCK: (&str, Severity) = ("parts-settled", Severity::StuckPart);
const HANG: (&str, Severity) = ("turn-ends", Severity::Hang);

fn failed() -> PlanRun {
    run(Verdict::Fail, &[STUCK])
}

fn passed() -> PlanRun {
    run(Verdict::Pass, &[])
}

fn broken(process: u32) -> PlanRun {
    PlanRun { process: Some(process), ..run(Verdict::HarnessError, &[]) }
}

fn alone(run: PlanRun) -> PlanRun {
    PlanRun { company: Company::Alone, ..run }
}

fn suspect(run: PlanRun) -> PlanRun {
    PlanRun { company: Company::Suspect, ..run }
}

fn late(run: PlanRun) -> PlanRun {
    PlanRun { outcome: Attempt { is_late: true, ..run.outcome }, ..run }
}

#[test]
fn a_finding_of_one_run_alone_stays() {
    let merged = merged(vec![passed(), failed(), run(Verdict::Fail, &[HANG])]);
    assert_eq!(merged.outcome.judgement.verdict, Verdict::Fail);
    let kinds: Vec<_> = merged.outcome.judgement.findings.iter().map(kind).collect();
    assert_eq!(kinds, [(Severity::Hang, "turn-ends"), (Severity::StuckPart, "parts-settled")]);
    let repeats = merged.repeats.unwrap();
    assert_eq!((repeats.seen, repeats.of, repeats.alone), (2, 3, None));
    assert!(repeats.findings.iter().all(|finding| finding.seen == 1));
}

#[test]
fn a_finding_next_to_a_steady_one_is_counted_separately() {
    let repeats = merged(vec![failed(), run(Verdict::Fail, &[STUCK, HANG])]).repeats.unwrap();
    assert!(!repeats.is_steady());
    assert_eq!(repeats.label().unwrap(), "2 of 2 runs; turn-ends (hang) in 1");
    assert!(merged(vec![failed(), failed()]).repeats.unwrap().is_steady());
    assert_eq!(merged(vec![failed()]).repeats, None);
}

#[test]
fn an_occasional_finding_is_not_folded_under_a_steady_one() {
    let in_first_turn = |checks: &[(&'static str, Severity)]| {
        let mut run = run(Verdict::Fail, checks);
        let findings = &mut run.outcome.judgement.findings;
        findings.iter_mut().for_each(|finding| finding.about.turn = Some(0));
        run
    };
    let steady = || in_first_turn(&[HANG]);
    let kinds = |merged: &MergedRuns| -> Vec<&'static str> {
        merged.outcome.judgement.findings.iter().map(|finding| finding.check).collect()
    };
    let rare = merged(vec![in_first_turn(&[HANG, STUCK]), steady()]);
    assert_eq!(kinds(&rare), ["turn-ends"]);
    assert_eq!(rare.repeats.unwrap().label().unwrap(), "2 of 2 runs; parts-settled (stuck-part) in 1");
    let always = merged(vec![in_first_turn(&[HANG, STUCK]), in_first_turn(&[HANG, STUCK])]);
    assert_eq!(kinds(&always), ["turn-ends", "parts-settled"]);
    // A finding with a cause of its own is printed, however rare.
    let apart = merged(vec![run(Verdict::Fail, &[HANG, STUCK]), run(Verdict::Fail, &[HANG])]);
    assert_eq!(kinds(&apart), ["turn-ends", "parts-settled"]);
}

#[test]
fn a_broken_run_stays_broken() {
    let merged = merged(vec![passed(), broken(1)]);
    assert_eq!(merged.outcome.judgement.verdict, Verdict::HarnessError);
    assert_eq!(merged.repeats.unwrap().label().unwrap(), "1 of 2 runs");
}

fn label(runs: Vec<PlanRun>) -> String {
    merged(runs).repeats.unwrap().label().unwrap()
}

#[test]
fn causes_in_the_harness_are_reported() {
    let words = "it depends on whether other plans run at the same time";
    assert!(label(vec![passed(), passed(), alone(failed())]).contains(words));
    assert!(!label(vec![failed(), passed(), alone(failed())]).contains(words));
    let words = "the adapter was restarted between the runs";
    assert!(label(vec![failed(), PlanRun { process: Some(2), ..passed() }]).contains(words));
    assert!(!label(vec![failed(), passed()]).contains(words));
}

#[test]
fn a_plan_is_not_blamed_for_what_another_has_caused() {
    let culprit = || vec![broken(1), alone(broken(2))];
    let victim = || vec![broken(1), alone(passed())];
    let verdict = |runs: Vec<PlanRun>| merged(runs).outcome.judgement.verdict;
    let mut doubtful = [(0, culprit()), (1, victim()), (2, vec![broken(3), alone(passed())])];
    absolve(&mut doubtful);
    let verdicts = doubtful.map(|(_, runs)| verdict(runs));
    // No plan is known to have ended the third process.
    assert_eq!(verdicts, [Verdict::HarnessError, Verdict::Pass, Verdict::HarnessError]);
    let mut doubtful = [(0, victim()), (1, victim())];
    absolve(&mut doubtful);
    assert!(doubtful.into_iter().all(|(_, runs)| verdict(runs) == Verdict::HarnessError));
}

#[test]
fn differing_runs_and_failures_among_others_or_in_one_run_are_doubtful() {
    assert!(is_doubtful(&[failed()]));
    assert!(is_doubtful(&[alone(failed())]));
    assert!(is_doubtful(&[failed(), failed()]));
    assert!(!is_doubtful(&[alone(failed()), alone(failed())]));
    assert!(is_doubtful(&[alone(failed()), alone(passed())]));
    assert!(is_doubtful(&[broken(1)]));
    assert!(!is_doubtful(&[alone(broken(1))]));
    assert!(is_doubtful(&[run(Verdict::Vacuous, &[])]));
    assert!(!is_doubtful(&[passed()]));
}

#[test]
fn a_failure_that_does_not_recur_alone_is_not_a_finding() {
    let both = || run(Verdict::Fail, &[STUCK, HANG]);
    let merged_runs = merged(vec![both(), suspect(failed()), suspect(failed()), suspect(failed())]);
    let kinds: Vec<_> = merged_runs.outcome.judgement.findings.iter().map(kind).collect();
    assert_eq!(kinds, [(Severity::StuckPart, "parts-settled")]);
    let rescued = merged_runs.repeats.unwrap().rescued;
    assert_eq!(
        rescued.iter().map(|seen| (seen.severity, seen.seen)).collect::<Vec<_>>(),
        [(Severity::Hang, 1)]
    );

    let merged_runs = merged(vec![both(), suspect(passed())]);
    assert_eq!(merged_runs.outcome.judgement.verdict, Verdict::Pass);
    assert_eq!(
        merged_runs.repeats.unwrap().label().unwrap(),
        "1 of 2 runs, also when run alone; not seen when run alone with longer limits: \
         turn-ends (hang) in 1, parts-settled (stuck-part) in 1; \
         it depends on whether other plans run at the same time"
    );
    // A finding of one run alone stays, even if it does not recur.
    let verdict = |runs| merged(runs).outcome.judgement.verdict;
    assert_eq!(verdict(vec![alone(failed()), suspect(passed()), suspect(passed())]), Verdict::Fail);
    // An adapter that breaks is broken; one that was only late is not.
    assert_eq!(verdict(vec![broken(1), suspect(passed())]), Verdict::HarnessError);
    assert_eq!(verdict(vec![late(broken(1)), suspect(passed())]), Verdict::Pass);
}

#[test]
fn a_dropped_call_of_the_control_plan_counts_in_every_plan() {
    const DROPPED: (&str, Severity) = ("calls-answered", Severity::CallDropped);
    const MOVED: (&str, Severity) = ("order-kept", Severity::Reordered);
    let plan = Plan::new(PlanId::new("control/plain-batch", Dialect::OpenaiChat), 0);
    let run = run(Verdict::Fail, &[DROPPED, MOVED]);
    let empty = Run { trace: Trace::default(), receipts: Vec::new() };
    let run = PlanRun { outcome: Attempt { run: Some(empty), ..run.outcome }, ..run };
    let control = merged(vec![run]).control(&plan).expect("it can hold a conversation");
    let known: Vec<&str> = control.causes.iter().map(|cause| cause.check.as_str()).collect();
    assert_eq!(known, ["order-kept"]);
}
