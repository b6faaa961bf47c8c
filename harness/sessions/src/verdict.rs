//! The verdict on a session, and its names.

/// The outcome of judging a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Verdict {
    /// The provider accepts the next request.
    Accepted,
    /// The provider accepts, but trailing calls have no result yet. The product may still be running them.
    OpenTail,
    /// The provider accepts, but the file begins in the middle of the session.
    Excerpt,
    /// The provider accepts, but the branch is cut off from earlier messages, so most of the conversation may
    /// be missing.
    Cut,
    /// The provider rejects the next request, or the product gives up before it sends one.
    Refused,
    /// A line or a row in the conversation cannot be read, so the request is unknown.
    Unreadable,
    /// Older models accept the next request, later ones reject it, and the store does not show which model is
    /// used.
    Undecided,
    /// The provider accepts what was understood, but messages have fields that no provider and no known product has.
    Incomplete,
}

impl Verdict {
    /// Every verdict.
    pub const ALL: [Verdict; 8] = [
        Verdict::Accepted,
        Verdict::OpenTail,
        Verdict::Excerpt,
        Verdict::Cut,
        Verdict::Refused,
        Verdict::Unreadable,
        Verdict::Undecided,
        Verdict::Incomplete,
    ];

    /// The name in reports for programs.
    pub fn name(self) -> &'static str {
        self.words().0
    }

    /// The name in reports for people.
    pub fn shown(self) -> &'static str {
        self.words().1
    }

    /// The meaning for the user, in one or two sentences.
    pub fn sentence(self) -> &'static str {
        self.words().2
    }

    fn words(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Verdict::Accepted => {
                ("accepted", "accepted", "The provider accepts the next request of the session.")
            }
            Verdict::OpenTail => (
                "open-tail",
                "open tail",
                "The session ends with calls that have no result, and the product gives them one when it continues. The \
                 provider accepts the next request.",
            ),
            Verdict::Excerpt => (
                "excerpt",
                "excerpt",
                "The file begins in the middle of a session. The provider accepts what it shows.",
            ),
            Verdict::Cut => (
                "cut",
                "CUT",
                "A record names a parent that the file does not have, so the product no longer sends what is before it. The \
                 provider accepts the rest.",
            ),
            Verdict::Refused => (
                "bricked",
                "BRICKED",
                "The provider refuses the next request of the session, or the product gives up before it sends one.",
            ),
            Verdict::Unreadable => (
                "unreadable",
                "UNREADABLE",
                "No message of the session could be read, so its next request is unknown.",
            ),
            Verdict::Undecided => (
                "undecided",
                "UNDECIDED",
                "Some models accept the next request and others refuse it, and the file does not say which one is used. \
                 `--model` names it.",
            ),
            Verdict::Incomplete => (
                "incomplete",
                "INCOMPLETE",
                "Messages have fields that no provider and no known product has, so calls or results may not have been seen. The \
                 provider accepts the rest.",
            ),
        }
    }
}
