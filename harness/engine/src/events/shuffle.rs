//! Random event sequences: a batch of calls, with faults.

use super::Event;

/// The maximum number of events in a sequence.
pub const MAX_EVENTS: usize = 64;

/// The maximum number of calls in a batch.
const MAX_CALLS: usize = 4;

/// The maximum number of faults in a sequence.
const MAX_EDITS: usize = 4;

/// Creates a random turn with a batch of calls. Results come in any order, and some events are swapped, late,
/// duplicated, dropped or repeated. `below(n)` chooses a number below `n`; 0 is always the simplest choice.
pub fn shuffled(below: &mut dyn FnMut(usize) -> usize) -> Vec<Event> {
    let mut events = batch(below);
    for _ in 0..below(MAX_EDITS + 1) {
        edit(&mut events, below);
    }
    events.truncate(MAX_EVENTS);
    events
}

fn batch(below: &mut dyn FnMut(usize) -> usize) -> Vec<Event> {
    let names: Vec<String> = (0..=below(MAX_CALLS)).map(|n| format!("call_{n}")).collect();
    let mut events = Vec::new();
    for call in &names {
        events.push(Event::Start { call: call.clone(), tool: "lookup".to_owned() });
        let pieces: &[&str] = [&["{\"key\":\"a\"}"][..], &["{\"key\":", "\"a\"}"], &[]][below(3)];
        events.extend(
            pieces.iter().map(|text| Event::Arguments { call: call.clone(), text: (*text).to_owned() }),
        );
        events.push(Event::Ready { call: call.clone() });
    }
    let mut waiting = names;
    while !waiting.is_empty() {
        let call = waiting.remove(below(waiting.len()));
        let text = format!("result of {call}");
        events.push(Event::Result { call, text, failed: below(4) == 3 });
    }
    events.push(Event::Finish);
    events
}

fn edit(events: &mut Vec<Event>, below: &mut dyn FnMut(usize) -> usize) {
    if events.is_empty() {
        return;
    }
    let at = below(events.len());
    match below(6) {
        0 if at + 1 < events.len() => events.swap(at, at + 1),
        // Late or early.
        0 | 1 => {
            let event = events.remove(at);
            let to = below(events.len() + 1);
            events.insert(to, event);
        }
        // Repeated.
        2 => {
            let to = at + 1 + below(events.len() - at);
            events.insert(to, events[at].clone());
        }
        3 => {
            events.remove(at);
        }
        // A retry begins a call again under the same id.
        4 => {
            if let Some(call) = events[at].call().map(str::to_owned) {
                let to = at + 1 + below(events.len() - at);
                events.insert(to, Event::Start { call, tool: "lookup".to_owned() });
            }
        }
        // Another result for a call.
        _ => {
            if let Some(call) = events[at].call().map(str::to_owned) {
                let to = below(events.len() + 1);
                events.insert(to, Event::Result { call, text: "another result".to_owned(), failed: false });
            }
        }
    }
}
