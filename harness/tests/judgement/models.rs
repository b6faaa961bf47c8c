//! Models: rules that bind only later ones, and systems that use a model other than the requested one.

use std::sync::Arc;

use brickbat_engine::agent::{Agent, Delivery, Thinking};
use brickbat_engine::checks::{judge, would_refuse};
use brickbat_engine::provider::{Headers, Provider, Request};
use brickbat_engine::simulate::simulate;
use brickbat_rules::Profile;
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::lower;
use brickbat_scenario::trace::{Confidence, Event, RequestKind};
use brickbat_scenario::verdict::{Severity, Verdict};
use brickbat_scenario::wire;

use super::staging::{
    CONCURRENCY, driven_for, expect_harness_error, judged, plan, rebuilt, run, with_bodies,
};
use crate::plans::canary;

const PREFILLED: [Dialect; 3] = [Dialect::AnthropicMessages, Dialect::Gemini, Dialect::BedrockConverse];

#[test]
fn a_later_model_rejects_a_final_assistant_message_that_the_current_one_accepts() {
    let later = |dialect: &Dialect| wire::of(*dialect).newer_model().is_some();
    let dialects: Vec<Dialect> = Dialect::ALL.into_iter().filter(later).collect();
    assert_eq!(dialects, PREFILLED, "a dialect with a later model needs a word here on what is different");
    for dialect in dialects {
        let ending = match dialect {
            Dialect::Gemini => r#"{"role":"model","parts":[{"text":"It is"}]}"#,
            Dialect::BedrockConverse => r#"{"role":"assistant","content":[{"text":"It is"}]}"#,
            _ => r#"{"role":"assistant","content":[{"type":"text","text":"It is"}]}"#,
        };
        let plan = plan("abort/before-first-token", dialect);
        let run = with_bodies(&run(&plan), |body| body.replacen("}]}]", &format!("}}]}},{ending}]"), 1));
        let is_refused = |model: &str| would_refuse(&plan, &run, Profile::newest(dialect), model);
        let wire = wire::of(dialect);
        assert!(!is_refused(wire.current_model()), "{dialect}");
        assert!(is_refused(wire.newer_model().unwrap()), "{dialect}");
    }
}

#[test]
fn a_bug_that_only_a_later_model_shows_is_worth_a_run_on_it() {
    let newest = Profile::newest(Dialect::AnthropicMessages);
    let plan = plan("fault/second-step#fault=end-early", Dialect::AnthropicMessages);
    let later = wire::of(plan.dialect).newer_model().unwrap();
    let (judgement, run_now) = driven_for(&plan, Some(canary("retry-prefills")));
    assert_eq!(judgement.verdict, Verdict::Pass, "{judgement:#?}");
    assert!(would_refuse(&plan, &run_now, newest, later));
    assert!(!would_refuse(&plan, &run_now, newest, "claude-sonnet-4-5"));
    assert!(!would_refuse(&plan, &run(&plan), newest, later), "the reference agent");
    let (judgement, _) = driven_for(&Arc::new(plan.with_model(later)), Some(canary("retry-prefills")));
    let found = judgement.findings.iter().find(|finding| finding.check == "thread-survives").unwrap();
    assert!(found.severity <= Severity::TurnFailed, "{found:#?}");
    assert_eq!(found.rule, Some("anthropic-messages/prefill-not-supported"));
    assert_eq!(found.model.as_deref(), Some(later));
}

#[test]
fn a_system_that_uses_another_model_than_requested_is_not_judged() {
    for dialect in Dialect::ALL {
        let asked = plan("abort/mid-batch#k=1", dialect);
        let other = Arc::new(asked.with_model("a-model-of-2030"));
        expect_harness_error(&other, &run(&asked), &["the model `a-model-of-2030`", "its requests name"]);
        assert_eq!(judged(&other, &run(&other)).verdict, Verdict::Pass, "{dialect}");
    }
}

/// An agent that never asks the model to think, in a plan in which the model thinks. One plan switches
/// thinking off itself.
#[test]
fn thinking_that_no_request_asks_for_is_missing_unless_the_plan_switches_it_off() {
    let text = |action: &str| {
        format!(
            "schema: 1\ncomment: c\nclass: [control]\nturns:\n  - user: One.\n    replies: [[{{ text: Ok. }}]]\n  \
             - user: Two.\n    replies: [[{{ think: Well. }}, {{ text: Ok. }}]]\n{action}"
        )
    };
    let switched_off = "    at: [{ before: prompt, do: { thinking: false } }]\n";
    for (action, is_missed) in [("", true), (switched_off, false)] {
        let dialects = [Dialect::AnthropicMessages];
        let plan =
            Arc::new(lower::plans("thinking", "thinking", &text(action), &dialects, 0).unwrap().remove(0));
        assert_eq!(plan.impossible, None);
        let agent = Agent::of_plan(&plan, Delivery::Streamed, None).asking(Thinking::Unasked);
        let run = simulate(&plan, plan.profile_from(&[]), agent, None);
        let words = ["the model thinks in this plan, but no request asks it to"];
        match is_missed {
            true => expect_harness_error(&plan, &run, &words),
            false => assert_ne!(judged(&plan, &run).verdict, Verdict::HarnessError),
        }
    }
}

#[test]
fn the_version_of_the_api_that_a_request_names_decides_what_is_refused() {
    let plan = plan("control/plain-batch", Dialect::AnthropicMessages);
    let sampled = with_bodies(&run(&plan), |body| body.replacen('{', r#"{"temperature":0.5,"#, 1));
    let body = sampled.trace.events().iter().find_map(|event| match event {
        Event::Requested { body, .. } => Some(body.clone()),
        _ => None,
    });
    let body = body.unwrap();
    let newest = Profile::newest(plan.dialect);
    let of_may = Profile::named("anthropic-messages@2026-05").unwrap();
    for (profile, version, is_refused) in [
        (newest, "2023-06-01", false),
        (newest, "2026-10-21", true),
        (newest, "2030-01-01", false),
        // An older profile was chosen on purpose.
        (of_may, "2026-10-21", false),
    ] {
        let head = format!("POST /v1/messages HTTP/1.1\r\nanthropic-version: {version}\r\n\r\n");
        let headers = Headers::of_head(head.as_bytes());
        let mut provider = Provider::new(plan.clone(), profile);
        let asked = Request { method: "POST", path: "/v1/messages", headers, body: &body };
        let (kind, answer) = provider.answer(asked);
        assert_eq!(matches!(kind, RequestKind::Refused { .. }), is_refused, "{} {version}", profile.name);
        assert_eq!(answer.asked.version.as_deref(), Some(version));
        // The checks judge the request as the provider did.
        let of_version = rebuilt(&sampled, |_, event| {
            let mut event = event.clone();
            if let Event::Requested { head, kind: own, .. } = &mut event {
                head.version = Some(version.to_owned());
                *own = if is_refused { kind } else { *own };
            }
            vec![event]
        });
        let judgement = judge(&plan, &of_version, profile, Confidence::Observed, Some(&CONCURRENCY));
        let rules: Vec<_> = judgement.findings.iter().filter_map(|finding| finding.rule).collect();
        let expected: &[&str] = if is_refused { &["anthropic-messages/sampling-parameter"] } else { &[] };
        assert_eq!(rules, expected, "{} {version}", profile.name);
    }
}
