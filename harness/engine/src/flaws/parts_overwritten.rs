//! BUG: The store identifies results by their index in the batch, so a later batch of the turn overwrites an
//! earlier one. Open WebUI: <https://github.com/open-webui/open-webui/issues/12214>

use super::prelude::*;

flaw! {
    Flaw::new("parts-overwritten", "results-kept").class("id-overwrite");

    fn loaded(&self, thread: Vec<Message>) -> Vec<Message> {
        let answered: Vec<&str> = thread
            .iter()
            .filter_map(Message::results)
            .flatten()
            .map(|result| result.call_id.as_str())
            .collect();
        let mut turn = 0;
        let mut keys: Vec<((usize, usize), String)> = Vec::new();
        for message in &thread {
            turn += usize::from(matches!(message, Message::User(_)));
            let calls = message.calls().enumerate().filter(|(_, call)| answered.contains(&call.id.as_str()));
            keys.extend(calls.map(|(place, call)| ((turn, place), call.id.clone())));
        }
        let is_overwritten = |id: &str| {
            let own = keys.iter().position(|(_, other)| other == id);
            own.is_some_and(|own| keys[own + 1..].iter().any(|(key, _)| *key == keys[own].0))
        };
        repaired(without_results(thread, |result| is_overwritten(&result.call_id)))
    }
}
