//! Claude Code: one JSONL file per session, with a companion folder next to it.
//!
//! The lines form a tree by `parentUuid`, and every block of a reply has its own line. [`branch`] rebuilds
//! the lines that are sent. Its developers call the format internal, so lines of an unknown kind are noted
//! and skipped. Sources: <https://code.claude.com/docs/en/sessions>,
//! <https://code.claude.com/docs/en/claude-directory>, and
//! <https://github.com/anthropics/claude-agent-sdk-python> (`_internal/sessions.py`, MIT), which has read the
//! branch in the same way since 0.2.170.

mod branch;
mod companions;
mod cut;
mod items;
mod join;
mod line;
mod messages;
mod new_line;
mod send;
mod tree;
mod version;
mod write;

#[cfg(test)]
mod tests;

use brickbat_rules::Dialect;

use super::{Edit, Look, ReadError, Store, WriteError};
use crate::{Files, Product, Sent, Session};
use branch::Branch;
use line::Lines;
use tree::Tree;

pub(crate) struct ClaudeCode;

/// Number of lines to examine before concluding that another program wrote the file. Bookkeeping before the
/// first line of the conversation takes a few dozen lines, and hundreds after a long resume.
const MAX_LOOK: usize = 10_000;

impl Store for ClaudeCode {
    fn owns(&self, look: &Look<'_>) -> bool {
        let lines = crate::json::lines(look.main()).take(MAX_LOOK);
        lines.filter_map(|line| line::is_claude_code(line.bytes)).next().unwrap_or(false)
    }

    fn read(&self, files: &Files) -> Result<Vec<Session>, ReadError> {
        let bytes = files.main();
        let lines = Lines::read(bytes);
        let tree = Tree::new(&lines.records, lines.version.unwrap_or_default());
        let branch = Branch::new(bytes, &tree);
        let on_branch = messages::of_branch(bytes, &tree, &branch)?;
        let off_branch = companions::off_branch(files, &lines.records, &branch, &on_branch);
        let mut session = Session {
            version: lines.version.map(|version| version.to_string()),
            id: lines.session.or_else(|| stem(files.name())),
            dialect: Some(Dialect::AnthropicMessages),
            model: messages::model(bytes, &tree, &branch),
            messages: on_branch,
            off_branch,
            n_records: lines.n_lines,
            n_compactions: branch.n_compactions,
            n_forks: branch.n_forks,
            troubles: lines.troubles,
            unknown: lines.unknown.into_iter().collect(),
            is_excerpt: branch.is_excerpt,
            refused: messages::refused(bytes, &tree),
            cut: branch.cut.map(|at| cut::of(bytes, &tree, at)),
            ..Session::new(
                Product::ClaudeCode,
                "JSONL",
                "the last line of the conversation, up from it by parentUuid, and what belongs to its replies",
            )
        };
        session.troubles.extend(branch.troubles);
        session.troubles.extend(messages::hollow(&tree, &branch.is_on));
        messages::name_results(&mut session);
        Ok(vec![session])
    }

    fn send(&self, session: &Session) -> Sent {
        send::send(session)
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

/// A file name without its folder and extension, which is the session id.
fn stem(name: &str) -> Option<String> {
    let last = name.rsplit('/').next()?;
    let stem = last.strip_suffix(".jsonl").unwrap_or(last);
    (!stem.is_empty()).then(|| stem.to_owned())
}
