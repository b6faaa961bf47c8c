//! The reasons for edits, with their names and their words.

/// The reason for an edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reason {
    /// The result of the call is at another place on the branch.
    Misplaced,
    /// The result of the call is not on the branch.
    OffBranch,
    /// No result of the call was recorded.
    NotRecorded,
    /// The user declined the call, and the store records that without a result.
    Declined,
    /// The call waited for the user's approval, which was never given.
    NotApproved,
    /// The same result appears twice.
    Duplicate,
    /// The same call appears twice.
    DuplicateCall,
    /// The same thought appears twice.
    DuplicateThought,
    /// The same message item appears twice.
    DuplicateMessage,
    /// The result belongs to no call.
    Orphan,
    /// The call was never finished, and the provider rejects its arguments.
    Unfinished,
    /// The text is empty or only white space.
    Blank,
    /// The thought is empty or nothing follows from it, and the provider treats it as altered.
    Hollow,
    /// A text contains a half character.
    HalfCharacter,
    /// Something is between a provider's tool call and its result, which must be in one reply.
    Parted,
    /// An approval that was never given is beside the outcome of its call.
    StaleApproval,
    /// Meaningless bytes, a copy of a line, or a character that must be escaped.
    Stray,
    /// A number or a flag with which the product numbers or marks its records is wrong.
    Bookkeeping,
    /// The line or range cannot be read.
    Unreadable,
    /// Everything after this place is removed from the branch, as requested.
    Truncated,
}

impl Reason {
    /// All reasons.
    pub const ALL: [Reason; 20] = [
        Reason::Misplaced,
        Reason::OffBranch,
        Reason::NotRecorded,
        Reason::Declined,
        Reason::NotApproved,
        Reason::Duplicate,
        Reason::DuplicateCall,
        Reason::DuplicateThought,
        Reason::DuplicateMessage,
        Reason::Orphan,
        Reason::Unfinished,
        Reason::Blank,
        Reason::Hollow,
        Reason::HalfCharacter,
        Reason::Parted,
        Reason::StaleApproval,
        Reason::Stray,
        Reason::Bookkeeping,
        Reason::Unreadable,
        Reason::Truncated,
    ];

    /// The stable name of the reason in machine-readable reports, such as `not-recorded`.
    pub fn id(self) -> &'static str {
        match self {
            Reason::Misplaced => "misplaced",
            Reason::OffBranch => "off-branch",
            Reason::NotRecorded => "not-recorded",
            Reason::Declined => "declined",
            Reason::NotApproved => "not-approved",
            Reason::Duplicate => "duplicate",
            Reason::DuplicateCall => "duplicate-call",
            Reason::DuplicateThought => "duplicate-thought",
            Reason::DuplicateMessage => "duplicate-message",
            Reason::Orphan => "orphan",
            Reason::Unfinished => "unfinished",
            Reason::Blank => "blank",
            Reason::Hollow => "hollow",
            Reason::HalfCharacter => "half-character",
            Reason::Parted => "parted",
            Reason::StaleApproval => "stale-approval",
            Reason::Stray => "stray",
            Reason::Bookkeeping => "bookkeeping",
            Reason::Unreadable => "unreadable",
            Reason::Truncated => "truncated",
        }
    }

    /// A description, such as `a result "not recorded" is added`.
    pub fn words(self) -> &'static str {
        match self {
            Reason::Misplaced => "the result is moved to its call",
            Reason::OffBranch => "the result is taken from where it was recorded",
            Reason::NotRecorded => "a result \"not recorded\" is added",
            Reason::Declined => "the call was refused and did not run, which is recorded as its result",
            Reason::NotApproved => {
                "the call was never approved and did not run, which is recorded as its result"
            }
            Reason::Duplicate => "the second copy of a result is removed",
            Reason::DuplicateCall => "the second copy of a call is removed",
            Reason::DuplicateThought => "the second copy of a thought is removed",
            Reason::DuplicateMessage => "the second copy of a message is removed",
            Reason::Orphan => "a result without a call is removed",
            Reason::Unfinished => "a call that was never finished, and so cannot have run, is removed",
            Reason::Blank => "a blank text or message is removed",
            Reason::Hollow => "a thought that the provider refuses is removed",
            Reason::HalfCharacter => "half of a character is replaced by U+FFFD",
            Reason::Parted => "the lines inside the reply are moved behind it",
            Reason::StaleApproval => "an approval beside the outcome of its call is removed",
            Reason::Stray => "stray bytes are removed, or written as an escape",
            Reason::Bookkeeping => {
                "a number or a flag of the product's own is written as the product expects it"
            }
            Reason::Unreadable => "an unreadable record is removed",
            Reason::Truncated => "everything after it is removed from the branch",
        }
    }

    /// True if the edit removes something that exists nowhere else.
    pub fn loses(self) -> bool {
        matches!(
            self,
            Reason::Orphan | Reason::Unfinished | Reason::Hollow | Reason::Unreadable | Reason::Truncated
        )
    }
}
