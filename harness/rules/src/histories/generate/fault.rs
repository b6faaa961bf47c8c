//! The faults: what each is called, whether it can be mended, and who refuses it.

use crate::Dialect;

/// What is wrong with a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fault {
    /// The conversation ends with a batch of calls of which one has no result.
    MissingAtTail,
    /// A call has no result, and the conversation goes on.
    MissingInMiddle,
    /// No call of a batch has a result.
    MissingBatch,
    /// A result stands after what the user said next.
    ResultAfterPrompt,
    /// A result stands after the whole next turn of the user.
    ResultAfterReply,
    /// A result stands before the message with its call.
    ResultBeforeCall,
    /// Words of the model stand between the results of a batch.
    SplitBatch,
    /// A result is there twice, and both say the same.
    DuplicateResult,
    /// A result has no call.
    OrphanResult,
    /// A message with calls is there twice in a row.
    DuplicateMessage,
    /// A call is there twice in its message, with one id and the same words.
    DuplicateCall,
    /// A reply is a text of white space.
    BlankText,
    /// A reply is a text without a letter.
    EmptyText,
    /// A reply holds no block.
    EmptyReply,
    /// The thinking of a reply of the past has an empty signature.
    HollowThinkingBefore,
    /// Of a reply only the thinking is there.
    ThinkingAlone,
    /// The thinking in the calls that the model is busy with has an empty signature.
    HollowThinking,
    /// Two calls of a message have one id, and differ.
    TwoCallsOneId,
    /// A call has two results, which differ.
    ContradictingResults,
    /// The arguments of a call are cut off.
    CutArguments,
    /// A call and its result have no name.
    NamelessCall,
    /// The result of a tool that failed holds an image, and is marked as an error.
    PictureInError,
}

/// Whether a fault can be mended from what is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mending {
    /// By moving blocks, by taking out what is there twice or says nothing, and by results that say that none was recorded.
    Possible,
    /// Not without choosing between what is stored, or inventing what is not.
    Impossible,
}

/// A line of the table.
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

/// OpenAI Responses pairs calls and outputs wherever they stand; nobody has tried an output before its call there, and a
/// second output is tolerated.
const ALL_BUT_RESPONSES: &[Dialect] = &[Anthropic, Chat, Gemini, Bedrock, Mistral];

/// Every fault, in the order of the enum, with the dialects whose newest profile refuses it. A test holds it against the
/// validator in both directions.
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
    mendable(Fault::BlankText, "blank-text", &[Anthropic]),
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

    /// The faults of one kind that the newest profile of a dialect refuses.
    pub fn refused_by(dialect: Dialect, mending: Mending) -> impl Iterator<Item = Fault> {
        Fault::all().filter(move |fault| fault.mending() == mending && fault.is_refused_by(dialect))
    }

    /// Its label, for example `missing-at-tail`.
    pub fn name(self) -> &'static str {
        self.line().name
    }

    /// Whether it can be mended.
    pub fn mending(self) -> Mending {
        self.line().mending
    }

    /// Whether the newest profile of a dialect refuses it.
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
