//! Baselines: known findings do not count, new ones do, and those that are gone are reported.

#![expect(clippy::unwrap_used, reason = "a test may fail anywhere, also outside its own function")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::program::{Said, brickbat, report};
use brickbat::cli::embedded::catalogue;
use brickbat::cli::library::{Selection, load};
use brickbat_drive::driver::BASELINE;
use brickbat_engine::checks::CHECKS;
use brickbat_engine::run::Receipt;
use brickbat_report::baseline::{Baseline, Entry, PlanFindings, check_named, is_of as is_system_of};
use brickbat_report::report::{Case, Report, junit, text};
use brickbat_rules::Rule;
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::duty::Duty;
use brickbat_scenario::plan::PlanId;
use brickbat_scenario::verdict::{Finding, Judgement, Severity, Verdict};
use tempfile::TempDir;

const HEAD: &str = "schema: 2\nsystem: sdk\nentries:\n";
const ENTRY: &str = "  - check: parts-settled\n    severity: stuck-part\n    reason: It is so.\n    reported: a/b#1\n    \
    cases: ['a/b@openai-chat']\n";

fn case(system: &str, scenario: &str, verdict: Verdict, checks: &[&'static str]) -> Case {
    let id = PlanId::new(scenario, Dialect::OpenaiChat);
    let finding = |check: &&'static str| Finding {
        place: "turn 1".to_owned(),
        expected: "a turn that works".to_owned(),
        got: "another".to_owned(),
        ..Finding::new(check, Severity::StuckPart, "it broke")
    };
    let findings = checks.iter().map(finding).collect();
    Case::new(system, &id, Judgement::with_findings(verdict, findings), Vec::<Receipt>::new(), String::new())
}

fn held(cases: Vec<Case>) -> Report {
    let baseline = Baseline::parse(&format!("{HEAD}{ENTRY}"), "b.yaml").unwrap();
    Report::compared(0, Vec::new(), cases, &[baseline])
}

#[track_caller]
fn check(cases: Vec<Case>, expected: u8) {
    let report = held(cases);
    assert_eq!(report.exit_code(Severity::MILDEST), expected, "{}", report.to_json());
}

#[test]
fn exit_codes_with_a_baseline() {
    let known = || case("sdk@1/m", "a/b", Verdict::Fail, &["parts-settled"]);
    check(vec![known()], 0);
    // Another check of the same plan, and the same check of another plan.
    check(vec![case("sdk@1/m", "a/b", Verdict::Fail, &["parts-settled", "turn-ends"])], 1);
    check(vec![known(), case("sdk@1/m", "a/c", Verdict::Fail, &["parts-settled"])], 1);
    // It is gone.
    check(vec![case("sdk@1/m", "a/b", Verdict::Pass, &[])], 1);
    check(vec![case("sdk@1/m", "a/b", Verdict::Fail, &["turn-ends"])], 1);
    // Its plan did not run, or was not judged.
    check(vec![case("sdk@1/m", "a/c", Verdict::Pass, &[])], 0);
    check(vec![case("sdk@1/m", "a/b", Verdict::Vacuous, &[]), case("sdk@1/m", "a/c", Verdict::Pass, &[])], 3);
    check(
        vec![case("sdk@1/m", "a/b", Verdict::Unreachable, &[]), case("sdk@1/m", "a/c", Verdict::Pass, &[])],
        0,
    );
    // A plan that could not be judged is not excused, and a finding outranks it.
    check(vec![known(), case("sdk@1/m", "a/c", Verdict::HarnessError, &[])], 3);
    check(vec![case("sdk@1/m", "a/b", Verdict::Pass, &[]), case("sdk@1/m", "a/c", Verdict::Vacuous, &[])], 1);
}

#[test]
fn the_reference_agent_is_not_excused() {
    let failed = || case("reference", "a/b", Verdict::Fail, &["parts-settled"]);
    check(vec![failed()], 4);
    let report = held(vec![failed()]);
    assert_eq!(report.baselines[0].entries, []);
    assert!(report.to_json().contains(r#""new""#));
}

#[test]
fn reports_show_what_was_expected_and_what_is_new() {
    let report = held(vec![
        case("sdk@1/m", "a/b", Verdict::Fail, &["parts-settled", "turn-ends"]),
        case("sdk@1/n", "a/b", Verdict::Pass, &[]),
    ]);
    let text = text::render(&report, Severity::MILDEST, |_, word| word.to_owned());
    insta::assert_snapshot!(text, @r"
    stuck-part turn-ends
      a/b@openai-chat on sdk@1/m
        it broke
        at turn 1
        expected a turn that works; got another
        again: 

    expected parts-settled (stuck-part): 1 finding in 1 plan
      It is so. (a/b#1)
      listed in b.yaml

    stale parts-settled (stuck-part): not seen in 1 plan on sdk@1/n
      a/b@openai-chat
      b.yaml still lists it; --write-baseline removes it

    sdk@1/m  1 plans: 0 pass, 1 fail (1 not expected); faults: 0 armed, 0 with receipt
    sdk@1/n  1 plans: 1 pass, 0 fail; faults: 0 armed, 0 with receipt
    seed 0, profiles 
    ");
    let xml = junit::to_xml(&report, Severity::MILDEST);
    for words in [
        "expected: parts-settled (stuck-part): it broke, turn 1",
        "new: turn-ends (stuck-part): it broke, turn 1",
        "baseline: parts-settled",
        r#"type="stale""#,
        r#"failures="2""#,
    ] {
        assert!(xml.contains(words), "`{words}` is not in {xml}");
    }
    let json: serde_json::Value = serde_json::from_str(&report.to_json()).unwrap();
    assert_eq!(json["cases"][0]["dispositions"], serde_json::json!(["expected", "new"]));
    assert_eq!(json["baselines"][0]["entries"][0]["reason"], "It is so.");
    assert_eq!(json["baselines"][0]["stale"][0]["plans"], serde_json::json!(["a/b@openai-chat"]));
}

#[test]
fn the_built_in_baselines_are_complete() {
    let all = Selection { sources: &[], dialects: &Dialect::ALL, filter: None, seed: 0 };
    let ids = load(&all).unwrap().into_iter().map(|job| job.plan.id.to_string());
    let plans: Vec<String> = ids.flat_map(|id| [format!("{id}+control"), id]).collect();
    let modes = || {
        let manifests = catalogue().manifests().iter();
        manifests.flat_map(|manifest| manifest.modes.iter().map(move |mode| (manifest, mode)))
    };
    let names: BTreeSet<String> = modes().map(|(manifest, mode)| manifest.full_name(&mode.name)).collect();
    let mut n_baselines = 0;
    for manifest in catalogue().manifests() {
        let Some(text) = manifest.text(BASELINE) else { continue };
        n_baselines += 1;
        let baseline = Baseline::parse(&text, &manifest.name).unwrap();
        assert!(names.iter().any(|name| baseline.is_of(name)), "{}", baseline.system);
        let canonical = baseline.to_yaml();
        if std::env::var_os("BRICKBAT_UPDATE").is_some() {
            let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("harness/systems");
            std::fs::write(folder.join(&manifest.name).join(BASELINE), &canonical).unwrap();
        } else {
            let how = "run `BRICKBAT_UPDATE=1 cargo test --test outside baseline::`";
            assert!(canonical == text, "{}: not as it is written; {how}", manifest.name);
        }
        for entry in &baseline.entries {
            assert!(entry.is_explained(), "{}: {}", manifest.name, entry.check);
            let whole = Finding::new(check_named(&entry.check).unwrap(), entry.severity, "");
            let rule = entry.rule.as_ref().and_then(|wanted| Rule::all().find(|rule| rule.id == wanted));
            let finding = Finding { rule: rule.map(|rule| rule.id), ..whole };
            let is_of = |name: &str| {
                let of = |pattern: &String| is_system_of(pattern, name);
                baseline.is_of(name) && (entry.systems.is_empty() || entry.systems.iter().any(of))
            };
            let system = names.iter().find(|name| is_of(name));
            let system =
                system.unwrap_or_else(|| panic!("{}: no system of {:?}", manifest.name, entry.systems));
            assert!(entry.is_about(&finding));
            let covers = |cases: &[String]| {
                let alone = Entry { cases: cases.to_vec(), ..entry.clone() };
                plans.iter().any(|plan| {
                    let actions = entry.actions.iter().map(String::as_str).collect();
                    let shown = PlanFindings { system, plan, actions, is_judged: true, findings: &[] };
                    baseline.covers(&alone, &shown)
                })
            };
            assert!(covers(&entry.cases), "{}: {} covers nothing", manifest.name, entry.check);
            for pattern in &entry.cases {
                assert!(
                    covers(std::slice::from_ref(pattern)),
                    "{}: `{pattern}` covers nothing",
                    manifest.name
                );
            }
            for note in &entry.shown {
                let (_, plan) = note.split_once(' ').unwrap();
                assert!(plans.iter().any(|known| known == plan), "{}: no plan `{plan}`", manifest.name);
            }
            let check = CHECKS.iter().find(|check| check.id == entry.check).unwrap();
            for (_, mode) in modes().filter(|(manifest, mode)| is_of(&manifest.full_name(&mode.name))) {
                let is_of_application =
                    check.rests_on == [Duty::States] && mode.application().does_any(check.rests_on);
                assert!(!is_of_application, "{}: {} in {}", manifest.name, entry.check, mode.name);
            }
        }
    }
    assert!(n_baselines > 0);
}

// The command line, on an agent with a planted bug.

const CANARY: &str = "canary/dangling-on-abort/acp";

fn run(folder: &Path, more: &[&str]) -> Said {
    let args = ["run", "--verbose", "abort/mid-batch", "--dialect", "openai-chat", "--system", CANARY];
    brickbat(folder, &[&args, more].concat(), &[])
}

#[test]
fn a_written_baseline_makes_the_next_run_green() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    // A run that was killed before it could write leaves such a file.
    fs::write(folder.join("b.yaml"), "").unwrap();
    let first = run(folder, &["--write-baseline", "b.yaml"]);
    assert_eq!(first.code, Some(1), "{first:#?}");
    assert!(first.err.contains("1 entry, 1 not yet explained"), "{first:#?}");
    let written = fs::read_to_string(folder.join("b.yaml")).unwrap();
    assert!(written.contains("thread-survives") && written.contains("Not yet explained."), "{written}");

    let second = run(folder, &["--baseline=b.yaml", "--report", "r.json", "--write-baseline", "c.yaml"]);
    assert_eq!(second.code, Some(0), "{second:#?}");
    assert!(second.out.contains("expected thread-survives"), "{second:#?}");
    assert!(second.out.contains("not yet explained") && second.out.contains("(all expected)"), "{second:#?}");
    assert_eq!(fs::read_to_string(folder.join("c.yaml")).unwrap(), written, "two runs, two baselines");
    let cases = report(&folder.join("r.json"))["cases"].clone();
    let failed: Vec<_> = cases.as_array().unwrap().iter().filter(|case| case["verdict"] == "fail").collect();
    assert!(!failed.is_empty());
    assert!(failed.iter().all(|case| case["dispositions"][0] == "expected" && case["repeats"]["of"] == 2));

    // A run of only some plans makes nothing stale, and text written by a person is kept.
    fs::write(folder.join("b.yaml"), written.replace("Not yet explained.", "The bug is planted.")).unwrap();
    let part = run(folder, &["--filter", "k=1", "--baseline=b.yaml", "--write-baseline", "b.yaml"]);
    assert_eq!(part.code, Some(0), "{part:#?}");
    let kept = fs::read_to_string(folder.join("b.yaml")).unwrap();
    assert_eq!(kept, written.replace("Not yet explained.", "The bug is planted."));

    // An entry with a passing plan is stale; a finding without an entry is new.
    let moved = written.replace("abort/mid-batch#k=0@", "abort/mid-batch#k=3@");
    fs::write(folder.join("b.yaml"), moved.replace("actions: [abort]", "actions: [kill]")).unwrap();
    let stale = run(folder, &["--baseline=b.yaml"]);
    assert_eq!(stale.code, Some(1), "{stale:#?}");
    assert!(stale.out.contains("stale thread-survives"), "{stale:#?}");
    assert!(stale.out.contains("3 not expected"), "{stale:#?}");
}

#[test]
fn a_baseline_that_does_not_fit_is_refused() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    for (text, words) in [
        (HEAD.to_owned() + ENTRY, "is the baseline of `sdk`, and no such system runs"),
        (
            "schema: 1\nsystem: sdk\nentries: []\n".to_owned(),
            "`brickbat run --system NAME --write-baseline FILE` rewrites this file",
        ),
        (
            HEAD.to_owned() + &ENTRY.replace("parts-settled", "parts-unsettled"),
            "unknown check `parts-unsettled`",
        ),
        (HEAD.to_owned() + &ENTRY.replace("It is so.", "''"), "explain the findings in a sentence"),
        (HEAD.replace("sdk", "reference") + ENTRY, "the reference agent has no baseline"),
    ] {
        fs::write(folder.join("b.yaml"), text).unwrap();
        let said = run(folder, &["--baseline=b.yaml"]);
        assert_eq!((said.code, said.out.as_str()), (Some(2), ""), "{said:#?}");
        assert!(said.err.contains(words), "{said:#?}");
    }
    let missing = run(folder, &["--baseline=no.yaml"]);
    assert_eq!(missing.code, Some(2), "{missing:#?}");
    let nowhere = run(folder, &["--write-baseline", "no/such/b.yaml"]);
    assert_eq!((nowhere.code, nowhere.out.as_str()), (Some(2), ""), "{nowhere:#?}");
    let reference = brickbat(folder, &["run", "control/", "--write-baseline", "r.yaml"], &[]);
    assert_eq!(reference.code, Some(2), "{reference:#?}");
    assert!(reference.err.contains("it must pass"), "{reference:#?}");
}
