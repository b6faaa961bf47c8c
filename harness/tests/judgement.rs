//! Verdicts that were once wrong: the behaviour of a system, and the correct judgement.

mod account;
mod answered;
mod applicable;
mod application;
mod broken_off;
mod causes;
mod chained;
mod dropped;
mod exit_code;
mod grades;
mod halves;
mod kill;
mod late;
mod let_go;
mod models;
mod not_allowed;
mod own_compaction;
mod past;
mod readable;
mod staging;
mod stopping;
mod waiting;
mod wording;

use std::sync::Arc;

use brickbat_engine::checks::Concurrency;
use brickbat_engine::run::Run;
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::action::Action;
use brickbat_scenario::lower;
use brickbat_scenario::trace::{Ending, Event, ExchangeId, RequestKind, ShownState, TurnOutcome};
use brickbat_scenario::trigger::Trigger;
use brickbat_scenario::verdict::{Finding, Severity, Verdict};
use serde_json::{Value, json};

use staging::*;

const IDLE: &str = "reply 1 was never requested";

#[test]
fn a_dead_agent_fails() {
    for dialect in Dialect::ALL {
        for name in ["control/plain-batch", "fault/tool-throw", "abort/denied-call"] {
            let plan = plan(name, dialect);
            expect_failure(&plan, &dead(&plan), "thread-survives", &[IDLE]);
        }
    }
}

#[test]
fn a_tool_whose_failure_was_never_delivered_proves_nothing() {
    for dialect in Dialect::ALL {
        for name in ["fault/tool-error", "fault/tool-throw", "abort/denied-call"] {
            let plan = plan(name, dialect);
            let run = run(&plan);
            assert_eq!(judged(&plan, &run).verdict, Verdict::Pass, "{name}");
            let unrun = without(
                &run,
                |_, event| matches!(event, Event::ToolSettled { outcome, .. } if !outcome.is_success()),
            );
            // The words of this failure do not show that it is one, so without an error flag they look made
            // up.
            let has_flag =
                matches!(dialect, Dialect::AnthropicMessages | Dialect::Gemini | Dialect::BedrockConverse);
            if name == "fault/tool-error" && !has_flag {
                expect_failure(&plan, &unrun, "success-honest", &[&lie("b")]);
            } else {
                expect_unaccused(&plan, &unrun, Verdict::Vacuous);
            }
        }
    }
}

#[test]
fn a_question_about_an_unknown_call_is_the_adapters_fault_and_a_missing_one_the_systems() {
    for plan in on_each("approval/batch#b=pay,c=refund") {
        let run = run(&plan);
        assert_eq!(judged(&plan, &run).verdict, Verdict::Pass);
        let unnamed = rebuilt(&run, |_, event| match event.clone() {
            Event::Asked { question, .. } => {
                vec![Event::Asked { question, id: "my-own-1".to_owned(), call: None }]
            }
            Event::Answered { question, consent, .. } => {
                vec![Event::Answered { question, call: None, consent }]
            }
            event => vec![event],
        });
        let judgement = judged(&plan, &unnamed);
        assert_eq!(judgement.verdict, Verdict::HarnessError, "{judgement:?}");
        assert!(judgement.reason.unwrap().contains("unknown call `my-own-1`"));
        let unasked = without(&run, |_, event| matches!(event, Event::Asked { .. } | Event::Answered { .. }));
        let judgement = judged(&plan, &unasked);
        assert_eq!(judgement.verdict, Verdict::Fail, "{judgement:?}");
        let found = judgement.findings.iter().find(|finding| finding.check == "consent-given").unwrap();
        assert_eq!(found.got, "a run before the user was asked");
    }
}

#[test]
fn an_agent_that_is_dead_after_the_stop_fails() {
    for plan in on_each("abort/mid-batch#k=1") {
        let run = rebuilt(&run(&plan), |turn, event| match event {
            Event::Prompted { .. } | Event::TurnEnded { .. } => vec![event.clone()],
            _ if turn == 0 => vec![event.clone()],
            _ => Vec::new(),
        });
        expect_failure(&plan, &run, "thread-survives", &[IDLE]);
    }
}

#[test]
fn follow_ups_that_wipe_the_thread_and_leave_the_tools_out_fail() {
    for dialect in Dialect::ALL {
        let plan = plan("abort/mid-batch#k=1", dialect);
        let wiped = |_| vec![words(dialect, "user", "hi")];
        let run = with_later_messages(&run(&plan), Some(RequestKind::Auxiliary), wiped);
        expect_failure(&plan, &run, "thread-survives", &[IDLE]);
    }
}

#[test]
fn a_turn_that_raises_without_a_fault_fails() {
    for dialect in Dialect::ALL {
        for (name, words) in [
            ("fault/pause#p=text-1", "TypeError: boom"),
            (
                "reorder/error-before-call",
                "TypeError: boom (in this turn, the tool of call b returned an error)",
            ),
        ] {
            let plan = plan(name, dialect);
            let run = with_first_outcome(&run(&plan), raised());
            expect_failure(&plan, &run, "thread-survives", &[words]);
        }
    }
}

#[test]
fn an_agent_that_gives_up_at_a_pause_and_returns_fails() {
    for plan in on_each("fault/pause#p=text-1") {
        let without = |run: &Run, is_dropped: fn(&Event) -> bool| {
            rebuilt(run, |turn, event| match turn {
                0 if is_dropped(event) => Vec::new(),
                _ => vec![event.clone()],
            })
        };
        let idle = without(&run(&plan), |event| matches!(event, Event::ToolSettled { .. }));
        expect_failure(&plan, &idle, "thread-survives", &["call a never finished"]);
        let is_second = |event: &Event| matches!(event, Event::Requested { exchange: ExchangeId(1), .. });
        let left = without(&run(&plan), is_second);
        expect_failure(&plan, &left, "thread-survives", &["reply 2 was never requested"]);
    }
}

#[test]
fn a_call_that_is_sent_twice_under_two_ids_has_two_results() {
    for dialect in Dialect::ALL {
        let plan = plan("control/plain-batch", dialect);
        let list = list_of(dialect);
        let messages_of = |body: &[u8]| serde_json::from_slice::<Value>(body).unwrap()[list].clone();
        let original = run(&plan);
        let own = requests_of(&with_own_ids(&plan, &original));
        let kept = requests_of(&original);
        let (own, kept) = (messages_of(&own[2]), messages_of(&kept[2]));
        let (own, kept) = (own.as_array().unwrap(), kept.as_array().unwrap());
        // The step with its results, without the user's message before it and the messages after it.
        let end = kept.len() - 2;
        let mut again = own[1..end].to_vec();
        // The provider rejects an item of its own that comes twice; here the calls come twice.
        again.iter_mut().filter_map(Value::as_object_mut).for_each(|item| drop(item.remove("id")));
        let twice = [&kept[..end], again.as_slice(), &kept[end..]].concat();
        let told_twice = with_later_messages(&original, None, |_| twice.clone());
        let wrong = "call a has more than one result in one request";
        expect_failure(&plan, &told_twice, "results-once", &[wrong]);
        let of_results = |finding: &&Finding| finding.check == "results-once";
        let found = judged(&plan, &told_twice).findings.iter().find(of_results).map(|it| it.severity);
        assert_eq!(found, Some(Severity::ResultsRepeated));
    }
}

#[test]
fn a_batch_whose_results_are_swapped_fails() {
    for plan in on_each("control/plain-batch") {
        let [a, b] = ["a", "b"].map(|name| plan.calls[key(&plan, name).0 as usize].outcome.text().to_owned());
        let swap = |body: &str| body.replace(&a, "@@").replace(&b, &a).replace("@@", &b);
        let gone = |name| format!("the last request does not contain what the tool of call {name} returned");
        let run = with_bodies(&run(&plan), swap);
        expect_failure(&plan, &run, "results-kept", &[&gone("a"), &gone("b")]);
    }
}

/// The same run by a system that puts a reminder before the user's first message, and changes it from turn 2
/// on.
fn with_changing_reminder(run: &Run) -> Run {
    rebuilt(run, |turn, event| {
        let Event::Requested { body, .. } = event else { return vec![event.clone()] };
        let mut body: Value = serde_json::from_slice(body).expect("a request is JSON");
        let first = &mut body["messages"][0]["content"];
        let said = match first.take() {
            Value::String(text) => json!([{ "type": "text", "text": text }]),
            blocks => blocks,
        };
        let reminder = if turn == 0 { "Be brief.\n" } else { "Be brief." };
        let mut blocks = vec![json!({ "type": "text", "text": reminder })];
        blocks.extend(said.as_array().expect("a message has blocks").iter().cloned());
        *first = blocks.into();
        vec![with_body(event, body.to_string().into_bytes())]
    })
}

#[test]
fn text_directly_before_a_users_message_may_change_at_the_break_of_a_turn() {
    let is_found = |name: &str| {
        let plan = plan(name, Dialect::AnthropicMessages);
        let judgement = judged(&plan, &with_changing_reminder(&run(&plan)));
        judgement.findings.iter().any(|finding| finding.check == "prefix-stable")
    };
    assert!(!is_found("abort/in-text#p=headers"));
    assert!(is_found("control/plain-batch"));
}

#[test]
fn results_that_are_sent_as_text_count_as_kept() {
    for dialect in Dialect::ALL {
        let plan = plan("control/plain-batch", dialect);
        let results: Vec<&str> = plan.calls.iter().map(|call| call.outcome.text()).collect();
        let told = |telling: String| {
            with_later_messages(&run(&plan), None, |turn| {
                vec![
                    words(dialect, "user", &plan.turns[0].user),
                    words(dialect, "assistant", &telling),
                    words(dialect, "user", &plan.turns[turn].user),
                ]
            })
        };
        // Only the provider's cache is lost.
        let judgement = judged(&plan, &told(format!("I looked: {}", results.join(", "))));
        let found: Vec<&str> = judgement.findings.iter().map(|finding| finding.check).collect();
        assert_eq!(found, ["prefix-stable"], "{judgement:?}");
        // A turn that raised is not a turn without a fault.
        let raised = rebuilt(&told(format!("I looked: {}", results.join(", "))), |turn, event| match event {
            Event::TurnEnded { .. } if turn == 0 => {
                let outcome = TurnOutcome::Raised { class: "Error".into(), text: "It broke.".into() };
                vec![Event::TurnEnded { outcome }]
            }
            event => vec![event.clone()],
        });
        let found: Vec<&str> = judged(&plan, &raised).findings.iter().map(|finding| finding.check).collect();
        assert!(!found.is_empty() && !found.contains(&"prefix-stable"), "{found:?}");
        let gone = "the last request does not contain what the tool of call c returned";
        let untold = told(format!("I looked: {}", results[..2].join(", ")));
        expect_failure(&plan, &untold, "results-kept", &[gone]);
    }
}

#[test]
fn an_integer_in_place_of_an_equal_float_is_the_same_argument() {
    for dialect in Dialect::ALL {
        let edits = [("key: a }", "key: 10.0 }"), ("key: b }", "key: 1.5 }"), ("key: c }", "key: 2.5 }")];
        let plan = edited("control/plain-batch", &edits, dialect);
        let given = |number: &'static str| {
            rebuilt(&run(&plan), move |_, event| match event {
                Event::ToolStarted { call, args } => {
                    vec![Event::ToolStarted { call: *call, args: args.replace("10.0", number) }]
                }
                event => vec![event.clone()],
            })
        };
        expect_unaccused(&plan, &given("10"), Verdict::Pass);
        let wrong = "call a ran with arguments that the model never gave";
        expect_failure(&plan, &given("11"), "arguments-complete", &[wrong]);
        expect_failure(&plan, &given("\"10\""), "arguments-complete", &[wrong]);
    }
}

#[test]
fn a_system_with_its_own_ids_must_keep_the_order_of_the_calls() {
    for plan in on_each("abort/mid-batch#k=1") {
        expect_unaccused(&plan, &with_own_ids(&plan, &run(&plan)), Verdict::Pass);
        let run = with_own_ids(&plan, &run_canary(&plan, crate::plans::canary("calls-reordered")));
        let message = "the calls are not in the order in which the model made them";
        expect_failure(&plan, &run, "order-kept", &[message]);
    }
}

#[test]
fn a_system_with_its_own_ids_must_report_outcomes_honestly() {
    for plan in on_each("abort/mid-batch#k=1") {
        let run = with_own_ids(&plan, &run_canary(&plan, crate::plans::canary("success-invented")));
        expect_failure(&plan, &run, "success-honest", &[&lie("a"), &lie("c")]);
    }
}

#[test]
fn a_success_invented_for_a_deaf_tool_is_found() {
    let invented: [(&str, &[&str]); 3] = [("k=0", &["a", "b", "c"]), ("k=1", &["a", "c"]), ("k=2", &["c"])];
    for dialect in Dialect::ALL {
        for (variant, names) in invented {
            let plan = plan(&format!("abort/deaf-tools#{variant}"), dialect);
            let run = run_canary(&plan, crate::plans::canary("success-invented"));
            let lies: Vec<String> = names.iter().map(|name| lie(name)).collect();
            let lies: Vec<&str> = lies.iter().map(String::as_str).collect();
            expect_failure(&plan, &run, "success-honest", &lies);
        }
    }
}

fn lie(name: &str) -> String {
    format!("call {name} did not succeed, but its result does not say so")
}

#[test]
fn a_users_message_may_be_trimmed_but_not_cut() {
    for dialect in Dialect::ALL {
        let line = "  - user: Look up the three orders.";
        let block = "  - user: |\n      Look up the three orders.";
        let plan = edited("control/plain-batch", &[(line, block)], dialect);
        let run = run(&plan);
        let trimmed = with_bodies(&run, |body| body.replace("orders.\\n", "orders."));
        expect_unaccused(&plan, &trimmed, Verdict::Pass);
        let cut = with_bodies(&run, |body| body.replace("three orders.\\n", "three"));
        let wrong = "the user's message of turn 1 is missing from the last request";
        expect_failure(&plan, &cut, "user-message-kept", &[wrong]);
    }
}

#[test]
fn a_deaf_tool_of_a_stopped_turn_may_be_shown_as_ended_late_or_never() {
    for plan in on_each("reorder/late-result") {
        let deaf = key(&plan, "c");
        let id = plan.calls[deaf.0 as usize].id.clone();
        let shown_over_with_its_result = rebuilt(&run(&plan), |_, event| match event {
            Event::CallShown { id: shown, state } if *shown == id && state.is_final() => Vec::new(),
            Event::ToolSettled { call, .. } if *call == deaf => {
                vec![event.clone(), Event::CallShown { id: id.clone(), state: ShownState::Completed }]
            }
            event => vec![event.clone()],
        });
        expect_unaccused(&plan, &shown_over_with_its_result, Verdict::Pass);
        let never_shown_over = without(
            &run(&plan),
            |_, event| matches!(event, Event::CallShown { id: shown, state } if *shown == id && state.is_final()),
        );
        // The user has stopped the turn, and the client has marked the call as cancelled by itself.
        expect_unaccused(&plan, &never_shown_over, Verdict::Pass);
    }
}

#[test]
fn a_server_that_is_down_does_not_make_a_turn_that_returned() {
    for dialect in Dialect::ALL {
        for name in ["fault/server-down#reply=1", "fault/server-down#reply=2"] {
            let plan = plan(name, dialect);
            let run = run(&plan);
            expect_unaccused(&plan, &run, Verdict::Pass);
            let message =
                "the last reply ended with an HTTP error, but the turn returned as if it were complete";
            let run = with_first_outcome(&run, TurnOutcome::Returned);
            expect_failure(&plan, &run, "truncation-noticed", &[message]);
        }
    }
}

#[test]
fn a_missing_end_after_the_stop_reason_matters_only_if_clients_wait_for_it() {
    let edits = [
        ("after: { text: 1 }, do: $fault", "after: stop, do: end-early"),
        ("vary:\n  fault: [reset, eof, end-early, { error: overloaded }]\n", ""),
    ];
    for dialect in Dialect::ALL {
        let plan = edited("fault/second-step", &edits, dialect);
        // If nothing follows the stop reason, there is no such plan.
        let ends_with_stop = matches!(dialect, Dialect::OpenaiResponses | Dialect::Gemini);
        assert_eq!(plan.impossible.is_some(), ends_with_stop, "{dialect}");
        if ends_with_stop {
            continue;
        }
        let run = run_canary(&plan, crate::plans::canary("truncation-swallowed"));
        match dialect {
            Dialect::AnthropicMessages => {
                let message = "the last reply ended without its terminal event, but the turn returned as if it were complete";
                expect_failure(&plan, &run, "truncation-noticed", &[message]);
                // The model had said everything, so the user loses nothing.
                let judgement = judged(&plan, &run);
                let severities: Vec<Severity> = judgement.findings.iter().map(|it| it.severity).collect();
                assert_eq!(severities, [Severity::EndAssumed]);
            }
            _ => expect_unaccused(&plan, &run, Verdict::Pass),
        }
    }
}

#[test]
fn two_dozen_surplus_requests_in_a_quiet_turn_are_too_many() {
    for plan in on_each("control/plain-batch") {
        let surplus = |n_surplus: u32| {
            rebuilt(&run(&plan), move |turn, event| match event {
                Event::Requested { body, .. } if turn == 1 => {
                    let numbers = (100..100 + n_surplus).map(ExchangeId);
                    let asked = numbers.flat_map(|number| asked(number, RequestKind::Surplus, body.to_vec()));
                    std::iter::once(event.clone()).chain(asked).collect()
                }
                event => vec![event.clone()],
            })
        };
        let wrong = "the turn sends far more requests than it needs";
        expect_failure(&plan, &surplus(24), "requests-bounded", &[wrong]);
        expect_unaccused(&plan, &surplus(1), Verdict::Pass);
    }
}

#[test]
fn a_request_for_the_list_of_models_is_not_a_finding() {
    for plan in on_each("control/plain-batch") {
        let run = rebuilt(&run(&plan), |_, event| match event {
            Event::Prompted { .. } => {
                let look = asked(ExchangeId(99), RequestKind::Auxiliary, Vec::new());
                std::iter::once(event.clone()).chain(look).collect()
            }
            event => vec![event.clone()],
        });
        expect_unaccused(&plan, &run, Verdict::Pass);
    }
}

/// The bodies of a run's requests.
fn requests_of(run: &Run) -> Vec<Vec<u8>> {
    let body = |event: &Event| match event {
        Event::Requested { body, .. } => Some(body.to_vec()),
        _ => None,
    };
    run.trace.events().iter().filter_map(body).collect()
}

/// A request that is answered.
fn asked(exchange: ExchangeId, kind: RequestKind, body: Vec<u8>) -> [Event; 2] {
    let requested = Event::requested(exchange, kind, body);
    [requested, Event::Replied { exchange, ending: Ending::Complete }]
}

#[test]
fn a_system_of_width_one_never_starts_three_tools_at_once() {
    let edits = [("settled: $k", "started: 3"), ("vary: { k: [0, 1, 2, 3] }\n", "")];
    for dialect in Dialect::ALL {
        let plan = edited("abort/mid-batch", &edits, dialect);
        expect_unaccused(&plan, &run(&plan), Verdict::Pass);
        let mut unstopped = run(&Arc::new(lower::control(&plan)));
        unstopped.receipts = run(&plan).receipts;
        unstopped.receipts.iter_mut().for_each(|receipt| receipt.fired = false);
        let judgement = judged_within(
            &plan,
            &unstopped,
            Concurrency { max_parallel_tools: 1, eager: true, is_refused: false },
        );
        assert_eq!(judgement.verdict, Verdict::Unreachable, "{judgement:#?}");
        let judgement = judged(&plan, &unstopped);
        assert_eq!(judgement.verdict, Verdict::Vacuous, "{judgement:#?}");
    }
}

#[test]
fn a_tool_that_is_given_up_when_another_one_fails_never_settles() {
    let planned = "- { after: { settled: $k }, do: abort }";
    // If none fails, nothing explains that the others were given up.
    for (tool, expected) in [("fails", Verdict::Unreachable), ("returns", Verdict::Vacuous)] {
        for dialect in Dialect::ALL {
            let tool = format!("broken: {{ {tool}: ");
            let of = |action: &str| {
                let edits = [("vary: { k: [1, 2] }\n", ""), ("broken: { fails: ", &tool), (planned, action)];
                edited("abort/after-failed-tool", &edits, dialect)
            };
            // A system that reacts to a failed tool by itself does what ours does when it is stopped there.
            let stopped = run(&of("- { after: { settled: 1 }, do: abort }"));
            let without_stop = |_, event: &Event| match event {
                Event::Stopped => Vec::new(),
                event => vec![event.clone()],
            };
            let mut given_up = rebuilt(&stopped, without_stop);
            let plan = of("- { after: { settled: 3 }, do: kill }");
            given_up.receipts = run(&plan).receipts;
            assert!(given_up.receipts[0].fired);
            given_up.receipts[0].fired = false;
            let judgement = judged(&plan, &given_up);
            assert_eq!(judgement.verdict, expected, "{judgement:#?}");
        }
    }
}

#[test]
fn a_question_that_comes_after_the_end_is_not_left_open() {
    for dialect in Dialect::ALL {
        let plan = edited("approval/kill-while-asked", &[], dialect);
        let asked = run(&plan);
        assert!(asked.receipts.iter().all(|receipt| receipt.fired), "{:#?}", asked.receipts);
        let unasked = without(&asked, |_, event| matches!(event, Event::Asked { .. }));
        let verdict = |mut run: Run| {
            let ignored = run.receipts.iter_mut().find(|receipt| receipt.what == Action::Ignore);
            ignored.unwrap().fired = false;
            judged(&plan, &run).verdict
        };
        assert_eq!(verdict(unasked), Verdict::Unreachable);
        // A system that was asked in time could have left the question open.
        assert_eq!(verdict(asked), Verdict::Vacuous);
    }
}

#[test]
fn a_finding_beyond_the_played_part_of_a_plan_does_not_count() {
    for plan in on_each("approval/kill-while-asked") {
        let mut run = run_canary(&plan, crate::plans::canary("asked-kill-loses-siblings"));
        let found = judged(&plan, &run).findings;
        assert!(found.iter().any(|finding| finding.check == "results-kept"), "{found:#?}");
        // Only the kill, without the question that was to be open then; and nothing at all.
        for (ignored, killed) in [(false, true), (false, false)] {
            (run.receipts[0].fired, run.receipts[1].fired) = (ignored, killed);
            expect_unaccused(&plan, &run, Verdict::Vacuous);
        }
        // A later missing action does not undo what the first one has proven.
        (run.receipts[0].fired, run.receipts[1].fired) = (true, false);
        let judgement = judged(&plan, &run);
        // The kill did not happen.
        let asked = |finding| Finding { trigger: Trigger::Approval, ..finding };
        let found: Vec<Finding> = found.into_iter().map(asked).collect();
        assert_eq!((judgement.verdict, judgement.findings), (Verdict::Fail, found));
    }
}

#[test]
fn an_http_fault_at_the_second_reply_is_not_proven_by_one_at_the_first() {
    let planned = "      - { reply: 2, before: headers, do: { http: { status: 429 } } }";
    let both = "      - { reply: 1, before: headers, do: { http: { status: 529, times: 9 } } }\n      \
                - { reply: 2, before: headers, do: { http: { status: 500 } } }";
    for dialect in Dialect::ALL {
        let plan = edited("retry/rate-limited", &[(planned, both)], dialect);
        let run = run(&plan);
        let fired: Vec<bool> = run.receipts.iter().map(|receipt| receipt.fired).collect();
        assert_eq!(fired, [true, false], "{:#?}", run.receipts);
        let judgement = judged(&plan, &run);
        assert_eq!(judgement.verdict, Verdict::Unreachable, "{judgement:#?}");
    }
}

fn in_one_piece(dialect: Dialect) -> bool {
    matches!(dialect, Dialect::Gemini | Dialect::Mistral)
}

#[test]
fn a_fault_inside_a_body_that_came_in_one_piece_is_not_proven() {
    // If a call arrives in one piece, there is no such plan.
    for dialect in Dialect::ALL.into_iter().filter(|dialect| !in_one_piece(*dialect)) {
        let plan = plan("abort/in-arguments#p=delta-a-1", dialect);
        let run = run_whole(&plan);
        assert!(run.receipts.iter().all(|receipt| !receipt.fired), "{:#?}", run.receipts);
        expect_unaccused(&plan, &run, Verdict::Vacuous);
    }
}

#[test]
fn a_result_sent_early_to_end_a_stopped_turn_is_not_a_finding() {
    for plan in on_each("reorder/late-result") {
        let deaf = key(&plan, "c");
        let original = run(&plan);
        let is_settling = |event: &&Event| matches!(event, Event::ToolSettled { call, .. } if *call == deaf);
        let settling = original.trace.events().iter().find(is_settling).cloned();
        let mut waited = rebuilt(&original, |turn, event| match event {
            Event::TurnEnded { .. } if turn == 0 => settling.iter().chain([event]).cloned().collect(),
            event if is_settling(&event) => Vec::new(),
            event => vec![event.clone()],
        });
        waited.receipts[1].fired = false;
        expect_unaccused(&plan, &waited, Verdict::Unreachable);
    }
}

#[test]
fn a_scripted_tool_that_the_request_does_not_offer_is_an_error_of_the_harness() {
    for plan in on_each("control/plain-batch") {
        let good = run(&plan);
        expect_unaccused(&plan, &good, Verdict::Pass);
        // The same system, driven as if it put a prefix before the names of its tools.
        let prefixed = plan.with_tool_names(|tool| format!("brickbat_{tool}"));
        let offered = "offers `lookup`";
        expect_harness_error(&prefixed, &good, &["the tool `brickbat_lookup`", "turn 1 request 1", offered]);
        // A system whose requests offer the scripted tools, together with tools of its own.
        let renamed =
            with_bodies(&good, |body| body.replace(r#""name":"lookup""#, r#""name":"brickbat_lookup""#));
        expect_unaccused(&prefixed, &renamed, Verdict::Pass);
        expect_harness_error(&plan, &renamed, &["the tool `lookup`", "offers `brickbat_lookup`"]);
    }
}
