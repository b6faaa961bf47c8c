//! The elements of a given history, and the history without some of them. A call is removed together with its
//! results.

use super::edit::Edit;
use brickbat_scenario::scenario::{
    Call, CallId, GivenBlock, GivenHistory, GivenMessage, Scenario, Signature,
};

/// Every message.
pub(super) fn messages(scenario: &Scenario) -> Vec<Edit> {
    (0..content(scenario).len()).map(Edit::Given).collect()
}

/// Every part of a message with several parts: a block, or a result.
pub(super) fn parts(scenario: &Scenario) -> Vec<Edit> {
    let of_message = |(n, message): (usize, &GivenMessage)| {
        let n_parts = message.blocks().len().max(message.results().len());
        (0..n_parts).map(move |part| Edit::GivenPart(n, part))
    };
    content(scenario).iter().enumerate().flat_map(of_message).collect()
}

/// Every oddity: an id, arguments that are not an object, an incomplete signature, or a failure.
pub(super) fn oddities(scenario: &Scenario) -> Vec<Edit> {
    let mut found = Vec::new();
    for (n, message) in content(scenario).iter().enumerate() {
        for (part, block) in message.blocks().iter().enumerate() {
            let is_odd = match block {
                GivenBlock::Call(call) => call.id.is_some() || call.raw.is_some(),
                GivenBlock::Think(thought) => thought.text.is_empty() || thought.signature != Signature::Full,
                GivenBlock::Text(text) => text.trim().is_empty(),
            };
            found.extend(is_odd.then_some(Edit::GivenOddity(n, part)));
        }
        for (part, result) in message.results().iter().enumerate() {
            let is_odd = result.returns.is_none() || result.shows.is_some();
            found.extend(is_odd.then_some(Edit::GivenOddity(n, part)));
        }
    }
    found
}

/// The calls in the history, and those that it has lost.
pub(super) fn calls(scenario: &Scenario) -> impl Iterator<Item = &Call> {
    let lost = scenario.given.as_ref().map_or(&[][..], |given| given.lost());
    content(scenario).iter().flat_map(GivenMessage::blocks).filter_map(GivenBlock::call).chain(lost)
}

/// The number of messages, blocks, arguments and results.
pub(super) fn size(scenario: &Scenario) -> usize {
    let of_block = |block: &GivenBlock| 1 + block.call().map_or(0, |call| call.args.len());
    let of_message = |message: &GivenMessage| {
        1 + message.blocks().iter().map(of_block).sum::<usize>() + message.results().len()
    };
    content(scenario).iter().map(of_message).sum()
}

fn content(scenario: &Scenario) -> &[GivenMessage] {
    scenario.given.as_ref().map_or(&[], |given| given.messages())
}

fn history(scenario: &mut Scenario) -> Option<&mut GivenHistory> {
    scenario.given.as_mut().and_then(|given| given.content.as_mut())
}

/// Removes a message, and the results of its calls.
pub(super) fn take_message(scenario: &mut Scenario, message: usize) {
    let Some(history) = history(scenario).filter(|history| message < history.messages.len()) else { return };
    let gone = history.messages.remove(message);
    let calls = gone.blocks().iter().filter_map(GivenBlock::call).map(|call| call.name.clone());
    let calls: Vec<String> = calls.collect();
    settle(scenario, &calls);
}

/// Removes a part of a message, and its results.
pub(super) fn take_part(scenario: &mut Scenario, message: usize, part: usize) {
    let Some(message) = history(scenario).and_then(|history| history.messages.get_mut(message)) else {
        return;
    };
    let mut gone = Vec::new();
    match message {
        GivenMessage::Assistant(blocks) if part < blocks.len() => {
            if let GivenBlock::Call(call) = blocks.remove(part) {
                gone.push(call.name);
            }
        }
        GivenMessage::Results(results) if part < results.len() => drop(results.remove(part)),
        _ => {}
    }
    settle(scenario, &gone);
}

/// Normalizes the oddity in a message part.
pub(super) fn straighten(scenario: &mut Scenario, message: usize, part: usize) {
    let Some(message) = history(scenario).and_then(|history| history.messages.get_mut(message)) else {
        return;
    };
    match message {
        GivenMessage::Assistant(blocks) => match blocks.get_mut(part) {
            Some(GivenBlock::Call(call)) => (call.id, call.raw) = (None, None),
            Some(GivenBlock::Think(thought)) => {
                thought.signature = Signature::Full;
                if thought.text.is_empty() {
                    crate::fixup::SAID.clone_into(&mut thought.text);
                }
            }
            Some(GivenBlock::Text(text)) => crate::fixup::SAID.clone_into(text),
            None => {}
        },
        GivenMessage::Results(results) => {
            if let Some(result) = results.get_mut(part) {
                let said = result.fails.take().or(result.returns.take());
                (result.returns, result.shows) =
                    (said.or_else(|| Some(super::plain::RETURNED.to_owned())), None);
            }
        }
        _ => {}
    }
}

/// Removes results of removed calls, and empty messages. A history without messages is removed.
fn settle(scenario: &mut Scenario, gone: &[String]) {
    let Some(history) = history(scenario) else { return };
    let GivenHistory { messages, lost, .. } = history;
    for message in messages.iter_mut() {
        match message {
            GivenMessage::Results(results) => results.retain(|result| !gone.contains(&result.of)),
            GivenMessage::Assistant(blocks) => {
                for block in blocks {
                    if let GivenBlock::Call(Call { id, .. }) = block
                        && matches!(id, Some(CallId::Same(name)) if gone.contains(name))
                    {
                        *id = None;
                    }
                }
            }
            _ => {}
        }
    }
    messages.retain(|message| match message {
        GivenMessage::Results(results) => !results.is_empty(),
        GivenMessage::Assistant(blocks) => !blocks.is_empty(),
        _ => true,
    });
    let is_spoken_of =
        |name: &str| messages.iter().flat_map(GivenMessage::results).any(|result| result.of == name);
    lost.retain(|call| is_spoken_of(&call.name));
    if messages.is_empty() {
        scenario.given = None;
    }
}
