//! Where a planted bug cannot show.

use super::Canary;
use brickbat_rules::dialect::Dialect;

impl Canary {
    /// Why the bug cannot show in a dialect, if so.
    pub fn senseless_in(self, dialect: Dialect) -> Option<&'static str> {
        match (self, dialect) {
            (Canary::PartialArgumentsRun, Dialect::Gemini | Dialect::Mistral) => {
                Some("a call comes in one piece, so there are no partial arguments")
            }
            (Canary::SignatureDropped, Dialect::Gemini) => None,
            (Canary::SignatureDropped, _) => Some("calls are not signed"),
            (
                Canary::ThinkingDropped
                | Canary::ThinkingAltered
                | Canary::ThinkingUnsigned
                | Canary::ThinkingForgotten,
                Dialect::AnthropicMessages | Dialect::BedrockConverse,
            )
            | (Canary::LoneThoughtKept, Dialect::AnthropicMessages | Dialect::OpenaiResponses) => None,
            (Canary::LoneThoughtKept | Canary::ThinkingForgotten, _) => {
                Some("thinking and what came of it need not stand together here")
            }
            (Canary::ThinkingDropped | Canary::ThinkingAltered | Canary::ThinkingUnsigned, _) => {
                Some("thinking is not sent back")
            }
            (Canary::LastResultApart | Canary::BatchSplit, Dialect::Gemini) => None,
            (Canary::LastResultApart, _) => Some("results may stand in several messages, or are told as one"),
            (Canary::BatchSplit, _) => Some("calls are not signed"),
            (Canary::RetryPrefills | Canary::NoWordAfterResults, Dialect::Mistral) => None,
            (Canary::NoWordAfterResults, _) => Some("a prompt may follow results"),
            (Canary::RetryPrefills, _) => Some("a request may end with what the model said"),
            (
                Canary::UsersNotMerged | Canary::PlaceholderKept,
                Dialect::OpenaiResponses | Dialect::Mistral,
            ) => Some("a message without content is left out, or taken"),
            (Canary::SteerSplitsBatch | Canary::HookSplitsBatch, Dialect::OpenaiResponses) => {
                Some("a message may stand between the results of a batch")
            }
            _ => self.senseless_change(dialect).or_else(|| self.senseless_slip(dialect)),
        }
    }

    /// The same of canaries that change the history wrongly.
    fn senseless_change(self, dialect: Dialect) -> Option<&'static str> {
        match (self, dialect) {
            (Canary::TrimOrphansResult, Dialect::Mistral) => Some("results without their calls are taken"),
            (Canary::TrimStartsWithCall, Dialect::Gemini) => None,
            (Canary::TrimStartsWithCall, _) => Some("a history may begin with calls"),
            (Canary::SummaryFlipsRole, Dialect::Gemini) => Some("nobody looks at who makes a call"),
            (Canary::SummaryFlipsRole, Dialect::OpenaiResponses) => Some("calls have no role"),
            (
                Canary::SummaryCutsArguments,
                Dialect::AnthropicMessages | Dialect::Gemini | Dialect::BedrockConverse,
            ) => Some("arguments are no text that could be cut"),
            (Canary::AsideWithoutTools, Dialect::BedrockConverse) => None,
            (Canary::AsideWithoutTools, _) => Some("calls are taken without tools"),
            _ => None,
        }
    }

    /// The same of canaries that take what the model says wrongly.
    fn senseless_slip(self, dialect: Dialect) -> Option<&'static str> {
        use Dialect::{AnthropicMessages, BedrockConverse, Gemini, Mistral, OpenaiChat, OpenaiResponses};
        match (self, dialect) {
            (Canary::BadArgumentsSkipped | Canary::CutArgumentsRepaired | Canary::SurrogateKept, Gemini) => {
                Some("arguments are sent as JSON")
            }
            (Canary::NotObjectKept | Canary::SurrogateKept, OpenaiChat | OpenaiResponses | Mistral) => {
                Some("arguments are sent back as a text, which is not read")
            }
            (Canary::EmptyIdKept | Canary::ForeignIdKept | Canary::SameIdKept, Gemini) => {
                Some("ids may be anything")
            }
            (Canary::SameIdKept, OpenaiResponses) => Some("calls may share an id"),
            (Canary::DeltasToLatest, OpenaiChat) => None,
            (Canary::DeltasToLatest, _) => Some("calls do not come in turns"),
            (Canary::EmptyToolTurn, Gemini | OpenaiResponses) => Some("no stop reason speaks of calls"),
            (Canary::EmptyToolTurn, OpenaiChat) => Some("an empty list of results is no message"),
            (Canary::TextSplitsReply, Gemini) => None,
            (Canary::TextSplitsReply, _) => {
                Some("text comes before the calls, or two messages in a row are read as one")
            }
            (Canary::EmptyTextKept, AnthropicMessages | BedrockConverse) => None,
            (Canary::EmptyTextKept, _) => Some("an empty text is not kept, or not refused"),
            _ => None,
        }
    }
}
