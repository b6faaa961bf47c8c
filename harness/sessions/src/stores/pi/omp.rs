//! The lines and the send model of oh-my-pi, a fork of pi.
//!
//! Source: `buildSessionContext` (`src/session/session-context.ts`) of the package `@oh-my-pi/pi-coding-agent` 18.3.4, and
//! `transformMessages` (`src/providers/transform-messages.ts`) of `@oh-my-pi/pi-ai` 18.2.11,
//! <https://github.com/can1357/oh-my-pi>.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use brickbat_rules::histories::{self, Role};
use serde_json::{Value, json};

use super::send::{filled, finish};
use crate::json::text;
use crate::stores::records::Record;
use crate::{Block, Ending, Message, Sent, Session};

pub(super) const NAME: &str = "oh-my-pi";

/// The line of `/clear`: nothing before it is sent.
pub(super) const RESET: &str = "reset_boundary";

/// The lines that pi does not write. No request contains them.
pub(super) const LINES: [&str; 9] = [
    RESET,
    "title",
    "title_change",
    "model_usage",
    "service_tier_change",
    "ttsr_injection",
    "session_init",
    "mode_change",
    "credential_pin",
];

/// True for the line with the title, which is the first of a file and has a fixed length.
pub(super) fn is_title(value: &Value) -> bool {
    text(value, "type") == "title" && value["v"] == json!(1) && value["pad"].is_string()
}

/// True if oh-my-pi wrote the lines: it names a changed model in one field.
pub(super) fn wrote(records: &[Record]) -> bool {
    records.iter().any(|record| match record.text("type") {
        "title" => is_title(&record.value),
        "model_change" => record.value["model"].is_string() && record.value["modelId"].is_null(),
        kind => LINES.contains(&kind),
    })
}

/// The messages that oh-my-pi sends when it continues a stored session.
pub(super) fn send(session: &Session) -> Sent {
    let mut turns = Turns { messages: session.messages.clone(), ..Turns::default() };
    turns.leave_out_unanswered();
    turns.leave_out_failed();
    turns.leave_out_nameless();
    turns.rename_repeated();
    turns.pair();
    let Turns { messages, n_unanswered, n_failed, n_nameless, n_renamed, n_moved, n_orphans } = turns;
    let changes = [
        ("leaves out calls without a result", n_unanswered),
        ("leaves out replies that failed or were stopped", n_failed),
        ("leaves out calls without a name or an id", n_nameless),
        ("renames repeated ids", n_renamed),
        ("moves results to their calls", n_moved),
        ("leaves out results without a call, or turns them into text", n_orphans),
    ];
    finish(session, messages, &changes)
}

/// The messages, and the numbers of changes.
#[derive(Default)]
struct Turns {
    messages: Vec<Message>,
    n_unanswered: usize,
    n_failed: usize,
    n_nameless: usize,
    n_renamed: usize,
    n_moved: usize,
    n_orphans: usize,
}

impl Turns {
    /// Removes calls that no result answers. The signatures of such a reply are removed, too.
    fn leave_out_unanswered(&mut self) {
        let answered: BTreeSet<String> =
            self.messages.iter().flat_map(Message::results).map(|result| result.call.clone()).collect();
        let is_open = |block: &Block| call(block).is_some_and(|call| !answered.contains(&call.id));
        for message in &mut self.messages {
            let n_open = message.blocks.iter().filter(|block| is_open(block)).count();
            if message.role != Role::Assistant || n_open == 0 {
                continue;
            }
            self.n_unanswered += n_open;
            message
                .blocks
                .retain(|block| !is_open(block) && !matches!(block.content, histories::Block::Native { .. }));
            for block in &mut message.blocks {
                if let histories::Block::Thinking(thinking) = &mut block.content {
                    thinking.signature = None;
                }
            }
        }
        self.messages.retain(|message| !message.blocks.is_empty());
    }

    /// Removes failed and stopped replies, and the results after them.
    fn leave_out_failed(&mut self) {
        let mut left_out = BTreeSet::new();
        let mut kept = Vec::new();
        for mut message in std::mem::take(&mut self.messages) {
            if message.role == Role::Assistant && message.ending != Ending::Whole {
                left_out.extend(message.blocks.iter().filter_map(call).map(|call| call.id.clone()));
                self.n_failed += 1;
                continue;
            }
            message
                .blocks
                .retain(|block| result(block).is_none_or(|result| !left_out.contains(&result.call)));
            if !message.blocks.is_empty() {
                kept.push(message);
            }
        }
        self.messages = kept;
    }

    /// Removes calls that no provider accepts, and their results.
    fn leave_out_nameless(&mut self) {
        let mut left_out = BTreeSet::new();
        for message in &mut self.messages {
            if message.role == Role::Assistant {
                left_out.clear();
            }
            message.blocks.retain(|block| {
                if let Some(call) = call(block) {
                    let is_nameless = call.id.trim().is_empty() || call.name.trim().is_empty();
                    if is_nameless {
                        left_out.insert(call.id.clone());
                        self.n_nameless += 1;
                    }
                    return !is_nameless;
                }
                result(block).is_none_or(|result| !left_out.contains(&result.call))
            });
        }
        self.messages.retain(|message| !message.blocks.is_empty());
    }

    /// Gives a repeated id of a call an ending of its own. The results after it answer the calls in their order.
    fn rename_repeated(&mut self) {
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        let mut expected: BTreeMap<String, VecDeque<String>> = BTreeMap::new();
        for message in &mut self.messages {
            let mut in_this = BTreeSet::new();
            for block in &mut message.blocks {
                match &mut block.content {
                    histories::Block::Call(call) => {
                        let id = call.id.clone();
                        if in_this.insert(id.clone()) {
                            expected.remove(&id);
                        }
                        let n = seen.entry(id.clone()).or_default();
                        if *n > 0 {
                            call.id = format!("{id}_dup{n}");
                            self.n_renamed += 1;
                        }
                        *n += 1;
                        expected.entry(id).or_default().push_back(call.id.clone());
                    }
                    histories::Block::Result(result) => {
                        if let Some(own) = expected.get_mut(&result.call).and_then(VecDeque::pop_front) {
                            result.call = own;
                        }
                    }
                    _ => {}
                }
            }
        }
    }

    /// Puts the first later result of each call directly after its reply. Text of a result without a call becomes a message.
    fn pair(&mut self) {
        let calls: BTreeSet<String> = self
            .messages
            .iter()
            .flat_map(|message| &message.blocks)
            .filter_map(call)
            .map(|call| call.id.clone())
            .collect();
        let mut results: BTreeMap<String, Vec<(usize, Message)>> = BTreeMap::new();
        let mut paired: Vec<(usize, Message)> = Vec::new();
        for (n, message) in std::mem::take(&mut self.messages).into_iter().enumerate() {
            if message.role != Role::Tool {
                paired.push((n, message));
                continue;
            }
            for block in &message.blocks {
                let one = Message { blocks: vec![block.clone()], ..message.clone() };
                match result(block) {
                    Some(result) if calls.contains(&result.call) => {
                        results.entry(result.call.clone()).or_default().push((n, one));
                    }
                    Some(result) => {
                        self.n_orphans += 1;
                        let words = result.text();
                        if !words.trim().is_empty() {
                            let content = histories::Block::Text(words);
                            let blocks = vec![Block { content, ..block.clone() }];
                            paired.push((n, Message { role: Role::User, blocks, ..one }));
                        }
                    }
                    None => paired.push((n, one)),
                }
            }
        }
        for (n, message) in paired {
            let is_reply = message.role == Role::Assistant;
            let calls: Vec<Block> =
                message.blocks.iter().filter(|block| is_reply && call(block).is_some()).cloned().collect();
            self.messages.push(message);
            let n_calls = calls.len();
            for (block, call) in calls.iter().filter_map(|block| Some((block, call(block)?))) {
                let later = results.get(&call.id).and_then(|all| all.iter().find(|(at, _)| *at > n));
                let Some((at, result)) = later else {
                    // The result is before its call.
                    self.messages.push(filled(&call.id, &call.name, &block.place));
                    continue;
                };
                self.n_moved += usize::from(*at > n + n_calls);
                self.messages.push(result.clone());
            }
        }
    }
}

fn call(block: &Block) -> Option<&histories::Call> {
    match &block.content {
        histories::Block::Call(call) => Some(call),
        _ => None,
    }
}

fn result(block: &Block) -> Option<&histories::CallResult> {
    match &block.content {
        histories::Block::Result(result) => Some(result),
        _ => None,
    }
}
