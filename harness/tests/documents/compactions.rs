//! The table of compactors and cut points, from the file that `harness/nightly/compactions/run.py` has
//! written, and the table of public threads that a compaction broke.

use std::collections::BTreeSet;

use brickbat_engine::flaws::Canary;
use serde::Deserialize;

use super::*;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Report {
    rows: Vec<Row>,
}

/// The result of one plan on one compactor.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    system: String,
    plan: String,
    verdict: String,
    severities: Vec<String>,
    cuts: usize,
}

/// A public thread, and what is shown about it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Thread {
    thread: String,
    system: String,
    class: String,
    says: Says,
    plan: String,
    #[serde(default)]
    on: Option<String>,
    #[serde(default)]
    bug: Option<String>,
    why: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Says {
    Reproduced,
    Fixed,
    Pattern,
    Not,
}

impl Says {
    fn words(self) -> &'static str {
        match self {
            Says::Reproduced => "reproduced",
            Says::Fixed => "fixed",
            Says::Pattern => "as a planted bug",
            Says::Not => "not",
        }
    }
}

/// The places where a history is cut, and the scenarios that cut it there.
const CUTS: [(&str, &[&str]); 12] = [
    (
        "by command, between turns",
        &["transform/summarise#", "transform/summarise-then-tools", "transform/summarise-long"],
    ),
    ("by command, after a stop", &["transform/summarise-after-abort"]),
    ("by command, while tools run", &["transform/summarise-in-flight"]),
    ("full with a batch", &["transform/full-in-a-batch"]),
    ("full at the end of a turn", &["transform/full-at-the-end"]),
    ("full twice in a turn", &["transform/full-twice"]),
    ("full, then stopped", &["transform/full-then-abort", "transform/full-then-ended#end=abort"]),
    ("full with an open question", &["transform/full-with-a-question"]),
    ("full, then killed", &["transform/full-then-kill", "transform/full-then-ended#end=kill"]),
    ("too long", &["transform/overflow#"]),
    ("too long for good", &["transform/overflowing-batch"]),
    ("thirty times", &["thirty-compactions"]),
];

/// The table of compactors.
pub fn compactions() -> String {
    let rows = rows();
    let head = ["compactor"].into_iter().chain(CUTS.iter().map(|(cut, _)| *cut));
    let head: Vec<&str> = head.collect();
    let mut text = format!("| {} |\n|{}\n", head.join(" | "), "---|".repeat(head.len()));
    let systems: BTreeSet<&str> = rows.iter().map(|row| row.system.as_str()).collect();
    for system in systems {
        let own = |names: &[&str]| {
            let is_it =
                |row: &&Row| row.system == system && names.iter().any(|name| row.plan.starts_with(name));
            cell(&rows.iter().filter(is_it).collect::<Vec<_>>())
        };
        let cells: Vec<String> = CUTS.iter().map(|(_, names)| own(names)).collect();
        text.push_str(&format!("| `{system}` | {} |\n", cells.join(" | ")));
    }
    text
}

/// The result of the plans of one cut point: how many of them passed, or the worst severity.
fn cell(rows: &[&Row]) -> String {
    let played: Vec<&&Row> = rows.iter().filter(|row| row.verdict != "unsupported").collect();
    if played.is_empty() {
        return "–".to_owned();
    }
    let passed = played.iter().filter(|row| row.verdict == "pass").count();
    let worst: BTreeSet<&str> = played.iter().flat_map(|row| &row.severities).map(String::as_str).collect();
    let uncut = played.iter().filter(|row| row.cuts == 0 && !row.plan.contains("overflow")).count();
    let mut text = format!("{passed} of {}", played.len());
    if !worst.is_empty() {
        text.push_str(&format!(": {}", worst.into_iter().collect::<Vec<_>>().join(", ")));
    }
    if uncut > 0 {
        text.push_str(&format!(" ({uncut} not compacted)"));
    }
    text
}

/// The table of threads.
pub fn compaction_threads() -> String {
    let head = ["thread", "system", "class", "what Brickbat shows", "by", "why"];
    let mut text = format!("| {} |\n|{}\n", head.join(" | "), "---|".repeat(head.len()));
    for thread in threads() {
        let by = match (&thread.on, &thread.bug) {
            (Some(on), _) => format!("`{}` on `{on}`", thread.plan),
            (None, Some(bug)) => format!("`{}` with `{bug}`", thread.plan),
            (None, None) => format!("`{}`", thread.plan),
        };
        text.push_str(&format!(
            "| {} | {} | `{}` | {} | {by} | {} |\n",
            thread.thread,
            thread.system,
            thread.class,
            thread.says.words(),
            thread.why
        ));
    }
    text
}

fn rows() -> Vec<Row> {
    serde_json::from_str::<Report>(&read("docs/data/compactions.json")).unwrap().rows
}

fn threads() -> Vec<Thread> {
    serde_saphyr::from_str(&read("docs/data/compaction-threads.yaml")).unwrap()
}

#[test]
fn each_thread_names_existing_scenarios_and_classes() {
    let rows = rows();
    for Thread { thread, class, says, plan, on, bug, .. } in threads() {
        let exists = |path: String| assert!(root().join(&path).exists(), "{thread}: {path}");
        exists(format!("scenarios/{plan}.yaml"));
        assert!(class.starts_with("compact-"), "{thread}: {class}");
        let canary =
            bug.as_deref().map(|bug| Canary::from_name(bug).unwrap_or_else(|| panic!("{thread}: {bug}")));
        assert!(says != Says::Pattern || canary.is_some(), "{thread}: no planted bug");
        let Some(on) = on else {
            assert!(matches!(says, Says::Pattern | Says::Not), "{thread}: on no system");
            continue;
        };
        exists(format!("harness/systems/{on}/system.yaml"));
        let of = |row: &&Row| {
            row.plan.starts_with(&plan) && row.system.split(['@', '/']).next() == Some(on.as_str())
        };
        let played: Vec<&str> = rows.iter().filter(of).map(|row| row.verdict.as_str()).collect();
        match says {
            Says::Fixed => assert!(
                !played.is_empty() && played.iter().all(|verdict| *verdict == "pass"),
                "{thread}: {played:?}"
            ),
            Says::Reproduced => assert!(played.contains(&"fail"), "{thread}: {played:?}"),
            Says::Pattern | Says::Not => {}
        }
    }
    assert_eq!(threads().len(), 35);
}
