//! The result of lowering a valid scenario.

use std::collections::BTreeSet;

use brickbat_rules::dialect::Dialect;
use brickbat_scenario::action::Action;
use brickbat_scenario::lower::{control, plans};
use brickbat_scenario::plan::{CallKey, Mark, Plan, PlannedPoint, ScriptBlock, Side, ToolOutcome};
use brickbat_scenario::scenario::Need;
use brickbat_scenario::wire::{self, Envelope, Tokens};
use brickbat_search::explore::Base;
use serde_json::json;

const MID_BATCH: &str = include_str!("scenarios/mid-batch.yaml");
const PLAIN_BATCH: &str = include_str!("scenarios/plain-batch.yaml");
const RESET: &str = include_str!("scenarios/reset-in-stream.yaml");

fn lowered(id: &str, text: &str) -> Vec<Plan> {
    plans(id, "scenario.yaml", text, &Dialect::ALL, 7).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn every_variant_is_lowered_on_every_dialect() {
    let plans = lowered("abort/mid-batch", MID_BATCH);
    let ids: Vec<String> = plans.iter().map(|plan| plan.id.to_string()).collect();
    assert_eq!(ids.len(), 4 * Dialect::ALL.len());
    assert_eq!(ids[Dialect::ALL.len()], "abort/mid-batch#k=1@anthropic-messages");
    let words: Vec<&str> = plans.iter().map(|plan| plan.turns[0].actions[0].words.as_str()).collect();
    assert_eq!(words[words.len() - 1], "abort after settled 3");
}

#[test]
fn a_plan_contains_what_its_scenario_says() {
    let plan = &lowered("abort/mid-batch", MID_BATCH)[Dialect::ALL.len()];
    assert_eq!((plan.seed, plan.tools.len(), plan.calls.len(), plan.turns.len()), (7, 1, 3, 3));
    assert_eq!((plan.tools[0].name.as_str(), plan.tools[0].deaf), ("lookup", false));
    assert_eq!(plan.tools[0].params, [("key".to_owned(), "string")]);
    // Ids and markers are in stored reports, so they never change.
    let minted = [
        ("a", "toolu_01qw2AduG6n3QhGe3JfHWpdM", "a-dj6a2l"),
        ("b", "toolu_01vcPOQ77CRsgIWZceyBsQU2", "b-ptwigt"),
        ("c", "toolu_01yDEHrkMTICg2mIiNtNBETK", "c-nca1dd"),
    ];
    for (call, (name, id, marker)) in plan.calls.iter().zip(minted) {
        assert_eq!((call.name.as_str(), call.id.as_str(), call.marker.as_str()), (name, id, marker));
        assert_eq!(call.args, json!({ "key": name, "ref": marker }));
        let first = format!("{{\"key\":\"{name}");
        assert_eq!(call.deltas, [&first, "\",\"ref\":\"", &format!("{marker}\"}}")]);
        assert_eq!(call.outcome, ToolOutcome::Return(format!("found {name} [{marker}]")));
        assert_eq!((call.tool.as_str(), call.deaf, call.asks, call.given), ("lookup", false, false, false));
        assert_eq!((call.turn, call.reply, call.attempt), (0, 0, 0));
    }
    let [first, second, third] = &plan.turns[..] else { panic!("{:?}", plan.turns) };
    let [action] = &first.actions[..] else { panic!("{:?}", first.actions) };
    assert_eq!((&action.what, &action.at), (&Action::Abort, &PlannedPoint::SettledCount(1)));
    assert_eq!(
        (action.words.as_str(), &first.settle[..]),
        ("abort after settled 1", &[1, 0, 2].map(CallKey)[..])
    );
    assert!(second.actions.is_empty() && third.actions.is_empty());
    let texts = [
        ("Let me loo", "k these up."),
        ("Some of them", " were found."),
        ("There is nothi", "ng left to do."),
    ];
    let users = [("Look up the three orders.", false), ("What happened?", false), ("Go on.", true)];
    for (turn, (text, user)) in plan.turns.iter().zip(texts.into_iter().zip(users)) {
        assert_eq!((turn.user.as_str(), turn.follow_up, turn.process), (user.0, user.1, 1));
        let [reply] = &turn.replies[..] else { panic!("{turn:?}") };
        let [script] = &reply.attempts[..] else { panic!("{turn:?}") };
        assert_eq!(script.blocks[0], ScriptBlock::Text(vec![text.0.to_owned(), text.1.to_owned()]));
        assert_eq!(script.blocks.len(), if turn.actions.is_empty() { 1 } else { 4 });
        assert!(!script.interleave && script.stop.is_none() && script.indices.is_none());
    }
}

#[test]
fn the_same_input_gives_the_same_plans() {
    assert_eq!(lowered("abort/mid-batch", MID_BATCH), lowered("abort/mid-batch", MID_BATCH));
    let other = plans("abort/mid-batch", "x", MID_BATCH, &Dialect::ALL, 8).unwrap();
    assert_ne!(lowered("abort/mid-batch", MID_BATCH)[0].calls, other[0].calls);
}

#[test]
fn variants_are_named_after_their_values() {
    let names = |text| {
        let mut names: Vec<String> = lowered("x", text).into_iter().map(|plan| plan.id.variant).collect();
        names.dedup();
        names
    };
    assert_eq!(names(PLAIN_BATCH), ["order=a-b-c", "order=c-b-a", "order=b-c-a"]);
    let words = &lowered("x", RESET)[3 * Dialect::ALL.len()].turns[0].actions[0].words;
    assert_eq!(words, "reset after delta a 2 of reply 1");
    assert_eq!(names(RESET)[..4], ["point=headers", "point=text-1", "point=start-a", "point=delta-a-2"]);
}

#[test]
fn a_failed_attempt_is_followed_by_one_with_calls_of_its_own() {
    let plan = &lowered("fault/reset-in-stream", RESET)[0];
    assert_eq!(plan.turns[0].replies[0].attempts.len(), 2);
    let named: Vec<_> = plan.calls_named("a").map(|key| &plan.calls[key.0 as usize]).collect();
    assert_eq!(named.iter().map(|call| call.attempt).collect::<Vec<_>>(), [0, 1]);
    assert_ne!(named[0].id, named[1].id);
    assert_ne!(named[0].marker, named[1].marker);
    let order: Vec<&str> =
        plan.turns[0].settle.iter().map(|key| plan.calls[key.0 as usize].name.as_str()).collect();
    assert_eq!(order, ["a", "a", "b", "b"]);
    assert_eq!(plan.needs, [Need::Streaming]);
}

#[test]
fn a_control_plan_is_the_plan_without_its_faults() {
    for plan in lowered("fault/reset-in-stream", RESET) {
        let control = control(&plan);
        assert!(control.id.control && control.id.to_string().ends_with("+control"));
        assert!(control.turns.iter().all(|turn| turn.actions.is_empty()));
        assert!(control.turns.iter().flat_map(|turn| &turn.replies).all(|reply| reply.attempts.len() == 1));
        assert_eq!(control.calls, plan.calls[..2]);
        assert_eq!(control.turns[0].settle.len(), 2);
        assert!(control.executed.is_empty());
    }
}

#[test]
fn two_turns_follow_a_fault_and_one_a_plain_conversation() {
    let follow_ups = |text| {
        let plan = lowered("x", text).remove(0);
        let added = plan.turns.iter().filter(|turn| turn.follow_up).count();
        (plan.turns.len(), added)
    };
    assert_eq!(follow_ups(MID_BATCH), (3, 1));
    assert_eq!(follow_ups(RESET), (3, 2));
    assert_eq!(follow_ups(PLAIN_BATCH), (2, 1));
    let said = MID_BATCH.replace("What happened?", "Go on.");
    assert_eq!(lowered("x", &said)[0].turns[2].user, "Anything else?");
}

#[test]
fn three_calls_with_three_deltas_have_41_points() {
    let variants = brickbat_scenario::parse::parse("plain-batch.yaml", PLAIN_BATCH)
        .unwrap_or_else(|error| panic!("{error}"));
    let ground = Base::of("plain-batch", &variants[0].scenario, 0).ground(Dialect::AnthropicMessages);
    let kills = ground.injections.iter().filter(|injection| injection.at.action == Action::Kill);
    let points: Vec<String> = kills.filter(|kill| kill.turn == 0).map(|injection| injection.name()).collect();
    // Reply 1: headers on both sides, 2 fragments, 3 calls of 5 marks each, calls, stop, reply: 22.
    // Reply 2: headers on both sides, 2 fragments, stop, reply: 6.
    // Tools: 3 starts, 3 counts of starts, 4 counts of results, 3 results to come: 13.
    assert_eq!(points.len(), 41);
    assert_eq!(points.iter().collect::<BTreeSet<_>>().len(), points.len(), "{points:#?}");
}

#[test]
fn the_needs_of_an_action_are_derived() {
    let needs = |at: &str| {
        let text = PLAIN_BATCH
            .replace("    settle: $order", &format!("    at: [{at}]"))
            .replace("  order: [[a, b, c], [c, b, a], [b, c, a]]", "  {}");
        lowered("x", &text).remove(0).needs
    };
    assert_eq!(needs("{ after: { settled: 1 }, do: abort }"), [Need::Cancel]);
    assert_eq!(needs("{ after: { text: 1 }, do: stall }"), [Need::Cancel, Need::Streaming]);
    assert_eq!(needs("{ after: { settled: 1 }, do: kill }"), [Need::Resume]);
    assert_eq!(needs("{ after: { text: 1 }, do: kill }"), [Need::Streaming, Need::Resume]);
    let eager = "{ after: { end: a }, do: { settle: a } }";
    assert_eq!(needs(eager), [Need::EagerTools, Need::Streaming]);
    assert_eq!(needs("{ before: headers, do: { http: { status: 529 } } }"), []);
}

#[test]
fn an_action_moves_a_call_to_its_point() {
    let order = |at: &str| {
        let text = PLAIN_BATCH
            .replace("    settle: $order", &format!("    at: [{at}]"))
            .replace("  order: [[a, b, c], [c, b, a], [b, c, a]]", "  {}");
        let plan = lowered("x", &text).remove(0);
        let names: Vec<String> =
            plan.turns[0].settle.iter().map(|key| plan.calls[key.0 as usize].name.clone()).collect();
        names.join(" ")
    };
    assert_eq!(order("{ after: { settled: c }, do: { settle: a } }"), "b c a");
    assert_eq!(order("{ before: { settled: a }, do: { settle: c } }"), "c a b");
    assert_eq!(order("{ after: { settled: 1 }, do: { settle: c } }"), "a c b");
    assert_eq!(order("{ after: { end: c }, do: { settle: c } }"), "c a b");
}

#[test]
fn before_a_count_means_after_the_previous_one() {
    let text = MID_BATCH.replace("after: { settled: $k }", "before: { settled: $k }").replace("0, 1", "1");
    let plan = lowered("x", &text).remove(0);
    assert_eq!(plan.turns[0].actions[0].at, PlannedPoint::SettledCount(0));
    assert_eq!(plan.turns[0].actions[0].what, Action::Abort);
    assert_eq!(plan.turns[0].actions[0].words, "abort before settled 1");
    let named =
        MID_BATCH.replace("after: { settled: $k }", "before: { settled: $k }").replace("0, 1, 2, 3", "c");
    let plan = lowered("x", &named).remove(0);
    assert!(matches!(plan.turns[0].actions[0].at, PlannedPoint::Settled(_, Side::Before)));
}

#[test]
fn json_is_yaml_and_shared_blocks_may_be_named() {
    let json = r#"{"schema": 1, "comment": "x", "class": ["a"], "tools": {"t": {"returns": "r"}},
        "turns": [{"user": "u", "replies": [[{"call": {"as": "a", "tool": "t"}}]]}]}"#;
    assert_eq!(lowered("x", json).len(), Dialect::ALL.len());
    let yaml = "schema: 1\ncomment: x\nclass: [a]\ntools: { t: &t { fails: r }, u: *t }\nturns:\n  \
                - { user: u, replies: [[{ call: { as: a, tool: u } }]] }\n";
    assert_eq!(lowered("x", yaml)[0].calls[0].outcome.text(), "r");
}

#[test]
fn marks_come_in_the_order_of_the_encoder() {
    let interleaved = r#"{"schema": 1, "comment": "x", "class": ["a"], "tools": {"t": {"returns": "r"}},
        "turns": [{"user": "u", "replies": [{"interleave": true, "blocks": [
            {"call": {"as": "a", "tool": "t", "deltas": 1}}, {"text": "And then the others."},
            {"call": {"as": "b", "tool": "t", "deltas": 4}}, {"call": {"as": "c", "tool": "t", "deltas": 2}}]}]}]}"#;
    for plan in [interleaved, PLAIN_BATCH, RESET].into_iter().flat_map(|text| lowered("x", text)) {
        let replies = plan.turns.iter().flat_map(|turn| &turn.replies);
        for script in replies.flat_map(|reply| &reply.attempts) {
            let envelope = Envelope { id: "1", model: "m", usage: true, tokens: Tokens::PLANNED };
            let encoded = wire::encode_stream(plan.dialect, &plan, script, envelope);
            let sent: Vec<Mark> = encoded.marks.iter().map(|(mark, _)| *mark).collect();
            let marks = wire::marks(plan.dialect, script, &plan.calls);
            assert_eq!((marks[0], &marks[1..]), (Mark::Headers, sent.as_slice()), "{}", plan.id);
            let is_last = encoded.frame_of(Mark::Stop).map(|frame| frame + 1) == Some(encoded.frames.len());
            assert_eq!(wire::of(plan.dialect).traits.ends_with_stop, is_last, "{}", plan.id);
        }
    }
}

/// Never silently green: a plan that a dialect cannot play gives the reason, and is played on the other
/// dialects.
#[test]
fn a_point_inside_a_call_is_impossible_if_calls_come_in_one_piece() {
    let mut n_impossible = 0;
    for plan in lowered("fault/reset-in-stream", RESET) {
        let in_one_piece = matches!(plan.dialect, Dialect::Gemini | Dialect::Mistral);
        let is_inside = plan.id.variant.contains("=start-") || plan.id.variant.contains("=delta-");
        match plan.impossible {
            Some(why) => {
                assert!(is_inside && in_one_piece, "{}", plan.id);
                assert!(why.contains(" sends a call in one piece, so there is no `reset after "), "{why}");
                n_impossible += 1;
            }
            None => assert!(!is_inside || !in_one_piece, "{}", plan.id),
        }
    }
    assert!(n_impossible > 0);
}

/// A stream with the stop reason in its last frame cannot end early after it.
#[test]
fn an_early_end_that_leaves_nothing_out_is_impossible() {
    // Before the terminal event, that event is left out, even if it contains the stop reason.
    let points = [("after: stop", true), ("before: reply", false)];
    for ((at, is_behind_all), dialect) in
        points.into_iter().flat_map(|at| Dialect::ALL.map(|dialect| (at, dialect)))
    {
        let impossible = |action: &str| {
            let text = PLAIN_BATCH
                .replace("    settle: $order", &format!("    at: [{{ {at}, do: {action} }}]"))
                .replace("  order: [[a, b, c], [c, b, a], [b, c, a]]", "  {}");
            let plans = lowered("x", &text);
            let plan = plans.into_iter().find(|plan| plan.dialect == dialect).unwrap();
            plan.impossible
        };
        let ends_with_stop = matches!(dialect, Dialect::OpenaiResponses | Dialect::Gemini);
        let expected = (ends_with_stop && is_behind_all).then(|| {
            let action = "end-early after stop of reply 1";
            format!("{dialect} ends its stream with the stop reason, so `{action}` would have no effect")
        });
        assert_eq!(impossible("end-early"), expected, "{dialect}");
        // A provider that has reported the reply as complete reports no error after it.
        let expected = (ends_with_stop && is_behind_all).then(|| {
            let action = "error overloaded after stop of reply 1";
            format!("{dialect} ends its stream with the stop reason, so `{action}` would never be sent")
        });
        assert_eq!(impossible("{ error: overloaded }"), expected, "{dialect}");
        // A connection that breaks there is still noticed.
        assert_eq!(impossible("reset"), None, "{dialect}");
    }
}

/// An open call and a nameless one without an id cannot be distinguished if neither has a number of its own.
#[test]
fn a_call_without_number_id_and_name_is_impossible_after_another() {
    let reason = |calls: &str, indices: &str| {
        let text = format!(
            "schema: 1\ncomment: c\nclass: [fuzzed]\ntools:\n  look: {{ returns: ok }}\n  odd: {{ missing: true, called: \"\" }}\n\
             turns:\n  - user: hi\n    replies:\n      - {{ attempts: [[{calls}]]{indices} }}\n      - - text: done\n"
        );
        let plans = brickbat_scenario::lower::plans("t", "t", &text, &[Dialect::OpenaiChat], 0).unwrap();
        plans[0].impossible.clone()
    };
    let (whole, odd) = ("{ call: { as: a, tool: look } }", "{ call: { as: b, tool: odd, id: missing } }");
    let (both, same) = (format!("{whole}, {odd}"), ", indices: same");
    let expected = "a call without number, id and name looks like a continuation of the previous call";
    assert_eq!(reason(&both, same).as_deref(), Some(expected));
    assert_eq!(reason(&both, ""), None, "with a number");
    assert_eq!(reason(&format!("{odd}, {whole}"), same), None, "before the other");
    assert_eq!(reason(&both.replace(", id: missing", ""), same), None, "with an id");
}

#[test]
fn a_call_that_settles_late_needs_a_turn_that_ends_before_its_result_is_due() {
    let text = |started: u32| {
        format!(
            "schema: 1
comment: A deaf tool settles in the turn after its own.
class: [non-coop-tool]
tools:
  lookup: {{ returns: ok }}
  book: {{ returns: ok, deaf: true }}
turns:
  - user: Do step 1.
    replies:
      - [{{ call: {{ as: a, tool: book }} }}]
      - [{{ call: {{ as: b, tool: lookup }} }}]
      - [{{ text: Done. }}]
    at:
      - {{ after: {{ started: {started} }}, do: abort }}
  - user: Do step 2.
    replies: [[{{ text: Done. }}]]
    at:
      - {{ after: {{ text: 1 }}, do: {{ settle: a }} }}
"
        )
    };
    assert!(plans("x", "x.yaml", &text(1), &[Dialect::OpenaiChat], 0).is_ok());
    // The second tool starts in a reply that is requested when the first has its result.
    let error = plans("x", "x.yaml", &text(2), &[Dialect::OpenaiChat], 0).unwrap_err();
    assert_eq!(error.message, "turn 1 does not end before `a` settles");
}

#[test]
fn a_call_whose_only_result_would_end_the_turn_does_not_settle_after_it() {
    let text = |other: &str, count: u32| {
        format!(
            "schema: 1
comment: A deaf tool settles in the turn after its own.
class: [non-coop-tool]
tools:
  lookup: {{ returns: ok }}
  unknown: {{ missing: true }}
  wait: {{ returns: ok, hangs: true }}
  book: {{ returns: ok, deaf: true }}
turns:
  - user: Do step 1.
    replies:
      - - call: {{ as: a, tool: {other} }}
        - call: {{ as: b, tool: book }}
      - [{{ call: {{ as: c, tool: lookup }} }}]
      - [{{ text: Done. }}]
    at:
      - {{ after: {{ settled: {count} }}, do: abort }}
  - user: Do step 2.
    replies: [[{{ text: Done. }}]]
    at:
      - {{ after: {{ text: 1 }}, do: {{ settle: b }} }}
"
        )
    };
    let lowered = |other, count| plans("x", "x.yaml", &text(other, count), &[Dialect::OpenaiChat], 0);
    assert!(lowered("lookup", 1).is_ok());
    // In the first reply, only the late call can have a result: the other is one that no system can run, or
    // it hangs.
    for (other, count) in [("unknown", 1), ("wait", 1), ("lookup", 2)] {
        let error = lowered(other, count).unwrap_err();
        assert_eq!(error.message, "turn 1 does not end before `b` settles", "{other}");
    }
}

#[test]
fn a_control_plan_plays_the_attempt_from_which_the_turn_continues() {
    let text = include_str!("../../corpora/accusations/attempt-without-calls.yaml");
    for plan in lowered("x", text) {
        let control = control(&plan);
        let replies = &control.turns[0].replies;
        assert_eq!(replies[0].attempts, [plan.turns[0].replies[0].attempts[1].clone()], "{}", plan.dialect);
        let calls = control.calls.iter().map(|call| (call.id.as_str(), call.attempt));
        assert_eq!(calls.collect::<Vec<_>>(), [(plan.calls[0].id.as_str(), 0)]);
        assert_eq!(control.turns[0].settle.len(), 1);
    }
}
