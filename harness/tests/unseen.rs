//! Systems on a machine that does not show what a process has read from its sockets.
//!
//! The sockets are real, and the machine is made to say nothing. A system that counts what it reads is judged as
//! elsewhere. No system is accused, and no receipt is above `written`, if it counts nothing or less than was sent.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::fs;

use serde_json::Value;
use tempfile::TempDir;

use crate::program::{BRICKBAT, brickbat};

const HIDDEN: [(&str, &str); 1] = [("BRICKBAT_HIDE_QUEUES", "1")];

/// A plan with a fault: its verdict, the number of its findings, and the grades of its receipts.
type Seen = (String, usize, Vec<String>);

/// Runs two plans on an agent over ACP, with a filter of the lines that it sends. Returns the exit code and the plans.
fn run(agent: &str, filter: &str, hides: bool) -> (Option<i32>, Vec<Seen>) {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("agent.sh"), format!("'{BRICKBAT}' {agent} | sed -u '{filter}'\n")).unwrap();
    let plans = ["abort/mid-batch#k=1@openai-chat", "fault/reset-in-stream#p=delta-b-2@anthropic-messages"];
    let args = ["--command", "sh agent.sh", "--report", "r.json", "--no-confirm"];
    let args: Vec<&str> = ["run"].into_iter().chain(plans).chain(args).collect();
    let said = brickbat(folder.path(), &args, if hides { &HIDDEN } else { &[] });
    let report: Value = serde_json::from_slice(&fs::read(folder.path().join("r.json")).unwrap()).unwrap();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let faulted = list(&report["cases"]).into_iter().filter(|case| !list(&case["receipts"]).is_empty());
    let text = |value: &Value| value.as_str().unwrap_or("none").to_owned();
    let seen = faulted.map(|case| {
        let grades = list(&case["receipts"]).iter().map(|receipt| text(&receipt["grade"])).collect();
        (text(&case["verdict"]), list(&case["findings"]).len(), grades)
    });
    (said.code, seen.collect())
}

const SOUND: &str = "agent";
const BROKEN: &str = "agent --canary dangling-on-abort";
/// Its answers to barriers lack the count, as those of an adapter that does not know of it.
const SAYS_NOTHING: &str = r#"s/"read":\[[^]]*\]//"#;
/// As if one byte had been read from each socket.
const READS_LITTLE: &str = r#"s/"bytes":[0-9]*/"bytes":1/g"#;

#[test]
fn a_system_that_counts_what_it_reads_is_judged_as_where_the_machine_shows_it() {
    for agent in [SOUND, BROKEN] {
        let hidden = run(agent, "", true);
        assert_eq!(hidden, run(agent, "", false));
        assert!(hidden.1.len() > 1, "{hidden:?}");
        assert!(
            hidden.1.iter().all(|(.., grades)| grades.iter().all(|grade| grade == "observed")),
            "{hidden:?}"
        );
        let n_failed = hidden.1.iter().filter(|(verdict, ..)| verdict == "fail").count();
        assert_eq!(n_failed > 0, agent == BROKEN, "{hidden:?}");
    }
}

#[test]
fn without_a_sufficient_count_nothing_is_above_written_and_no_system_is_accused() {
    for agent in [SOUND, BROKEN] {
        for filter in [SAYS_NOTHING, READS_LITTLE] {
            let (code, seen) = run(agent, filter, true);
            assert_eq!(code, Some(3), "{filter}: {seen:?}");
            for (verdict, n_findings, grades) in &seen {
                assert_eq!((verdict.as_str(), *n_findings), ("vacuous", 0), "{filter}: {seen:?}");
                assert!(
                    grades.iter().all(|grade| grade == "written" || grade == "none"),
                    "{filter}: {seen:?}"
                );
            }
            assert!(seen.len() > 1, "{seen:?}");
        }
    }
}
