//! BUG: A resume keeps the reasoning's id but loses the encrypted part, as if the provider had stored it. A
//! report of this class: <https://github.com/anomalyco/opencode/issues/7724>

use super::prelude::*;

flaw! {
    Flaw::new("reasoning-unsealed", "thread-survives").class("server-item-missing")
        .only_on(&[Dialect::OpenaiResponses], "reasoning is not an item with an id");

    fn loaded(&self, thread: Vec<Message>) -> Vec<Message> {
        let mut thread = repaired(thread);
        for thought in thoughts(&mut thread) {
            let item: Option<serde_json::Value> =
                thought.signature.as_deref().and_then(|text| serde_json::from_str(text).ok());
            if let Some(serde_json::Value::Object(mut item)) = item {
                item.remove("encrypted_content");
                thought.signature = Some(serde_json::Value::Object(item).to_string());
            }
        }
        thread
    }
}

fn thoughts(thread: &mut [Message]) -> impl Iterator<Item = &mut Thought> {
    let blocks = thread.iter_mut().filter_map(|message| match message {
        Message::Assistant(blocks) => Some(blocks),
        Message::User(_) | Message::Results(_) => None,
    });
    blocks.flatten().filter_map(|block| match block {
        Block::Thought(thought) => Some(thought),
        Block::Text(_) | Block::Call(_) | Block::Server(_) => None,
    })
}
