//! What must be true of every repair, for property tests and fuzz targets.

use brickbat_rules::{Dialect, Profile};

use crate::{Files, ReadError, Repair, RepairError, RepairOptions, Session, Verdict, judge, read, repair};

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

/// What the repair does wrong with a request body of this dialect; nothing if it keeps its promises.
pub fn wrong_with_body(body: &[u8], dialect: Dialect, profile: &'static Profile) -> Option<String> {
    let options = RepairOptions { profile: Some(profile), body: Some(dialect), ..RepairOptions::default() };
    wrong_with_repair(&Files::one("body.json", body), 0, &options)
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
    use brickbat_rules::histories::Block;
    let mut places = std::collections::BTreeSet::new();
    for block in session.messages.iter().flat_map(|message| &message.blocks) {
        let is_result = matches!(block.content, Block::Result(_));
        if !places.insert((&block.place, is_result)) {
            return Some(format!("two blocks at {}", block.place));
        }
    }
    None
}
