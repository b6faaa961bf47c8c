//! A system is judged only by texts that can be read, and only by what it received and could pass on.

use std::cell::RefCell;

use brickbat_engine::run::Run;
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::plan::ToolOutcome;
use brickbat_scenario::trace::{Confidence, Event, RequestKind};
use brickbat_scenario::verdict::Verdict;
use serde_json::{Value, json};

use super::staging::*;

#[test]
fn a_request_that_cannot_be_read_is_refused_and_says_nothing_of_the_rest() {
    for plan in on_each("control/plain-batch") {
        let cut = rebuilt(&run(&plan), |turn, event| match event.clone() {
            Event::Requested { exchange, head, body, .. } if turn > 0 => {
                let (kind, body) =
                    (RequestKind::Refused { status: 400 }, body[..body.len() - 1].to_vec().into());
                vec![Event::Requested { exchange, kind, head, compacted: false, summary: None, body }]
            }
            event => vec![event],
        });
        let judgement = judged(&plan, &cut);
        assert_eq!(judgement.verdict, Verdict::Fail, "{judgement:#?}");
        assert!(
            judgement.findings.iter().all(|finding| finding.check == "thread-survives"),
            "{judgement:#?}"
        );
    }
}

#[test]
fn a_result_is_lost_only_if_a_request_came_after_it() {
    for plan in on_each("abort/mid-batch#k=1") {
        let (c, last) = (key(&plan, "c"), plan.turns.len() - 1);
        // A loop that was left running reaches the call when another turn is under way.
        let outcome = plan.calls[c.0 as usize].outcome.clone();
        assert!(matches!(outcome, ToolOutcome::Return(_)));
        let args = plan.calls[c.0 as usize].args.to_string();
        let late = [
            Event::ToolStarted { call: Some(c), args },
            Event::ToolSettled { call: c, outcome, grade: Confidence::Observed },
        ];
        let ran = |is_there: fn(&Event) -> bool| {
            rebuilt(&run(&plan), |turn, event| match event {
                event if turn == last && is_there(event) => [std::slice::from_ref(event), &late[..]].concat(),
                event => vec![event.clone()],
            })
        };
        let after = judged(&plan, &ran(|event| matches!(event, Event::Replied { .. })));
        let is_of_results = |check: &str| matches!(check, "results-kept" | "views-agree");
        assert!(!after.findings.iter().any(|finding| is_of_results(finding.check)), "{after:#?}");
        let before = ran(|event| matches!(event, Event::Prompted { .. }));
        let gone = "the last request does not contain what the tool of call c returned";
        expect_failure(&plan, &before, "results-kept", &[gone]);
    }
}

#[test]
fn a_result_under_another_call_does_not_count_as_sent() {
    for plan in on_each("control/plain-batch") {
        let [a, b] = ["a", "b"].map(|name| plan.calls[key(&plan, name).0 as usize].outcome.text().to_owned());
        let swapped =
            with_bodies(&run(&plan), |body| body.replace(&a, "@@").replace(&b, &a).replace("@@", &b));
        let words = |name| {
            format!("call {name} is shown as completed, but the last request does not contain its result")
        };
        let judgement = judged(&plan, &swapped);
        let of_views = judgement.findings.iter().filter(|finding| finding.check == "views-agree");
        let found: Vec<String> = of_views.map(|finding| finding.message.clone()).collect();
        assert!(["a", "b"].into_iter().all(|name| found.contains(&words(name))), "{found:?}");
    }
}

#[test]
fn calls_that_are_repeated_after_others_are_not_reordered() {
    for dialect in Dialect::ALL {
        let plan = plan("control/plain-batch", dialect);
        let original = run(&plan);
        let list = list_of(dialect);
        let mut bodies = original.trace.events().iter().filter_map(|event| match event {
            Event::Requested { body, .. } => Some(serde_json::from_slice::<Value>(body).unwrap()),
            _ => None,
        });
        let kept = bodies.next_back().unwrap()[list].clone();
        let kept = kept.as_array().unwrap();
        // The provider rejects an item of its own that comes twice; here the calls come twice.
        let mut again = kept[1..].to_vec();
        again.iter_mut().filter_map(Value::as_object_mut).for_each(|item| drop(item.remove("id")));
        let twice = [&kept[..], &again].concat();
        let told_twice = with_later_messages(&original, None, |_| twice.clone());
        let words = "calls are repeated at a position where the model did not make them";
        expect_failure(&plan, &told_twice, "order-kept", &[words]);
    }
}

#[test]
fn a_turn_that_only_the_harness_stopped_was_not_stopped_before() {
    for dialect in Dialect::ALL {
        for (name, words) in [
            ("control/plain-batch", "the turn does not end, even when the harness stops it"),
            ("abort/mid-batch#k=1", "the turn does not end, even after it was stopped"),
        ] {
            let plan = plan(name, dialect);
            let hung = rebuilt(&run(&plan), |turn, event| match event {
                Event::TurnEnded { .. } if turn == 0 => vec![Event::GaveUp, Event::Stopped],
                event => vec![event.clone()],
            });
            expect_failure(&plan, &hung, "turn-ends", &[words]);
        }
    }
}

#[test]
fn a_changed_call_is_named_by_its_place_if_calls_share_an_id() {
    let plan = plan("model/empty-id#id=text-", Dialect::Gemini);
    let args = |name: &str| plan.calls[key(&plan, name).0 as usize].args.to_string();
    let (a, b) = (args("a"), args("b"));
    let whole = run(&plan);
    // The second turn has the same message about the first call as about the second.
    let words = &plan.turns[1].user;
    let changed =
        with_bodies(
            &whole,
            |body| if body.contains(words) { body.replacen(&a, &b, 1) } else { body.to_owned() },
        );
    let judgement = judged(&plan, &changed);
    let found = judgement.findings.iter().find(|finding| finding.check == "prefix-stable").unwrap();
    assert_eq!(found.expected, format!("call a with `{a}`"), "{judgement:#?}");
    assert_eq!(found.got, format!("call b with `{b}`"), "{judgement:#?}");
}

#[test]
fn an_empty_error_in_an_object_is_not_a_success() {
    let plan = plan("tools/throw-without-words", Dialect::Gemini);
    let whole = run(&plan);
    let lies = |response: Value| {
        let said = with_bodies(&whole, |body| {
            let mut body: Value = serde_json::from_str(body).unwrap();
            for content in body["contents"].as_array_mut().unwrap() {
                for part in content["parts"].as_array_mut().unwrap() {
                    if part["functionResponse"]["response"].get("error").is_some() {
                        part["functionResponse"]["response"] = response.clone();
                    }
                }
            }
            body.to_string()
        });
        judged(&plan, &said).findings.iter().any(|finding| finding.check == "success-honest")
    };
    assert!(!lies(json!({ "name": "broken", "content": "" })));
    assert!(lies(json!({ "name": "broken", "content": "all is well" })));
    assert!(lies(json!({ "name": "all is well" })) && lies(json!({})));
}

#[test]
fn a_runners_message_about_a_call_that_it_could_not_run_is_not_a_success() {
    let plan = plan("fault/tool-error", Dialect::OpenaiChat);
    let whole = run(&plan);
    let lies = |words: &str| {
        let said = with_bodies(&whole, |body| body.replace("no such order b", words));
        judged(&plan, &said).findings.iter().any(|finding| finding.check == "success-honest")
    };
    for words in [
        "Invalid tool_call: 'nothing'. Available options are: 'lookup'. Please try again",
        "Unexpected end of JSON input",
        "Expected property name or '}' in JSON at position 1",
    ] {
        assert!(!lies(words), "{words}");
    }
    assert!(lies("all is well") && lies("all went as expected"));
}

#[test]
fn a_handoff_counts_if_it_settles_even_after_its_turn() {
    let plan = plan("handoff/next-request-fails#status=400", Dialect::OpenaiChat);
    let whole = run(&plan);
    let lies =
        |run: &Run| judged(&plan, run).findings.iter().any(|finding| finding.check == "success-honest");
    let is_settled = |event: &Event| matches!(event, Event::ToolSettled { .. });
    let held = RefCell::new(Vec::new());
    let late = rebuilt(&whole, |_, event| match event {
        settled if is_settled(settled) => {
            held.borrow_mut().push(settled.clone());
            Vec::new()
        }
        ended @ Event::TurnEnded { .. } => std::iter::once(ended.clone()).chain(held.take()).collect(),
        other => vec![other.clone()],
    });
    let never = without(&whole, |_, event| is_settled(event));
    assert_eq!([lies(&whole), lies(&late), lies(&never)], [false, false, true]);
}
