//! Refusals of the provider that a product has stored.
//!
//! A store that has the provider's own refusal of its last request shows more than the send model of its product, which is
//! known for some versions only.

use brickbat_rules::explain::{Answer, answer};
use brickbat_rules::histories::Block;
use brickbat_rules::{Family, Profile, Rule, Severity};

use crate::{Ending, Message, Place, Session};

/// A refusal that a store has, and the rule behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// The rule.
    pub rule: &'static Rule,
    /// The place of the record.
    pub place: Place,
}

/// The length of an error that is searched, in bytes. Providers quote at most some lines of a request.
const MAX_WORDS: usize = 4_096;

/// The rule of this provider behind the refusal that the store has.
pub(crate) fn of(session: &Session, profile: &'static Profile) -> Option<Recorded> {
    let refused = session.refused.as_ref()?;
    let end =
        (0..=refused.words.len().min(MAX_WORDS)).rev().find(|at| refused.words.is_char_boundary(*at))?;
    let rules: Vec<&'static Rule> = match answer(&refused.words[..end]) {
        Answer::Said(rules) => rules,
        Answer::Reported(reported) => reported.iter().filter_map(|own| own.rule()).collect(),
        // The error may be cut. Only its nearest sentence counts.
        Answer::Near(near) => near.into_iter().take(1).flat_map(|near| near.rules).collect(),
    };
    let is_own = |rule: &&&'static Rule| {
        rule.dialect() == profile.dialect && profile.severity(rule) == Some(Severity::Error)
    };
    let rule = rules.iter().find(is_own)?;
    Some(Recorded { rule, place: refused.place.clone() })
}

/// The messages as they were refused: as stored, without failed replies.
pub(crate) fn messages(session: &Session) -> Vec<Message> {
    let is_sent = |message: &&Message| message.ending == Ending::Whole && !message.blocks.is_empty();
    session.messages.iter().filter(is_sent).cloned().collect()
}

/// The places of thoughts that have a signature and no text, if the rule is about thoughts. The provider takes them for
/// changed.
pub(crate) fn hollow<'m>(rule: &Rule, messages: &'m [Message]) -> Vec<&'m Place> {
    let is_meant = rule.family() == Some(Family::ReplyAltered);
    let is_hollow = |block: &&crate::Block| match &block.content {
        Block::Thinking(own) => own.text.is_empty() && own.signature.is_some(),
        _ => false,
    };
    let blocks = messages.iter().filter(|_| is_meant).flat_map(|message| &message.blocks);
    blocks.filter(is_hollow).map(|block| &block.place).collect()
}
