//! The faults: their labels, whether they can be repaired, and which dialects reject them.

use crate::Dialect;

/// The fault in a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fault {
    /// The conversation ends with a batch of calls, one of which has no result.
    MissingAtTail,
    /// A call has no result, and the conversation continues.
    MissingInMiddle,
    /// No call of a batch has a result.
    MissingBatch,
    /// A result is after the next user message.
    ResultAfterPrompt,
    /// A result is after the complete next user turn.
    ResultAfterReply,
    /// A result is before the message with its call.
    ResultBeforeCall,
    /// Model text is between the results of a batch.
    SplitBatch,
    /// A call has two identical results.
    DuplicateResult,
    /// A result has no call.
    OrphanResult,
    /// A message with calls occurs twice in a row.
    DuplicateMessage,
    /// A call occurs twice in its message, with the same id and content.
    DuplicateCall,
    /// A reply consists only of white space.
    BlankText,
    /// A reply is an empty text.
    EmptyText,
    /// A reply contains no blocks.
    EmptyReply,
    /// The thinking of an earlier reply has an empty signature.
    HollowThinkingBefore,
    /// A reply has only its thinking.
    ThinkingAlone,
    /// The thinking in the current tool loop has an empty signature.
    HollowThinking,
    /// Two different calls in a message have the same id.
    TwoCallsOneId,
    /// A call has two different results.
    ContradictingResults,
    /// The arguments of a call are truncated.
    CutArguments,
    /// A call and its result have no name.
    NamelessCall,
    /// The result of a failed tool contains an image, and is marked as an error.
    PictureInError,
}

/// The possibility of repairing a fault from the stored data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mending {
    /// By moving blocks, by removing duplicates and empty blocks, and by adding results that state that none
    /// was recorded.
    Possible,
    /// Not without choosing between stored values, or inventing missing ones.
    Impossible,
}

/// A row of the table.
struct Line {
    fault: Fault,
    name: &'static str,
    mending: Mending,
    refused_by: &'static [Dialect],
}

use Dialect::{
    AnthropicMessages as Anthropic, BedrockConverse as Bedrock, Gemini, Mistral, OpenaiChat as Chat,
    OpenaiResponses as Responses,
};

const EVERYBODY: &[Dialect] = &[Anthropic, Chat, Responses, Gemini, Bedrock, Mistral];

/// OpenAI Responses pairs calls and outputs at any position. An output before its call has not been tried there, and a
/// second output is tolerated.
const ALL_BUT_RESPONSES: &[Dialect] = &[Anthropic, Chat, Gemini, Bedrock, Mistral];

/// Every fault, in the order of the enum, with the dialects whose newest profile rejects it. A test compares the table
/// with the validator in both directions.
const TABLE: [Line; 22] = [
    mendable(Fault::MissingAtTail, "missing-at-tail", EVERYBODY),
    mendable(Fault::MissingInMiddle, "missing-in-middle", EVERYBODY),
    mendable(Fault::MissingBatch, "missing-batch", EVERYBODY),
    // The others join the messages, and put results first.
    mendable(Fault::ResultAfterPrompt, "result-after-prompt", &[Chat, Mistral]),
    mendable(Fault::ResultAfterReply, "result-after-reply", ALL_BUT_RESPONSES),
    mendable(Fault::ResultBeforeCall, "result-before-call", ALL_BUT_RESPONSES),
    mendable(Fault::SplitBatch, "split-batch", ALL_BUT_RESPONSES),
    mendable(Fault::DuplicateResult, "duplicate-result", ALL_BUT_RESPONSES),
    mendable(Fault::OrphanResult, "orphan-result", EVERYBODY),
    mendable(Fault::DuplicateMessage, "duplicate-message", EVERYBODY),
    // OpenAI Chat Completions tolerates it.
    mendable(Fault::DuplicateCall, "duplicate-call", &[Anthropic, Responses, Gemini, Bedrock, Mistral]),
    mendable(Fault::BlankText, "blank-text", &[Anthropic, Bedrock]),
    mendable(Fault::EmptyText, "empty-text", &[Anthropic, Bedrock]),
    mendable(Fault::EmptyReply, "empty-reply", &[Anthropic, Gemini, Bedrock]),
    mendable(Fault::HollowThinkingBefore, "hollow-thinking-before", &[Anthropic, Bedrock]),
    mendable(Fault::ThinkingAlone, "thinking-alone", &[Responses]),
    broken(Fault::HollowThinking, "hollow-thinking", &[Anthropic, Bedrock]),
    // Gemini pairs by number.
    broken(Fault::TwoCallsOneId, "two-calls-one-id", &[Anthropic, Chat, Responses, Bedrock, Mistral]),
    broken(Fault::ContradictingResults, "contradicting-results", ALL_BUT_RESPONSES),
    // To the others arguments are any text.
    broken(Fault::CutArguments, "cut-arguments", &[Anthropic, Gemini, Bedrock]),
    broken(Fault::NamelessCall, "nameless-call", EVERYBODY),
    broken(Fault::PictureInError, "picture-in-error", &[Anthropic, Bedrock]),
];

const fn mendable(fault: Fault, name: &'static str, refused_by: &'static [Dialect]) -> Line {
    Line { fault, name, mending: Mending::Possible, refused_by }
}

const fn broken(fault: Fault, name: &'static str, refused_by: &'static [Dialect]) -> Line {
    Line { fault, name, mending: Mending::Impossible, refused_by }
}

impl Fault {
    /// Every fault.
    pub fn all() -> impl Iterator<Item = Fault> {
        TABLE.iter().map(|line| line.fault)
    }

    /// The faults of one kind that the newest profile of a dialect rejects.
    pub fn refused_by(dialect: Dialect, mending: Mending) -> impl Iterator<Item = Fault> {
        Fault::all().filter(move |fault| fault.mending() == mending && fault.is_refused_by(dialect))
    }

    /// Its label, for example `missing-at-tail`.
    pub fn name(self) -> &'static str {
        self.line().name
    }

    /// Returns whether it can be repaired.
    pub fn mending(self) -> Mending {
        self.line().mending
    }

    /// Returns whether the newest profile of a dialect rejects it.
    pub fn is_refused_by(self, dialect: Dialect) -> bool {
        self.line().refused_by.contains(&dialect)
    }

    fn line(self) -> &'static Line {
        &TABLE[self as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_a_line_for_each_fault_in_order() {
        for (place, line) in TABLE.iter().enumerate() {
            assert_eq!(line.fault as usize, place, "{}", line.name);
            assert!(!line.refused_by.is_empty(), "{}", line.name);
        }
        assert_eq!(Fault::PictureInError as usize + 1, TABLE.len());
        let mut names: Vec<&str> = Fault::all().map(Fault::name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), TABLE.len());
    }
}
