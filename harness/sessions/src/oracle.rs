//! What must be true of every repair, for property tests and fuzz targets.

use brickbat_rules::Profile;
use brickbat_rules::histories::Block as Content;
use brickbat_rules::histories::generate::{History, Mending};

use crate::{
    Block, Files, NOT_RECORDED, ReadError, Repair, RepairError, RepairOptions, Session, Verdict, judge, read,
    read_body, repair,
};

/// Sessions of one store that are looked at: a fuzzer writes databases with thousands.
const MAX_SESSIONS: usize = 8;

/// What a reader or a repair does wrong with these files; nothing if they are read, judged and repaired as promised.
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

/// What came of a conversation of which it is known what is wrong with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It was sound, and stayed as it was.
    Healthy,
    /// It was mended.
    Mended,
    /// It was left alone, since nothing but a guess would mend it.
    Beyond,
}

/// What came of a generated conversation: a sound one stays as it is, one that can be mended is, and twice is once; nothing
/// of it is lost but what says nothing or stands there twice, and nothing is added but results that say that none was
/// recorded.
///
/// # Errors
///
/// What is wrong with that, with the body.
pub fn outcome_of(history: &History) -> Result<Outcome, String> {
    let request = history.request();
    let body = request.body.to_string();
    let profile = Some(Profile::newest(history.dialect));
    let options = RepairOptions { profile, body: Some(history.dialect), ..RepairOptions::default() };
    let files = Files::one("body.json", body.as_bytes());
    let fault = history.fault;
    let wrong = |words: String| Err(format!("{fault:?}: {words}\n{body}"));
    match (repair(&files, 0, &options), fault.map(|fault| fault.mending())) {
        (Ok(Repair::Healthy(_)), None) => Ok(Outcome::Healthy),
        (Ok(Repair::Beyond(_)), Some(Mending::Impossible)) => Ok(Outcome::Beyond),
        (Ok(Repair::Mended(mended)), Some(_)) => {
            let read = |bytes: &[u8]| read_body(bytes, history.dialect).map_err(|error| error.to_string());
            let (before, after) = (read(body.as_bytes())?, read(mended.files.main())?);
            let is_surplus = |place: &(String, usize, usize)| history.surplus.contains(&(place.1, place.2));
            let places = request.blocks.iter().filter(|place| !is_surplus(place));
            let must_stay: Vec<&str> = places.map(|(pointer, ..)| pointer.as_str()).collect();
            let stays = |block: &&Block| must_stay.contains(&block.place.pointer.as_str());
            if let Some(gone) = first_missing(blocks(&before).filter(stays), &after) {
                return wrong(format!("lost {gone:?}"));
            }
            let is_of_ours = |block: &&Block| match &block.content {
                Content::Result(result) => result.text() == NOT_RECORDED,
                _ => false,
            };
            if let Some(new) = first_missing(blocks(&after).filter(|block| !is_of_ours(block)), &before) {
                return wrong(format!("made up {new:?}"));
            }
            match repair(&mended.files, 0, &options) {
                Ok(Repair::Healthy(_)) => Ok(Outcome::Mended),
                again => wrong(format!("repaired twice: {again:?}")),
            }
        }
        (Ok(Repair::Beyond(beyond)), _) => wrong(beyond.why),
        (Ok(Repair::Healthy(_)), Some(_)) => wrong("taken for healthy".to_owned()),
        (Ok(Repair::Mended(_)), None) => wrong("a sound conversation was changed".to_owned()),
        (Err(error), _) => wrong(error.to_string()),
    }
}

fn blocks(session: &Session) -> impl Iterator<Item = &Block> {
    session.messages.iter().flat_map(|message| &message.blocks)
}

/// The first of these blocks that a session does not hold, wherever; of two equal ones it has to hold two.
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
        Err(RepairError::Unsound(words)) => Some(words),
        Ok(Repair::Mended(mended)) => match repair(&mended.files, index, options) {
            Ok(Repair::Healthy(_)) => None,
            // What came before a cut that nothing proves stays lost, and is not repaired a second time.
            Ok(Repair::Beyond(beyond)) if beyond.before.verdict == Verdict::Cut => None,
            // A list of which the only call or result is gone shows no more whose it is.
            Err(RepairError::Read(ReadError::Unknown)) => None,
            again => Some(format!("a repaired session is not healthy: {again:?}")),
        },
        _ => None,
    }
}

/// Two blocks of one place, which no edit could tell apart. A call and its result may share theirs.
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
