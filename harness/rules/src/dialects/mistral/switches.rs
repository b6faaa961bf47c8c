//! The switches of the Mistral profiles: the differences between profiles that rules ask for.

/// Differences between the dates of La Plateforme and between Mistral's tokenizer versions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MistralSwitches {
    /// The reaction to a user message directly after a tool message.
    pub(crate) user_after_tool: UserAfterTool,
    /// How calls and results are matched.
    pub(crate) pairing: PairingMode,
    /// How calls and results at the beginning of a conversation are handled.
    pub(crate) first_message: FirstMessage,
    pub(crate) call_ids: CallIds,
    /// The reaction to the name of a function with other characters, or with too many.
    pub(crate) odd_names: OddNames,
}

/// The reaction to the name of a function with other characters, or with too many. An empty name is always
/// rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OddNames {
    /// It is rejected.
    Refused,
    /// The API was seen to accept it; the validator rejects it.
    Contested,
}

/// The reaction to a user message directly after a tool message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UserAfterTool {
    /// It is rejected.
    Refused,
    /// It is accepted, but older endpoints reject it.
    Contested,
    /// It is accepted.
    Taken,
}

/// How calls and results are matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PairingMode {
    /// By number only; ids are ignored (tokenizers before version 11).
    ByCount,
    /// By id: each result has a call's id, and no two results have the same id (tokenizers from
    /// version 11).
    ById,
}

/// How the first message is treated when calls and results are matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FirstMessage {
    /// The first message is skipped. Its calls are not counted, so there are more results than calls.
    Uncounted,
    /// The first message is skipped, and so are all results before the next assistant message.
    Forgiven,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallIds {
    /// Nine letters and digits.
    NineAlphanumerics,
    /// Any id except an empty one and `null` (tokenizers from version 13).
    AnyButNull,
}
