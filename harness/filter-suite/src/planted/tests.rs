//! Each planted bug is caught by its check and by no other, and nobody accuses the sound filters.

use std::collections::BTreeSet;

use brickbat_rules::Dialect;
use serde_json::json;

use super::{Own, SOUND, planted};
use crate::checks::CHECKS;
use crate::{Input, Mode, Route, RouteReport, Share, State, run};

/// Histories of each kind for a sound filter on each route.
const N_SOUND: u64 = 60;
/// The same for a planted bug: what it needs may be rare.
const N_PLANTED: u64 = 90;

fn back<'m>(modes: &'m [Mode], route: &Route<'_>) -> Option<Route<'m>> {
    let name = route.mode.back.as_ref()?;
    let mode = modes.iter().find(|mode| mode.name == *name)?;
    mode.routes().into_iter().find(|back| back.from == route.to)
}

fn reports(own: &Own, n: u64, is_judged: impl Fn(usize) -> bool) -> Vec<RouteReport> {
    let modes = (own.modes)();
    let mut filter = (own.filter)();
    let mut reports = Vec::new();
    for (nth, mode) in modes.iter().enumerate() {
        for route in mode.routes().iter().filter(|_| is_judged(nth)) {
            let inputs = Input::for_route(route, &vectors(route.from), 5, n);
            reports.push(run(filter.as_mut(), route, back(&modes, route).as_ref(), &inputs, |_| {}).unwrap());
        }
    }
    reports
}

/// What the generator does not draw.
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
fn every_planted_bug_is_caught_by_its_check_alone() {
    let mut wrong = Vec::new();
    for planted in planted() {
        let reports = reports(&planted.own, N_PLANTED, |nth| nth == 0);
        let causes = reports.iter().flat_map(|report| &report.causes);
        let by: BTreeSet<&str> = causes.map(|cause| cause.check).collect();
        if by != BTreeSet::from([planted.check]) {
            let words: Vec<String> = reports
                .iter()
                .flat_map(|report| &report.causes)
                .map(|cause| {
                    format!(
                        "\n    {} {}: {}\n      {}\n      {}",
                        cause.check, cause.cause, cause.words, cause.minimal, cause.output
                    )
                })
                .collect();
            wrong.push(format!(
                "{}: {} expected, caught by {by:?}{}",
                planted.own.name,
                planted.check,
                words.concat()
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let proven: BTreeSet<&str> = planted().map(|planted| planted.check).collect();
    assert!(CHECKS.iter().all(|check| proven.contains(check.id)));
}

#[test]
fn nobody_accuses_a_sound_filter() {
    for own in SOUND {
        for report in reports(own, N_SOUND, |_| true) {
            let causes: Vec<String> = report
                .causes
                .iter()
                .map(|cause| {
                    format!(
                        "{} {}: {}\n  {}\n  {}",
                        cause.check, cause.cause, cause.words, cause.minimal, cause.output
                    )
                })
                .collect();
            assert!(causes.is_empty(), "{} {}\n{}", own.name, report.route, causes.join("\n"));
            // Who judges nothing accuses nobody.
            assert!(report.judged >= report.inputs / 3, "{}: {report:?}", own.name);
        }
    }
}
