//! Messages of a program that Brickbat does not know, wherever its file has them.
//!
//! The fields are read by the names that most programs use; see [`said`]. Only calls, their results and the order of both
//! are judged. Texts, images and settings may change when the program sends, so they are passed over.

mod gather;
mod said;

use std::collections::BTreeSet;

use brickbat_rules::Dialect;
use serde_json::Value;

use super::MESSAGE_LINES;
use super::assembled::Assembled;
use crate::{Files, Foreign, Place, Session};

use gather::Gathered;
use said::{Speaker, Thread};

/// See [`Session::generation`](crate::Session::generation).
pub(crate) const GENERATION: &str = "of a program that is not known";

/// The largest file that is searched, in bytes.
const MAX_SEARCHED: usize = 32 << 20;

/// The conversations in a file that no known product wrote.
pub(crate) fn sessions(files: &Files) -> Vec<Session> {
    if files.main().len() > MAX_SEARCHED {
        return Vec::new();
    }
    let session = |(assembled, foreign): (Assembled, Foreign)| {
        let mut session = Session { foreign, ..assembled.session(&MESSAGE_LINES) };
        for message in &mut session.messages {
            // A place inside the form that was made here is none in the file.
            message.blocks.iter_mut().for_each(|block| block.place = message.place.clone());
        }
        session
    };
    gather::of(files).into_iter().filter_map(thread).map(session).collect()
}

/// The records of a list, if it is a conversation.
fn thread(gathered: Gathered) -> Option<(Assembled, Foreign)> {
    if is_tree(&gathered.items) {
        return None;
    }
    let mut thread = Thread::default();
    let (mut n_messages, mut speakers) = (0, BTreeSet::new());
    let mut records: Vec<(Place, String)> = Vec::new();
    for (place, item) in &gathered.items {
        let Some(said) = thread.read(item) else { continue };
        n_messages += 1;
        speakers.insert(said.speaker);
        records.extend(said.records().into_iter().map(|record| (place.clone(), record.to_string())));
    }
    if thread.keeps_results_elsewhere() {
        thread.foreign.push("results".to_owned());
    }
    let both = [Speaker::User, Speaker::Assistant].iter().all(|speaker| speakers.contains(speaker));
    let is_conversation = both && n_messages >= 2 && 2 * n_messages >= gathered.items.len();
    let assembled = Assembled {
        id: gathered.id,
        dialect: Some(thread.dialect.unwrap_or(Dialect::OpenaiChat)),
        generation: GENERATION,
        records,
        ..Assembled::default()
    };
    // A field that was not understood may have a call as well as a result.
    let foreign =
        Foreign { has_results: !thread.foreign.is_empty(), keys: thread.foreign, ..Foreign::default() };
    is_conversation.then_some((assembled, foreign))
}

/// Returns whether the messages name the one before them, and two name the same one or two have one id: the branch that is
/// sent is not known then.
fn is_tree(items: &[(Place, Value)]) -> bool {
    const PARENTS: [&str; 4] = ["parentid", "parentuuid", "parentmessageid", "parent"];
    let twice = |names: &[&str]| {
        let mut seen = BTreeSet::new();
        let ids = items.iter().filter_map(|(_, item)| said::field(item, names)?.as_str());
        let mut ids = ids.filter(|id| !id.is_empty());
        ids.any(|id| !seen.insert(id))
    };
    twice(&PARENTS) || twice(&["uuid", "messageid"])
}

#[cfg(test)]
mod tests;
