//! The canaries: each is the reference agent with one planted bug.
//!
//! A canary changes only what the agent does. No checker, rule or provider knows that it exists.

use serde::Serialize;

use crate::dialect::Dialect;

/// One planted bug.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Canary {
    /// The user's stop saves calls that have no result (Twenty).
    DanglingOnAbort,
    /// When the stream breaks, calls in flight are saved without a result (Apex).
    InFlightDropped,
    /// A tool error that comes before the reply is over is ignored (opencode).
    EarlyErrorIgnored,
    /// A retry goes on in the message of the failed attempt (opencode).
    RetryMergesSteps,
    /// A refused call ends the turn with the reply kept and no results (tunacode).
    DeniedKeepsReply,
    /// A call that failed is never shown as over (TanStack AI).
    ErrorParked,
    /// The user's stop drops the step with the results that had already come.
    ResultsLost,
    /// A call runs with the arguments that had come when the stream broke.
    PartialArgumentsRun,
    /// A result that comes after the stop is recorded beside the one that was made up.
    LateResultTwice,
    /// After the user's stop the agent asks the provider again and again.
    RequestStorm,
    /// A turn that fails drops the user's message.
    PromptLost,
    /// A call that was cut off is recorded as done.
    SuccessInvented,
    /// Calls that were cut off run again in the next turn.
    RunsTwice,
    /// Calls are saved in the order in which their results came.
    CallsReordered,
    /// The user's stop is heard, but the turn never ends.
    NeverEnds,
    /// A reply without its terminal event is taken as complete.
    TruncationSwallowed,
    /// The agent saves unanswered calls and refuses its own history from then on.
    RefusesOwnHistory,
    /// The user's stop forgets calls about which the user is being asked.
    ApprovalForgotten,
    /// A tool runs although the user, being asked, has said no.
    RefusalIgnored,
    /// Calls are saved when the reply is over, their results when all have come; a resume answers none.
    KillDangles,
    /// The thread is saved only when a turn is over.
    KillForgets,
    /// Results are saved when all have come; a resume takes those that had come for unknown.
    KillLosesResults,
    /// Calls that are kept of a broken reply are kept without what they were signed with.
    SignatureDropped,
    /// A reply that did not come to its end is kept without what the model thought.
    ThinkingDropped,
    /// What the model thought is changed when the reply did not come to its end.
    ThinkingAltered,
    /// What the model thought is kept with an empty signature when the reply was cut off before the real one.
    ThinkingUnsigned,
}

impl Canary {
    /// Every canary, in the order of the kill table.
    pub const ALL: [Canary; 26] = [
        Canary::DanglingOnAbort,
        Canary::InFlightDropped,
        Canary::EarlyErrorIgnored,
        Canary::RetryMergesSteps,
        Canary::DeniedKeepsReply,
        Canary::ErrorParked,
        Canary::ResultsLost,
        Canary::PartialArgumentsRun,
        Canary::LateResultTwice,
        Canary::RequestStorm,
        Canary::PromptLost,
        Canary::SuccessInvented,
        Canary::RunsTwice,
        Canary::CallsReordered,
        Canary::NeverEnds,
        Canary::TruncationSwallowed,
        Canary::RefusesOwnHistory,
        Canary::ApprovalForgotten,
        Canary::RefusalIgnored,
        Canary::KillDangles,
        Canary::KillForgets,
        Canary::KillLosesResults,
        Canary::SignatureDropped,
        Canary::ThinkingDropped,
        Canary::ThinkingAltered,
        Canary::ThinkingUnsigned,
    ];

    /// The name in tables and options.
    pub fn name(self) -> &'static str {
        match self {
            Canary::DanglingOnAbort => "dangling-on-abort",
            Canary::InFlightDropped => "in-flight-dropped",
            Canary::EarlyErrorIgnored => "early-error-ignored",
            Canary::RetryMergesSteps => "retry-merges-steps",
            Canary::DeniedKeepsReply => "denied-keeps-reply",
            Canary::ErrorParked => "error-parked",
            Canary::ResultsLost => "results-lost",
            Canary::PartialArgumentsRun => "partial-arguments-run",
            Canary::LateResultTwice => "late-result-twice",
            Canary::RequestStorm => "request-storm",
            Canary::PromptLost => "prompt-lost",
            Canary::SuccessInvented => "success-invented",
            Canary::RunsTwice => "runs-twice",
            Canary::CallsReordered => "calls-reordered",
            Canary::NeverEnds => "never-ends",
            Canary::TruncationSwallowed => "truncation-swallowed",
            Canary::RefusesOwnHistory => "refuses-own-history",
            Canary::ApprovalForgotten => "approval-forgotten",
            Canary::RefusalIgnored => "refusal-ignored",
            Canary::KillDangles => "kill-dangles",
            Canary::KillForgets => "kill-forgets",
            Canary::KillLosesResults => "kill-loses-results",
            Canary::SignatureDropped => "signature-dropped",
            Canary::ThinkingDropped => "thinking-dropped",
            Canary::ThinkingAltered => "thinking-altered",
            Canary::ThinkingUnsigned => "thinking-unsigned",
        }
    }

    /// The canary of that name.
    pub fn from_name(name: &str) -> Option<Canary> {
        Canary::ALL.into_iter().find(|canary| canary.name() == name)
    }

    /// Why the bug cannot show in a dialect, if so.
    pub fn senseless_in(self, dialect: Dialect) -> Option<&'static str> {
        match (self, dialect) {
            (Canary::PartialArgumentsRun, Dialect::Gemini | Dialect::Mistral) => {
                Some("a call comes in one piece, so there are no partial arguments")
            }
            (Canary::SignatureDropped, Dialect::Gemini) => None,
            (Canary::SignatureDropped, _) => Some("calls are not signed"),
            (
                Canary::ThinkingDropped | Canary::ThinkingAltered | Canary::ThinkingUnsigned,
                Dialect::AnthropicMessages | Dialect::BedrockConverse,
            ) => None,
            (Canary::ThinkingDropped | Canary::ThinkingAltered | Canary::ThinkingUnsigned, _) => {
                Some("thinking is not sent back")
            }
            _ => None,
        }
    }

    /// The id of the checker that must catch it. The checkers do not know this.
    pub fn caught_by(self) -> &'static str {
        match self {
            Canary::DanglingOnAbort
            | Canary::InFlightDropped
            | Canary::EarlyErrorIgnored
            | Canary::DeniedKeepsReply
            | Canary::RefusesOwnHistory
            | Canary::ApprovalForgotten
            | Canary::KillDangles
            | Canary::SignatureDropped
            | Canary::ThinkingDropped
            | Canary::ThinkingAltered
            | Canary::ThinkingUnsigned => "thread-survives",
            Canary::RefusalIgnored => "consent-given",
            Canary::RetryMergesSteps => "steps-kept-apart",
            Canary::ErrorParked => "parts-settled",
            Canary::ResultsLost | Canary::KillLosesResults => "results-kept",
            Canary::PartialArgumentsRun => "arguments-complete",
            Canary::LateResultTwice => "results-once",
            Canary::RequestStorm => "requests-bounded",
            Canary::PromptLost | Canary::KillForgets => "user-message-kept",
            Canary::SuccessInvented => "success-honest",
            Canary::RunsTwice => "executed-once",
            Canary::CallsReordered => "order-kept",
            Canary::NeverEnds => "turn-ends",
            Canary::TruncationSwallowed => "truncation-noticed",
        }
    }
}
