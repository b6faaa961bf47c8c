//! The tree of lines: which line hangs on which, and where the active conversation ends.

use std::collections::BTreeMap;

use super::line::{Kind, Record};
use super::version::Version;

/// The lines of a file by their ids.
pub(super) struct Tree<'r> {
    /// All lines of the tree, in the order of the file.
    pub(super) records: &'r [Record],
    /// The line of each id. Where two lines have one id, the later counts, as in the product's own map.
    by_uuid: BTreeMap<&'r str, usize>,
    /// The line that each line hangs on.
    parents: Vec<Parent>,
    /// Whether the parent of a line is the one that is written in it.
    is_written: Vec<bool>,
    /// What wrote the file.
    pub(super) version: Version,
}

/// What a line hangs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Parent {
    /// Nothing: the conversation begins with it.
    Nothing,
    /// A line that is not in the file.
    Phantom,
    /// The line of this index.
    Line(usize),
}

/// Where the active conversation ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Leaf {
    /// The line.
    pub(super) at: usize,
    /// Whether it is the file of a sub-agent, in which all lines are side lines.
    pub(super) is_sidechain: bool,
    /// The same for a member of a team.
    pub(super) is_team: bool,
}

impl<'r> Tree<'r> {
    /// Links the lines, which that version wrote.
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

    /// What a line hangs on.
    pub(super) fn parent(&self, at: usize) -> Parent {
        self.parents[at]
    }

    /// Whether a line hangs where it says.
    pub(super) fn hangs_as_written(&self, at: usize) -> bool {
        self.is_written[at]
    }

    /// The line of an id.
    pub(super) fn find(&self, uuid: &str) -> Option<usize> {
        self.by_uuid.get(uuid).copied()
    }

    /// Whether this is the line of its id.
    pub(super) fn is_current(&self, at: usize) -> bool {
        self.find(&self.records[at].uuid) == Some(at)
    }

    /// Hangs what compactions keep of the messages before them after their anchors, and what hung on an anchor after
    /// the last of them: "Loaders splice the preserved segment at anchor_uuid" (`sdk.d.ts` of
    /// `@anthropic-ai/claude-agent-sdk` 0.3.331).
    fn keep_across_compactions(&mut self) {
        // The anchor, and the first and last of what is kept.
        let mut splices: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
        for (boundary, record) in self.records.iter().enumerate() {
            let Some(kept) = record.kept.as_ref().filter(|_| record.kind == Kind::Boundary) else { continue };
            let first: Vec<usize> = kept.first.iter().filter_map(|uuid| self.find(uuid)).collect();
            let (Some(anchor), Some(last)) = (self.find(&kept.anchor), self.find(&kept.last)) else {
                continue;
            };
            // What is kept stands before the boundary. Where a line is missing nothing is known of the rest.
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

    /// The end of the active conversation: of the lines that are nobody's parent, or the first line of the conversation
    /// above them, the one latest in the file. Side lines, those of a team and those the product wrote for the user count
    /// only where there are no others.
    pub(super) fn leaf(&self) -> Option<Leaf> {
        let mut is_parent = vec![false; self.records.len()];
        for at in 0..self.records.len() {
            if let (Parent::Line(parent), true) = (self.parents[at], self.is_current(at)) {
                is_parent[parent] = true;
            }
        }
        // Each line is passed once, whatever hangs on it: many forks and circles cost no more than one chain.
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
                    // Above a line that the product wrote at the end stands the end of the same conversation.
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

    /// The first line above this one that has the same calls or results, and was written at the same time; without one it is
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
