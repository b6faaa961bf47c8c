//! Gemini CLI's send model for a resumed session.
//!
//! Source: `convertSessionToClientHistory` (`packages/core/src/utils/sessionUtils.ts`) and `geminiChat.ts` of
//! <https://github.com/google-gemini/gemini-cli>, 0.61.0. `historyHardening.ts` runs only with
//! `experimental.contextManagement`, which is off by default, so it is left out here.
//!
//! Since 0.60 a result is stored twice, beside its call and as a user message, and both are sent on resume:
//! <https://github.com/google-gemini/gemini-cli/issues/29365>. The model reproduces this, and the provider
//! rejects it.

use brickbat_rules::histories::{self, Role};

use crate::stores::gemini_parts::{is_empty_part, keep_valid_runs, note};
use crate::{Block, Ending, Message, Sent, Session};

/// The replacement for a signature that was not kept.
const SYNTHETIC_SIGNATURE: &str = "skip_thought_signature_validator";
/// The replacement for a missing reply between results and the next user message.
const INTERRUPTED: &str = "[The previous response was interrupted before it completed.]";

pub(super) fn send(session: &Session) -> Sent {
    let mut sent = Sent::as_stored(session);
    curate(&mut sent);
    if strips_thoughts(session.model.as_deref()) {
        strip_thoughts(&mut sent);
    }
    drop_empty_texts(&mut sent);
    close_results(&mut sent);
    sign_active_loop(&mut sent);
    sent
}

/// `extractCuratedHistory`: drops a run of replies if one of them has an empty part.
fn curate(sent: &mut Sent) {
    keep_valid_runs(sent, |message| !message.blocks.iter().any(is_empty_part));
}

/// Returns whether thoughts are removed for this model. They are for Gemini 2 and 3, and for models with
/// other names. An unknown model counts as one of these.
fn strips_thoughts(model: Option<&str>) -> bool {
    model.is_none_or(|model| !model.starts_with("gemini-1"))
}

/// `stripThoughts`: signs the first call of a reply that lost a thought.
fn strip_thoughts(sent: &mut Sent) {
    let mut n_stripped = 0;
    for message in &mut sent.messages {
        let n_before = message.blocks.len();
        message.blocks.retain(|block| !matches!(block.content, histories::Block::Thinking(_)));
        if message.blocks.len() < n_before {
            n_stripped += n_before - message.blocks.len();
            if message.role == Role::Assistant {
                sign_first_call(std::iter::once(&mut *message));
            }
        }
    }
    sent.messages.retain(|message| !message.blocks.is_empty());
    note(sent, "leaves out thoughts", n_stripped);
}

/// `stripToolCallIdPrefixes` also removes parts that are only an empty text.
fn drop_empty_texts(sent: &mut Sent) {
    for message in &mut sent.messages {
        message.blocks.retain(|block| block.content != histories::Block::Text(String::new()));
    }
}

/// `closeUnansweredToolResponseTurn`: inserts a reply between trailing results and the next user message.
fn close_results(sent: &mut Sent) {
    let Some(last) = sent.messages.last() else { return };
    if last.role != Role::Tool {
        return;
    }
    let place = last.place.clone();
    let content = histories::Block::Text(INTERRUPTED.to_owned());
    let blocks = vec![Block { place: place.clone(), content, state: None }];
    sent.messages.push(Message { role: Role::Assistant, blocks, id: None, place, ending: Ending::Whole });
    note(sent, "puts a reply between final results and the next message of the user", 1);
}

/// `ensureActiveLoopHasThoughtSignatures`: signs the first call of each turn after the last user message.
fn sign_active_loop(sent: &mut Sent) {
    let is_model = |message: &Message| message.role == Role::Assistant;
    // After a trailing reply, the next user message begins the loop, which is then empty.
    if sent.messages.last().is_none_or(is_model) {
        return;
    }
    let mut turns: Vec<&mut [Message]> =
        sent.messages.chunk_by_mut(|one, next| is_model(one) == is_model(next)).collect();
    let begins = |turn: &[Message]| {
        let is_text =
            |block: &Block| matches!(&block.content, histories::Block::Text(text) if !text.is_empty());
        let is_result = |block: &Block| matches!(block.content, histories::Block::Result(_));
        let mut blocks = turn.iter().flat_map(|message| &message.blocks);
        !is_model(&turn[0]) && blocks.clone().any(is_text) && !blocks.any(is_result)
    };
    let Some(start) = turns.iter().rposition(|turn| begins(turn)) else { return };
    for turn in turns[start..].iter_mut().filter(|turn| is_model(&turn[0])) {
        sign_first_call(turn.iter_mut());
    }
}

fn sign_first_call<'m>(turn: impl Iterator<Item = &'m mut Message>) {
    let mut calls =
        turn.flat_map(|message| &mut message.blocks).filter_map(|block| match &mut block.content {
            histories::Block::Call(call) => Some(call),
            _ => None,
        });
    if let Some(call) = calls.next() {
        call.signature.get_or_insert_with(|| SYNTHETIC_SIGNATURE.to_owned());
    }
}
