//! The strict provider in Rust tests of users: it fails the test of an agent that leaves calls dangling, and
//! passes that of the fixed one.

use std::panic::{AssertUnwindSafe, catch_unwind};

use brickbat::fixture::{CheckOptions, Dialect, Options, StrictProvider, assert_history};
use serde_json::json;

#[path = "../../dist/tests/agent.rs"]
mod own;

use own::Agent;

/// The agent, with or without its bug.
fn agent(provider: &StrictProvider, settles: bool) -> Agent {
    let mut agent = Agent::new(provider.anthropic());
    agent.settles = settles;
    agent
}

/// The message with which a test fails.
fn failure(provider: StrictProvider) -> Option<String> {
    let failed = catch_unwind(AssertUnwindSafe(|| drop(provider))).err()?;
    Some(failed.downcast_ref::<String>().cloned().unwrap_or_default())
}

/// A turn that is stopped when all calls of its reply are there, and another turn.
async fn after_a_stop(settles: bool) -> StrictProvider {
    let provider = StrictProvider::start();
    let mut agent = agent(&provider, settles);
    let stop = provider.stop_at("after calls");
    tokio::select! {
        () = agent.turn("What is the weather in Oslo and in Rome?") => panic!("the turn was not stopped"),
        () = stop.reached() => {}
    }
    agent.turn("And in Bergen?").await;
    provider
}

#[tokio::test]
async fn a_thread_that_a_stop_has_bricked_fails_the_test_with_the_providers_message() {
    let failure = failure(after_a_stop(false).await).unwrap();
    assert!(
        failure.contains("request 1: anthropic-messages/tool-result-missing at /messages/1"),
        "{failure}"
    );
    assert!(failure.contains("`tool_use` ids were found without `tool_result` blocks"), "{failure}");
}

#[tokio::test]
async fn a_thread_that_continues_after_a_stop_passes() {
    assert_eq!(failure(after_a_stop(true).await), None);
}

#[tokio::test]
async fn the_agents_reaction_to_a_broken_reply_is_judged() {
    for (settles, followed) in [(false, "anthropic-messages/tool-result-missing"), (true, "accepted")] {
        let provider = StrictProvider::with(Options { allow_refusals: true, ..Options::STANDARD });
        let mut agent = agent(&provider, settles);
        let fault = provider.fault("reset", "after end a");
        agent.turn("What is the weather in Oslo and in Rome?").await;
        agent.turn("And in Bergen?").await;
        assert_eq!(fault.followed_by().as_deref(), Some(followed));
        assert_eq!(fault.receipt().as_deref(), Some("read"));
        assert_eq!(provider.refusals().is_empty(), settles);
        assert_eq!(failure(provider), None);
    }
}

#[test]
fn a_test_without_a_runtime_waits_too_and_a_held_reply_continues() {
    let provider = StrictProvider::start();
    let mut agent = agent(&provider, true);
    let stop = provider.stop_at("after text 1");
    let turn = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(agent.turn("What is the weather?"));
        agent.messages
    });
    stop.wait();
    stop.release();
    let messages = turn.join().unwrap();
    // The prompt, the calls, their results, and the answer.
    assert_eq!((messages.len(), provider.n_requests()), (4, 2));
    assert_history(
        &messages,
        &CheckOptions { dialect: Some(Dialect::AnthropicMessages), ..CheckOptions::default() },
    );
}

#[test]
fn a_test_in_which_nothing_was_judged_fails() {
    let unused = failure(StrictProvider::start()).unwrap();
    assert!(unused.contains("no request came") && unused.contains("nothing was judged"), "{unused}");
    let allowed = StrictProvider::with(Options { allow_unused: true, ..Options::STANDARD });
    assert_eq!(failure(allowed), None);
    let never = StrictProvider::with(Options { allow_unused: true, ..Options::STANDARD });
    let _stop = never.stop_at("after end a of reply 7");
    let never = failure(never).unwrap();
    assert!(never.contains("`stop after end a of reply 7` did not happen"), "{never}");
}

#[test]
fn an_impossible_order_is_reported() {
    let provider = StrictProvider::with(Options { allow_unused: true, ..Options::STANDARD });
    for (kind, at) in [("reset", "after lunch"), ("overloaded", "after end a"), ("rain", "after calls")] {
        assert!(catch_unwind(AssertUnwindSafe(|| drop(provider.fault(kind, at)))).is_err(), "{kind} {at}");
    }
    let unknown = Options { profile: Some("anthropic-messages@1066-10"), ..Options::STANDARD };
    assert!(catch_unwind(AssertUnwindSafe(|| drop(StrictProvider::with(unknown)))).is_err());
}

#[test]
fn a_history_that_a_provider_would_reject_fails_the_test() {
    let call =
        json!({ "id": "call_1", "type": "function", "function": { "name": "look", "arguments": "{}" } });
    let messages = [
        json!({ "role": "user", "content": "Look." }),
        json!({ "role": "assistant", "tool_calls": [call] }),
        json!({ "role": "user", "content": "And?" }),
    ];
    let options = CheckOptions::default();
    let failed = catch_unwind(AssertUnwindSafe(|| assert_history(&messages, &options))).unwrap_err();
    let words = failed.downcast_ref::<String>().unwrap();
    assert!(words.contains("openai-chat/tool-message-missing"), "{words}");
    assert_history(
        &messages[..1],
        &CheckOptions { dialect: Some(Dialect::OpenaiChat), ..CheckOptions::default() },
    );
}
