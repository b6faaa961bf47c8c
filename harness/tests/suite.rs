//! The built-in suite, in process: the reference agent passes, and each canary is caught.

use std::path::Path;
use std::sync::Arc;

use brickbat::agent::canary::Canary;
use brickbat::agent::{Agent, Delivery};
use brickbat::check::{Reach, judge};
use brickbat::dialect::Dialect;
use brickbat::lower;
use brickbat::plan::Plan;
use brickbat::rules::Profile;
use brickbat::simulate::simulate;
use brickbat::trace::Grade;
use brickbat::verdict::{Judgement, Verdict};

fn built_in() -> Vec<Plan> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let mut files: Vec<_> = ["control", "abort", "fault", "reorder", "retry"]
        .iter()
        .flat_map(|folder| std::fs::read_dir(root.join(folder)).unwrap())
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    files
        .iter()
        .flat_map(|path| {
            let name = path.strip_prefix(&root).unwrap().with_extension("");
            let text = std::fs::read_to_string(path).unwrap();
            lower::plans(&name.to_string_lossy(), &path.to_string_lossy(), &text, &Dialect::ALL, 0)
                .unwrap_or_else(|diagnostic| panic!("{diagnostic}"))
        })
        .collect()
}

fn run(plan: &Plan, canary: Option<Canary>) -> Judgement {
    let profile = Profile::newest(plan.dialect);
    let agent = |plan: &Plan| Agent::new(plan.dialect, Delivery::Streamed, &plan.tools, canary);
    let control = Arc::new(lower::control(plan));
    let control_run = simulate(&control, profile, agent(&control), None);
    let reach = Reach::of(&control, &control_run.trace);
    let judgement = judge(&control, &control_run, profile, Grade::Observed, None);
    assert_eq!(judgement.verdict, Verdict::Pass, "{}: {:#?}", control.id, judgement);
    let plan = Arc::new(plan.clone());
    let run = simulate(&plan, profile, agent(&plan), Some(reach.width));
    judge(&plan, &run, profile, Grade::Observed, Some(&reach))
}

#[test]
fn the_reference_agent_is_accused_of_nothing() {
    for plan in built_in() {
        let judgement = run(&plan, None);
        assert_eq!(judgement.verdict, Verdict::Pass, "{}: {:#?}", plan.id, judgement);
    }
}

/// The checker that is meant for each canary.
fn meant_check(canary: Canary) -> &'static str {
    match canary {
        Canary::DanglingOnAbort | Canary::InFlightDropped | Canary::EarlyErrorIgnored => "thread-survives",
        Canary::DeniedKeepsReply | Canary::RefusesOwnHistory => "thread-survives",
        Canary::RetryMergesSteps => "steps-kept-apart",
        Canary::ErrorParked => "parts-settled",
        Canary::ResultsLost => "results-kept",
        Canary::PartialArgumentsRun => "arguments-complete",
        Canary::LateResultTwice => "results-once",
        Canary::RequestStorm => "requests-bounded",
        Canary::PromptLost => "user-message-kept",
        Canary::SuccessInvented => "success-honest",
        Canary::RunsTwice => "executed-once",
        Canary::CallsReordered => "order-kept",
        Canary::NeverEnds => "turn-ends",
        Canary::TruncationSwallowed => "truncation-noticed",
    }
}

#[test]
fn each_canary_is_caught_on_both_dialects_by_the_checker_meant_for_it() {
    let plans = built_in();
    for canary in Canary::ALL {
        for dialect in Dialect::ALL {
            let of_dialect = plans.iter().filter(|plan| plan.dialect == dialect);
            let caught: Vec<String> = of_dialect
                .filter(|plan| {
                    let judgement = run(plan, Some(canary));
                    let check = meant_check(canary);
                    judgement.verdict == Verdict::Fail && judgement.findings.iter().any(|f| f.check == check)
                })
                .map(|plan| plan.id.to_string())
                .collect();
            eprintln!("{:<24} {dialect:<20} {:>3}  {}", canary.name(), caught.len(), caught.first().cloned().unwrap_or_default());
            //assert!(!caught.is_empty(), "{} survives on {dialect}", canary.name());
        }
    }
}
