//! The decisions of an agent, in the order in which a turn reaches them.
//!
//! Each default body is the decision of a correct agent, and its doc comment gives the reason. A planted bug
//! ([`crate::flaws`]) overrides a few of them, and may also change the reply or the session that it is given.

use std::borrow::Cow;
use std::fmt;

use brickbat_rules::dialect::Dialect;
use brickbat_scenario::plan::{Change, ToolOutcome};
use brickbat_scenario::scenario::InterruptCause;
use brickbat_scenario::trace::{Aside, Consent, ShownState, TurnOutcome};
use brickbat_scenario::wire;

use super::compaction::Summary;
use super::io::RequestId;
use super::model_errors::{IdProblem, InvalidCall, is_valid_name};
use super::repair::repaired;
use super::request;
use super::session::{LateRun, Session};
use super::step::{CallState, Step, StepCall, interrupted, not_allowed, saved};
use super::sub_agent::SubThread;
use super::thread::{Call, CallResult, Message};
use super::{Setup, Tool, compaction};

/// A context with at least this number of tokens counts as full: four fifths of 200,000, a common window of
/// models.
pub(crate) const FULL: u64 = 160_000;

/// The next step of a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Next {
    /// Continue as usual.
    GoOn,
    /// Send a request immediately.
    Ask,
    /// Send the failed request again immediately.
    Retry,
    /// Leave the step, and wait for the next input.
    Wait,
    /// End the turn; everything that is to be kept has been saved.
    End(TurnOutcome),
    /// Give up the running tools, save these messages, and end the turn.
    BreakOff(Vec<Message>, TurnOutcome),
}

/// How a turn that the user stops is handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnStop {
    /// It ends, and the part of the reply that has arrived is kept.
    KeepReply,
    /// It ends, and the thread stays unchanged.
    DropReply,
    /// It continues until its tools have ended.
    Wait,
}

/// The reason for the next request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asking {
    Prompt,
    /// The results of a step; the turn began at this index of the thread.
    Results {
        turn_start: usize,
    },
    Summary,
    /// The same request failed.
    Retry,
}

/// The reason why a reply or a call did not complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CutOff {
    /// The user stopped the turn.
    Stopped,
    /// The stream broke.
    Broken,
    /// An exception left the loop.
    Interrupted(InterruptCause),
    /// The user wrote a message instead of answering a question.
    TalkedOver,
}

/// The reason why a turn ends although its reply makes calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Halt {
    /// A tool that ends the turn has its result.
    FinalTool,
    /// The turn has reached its limit of steps.
    Limit,
}

/// The position of a turn.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Progress {
    /// The length of the thread before the turn.
    pub(crate) start: usize,
    /// The number of requests so far.
    pub(crate) n_requests: u32,
    /// How many times the current request was sent again.
    pub(crate) n_retries: u32,
}

/// A message to a running turn.
#[derive(Debug)]
pub(crate) struct MidTurnMessage {
    pub(crate) way: Aside,
    pub(crate) text: String,
    /// The calls that already had a result when the message came.
    pub(crate) answered: Vec<String>,
    /// True if a question to the user was open.
    pub(crate) is_reply: bool,
}

/// The messages to a turn that are not yet in the thread, in order.
pub(crate) type Said = Vec<MidTurnMessage>;

/// Facts about a reply that failed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Failure<'a> {
    pub(crate) text: &'a str,
    /// True if the provider may accept the same request later.
    pub(crate) may_pass: bool,
    /// True if it may, and the turn has retries left.
    pub(crate) may_retry: bool,
}

/// The decisions of a correct agent.
pub(crate) struct Reference;

impl Decisions for Reference {}

impl fmt::Debug for dyn Decisions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Decisions")
    }
}

pub(crate) trait Decisions: Send + Sync {
    // A turn begins.

    /// Calls of earlier turns that run again. None do: a call that was cut off may have had its effect.
    fn turn_begins(&mut self, _thread: &[Message], _late: &mut Vec<LateRun>) -> Vec<Call> {
        Vec::new()
    }

    /// The text between results and a prompt, for providers that reject a prompt directly after results. It
    /// states that the results were never answered.
    fn word_after_results(&self) -> Option<&'static str> {
        Some("(interrupted)")
    }

    /// An outcome that ends a turn before it begins. There is none: a thread that has become invalid is
    /// repaired, because refusing it would brick the thread just as the provider would.
    fn refuses(&self, _thread: &[Message]) -> Option<TurnOutcome> {
        None
    }

    // The agent sends a request.

    /// The body of a request. It contains the thread exactly as stored, so a later request begins with the
    /// bytes of an earlier one and hits the provider's cache.
    fn request(&mut self, setup: &Setup, thread: &mut [Message], _id: RequestId, _asking: Asking) -> Vec<u8> {
        request::body(setup, thread)
    }

    /// The tools that later requests offer after the list has changed. They are those of the new list: the model calls what it
    /// is offered.
    fn offers(&self, _old: &[Tool], new: Vec<Tool>) -> Vec<Tool> {
        new
    }

    /// Reacts to a new list of tools. The thread keeps the calls of tools that are gone, with their results.
    fn tools_change(&self, _tools: &[Tool], _thread: &mut Vec<Message>) {}

    /// True if a request asks the model to think while thinking is on. It does not while calls made without
    /// thinking are being answered, because some providers reject that.
    fn asks_to_think(&self, dialect: Dialect, thread: &[Message]) -> bool {
        !(wire::of(dialect).traits.wants_thinking_before_calls && request::follows_unthinking(thread))
    }

    /// Prepares an empty reply: nothing of a failed attempt goes into it.
    fn reply_begins(&mut self, _reply: &mut Step) {}

    // The model writes something that no provider accepts in a later request.

    /// The index of the call to which an argument fragment belongs. It is the index from the provider.
    fn call_of_piece(&self, _reply: &Step, index: u64) -> u64 {
        index
    }

    /// True if a complete call is taken from the reply. All are, because the model expects a result for each.
    fn takes_call(&self, _reply: &Step, _index: u64) -> bool {
        true
    }

    /// True if an unknown tool name is kept as the model wrote it. Providers check the form of names.
    fn keeps_name(&self, name: &str) -> bool {
        is_valid_name(name)
    }

    /// True if an id with this problem is replaced, in the call and in its result.
    fn replaces_id(&self, _problem: IdProblem) -> bool {
        true
    }

    /// True if an image is sent, given the length of its longer side in pixels. It is sent only if a provider
    /// also accepts it among many others.
    fn sends_picture(&self, longest_side: Option<usize>) -> bool {
        longest_side.is_some_and(|side| side <= 2000)
    }

    /// True if a call without any arguments is kept with an empty object. Both mean the same in every API.
    fn fills_empty_arguments(&self) -> bool {
        true
    }

    /// The problem with a call that has invalid arguments. Such arguments are never completed and run,
    /// because there is no way to know what the model left out.
    fn invalid(&self, _args: &mut String, problem: InvalidCall) -> Option<InvalidCall> {
        Some(problem)
    }

    /// True if the arguments of a call that is not run are kept. They are if they form an object.
    fn keeps_arguments(&self, problem: InvalidCall) -> bool {
        matches!(problem, InvalidCall::UnknownTool | InvalidCall::SchemaMismatch)
    }

    /// True if a call that cannot be run gets a result. It does, so that the model reads what was wrong.
    fn answers_invalid(&self, _problem: InvalidCall) -> bool {
        true
    }

    /// True if a text of only white space is kept. It is not, because providers reject it.
    fn keeps_blank_text(&self) -> bool {
        false
    }

    // Tools run.

    /// True if a tool starts as soon as its call is complete, while the reply is still arriving.
    fn starts_early(&self) -> bool {
        true
    }

    /// True if a tool runs after this answer of the user.
    fn may_run(&self, consent: Consent) -> bool {
        consent == Consent::Given
    }

    /// Another call that one approval releases. There is none: an approval is for one call.
    fn also_released<'a>(&self, _step: &'a mut Step, _tools: &[Tool]) -> Option<&'a mut StepCall> {
        None
    }

    /// True if the result of a tool is recorded. It always is, even if the tool failed, the result is empty,
    /// or it comes while the reply is still arriving.
    fn keeps_result(&self, _outcome: &ToolOutcome, _is_reply_over: bool) -> bool {
        true
    }

    /// True if the user sees the end of a call. Otherwise it would seem to run forever.
    fn shows_result(&self, _outcome: &ToolOutcome, _is_reply_over: bool) -> bool {
        true
    }

    /// Reacts to the result of one call. The other calls continue to run.
    fn call_ended(&mut self, _step: &mut Step, _id: &str, _outcome: &ToolOutcome, _session: &mut Session) {}

    /// Reacts to the result of a handoff. The other calls continue to run, and control moves when all have
    /// their results.
    fn handed_over(&mut self, _step: &mut Step, _session: &mut Session) {}

    /// The next step after a tool that was denied. The turn continues, and the model reads about the denial.
    fn denied(&mut self, _step: &Step) -> Next {
        Next::GoOn
    }

    /// Reacts to the late result of a tool that was given up. Its call already has a result, so nothing is
    /// recorded.
    fn late_result(&mut self, _call_id: String, _outcome: &ToolOutcome, _thread: &mut Vec<Message>) {}

    // A reply is over.

    /// True if a request that was rejected with this status may be sent again.
    fn may_pass(&self, status: u16) -> bool {
        matches!(status, 408 | 409 | 429 | 500..)
    }

    /// True if the reply is complete. Only its terminal event proves that.
    fn is_complete(&self, _reply: &mut Step, has_terminal_event: bool) -> bool {
        has_terminal_event
    }

    /// The next step after a complete reply. Its stop reason proves nothing: calls are answered regardless of
    /// the reason.
    fn reply_complete(&mut self, _step: &Step, _session: &mut Session) -> Next {
        Next::GoOn
    }

    /// The next step after a failed reply. If it has started tools, their results are kept; otherwise the
    /// request is sent again.
    fn reply_failed(&mut self, _step: &mut Step, _failure: Failure<'_>, _session: &mut Session) -> Next {
        Next::GoOn
    }

    /// The pause before a retry: as long as the provider asks for.
    fn pause_ms(&self, wanted_ms: Option<u64>) -> Option<u64> {
        wanted_ms
    }

    /// The messages that a failed reply adds to the thread before a retry. There are none: nothing of it is
    /// kept.
    fn retries(&mut self, _step: &Step, _progress: Progress) -> Vec<Message> {
        Vec::new()
    }

    /// True if the reply is kept when a turn fails permanently. The user's message and earlier results always
    /// are.
    fn keeps_failed(
        &mut self,
        _step: &Step,
        _progress: Progress,
        _failure: Failure<'_>,
        _session: &mut Session,
    ) -> bool {
        true
    }

    // A step is over.

    /// True if the next request may be sent. It may when every call of the batch has its result.
    fn is_settled(&self, step: &Step) -> bool {
        !step.is_running()
    }

    /// An outcome that ends a settled turn although the model is not done. There is none.
    fn ends_settled(&mut self) -> Option<TurnOutcome> {
        None
    }

    /// True if the turn continues when the provider has paused in one of its own tools. It does, with the
    /// paused reply as the last message. Otherwise the user's next message would be rejected.
    fn resumes(&self) -> bool {
        true
    }

    /// True if the call of a provider's own tool is dropped when its result can no longer come.
    fn drops_open_searches(&self) -> bool {
        true
    }

    /// True if a call keeps its result when the turn ends with this step. It does, because the thread
    /// continues with the next turn.
    fn keeps_result_at(&self, _halt: Halt, _is_final_call: bool) -> bool {
        true
    }

    /// Reacts to a step after which the turn continues. The step is kept as it came.
    fn continues(&self, _step: &mut Step) {}

    /// Reacts to a handoff to another agent, which gets the next request. All results of the step go with it,
    /// because the thread is the same.
    fn control_moves(&mut self, _step: &mut Step, _tools: &[Tool]) {}

    /// The messages that a step adds to the thread: the reply as one message, then the results in the order
    /// of the calls, with nothing between them. Messages to the running turn are added later, unless they
    /// are taken out of `said`.
    fn record(&mut self, step: &Step, _said: &mut Said, _put_off: Option<&Change>) -> Vec<Message> {
        saved(step.message(), step.results())
    }

    // The turn ends in the middle.

    /// How the user's stop is handled. The turn ends immediately, even if a tool does not react.
    fn stops(
        &mut self,
        _step: &mut Step,
        _progress: Progress,
        _tools: &[Tool],
        _session: &mut Session,
    ) -> OnStop {
        OnStop::KeepReply
    }

    /// Reacts to a stop while no turn runs. There is nothing to stop.
    fn stops_again(&mut self, _thread: &mut Vec<Message>) {}

    /// Prepares an incomplete reply for the thread. It is kept as far as it came, unchanged, with its order
    /// and its signatures.
    fn keeps_part(&mut self, _why: CutOff, _step: &mut Step, _thread: &mut Vec<Message>) {}

    /// The result for a call that has none. Every call that is kept gets one, and it is true: the tool may
    /// have run, or was not allowed to.
    fn answer(&self, call: &StepCall, why: CutOff) -> Option<CallResult> {
        let CallState::Asked(_) = call.state else { return Some(interrupted(&call.call)) };
        Some(not_allowed(
            &call.call,
            match why {
                CutOff::Stopped => "the user stopped before allowing this call",
                CutOff::TalkedOver => "the user said something else instead",
                CutOff::Broken | CutOff::Interrupted(_) => "the turn was broken off before an answer",
            },
        ))
    }

    /// A state to show instead, for a result that came before the stop. There is none: the result is kept as
    /// it is, and the user sees no other state of its call.
    fn keeps_early_result(&self, _result: &mut CallResult, _why: CutOff) -> Option<ShownState> {
        None
    }

    /// The next step after a stopped turn: the agent becomes idle.
    fn stopped(&mut self) -> Next {
        Next::End(TurnOutcome::Cancelled)
    }

    // The user or a hook speaks while the turn runs.

    /// True if a second prompt is accepted while a turn runs. It is rejected, because its messages would mix
    /// with those of the turn.
    fn takes_second_prompt(&mut self, _step: &Step, _text: &str, _session: &mut Session) -> bool {
        false
    }

    // The history is changed.

    /// True if a request that failed with this message is sent again with the history summarised. This
    /// happens once, if the request was too long.
    fn shortens(&mut self, dialect: Dialect, failure: &str) -> bool {
        wire::of(dialect).says_overflow(failure)
    }

    /// True if long results are cut when summarising the messages before them has not helped. Otherwise a
    /// batch with results larger than the window would brick the thread.
    fn cuts_results(&self) -> bool {
        true
    }

    /// True if a request with this many tokens fills the context, so that the history is summarised before
    /// the next request.
    fn is_full(&mut self, tokens: u64) -> bool {
        tokens >= FULL
    }

    /// True if a trimmed history may begin with this message. A history begins with a user message, so the
    /// agent first looks for one.
    fn may_begin_with(&self, _first: &Message, _is_turn_running: bool) -> bool {
        false
    }

    /// The thread without the user's last `n_prompts` messages and everything after the first of these.
    fn rewound(&self, thread: &[Message], n_prompts: usize) -> Vec<Message> {
        compaction::rewound(thread, n_prompts).to_vec()
    }

    /// The request body that asks for a summary of the messages before this index.
    fn summary_request(&self, setup: &Setup, thread: &[Message], end: usize) -> Vec<u8> {
        request::of_summary(setup, &thread[..end])
    }

    /// The thread with its beginning replaced by a summary. It is repaired first, so that calls and results
    /// stay together.
    fn summarised(&self, thread: &[Message], summary: Summary<'_>) -> Vec<Message> {
        compaction::summarised(&repaired(thread.to_vec()), summary)
    }

    /// True if a reply to the request for a summary replaces the beginning of the thread: one that is complete and not
    /// empty. Otherwise the thread stays as it is.
    fn takes_summary(&mut self, is_whole: bool, text: &str) -> bool {
        is_whole && !text.trim().is_empty()
    }

    /// True if the agent asks for a summary again directly after it got none. It does not: the next step may ask.
    fn asks_again_for_summary(&mut self) -> bool {
        false
    }

    /// Reacts to the user's stop while a summary arrives. `text` is what has arrived of it. The thread stays as it is.
    fn summary_stopped(&mut self, _text: &str, _thread: &mut Vec<Message>) {}

    /// The body of a request that asks a question about the thread. The question does not become part of the
    /// thread.
    fn question_request(&self, setup: &Setup, thread: &[Message], question: &str) -> Vec<u8> {
        request::of_question(setup, thread, question)
    }

    // Another agent is a tool of this one.

    /// True if the call of a sub-agent that ended with an error gets that error as its result. It does,
    /// because otherwise the turn would wait forever.
    fn hears_failed_sub_agent(&self) -> bool {
        true
    }

    /// Reacts to a sub-agent that was stopped together with the turn. Its thread is dropped, and this thread
    /// does not change.
    fn sub_agent_stopped(&mut self, _its_thread: &[Message], _thread: &mut Vec<Message>) {}

    // The thread continues with another provider.

    /// True if ids that the new provider does not accept are replaced. They are, in the calls and in their
    /// results.
    fn fits_foreign_ids(&self) -> bool {
        true
    }

    /// True if the model's thinking from the old provider stays in the thread. It does not, because no other
    /// provider can verify its signature.
    fn keeps_foreign_thoughts(&self) -> bool {
        false
    }

    // The thread is stored and loaded.

    /// Adds the current state of a running turn to the saved thread: the reply so far and the results that
    /// have arrived.
    fn save_running(&self, step: &Step, _progress: Progress, thread: &mut Vec<Message>) {
        thread.extend(saved(step.message_so_far(), step.results()));
    }

    /// Reacts to a write of the store that has failed with an error. `step` is that of the running turn, if there is one.
    /// Nothing is lost or done again: the thread is in memory, and the next write contains everything.
    fn write_fails(&mut self, _step: Option<&mut Step>, _session: &mut Session) {}

    /// Prepares the thread for the store, which gets all of it.
    fn stores(&self, _thread: &mut Vec<Message>) {}

    /// The thread as visible from outside: the one that the next request sends.
    fn history<'a>(&self, thread: &'a [Message]) -> Cow<'a, [Message]> {
        Cow::Borrowed(thread)
    }

    /// True if the store is read again before a turn when another process may have written to it.
    fn rereads(&self) -> bool {
        true
    }

    /// The thread with which a new process continues. It contains nothing from the sub-agents that died with
    /// the old process. Their calls get a result, like all calls that were cut off.
    fn rejoined(&self, thread: Vec<Message>, _sub_agents: &[SubThread]) -> Vec<Message> {
        self.loaded(thread)
    }

    /// The loaded thread without its sub-agents. Every call has one result.
    fn loaded(&self, thread: Vec<Message>) -> Vec<Message> {
        repaired(thread)
    }
}
