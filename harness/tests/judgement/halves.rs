//! Halves of checks: each has a planted bug that only this check catches, if that is possible.

#![expect(clippy::unwrap_used, reason = "a test may stop at what it does not expect")]

use std::sync::Arc;

use brickbat_engine::flaws::Canary;
use brickbat_scenario::plan::Plan;
use brickbat_scenario::trace::Event;
use brickbat_scenario::verdict::{Finding, Severity};
use serde_json::Value;

use super::staging::{driven_for, expect_failure, judged, on_each, rebuilt, run, run_canary, with_body};

/// The findings of a canary in its plans. All are of the check that must catch it, and each plan has one.
fn caught(canary: &str, scenario: &str) -> Vec<(Arc<Plan>, Vec<Finding>)> {
    let canary = Canary::from_name(canary).unwrap();
    let plans = on_each(scenario).filter(|plan| canary.senseless_in(plan.dialect).is_none());
    let found = plans.map(|plan| {
        let findings = driven_for(&plan, Some(canary)).0.findings;
        let is_meant = |finding: &Finding| finding.check == canary.caught_by();
        assert!(!findings.is_empty() && findings.iter().all(is_meant), "{}: {findings:#?}", plan.id);
        assert!(judged(&plan, &run(&plan)).findings.is_empty(), "{}", plan.id);
        (plan, findings)
    });
    found.collect()
}

fn expect_message(canary: &str, scenario: &str, severity: Severity, message: &str) {
    for (plan, findings) in caught(canary, scenario) {
        let is_it = |finding: &Finding| finding.message.contains(message) && finding.severity == severity;
        assert!(findings.iter().any(is_it), "{}: {findings:#?}", plan.id);
    }
}

#[test]
fn a_turn_that_ends_after_a_failed_tool_is_not_over() {
    let message = "reply 2 was never requested, although a call before it failed";
    expect_message("failure-ends-turn", "fault/tool-error", Severity::TurnFailed, message);
}

#[test]
fn a_turn_that_ends_after_a_tool_has_thrown_may_be_over() {
    let canary = Canary::from_name("failure-ends-turn").unwrap();
    for plan in on_each("fault/tool-throw") {
        assert!(driven_for(&plan, Some(canary)).0.findings.is_empty(), "{}", plan.id);
    }
}

#[test]
fn the_result_of_a_search_comes_back_as_the_provider_sent_it() {
    let replaced = "the result of search s of turn 1 is not what the provider found";
    expect_message("search-replaced", "server/pause", Severity::HistoryAltered, replaced);
}

#[test]
fn a_search_comes_back_at_all() {
    for plan in on_each("server/searched") {
        let dropped = rebuilt(&run(&plan), |turn, event| match event {
            Event::Requested { body, .. } if turn > 0 => {
                let mut body: Value = serde_json::from_slice(body).unwrap();
                let blocks = body["messages"].as_array_mut().unwrap().iter_mut();
                let blocks = blocks.filter_map(|message| message["content"].as_array_mut());
                let is_search = |block: &Value| {
                    ["server_tool_use", "web_search_tool_result"].iter().any(|kind| block["type"] == *kind)
                };
                blocks.for_each(|blocks| blocks.retain(|block| !is_search(block)));
                vec![with_body(event, body.to_string().into_bytes())]
            }
            event => vec![event.clone()],
        });
        let message = "the result of search s of turn 1 is missing, although nothing went wrong in that turn";
        expect_failure(&plan, &dropped, "healthy-untouched", &[message]);
    }
}

#[test]
fn the_models_words_stay_in_its_role() {
    let message = "is sent as if the user had said it";
    let found = caught("reply-in-users-role", "fault/tool-error");
    for (plan, findings) in found {
        assert!(findings.iter().any(|finding| finding.message.contains(message)), "{}", plan.id);
    }
}

#[test]
fn the_history_of_a_running_turn_is_judged_in_that_turn() {
    for (plan, findings) in caught("text-beside-calls-dropped", "fault/tool-error") {
        assert_eq!(findings[0].place, "turn 1 request 2", "{}: {findings:#?}", plan.id);
    }
}

/// The results were sent before, so the provider's cache is lost, too.
#[test]
fn the_users_last_message_comes_after_the_results_before_it() {
    let canary = Canary::from_name("prompt-before-results").unwrap();
    let message = "the user's message of turn 2 comes before what was said in turn 1";
    for plan in on_each("model/empty-reply") {
        let run = run_canary(&plan, canary);
        expect_failure(&plan, &run, "order-kept", &[message]);
        let known = ["order-kept", "prefix-stable"];
        let is_known = |finding: &Finding| known.contains(&finding.check);
        assert!(judged(&plan, &run).findings.iter().all(is_known), "{}", plan.id);
    }
}

#[test]
fn a_call_that_is_lost_to_a_nameless_one_is_dropped_and_not_altered() {
    let message = "call a of turn 1 is never run, and is missing or changed";
    for tool in ["nameless", "command"] {
        let scenario = format!("model/bad-tool-name#tool={tool}");
        expect_message("nameless-call-joined", &scenario, Severity::CallDropped, message);
    }
}
