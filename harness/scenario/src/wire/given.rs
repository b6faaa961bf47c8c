//! The model's thinking in a given history, in the form in which the provider once sent it.

use super::{Envelope, ReplyEvent, Tokens, decode_whole, of};
use crate::plan::{GivenBlock, Plan, Script, ScriptBlock};
use serde_json::Value;

/// The thinking to assume if the store has lost the text.
const THOUGHT: &str = "The user asks me for something.";

/// For each message of the given history with thoughts: a reply in which the provider sent only those
/// thoughts, and their signatures.
pub fn given_thoughts(plan: &Plan) -> Vec<(Value, Vec<String>)> {
    let wire = of(plan.dialect);
    let mut replies = Vec::new();
    for (n, message) in plan.given.iter().enumerate() {
        let thoughts = message.blocks().iter().filter_map(|block| match block {
            GivenBlock::Thinking { text, .. } if text.is_empty() => Some(THOUGHT),
            GivenBlock::Thinking { text, .. } => Some(text.as_str()),
            GivenBlock::Text(_) | GivenBlock::Call { .. } => None,
        });
        let blocks: Vec<ScriptBlock> =
            thoughts.map(|text| ScriptBlock::Think(vec![text.to_owned()])).collect();
        if blocks.is_empty() {
            continue;
        }
        let mut script = Script::saying(vec![".".to_owned()]);
        script.blocks.splice(0..0, blocks);
        let id = wire.message_id(&format!("{n:024x}"));
        let reply = wire.encode_whole(
            plan,
            &script,
            Envelope { id: &id, model: "", usage: false, tokens: Tokens::PLANNED },
        );
        let mut signatures = Vec::new();
        decode_whole(plan.dialect, reply.to_string().as_bytes(), |event| {
            if let ReplyEvent::ThoughtEnd { signature } = event {
                signatures.push(signature.unwrap_or_default());
            }
        });
        replies.push((reply, signatures));
    }
    replies
}
