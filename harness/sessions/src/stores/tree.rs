//! Stores with lines that form a tree, in which each line names its parent. The path from the last line to
//! the root is the branch.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::records::{Record, Splices};
use crate::json::span_of;
use crate::{Cut, Place, Trouble, strays};

/// The names of the fields that form the tree.
#[derive(Debug, Clone, Copy)]
pub(super) struct Keys {
    /// The id of the line.
    pub(super) id: &'static str,
    /// The id of the parent line.
    pub(super) parent: &'static str,
}

/// Lines, and the branch among them.
#[derive(Debug)]
pub(super) struct Tree {
    pub(super) keys: Keys,
    /// The lines with an id.
    pub(super) records: Vec<Record>,
    /// The indices of the lines with each id, in order.
    pub(super) by_id: BTreeMap<String, Vec<usize>>,
    /// The ids from the root to the leaf.
    pub(super) path: Vec<String>,
    /// The ids in `path`, for lookups.
    pub(super) on_path: BTreeSet<String>,
    /// The number of ids with more than one child.
    pub(super) n_forks: usize,
    /// The faults in the branch.
    pub(super) troubles: Vec<Trouble>,
    /// The cut, if the branch is cut off from earlier lines of the file.
    pub(super) cut: Option<Cut>,
}

impl Tree {
    /// Builds the tree from these lines, except those without an id. The last line is the leaf.
    ///
    /// If lines share an id, `which` selects the one with the parent that counts.
    pub(super) fn of(lines: Vec<Record>, keys: Keys, which: Which) -> Tree {
        let mut records: Vec<Record> = Vec::new();
        let mut by_id: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        let mut troubles = Vec::new();
        for record in lines.into_iter().filter(|record| !record.text(keys.id).is_empty()) {
            let own = by_id.entry(record.text(keys.id).to_owned()).or_default();
            // A copy at the end would make the product continue from there. Where the first line counts, the product
            // reads all lines of an id as one record.
            let first = own.first().filter(|_| which == Which::Last).map(|n| &records[*n]);
            let first = first.filter(|first| first.value == record.value);
            if let Some(first) = first.and_then(|first| first.line) {
                troubles.push(strays::copy(record.place(""), first));
                continue;
            }
            own.push(records.len());
            records.push(record);
        }
        let (path, on_path) = (Vec::new(), BTreeSet::new());
        let mut tree = Tree { keys, records, by_id, path, on_path, n_forks: 0, troubles, cut: None };
        tree.walk(which);
        tree.count_forks();
        tree
    }

    fn walk(&mut self, which: Which) {
        let mut next = self.records.last().map(|record| record.text(self.keys.id).to_owned());
        let mut child: Option<Place> = None;
        while let Some(id) = next.take().filter(|id| !id.is_empty()) {
            let lines = self.by_id.get(&id).map(Vec::as_slice).unwrap_or_default();
            let line = match which {
                Which::First => lines.first(),
                Which::Last => lines.last(),
            };
            let words = match line {
                None => "its parent is not in the file, so everything before it is cut off",
                Some(_) if self.on_path.contains(&id) => "its parents form a circle",
                Some(line) => {
                    let record = &self.records[*line];
                    child = Some(record.place(""));
                    next = Some(record.text(self.keys.parent).to_owned());
                    self.on_path.insert(id.clone());
                    self.path.push(id);
                    continue;
                }
            };
            let place = child.clone().unwrap_or_default();
            // A file may begin in the middle of a session. In that case no line comes before the first one.
            if self.records.first().is_some_and(|first| first.place("") != place) {
                self.cut = Some(Cut { place: place.clone(), parent: None });
            }
            self.troubles.push(Trouble { place, words: words.to_owned(), loses: None });
        }
        self.path.reverse();
    }

    fn count_forks(&mut self) {
        let mut children: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for record in &self.records {
            let parent = record.text(self.keys.parent);
            children.entry(parent).or_default().insert(record.text(self.keys.id));
        }
        self.n_forks = children.iter().filter(|(parent, own)| !parent.is_empty() && own.len() > 1).count();
    }

    /// The lines with an id.
    pub(super) fn lines(&self, id: &str) -> impl DoubleEndedIterator<Item = &Record> {
        self.by_id.get(id).into_iter().flatten().map(|line| &self.records[*line])
    }

    /// The lines off the branch.
    pub(super) fn off_branch(&self) -> impl Iterator<Item = &Record> {
        self.records.iter().filter(|record| !self.on_path.contains(record.text(self.keys.id)))
    }

    /// The line that contains a place, and the pointer inside it.
    pub(super) fn at<'p>(&self, place: &'p Place) -> Option<(&Record, &'p str)> {
        let start = usize::try_from(place.start).ok()?;
        let found = self.records.binary_search_by_key(&start, |record| record.span.start).ok()?;
        Some((&self.records[found], &place.pointer))
    }
}

/// Selects the line that counts if several share an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    /// The first line.
    First,
    /// The last line.
    Last,
}

/// A line of the branch while it is edited.
#[derive(Debug)]
enum Node {
    Stored(String),
    New(Value),
    /// A line at the end of the file that makes the previous line of the branch the leaf.
    Last(Value),
}

/// A branch while it is edited.
#[derive(Debug)]
pub(super) struct Branch<'t> {
    tree: &'t Tree,
    /// The lines of the branch, then the new lines. `next` defines their order.
    nodes: Vec<Node>,
    /// The next line on the branch for each of them.
    next: Vec<Option<usize>>,
    /// The index of the line with each id.
    by_id: BTreeMap<String, usize>,
    /// For each line with new lines after it, the last following line that belongs to it.
    ends: BTreeMap<usize, usize>,
    removed: BTreeSet<String>,
    /// Replacements inside lines.
    pub(super) splices: Splices,
    /// The number of lines visited while searching for a place.
    #[cfg(test)]
    n_passed: usize,
}

impl<'t> Branch<'t> {
    pub(super) fn of(tree: &'t Tree) -> Branch<'t> {
        let nodes: Vec<Node> = tree.path.iter().cloned().map(Node::Stored).collect();
        Branch {
            tree,
            next: (1..=nodes.len()).map(|n| (n < nodes.len()).then_some(n)).collect(),
            by_id: tree.path.iter().enumerate().map(|(n, id)| (id.clone(), n)).collect(),
            nodes,
            ends: BTreeMap::new(),
            removed: BTreeSet::new(),
            splices: Splices::default(),
            #[cfg(test)]
            n_passed: 0,
        }
    }

    /// Returns whether a line of the file, or a new line, has this id.
    pub(super) fn has(&self, id: &str) -> bool {
        self.by_id.contains_key(id) || self.tree.by_id.contains_key(id)
    }

    /// Inserts a new line after the line with an id and the lines that belong to it. Returns whether there is
    /// such a line.
    ///
    /// `belongs` must return the same result for a line each time, so that each line is visited once,
    /// regardless of how many are inserted there.
    pub(super) fn insert(&mut self, id: &str, value: Value, belongs: impl Fn(&Value) -> bool) -> bool {
        let Some(at) = self.by_id.get(id).copied() else { return false };
        let mut end = self.ends.get(&at).copied().unwrap_or(at);
        while let Some(next) = self.next[end].filter(|next| self.belongs(*next, &belongs)) {
            end = next;
            #[cfg(test)]
            {
                self.n_passed += 1;
            }
        }
        let new = self.nodes.len();
        self.by_id.entry(crate::json::text(&value, self.tree.keys.id).to_owned()).or_insert(new);
        self.nodes.push(Node::New(value));
        self.next.push(self.next[end]);
        self.next[end] = Some(new);
        self.ends.insert(at, end);
        true
    }

    /// Returns whether this line belongs to the line before it. Removed lines are skipped.
    fn belongs(&self, node: usize, belongs: impl Fn(&Value) -> bool) -> bool {
        match &self.nodes[node] {
            Node::Stored(id) => {
                let last = || self.tree.lines(id).next_back();
                self.removed.contains(id) || last().is_some_and(|record| belongs(&record.value))
            }
            Node::New(value) => belongs(value),
            Node::Last(_) => false,
        }
    }

    /// Removes the lines with an id from the file. Their children become children of their parent.
    pub(super) fn remove(&mut self, id: &str) {
        if self.by_id.get(id).is_some_and(|node| matches!(self.nodes[*node], Node::Stored(_))) {
            self.by_id.remove(id);
        }
        self.removed.insert(id.to_owned());
    }

    /// Corrects a field in which a line names an earlier one: if that is removed, the line names the next one of the
    /// branch that stays. A line with no such line before it does not change.
    pub(super) fn rename(&mut self, bytes: &[u8], field: &str) {
        let tree = self.tree;
        let mut next = None;
        let mut after: BTreeMap<&str, (usize, &str)> = BTreeMap::new();
        for (at, id) in tree.path.iter().enumerate().rev() {
            match self.removed.contains(id) {
                true => after.extend(next.map(|next| (id.as_str(), next))),
                false => next = Some((at, id.as_str())),
            }
        }
        for (at, id) in tree.path.iter().enumerate().filter(|(_, id)| !self.removed.contains(*id)) {
            for record in tree.lines(id) {
                let Some((_, next)) = after.get(record.text(field)).filter(|(next, _)| *next < at) else {
                    continue;
                };
                if let Some(span) = span_of(&bytes[record.span.clone()], &format!("/{field}")) {
                    let start = record.span.start;
                    self.splices
                        .replace(span.start + start..span.end + start, Value::from(*next).to_string());
                }
            }
        }
    }

    /// Ends the branch after an id, with a line at the end of the file that makes it the leaf. Returns
    /// whether there is a line with that id.
    pub(super) fn truncate(&mut self, id: &str, last: Value) -> bool {
        let Some(mut end) = self.by_id.get(id).copied() else { return false };
        let is_new = |node: &usize| matches!(self.nodes[*node], Node::New(_)) || self.is_removed(*node);
        while let Some(next) = self.next[end].filter(is_new) {
            end = next;
        }
        if self.next[end].is_some() {
            self.next[end] = Some(self.nodes.len());
            self.nodes.push(Node::Last(last));
            self.next.push(None);
        }
        true
    }

    fn is_removed(&self, node: usize) -> bool {
        matches!(&self.nodes[node], Node::Stored(id) if self.removed.contains(id))
    }

    /// The lines in the order of the branch.
    fn take_in_order(&mut self) -> Vec<Node> {
        let mut nodes: Vec<Option<Node>> = std::mem::take(&mut self.nodes).into_iter().map(Some).collect();
        let mut order = Vec::with_capacity(nodes.len());
        // The branch begins with its first line, if there is one.
        let mut at = (!self.next.is_empty()).then_some(0);
        while let Some(node) = at {
            order.extend(nodes[node].take());
            at = self.next[node];
        }
        order
    }

    /// The file after all changes.
    pub(super) fn carry_out(mut self, bytes: &[u8]) -> Vec<u8> {
        let tree = self.tree;
        let nodes = self.take_in_order();
        let root = tree.path.first().and_then(|id| tree.lines(id).next());
        let mut parent =
            root.and_then(|record| record.value.get(tree.keys.parent)).cloned().unwrap_or_default();
        let mut anchor: Option<&Record> = None;
        let mut on_branch = BTreeSet::new();
        for node in nodes {
            match node {
                Node::Stored(id) if self.removed.contains(&id) => {}
                Node::Stored(id) => {
                    tree.lines(&id).for_each(|record| self.rewire(bytes, record, &parent));
                    anchor = tree.lines(&id).next_back().or(anchor);
                    parent = Value::String(id.clone());
                    on_branch.insert(id);
                }
                Node::New(mut value) => {
                    value[tree.keys.parent] = parent;
                    parent = value[tree.keys.id].clone();
                    match anchor {
                        Some(anchor) => self.splices.line_after(anchor, &value),
                        None => self.splices.replace(0..0, format!("{value}\n")),
                    }
                }
                Node::Last(mut value) => {
                    value[tree.keys.parent] = parent.clone();
                    let text =
                        if bytes.ends_with(b"\n") { format!("{value}\n") } else { format!("\n{value}") };
                    self.splices.replace(bytes.len()..bytes.len(), text);
                }
            }
        }
        self.close_gaps(bytes, &on_branch);
        self.splices.carry_out(bytes)
    }

    /// Removes the lines, and attaches their children off the branch to the parents of the lines.
    fn close_gaps(&mut self, bytes: &[u8], on_branch: &BTreeSet<String>) {
        let tree = self.tree;
        if self.removed.is_empty() {
            return;
        }
        let mut above: BTreeMap<&str, Value> = BTreeMap::new();
        let mut kept = Value::Null;
        for id in &tree.path {
            match self.removed.contains(id) {
                true => drop(above.insert(id, kept.clone())),
                false => kept = Value::String(id.clone()),
            }
        }
        for record in tree.records.iter() {
            let (id, parent) = (record.text(tree.keys.id), record.text(tree.keys.parent));
            if self.removed.contains(id) {
                self.splices.without_line(bytes, record);
            } else if let Some(above) = above.get(parent).filter(|_| !on_branch.contains(id)) {
                self.rewire(bytes, record, above);
            }
        }
    }

    fn rewire(&mut self, bytes: &[u8], record: &Record, parent: &Value) {
        let stored = record.value.get(self.tree.keys.parent).unwrap_or(&Value::Null);
        if stored == parent {
            return;
        }
        if let Some(span) = span_of(&bytes[record.span.clone()], &format!("/{}", self.tree.keys.parent)) {
            let at = record.span.start;
            self.splices.replace(span.start + at..span.end + at, parent.to_string());
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::records::of_lines;
    use super::*;

    /// A search from the first line each time would visit half a million lines.
    #[test]
    fn lines_are_visited_once_however_many_are_inserted_after_one_line() {
        const N: usize = 1000;
        let line = |n: usize| {
            format!(
                "{{\"id\":\"l{n}\",\"parent\":{}}}\n",
                n.checked_sub(1).map_or("null".to_owned(), |n| format!("\"l{n}\""))
            )
        };
        let file: String = (0..N).map(line).collect();
        let tree = Tree::of(of_lines(file.as_bytes()).0, Keys { id: "id", parent: "parent" }, Which::First);
        assert_eq!(tree.path.len(), N);
        let mut branch = Branch::of(&tree);
        for n in 0..N {
            assert!(branch.insert("l0", json!({ "id": format!("n{n}"), "parent": null }), |_| true));
        }
        assert!(branch.n_passed <= 2 * N, "{} lines were passed", branch.n_passed);
        let written = String::from_utf8(branch.carry_out(file.as_bytes())).unwrap();
        let ids: Vec<&str> = written.lines().map(|line| line.split('"').nth(3).unwrap()).collect();
        assert_eq!((ids.len(), ids[N - 1], ids[N], ids[2 * N - 1]), (2 * N, "l999", "n0", "n999"));
    }
}
