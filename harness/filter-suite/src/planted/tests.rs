//! Each planted bug is caught only by its own check, and no check accuses a correct filter.

use std::collections::BTreeSet;

use brickbat_rules::Dialect;
use serde_json::json;

use super::{Own, SOUND, back, caught_by, planted};
use crate::checks::CHECKS;
use crate::{Input, Outcome, Share, State, judge, smallest};

/// The number of histories of each kind for a correct filter on each route.
const N_SOUND: u64 = 12;
/// The same for a planted bug, which may need a rare history.
const N_PLANTED: u64 = 40;

/// Returns a filter's findings as checks with their messages, the number of judged inputs, and the number of
/// all inputs.
fn wrong(own: &Own, n: u64) -> (Vec<(&'static str, String)>, usize, usize) {
    let modes = (own.modes)();
    let mut filter = (own.filter)();
    let (mut found, mut n_judged, mut n_inputs) = (Vec::new(), 0, 0);
    for mode in &modes {
        for route in &mode.routes() {
            let inputs: Vec<Input> = Input::for_route(route, vectors(route.from), 5, n).collect();
            let judged = judge(filter.as_mut(), route, back(&modes, route).as_ref(), &inputs).unwrap();
            n_inputs += inputs.len();
            for (input, judged) in inputs.iter().zip(judged) {
                n_judged += usize::from(matches!(judged.outcome, Outcome::Judged { .. }));
                let findings = judged.outcome.findings().iter();
                let said = judged.said.as_ref();
                found.extend(findings.map(|finding| {
                    let words = format!(
                        "{} {}: {}\n  {}\n  {said:?}",
                        route.name(),
                        finding.cause,
                        finding.words,
                        input.body
                    );
                    (finding.check, words)
                }));
            }
        }
    }
    (found, n_judged, n_inputs)
}

/// Returns histories that the generator does not draw.
fn vectors(dialect: Dialect) -> Vec<Input> {
    let bodies = match dialect {
        Dialect::AnthropicMessages => {
            vec![json!({ "model": "claude-sonnet-4-5", "max_tokens": 1024, "messages": [
            { "role": "user", "content": "Look." },
            { "role": "assistant", "content": [{ "type": "tool_use", "id": "toolu_01", "name": "look", "input": {} }] },
            { "role": "assistant", "content": [{ "type": "tool_use", "id": "toolu_02", "name": "look", "input": {} }] },
            { "role": "user", "content": [
                { "type": "tool_result", "tool_use_id": "toolu_01", "content": "one" },
                { "type": "tool_result", "tool_use_id": "toolu_02", "content": "two" }] }] })]
        }
        Dialect::OpenaiChat => vec![json!({ "model": "deepseek-reasoner", "messages": [
            { "role": "user", "content": "Look." },
            { "role": "assistant", "content": null, "reasoning_content": "I should look.", "tool_calls": [
                { "id": "call_a", "type": "function", "function": { "name": "look", "arguments": "{}" } }] },
            { "role": "tool", "tool_call_id": "call_a", "content": "found" }] })],
        _ => Vec::new(),
    };
    let input =
        |body| Input { id: "vector".to_owned(), dialect, body, state: State::Valid, share: Share::Half };
    bodies.into_iter().map(input).collect()
}

#[test]
fn every_planted_bug_is_caught_only_by_its_check() {
    let mut complaints = Vec::new();
    for planted in planted() {
        let caught = caught_by(&planted.own, |route| vectors(route.from), N_PLANTED).unwrap();
        let by: BTreeSet<&str> = caught.keys().copied().collect();
        if by != BTreeSet::from([planted.check]) {
            complaints.push(format!("{}: {} alone, but {caught:#?}", planted.own.name, planted.check));
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    let proven: BTreeSet<&str> = planted().map(|planted| planted.check).collect();
    assert!(CHECKS.iter().all(|check| proven.contains(check.id)));
}

#[test]
fn no_check_accuses_a_correct_filter() {
    for own in SOUND {
        let (found, n_judged, n_inputs) = wrong(own, N_SOUND);
        let words: Vec<String> =
            found.iter().take(3).map(|(check, words)| format!("{check} {words}")).collect();
        assert!(words.is_empty(), "{}\n{}", own.name, words.join("\n"));
        // A run that judges nothing proves nothing.
        assert!(n_judged >= n_inputs / 3, "{}: {n_judged} of {n_inputs}", own.name);
    }
}

#[test]
fn the_smallest_history_is_as_small_as_it_gets() {
    let own = super::named("planted/raises-on-pictures").unwrap();
    let modes = (own.modes)();
    let routes = modes[0].routes();
    let body = json!({ "model": "claude-sonnet-4-5", "system": "Be kind.", "messages": [
        { "role": "user", "content": [{ "type": "text", "text": "Look at this." },
            { "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": "AAAA" } }] },
        { "role": "assistant", "content": [{ "type": "tool_use", "id": "toolu_01", "name": "look", "input": {} }] },
        { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "toolu_01", "content": "one" }] }] });
    let input = Input {
        id: "own".to_owned(),
        dialect: Dialect::AnthropicMessages,
        body,
        state: State::Valid,
        share: Share::Half,
    };
    let mut filter = (own.filter)();
    let small = smallest(filter.as_mut(), &routes[0], None, &input, ("never-raises", "TypeError")).unwrap();
    let picture =
        json!({ "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": "AAAA" } });
    let expected =
        json!({ "model": "claude-sonnet-4-5", "messages": [{ "role": "user", "content": [picture] }] });
    assert_eq!(small.body, expected);
}
