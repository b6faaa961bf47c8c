//! A finding names what happened, in the order in which a maintainer looks for it: by its severity, by the words of
//! its message, and by an expected and an observed value that differ visibly.

use brickbat_engine::run::Run;
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::plan::Plan;
use brickbat_scenario::trace::Event;
use brickbat_scenario::verdict::{Finding, Severity};
use serde_json::{Value, json};

use super::staging::*;

fn found(plan: &Plan, run: &Run, check: &str) -> Option<Finding> {
    judged(plan, run).findings.into_iter().find(|finding| finding.check == check)
}

/// The run with an error at the end of one turn.
fn raised_in(run: &Run, bad: usize) -> Run {
    rebuilt(run, |turn, event| match event {
        Event::TurnEnded { .. } if turn == bad => vec![Event::TurnEnded { outcome: raised() }],
        event => vec![event.clone()],
    })
}

/// The run with the messages of each request changed, by the number of the request.
#[expect(clippy::unwrap_used, reason = "a test may stop at what it does not expect")]
fn with_messages(run: &Run, change: impl Fn(usize, &mut Vec<Value>)) -> Run {
    let n = std::cell::Cell::new(0);
    with_bodies(run, |body| {
        let mut body: Value = serde_json::from_str(body).unwrap();
        change(n.replace(n.get() + 1), body["messages"].as_array_mut().unwrap());
        body.to_string()
    })
}

#[test]
fn a_turn_that_waits_for_a_deaf_tool_names_the_tool() {
    for plan in on_each("tools/hangs#k=2") {
        let hung = rebuilt(&run(&plan), |turn, event| match event {
            Event::TurnEnded { .. } if turn == 0 => vec![Event::GaveUp],
            // The turn that never ends is the last one.
            _ if turn > 0 => Vec::new(),
            event => vec![event.clone()],
        });
        let words = "the turn does not end after the stop, because it waits for a tool that does not return";
        expect_failure(&plan, &hung, "turn-ends", &[words]);
        assert_eq!(found(&plan, &hung, "turn-ends").unwrap().got, "silence, while call b is still running");
    }
}

#[test]
fn a_failed_turn_names_what_happened_in_it() {
    let plan = plan("tools/half-character", Dialect::OpenaiChat);
    let failed = found(&plan, &raised_in(&run(&plan), 0), "thread-survives").unwrap();
    assert_eq!(failed.severity, Severity::TurnFailed);
    assert!(
        failed.message.ends_with("(in this turn, the tool of call b answered with half a character)"),
        "{failed:#?}"
    );
}

#[test]
fn a_thread_that_works_only_on_the_first_provider_has_not_recovered() {
    let plan = plan("switch/and-back#to=openai-responses", Dialect::OpenaiChat);
    let failed = found(&plan, &raised_in(&run(&plan), 1), "thread-survives").unwrap();
    assert_eq!((failed.severity, failed.permanence), (Severity::TurnFailed, None));
    let words = "(in this turn, the conversation moved from openai-chat to openai-responses); the last turn works \
                 because it is back on openai-chat";
    assert!(failed.message.ends_with(words), "{failed:#?}");
}

#[test]
fn arguments_are_graded_by_what_a_tool_would_make_of_them() {
    let plan = plan("fault/error-event#p=delta-b-2", Dialect::OpenaiChat);
    let started = |args: &'static str| {
        rebuilt(&run(&plan), |turn, event| match event {
            Event::TurnEnded { .. } if turn == 0 => {
                vec![Event::ToolStarted { call: None, args: args.to_owned() }, event.clone()]
            }
            event => vec![event.clone()],
        })
    };
    for (args, severity, words) in [
        (r#"{"key":"b","ref":""}"#, Severity::PartialArguments, "made from the part that had arrived"),
        ("{}", Severity::MissingArguments, "without an argument that is required"),
    ] {
        let ran = found(&plan, &started(args), "arguments-complete").unwrap();
        assert_eq!(ran.severity, severity);
        assert!(ran.message.starts_with("the provider's error event is ignored: a tool ran"), "{ran:#?}");
        assert!(ran.message.ends_with(words), "{ran:#?}");
    }
}

#[test]
fn an_error_in_the_field_for_a_success_is_a_mild_finding() {
    let plan = plan("fault/tool-error", Dialect::Gemini);
    let under = |field: &'static str| {
        with_bodies(&run(&plan), |body| {
            body.replace(r#""response":{"error":"#, &format!(r#""response":{{"{field}":"#))
        })
    };
    let marked = found(&plan, &under("output"), "success-honest").unwrap();
    assert_eq!(marked.severity, Severity::ErrorUnmarked);
    assert!(marked.message.contains("its error is sent in the field for a success"), "{marked:#?}");
    assert_eq!(found(&plan, &under("result"), "success-honest"), None);
}

#[test]
fn a_moved_result_is_compared_with_itself() {
    let plan = plan("control/plain-batch", Dialect::OpenaiChat);
    let swapped = with_messages(&run(&plan), |n, messages| {
        let first = messages.iter().position(|message| message["role"] == "tool");
        if let Some(first) = first.filter(|_| n == 2) {
            messages.swap(first, first + 1);
        }
    });
    let moved = found(&plan, &swapped, "prefix-stable").unwrap();
    assert!(moved.expected.starts_with("result a `"), "{moved:#?}");
    assert!(moved.got.starts_with("result b `") && moved.got.ends_with("the same further on"), "{moved:#?}");
}

#[test]
fn long_texts_that_differ_at_the_end_are_quoted_there() {
    let plan = plan("control/plain-batch", Dialect::OpenaiChat);
    let long = "It is late. ".repeat(20);
    let dated = with_messages(&run(&plan), |n, messages| {
        messages.insert(0, json!({ "role": "system", "content": format!("{long}{n}") }));
    });
    let changed = found(&plan, &dated, "prefix-stable").unwrap();
    assert_ne!(changed.expected, changed.got);
    assert!(changed.expected.ends_with("It is late. 0`"), "{changed:#?}");
}

#[test]
fn a_passing_last_word_of_the_system_is_not_a_changed_prefix() {
    let plan = plan("control/plain-batch", Dialect::OpenaiChat);
    let nudged = |with_words: bool| {
        with_messages(&run(&plan), |n, messages| {
            let last_result = messages.iter().rposition(|message| message["role"] == "tool");
            let Some(at) = last_result else { return };
            if n == 1 {
                messages.insert(at + 1, json!({ "role": "user", "content": "Continue." }));
            }
            if with_words {
                messages.insert(at + 1, json!({ "role": "assistant", "content": "So far, so good." }));
            }
        })
    };
    assert_eq!(found(&plan, &nudged(true), "prefix-stable"), None);
    assert!(found(&plan, &nudged(false), "prefix-stable").is_some());
}
