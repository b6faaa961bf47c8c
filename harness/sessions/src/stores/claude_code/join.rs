//! Joins a reply that lines of the user divide: the lines move behind the reply.
//!
//! A command such as `/usage` while a tool of the provider runs writes its lines between the call and the result.
//! The two must be in one reply, so every later request is rejected
//! (<https://github.com/anthropics/claude-code/issues/92509>). From version 2.1.278 on, new parents alone do not
//! help, so the lines move in the file too (<https://github.com/anthropics/claude-code/issues/73638>).

use std::collections::BTreeSet;

use serde_json::json;

use super::branch::Branch;
use super::line::{Kind, Lines, Record};
use super::tree::{Parent, Tree};
use super::write::refused;
use crate::EditError::{self, Missing, NoForm};
use crate::json::{span_of, splice};
use crate::stores::{Edit, WriteError};
use crate::{Files, Place};

/// The call and the result of a tool of the provider, each with the id of its line.
pub(super) struct Parted {
    call: String,
    result: String,
    place: Place,
}

/// The edits that join a reply. All others concern results of the user's tools, which are never in a reply.
pub(super) fn parted(files: &Files, edits: &[Edit]) -> Vec<Parted> {
    let moves = edits.iter().filter_map(|edit| match edit {
        Edit::Move { result, call, .. } if result.file == 0 && call.file == 0 => Some((result, call)),
        _ => None,
    });
    let moves: Vec<(&Place, &Place)> = moves.collect();
    if moves.is_empty() {
        return Vec::new();
    }
    let lines = Lines::read(files.main());
    let at = |place: &Place| lines.records.iter().find(|record| Some(record.line) == place.line);
    let is_reply = |record: &&Record| record.kind == Kind::Assistant;
    let of = |(result, call): (&Place, &Place)| {
        let (result_line, call_line) = (at(result).filter(is_reply)?, at(call).filter(is_reply)?);
        Some(Parted { call: call_line.uuid.clone(), result: result_line.uuid.clone(), place: call.clone() })
    };
    moves.into_iter().filter_map(of).collect()
}

/// The bytes of the file after the lines between a call and its result were moved behind the reply.
///
/// # Errors
///
/// The lines do not form a chain, or a result of a tool is between them.
pub(super) fn join(bytes: &[u8], parted: &Parted) -> Result<Vec<u8>, WriteError> {
    let refuse = |cause: EditError| refused(&parted.place, cause);
    let lines = Lines::read(bytes);
    let tree = Tree::new(&lines.records, lines.version.unwrap_or_default());
    let chain = Branch::new(bytes, &tree).chain;
    let position = |uuid: &str| chain.iter().position(|at| tree.records[*at].uuid == uuid);
    let (first, result) = position(&parted.call)
        .zip(position(&parted.result))
        .filter(|(call, result)| call <= result)
        .ok_or_else(|| refuse(Missing("the call and its result are not on the chain")))?;
    let last = end_of_reply(&chain, &tree, result);
    let (moved, stays): (Vec<usize>, Vec<usize>) = chain[first..=last].iter().copied().partition(|at| {
        let record = &tree.records[*at];
        record.kind != Kind::Assistant && chain[first..result].contains(at)
    });
    if moved.is_empty() {
        return Ok(bytes.to_vec());
    }
    let follows =
        |pair: &[usize]| tree.parent(pair[1]) == Parent::Line(pair[0]) && tree.hangs_as_written(pair[1]);
    let until = (last + 2).min(chain.len());
    if !chain[first..until].windows(2).all(follows) {
        return Err(refuse(NoForm("the lines of the reply do not follow each other")));
    }
    if moved
        .iter()
        .any(|at| !tree.records[*at].results.is_empty() || tree.records[*at].kind == Kind::Boundary)
    {
        return Err(refuse(NoForm("a result of another call is inside the reply")));
    }
    let order: Vec<usize> = stays.iter().chain(&moved).chain(chain.get(last + 1)).copied().collect();
    Ok(written(bytes, &tree, &order, &moved.into_iter().collect(), stays.last().copied()))
}

/// The position of the last line of the reply, with the results of its calls.
fn end_of_reply(chain: &[usize], tree: &Tree<'_>, result: usize) -> usize {
    let is_part = |at: &usize| {
        let record = &tree.records[*at];
        record.kind == Kind::Assistant || !record.results.is_empty()
    };
    result + chain[result + 1..].iter().take_while(|at| is_part(at)).count()
}

/// The lines in this order, each a child of the one before it.
fn written(
    bytes: &[u8],
    tree: &Tree<'_>,
    order: &[usize],
    moved: &BTreeSet<usize>,
    behind: Option<usize>,
) -> Vec<u8> {
    let mut edits = Vec::new();
    let mut texts = Vec::new();
    for pair in order.windows(2) {
        let (parent, record) = (&tree.records[pair[0]], &tree.records[pair[1]]);
        let uuid = json!(parent.uuid).to_string().into_bytes();
        let line = &bytes[record.span.clone()];
        let own = span_of(line, "/parentUuid");
        if moved.contains(&pair[1]) {
            texts.push(b'\n');
            texts.extend(splice(line, own.map(|span| (span, uuid)).into_iter().collect()));
            let whole = &record.whole;
            edits.push((whole.start..whole.end + usize::from(whole.end < bytes.len()), Vec::new()));
        } else if let Some(span) = own {
            let start = record.span.start;
            edits.push((start + span.start..start + span.end, uuid));
        }
    }
    if let Some(end) = behind.map(|at| tree.records[at].whole.end) {
        edits.push((end..end, texts));
    }
    splice(bytes, edits)
}
