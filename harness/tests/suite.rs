//! The built-in suite, in process: the reference agent passes, and each canary is caught.

#![expect(clippy::unwrap_used, reason = "a test may fail anywhere, also outside its own function")]

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
    assert_eq!(judgement.verdict, Verdict::Pass, "{canary:?} on {}: {judgement:#?}", control.id);
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

#[test]
fn each_canary_is_caught_on_both_dialects_by_the_checker_meant_for_it() {
    let plans = built_in();
    let mut table = String::new();
    for canary in Canary::ALL {
        for dialect in Dialect::ALL {
            let caught = |plan: &&Plan| {
                let judgement = run(plan, Some(canary));
                let meant = judgement.findings.iter().any(|finding| finding.check == canary.caught_by());
                judgement.verdict == Verdict::Fail && meant
            };
            let killers: Vec<&Plan> =
                plans.iter().filter(|plan| plan.dialect == dialect).filter(caught).collect();
            table.push_str(&format!("{} {dialect} {}\n", canary.name(), killers.len()));
        }
    }
    let survivors: Vec<&str> = table.lines().filter(|line| line.ends_with(" 0")).collect();
    assert!(survivors.is_empty(), "{table}");
}
