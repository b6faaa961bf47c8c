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
    /// A call that failed before the reply was over is never shown as over (TanStack AI).
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
    /// A reply that the user stopped is kept without what the model thought.
    ThinkingDropped,
    /// What the model thought is changed when the reply did not come to its end.
    ThinkingAltered,
    /// What the model thought is kept with an empty signature when the reply was cut off before the real one.
    ThinkingUnsigned,
    /// A resume follows one branch of a tree: of a batch of an earlier turn it keeps the last result (Claude Code).
    BranchFollowed,
    /// A repair at load looks for results in the next message alone, and makes up those that stand further on (Strands).
    RepairAddsResult,
    /// The store keys results by their place in the batch: a later batch of the turn overwrites an earlier one (Open
    /// WebUI).
    PartsOverwritten,
    /// The store orders messages by their ids as texts: the tenth comes before the second (opencode).
    OrderFromIds,
    /// Results of tools that failed are stored and not lowered when the thread is loaded.
    ErrorsNotLowered,
    /// A resume answers the calls of the last turn alone: a thread that was broken before stays so.
    HealsTheEndAlone,
    /// A process that shares its session with another goes on with what it has in memory, and writes over the other's
    /// turns (Claude Code).
    StaleWriter,
    /// After a stop, results that had come are recorded as failures.
    SuccessDenied,
    /// A tool that the user's stop cut off is recorded as one that never ran.
    RunDenied,
    /// The answer that is made up for a cut-off call is written anew for each request, and never the same.
    RepairDrifts,
    /// After a stop the agent adds a note to what the user said last, in each request, and stores it nowhere.
    NoteWanders,
    /// A stop is not forgotten: the replies of later turns are kept as if they had been cut off as well.
    StopLingers,
    /// The user's stop shows all calls as failed, also those whose results are kept.
    ShownAsFailed,
    /// The store of a turn that is over has lost the results of a turn that was stopped.
    StoreForgets,
    /// The time after which the provider wants to be asked again is not waited for.
    PauseIgnored,
    /// A request that the provider refuses for good is sent again.
    RefusalRetried,
    /// The user's stop saves calls that have no result, but only in a later step of the turn (the repair looks at the first).
    SecondBatchDangles,
    /// A tool that answers with an error makes the agent give up those that run beside it, and nobody answers for them.
    SiblingsCancelled,
    /// The next request goes out when the last call of a batch is answered, whoever else is still running.
    LastResultOnly,
    /// When the last call of a batch is answered first, its result gets a message of its own.
    LastResultApart,
    /// When the last call of a batch is answered first, the batch is saved as two, so that a part of it is unsigned.
    BatchSplit,
    /// When the last call of a batch is answered first, it is saved first.
    OrderOfArrival,
    /// An error that comes before the reply is over is recorded when it comes and again when the reply is over.
    ErrorTwice,
    /// A result that comes while the next turn runs is added behind that turn's prompt.
    LateResultRevived,
    /// The user's stop records a call about which the user is being asked as done, if a tool runs beside it.
    QuestionTakenForDone,
    /// A retry that begins with other words goes on in the message of the failed attempt.
    RetryContinuesMessage,
    /// A prompt to which the provider answered only errors leaves an empty message behind, so that two prompts are not told as one.
    UsersNotMerged,
    /// A prompt that follows results is sent as it is to providers that want an answer between.
    NoWordAfterResults,
    /// When a later step breaks, the retry ends with what the model had said.
    RetryPrefills,
    /// The user's stop keeps a reply that had not begun as a message without content.
    PlaceholderKept,
    /// The user's stop while the model talks about the results drops the results with it.
    FinishedBatchLost,
    /// A reply that was stopped behind the thinking is kept as a message of nothing else.
    LoneThoughtKept,
    /// A resume reads the stored thread without what the model thought.
    ThinkingForgotten,
}

/// What is known of a canary.
struct Entry {
    canary: Canary,
    /// The name in tables and options.
    name: &'static str,
    /// The checker that must catch it.
    check: &'static str,
    /// The failure class that it stands for; none where the suite guards against more than was ever reported.
    class: Option<&'static str>,
}

/// Every canary, in the order of the kill table.
const TABLE: &[Entry] = &[
    Entry {
        canary: Canary::DanglingOnAbort,
        name: "dangling-on-abort",
        check: "thread-survives",
        class: Some("abort-batch"),
    },
    Entry {
        canary: Canary::InFlightDropped,
        name: "in-flight-dropped",
        check: "thread-survives",
        class: Some("stream-break"),
    },
    Entry {
        canary: Canary::EarlyErrorIgnored,
        name: "early-error-ignored",
        check: "thread-survives",
        class: Some("event-order"),
    },
    Entry {
        canary: Canary::RetryMergesSteps,
        name: "retry-merges-steps",
        check: "steps-kept-apart",
        class: Some("retry-merge"),
    },
    Entry {
        canary: Canary::DeniedKeepsReply,
        name: "denied-keeps-reply",
        check: "thread-survives",
        class: Some("approval-denied"),
    },
    Entry {
        canary: Canary::ErrorParked,
        name: "error-parked",
        check: "parts-settled",
        class: Some("stuck-state"),
    },
    Entry {
        canary: Canary::ResultsLost,
        name: "results-lost",
        check: "results-kept",
        class: Some("lost-exec"),
    },
    Entry {
        canary: Canary::PartialArgumentsRun,
        name: "partial-arguments-run",
        check: "arguments-complete",
        class: Some("partial-args"),
    },
    Entry {
        canary: Canary::LateResultTwice,
        name: "late-result-twice",
        check: "results-once",
        class: Some("late-result"),
    },
    Entry { canary: Canary::RequestStorm, name: "request-storm", check: "requests-bounded", class: None },
    Entry {
        canary: Canary::PromptLost,
        name: "prompt-lost",
        check: "user-message-kept",
        class: Some("stream-break"),
    },
    Entry {
        canary: Canary::SuccessInvented,
        name: "success-invented",
        check: "success-honest",
        class: Some("synthetic-wrong"),
    },
    Entry {
        canary: Canary::RunsTwice,
        name: "runs-twice",
        check: "executed-once",
        class: Some("double-exec"),
    },
    Entry {
        canary: Canary::CallsReordered,
        name: "calls-reordered",
        check: "order-kept",
        class: Some("out-of-order"),
    },
    Entry { canary: Canary::NeverEnds, name: "never-ends", check: "turn-ends", class: Some("stuck-state") },
    Entry {
        canary: Canary::TruncationSwallowed,
        name: "truncation-swallowed",
        check: "truncation-noticed",
        class: Some("stream-break"),
    },
    Entry {
        canary: Canary::RefusesOwnHistory,
        name: "refuses-own-history",
        check: "thread-survives",
        class: Some("abort-batch"),
    },
    Entry {
        canary: Canary::ApprovalForgotten,
        name: "approval-forgotten",
        check: "thread-survives",
        class: Some("approval-unanswered"),
    },
    Entry {
        canary: Canary::RefusalIgnored,
        name: "refusal-ignored",
        check: "consent-given",
        class: Some("approval-denied"),
    },
    Entry {
        canary: Canary::KillDangles,
        name: "kill-dangles",
        check: "thread-survives",
        class: Some("kill-resume"),
    },
    Entry {
        canary: Canary::KillForgets,
        name: "kill-forgets",
        check: "user-message-kept",
        class: Some("kill-resume"),
    },
    Entry {
        canary: Canary::KillLosesResults,
        name: "kill-loses-results",
        check: "results-kept",
        class: Some("kill-resume"),
    },
    Entry {
        canary: Canary::SignatureDropped,
        name: "signature-dropped",
        check: "thread-survives",
        class: Some("thought-signature"),
    },
    Entry {
        canary: Canary::ThinkingDropped,
        name: "thinking-dropped",
        check: "thread-survives",
        class: Some("thinking-first"),
    },
    Entry {
        canary: Canary::ThinkingAltered,
        name: "thinking-altered",
        check: "thread-survives",
        class: Some("thinking-modified"),
    },
    Entry {
        canary: Canary::ThinkingUnsigned,
        name: "thinking-unsigned",
        check: "thread-survives",
        class: Some("thinking-unsigned"),
    },
    Entry { canary: Canary::SuccessDenied, name: "success-denied", check: "failure-honest", class: None },
    Entry { canary: Canary::RunDenied, name: "run-denied", check: "failure-honest", class: None },
    Entry { canary: Canary::RepairDrifts, name: "repair-drifts", check: "repair-stable", class: None },
    Entry { canary: Canary::NoteWanders, name: "note-wanders", check: "prefix-stable", class: None },
    Entry { canary: Canary::StopLingers, name: "stop-lingers", check: "healthy-untouched", class: None },
    Entry { canary: Canary::ShownAsFailed, name: "shown-as-failed", check: "views-agree", class: None },
    Entry { canary: Canary::StoreForgets, name: "store-forgets", check: "views-agree", class: None },
    Entry { canary: Canary::PauseIgnored, name: "pause-ignored", check: "pause-heeded", class: None },
    Entry { canary: Canary::RefusalRetried, name: "refusal-retried", check: "refusal-heeded", class: None },
    Entry {
        canary: Canary::BranchFollowed,
        name: "branch-followed",
        check: "thread-survives",
        class: Some("tree-branch"),
    },
    Entry {
        canary: Canary::RepairAddsResult,
        name: "repair-adds-result",
        check: "results-once",
        class: Some("extra-result"),
    },
    Entry {
        canary: Canary::PartsOverwritten,
        name: "parts-overwritten",
        check: "results-kept",
        class: Some("id-overwrite"),
    },
    Entry {
        canary: Canary::OrderFromIds,
        name: "order-from-ids",
        check: "order-kept",
        class: Some("id-order"),
    },
    Entry {
        canary: Canary::ErrorsNotLowered,
        name: "errors-not-lowered",
        check: "thread-survives",
        class: Some("persist-translate"),
    },
    Entry {
        canary: Canary::HealsTheEndAlone,
        name: "heals-the-end-alone",
        check: "thread-survives",
        class: Some("kill-resume"),
    },
    Entry {
        canary: Canary::StaleWriter,
        name: "stale-writer",
        check: "user-message-kept",
        class: Some("two-writers"),
    },
    Entry {
        canary: Canary::SecondBatchDangles,
        name: "second-batch-dangles",
        check: "thread-survives",
        class: Some("abort-batch"),
    },
    Entry {
        canary: Canary::SiblingsCancelled,
        name: "siblings-cancelled",
        check: "thread-survives",
        class: Some("partial-batch"),
    },
    Entry {
        canary: Canary::LastResultOnly,
        name: "last-result-only",
        check: "thread-survives",
        class: Some("request-race"),
    },
    Entry {
        canary: Canary::LastResultApart,
        name: "last-result-apart",
        check: "thread-survives",
        class: Some("split-results"),
    },
    Entry {
        canary: Canary::BatchSplit,
        name: "batch-split",
        check: "thread-survives",
        class: Some("thought-signature"),
    },
    Entry {
        canary: Canary::OrderOfArrival,
        name: "order-of-arrival",
        check: "order-kept",
        class: Some("out-of-order"),
    },
    Entry {
        canary: Canary::ErrorTwice,
        name: "error-twice",
        check: "results-once",
        class: Some("dup-result"),
    },
    Entry {
        canary: Canary::LateResultRevived,
        name: "late-result-revived",
        check: "results-once",
        class: Some("late-result"),
    },
    Entry {
        canary: Canary::QuestionTakenForDone,
        name: "question-taken-for-done",
        check: "success-honest",
        class: Some("synthetic-wrong"),
    },
    Entry {
        canary: Canary::RetryContinuesMessage,
        name: "retry-continues-message",
        check: "steps-kept-apart",
        class: Some("retry-merge"),
    },
    Entry {
        canary: Canary::UsersNotMerged,
        name: "users-not-merged",
        check: "thread-survives",
        class: Some("role-alternation"),
    },
    Entry {
        canary: Canary::NoWordAfterResults,
        name: "no-word-after-results",
        check: "thread-survives",
        class: Some("tool-then-user"),
    },
    Entry {
        canary: Canary::RetryPrefills,
        name: "retry-prefills",
        check: "thread-survives",
        class: Some("trailing-assistant"),
    },
    Entry {
        canary: Canary::PlaceholderKept,
        name: "placeholder-kept",
        check: "thread-survives",
        class: Some("empty-content"),
    },
    Entry {
        canary: Canary::FinishedBatchLost,
        name: "finished-batch-lost",
        check: "results-kept",
        class: Some("lost-exec"),
    },
    Entry {
        canary: Canary::LoneThoughtKept,
        name: "lone-thought-kept",
        check: "thread-survives",
        class: Some("reasoning-orphan"),
    },
    Entry {
        canary: Canary::ThinkingForgotten,
        name: "thinking-forgotten",
        check: "thread-survives",
        class: Some("thinking-first"),
    },
];

impl Canary {
    /// Every canary, in the order of the kill table.
    pub fn all() -> impl Iterator<Item = Canary> {
        TABLE.iter().map(|entry| entry.canary)
    }

    /// The name in tables and options.
    pub fn name(self) -> &'static str {
        self.entry().name
    }

    /// The canary of that name.
    pub fn from_name(name: &str) -> Option<Canary> {
        Canary::all().find(|canary| canary.name() == name)
    }

    /// The id of the checker that must catch it. The checkers do not know this.
    pub fn caught_by(self) -> &'static str {
        self.entry().check
    }

    /// The failure class that it stands for, if it is one that was reported.
    pub fn class(self) -> Option<&'static str> {
        self.entry().class
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
            _ => None,
        }
    }

    fn entry(self) -> &'static Entry {
        TABLE.iter().find(|entry| entry.canary == self).expect("every canary has its line in the table")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_canary_has_one_line_and_the_name_of_its_variant() {
        for entry in TABLE {
            assert_eq!(
                TABLE.iter().filter(|other| other.canary == entry.canary).count(),
                1,
                "{}",
                entry.name
            );
            assert_eq!(serde_json::to_value(entry.canary).unwrap(), entry.name);
        }
    }
}
