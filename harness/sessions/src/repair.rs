//! Repairs a session with the fewest edits after which the provider accepts the next request. Nothing is
//! invented.
//!
//! A repair is planned on the messages that the product sends, written into the store, read again, and
//! judged. It is kept only if the provider then accepts the request, a second repair changes nothing, and
//! nothing is lost or added beyond the declared edits.

mod conserved;
mod outcome;
mod plan;
mod reason;
mod reshape;

use std::borrow::Cow;
use std::collections::BTreeSet;

use brickbat_rules::histories;
use brickbat_rules::json::Document;
use brickbat_rules::{
    Dialect, Family, Memory, Profile, Rule, Severity, model_in, validate_asking, validate_list_to,
};

use crate::judge::closed;
use crate::{
    Block, Edit, Files, Judgement, Lost, Message, Place, RepairError, Session, Trouble, Unsound, Verdict,
    WriteError, judge_for, read_body, store_of,
};
use crate::{form, halves, stores, strays};

pub use conserved::{Loss, losses};
pub use outcome::{Beyond, Mended, Repair, RepairOptions}; // quoted: the name of the variant
pub use plan::{Planned, plan};
pub use reason::Reason;
pub use reshape::Reshaped;

/// Maximum number of planning rounds. Repairing a pairing can expose a fault that it hid, such as a message
/// that is now empty. Two or three rounds are enough for that.
const MAX_ROUNDS: usize = 8;

/// Size of the largest plan in which each edit is tested for necessity. Larger plans keep all their edits.
const MAX_TRIED: usize = 48;

/// Maximum number of bytes that these trials together may read and write. Each trial covers the complete
/// session. The limit amounts to a second or two.
const MAX_TRIED_BYTES: usize = 96 << 20;

/// Maximum number of cuts in a branch that are repaired, one after the other. Each cut is one lost line.
const MAX_CUTS: usize = 32;

/// Maximum number of turns that are removed, one by one, to find where the provider accepts the branch.
const MAX_TRUNCATED: usize = 200;

/// Returns whether [`repair()`] has nothing to do for a request body or a list of messages in this dialect.
/// It only checks the rules, so it takes a fraction of the time.
pub fn is_healthy(body: &[u8], dialect: Dialect, options: &RepairOptions) -> bool {
    let profile = options.profile.unwrap_or_else(|| Profile::newest(dialect));
    let document = Document::parse(body);
    let Ok(root) = document.as_ref().map(Document::root) else { return false };
    let named = model_in(root);
    let model = named.as_deref().or(options.model.as_deref());
    let violations = match root.is_array() {
        true => validate_list_to(profile, model, body),
        false => validate_asking(profile, &Memory::default(), model, body, &document),
    };
    violations.iter().all(|violation| violation.severity != Severity::Error)
}

/// Repairs the session with this index in the files.
///
/// # Errors
///
/// The files could not be read or written, or the repair was unsound and was not kept.
pub fn repair(files: &Files, index: usize, options: &RepairOptions) -> Result<Repair, RepairError> {
    let session = match options.body {
        Some(dialect) => read_body(files.main(), dialect)?,
        None => crate::read(files)?.into_iter().nth(index).ok_or(RepairError::NoSession)?,
    };
    repair_session(files, index, session, options)
}

/// Repairs a session that was read from the files already. `index` is its index in them.
///
/// # Errors
///
/// Fails like [`repair()`].
pub fn repair_session(
    files: &Files,
    index: usize,
    session: Session,
    options: &RepairOptions,
) -> Result<Repair, RepairError> {
    let start = Attempt::of(files.clone(), index, session, options);
    let is_tail = start.judgement.verdict == Verdict::OpenTail && options.tail;
    let is_sound = match start.judgement.verdict {
        Verdict::Accepted | Verdict::OpenTail | Verdict::Excerpt => true,
        // A body is judged only for the model that it names.
        Verdict::Undecided => options.body.is_some(),
        Verdict::Incomplete | Verdict::Cut | Verdict::Refused | Verdict::Unreadable => false,
    };
    let has_torn = start.session.troubles.iter().any(|trouble| trouble.loses.is_some());
    if is_sound && !is_tail && !has_torn {
        return Ok(Repair::Healthy(Box::new(start.judgement)));
    }
    // An older model accepts the session as it is, and a healthy session is never touched.
    // A list that is not understood is not rewritten.
    let is_unclear = matches!(start.judgement.verdict, Verdict::Undecided | Verdict::Incomplete);
    if is_unclear && options.body.is_none() {
        let why = why(&start.judgement);
        return Ok(Repair::Beyond(Box::new(Beyond {
            before: start.judgement,
            why,
            can_truncate: false,
            is_written: true,
        })));
    }
    let (clean, strays) = without_strays(&start, options)?;
    let (whole, reattached) = reattach(&clean, options)?;
    let is_changed = !reattached.is_empty() || has_torn || start.judgement.verdict != Verdict::Cut;
    let whole_branch = RepairOptions { truncate: false, ..options.clone() };
    if is_changed && let Some((last, edits)) = repaired(&whole, &whole_branch)? {
        return Ok(finished(start, last, reattached, [strays, edits].concat()));
    }
    // Faults in the form of a record are left when calls and results are put together.
    if reattached.is_empty()
        && let Some((shaped, reshaped)) = reshape::reshape(&clean, options)?
        && let Some((last, edits)) = repaired(&shaped, &whole_branch)?
    {
        let fixed = finished_as(start, last, Vec::new(), [strays, edits].concat());
        return Ok(Repair::Mended(Box::new(Mended { reshaped, ..fixed }))); // quoted: the name of the variant
    }
    // Those in the records that follow a dropped one come to light when it is gone.
    let Mending { attempt: stuck, rounds, .. } = mend(&whole, &whole_branch)?;
    if !rounds.is_empty()
        && let Some((shaped, reshaped)) = reshape::reshape(&stuck, options)?
        && let Some((last, edits)) = repaired(&shaped, &whole_branch)?
    {
        let first: Vec<Planned> = rounds.into_iter().flatten().collect();
        if let Some(loss) = conserved::losses(&whole.session, &stuck.session, &first).first() {
            return Err(RepairError::Unsound(Unsound::Lossy(*loss)));
        }
        let edits = [strays, first, edits].concat();
        let fixed = finished_as(start, last, reattached, edits);
        return Ok(Repair::Mended(Box::new(Mended { reshaped, ..fixed }))); // quoted: the name of the variant
    }
    if options.truncate
        && is_changed
        && let Some((last, edits)) = repaired(&whole, options)?
    {
        return Ok(finished(start, last, reattached, [strays, edits].concat()));
    }
    // The recovered lines may have a fault of their own that cannot be repaired.
    if !reattached.is_empty()
        && start.judgement.verdict != Verdict::Cut
        && let Some((last, edits)) = repaired(&clean, options)?
    {
        return Ok(finished(start, last, Vec::new(), [strays, edits].concat()));
    }
    let Mending { attempt: stuck, unwritten, .. } = mend(&whole, options)?;
    let can_truncate =
        !options.truncate && !stuck.is_accepted(options) && truncate(&stuck, options)?.0.is_accepted(options);
    let why = match (unwritten, stuck.session.troubles.first()) {
        (Some(error), _) => error.to_string(),
        (None, Some(trouble)) if stuck.judgement.verdict == Verdict::Unreadable => {
            format!("the conversation cannot be read: {}", trouble.words)
        }
        (None, _) => why(&stuck.judgement),
    };
    let is_written = store_of(stuck.session.product).is_none_or(|store| store.is_written(&stuck.session));
    Ok(Repair::Beyond(Box::new(Beyond { before: start.judgement, why, can_truncate, is_written })))
}

fn finished(start: Attempt, last: Attempt, reattached: Vec<Place>, edits: Vec<Planned>) -> Repair {
    Repair::Mended(Box::new(finished_as(start, last, reattached, edits))) // quoted: the name of the variant
}

fn finished_as(start: Attempt, last: Attempt, reattached: Vec<Place>, edits: Vec<Planned>) -> Mended {
    // quoted: the name of the variant
    let changed_from = changed_from(&start.judgement, &last.judgement);
    let relapse = store_of(last.session.product).and_then(|store| store.relapse(&start.session, &edits));
    let companions = start.files.companions();
    let (before, after, files) = (start.judgement, last.judgement, last.files);
    Mended {
        // quoted: the name of the variant
        files,
        companions,
        reattached,
        reshaped: Vec::new(),
        edits,
        before,
        after,
        changed_from,
        relapse,
    }
}

/// The session after the smallest set of edits that makes the provider accept it, and those edits. `None` if
/// no edits help.
fn repaired(
    start: &Attempt,
    options: &RepairOptions,
) -> Result<Option<(Attempt, Vec<Planned>)>, RepairError> {
    let Mending { attempt: mut last, mut rounds, .. } = mend(start, options)?;
    if !last.is_accepted(options) && options.truncate {
        let (truncated, planned) = truncate(&last, options)?;
        last = Cow::Owned(truncated);
        rounds.extend(planned);
    }
    if !last.is_accepted(options) {
        return Ok(None);
    }
    let (last, edits) = fewest(start, last.into_owned(), rounds, options)?;
    hold(start, &last, &edits, options)?;
    Ok(Some((last, edits)))
}

/// The session without the strays beside its records, and the edits that removed them. This comes first,
/// because the places of all other edits refer to the files without strays.
fn without_strays<'a>(
    start: &'a Attempt,
    options: &RepairOptions,
) -> Result<(Cow<'a, Attempt>, Vec<Planned>), RepairError> {
    let strays = start.session.troubles.iter().filter(|trouble| strays::is_stray(trouble));
    let planned: Vec<Planned> = strays.map(|trouble| discard(&trouble.place, reason_of(trouble))).collect();
    match planned.is_empty() {
        true => Ok((Cow::Borrowed(start), planned)),
        false => Ok((Cow::Owned(start.after(&edits_of(&planned), options)?), planned)),
    }
}

/// Attaches the branch to the lines that it provably follows, and returns the lines at which it was cut.
fn reattach<'a>(
    start: &'a Attempt,
    options: &RepairOptions,
) -> Result<(Cow<'a, Attempt>, Vec<Place>), RepairError> {
    let mut current = Cow::Borrowed(start);
    let mut reattached = Vec::new();
    let is_proven = |attempt: &Attempt| attempt.session.cut.as_ref().is_some_and(|cut| cut.parent.is_some());
    while reattached.len() < MAX_CUTS && is_proven(&current) {
        let store = store_of(current.session.product).ok_or(RepairError::NoSession)?;
        let files = store.reattach(&current.files, &current.session)?;
        let next = current.read_again(files, options)?;
        if !conserved::brings_back(&current.session, &next.session) {
            return Err(RepairError::Unsound(Unsound::Changed));
        }
        reattached.extend(current.session.cut.as_ref().map(|cut| cut.place.clone()));
        current = Cow::Owned(next);
    }
    // A product that occasionally loses a line does not leave more cuts than this, so the file stays
    // unchanged.
    if is_proven(&current) {
        return Ok((Cow::Borrowed(start), Vec::new()));
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
        let product = self.session.product;
        let store = store_of(product).ok_or(RepairError::NoSession)?;
        // A list that lost its only call no longer shows which product wrote it.
        let session = match options.body {
            Some(dialect) => read_body(files.main(), dialect)?,
            None => {
                let sessions = stores::read_as((product, store), &files)?;
                sessions.into_iter().nth(self.index).ok_or(RepairError::NoSession)?
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
                // A branch that provably follows another line is attached to it before any other edit.
                Verdict::Cut => !options.tail || !self.session.has_open_tail() || !self.fills_open_tail(),
                // A session that needs an edit is repaired for every model.
                Verdict::Undecided => options.body.is_some(),
                Verdict::Incomplete | Verdict::Refused | Verdict::Unreadable => false,
            }
    }

    /// The places that are rejected by a matching rule. Refusals without a rule always match.
    fn refused_for(&self, is_meant: impl Fn(&Rule) -> bool) -> Vec<Place> {
        let refusals = self.judgement.refusals.iter();
        let meant = refusals.filter(|refusal| refusal.rule.is_none_or(&is_meant));
        meant.filter_map(|refusal| refusal.place.clone()).collect()
    }

    fn fills_open_tail(&self) -> bool {
        store_of(self.session.product).is_some_and(|store| store.fills_open_tail(&self.session).is_some())
    }

    /// The edits to make next; empty if there is nothing to do.
    fn plan(&self, options: &RepairOptions) -> Vec<Planned> {
        // Half characters come first, since no store can write a text that contains one.
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
        let arguments: Vec<Place> = self.refused_for(|rule| rule.family() == Some(Family::Arguments));
        let unfinished = plan::drop_unfinished(sent, &arguments);
        if !unfinished.is_empty() {
            return unfinished;
        }
        // The store still has the results that the product leaves out of its request.
        let elsewhere = [self.session.off_branch.as_slice(), &self.session.messages];
        // A tail that may stay open is treated as filled.
        let stays_open = self.session.has_open_tail() && self.fills_open_tail() && !options.tail;
        let planned = match stays_open {
            true => plan::plan(&closed(sent), &elsewhere),
            false => plan::plan(sent, &elsewhere),
        };
        if !planned.is_empty() {
            return planned;
        }
        let refused = self.refused_for(|_| true);
        let joined = plan::join(sent, &refused);
        if !joined.is_empty() {
            return joined;
        }
        let blank = plan::drop_blank(sent, &refused);
        if !blank.is_empty() {
            return blank;
        }
        let empty = plan::drop_empty(sent);
        if !empty.is_empty() {
            return empty;
        }
        // The provider itself has refused these thoughts.
        let dropped = self.dropped_thoughts(sent);
        if self.judgement.recorded.is_some() && !dropped.is_empty() {
            return dropped;
        }
        let straightened = plan::straighten(sent, &refused);
        match straightened.is_empty() {
            true => dropped,
            false => straightened,
        }
    }

    /// An edit for each rejected thought that cannot keep its words in another form. If two items have one id, nothing
    /// shows which of them is the real one.
    fn dropped_thoughts(&self, sent: &[Message]) -> Vec<Planned> {
        let refused =
            self.refused_for(|rule| !form::is_of_one_record(rule) && rule.short_name() != "item-duplicate");
        plan::drop_thinking(sent, &refused)
    }
}

fn discard(place: &Place, reason: Reason) -> Planned {
    Planned { edit: Edit::Discard { place: place.clone() }, place: place.clone(), reason }
}

/// The reason for removing something that cannot be read.
fn reason_of(trouble: &Trouble) -> Reason {
    match trouble.loses {
        Some(Lost::Nothing) => Reason::Stray,
        Some(Lost::Approval) => Reason::StaleApproval,
        Some(Lost::Bookkeeping) => Reason::Bookkeeping,
        Some(Lost::HalfCharacter | Lost::Data(_)) | None => Reason::Unreadable,
    }
}

/// The sent messages without the results that the product invents for calls with a real result elsewhere on
/// the branch. The repair moves the real result instead.
fn without_needless_fillers<'a>(sent: &'a [Message], session: &Session) -> Cow<'a, [Message]> {
    let stored: BTreeSet<(&str, &Place)> = results_of(&session.messages).collect();
    let true_ones: BTreeSet<&str> =
        results_of(sent).filter(|own| stored.contains(own)).map(|(call, _)| call).collect();
    let is_kept = |block: &Block| match &block.content {
        histories::Block::Result(result) => {
            let call = result.call.as_str();
            stored.contains(&(call, &block.place)) || !true_ones.contains(call)
        }
        _ => true,
    };
    if sent.iter().flat_map(|message| &message.blocks).all(is_kept) {
        return Cow::Borrowed(sent);
    }
    let mut messages = sent.to_vec();
    for message in &mut messages {
        message.blocks.retain(is_kept);
    }
    // A message that contained only such results was made up completely.
    let mut before = sent.iter();
    messages.retain(|message| {
        before.next().is_some_and(|own| own.blocks.is_empty()) || !message.blocks.is_empty()
    });
    Cow::Owned(messages)
}

/// The results in messages: the call id and the place.
fn results_of(messages: &[Message]) -> impl Iterator<Item = (&str, &Place)> {
    messages.iter().flat_map(|message| &message.blocks).filter_map(|block| match &block.content {
        histories::Block::Result(result) => Some((result.call.as_str(), &block.place)),
        _ => None,
    })
}

/// The progress of a repair.
struct Mending<'a> {
    attempt: Cow<'a, Attempt>,
    rounds: Vec<Vec<Planned>>,
    /// Set if the repair stopped at an edit for which the store has no form.
    unwritten: Option<WriteError>,
}

/// Plans and writes until the provider accepts, nothing is left to plan, or the store has no form for an
/// edit.
fn mend<'a>(start: &'a Attempt, options: &RepairOptions) -> Result<Mending<'a>, RepairError> {
    let mut mending = Mending { attempt: Cow::Borrowed(start), rounds: Vec::new(), unwritten: None };
    for _ in 0..MAX_ROUNDS {
        if mending.attempt.is_accepted(options) {
            break;
        }
        let attempt = &mending.attempt;
        let dropped = attempt.dropped_thoughts(&attempt.judgement.sent.messages);
        let mut next = None;
        for planned in [attempt.plan(options), dropped].into_iter().filter(|planned| !planned.is_empty()) {
            match attempt.after(&edits_of(&planned), options) {
                // The edits put the blocks where they are already.
                Ok(same) if same.files == attempt.files => {}
                Ok(changed) => {
                    next = Some((changed, planned));
                    break;
                }
                Err(RepairError::Write(error)) => {
                    mending.unwritten.get_or_insert(error);
                }
                Err(error) => return Err(error),
            }
        }
        let Some((changed, planned)) = next else { break };
        mending.unwritten = None;
        mending.attempt = Cow::Owned(changed);
        mending.rounds.push(planned);
    }
    Ok(mending)
}

fn edits_of(planned: &[Planned]) -> Vec<Edit> {
    planned.iter().map(|planned| planned.edit.clone()).collect()
}

/// Drops unnecessary edits, without which the provider accepts as well. Only a repair of one round is thinned
/// out, because later rounds build on the first.
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
            // Duplicates are removed together: the copy of a result answers a call that is gone.
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

/// The number of times that a session may be written, read and judged again.
fn n_tries(attempt: &Attempt) -> usize {
    let n_bytes = attempt.files.main().len().max(attempt.judgement.body.len());
    (MAX_TRIED_BYTES / n_bytes.max(1)).max(1)
}

/// Ends the branch before the first rejected message, at the latest point that the provider accepts.
fn truncate(from: &Attempt, options: &RepairOptions) -> Result<(Attempt, Vec<Vec<Planned>>), RepairError> {
    let messages = &from.session.messages;
    let refused = from.judgement.refusals.iter().filter_map(|refusal| refusal.place.as_ref());
    let at = |place: &Place| {
        messages.iter().position(|message| message.blocks.iter().any(|block| &block.place == place))
    };
    let first = refused.filter_map(at).min().unwrap_or(messages.len());
    // A branch ends after a message without calls, so that the user can continue from there.
    let ends = (0..first).rev().filter(|n| messages[*n].calls().next().is_none());
    for n in ends.take(MAX_TRUNCATED.min(n_tries(from))) {
        let Some(block) = messages[n].blocks.last() else { continue };
        let place = block.place.clone();
        let planned =
            Planned { edit: Edit::Truncate { last: place.clone() }, place, reason: Reason::Truncated };
        match from.after(&edits_of(std::slice::from_ref(&planned)), options) {
            Ok(tried) if tried.is_accepted(options) => return Ok((tried, vec![vec![planned]])),
            // A store may have no form for this end of the branch, but one for an earlier end.
            Ok(_) | Err(RepairError::Write(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok((from.clone(), Vec::new()))
}

/// Verifies that the provider accepts the repaired session and that only declared things are lost.
fn hold(
    start: &Attempt,
    last: &Attempt,
    edits: &[Planned],
    options: &RepairOptions,
) -> Result<(), RepairError> {
    if !last.is_accepted(options) {
        return Err(RepairError::Unsound(Unsound::Refused));
    }
    match conserved::losses(&start.session, &last.session, edits).first() {
        Some(loss) => Err(RepairError::Unsound(Unsound::Lossy(*loss))),
        None => Ok(()),
    }
}

/// The reason why a session is still rejected.
fn why(judgement: &Judgement) -> String {
    match judgement.refusals.first() {
        Some(refusal) => match refusal.rule {
            Some(rule) => format!("{} cannot be repaired from the files alone", rule.id),
            None => "the product gives up before it sends anything".to_owned(),
        },
        None if judgement.verdict == Verdict::Cut => {
            "the parent of a line is not in the file, and nothing proves what came before".to_owned()
        }
        None if judgement.verdict == Verdict::Incomplete => {
            "messages have fields that no provider and no known product has".to_owned()
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
