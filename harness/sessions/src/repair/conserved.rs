//! Checks that a repair loses nothing that was recorded and adds nothing that was not.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use brickbat_rules::histories::{Block, Role};
use serde_json::Value;

use super::plan::Planned;
use super::reason::Reason;
use crate::{Edit, Message, NOT_APPROVED, NOT_RECORDED, Place, Session};

/// Something that a repair lost or invented.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// A user message was lost or invented.
    UserMessage,
    /// A recorded result is missing, and no edit declares that.
    Result,
    /// A result was added that was never recorded and is not marked as such.
    MadeUpResult,
    /// A call was invented, or is missing and no edit declares that.
    Call,
    /// Text or thoughts of the model were lost or invented.
    Reply,
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Loss::UserMessage => "it would change what the user said",
            Loss::Result => "it would lose a recorded result",
            Loss::MadeUpResult => "it would state a result that was not recorded",
            Loss::Call => "it would lose or make up a call",
            Loss::Reply => "it would change what the model said",
        })
    }
}

/// Everything that the repair lost or invented beyond its declared edits. If the branch was truncated on
/// request, losses are not checked.
pub fn losses(before: &Session, after: &Session, edits: &[Planned]) -> Vec<Loss> {
    if edits.iter().any(|planned| planned.reason == Reason::Truncated) {
        return Vec::new();
    }
    let count = |reason: Reason| edits.iter().filter(|planned| planned.reason == reason).count();
    let n_dropped = count(Reason::Duplicate) + count(Reason::Orphan);
    let mut found = Vec::new();
    let (had, has) = (Kept::of(before), Kept::of(after));
    let copies = edits.iter().filter(|planned| planned.reason == Reason::DuplicateMessage);
    let n_copies = n_parts(before, copies.map(|planned| &planned.place).collect());
    let (user, reply) = (copies_gone(&had.user, &has.user), copies_gone(&had.reply, &has.reply));
    if user.is_none_or(|user| user > n_copies) {
        found.push(Loss::UserMessage);
    }
    if reply.is_none_or(|reply| reply + user.unwrap_or(0) > n_copies) {
        found.push(Loss::Reply);
    }
    if missing(&had.thoughts, &has.thoughts) > count(Reason::Hollow) + count(Reason::DuplicateThought)
        || missing(&has.thoughts, &had.thoughts) > 0
    {
        found.push(Loss::Reply);
    }
    let n_calls_gone = missing(&had.calls, &has.calls);
    if n_calls_gone > count(Reason::DuplicateCall) + count(Reason::Unfinished)
        || missing(&has.calls, &had.calls) > 0
    {
        found.push(Loss::Call);
    }
    if missing(&had.results, &has.results) > n_dropped + n_calls_gone {
        found.push(Loss::Result);
    }
    let recorded = |key: &str| had.results.contains_key(key) || had.off_branch.contains_key(key);
    // The result text of a declined call comes from the product or the user.
    let declined: BTreeSet<&str> = edits.iter().filter_map(declined).collect();
    let is_honest = |key: &str| {
        let id = key.split_once('\u{0}').map_or(key, |(id, _)| id);
        [NOT_RECORDED, NOT_APPROVED].iter().any(|words| key.ends_with(words)) || declined.contains(id)
    };
    let made_up = has.results.iter().any(|(key, _)| !recorded(key) && !is_honest(key));
    if made_up {
        found.push(Loss::MadeUpResult);
    }
    found
}

/// The call id of an edit that records that the user declined the call.
fn declined(planned: &Planned) -> Option<&str> {
    match &planned.edit {
        Edit::Synthesise { id, .. } if planned.reason == Reason::Declined => Some(id),
        _ => None,
    }
}

/// The number of blocks that are at these places or inside them.
fn n_parts(session: &Session, places: Vec<&Place>) -> usize {
    let home = |place: &Place| (place.file, place.line, place.row.clone());
    let mut pointers: BTreeMap<_, BTreeSet<&str>> = BTreeMap::new();
    for place in places {
        pointers.entry(home(place)).or_default().insert(&place.pointer);
    }
    let is_part = |block: &&crate::Block| {
        let Some(own) = pointers.get(&home(&block.place)) else { return false };
        let pointer = &block.place.pointer;
        own.contains(pointer.as_str())
            || pointer.match_indices('/').any(|(at, _)| own.contains(&pointer[..at]))
    };
    match pointers.is_empty() {
        true => 0,
        false => session.messages.iter().flat_map(|message| &message.blocks).filter(is_part).count(),
    }
}

/// Returns whether the branch kept all its messages, and gained only messages that were off the branch in the
/// same files.
pub(super) fn brings_back(before: &Session, after: &Session) -> bool {
    let texts = |messages: &[Message]| -> BTreeMap<String, usize> {
        let mut texts = BTreeMap::new();
        for block in messages.iter().flat_map(|message| &message.blocks) {
            *texts.entry(format!("{:?}", block.content)).or_default() += 1;
        }
        texts
    };
    let (had, has) = (texts(&before.messages), texts(&after.messages));
    let mut known = had.clone();
    for (text, n) in texts(&before.off_branch) {
        *known.entry(text).or_default() += n;
    }
    missing(&had, &has) == 0 && missing(&has, &known) == 0
}

/// The contents of a session by kind.
struct Kept {
    user: Vec<String>,
    reply: Vec<String>,
    thoughts: BTreeMap<String, usize>,
    calls: BTreeMap<String, usize>,
    results: BTreeMap<String, usize>,
    off_branch: BTreeMap<String, usize>,
}

impl Kept {
    fn of(session: &Session) -> Kept {
        let mut kept = Kept {
            user: Vec::new(),
            reply: Vec::new(),
            thoughts: BTreeMap::new(),
            calls: BTreeMap::new(),
            results: BTreeMap::new(),
            off_branch: BTreeMap::new(),
        };
        for message in &session.messages {
            for block in &message.blocks {
                kept.take(message.role, &block.content);
            }
        }
        for block in session.off_branch.iter().flat_map(|message| &message.blocks) {
            if let Block::Result(result) = &block.content {
                *kept.off_branch.entry(key(&result.call, &said(&result.output))).or_default() += 1;
            }
        }
        kept
    }

    fn take(&mut self, role: Role, block: &Block) {
        match block {
            // Blank texts may be lost.
            Block::Text(text) if text.trim().is_empty() => {}
            Block::Text(text) => match role {
                Role::Assistant => self.reply.push(text.clone()),
                _ => self.user.push(text.clone()),
            },
            Block::Thinking(thinking) => *self.thoughts.entry(format!("{thinking:?}")).or_default() += 1,
            Block::Call(call) => {
                let words = format!("{} {}", call.name, call.arguments);
                *self.calls.entry(key(&call.id, &words)).or_default() += 1;
            }
            Block::Result(result) => {
                *self.results.entry(key(&result.call, &said(&result.output))).or_default() += 1;
            }
            Block::Image(image) => self.user.push(image.data.clone()),
            Block::Native { value, .. } if is_thought(block) => {
                *self.thoughts.entry(value.to_string()).or_default() += 1;
            }
            Block::Native { value, .. } => self.reply.push(without_position(value).to_string()),
        }
    }
}

/// An item without its id. pi counts the messages of a session to name an item, so the id of a message changes with
/// those before it.
fn without_position(item: &Value) -> Value {
    let mut item = item.clone();
    if item["type"] == "message"
        && let Some(fields) = item.as_object_mut()
    {
        fields.remove("id");
    }
    item
}

/// Returns whether a block is a thought, in the form of any API.
pub(super) fn is_thought(block: &Block) -> bool {
    match block {
        Block::Thinking(_) => true,
        Block::Native { value, .. } => value.get("type").is_some_and(|kind| kind == "reasoning"),
        _ => false,
    }
}

fn key(id: &str, words: &str) -> String {
    format!("{id}\u{0}{words}")
}

fn said(output: &[Block]) -> String {
    let texts = output.iter().map(|block| match block {
        Block::Text(text) => text.clone(),
        other => format!("{other:?}"),
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// The number of lost texts that had an equal copy. `None` if the remaining texts differ or changed their
/// order.
fn copies_gone(had: &[String], has: &[String]) -> Option<usize> {
    let mut kept = has.iter().peekable();
    let gone: Vec<&String> = had.iter().filter(|words| kept.next_if_eq(words).is_none()).collect();
    let said: BTreeSet<&String> = has.iter().collect();
    let is_same = kept.next().is_none() && gone.iter().all(|words| said.contains(words));
    is_same.then_some(gone.len())
}

/// The number of entries in the first map that the second one lacks.
fn missing(first: &BTreeMap<String, usize>, second: &BTreeMap<String, usize>) -> usize {
    first.iter().map(|(key, n)| n.saturating_sub(second.get(key).copied().unwrap_or(0))).sum()
}

#[cfg(test)]
mod tests {
    use brickbat_rules::Dialect;

    use super::*;
    use crate::read_body;

    const BEFORE: &str = r#"{"messages":[{"role":"user","content":"Look."},{"role":"assistant","content":[
        {"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"I look."},
        {"type":"tool_use","id":"a","name":"look","input":{}}]},
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"found"}]}]}"#;

    fn lost(after: &str) -> Vec<Loss> {
        let session = |body: &str| read_body(body.as_bytes(), Dialect::AnthropicMessages).unwrap();
        losses(&session(BEFORE), &session(after), &[])
    }

    #[test]
    fn undeclared_losses_and_additions_are_found() {
        assert_eq!(lost(BEFORE), []);
        let changed = |from: &str, to: &str| {
            assert!(BEFORE.contains(from));
            lost(&BEFORE.replace(from, to))
        };
        assert_eq!(changed("\"Look.\"", "\"Look again.\""), [Loss::UserMessage]);
        assert_eq!(changed("I look.", "I looked."), [Loss::Reply]);
        assert_eq!(changed("\"hm\"", "\"hm.\""), [Loss::Reply]);
        assert_eq!(changed("\"input\":{}", "\"input\":{\"n\":1}"), [Loss::Call]);
        assert_eq!(changed("\"found\"", "\"all done\""), [Loss::Result, Loss::MadeUpResult]);
        let silent = r#",
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"found"}]}"#;
        assert_eq!(changed(silent, ""), [Loss::Result]);
    }

    #[test]
    fn a_result_marked_as_not_recorded_is_not_made_up() {
        let with = format!(
            "\"found\"}},{{\"type\":\"tool_result\",\"tool_use_id\":\"b\",\"content\":\"{NOT_RECORDED}\""
        );
        assert_eq!(lost(&BEFORE.replace("\"found\"", &with)), []);
    }
}
