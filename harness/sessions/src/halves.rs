//! Half characters (lone surrogates): an escape such as `\ud83d` without its other half, left where a text
//! was cut inside an emoji.
//!
//! JavaScript products write and send them without an error, and providers reject the request body: "The
//! request body is not valid JSON: no low surrogate in string" (anthropics/claude-code#68325). Rust strings
//! cannot contain them, so they are read as U+FFFD, which takes the same number of bytes, and the location
//! of each is recorded.

use std::collections::BTreeSet;

use brickbat_rules::json::{halves, without_halves};
use brickbat_rules::{Profile, Severity, Violation, validate};

use crate::{Edit, File, Files, Lost, Place, Sent, Session, Trouble};

/// The description of a half character in a trouble.
const WORDS: &str = "half of a character, so the request body is not valid JSON";
/// The replacement, which has the same number of bytes.
const REPLACEMENT: &[u8; 6] = b"\\ufffd";
/// Maximum number of noted halves. One is enough for a rejection, and a hostile file may consist entirely
/// of halves.
const MAX_NOTED: usize = 10_000;
/// Magic bytes of non-text files.
const BINARY: [&[u8]; 2] = [b"SQLite format 3\0", b"\x28\xb5\x2f\xfd"];
/// A body with a half character.
const BODY: &[u8] = br#"{"messages":[],"contents":[],"input":["\ud83d"]}"#;

/// Files in which each half is replaced, with the locations of the halves.
pub(crate) struct Halves {
    /// The files. The replacement moves no byte, so all places stay valid.
    pub(crate) files: Files,
    /// The offsets of the halves in the first file.
    found: Vec<usize>,
}

impl Halves {
    /// `None` if the files contain no halves.
    pub(crate) fn of(files: &Files) -> Option<Halves> {
        let has = |file: &File| is_text(file) && halves(&file.bytes).next().is_some();
        if !files.files.iter().any(has) {
            return None;
        }
        let mut whole = files.clone();
        for file in whole.files.iter_mut().filter(|file| is_text(file)) {
            file.bytes = without_halves(&file.bytes).into_owned();
        }
        let first = files.files.first().filter(|file| is_text(file));
        let found = first.into_iter().flat_map(|file| halves(&file.bytes)).take(MAX_NOTED).collect();
        Some(Halves { files: whole, found })
    }

    /// Notes the halves that are on the branch.
    pub(crate) fn note(&self, files: &Files, sessions: &mut [Session]) {
        for session in sessions {
            if session.body.is_some() {
                session.body = Some(files.main().to_vec());
            }
            let blocks = session.messages.iter().flat_map(|message| &message.blocks);
            let mut places: Vec<&Place> = blocks
                .filter(|block| block.place.file == 0 && block.place.row.is_none())
                .map(|block| &block.place)
                .collect();
            places.sort_by_key(|place| place.start);
            let trouble = |at: &usize| {
                let at = *at as u64;
                let before = places.partition_point(|place| place.start <= at);
                // Blocks do not overlap, except that a call and its result may share a place.
                let mut around = places[..before].iter().rev().take(2);
                let block = around.find(|place| (place.start..place.end).contains(&at))?;
                let end = at + REPLACEMENT.len() as u64;
                Some(Trouble {
                    place: Place { start: at, end, ..(*block).clone() },
                    words: WORDS.to_owned(),
                    loses: Some(Lost::HalfCharacter),
                })
            };
            session.troubles.extend(self.found.iter().filter_map(trouble));
        }
    }
}

/// Returns whether a trouble is a half character.
pub(crate) fn is_half(trouble: &Trouble) -> bool {
    trouble.loses == Some(Lost::HalfCharacter)
}

/// The provider's violation and the location of the first half character that is sent, if any.
pub(crate) fn refusal(
    session: &Session,
    sent: &Sent,
    profile: &'static Profile,
) -> Option<(Violation, Place)> {
    let mut halves = session.troubles.iter().filter(|trouble| is_half(trouble)).map(|trouble| &trouble.place);
    let first = halves.next()?;
    // Spans of the blocks by their start, each extended to the furthest end so far.
    let sent = sent.messages.iter().flat_map(|message| &message.blocks).map(|block| &block.place);
    let mut spans: Vec<(usize, u64, u64)> = sent.map(|place| (place.file, place.start, place.end)).collect();
    spans.sort_unstable();
    for n in 1..spans.len() {
        if spans[n - 1].0 == spans[n].0 {
            spans[n].2 = spans[n].2.max(spans[n - 1].2);
        }
    }
    let is_sent = |half: &&Place| {
        let before = spans.partition_point(|(file, start, _)| (*file, *start) <= (half.file, half.start));
        let last = before.checked_sub(1).and_then(|last| spans.get(last));
        last.is_some_and(|(file, _, end)| *file == half.file && *end > half.start)
    };
    let place = std::iter::once(first).chain(halves).find(is_sent)?.clone();
    let violation = validate(profile, BODY).into_iter().find(|own| own.severity == Severity::Error)?;
    Some((violation, place))
}

/// The files with these halves replaced. `None` if there is any other edit.
pub(crate) fn replaced(files: &Files, session: &Session, edits: &[Edit]) -> Option<Files> {
    let halves: BTreeSet<&Place> =
        session.troubles.iter().filter(|trouble| is_half(trouble)).map(|trouble| &trouble.place).collect();
    let is_of_half = |edit: &Edit| matches!(edit, Edit::Discard { place } if halves.contains(place));
    if halves.is_empty() || edits.is_empty() || !edits.iter().all(is_of_half) {
        return None;
    }
    let mut files = files.clone();
    for edit in edits {
        let Edit::Discard { place } = edit else { continue };
        let span = usize::try_from(place.start).ok()?..usize::try_from(place.end).ok()?;
        files.files.get_mut(place.file)?.bytes.get_mut(span)?.copy_from_slice(REPLACEMENT);
    }
    Some(files)
}

/// Returns whether a file is neither a database nor packed.
pub(crate) fn is_text(file: &File) -> bool {
    !BINARY.iter().any(|magic| file.bytes.starts_with(magic))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Repair, RepairOptions, Verdict, judge, read, repair};

    fn found(text: &str) -> Vec<usize> {
        halves(text.as_bytes()).collect()
    }

    #[test]
    fn only_half_characters_are_found() {
        assert_eq!(found(r#""\ud83d\ude00 \n \\ud83d \u00e4""#), Vec::<usize>::new());
        assert_eq!(found(r#""\ud83d""#), [1]);
        assert_eq!(found(r#""\ude00\ud83d\ud83d\ude00""#), [1, 7]);
        assert_eq!(found(r"\ud83"), Vec::<usize>::new());
        assert_eq!(found("\\"), Vec::<usize>::new());
    }

    #[test]
    fn half_of_a_character_is_rejected_and_replaced_in_place() {
        let store = r#"[{"role":"user","content":"Write \ud83d."},{"role":"assistant","content":"Done \ud83d\ude00."}]"#;
        let files = Files::one("api_conversation_history.json", store);
        let session = read(&files).unwrap().remove(0);
        let judgement = judge(&session, None);
        assert_eq!(judgement.verdict, Verdict::Refused);
        assert_eq!(judgement.refusals[0].rule.unwrap().id, "anthropic-messages/body-not-json");
        let Ok(Repair::Mended(mended)) = repair(&files, 0, &RepairOptions::default()) else {
            panic!("mended")
        };
        assert_eq!(mended.files.main(), store.replacen(r"\ud83d", r"\ufffd", 1).as_bytes());
    }
}
