//! Cut branches: the lost lines, and the line that each branch provably follows.
//!
//! Writers that crashed or wrote at the same time lost lines (anthropics/claude-code#22526, #24304, #21751).
//! The product then sends only the connected lines, although the forgotten ones are still in the file.

use brickbat_rules::json::{Document, Json};

use super::branch::Branch;
use super::line::{Kind, Record, text};
use super::tree::{Parent, Tree};
use crate::{Cut, Place};

/// The place where a line names its parent.
pub(super) fn place(record: &Record) -> Place {
    Place::in_line(record.line, record.span.start as u64..record.span.end as u64, "/parentUuid")
}

/// Returns whether a conversation with a beginning comes before this line in the file. If not, the file
/// begins in the middle of a session, and a batch may begin with several lines that have their parents
/// elsewhere.
pub(super) fn has_lost_lines(tree: &Tree, at: usize) -> bool {
    let has_beginning = beginnings(tree);
    (0..at).any(|before| is_talk(tree, before) && has_beginning[before])
}

/// The cut of a branch at this line.
pub(super) fn of(bytes: &[u8], tree: &Tree, at: usize) -> Cut {
    let is_phantom = tree.parent(at) == Parent::Phantom;
    let parent = is_phantom.then(|| proven_parent(bytes, tree, at)).flatten();
    Cut { place: place(&tree.records[at]), parent: parent.map(|parent| place(&tree.records[parent])) }
}

fn is_talk(tree: &Tree, at: usize) -> bool {
    let record = &tree.records[at];
    let is_talk = matches!(record.kind, Kind::User | Kind::Assistant);
    is_talk && !record.is_sidechain && !record.is_team && tree.is_current(at)
}

/// Returns, for each line, whether the first line of a conversation, or a compaction, is above it. Each line
/// is visited once, and a cycle has no beginning.
fn beginnings(tree: &Tree) -> Vec<bool> {
    let mut known: Vec<Option<bool>> = vec![None; tree.records.len()];
    for start in 0..known.len() {
        let mut passed = Vec::new();
        let mut at = start;
        let has = loop {
            if let Some(has) = known[at] {
                break has;
            }
            known[at] = Some(false);
            passed.push(at);
            match tree.parent(at) {
                Parent::Nothing => break true,
                Parent::Phantom => break tree.records[at].kind == Kind::Boundary,
                Parent::Line(_) if tree.records[at].kind == Kind::Boundary => break true,
                Parent::Line(parent) => at = parent,
            }
        };
        passed.into_iter().for_each(|at| known[at] = Some(has));
    }
    known.into_iter().map(|has| has == Some(true)).collect()
}

/// The line that a cut branch provably follows. `None` if it could be another line.
///
/// A result follows its call's line, which it names by the call's id. Any other line follows the end of the
/// conversation before it in the file, if there is only one such end, in the same session and not later in
/// time: the product appends each line as it is written. After a rewind, or with two writers, there are two
/// ends, so nothing is proven.
fn proven_parent(bytes: &[u8], tree: &Tree, at: usize) -> Option<usize> {
    let record = &tree.records[at];
    if record.is_sidechain || record.is_team {
        return None;
    }
    if let [call] = record.results.as_slice() {
        let has_call = |line: &usize| is_talk(tree, *line) && tree.records[*line].calls.contains(call);
        let mut lines = (0..tree.records.len()).filter(has_call);
        if let (Some(only), None) = (lines.next(), lines.next()) {
            return (only < at).then_some(only);
        }
    }
    let before = Tree::new(&tree.records[..at], tree.version);
    let branch = Branch::new(bytes, &before);
    let end = before.leaf()?.at;
    let has_one_end =
        branch.n_forks == 0 && (end..at).all(|line| !is_talk(&before, line) || branch.is_on[line]);
    (has_one_end && is_later(bytes, record, &before.records[end])).then_some(end)
}

/// Returns whether a line is in the same session as another and not earlier.
fn is_later(bytes: &[u8], line: &Record, than: &Record) -> bool {
    let read = |record: &Record| {
        let document = Document::parse(&bytes[record.span.clone()]).ok()?;
        let root: Json = document.root();
        Some((text(root, "sessionId")?, text(root, "timestamp")?))
    };
    let (Some((session, time)), Some((before, earlier))) = (read(line), read(than)) else { return false };
    // Timestamps have one form, in UTC, so their texts sort by time.
    session == before && time.len() == earlier.len() && time >= earlier
}
