//! Claude Code: a file of JSON lines for each session, and a folder of companions beside it.
//!
//! The lines form a tree by `parentUuid`, and every block of a reply has a line of its own. Which lines are sent is
//! rebuilt in [`branch`]; the store's own format is called internal by its makers, so a line of a kind that is not known
//! is noted and passed over. Facts: <https://code.claude.com/docs/en/sessions>,
//! <https://code.claude.com/docs/en/claude-directory>, and
//! <https://github.com/anthropics/claude-agent-sdk-python> (`_internal/sessions.py`, MIT), whose reading of the branch is
//! the same since 0.2.170.

mod branch;
mod companions;
mod cut;
mod items;
mod line;
mod messages;
mod new_line;
mod tree;
mod version;
mod write;

#[cfg(test)]
mod tests;

use brickbat_rules::Dialect;
use brickbat_rules::histories::{self, Role};

use super::{Edit, ReadError, Store, WriteError, pairs};
use crate::{Files, Message, Product, Sent, Session};
use branch::Branch;
use line::Lines;
use tree::Tree;

/// Claude Code's JSONL.
pub(crate) struct ClaudeCode;

/// Lines that are looked at before a file counts as none of Claude Code's. Bookkeeping that stands before the first
/// line of the conversation takes a few dozen, and hundreds after a long resume.
const MAX_LOOK: usize = 10_000;

impl Store for ClaudeCode {
    fn product(&self) -> Product {
        Product::ClaudeCode
    }

    fn recognises(&self, files: &Files) -> bool {
        let lines = crate::json::lines(files.main()).take(MAX_LOOK);
        lines.filter_map(|line| line::is_claude_code(line.bytes)).next().unwrap_or(false)
    }

    fn read(&self, files: &Files) -> Result<Vec<Session>, ReadError> {
        let bytes = files.main();
        let lines = Lines::read(bytes);
        let tree = Tree::new(&lines.records);
        let branch = Branch::new(bytes, &tree);
        let on_branch = messages::of_branch(bytes, &tree, &branch)?;
        let off_branch = companions::off_branch(files, &lines.records, &branch, &on_branch);
        let mut session = Session {
            product: Product::ClaudeCode,
            version: lines.version.map(|version| version.to_string()),
            generation: "JSONL",
            id: lines.session.or_else(|| stem(files.name())),
            dialect: Some(Dialect::AnthropicMessages),
            model: messages::model(bytes, &tree, &branch),
            messages: on_branch,
            off_branch,
            branch: "the last line of the conversation, up from it by parentUuid, and what belongs to its replies",
            n_records: lines.n_lines,
            n_compactions: branch.n_compactions,
            n_forks: branch.n_forks,
            troubles: lines.troubles,
            unknown: lines.unknown.into_iter().collect(),
            is_excerpt: branch.is_excerpt,
            cut: branch.cut.map(|at| cut::of(bytes, &tree, at)),
            body: None,
        };
        session.troubles.extend(branch.troubles);
        session.troubles.extend(messages::hollow(&tree, &branch.is_on));
        messages::name_results(&mut session);
        Ok(vec![session])
    }

    fn send(&self, session: &Session) -> Sent {
        send(session)
    }

    fn fills_open_tail(&self, session: &Session) -> Option<&'static str> {
        Some(version::of(session).open_tail())
    }

    fn write(&self, files: &Files, _: &Session, edits: &[Edit]) -> Result<Files, WriteError> {
        write::write(files, edits)
    }

    fn reattach(&self, files: &Files, session: &Session) -> Result<Files, WriteError> {
        write::reattach(files, session.cut.as_ref())
    }
}

/// What is sent: texts of white space alone are left out, and neighbours in one role are one message, in which results
/// come first.
///
/// Measured on 284 sessions of early 2026: of 134 stored blocks of white space 131 have later replies after them, so they
/// cannot have been sent; with this model all 229 requests that were rebuilt are ones that the provider took.
fn send(session: &Session) -> Sent {
    let mut n_blank = 0;
    let mut messages: Vec<Message> = Vec::new();
    for message in sendable(session) {
        let mut message = message.clone();
        let n_blocks = message.blocks.len();
        message.blocks.retain(|block| !is_blank(&block.content));
        n_blank += n_blocks - message.blocks.len();
        if message.blocks.is_empty() {
            continue;
        }
        // Results move before words of the user that were said while the tool ran.
        let at = match message.role {
            Role::Tool => messages.iter().rposition(|before| before.role != Role::User).map_or(0, |n| n + 1),
            _ => messages.len(),
        };
        match at.checked_sub(1).and_then(|before| messages.get_mut(before)) {
            Some(before) if before.role == message.role => before.blocks.append(&mut message.blocks),
            _ => messages.insert(at, message),
        }
    }
    let mut mended = Vec::new();
    if n_blank > 0 {
        mended.push(("leaves out texts of white space", n_blank));
    }
    if version::of(session).mends_pairs() {
        let (mut kept, n_dropped) = pairs::without_orphans(&messages);
        let dangling = pairs::dangling(&kept);
        let n_filled = pairs::fill(&mut kept, dangling, crate::NOT_RECORDED);
        let words =
            [("leaves out results without a call", n_dropped), ("fills calls without a result", n_filled)];
        mended.extend(words.into_iter().filter(|(_, n)| *n > 0));
        messages = kept;
    } else if version::of(session).mends_unexpected_results() {
        let n_orphans = n_orphans(&messages);
        if n_orphans > 0 {
            mended.push((
                "mends itself after the provider has refused an unexpected result (since 2.1.274)",
                n_orphans,
            ));
        }
    }
    Sent { messages, mended, gives_up: None }
}

/// The messages of the branch. A file that begins in the middle of a session was sent with what stood before it, so what
/// comes before the first words of the user in it cannot be judged, and is left out.
fn sendable(session: &Session) -> &[Message] {
    let first = match session.is_excerpt {
        true => session.messages.iter().position(|message| message.role == Role::User),
        false => Some(0),
    };
    first.and_then(|first| session.messages.get(first..)).unwrap_or_default()
}

fn is_blank(block: &histories::Block) -> bool {
    matches!(block, histories::Block::Text(text) if text.trim().is_empty())
}

/// Results whose call is not in the reply before them.
fn n_orphans(messages: &[Message]) -> usize {
    let mut calls: Vec<&str> = Vec::new();
    let mut n_orphans = 0;
    for message in messages {
        match message.role {
            Role::Assistant => {
                calls = message.calls().map(|call| call.id.as_str()).collect();
                calls.sort_unstable();
            }
            _ => {
                let is_orphan =
                    |result: &&histories::CallResult| calls.binary_search(&result.call.as_str()).is_err();
                n_orphans += message.results().filter(is_orphan).count();
            }
        }
    }
    n_orphans
}

/// The name of a file without its folder and its ending: the id of the session.
fn stem(name: &str) -> Option<String> {
    let last = name.rsplit('/').next()?;
    let stem = last.strip_suffix(".jsonl").unwrap_or(last);
    (!stem.is_empty()).then(|| stem.to_owned())
}
