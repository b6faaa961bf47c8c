//! Brings a session back: the fewest edits after which the provider takes the next request, and nothing invented.
//!
//! A repair is planned on what the product sends, written into the store, read again, and judged. It counts only if the
//! provider then accepts, a second repair changes nothing, and nothing was lost or made up but what the edits say.

mod conserved;
mod plan;

use std::collections::BTreeSet;

use brickbat_rules::histories;
use brickbat_rules::json::Document;
use brickbat_rules::{Dialect, Memory, Profile, Severity, validate_asking, validate_list_to};
use thiserror::Error;

use crate::judge::closed;
use crate::{
    Block, Edit, Files, Judgement, Message, Place, ReadError, Relapse, Session, Trouble, Verdict, WriteError,
    judge_for, read_body, store_of,
};
use crate::{halves, stores, strays};

pub use conserved::{Loss, losses};
pub use plan::{Planned, Reason, plan};

/// What a repair may do beyond the default.
#[derive(Debug, Clone, Default)]
pub struct RepairOptions {
    /// The provider, if it is not the one that the store shows.
    pub profile: Option<&'static Profile>,
    /// The model that the next request asks, where the store does not show it.
    pub model: Option<String>,
    /// The first file is a request body, or a list of messages, of this dialect; else it is whatever it is recognised as.
    pub body: Option<Dialect>,
    /// Fill calls at the very end that have no result, although the product may still be running them.
    pub tail: bool,
    /// If nothing else helps, end the branch before what is refused.
    pub truncate: bool,
}

/// What came of a repair.
#[derive(Debug, Clone)]
pub enum Repair {
    /// There is nothing to mend, so nothing was changed.
    Healthy(Box<Judgement>),
    /// It is mended.
    Mended(Box<Mended>),
    /// It cannot be repaired from the files alone.
    Beyond(Box<Beyond>),
}

/// A mended session.
#[derive(Debug, Clone)]
pub struct Mended {
    /// The files after the repair. Those that were not touched are equal to what they were.
    pub files: Files,
    /// Lines with which a cut branch began, and that hang on the line before them again.
    pub reattached: Vec<Place>,
    /// The edits, in the order of the conversation.
    pub edits: Vec<Planned>,
    /// The verdict before.
    pub before: Judgement,
    /// The verdict after.
    pub after: Judgement,
    /// The first byte of the request that changes, from which on the provider's cache is lost; and the request's length.
    pub changed_from: (usize, usize),
    /// What the product does with the session that undoes the repair.
    pub relapse: Option<&'static Relapse>,
}

/// A session that is beyond repair.
#[derive(Debug, Clone)]
pub struct Beyond {
    /// The verdict.
    pub before: Judgement,
    /// Why it stays refused, in words without content.
    pub why: String,
    /// Whether it would be accepted after ending the branch earlier.
    pub can_truncate: bool,
}

impl Beyond {
    /// What its owner can do: a sentence.
    pub fn way_out(&self) -> &'static str {
        match self.before.verdict {
            _ if self.can_truncate => {
                "`--truncate` ends the conversation before it; the thread loses everything after it."
            }
            Verdict::Undecided => "Name the model with `--model`.",
            Verdict::Cut => "The thread continues as it is, without anything before that line.",
            Verdict::Unreadable => "Take the file from a backup, if there is one.",
            _ => {
                "Begin a new session; `brickbat session --request` prints the request of this one, so that you can copy \
                 what you need."
            }
        }
    }
}

/// Why a repair could not be tried.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RepairError {
    /// The store could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The store has no form for an edit that puts a cut branch back.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// There is no session of that number.
    #[error("no such session")]
    NoSession,
    /// The repair itself is wrong, so nothing of it was kept.
    #[error("the repair was discarded: {0}")]
    Unsound(String),
}

/// The rules that refuse a call for its arguments.
const ARGUMENTS: [&str; 3] =
    ["anthropic-messages/tool-input-not-object", "openai-chat/arguments-not-json", "gemini/args-not-object"];

/// Rounds of planning. A mended pairing can bring out a fault that it hid, such as a message that is empty now; that takes
/// two or three.
const MAX_ROUNDS: usize = 8;

/// Edits up to which it is tried for each of them whether the others are enough. Beyond, all are kept.
const MAX_TRIED: usize = 48;

/// Bytes that all these tries together may read and write: each goes over the whole session. It is a second or two.
const MAX_TRIED_BYTES: usize = 96 << 20;

/// Places where a branch was cut that are mended, one after the other. Each was a lost line.
const MAX_CUTS: usize = 32;

/// Turns that are taken off one by one, at most, to find where a branch is accepted.
const MAX_TRUNCATED: usize = 200;

/// Whether [`repair()`] has nothing to mend in a request body, or a list of messages, of this dialect. It only asks the rules, and
/// so takes a fraction of the time.
pub fn is_healthy(body: &[u8], dialect: Dialect, options: &RepairOptions) -> bool {
    let profile = options.profile.unwrap_or_else(|| Profile::newest(dialect));
    let document = Document::parse(body);
    let Ok(root) = document.as_ref().map(Document::root) else { return false };
    let named = root.get("model").or_else(|| root.get("modelId")).and_then(|model| model.as_str());
    let model = named.as_deref().or(options.model.as_deref());
    let violations = match root.is_array() {
        true => validate_list_to(profile, model, body),
        false => validate_asking(profile, &Memory::default(), model, body, &document),
    };
    violations.iter().all(|violation| violation.severity != Severity::Error)
}

/// Repairs the session of that index in the files.
///
/// # Errors
///
/// The files could not be read or written, or the repair was unsound and was not kept.
pub fn repair(files: &Files, index: usize, options: &RepairOptions) -> Result<Repair, RepairError> {
    let start = Attempt::new(files.clone(), index, options)?;
    let is_tail = start.judgement.verdict == Verdict::OpenTail && options.tail;
    let is_sound = match start.judgement.verdict {
        Verdict::Accepted | Verdict::OpenTail | Verdict::Excerpt => true,
        // A body is judged by what it names.
        Verdict::Undecided => options.body.is_some(),
        Verdict::Cut | Verdict::Refused | Verdict::Unreadable => false,
    };
    let has_torn = start.session.troubles.iter().any(|trouble| trouble.loses.is_some());
    if is_sound && !is_tail && !has_torn {
        return Ok(Repair::Healthy(Box::new(start.judgement)));
    }
    // For an older model there is nothing to mend, and a healthy session is never touched.
    if start.judgement.verdict == Verdict::Undecided && options.body.is_none() {
        let why = why(&start.judgement);
        return Ok(Repair::Beyond(Box::new(Beyond { before: start.judgement, why, can_truncate: false })));
    }
    let (clean, strays) = without_strays(&start, options)?;
    let (whole, reattached) = reattach(&clean, options)?;
    let is_changed = !reattached.is_empty() || has_torn || start.judgement.verdict != Verdict::Cut;
    if is_changed && let Some((last, edits)) = mended(&whole, options)? {
        return Ok(finished(start, last, reattached, [strays, edits].concat()));
    }
    // What was lost may hold a fault of its own that cannot be mended.
    if !reattached.is_empty()
        && start.judgement.verdict != Verdict::Cut
        && let Some((last, edits)) = mended(&clean, options)?
    {
        return Ok(finished(start, last, Vec::new(), [strays, edits].concat()));
    }
    let Mending { attempt: stuck, unwritten, .. } = mend(&whole, options)?;
    let can_truncate =
        !options.truncate && !stuck.is_accepted(options) && truncate(&stuck, options)?.0.is_accepted(options);
    let why = unwritten.map_or_else(|| why(&stuck.judgement), |error| error.to_string());
    Ok(Repair::Beyond(Box::new(Beyond { before: start.judgement, why, can_truncate })))
}

fn finished(start: Attempt, last: Attempt, reattached: Vec<Place>, edits: Vec<Planned>) -> Repair {
    let changed_from = changed_from(&start.judgement, &last.judgement);
    let relapse = store_of(last.session.product).and_then(|store| store.relapse(&edits));
    let (before, after, files) = (start.judgement, last.judgement, last.files);
    Repair::Mended(Box::new(Mended { files, reattached, edits, before, after, changed_from, relapse }))
}

/// The session with the fewest edits after which it is accepted, and those edits; nothing if none helps.
fn mended(start: &Attempt, options: &RepairOptions) -> Result<Option<(Attempt, Vec<Planned>)>, RepairError> {
    let Mending { attempt: mut last, mut rounds, .. } = mend(start, options)?;
    if !last.is_accepted(options) && options.truncate {
        let (truncated, planned) = truncate(&last, options)?;
        last = truncated;
        rounds.extend(planned);
    }
    if !last.is_accepted(options) {
        return Ok(None);
    }
    let (last, edits) = fewest(start, last, rounds, options)?;
    hold(start, &last, &edits, options)?;
    Ok(Some((last, edits)))
}

/// The session without what stands beside its records, and how that was taken out. It comes before all else: the places of
/// other edits are those of the files without it.
fn without_strays(start: &Attempt, options: &RepairOptions) -> Result<(Attempt, Vec<Planned>), RepairError> {
    let strays = start.session.troubles.iter().filter(|trouble| strays::is_stray(trouble));
    let planned: Vec<Planned> = strays.map(|trouble| discard(&trouble.place, reason_of(trouble))).collect();
    match planned.is_empty() {
        true => Ok((start.clone(), planned)),
        false => Ok((start.after(&edits_of(&planned), options)?, planned)),
    }
}

/// Puts the branch back on the lines that it is proven to follow, and says with which lines it was cut.
fn reattach(start: &Attempt, options: &RepairOptions) -> Result<(Attempt, Vec<Place>), RepairError> {
    let mut current = start.clone();
    let mut reattached = Vec::new();
    let is_proven = |attempt: &Attempt| attempt.session.cut.as_ref().is_some_and(|cut| cut.parent.is_some());
    while reattached.len() < MAX_CUTS && is_proven(&current) {
        let store = store_of(current.session.product).ok_or(RepairError::NoSession)?;
        let files = store.reattach(&current.files, &current.session)?;
        let next = current.read_again(files, options)?;
        if !conserved::brings_back(&current.session, &next.session) {
            return Err(RepairError::Unsound("it would change what was said".to_owned()));
        }
        reattached.extend(current.session.cut.as_ref().map(|cut| cut.place.clone()));
        current = next;
    }
    // A file with more cuts was not written by a product that lost a line now and then: all of it stays as it is.
    if is_proven(&current) {
        return Ok((start.clone(), Vec::new()));
    }
    Ok((current, reattached))
}

/// A state of the files, read and judged.
#[derive(Debug, Clone)]
struct Attempt {
    files: Files,
    index: usize,
    session: Session,
    judgement: Judgement,
}

impl Attempt {
    fn new(files: Files, index: usize, options: &RepairOptions) -> Result<Attempt, RepairError> {
        let session = match options.body {
            Some(dialect) => read_body(files.main(), dialect)?,
            None => crate::read(&files)?.into_iter().nth(index).ok_or(RepairError::NoSession)?,
        };
        Ok(Attempt::of(files, index, session, options))
    }

    fn of(files: Files, index: usize, session: Session, options: &RepairOptions) -> Attempt {
        let judgement = judge_for(&session, options.profile, options.model.as_deref());
        Attempt { files, index, session, judgement }
    }

    fn after(&self, edits: &[Edit], options: &RepairOptions) -> Result<Attempt, RepairError> {
        let store = store_of(self.session.product).ok_or(RepairError::NoSession)?;
        let files = halves::replaced(&self.files, &self.session, edits)
            .or_else(|| strays::taken_out(&self.files, &self.session, edits));
        let files = match files {
            Some(files) => files,
            None => store.write(&self.files, &self.session, edits)?,
        };
        self.read_again(files, options)
    }

    fn read_again(&self, files: Files, options: &RepairOptions) -> Result<Attempt, RepairError> {
        let store = store_of(self.session.product).ok_or(RepairError::NoSession)?;
        // A list of which the only call is gone shows no more whose it is.
        let session = match options.body {
            Some(dialect) => read_body(files.main(), dialect)?,
            None => {
                stores::read_as(store, &files)?.into_iter().nth(self.index).ok_or(RepairError::NoSession)?
            }
        };
        Ok(Attempt::of(files, self.index, session, options))
    }

    fn is_accepted(&self, options: &RepairOptions) -> bool {
        let has_torn = self.session.troubles.iter().any(|trouble| trouble.loses.is_some());
        !has_torn
            && match self.judgement.verdict {
                Verdict::Accepted | Verdict::Excerpt => true,
                Verdict::OpenTail => !options.tail,
                // A branch that is proven to follow another line is put there before anything else is done.
                Verdict::Cut => !options.tail || !self.session.has_open_tail() || !self.fills_open_tail(),
                // What is edited at all is made good for every model.
                Verdict::Undecided => options.body.is_some(),
                Verdict::Refused | Verdict::Unreadable => false,
            }
    }

    /// The places that are refused for a rule that is meant.
    fn refused_for(&self, is_meant: impl Fn(&str) -> bool) -> Vec<Place> {
        let refusals = self.judgement.refusals.iter();
        let meant = refusals.filter(|refusal| refusal.rule.is_none_or(|rule| is_meant(rule.id)));
        meant.filter_map(|refusal| refusal.place.clone()).collect()
    }

    fn fills_open_tail(&self) -> bool {
        store_of(self.session.product).is_some_and(|store| store.fills_open_tail(&self.session).is_some())
    }

    /// What should be edited next; empty if there is nothing to be done.
    fn plan(&self, options: &RepairOptions) -> Vec<Planned> {
        // Halves of characters first, since no store can write a text that holds one.
        let halves = self.session.troubles.iter().filter(|trouble| halves::is_half(trouble));
        let halves: Vec<Planned> =
            halves.map(|trouble| discard(&trouble.place, Reason::HalfCharacter)).collect();
        if !halves.is_empty() {
            return halves;
        }
        let torn = self.session.troubles.iter().filter(|trouble| trouble.loses.is_some());
        let torn: Vec<Planned> = torn.map(|trouble| discard(&trouble.place, reason_of(trouble))).collect();
        if !torn.is_empty() {
            return torn;
        }
        let sent = &without_needless_fillers(&self.judgement.sent.messages, &self.session);
        let arguments: Vec<Place> = self.refused_for(|rule| ARGUMENTS.contains(&rule));
        let unfinished = plan::drop_unfinished(sent, &arguments);
        if !unfinished.is_empty() {
            return unfinished;
        }
        // What the product leaves out at send is in the store all the same.
        let mut elsewhere = self.session.off_branch.clone();
        elsewhere.extend(self.session.messages.iter().cloned());
        // A tail that may stay open is taken as filled.
        let stays_open = self.session.has_open_tail() && self.fills_open_tail() && !options.tail;
        let planned = match stays_open {
            true => plan::plan(&closed(sent), &elsewhere),
            false => plan::plan(sent, &elsewhere),
        };
        if !planned.is_empty() {
            return planned;
        }
        let refused = self.refused_for(|_| true);
        let blank = plan::drop_blank(sent, &refused);
        if !blank.is_empty() {
            return blank;
        }
        let empty = plan::drop_empty(sent);
        if !empty.is_empty() {
            return empty;
        }
        let straightened = plan::straighten(sent, &refused);
        match straightened.is_empty() {
            true => plan::drop_thinking(sent, &refused),
            false => straightened,
        }
    }
}

fn discard(place: &Place, reason: Reason) -> Planned {
    Planned { edit: Edit::Discard { place: place.clone() }, place: place.clone(), reason }
}

/// Why what cannot be read is taken out.
fn reason_of(trouble: &Trouble) -> Reason {
    match trouble.loses {
        Some(words) if words.starts_with("nothing") => Reason::Stray,
        _ => Reason::Unreadable,
    }
}

/// What is sent, without the results that the product makes up for calls whose true result stands at another place of the
/// branch: that one is to be moved.
fn without_needless_fillers(sent: &[Message], session: &Session) -> Vec<Message> {
    let results = |messages: &[Message]| -> BTreeSet<(String, Place)> {
        let blocks = messages.iter().flat_map(|message| &message.blocks);
        let results = blocks.filter_map(|block| match &block.content {
            histories::Block::Result(result) => Some((result.call.clone(), block.place.clone())),
            _ => None,
        });
        results.collect()
    };
    let stored = results(&session.messages);
    let true_ones: BTreeSet<String> =
        results(sent).into_iter().filter(|own| stored.contains(own)).map(|(call, _)| call).collect();
    let is_kept = |block: &Block| match &block.content {
        histories::Block::Result(result) => {
            let is_stored = stored.contains(&(result.call.clone(), block.place.clone()));
            is_stored || !true_ones.contains(&result.call)
        }
        _ => true,
    };
    let mut messages = sent.to_vec();
    for message in &mut messages {
        message.blocks.retain(is_kept);
    }
    // A message that held nothing else was made up as a whole.
    let mut before = sent.iter();
    messages.retain(|message| {
        before.next().is_some_and(|own| own.blocks.is_empty()) || !message.blocks.is_empty()
    });
    messages
}

/// How far a session was mended.
struct Mending {
    attempt: Attempt,
    rounds: Vec<Vec<Planned>>,
    /// The edit for which the store has no form, where it ended with that.
    unwritten: Option<WriteError>,
}

/// Plans and writes until the provider accepts, there is nothing left to plan, or the store has no form for an edit.
fn mend(start: &Attempt, options: &RepairOptions) -> Result<Mending, RepairError> {
    let mut mending = Mending { attempt: start.clone(), rounds: Vec::new(), unwritten: None };
    for _ in 0..MAX_ROUNDS {
        if mending.attempt.is_accepted(options) {
            break;
        }
        let planned = mending.attempt.plan(options);
        if planned.is_empty() {
            break;
        }
        match mending.attempt.after(&edits_of(&planned), options) {
            Ok(next) => mending.attempt = next,
            Err(RepairError::Write(error)) => {
                mending.unwritten = Some(error);
                break;
            }
            Err(error) => return Err(error),
        }
        mending.rounds.push(planned);
    }
    Ok(mending)
}

fn edits_of(planned: &[Planned]) -> Vec<Edit> {
    planned.iter().map(|planned| planned.edit.clone()).collect()
}

/// Leaves out the edits without which the provider accepts, too. Only the first round is thinned: what the later ones do
/// follows from it.
fn fewest(
    start: &Attempt,
    last: Attempt,
    mut rounds: Vec<Vec<Planned>>,
    options: &RepairOptions,
) -> Result<(Attempt, Vec<Planned>), RepairError> {
    let mut best = last;
    if let [only] = rounds.as_mut_slice()
        && (2..=MAX_TRIED).contains(&only.len())
    {
        let mut n = 0;
        let mut left = n_tries(start);
        while n < only.len() && only.len() > 1 && left > 0 {
            // What was written twice goes as a whole: the copy of a result answers a call that is gone.
            let copy = [Reason::Duplicate, Reason::DuplicateThought];
            if copy.contains(&only[n].reason)
                && only.iter().any(|other| other.reason == Reason::DuplicateCall)
            {
                n += 1;
                continue;
            }
            left -= 1;
            let mut fewer = only.clone();
            fewer.remove(n);
            match start.after(&edits_of(&fewer), options) {
                Ok(tried) if tried.is_accepted(options) => {
                    best = tried;
                    *only = fewer;
                }
                Ok(_) | Err(RepairError::Write(_)) => n += 1,
                Err(error) => return Err(error),
            }
        }
    }
    Ok((best, rounds.into_iter().flatten().collect()))
}

/// How often a session may be written, read and judged once more.
fn n_tries(attempt: &Attempt) -> usize {
    let n_bytes = attempt.files.main().len().max(attempt.judgement.body.len());
    (MAX_TRIED_BYTES / n_bytes.max(1)).max(1)
}

/// Ends the branch before what is refused, as late as the provider accepts.
fn truncate(from: &Attempt, options: &RepairOptions) -> Result<(Attempt, Vec<Vec<Planned>>), RepairError> {
    let messages = &from.session.messages;
    let refused = from.judgement.refusals.iter().filter_map(|refusal| refusal.place.as_ref());
    let at = |place: &Place| {
        messages.iter().position(|message| message.blocks.iter().any(|block| &block.place == place))
    };
    let first = refused.filter_map(at).min().unwrap_or(messages.len());
    // A branch ends after what the model said to the end, so that the user goes on from there.
    let ends = (0..first).rev().filter(|n| messages[*n].calls().next().is_none());
    for n in ends.take(MAX_TRUNCATED.min(n_tries(from))) {
        let Some(block) = messages[n].blocks.last() else { continue };
        let place = block.place.clone();
        let planned =
            Planned { edit: Edit::Truncate { last: place.clone() }, place, reason: Reason::Truncated };
        match from.after(&edits_of(std::slice::from_ref(&planned)), options) {
            Ok(tried) if tried.is_accepted(options) => return Ok((tried, vec![vec![planned]])),
            // A store may have no form for this end, and one for an earlier.
            Ok(_) | Err(RepairError::Write(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok((from.clone(), Vec::new()))
}

/// Holds a repair to what it promises.
fn hold(
    start: &Attempt,
    last: &Attempt,
    edits: &[Planned],
    options: &RepairOptions,
) -> Result<(), RepairError> {
    if !last.is_accepted(options) {
        return Err(RepairError::Unsound("the provider still refuses".to_owned()));
    }
    match conserved::losses(&start.session, &last.session, edits).first() {
        Some(loss) => Err(RepairError::Unsound(loss.to_string())),
        None => Ok(()),
    }
}

/// Why a session stays refused.
fn why(judgement: &Judgement) -> String {
    match judgement.refusals.first() {
        Some(refusal) => match refusal.rule {
            Some(rule) => format!("{} cannot be repaired from the files alone", rule.id),
            None => "the product gives up before it sends anything".to_owned(),
        },
        None if judgement.verdict == Verdict::Cut => {
            "the parent of a line is not in the file, and nothing proves what came before".to_owned()
        }
        None if judgement.verdict == Verdict::Undecided => {
            let rules = judgement.by_later_models.iter().filter_map(|refusal| refusal.rule);
            let rule = rules.map(|rule| rule.id).next().unwrap_or_default();
            format!("whether {rule} applies depends on the model, which the store does not show")
        }
        None => "the conversation cannot be read".to_owned(),
    }
}

/// The first byte of the request that the repair changes, and the length of the request.
fn changed_from(before: &Judgement, after: &Judgement) -> (usize, usize) {
    let same = before.body.iter().zip(&after.body).take_while(|(a, b)| a == b).count();
    (same, after.body.len())
}
