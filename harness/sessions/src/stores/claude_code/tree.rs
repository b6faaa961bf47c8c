//! The line tree: each line's parent, and the end of the active conversation.

use std::collections::BTreeMap;

use super::line::{Kind, Record};
use super::version::Version;

/// The lines of a file, indexed by their ids.
pub(super) struct Tree<'r> {
    /// All lines of the tree, in the order of the file.
    pub(super) records: &'r [Record],
    /// The line with each id. If two lines have the same id, the later one counts, as in the product's own
    /// map.
    by_uuid: BTreeMap<&'r str, usize>,
    /// Each line's parent.
    parents: Vec<Parent>,
    /// True if the parent of a line is the one that the line names.
    is_written: Vec<bool>,
    /// The version that wrote the file.
    pub(super) version: Version,
}

/// The parent of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Parent {
    /// None: the conversation begins with this line.
    Nothing,
    /// A line that is not in the file.
    Phantom,
    /// The index of a line in the file.
    Line(usize),
}

/// The end of the active conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Leaf {
    /// The index of the last line.
    pub(super) at: usize,
    /// True if the file is of a sub-agent, in which all lines are side lines.
    pub(super) is_sidechain: bool,
    /// True if the file is of a team member.
    pub(super) is_team: bool,
}

impl<'r> Tree<'r> {
    /// Links the lines written by this version.
    pub(super) fn new(records: &'r [Record], version: Version) -> Tree<'r> {
        let by_uuid: BTreeMap<&str, usize> =
            records.iter().enumerate().map(|(at, record)| (record.uuid.as_str(), at)).collect();
        let parent_of = |record: &Record| match record.parent.as_deref() {
            None | Some("") => Parent::Nothing,
            Some(uuid) => by_uuid.get(uuid).map_or(Parent::Phantom, |at| Parent::Line(*at)),
        };
        let parents = records.iter().map(parent_of).collect();
        let mut tree = Tree { records, by_uuid, parents, is_written: vec![true; records.len()], version };
        tree.keep_across_compactions();
        tree
    }

    /// The parent of a line.
    pub(super) fn parent(&self, at: usize) -> Parent {
        self.parents[at]
    }

    /// Returns whether the parent of a line is the one that the line names.
    pub(super) fn hangs_as_written(&self, at: usize) -> bool {
        self.is_written[at]
    }

    /// The line with an id.
    pub(super) fn find(&self, uuid: &str) -> Option<usize> {
        self.by_uuid.get(uuid).copied()
    }

    /// Returns whether an id refers to this line and not to a later one.
    pub(super) fn is_current(&self, at: usize) -> bool {
        self.find(&self.records[at].uuid) == Some(at)
    }

    /// Moves the messages that a compaction keeps behind its anchor, and makes the children of the anchor
    /// children of the last kept message: "Loaders splice the preserved segment at anchor_uuid" (`sdk.d.ts`
    /// of `@anthropic-ai/claude-agent-sdk` 0.3.331).
    fn keep_across_compactions(&mut self) {
        // For each anchor, the first and the last kept line.
        let mut splices: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
        for (boundary, record) in self.records.iter().enumerate() {
            let Some(kept) = record.kept.as_ref().filter(|_| record.kind == Kind::Boundary) else { continue };
            let first: Vec<usize> = kept.first.iter().filter_map(|uuid| self.find(uuid)).collect();
            let (Some(anchor), Some(last)) = (self.find(&kept.anchor), self.find(&kept.last)) else {
                continue;
            };
            // The kept lines come before the boundary. If one is missing, the others are unknown, too.
            let is_whole = first.len() == kept.first.len() && last < boundary && anchor >= boundary;
            let (Some(head), true) = (first.first(), is_whole) else { continue };
            let mut before = anchor;
            for at in &first {
                self.hang(*at, before);
                before = *at;
            }
            splices.insert(anchor, (*head, last));
        }
        if splices.is_empty() {
            return;
        }
        for at in 0..self.records.len() {
            if let Parent::Line(parent) = self.parents[at]
                && let Some((head, last)) = splices.get(&parent)
                && at != *head
            {
                self.hang(at, *last);
            }
        }
    }

    fn hang(&mut self, at: usize, parent: usize) {
        self.is_written[at] &= self.parents[at] == Parent::Line(parent);
        self.parents[at] = Parent::Line(parent);
    }

    /// The end of the active conversation. Each line without children leads to a candidate: itself, or the
    /// first line of the conversation above it. The latest candidate in the file is the end. Side lines, team
    /// lines and lines that the product wrote in the user's name count only if there are no others.
    pub(super) fn leaf(&self) -> Option<Leaf> {
        let mut is_parent = vec![false; self.records.len()];
        for at in 0..self.records.len() {
            if let (Parent::Line(parent), true) = (self.parents[at], self.is_current(at)) {
                is_parent[parent] = true;
            }
        }
        // Each line is visited once, so many forks and cycles cost no more than one chain.
        let mut is_passed = vec![false; self.records.len()];
        let (mut main, mut any) = (None, None);
        for (terminal, is_parent) in is_parent.into_iter().enumerate() {
            let mut next = (!is_parent && self.is_current(terminal)).then_some(terminal);
            while let Some(at) = next.filter(|at| !std::mem::replace(&mut is_passed[*at], true)) {
                let record = &self.records[at];
                if matches!(record.kind, Kind::User | Kind::Assistant) {
                    any = any.max(Some(at));
                    if record.is_sidechain || record.is_team {
                        break;
                    }
                    // Above a trailing line of the product is the end of the same conversation.
                    if !record.is_meta {
                        main = main.max(Some(at));
                        break;
                    }
                }
                next = match self.parents[at] {
                    Parent::Line(parent) => Some(parent),
                    Parent::Nothing | Parent::Phantom => None,
                };
            }
        }
        let end = main.or(any)?;
        let at = if self.version.resumes_at_first_copy() { self.first_copy(end) } else { end };
        let record = &self.records[at];
        Some(Leaf { at, is_sidechain: record.is_sidechain, is_team: record.is_team })
    }

    /// The first line above this one with the same calls or results and the same timestamp. If there is none,
    /// this line.
    fn first_copy(&self, end: usize) -> usize {
        let of = |at: usize| {
            let record = &self.records[at];
            (record.kind, &record.timestamp, &record.calls, &record.results)
        };
        let (_, timestamp, calls, results) = of(end);
        if timestamp.is_none() || calls.is_empty() && results.is_empty() {
            return end;
        }
        let mut is_passed = vec![false; self.records.len()];
        let (mut first, mut next) = (end, self.parents[end]);
        while let Parent::Line(at) = next
            && !std::mem::replace(&mut is_passed[at], true)
        {
            if of(at) == of(end) {
                first = at;
            }
            next = self.parents[at];
        }
        first
    }
}
