//! The changes that products make when they send, as far as they concern calls and results without each other.

use brickbat_rules::histories::{Block as Content, Role};

use crate::stores::pairs::{dangling, fill, pair, without_orphans};
use crate::{Message, Sent, Session};

/// A product's changes to calls without a result.
pub(super) enum Sends {
    /// Not known: the messages are judged as stored.
    AsStored,
    /// It answers them with this text.
    Fills(&'static str),
    /// It leaves them out, and results without a call too.
    LeavesOut,
    /// It leaves out replies without a text, and calls and results without each other.
    LeavesOutBlanksAndHalves,
    /// It leaves them out, and sends results without a call.
    #[cfg(feature = "sqlite")]
    LeavesOutCalls,
    /// It answers them with this text, and leaves out results without a call.
    Restores(&'static str),
    /// It puts each result behind its call, answers calls without one with this text, and leaves out the other results.
    Pairs(&'static str),
    /// It leaves them out, and results without a call too, in the form with this generation.
    #[cfg(feature = "sqlite")]
    LeavesOutIn(&'static str),
    /// As the second, in the form with this generation. In other forms it answers only the calls at the end.
    In(&'static str, &'static Sends),
}

/// Makes the product's changes.
pub(super) fn apply(sends: &Sends, session: &Session, sent: &mut Sent) {
    match sends {
        Sends::AsStored => {}
        Sends::Fills(words) => {
            let open = dangling(&sent.messages);
            let n = fill(&mut sent.messages, open, words);
            sent.mended.extend((n > 0).then_some(("answers calls without a result", n)));
        }
        Sends::LeavesOut => {
            let n = without_results(sent) + leave_out_calls(sent);
            sent.mended.extend((n > 0).then_some(("leaves out calls and results without each other", n)));
        }
        Sends::LeavesOutBlanksAndHalves => {
            apply(&Sends::LeavesOut, session, sent);
            let is_blank = |message: &Message| {
                let mut blocks = message.blocks.iter();
                message.role == Role::Assistant
                    && blocks
                        .all(|block| matches!(&block.content, Content::Text(text) if text.trim().is_empty()))
            };
            let n_before = sent.messages.len();
            sent.messages.retain(|message| !is_blank(message));
            let n = n_before - sent.messages.len();
            sent.mended.extend((n > 0).then_some(("leaves out replies without a text", n)));
        }
        #[cfg(feature = "sqlite")]
        Sends::LeavesOutCalls => {
            let n = leave_out_calls(sent);
            sent.mended.extend((n > 0).then_some(("leaves out calls without a result", n)));
        }
        Sends::Restores(words) => {
            let n = without_results(sent);
            sent.mended.extend((n > 0).then_some(("leaves out results without a call", n)));
            apply(&Sends::Fills(words), session, sent);
        }
        Sends::Pairs(words) => {
            let n = pair(&mut sent.messages);
            sent.mended.extend((n > 0).then_some(("puts results behind their calls", n)));
            apply(&Sends::Restores(words), session, sent);
        }
        #[cfg(feature = "sqlite")]
        Sends::LeavesOutIn(generation) => {
            if session.generation == *generation {
                apply(&Sends::LeavesOut, session, sent);
            }
        }
        Sends::In(generation, sends) => {
            if session.generation == *generation {
                apply(sends, session, sent);
            }
        }
    }
}

/// Removes results without a call. Returns their number.
fn without_results(sent: &mut Sent) -> usize {
    let (messages, n_orphans) = without_orphans(&sent.messages);
    sent.messages = messages;
    n_orphans
}

/// Removes calls without a result. Returns their number.
fn leave_out_calls(sent: &mut Sent) -> usize {
    let mut n = 0;
    for (at, blocks) in dangling(&sent.messages) {
        n += blocks.len();
        let mut index = 0;
        sent.messages[at].blocks.retain(|_| {
            index += 1;
            blocks.binary_search(&(index - 1)).is_err()
        });
    }
    sent.messages.retain(|message| !message.blocks.is_empty());
    n
}
