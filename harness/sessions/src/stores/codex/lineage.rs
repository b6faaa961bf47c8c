//! A fork, and the rollouts in which it begins.
//!
//! A paginated fork contains only its own part of the conversation. Its `session_meta` names the rollout of
//! its parent, and the ordinal before which it inherits the records (`history_base` in
//! `codex-rs/protocol/src/protocol.rs`). The parent may be a fork, too.

use brickbat_rules::json::{Document, Json};

use super::items::text;
use super::unpack::{Unpacked, head, unpack};
use crate::json::lines;
use crate::{Files, FormError};

/// A rollout, up to the last record that belongs to the session.
pub(super) struct Segment<'f> {
    /// The index of its file.
    pub(super) file: usize,
    pub(super) rollout: Unpacked<'f>,
    /// The first ordinal that does not belong to the session.
    pub(super) end: Option<u64>,
}

/// The rollouts of a session, oldest first.
pub(super) struct Lineage<'f> {
    pub(super) segments: Vec<Segment<'f>>,
    /// True if no parent is missing.
    pub(super) is_whole: bool,
    /// The id of the session itself.
    pub(super) id: Option<String>,
}

/// The origin that a rollout records.
struct Origin {
    id: Option<String>,
    /// The parent thread, and the first ordinal of its rollout that the fork does not inherit.
    parent: Option<(String, u64)>,
}

/// Number of lines to search for the first record, since the first line may be torn.
const MAX_HEAD_LINES: usize = 8;

/// The rollouts of the first file's session. Each file is used once, so a cycle of parents ends.
///
/// # Errors
///
/// A rollout unpacks to more bytes than the maximum.
pub(super) fn of(files: &Files) -> Result<Lineage<'_>, FormError> {
    let rollout = unpack(files.main())?;
    let Origin { id, mut parent } = origin(&rollout.bytes);
    let mut segments = vec![Segment { file: 0, rollout, end: None }];
    while let Some((thread, end)) = parent.take() {
        let is_parent = |bytes: &[u8]| {
            head(bytes).is_some_and(|head| origin(&head).id.as_deref() == Some(thread.as_str()))
        };
        let is_used = |n: usize| segments.iter().any(|segment| segment.file == n);
        let mut others = files.files.iter().enumerate().skip(1);
        let Some((file, own)) = others.find(|(n, file)| !is_used(*n) && is_parent(&file.bytes)) else {
            segments.reverse();
            return Ok(Lineage { segments, is_whole: false, id });
        };
        let rollout = unpack(&own.bytes)?;
        parent = origin(&rollout.bytes).parent;
        segments.push(Segment { file, rollout, end: Some(end) });
    }
    segments.reverse();
    Ok(Lineage { segments, is_whole: true, id })
}

/// The parent thread of a rollout, if it is a fork.
pub(super) fn parent_of(bytes: &[u8]) -> Option<String> {
    origin(&head(bytes)?).parent.map(|(thread, _)| thread)
}

fn origin(bytes: &[u8]) -> Origin {
    let documents = lines(bytes).take(MAX_HEAD_LINES).filter_map(|line| Document::parse(line.bytes).ok());
    let found = documents.map(|document| {
        let root: Json = document.root();
        let payload = root.field("payload");
        let is_meta = root.field("type").is("session_meta");
        is_meta.then(|| {
            let base = payload.field("history_base");
            let end = base.field("end_ordinal_exclusive").as_u64();
            let parent = end.map(|end| (text(base, "thread_id"), end));
            let id = payload.field("id").as_str().map(|id| id.into_owned());
            Origin { id, parent: parent.filter(|(thread, _)| !thread.is_empty()) }
        })
    });
    found.flatten().next().unwrap_or(Origin { id: None, parent: None })
}
