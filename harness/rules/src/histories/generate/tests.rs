use super::*;
use crate::{Profile, Severity, validate};

/// Conversations of each dialect that are compared with the validator.
const N_CONVERSATIONS: u64 = 3_000;

/// For each newest profile, the parts of a valid conversation that it rejects for a good reason. These are
/// profiles for compatible providers and for Mistral tokenizer versions.
const REFUSED_BY_RELATIVES: [(&str, &str); 4] = [
    // Text after the calls is a message between them and their outputs.
    ("deepseek-responses", "openai-responses/tool-outputs-interrupted"),
    // A sound conversation may have calls without thinking, and this provider thinks.
    ("deepseek-messages", "anthropic-messages/thinking-not-returned"),
    // A reply of the first tokenizers has text or calls, not both.
    ("mistral-v3", "mistral/content-and-calls"),
    // A user who writes twice, or an image after a result, is not followed by a reply.
    ("perplexity", "openai-chat/successive-roles"),
];

fn errors(profile: &'static Profile, body: &str) -> Vec<&'static str> {
    let violations = validate(profile, body.as_bytes()).into_iter();
    violations.filter(|violation| violation.severity == Severity::Error).map(|it| it.rule.id).collect()
}

fn is_refused(outline: &Outline) -> bool {
    let body = outline.history().request().body.to_string();
    !errors(Profile::newest(outline.dialect()), &body).is_empty()
}

/// A third of them is valid, a third repairable, a third broken.
fn judge_many(dialect: Dialect) {
    for number in 0..N_CONVERSATIONS {
        let history = Outline::numbered(dialect, number).history();
        let body = history.request().body.to_string();
        let errors = errors(Profile::newest(dialect), &body);
        let fault = history.fault;
        assert_eq!(fault.is_some(), !number.is_multiple_of(3));
        assert_eq!(!errors.is_empty(), fault.is_some(), "{dialect} {number} {fault:?}: {errors:?}\n{body}");
    }
}

#[test]
fn anthropic_accepts_sound_conversations_and_refuses_faulty_ones() {
    judge_many(Dialect::AnthropicMessages);
}

#[test]
fn chat_completions_accepts_sound_conversations_and_refuses_faulty_ones() {
    judge_many(Dialect::OpenaiChat);
}

#[test]
fn responses_accepts_sound_conversations_and_refuses_faulty_ones() {
    judge_many(Dialect::OpenaiResponses);
}

#[test]
fn gemini_accepts_sound_conversations_and_refuses_faulty_ones() {
    judge_many(Dialect::Gemini);
}

#[test]
fn converse_accepts_sound_conversations_and_refuses_faulty_ones() {
    judge_many(Dialect::BedrockConverse);
}

#[test]
fn mistral_accepts_sound_conversations_and_refuses_faulty_ones() {
    judge_many(Dialect::Mistral);
}

#[test]
fn every_newest_profile_accepts_sound_conversations_whether_the_user_goes_on_or_not() {
    for dialect in DIALECTS {
        let mut met = std::collections::BTreeSet::new();
        for number in 0..500 {
            let history = Outline::valid(dialect, &mut Seeded::new(number)).history();
            let ends_with_results = history.messages.last().is_some_and(|last| last.role == Role::Tool);
            let as_it_is = render(dialect, Some(history.model), &history.messages).body.to_string();
            let mut bodies = vec![history.request().body.to_string()];
            bodies.extend(ends_with_results.then_some(as_it_is));
            for profile in Profile::newest_of_each_name(dialect) {
                for body in &bodies {
                    met.extend(errors(profile, body).into_iter().map(|rule| (profile.undated(), rule)));
                }
            }
        }
        let known = REFUSED_BY_RELATIVES.iter().filter(|(_, rule)| rule.starts_with(dialect.name()));
        assert_eq!(met, known.copied().collect(), "{dialect}");
    }
}

/// The output of a call that the model does not wait for may come late or never, but not twice.
#[test]
fn an_async_call_of_any_conversation_is_answered_late_or_never_and_once() {
    let profile = Profile::newest(Dialect::OpenaiResponses);
    let mut n_calls = 0;
    for number in 0..500 {
        let history = Outline::valid(Dialect::OpenaiResponses, &mut Seeded::new(number)).history();
        let body = history.request().body;
        let items = body["input"].as_array().cloned().unwrap_or_default();
        let is_of = |kind: &str, id: &serde_json::Value, item: &serde_json::Value| {
            item["type"] == kind && item["call_id"] == *id
        };
        for output in 0..items.len() {
            let id = &items[output]["call_id"];
            let calls: Vec<usize> =
                (0..items.len()).filter(|n| is_of("function_call", id, &items[*n])).collect();
            let [call] = calls[..] else { continue };
            if items[output]["type"] != "function_call_output" {
                continue;
            }
            n_calls += 1;
            let judged = |change: &dyn Fn(&mut Vec<serde_json::Value>)| {
                let mut items = items.clone();
                items[call]["async"] = true.into();
                change(&mut items);
                let mut body = body.clone();
                body["input"] = items.into();
                errors(profile, &body.to_string())
            };
            let late = |items: &mut Vec<serde_json::Value>| {
                let output = items.remove(output);
                items.push(output);
            };
            let again = |items: &mut Vec<serde_json::Value>| items.push(items[output].clone());
            let nothing: [&str; 0] = [];
            assert_eq!(judged(&|_| {}), nothing, "{body}");
            assert_eq!(judged(&late), nothing, "{body}");
            assert_eq!(judged(&|items| drop(items.remove(output))), nothing, "{body}");
            assert_eq!(judged(&again), ["openai-responses/async-output-duplicate"], "{body}");
        }
    }
    assert!(n_calls > 100, "{n_calls}");
}

#[test]
fn the_table_says_who_refuses_each_fault() {
    for dialect in DIALECTS {
        for fault in Fault::all() {
            for seed in 0..100 {
                let outline = Outline::with_fault(dialect, fault, &mut Seeded::new(seed));
                let is_refused = is_refused(&outline);
                let body = outline.history().request().body;
                assert_eq!(is_refused, fault.is_refused_by(dialect), "{dialect} {fault:?} {seed}\n{body}");
            }
        }
    }
}

#[test]
fn a_fault_is_not_there_before_it_is_planted() {
    for dialect in DIALECTS {
        for fault in Fault::all() {
            let outline = Outline::with_fault(dialect, fault, &mut Seeded::new(7));
            assert!(!is_refused(&outline.sound()), "{dialect} {fault:?}");
            assert_ne!(outline.history().messages, outline.sound().history().messages, "{dialect} {fault:?}");
        }
    }
}

#[test]
fn the_same_choices_make_the_same_bytes() {
    let bytes: Vec<u8> = (0..4000u32).map(|n| (n * 167 + n / 13) as u8).collect();
    for dialect in DIALECTS {
        let once = Outline::numbered(dialect, 17).history().request().body.to_string();
        assert_eq!(once, Outline::numbered(dialect, 17).history().request().body.to_string());
        assert_ne!(once, Outline::numbered(dialect, 20).history().request().body.to_string());
    }
    let drawn = || arbitrary::Unstructured::new(&bytes).arbitrary::<Outline>().unwrap();
    assert_eq!(drawn(), drawn());
    assert_eq!(drawn().history(), drawn().history());
}

#[test]
fn any_bytes_make_a_conversation() {
    for n in 0..300 {
        let mut source = Seeded::new(n);
        let bytes: Vec<u8> = (0..n as usize).map(|_| source.below(256) as u8).collect();
        let outline: Outline = arbitrary::Unstructured::new(&bytes).arbitrary().unwrap();
        assert_eq!(is_refused(&outline), outline.fault().is_some(), "{outline:?}");
    }
}

#[test]
fn ids_have_the_form_of_the_dialect() {
    for (dialect, prefix, n_chars) in [
        (Dialect::AnthropicMessages, "toolu_01", 30),
        (Dialect::OpenaiChat, "call_", 29),
        (Dialect::OpenaiResponses, "call_", 29),
        (Dialect::Gemini, "", 8),
        (Dialect::BedrockConverse, "tooluse_", 30),
        (Dialect::Mistral, "", 9),
    ] {
        let mut ids: Vec<String> = Vec::new();
        for number in 0..50 {
            let history = Outline::valid(dialect, &mut Seeded::new(number)).history();
            ids.extend(history.messages.iter().flat_map(|message| &message.blocks).filter_map(|block| {
                match block {
                    Block::Call(call) => Some(call.id.clone()),
                    _ => None,
                }
            }));
        }
        assert!(ids.iter().all(|id| id.starts_with(prefix) && id.len() == n_chars), "{dialect} {ids:?}");
        let n_ids = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert!(n_ids > 100 && ids.len() == n_ids, "{dialect}");
    }
}

#[test]
fn what_a_conversation_says_of_itself_holds() {
    for dialect in DIALECTS {
        for fault in Fault::all() {
            for seed in 0..20 {
                let outline = Outline::with_fault(dialect, fault, &mut Seeded::new(seed));
                let history = outline.history();
                let n_blocks: usize = history.messages.iter().map(|message| message.blocks.len()).sum();
                assert_eq!(history.must_stay().count() + history.surplus.len(), n_blocks);
                let is_broken = fault.mending() == Mending::Impossible;
                assert_eq!(!history.at_stake.is_empty(), is_broken, "{fault:?}");
                assert!(!is_broken || history.surplus.is_empty(), "{fault:?}");
            }
        }
    }
}

#[test]
fn taking_the_surplus_out_mends_what_is_there_too_often() {
    let removable = [
        Fault::DuplicateResult,
        Fault::OrphanResult,
        Fault::DuplicateMessage,
        Fault::DuplicateCall,
        Fault::BlankText,
        Fault::EmptyText,
        Fault::HollowThinkingBefore,
        Fault::ThinkingAlone,
    ];
    for dialect in DIALECTS {
        for fault in removable {
            for seed in 0..40 {
                let mut history = Outline::with_fault(dialect, fault, &mut Seeded::new(seed)).history();
                assert!(!history.surplus.is_empty());
                for (message, block) in std::mem::take(&mut history.surplus).into_iter().rev() {
                    history.messages[message].blocks.remove(block);
                }
                history.messages.retain(|message| !message.blocks.is_empty());
                let body = history.request().body.to_string();
                assert!(errors(Profile::newest(dialect), &body).is_empty(), "{dialect} {fault:?}\n{body}");
            }
        }
    }
}

#[test]
fn every_smaller_outline_keeps_the_fault_and_is_refused() {
    for dialect in DIALECTS {
        for number in (0..60).filter(|number| number % 3 != 0) {
            let outline = Outline::numbered(dialect, number);
            for smaller in outline.simpler() {
                assert_eq!(smaller.fault(), outline.fault());
                assert!(is_refused(&smaller), "{:?}\n{:?}", smaller, smaller.history().request().body);
            }
        }
    }
}

#[test]
fn every_smaller_outline_of_a_sound_conversation_is_sound() {
    for dialect in DIALECTS {
        for seed in 0..30 {
            for smaller in Outline::valid(dialect, &mut Seeded::new(seed)).simpler() {
                assert!(!is_refused(&smaller), "{:?}\n{:?}", smaller, smaller.history().request().body);
            }
        }
    }
}

#[test]
fn the_smallest_conversation_with_a_fault_is_a_handful_of_plain_blocks() {
    for dialect in DIALECTS {
        for number in (0..90).filter(|number| number % 3 != 0) {
            let outline = Outline::numbered(dialect, number);
            let fault = outline.fault();
            let smallest = outline.smallest(is_refused);
            assert_eq!(smallest.fault(), fault);
            assert!(
                smallest.simpler().is_empty(),
                "what is smaller is refused too, so it can go on: {smallest:?}"
            );
            let n_messages = smallest.history().messages.len();
            assert!(n_messages <= 6, "{dialect} {fault:?}: {n_messages} messages");
        }
    }
}

#[test]
fn a_failing_property_is_made_smaller_as_a_conversation() {
    use proptest::strategy::{Strategy, ValueTree};
    use proptest::test_runner::TestRunner;

    let mut runner = TestRunner::deterministic();
    let n_calls = |outline: &Outline| {
        let messages = outline.history().messages;
        messages
            .iter()
            .flat_map(|message| &message.blocks)
            .filter(|block| matches!(block, Block::Call(_)))
            .count()
    };
    for strategy in [strategy::valid, strategy::mendable, strategy::broken] {
        let mut tree = strategy(Dialect::BedrockConverse).new_tree(&mut runner).unwrap();
        while n_calls(&tree.current()) < 4 {
            tree = strategy(Dialect::BedrockConverse).new_tree(&mut runner).unwrap();
        }
        let fault = tree.current().fault();
        // The property fails for conversations of four calls and more.
        let (mut failing, mut is_smaller) = (tree.current(), tree.simplify());
        while is_smaller {
            is_smaller = match n_calls(&tree.current()) {
                0..4 => tree.complicate(),
                _ => {
                    failing = tree.current();
                    tree.simplify()
                }
            };
        }
        assert_eq!((n_calls(&failing), failing.fault()), (4, fault), "{failing:?}");
        assert_eq!(tree.current(), failing);
    }
}

/// With `thread: continue`, a request has only the messages since the previous response. A rule that compares
/// with earlier messages must not judge it.
#[test]
fn anthropic_accepts_the_rest_of_a_conversation_after_any_reply() {
    let profile = Profile::newest(Dialect::AnthropicMessages);
    let mut n_rests = 0;
    for number in 0..500 {
        let history = Outline::valid(Dialect::AnthropicMessages, &mut Seeded::new(number)).history();
        let mut body = history.request().body;
        body["thread"] = serde_json::json!({ "type": "continue" });
        let messages = body["messages"].as_array().cloned().unwrap_or_default();
        for reply in (0..messages.len()).filter(|n| messages[*n]["role"] == "assistant") {
            let rest = &messages[reply + 1..];
            if rest.is_empty() {
                continue;
            }
            n_rests += 1;
            body["messages"] = rest.into();
            let nothing: [&str; 0] = [];
            assert_eq!(errors(profile, &body.to_string()), nothing, "{body}");
        }
    }
    assert!(n_rests > 500, "{n_rests}");
}
