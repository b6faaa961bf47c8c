//! The canaries: each is the reference agent with one planted bug.
//!
//! A canary changes only what the agent does. No checker, rule or provider knows that it exists.

mod senseless;
mod table;

use serde::Serialize;

use table::{Entry, TABLE};

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
    /// A call of a tool that the agent does not know is kept without a result.
    UnknownToolDangles,
    /// The name of a tool is kept as the model wrote it, whatever it is.
    BadNameKept,
    /// A call whose arguments are no JSON is passed over, and kept.
    BadArgumentsSkipped,
    /// Arguments that break off are closed, and the tool runs.
    CutArgumentsRepaired,
    /// Arguments that are no object are kept as they are.
    NotObjectKept,
    /// Half of a surrogate pair in the arguments is kept.
    SurrogateKept,
    /// A call without an id is kept with an empty one.
    EmptyIdKept,
    /// A call with the id of another is kept with it.
    SameIdKept,
    /// An id that the provider does not take back is kept.
    ForeignIdKept,
    /// Pieces of arguments are added to the call that began last, whichever they belong to.
    DeltasToLatest,
    /// A reply that has reached its greatest length is kept with its calls and without results.
    LengthDangles,
    /// A reply that stops for calls and has none is answered with an empty list of results.
    EmptyToolTurn,
    /// A reply that says something between two calls is kept as two messages.
    TextSplitsReply,
    /// A text that was opened and not filled is kept.
    EmptyTextKept,
    /// When the provider refuses the request with the results for good, the results are dropped.
    ErrorLosesResults,
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
    /// The user's stop waits for tools that do not hear it (senpi).
    DeafToolAwaited,
    /// A stop in the instant in which the last reply is complete undoes the turn (junior).
    FinishedTurnDropped,
    /// A second stop undoes the turn that the first has ended.
    SecondStopUndoes,
    /// The result of a tool that returned nothing is left out (Zed).
    EmptyResultDropped,
    /// A tool that throws without a word has no result.
    WordlessThrowDropped,
    /// A turn that has had its steps leaves the calls of the last one without results (OpenTag).
    LimitLeavesCalls,
    /// The tool that ends the turn has no result (ChatGPTApp).
    FinalToolUnanswered,
    /// A guardrail that trips leaves open calls without results (OpenAI Agents).
    GuardrailDangles,
    /// The end of the user's credits leaves open calls without results (Twenty).
    CreditsDangle,
    /// What the user says to the running turn is put between the results of a batch (LibreChat).
    SteerSplitsBatch,
    /// What a hook adds is put between the results of a batch (Claude Code).
    HookSplitsBatch,
    /// Another prompt begins in the middle of the running turn's calls (AgentScope).
    PromptsInterleave,
    /// What the user says instead of answering leaves the call that was asked about without a result (Vercel AI SDK).
    ApprovalTalkedOver,
    /// A kill while the user is being asked loses the results of the other calls (OpenAI Agents).
    AskedKillLosesSiblings,
    /// A yes to one call of a batch also lets the call run that was refused before it (Hermes Agent).
    ConsentMisrouted,
    /// A stop while the model talks about its results has their tools run again (Cherry Studio).
    FinishedBatchReruns,
    /// A cut by number keeps a result whose call it drops (LangChain, n8n).
    TrimOrphansResult,
    /// A cut by number leaves a history that begins with calls (Gemini CLI).
    TrimStartsWithCall,
    /// A cut while a turn runs drops what the user said in it (gwenflow).
    TrimDropsPrompt,
    /// A summary that begins between a call and its result keeps the call alone (opencode).
    SummaryOrphansCall,
    /// The calls that follow a summary are sent as words of the user (Strands).
    SummaryFlipsRole,
    /// Long arguments behind a summary are cut off, and are no JSON any more (Hermes).
    SummaryCutsArguments,
    /// A summary while tools run takes their calls, and the results come after it (devo).
    SummaryDropsOpenCalls,
    /// Calls without results are mended in each request but the one for a summary (Codex).
    SummaryOfPoison,
    /// Behind a summary, each step of a turn has the steps before it twice (Spring AI).
    MemoryDoubled,
    /// What the user takes back stays in the history of requests (Cline).
    RewindForgotten,
    /// A question beside the conversation is sent with its calls and without tools (pydantic-ai).
    AsideWithoutTools,
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
}

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
