//! Given histories with content that only stores have: each is lowered or unsupported, survived by the
//! reference agent, and caught on an agent that sends its thread exactly as stored.

use brickbat_engine::agent::{Agent, Delivery};
use brickbat_engine::flaws::Canary;
use brickbat_engine::simulate::judged;
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::lower::plans_with;
use brickbat_scenario::plan::{GivenBlock, GivenMessage, Plan};
use brickbat_scenario::scenario::Need;
use brickbat_scenario::verdict::Verdict;

const SCENARIO: &str = "\
schema: 1
comment: A stored session goes on.
given: { history: old.json }
tools:
  lookup: { returns: \"found {key}\" }
turns:
  - user: Go on.
    replies: [[{ text: It goes on. }]]
";

/// The plans of a history that has these messages, one for each dialect.
fn plans(history: &str) -> Vec<Plan> {
    let text = format!(r#"{{ "schema": 1, "comment": "An old session.", {history} }}"#);
    let files = |_: &str| Ok(text.clone());
    plans_with("given/test", "given/test.yaml", SCENARIO, &Dialect::ALL, 7, &files)
        .unwrap_or_else(|error| panic!("{error}"))
}

/// A call `a` of the tool, with more keys.
fn call(more: &str) -> String {
    format!(r#"{{ "call": {{ "as": "a", "tool": "lookup"{more} }} }}"#)
}

const RETURNED: &str = r#"{ "results": [{ "of": "a", "returns": "found it" }] }"#;

/// Messages that end with the model's text.
fn said(messages: &str) -> String {
    format!(r#""messages": [{{ "user": "Look." }}, {messages}, {{ "assistant": [{{ "text": "Done." }}] }}]"#)
}

/// Histories as stores contain them, each with a short name.
fn histories() -> Vec<(&'static str, String)> {
    let thought = |text: &str, signature: &str| {
        let thought = format!(r#"{{ "think": {{ "text": "{text}", "signature": "{signature}" }} }}"#);
        said(&format!(r#"{{ "assistant": [{thought}, {}] }}, {RETURNED}"#, call("")))
    };
    let made = |more: &str| said(&format!(r#"{{ "assistant": [{}] }}, {RETURNED}"#, call(more)));
    let picture = r#"{ "format": "png", "width": 9000, "height": 2, "bytes": 100000 }"#;
    vec![
        ("signed thought", thought("Hm.", "full")),
        ("hollow thought", thought("", "full")),
        ("thought without content of its signature", thought("Hm.", "empty")),
        ("thought without signature", thought("Hm.", "absent")),
        ("altered thought", thought("Hm.", "altered")),
        ("cut arguments", made(r#", "raw": "{\"key\":\"a""#)),
        ("arguments that are a list", made(r#", "raw": "[]""#)),
        ("foreign id", made(r#", "id": { "text": "fc|1:foreign" }"#)),
        ("long id", made(&format!(r#", "id": {{ "text": "{}" }}"#, "x".repeat(300)))),
        ("empty id", made(r#", "id": { "text": "" }"#)),
        (
            "two empty ids",
            said(&format!(
                r#"{{ "assistant": [{}, {{ "call": {{ "as": "b", "tool": "lookup", "id": {{ "text": "" }} }} }}] }},
                   {{ "results": [{{ "of": "b", "returns": "two" }}, {{ "of": "a", "returns": "one" }}] }}"#,
                call(r#", "id": { "text": "" }"#)
            )),
        ),
        (
            "empty id, again in a later reply",
            said(&format!(
                r#"{{ "assistant": [{}] }}, {RETURNED}, {{ "user": "And?" }},
                   {{ "assistant": [{{ "call": {{ "as": "b", "tool": "lookup", "id": {{ "text": "" }} }} }}] }},
                   {{ "results": [{{ "of": "b", "fails": "no" }}] }}"#,
                call(r#", "id": { "text": "" }"#)
            )),
        ),
        (
            "empty id without a result",
            said(&format!(
                r#"{{ "assistant": [{}] }}, {{ "user": "And?" }}"#,
                call(r#", "id": { "text": "" }"#)
            )),
        ),
        (
            "one id twice",
            said(&format!(
                r#"{{ "assistant": [{}, {{ "call": {{ "as": "b", "tool": "lookup", "id": {{ "same": "a" }} }} }}] }},
                   {{ "results": [{{ "of": "a", "returns": "one" }}, {{ "of": "b", "returns": "two" }}] }}"#,
                call("")
            )),
        ),
        ("orphan", format!(r#""lost": [{{ "as": "a", "tool": "lookup" }}], {}"#, said(RETURNED))),
        ("blank text", said(r#"{ "assistant": [{ "text": " \n" }] }, { "user": "And?" }"#)),
        ("picture", said(&format!(r#"{{ "picture": {picture} }}"#))),
        (
            "picture in a result",
            said(&format!(
                r#"{{ "assistant": [{}] }}, {{ "results": [{{ "of": "a", "returns": "here", "shows": {picture} }}] }}"#,
                call("")
            )),
        ),
        ("instructions in between", said(r#"{ "system": "Be brief." }"#)),
        ("failed reply", said(r#"{ "failed": "API Error: 529" }, { "user": "Again." }"#)),
        (
            "compaction",
            said(&format!(r#"{{ "assistant": [{}] }}, {{ "compacted": "It looked." }}"#, call(""))),
        ),
        (
            "compaction after a result",
            said(&format!(
                r#"{{ "assistant": [{}] }}, {RETURNED}, {{ "compacted": "It looked." }}"#,
                call("")
            )),
        ),
    ]
}

/// The checks that accuse an agent with a planted bug, each with the rule by which the provider rejected it.
fn accusations(plan: &Plan, canary: Canary) -> Vec<(&'static str, Option<&'static str>)> {
    let judgement = judged(plan, |plan| Agent::of_plan(plan, Delivery::Streamed, Some(canary)));
    let judgement = judgement.unwrap_or_else(|control| panic!("{} {control:#?}", plan.id));
    judgement.findings.iter().map(|finding| (finding.check, finding.rule)).collect()
}

#[test]
fn the_reference_agent_survives_any_stored_history() {
    let mut accused = Vec::new();
    for (name, history) in histories() {
        let mut n_played = 0;
        for plan in plans(&history).iter().filter(|plan| plan.impossible.is_none()) {
            n_played += 1;
            let judgement = judged(plan, |plan| Agent::of_plan(plan, Delivery::Streamed, None));
            let judgement = judgement.unwrap_or_else(|control| *control);
            if judgement.verdict != Verdict::Pass {
                accused.push(format!("{name} on {}: {:#?}", plan.dialect, judgement.findings));
            }
        }
        assert!(n_played > 1, "{name} is played in {n_played} dialects");
    }
    assert!(accused.is_empty(), "{}", accused.join("\n"));
}

/// Agents that send a thread exactly as stored; each repairs what the others do not.
const UNMENDED: [&str; 3] = ["kill-dangles", "foreign-id-kept", "empty-id-kept"];

/// The dialects in which the provider rejects each history if it is sent exactly as stored.
#[test]
fn a_store_that_is_sent_as_it_stands_is_refused_where_a_rule_is_broken() {
    let canaries = UNMENDED.map(|name| Canary::from_name(name).unwrap());
    let mut table = String::new();
    for (name, history) in histories() {
        let plans = plans(&history);
        table.push_str(&format!("{name}:"));
        for plan in plans.iter().filter(|plan| plan.impossible.is_none()) {
            let mut found = canaries.iter().flat_map(|canary| accusations(plan, *canary));
            if found.any(|(_, rule)| rule.is_some()) {
                table.push_str(&format!(" {}", plan.dialect.name()));
            }
        }
        table.push('\n');
    }
    insta::assert_snapshot!(table);
}

#[test]
fn what_a_dialect_has_no_place_for_is_unsupported_there() {
    let mut table = String::new();
    for (name, history) in histories() {
        for plan in plans(&history) {
            if let Some(why) = &plan.impossible {
                table.push_str(&format!("{name}: {why}\n"));
            }
        }
    }
    insta::assert_snapshot!(table);
}

#[test]
fn a_history_needs_the_capabilities_of_its_entries() {
    let needs = |wanted: &str| {
        let (_, history) = histories().into_iter().find(|(name, _)| *name == wanted).unwrap();
        let plan = plans(&history).remove(0);
        plan.needs.into_iter().filter(|need| *need != Need::GivenHistory).collect::<Vec<_>>()
    };
    assert_eq!(needs("hollow thought"), [Need::GivenThinking]);
    assert_eq!(needs("picture"), [Need::GivenPictures]);
    assert_eq!(needs("failed reply"), [Need::GivenMarks]);
    assert_eq!(needs("orphan"), [Need::GivenOrphans]);
    assert_eq!(needs("cut arguments"), [Need::GivenRawArguments]);
    assert!(needs("foreign id").is_empty());
}

/// A thread that began at another provider is not damaged. If this provider cannot continue it, it is a
/// bricked thread, not a failed repair.
#[test]
fn ids_of_another_provider_are_not_a_broken_store() {
    let canary = Canary::from_name("foreign-id-kept").unwrap();
    let (_, history) = histories().into_iter().find(|(name, _)| *name == "foreign id").unwrap();
    let plan = plans(&history).into_iter().find(|plan| plan.dialect == Dialect::AnthropicMessages).unwrap();
    let checks: Vec<&str> = accusations(&plan, canary).into_iter().map(|(check, _)| check).collect();
    assert_eq!(checks, ["thread-survives"]);
}

#[test]
fn a_signature_is_lowered_as_far_as_the_store_has_it() {
    let signature = |wanted: &str| {
        let (_, history) = histories().into_iter().find(|(name, _)| *name == wanted).unwrap();
        let plans = plans(&history);
        let plan = plans.iter().find(|plan| plan.dialect == Dialect::AnthropicMessages).unwrap();
        let mut blocks = plan.given.iter().flat_map(GivenMessage::blocks);
        blocks
            .find_map(|block| match block {
                GivenBlock::Thinking { signature, .. } => Some(signature.clone()),
                _ => None,
            })
            .unwrap()
    };
    let full = signature("signed thought").unwrap();
    assert!(!full.is_empty() && signature("altered thought").is_some_and(|altered| altered != full));
    assert_eq!(signature("thought without content of its signature").as_deref(), Some(""));
    assert_eq!(signature("thought without signature"), None);
}
