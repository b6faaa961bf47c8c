//! The records of a session that are sent: those of the active branch, or those that a list names.

use std::collections::{BTreeMap, BTreeSet};

use brickbat_rules::json::Json;

use super::letta::NOT_THERE;
use super::read::Records;
use super::{Form, Framing, Tree};
use crate::{Place, Session, Trouble};

/// The records that are sent, with their positions. `None` if all are.
pub(super) fn sent(
    form: &Form,
    records: &Records<'_, '_>,
    session: &mut Session,
    place: &dyn Fn(String) -> Place,
) -> Option<BTreeMap<usize, usize>> {
    if let Some(tree) = &form.tree {
        return Some(branch(tree, records));
    }
    let (list, id) = form.among?;
    let is_on = among(list, id, records)?;
    let named = records.own.pointer(list);
    if is_on.len() < named.items().count() {
        let (start, end) = (named.span().start as u64, named.span().end as u64);
        let at = Place { start, end, ..place(list_of(form, records, list)) };
        session.troubles.push(Trouble { place: at, words: NOT_THERE.to_owned(), loses: None });
    }
    Some(is_on)
}

/// The pointer to a list next to the records of a session.
fn list_of(form: &Form, records: &Records<'_, '_>, list: &str) -> String {
    let first = records.records.first().map(|(pointer, _)| pointer.as_str()).unwrap_or_default();
    let Framing::Each(_, lists) = &form.file else { return list.to_owned() };
    let before = lists.iter().find_map(|own| first.rsplit_once(&format!("{own}/")));
    format!("{}{list}", before.map_or("", |(owner, _)| owner))
}

/// The records of the active branch, with their positions.
fn branch(tree: &Tree, records: &Records<'_, '_>) -> BTreeMap<usize, usize> {
    let text = |record: Json<'_, '_>, at: &str| record.pointer(at).as_str().map(|id| id.into_owned());
    let ids: BTreeMap<String, usize> = records
        .records
        .iter()
        .enumerate()
        .filter_map(|(n, (_, record))| Some((text(*record, tree.id)?, n)))
        .collect();
    let current = tree.current.iter().find_map(|at| ids.get(&text(records.own, at)?).copied());
    let mut at = current.or(records.records.len().checked_sub(1));
    let mut chain = Vec::new();
    while let Some(n) = at.filter(|_| chain.len() < records.records.len()) {
        chain.push(n);
        at = text(records.records[n].1, tree.parent).and_then(|id| ids.get(&id).copied());
    }
    chain.into_iter().rev().enumerate().map(|(order, n)| (n, order)).collect()
}

/// The records that a list of ids names, in their order. `None` if the list is empty.
fn among(list: &str, id: &str, records: &Records<'_, '_>) -> Option<BTreeMap<usize, usize>> {
    let text = |value: Json<'_, '_>| value.as_str().map(|id| id.into_owned());
    let sent: BTreeSet<String> = records.own.pointer(list).items().filter_map(text).collect();
    let is_sent = |record: Json<'_, '_>| text(record.pointer(id)).is_some_and(|id| sent.contains(&id));
    let positions = records.records.iter().enumerate().filter(|(_, (_, record))| is_sent(*record));
    (!sent.is_empty()).then(|| positions.map(|(n, _)| (n, n)).collect())
}
