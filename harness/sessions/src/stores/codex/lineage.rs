//! A fork, and the rollouts in which it begins.
//!
//! A paginated fork holds what was said in it alone. Its `session_meta` names the rollout of its parent, and the ordinal
//! before which it takes that over (`history_base` in `codex-rs/protocol/src/protocol.rs`); the parent may be a fork, too.

use brickbat_rules::json::{Document, Json};

use super::items::text;
use super::unpack::{Unpacked, head, unpack};
use crate::Files;
use crate::json::lines;

/// A rollout, as far as it belongs to the session.
pub(super) struct Segment<'f> {
    /// Which of the files it is.
    pub(super) file: usize,
    pub(super) rollout: Unpacked<'f>,
    /// The first ordinal that is not the session's.
    pub(super) end: Option<u64>,
}

/// The rollouts of a session, the oldest first.
pub(super) struct Lineage<'f> {
    pub(super) segments: Vec<Segment<'f>>,
    /// Whether all parents are there.
    pub(super) is_whole: bool,
    /// The id of the session itself.
    pub(super) id: Option<String>,
}

/// What a rollout says of itself.
struct Origin {
    id: Option<String>,
    /// The thread in whose rollout it begins, and the first ordinal there that is not its own.
    parent: Option<(String, u64)>,
}

/// Lines among which the first record is looked for: the first may be torn.
const MAX_HEAD_LINES: usize = 8;

/// The rollouts of the first file's session. Each file is used once, so a circle of parents ends.
///
/// # Errors
///
/// A rollout unpacks to more than one can be.
pub(super) fn of(files: &Files) -> Result<Lineage<'_>, String> {
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

/// The thread in whose rollout this one begins, if it is a fork.
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
