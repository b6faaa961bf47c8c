//! The options of a repair, and its outcome.

use brickbat_rules::{Dialect, Profile};

use super::{Planned, Reshaped};
use crate::{Files, Judgement, Place, Relapse, Verdict};

/// Options of a repair. The default is the most careful repair.
#[derive(Debug, Clone, Default)]
pub struct RepairOptions {
    /// The provider profile, if it differs from the one that the store shows.
    pub profile: Option<&'static Profile>,
    /// The model for the next request, if the store does not show it.
    pub model: Option<String>,
    /// The dialect of the first file, if it is a request body or a list of messages. Otherwise the product is
    /// detected.
    pub body: Option<Dialect>,
    /// Fill trailing calls that have no result, although the product may still be running them.
    pub tail: bool,
    /// If nothing else helps, end the branch before the first rejected message.
    pub truncate: bool,
}

/// The outcome of a repair.
#[derive(Debug, Clone)]
pub enum Repair {
    /// There is nothing to repair, so nothing was changed.
    Healthy(Box<Judgement>),
    /// The session is repaired.
    Mended(Box<Mended>), // quoted: the name of the variant
    /// It cannot be repaired from the files alone.
    Beyond(Box<Beyond>),
}

/// A repaired session.
#[derive(Debug, Clone)]
pub struct Mended {
    /// The files after the repair. Untouched files are identical to the input.
    pub files: Files,
    /// The names of the companions before the repair. The places of its edits refer to these.
    pub companions: Vec<String>,
    /// The lines at which the branch was cut, and that are now attached to the line before them again.
    pub reattached: Vec<Place>,
    /// The edits of the form of single records, which were made before the others.
    pub reshaped: Vec<Reshaped>,
    /// The edits, in conversation order.
    pub edits: Vec<Planned>,
    /// The verdict before the repair.
    pub before: Judgement,
    /// The verdict after the repair.
    pub after: Judgement,
    /// The first byte of the request that changes, from which the provider's cache is lost, and the length of
    /// the request.
    pub changed_from: (usize, usize),
    /// How the product later undoes the repair, if it does.
    pub relapse: Option<&'static Relapse>,
}

/// A session that is beyond repair.
#[derive(Debug, Clone)]
pub struct Beyond {
    /// The verdict on the unchanged session.
    pub before: Judgement,
    /// Why the session is still rejected, without any content of the session.
    pub why: String,
    /// True if the session would be accepted after ending the branch earlier.
    pub can_truncate: bool,
    /// True if Brickbat writes the store of the session.
    pub is_written: bool,
}

impl Beyond {
    /// Advice to the owner of the session, as a sentence.
    pub fn way_out(&self) -> &'static str {
        match self.before.verdict {
            _ if !self.is_written && self.before.sent.gives_up.is_some() => {
                "Change the store as the finding says; `brickbat session` shows it."
            }
            _ if !self.is_written && self.can_truncate => {
                "Save the next request with `brickbat session --request`, and repair it with `brickbat check --fix`; or end \
                 the conversation before the rejected part with `--truncate`."
            }
            _ if self.can_truncate => {
                "`--truncate` ends the conversation before it; the thread loses everything after it."
            }
            Verdict::Undecided => "Name the model with `--model`.",
            Verdict::Incomplete => {
                "Give the file as the product wrote it, or the request with `brickbat check`."
            }
            Verdict::Cut => "The thread continues as it is, without anything before that line.",
            Verdict::Unreadable => "Give the files that are missing, or take the file from a backup.",
            _ if !self.is_written => {
                "Save the next request with `brickbat session --request`, and repair it with `brickbat check --fix`."
            }
            _ => {
                "Begin a new session; `brickbat session --request` prints the request of this one, so that you can copy \
                 what you need."
            }
        }
    }
}
