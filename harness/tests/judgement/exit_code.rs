//! The exit codes of a report.

use brickbat_engine::run::Receipt;
use brickbat_report::report::{Case, Report};
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::plan::PlanId;
use brickbat_scenario::verdict::{Finding, Judgement, Severity, Verdict};

fn case(system: &str, verdict: Verdict, severities: &[Severity]) -> Case {
    let id = PlanId::new("control/plain-batch", Dialect::OpenaiChat);
    let finding = |severity: &Severity| Finding {
        place: "turn 1".to_owned(),
        expected: "a turn that works".to_owned(),
        got: "another".to_owned(),
        ..Finding::new("thread-survives", *severity, "it broke")
    };
    let judgement = Judgement::with_findings(verdict, severities.iter().map(finding).collect());
    Case::new(system, &id, judgement, Vec::<Receipt>::new(), String::new())
}

#[track_caller]
fn check(cases: Vec<Case>, fail_on: Severity, expected: u8) {
    assert_eq!(Report::new(0, Vec::new(), cases).exit_code(fail_on), expected);
}

#[test]
fn a_passing_run_is_0() {
    check(vec![case("reference", Verdict::Pass, &[])], Severity::MILDEST, 0);
}

#[test]
fn a_reference_agent_that_failed_is_4_whatever_else_was_found() {
    let reference = || case("reference/streamed", Verdict::Fail, &[Severity::ResultsLost]);
    let brick = case("ai-sdk", Verdict::Fail, &[Severity::BrickedByProvider]);
    check(vec![reference()], Severity::MILDEST, 4);
    check(vec![brick, reference()], Severity::MILDEST, 4);
}

#[test]
fn a_brick_is_1_even_if_another_case_proved_nothing() {
    let brick = case("ai-sdk", Verdict::Fail, &[Severity::BrickedByProvider]);
    check(vec![brick, case("ai-sdk", Verdict::Vacuous, &[])], Severity::MILDEST, 1);
}

#[test]
fn a_case_that_proved_nothing_is_3() {
    check(vec![case("ai-sdk", Verdict::Vacuous, &[])], Severity::MILDEST, 3);
    let cases = vec![case("ai-sdk", Verdict::Pass, &[]), case("ai-sdk", Verdict::Vacuous, &[])];
    check(cases, Severity::MILDEST, 3);
    check(Vec::new(), Severity::MILDEST, 3);
}

#[test]
fn a_second_system_of_which_nothing_was_judged_is_3() {
    for verdict in [Verdict::Unsupported, Verdict::Unreachable] {
        let judged = case("reference", Verdict::Pass, &[]);
        check(vec![judged, case("ai-sdk", verdict, &[])], Severity::MILDEST, 3);
    }
    let cases = vec![case("ai-sdk", Verdict::Pass, &[]), case("ai-sdk", Verdict::Unsupported, &[])];
    check(cases, Severity::MILDEST, 0);
}

#[test]
fn findings_milder_than_the_threshold_are_0() {
    let stuck = || vec![case("ai-sdk", Verdict::Fail, &[Severity::StuckPart])];
    check(stuck(), Severity::BrickedByClient, 0);
    check(stuck(), Severity::StuckPart, 1);
    check(stuck(), Severity::MILDEST, 1);
}
