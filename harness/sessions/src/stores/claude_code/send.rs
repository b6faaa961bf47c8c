//! Claude Code's send model.

use std::collections::BTreeSet;

use brickbat_rules::histories::{Block as Content, Role};

use super::version;
use crate::stores::pairs;
use crate::{Block, Lost, Message, Place, Sent, Session, Trouble};

/// The content of a reply after all its calls were left out as copies.
const INTERRUPTED: &str = "[Tool use interrupted]";
/// The content of a user message after all its results were left out as copies.
const NO_CONTENT: &str = "(no content)";

/// The sent messages. Texts of only white space are left out, except those beside an image in some versions, and neighbours with the same role form one
/// message in which results come first.
///
/// Measured on 284 sessions of early 2026: of 134 stored blocks of white space, 131 have later replies after
/// them, so they cannot have been sent. With this model, the provider accepts all 229 rebuilt requests.
pub(super) fn send(session: &Session) -> Sent {
    let (stored, mut mended) = tidy(session);
    let version = version::of(session);
    let mut n_blank = 0;
    let mut messages: Vec<Message> = Vec::new();
    for mut message in stored {
        let n_blocks = message.blocks.len();
        let has_image = message.blocks.iter().any(|block| matches!(block.content, Content::Image(_)));
        let is_caption = has_image && message.role == Role::User && version.sends_empty_captions();
        message.blocks.retain(|block| !is_blank(&block.content) || is_caption);
        n_blank += n_blocks - message.blocks.len();
        if message.blocks.is_empty() {
            continue;
        }
        // Results move before the user messages that were sent while the tool ran.
        let at = match message.role {
            Role::Tool => messages.iter().rposition(|before| before.role != Role::User).map_or(0, |n| n + 1),
            _ => messages.len(),
        };
        match at.checked_sub(1).and_then(|before| messages.get_mut(before)) {
            Some(before) if before.role == message.role => before.blocks.append(&mut message.blocks),
            _ => messages.insert(at, message),
        }
    }
    mended.push(("leaves out blank texts", n_blank));
    mended.retain(|(_, n)| *n > 0);
    let stop = session.troubles.iter().find(|trouble| is_torn(trouble) && version.stops_at_torn_lines());
    let gives_up = stop.map(|trouble| {
        let words = "Versions before 2.1.121 show an empty conversation, or only the part before this line. Repair the file, \
                     or update: later versions skip the line.";
        (words.to_owned(), trouble.place.clone())
    });
    Sent { messages, mended, gives_up }
}

/// Returns whether a trouble is a line that is not JSON, or partly not.
fn is_torn(trouble: &Trouble) -> bool {
    matches!(trouble.loses, Some(Lost::Data(_)))
        || ["NUL bytes", "on one line"].iter().any(|end| trouble.words.ends_with(end))
}

/// The messages without the unpaired calls and results that this version leaves out, and the count for each
/// change.
fn tidy(session: &Session) -> (Vec<Message>, Vec<(&'static str, usize)>) {
    let version = version::of(session);
    let mut messages = sendable(session).to_vec();
    let mut mended = Vec::new();
    if version.leaves_out_copies() {
        let n_copies = leave_out_copies(&mut messages);
        mended.push(("leaves out calls and results that were sent before", n_copies));
    }
    if version.mends_pairs() {
        let n_orphans = leave_out_orphans(&mut messages);
        mended.push(("leaves out results without a call", n_orphans));
        let n_unanswered = leave_out_unanswered(&mut messages, session.has_open_tail());
        mended.push(("leaves out calls without a result", n_unanswered));
    }
    (messages, mended)
}

/// The messages of the branch. A file that begins in the middle of a session was sent with the missing
/// messages before it. The part before its first user message cannot be judged, so it is left out.
fn sendable(session: &Session) -> &[Message] {
    let first = match session.is_excerpt {
        true => session.messages.iter().position(|message| message.role == Role::User),
        false => Some(0),
    };
    first.and_then(|first| session.messages.get(first..)).unwrap_or_default()
}

/// Leaves out calls with an id that was called before, and results of calls that already have one. A reply
/// without any other content becomes [`INTERRUPTED`], unless it continues an earlier one.
///
/// The first copy is sent, even when the second one differs.
fn leave_out_copies(messages: &mut Vec<Message>) -> usize {
    let (mut called, mut answered) = (BTreeSet::new(), BTreeSet::new());
    let is_copy = |block: &Block| match &block.content {
        Content::Call(call) => !called.insert(call.id.clone()),
        Content::Result(result) => !answered.insert(result.call.clone()),
        _ => false,
    };
    leave_out(messages, is_copy, Some(INTERRUPTED))
}

/// Leaves out results without an earlier call.
fn leave_out_orphans(messages: &mut Vec<Message>) -> usize {
    let mut called = BTreeSet::new();
    let is_orphan = |block: &Block| match &block.content {
        Content::Call(call) => {
            called.insert(call.id.clone());
            false
        }
        Content::Result(result) => !called.contains(&result.call),
        _ => false,
    };
    leave_out(messages, is_orphan, None)
}

/// Leaves out calls without a result, except trailing ones.
fn leave_out_unanswered(messages: &mut Vec<Message>, has_open_tail: bool) -> usize {
    let last = messages.iter().rposition(|message| message.role == Role::Assistant);
    let open = pairs::dangling(messages).into_iter().filter(|(at, _)| !has_open_tail || Some(*at) != last);
    let places: BTreeSet<Place> = open
        .flat_map(|(at, blocks)| blocks.into_iter().map(move |n| (at, n)))
        .map(|(at, n)| messages[at].blocks[n].place.clone())
        .collect();
    leave_out(messages, |block| places.contains(&block.place), None)
}

/// Leaves out blocks, and returns their number. A user message that becomes empty is sent as [`NO_CONTENT`].
/// A reply with nothing left but thoughts is replaced by the text in `reply`, or left out.
fn leave_out(
    messages: &mut Vec<Message>,
    mut is_meant: impl FnMut(&Block) -> bool,
    reply: Option<&'static str>,
) -> usize {
    let mut n_left_out = 0;
    let mut replies: BTreeSet<Option<String>> = BTreeSet::new();
    messages.retain_mut(|message| {
        let n_before = message.blocks.len();
        message.blocks.retain(|block| !is_meant(block));
        let n = n_before - message.blocks.len();
        n_left_out += n;
        let is_reply = message.role == Role::Assistant;
        let goes_on = is_reply && !replies.insert(message.id.clone());
        if n == 0 || message.blocks.iter().any(|block| !matches!(block.content, Content::Thinking(_))) {
            return true;
        }
        let words = if is_reply { reply.filter(|_| !goes_on) } else { Some(NO_CONTENT) };
        if !is_reply {
            message.role = Role::User;
        }
        let place = message.place.clone();
        message.blocks.clear();
        let content = words.map(|words| Content::Text(words.to_owned()));
        message.blocks.extend(content.map(|content| Block { place, content, state: None }));
        words.is_some()
    });
    n_left_out
}

fn is_blank(block: &Content) -> bool {
    matches!(block, Content::Text(text) if text.trim().is_empty())
}
