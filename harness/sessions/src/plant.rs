//! Plants faults from public threads into the stores of products, to test repairs with the real products.
//!
//! A fault is planted at one call of a stored conversation, as the product itself would have left it. Nothing
//! else changes. Faults that repair edits can express are written as such edits. The others are made in the
//! store's JSON, at the places that its reader reported. If a store cannot represent a fault, an error is
//! returned: a store that keeps a call and its result in one object cannot have a result without a call.

mod fused;
mod items;

use brickbat_rules::histories::Block as Content;

use crate::product::Form;
use crate::{Edit, Files, Message, Place, PlantError, Session, store_of};

use items::Items;

/// A fault reported in public threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Fault {
    /// The result of a call is missing.
    ResultMissing,
    /// No call of the batch has a result.
    BatchUnanswered,
    /// The result comes after the next user message.
    ResultLate,
    /// The result appears twice.
    ResultTwice,
    /// The batch appears twice, with its results.
    BatchTwice,
    /// The call is missing, but its result is there.
    ResultOrphan,
    /// The text before the calls is only white space.
    BlankText,
    /// The thinking before the calls lost its text but kept its signature.
    HollowThought,
}

impl Fault {
    /// All faults.
    pub const ALL: [Fault; 8] = [
        Fault::ResultMissing,
        Fault::BatchUnanswered,
        Fault::ResultLate,
        Fault::ResultTwice,
        Fault::BatchTwice,
        Fault::ResultOrphan,
        Fault::BlankText,
        Fault::HollowThought,
    ];

    /// The name in options and reports.
    pub fn id(self) -> &'static str {
        match self {
            Fault::ResultMissing => "result-missing",
            Fault::BatchUnanswered => "batch-unanswered",
            Fault::ResultLate => "result-late",
            Fault::ResultTwice => "result-twice",
            Fault::BatchTwice => "batch-twice",
            Fault::ResultOrphan => "result-orphan",
            Fault::BlankText => "blank-text",
            Fault::HollowThought => "hollow-thought",
        }
    }

    /// The fault with this name.
    pub fn from_id(id: &str) -> Option<Fault> {
        Fault::ALL.into_iter().find(|fault| fault.id() == id)
    }

    /// A public thread that reports this fault.
    pub fn thread(self) -> &'static str {
        match self {
            Fault::ResultMissing => "anthropics/claude-code#6836",
            Fault::BatchUnanswered => "anomalyco/opencode#10616",
            Fault::ResultLate => "openai/codex#29773",
            Fault::ResultTwice => "google-gemini/gemini-cli#29365",
            Fault::BatchTwice => "anthropics/claude-code#20885",
            Fault::ResultOrphan => "anthropics/claude-code#31328",
            Fault::BlankText => "anthropics/claude-code#23440",
            Fault::HollowThought => "anthropics/claude-code#63147",
        }
    }
}

/// The call in the conversation at which a fault is planted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Spot {
    /// The first call of the first batch.
    First,
    /// The last call of the first batch.
    BatchEnd,
    /// The last call in the conversation.
    Last,
}

impl Spot {
    /// All spots.
    pub const ALL: [Spot; 3] = [Spot::First, Spot::BatchEnd, Spot::Last];

    /// The name in options and reports.
    pub fn id(self) -> &'static str {
        match self {
            Spot::First => "first-call",
            Spot::BatchEnd => "last-call-of-first-batch",
            Spot::Last => "last-call",
        }
    }
}

/// The files with a fault in the session with this index.
///
/// # Errors
///
/// The store cannot be read, or cannot represent the fault at that spot.
pub fn plant(files: &Files, index: usize, fault: Fault, spot: Spot) -> Result<Files, PlantError> {
    let sessions = crate::read(files)?;
    let session = sessions.get(index).ok_or(PlantError::Nowhere("no such session"))?;
    let target = Target::of(session, spot).ok_or(PlantError::Nowhere("no call there"))?;
    let planted = match fault {
        Fault::ResultMissing => without_results(files, session, &[target.call])?,
        Fault::BatchUnanswered => without_results(files, session, &target.batch())?,
        Fault::ResultOrphan => {
            let result = target.result_of(target.call).ok_or(PlantError::Nowhere("no result there"))?;
            if result == target.call {
                return Err(PlantError::Nowhere("the store keeps a call and its result in one object"));
            }
            written(files, session, &[Edit::Drop { block: target.call.clone() }])?
        }
        _ => {
            let mut items = Items::of(files, session).ok_or(PlantError::Nowhere(NO_FORM))?;
            target.shape(fault, &mut items).ok_or(PlantError::Nowhere(NO_FORM))?;
            items.into_files(files)
        }
    };
    Ok(planted)
}

/// The error for a store that cannot represent a fault.
const NO_FORM: &str = "the store has no form for this fault";

fn written(files: &Files, session: &Session, edits: &[Edit]) -> Result<Files, PlantError> {
    let store = store_of(session.product).ok_or(PlantError::Nowhere("the product has no store"))?;
    Ok(store.write(files, session, edits)?)
}

/// The files without the results of these calls.
fn without_results(files: &Files, session: &Session, calls: &[&Place]) -> Result<Files, PlantError> {
    let target = |call: &Place| result_in(session, call).cloned();
    let results: Vec<Place> = calls.iter().filter_map(|call| target(call)).collect();
    if results.is_empty() {
        return Err(PlantError::Nowhere("no result there"));
    }
    if let Form::Parts(part) = session.product.form() {
        return fused::without_results(files, part, calls, &results).ok_or(PlantError::Nowhere(NO_FORM));
    }
    let drops: Vec<Edit> = results.into_iter().map(|block| Edit::Drop { block }).collect();
    written(files, session, &drops)
}

/// The place where the result for the call at this place is.
fn result_in<'s>(session: &'s Session, call: &Place) -> Option<&'s Place> {
    let blocks = || session.messages.iter().flat_map(|message| &message.blocks);
    let id = blocks().find_map(|block| match &block.content {
        Content::Call(own) if block.place == *call => Some((own.id.as_str(), own.name.as_str())),
        _ => None,
    })?;
    blocks().find_map(|block| match &block.content {
        // If a product has no ids, order decides, and the pairing takes the first free result.
        Content::Result(result) if (result.call.as_str(), id.0) != ("", "") && result.call == id.0 => {
            Some(&block.place)
        }
        _ => None,
    })
}

/// A call in a conversation, with its context.
struct Target<'s> {
    session: &'s Session,
    /// The index of the message with the call.
    message: usize,
    call: &'s Place,
}

impl<'s> Target<'s> {
    fn of(session: &'s Session, spot: Spot) -> Option<Target<'s>> {
        let with_calls = |n: &usize| session.messages[*n].calls().next().is_some();
        let mut messages = (0..session.messages.len()).filter(with_calls);
        let message = match spot {
            Spot::First | Spot::BatchEnd => messages.next()?,
            Spot::Last => messages.next_back()?,
        };
        // Some stores have one message per call, so the batch may continue in the next messages.
        let end = batch_end(&session.messages, message);
        let mut calls = calls_in(&session.messages[message..end]);
        let call = if spot == Spot::First { calls.next()? } else { calls.last()? };
        Some(Target { session, message, call })
    }

    /// All calls of the batch.
    fn batch(&self) -> Vec<&'s Place> {
        let end = batch_end(&self.session.messages, self.message);
        calls_in(&self.session.messages[self.message..end]).collect()
    }

    fn result_of(&self, call: &Place) -> Option<&'s Place> {
        result_in(self.session, call)
    }

    /// Applies the fault to the items of the store. `None` if they cannot represent it.
    fn shape(&self, fault: Fault, items: &mut Items) -> Option<()> {
        let is_fused = matches!(self.session.product.form(), Form::Parts(_));
        match fault {
            Fault::ResultLate => {
                let result = self.result_of(self.call).filter(|result| *result != self.call)?;
                let later = &self.session.messages[self.message..];
                let is_said = |message: &&Message| {
                    message.role == brickbat_rules::histories::Role::User
                        && message.results().next().is_none()
                };
                let next = later.iter().find(is_said)?;
                items.move_after(result, &next.place)
            }
            Fault::ResultTwice => {
                let result = self.result_of(self.call).filter(|result| *result != self.call)?;
                items.repeat(result)
            }
            Fault::BatchTwice if is_fused => items.repeat(self.call),
            Fault::BatchTwice => {
                let batch = self.batch();
                let results: Vec<&Place> = batch.iter().filter_map(|call| self.result_of(call)).collect();
                items.repeat_entries(batch.first()?, results.last()?)
            }
            Fault::BlankText => {
                let text = self.block(|content| matches!(content, Content::Text(_)))?;
                items.empty(text, "\n")
            }
            Fault::HollowThought => {
                let thought = self.block(|content| matches!(content, Content::Thinking(_)))?;
                items.empty(thought, "")
            }
            Fault::ResultMissing | Fault::BatchUnanswered | Fault::ResultOrphan => None,
        }
    }

    /// A matching block of the reply with the calls.
    fn block(&self, is_meant: impl Fn(&Content) -> bool) -> Option<&'s Place> {
        let reply = self.session.messages[..=self.message].iter().rev();
        let reply = reply.take_while(|message| message.role == brickbat_rules::histories::Role::Assistant);
        let mut blocks = reply.flat_map(|message| &message.blocks);
        blocks.find(|block| is_meant(&block.content)).map(|block| &block.place)
    }
}

/// The index after the last message of a batch that begins in this one.
fn batch_end(messages: &[Message], first: usize) -> usize {
    let has_calls = |message: &Message| message.calls().next().is_some();
    first + messages[first..].iter().take_while(|message| has_calls(message)).count()
}

fn calls_in(messages: &[Message]) -> impl Iterator<Item = &Place> {
    let blocks = messages.iter().flat_map(|message| &message.blocks);
    blocks.filter(|block| matches!(block.content, Content::Call(_))).map(|block| &block.place)
}

#[cfg(test)]
mod tests;
