//! Each call runs once, in its own turn.
//!
//! A run that continues after its stop is another finding ([`super::stops_when_stopped`]).

use super::*;
use brickbat_scenario::scenario::Times;

pub(super) const CHECK: Check = Check {
    summary: "no call runs twice or in a later turn",
    invariants: &[19],
    rests_on: &[Duty::Loop],
    applies: |evidence| evidence.has_run(),
    find,
    ..Check::new("executed-once", Level::L3, Severity::ExecutedAgain)
};

fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let finding = |message: String, expected: &str, got: String| Finding {
        message,
        expected: expected.to_owned(),
        got,
        ..CHECK.finding("the start of the tool")
    };
    let mut findings = Vec::new();
    for (key, (call, account)) in (0..).map(CallKey).zip(evidence.calls()) {
        let n_starts = account.starts.len();
        if call.given && n_starts > 0 {
            let message = format!("call {} from the given history ran in a later turn", call.name);
            findings.push(finding(message, "no run", format!("{n_starts} runs")).of_calls([key]));
        } else if n_starts > 1 {
            let message = format!("call {} ran {n_starts} times", call.name);
            let again = finding(message, "one run", format!("{n_starts} runs")).of_calls([key]);
            findings.push(account.start_turns.last().copied().into_iter().fold(again, Finding::of_turn));
        } else if let Some(turn) = account.start_turns.iter().find(|turn| **turn > call.turn)
            && !evidence.ran_astray(key)
        {
            let message = format!("call {} ran in a later turn", call.name);
            let got = format!("a run in turn {}", turn + 1);
            findings.push(finding(message, "a run in its own turn", got).of_calls([key]).of_turn(*turn));
        }
    }
    // The scenario may expect no run, or at most one. A call that should not run may run if the user has allowed
    // it: the harness answers an open question when nothing else can happen.
    for (key, times) in &evidence.plan.executed {
        if *times == Times::Never && evidence.account(*key).consent == Some(Consent::Given) {
            continue;
        }
        let name = &evidence.call(*key).name;
        let same_name = evidence.calls().filter(|(call, _)| call.name == *name);
        let n_starts: usize = same_name.map(|(_, account)| account.starts.len()).sum();
        let (holds, expected) = match times {
            Times::Never => (n_starts == 0, "no run"),
            Times::Once => (n_starts == 1, "one run"),
            Times::AtMostOnce => (n_starts <= 1, "at most one run"),
        };
        if !holds {
            let message = format!("call {name} ran {n_starts} times");
            findings.push(finding(message, expected, format!("{n_starts} runs")).of_calls([*key]));
        }
    }
    findings
}
