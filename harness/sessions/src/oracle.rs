//! Invariants of every repair, for property tests and fuzz targets.

use brickbat_rules::Profile;
use brickbat_rules::histories::Block as Content;
use brickbat_rules::histories::generate::{Fault, History, Mending};
use thiserror::Error;

use crate::{
    Block, Files, NOT_RECORDED, Place, Planned, ReadError, Reason, Repair, RepairError, RepairOptions,
    Session, Verdict, judge, read, read_body, repair,
};

/// Maximum number of sessions to check in one store. A fuzzer writes databases with thousands of sessions.
const MAX_SESSIONS: usize = 8;

/// Describes a broken invariant. `None` if the files are read, judged and repaired as promised.
pub fn wrong_with_files(files: &Files) -> Option<String> {
    let sessions = read(files).ok()?;
    for (index, session) in sessions.iter().enumerate().take(MAX_SESSIONS) {
        if let Some(wrong) = wrong_with_places(session) {
            return Some(wrong);
        }
        judge(session, None);
        let options = RepairOptions { tail: true, truncate: true, ..RepairOptions::default() };
        if let Some(wrong) = wrong_with_repair(files, index, &options) {
            return Some(wrong);
        }
    }
    None
}

/// The outcome for a conversation with a known fault, or without one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The conversation was valid and stayed unchanged.
    Healthy,
    /// The conversation was repaired.
    Mended,
    /// The conversation was left alone, because its repair would require a guess.
    Beyond,
}

/// The repair of a generated conversation broke an invariant.
#[derive(Debug, Error)]
#[error("{fault:?}: {broken}\n{body}")]
pub struct Wrong {
    /// The fault of the conversation, if it has one.
    pub fault: Option<Fault>,
    /// The broken invariant.
    #[source]
    pub broken: Box<Broken>,
    /// The conversation as a request body.
    pub body: String,
}

/// An invariant that a repair broke.
#[derive(Debug, Error)]
pub enum Broken {
    /// The body before or after the repair cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The repair failed.
    #[error(transparent)]
    Repair(#[from] RepairError),
    /// A repairable conversation was left alone, for this reason.
    #[error("{0}")]
    Beyond(String),
    /// A conversation with a fault was not repaired.
    #[error("taken for healthy")]
    TakenForHealthy,
    /// A conversation without a fault was repaired.
    #[error("a sound conversation was changed")]
    Changed,
    /// A block is gone that no edit may remove.
    #[error("lost {0:?}")]
    Lost(Block),
    /// The repair added a block that is not marked as not recorded.
    #[error("made up {0:?}")]
    MadeUp(Block),
    /// A second repair did not find the repaired conversation healthy.
    #[error("repaired twice: {0:?}")]
    Again(Result<Repair, RepairError>),
}

/// Repairs a generated conversation and checks the invariants. A valid conversation stays unchanged, a
/// repairable one is repaired, and a second repair changes nothing. Only blank or duplicate blocks are lost,
/// and only results that are marked as not recorded are added.
///
/// # Errors
///
/// An invariant is broken.
pub fn outcome_of(history: &History) -> Result<Outcome, Wrong> {
    let request = history.request();
    let body = request.body.to_string();
    let profile = Some(Profile::newest(history.dialect));
    let options = RepairOptions { profile, body: Some(history.dialect), ..RepairOptions::default() };
    let files = Files::one("body.json", body.as_bytes());
    let fault = history.fault;
    let wrong = |broken| Wrong { fault, broken: Box::new(broken), body: body.clone() };
    match (repair(&files, 0, &options), fault.map(|fault| fault.mending())) {
        (Ok(Repair::Healthy(_)), None) => Ok(Outcome::Healthy),
        (Ok(Repair::Beyond(_)), Some(Mending::Impossible)) => Ok(Outcome::Beyond),
        (Ok(Repair::Mended(repaired)), Some(_)) => {
            let read = |bytes: &[u8]| read_body(bytes, history.dialect).map_err(|error| wrong(error.into()));
            let (before, after) = (read(body.as_bytes())?, read(repaired.files.main())?);
            let is_surplus = |place: &(String, usize, usize)| history.surplus.contains(&(place.1, place.2));
            let places = request.blocks.iter().filter(|place| !is_surplus(place));
            let must_stay: Vec<&str> = places.map(|(pointer, ..)| pointer.as_str()).collect();
            // A thought that the provider refuses is removed, which the report says.
            let hollow = places_of(&repaired.edits, Reason::Hollow);
            let stays = |block: &&Block| {
                must_stay.contains(&block.place.pointer.as_str()) && !hollow.contains(&&block.place)
            };
            if let Some(gone) = first_missing(blocks(&before).filter(stays), &after) {
                return Err(wrong(Broken::Lost(gone.clone())));
            }
            let is_of_ours = |block: &&Block| match &block.content {
                Content::Result(result) => result.text() == NOT_RECORDED,
                _ => false,
            };
            if let Some(new) = first_missing(blocks(&after).filter(|block| !is_of_ours(block)), &before) {
                return Err(wrong(Broken::MadeUp(new.clone())));
            }
            match repair(&repaired.files, 0, &options) {
                Ok(Repair::Healthy(_)) => Ok(Outcome::Mended),
                again => Err(wrong(Broken::Again(again))),
            }
        }
        (Ok(Repair::Beyond(beyond)), _) => Err(wrong(Broken::Beyond(beyond.why))),
        (Ok(Repair::Healthy(_)), Some(_)) => Err(wrong(Broken::TakenForHealthy)),
        (Ok(Repair::Mended(_)), None) => Err(wrong(Broken::Changed)),
        (Err(error), _) => Err(wrong(error.into())),
    }
}

/// The places of the edits with a reason.
fn places_of(edits: &[Planned], reason: Reason) -> Vec<&Place> {
    edits.iter().filter(|planned| planned.reason == reason).map(|planned| &planned.place).collect()
}

fn blocks(session: &Session) -> impl Iterator<Item = &Block> {
    session.messages.iter().flat_map(|message| &message.blocks)
}

/// The first of these blocks that the session does not contain anywhere. Two equal blocks must occur twice.
fn first_missing<'b>(mut wanted: impl Iterator<Item = &'b Block>, session: &Session) -> Option<&'b Block> {
    let mut left: Vec<&Content> = blocks(session).map(|block| &block.content).collect();
    wanted.find(|block| match left.iter().position(|content| **content == block.content) {
        Some(at) => {
            left.swap_remove(at);
            false
        }
        None => true,
    })
}

fn wrong_with_repair(files: &Files, index: usize, options: &RepairOptions) -> Option<String> {
    match repair(files, index, options) {
        Err(RepairError::Unsound(unsound)) => Some(unsound.to_string()),
        Ok(Repair::Mended(mended)) => match repair(&mended.files, index, options) {
            Ok(Repair::Healthy(_)) => None,
            // Messages before an unproven cut stay lost, and are not repaired a second time.
            Ok(Repair::Beyond(beyond)) if beyond.before.verdict == Verdict::Cut => None,
            // A list without its only call or result no longer shows which product wrote it.
            Err(RepairError::Read(ReadError::Unknown)) => None,
            again => Some(format!("a repaired session is not healthy: {again:?}")),
        },
        _ => None,
    }
}

/// Finds two blocks with the same place, which edits could not distinguish. A call and its result may share a
/// place.
fn wrong_with_places(session: &Session) -> Option<String> {
    let mut places = std::collections::BTreeSet::new();
    for block in blocks(session) {
        let is_result = matches!(block.content, Content::Result(_));
        if !places.insert((&block.place, is_result)) {
            return Some(format!("two blocks at {}", block.place));
        }
    }
    None
}
