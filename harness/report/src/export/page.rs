//! The inputs of a test, from which its code, its words and its issue are written.

use super::assertion::Assertion;
use super::replies::Replies;
use super::story::Story;
use super::{Framework, Target};
use crate::record::{FindingNote, Record};

/// The inputs of a test.
pub(super) struct Page<'a> {
    pub(super) record: &'a Record,
    pub(super) target: &'a Target<'a>,
    pub(super) framework: Framework,
    pub(super) finding: &'a FindingNote,
    pub(super) assertion: &'a Assertion,
    pub(super) story: &'a Story,
    pub(super) replies: &'a Replies,
}
