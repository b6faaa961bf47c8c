//! The send model of Qwen Code.
//!
//! Source: `buildApiHistoryFromConversation`, `extractCuratedHistory` and `cleanOrphanedToolCalls` of the
//! package `@qwen-code/qwen-code` 0.15.10 (`packages/core/src/core/openaiContentGenerator/converter.ts`,
//! <https://github.com/QwenLM/qwen-code>). Only the converter to Chat Completions removes calls and results
//! without a counterpart. It compares ids anywhere in the history and ignores their order.

use std::collections::BTreeSet;

use brickbat_rules::histories::{self, Role};

use crate::clients::{self, Quirk};
use crate::stores::gemini_parts::{is_empty_part, keep_valid_runs, note};
use crate::{Block, Sent, Session};

pub(super) fn send(session: &Session) -> Sent {
    let mut sent = Sent::as_stored(session);
    curate(&mut sent);
    if clients::of(session.dialect).have(Quirk::QwenCodeRemovesOrphans) {
        clean(&mut sent);
    }
    sent.messages.retain(|message| !message.blocks.is_empty());
    sent
}

/// Drops a run of replies if one of them has an empty part, or no parts.
fn curate(sent: &mut Sent) {
    keep_valid_runs(sent, |message| !message.blocks.is_empty() && !message.blocks.iter().any(is_empty_part));
}

fn clean(sent: &mut Sent) {
    let calls: BTreeSet<String> =
        sent.messages.iter().flat_map(|message| message.calls().map(|call| call.id.clone())).collect();
    let results: BTreeSet<String> = sent
        .messages
        .iter()
        .flat_map(|message| message.results().map(|result| result.call.clone()))
        .collect();
    let (mut n_calls, mut n_results) = (0, 0);
    for message in &mut sent.messages {
        message.blocks.retain(|block| match &block.content {
            histories::Block::Call(call) if !results.contains(&call.id) => {
                n_calls += 1;
                false
            }
            histories::Block::Result(result) if !calls.contains(&result.call) => {
                n_results += 1;
                false
            }
            _ => true,
        });
        // A reply with only thoughts left is dropped with its calls.
        let is_thought = |block: &Block| matches!(block.content, histories::Block::Thinking(_));
        if n_calls > 0 && message.role == Role::Assistant && message.blocks.iter().all(is_thought) {
            message.blocks.clear();
        }
    }
    note(sent, "leaves out calls without a result", n_calls);
    note(sent, "leaves out results without a call", n_results);
}
