//! The decisions of an agent, in the order in which a turn meets them.
//!
//! Each default body is what a correct agent does, and its doc says why. A planted bug ([`crate::flaws`]) overrides a
//! few of them.

use std::borrow::Cow;
use std::fmt;

use brickbat_rules::dialect::Dialect;
use brickbat_scenario::plan::{Change, ToolOutcome};
use brickbat_scenario::scenario::InterruptCause;
use brickbat_scenario::trace::{Consent, ShownState, TurnOutcome};
use brickbat_scenario::wire;

use super::ending::Halt;
use super::io::RequestId;
use super::model_errors::{IdProblem, InvalidCall, is_valid_name};
use super::repair::repaired;
use super::request;
use super::session::{LateRun, Session};
use super::step::{CallState, Step, StepCall, interrupted, not_allowed};
use super::store;
use super::sub_agent::SubThread;
use super::thread::{Call, CallResult, Message};
use super::turn::Turn;
use super::{Setup, Tool, compaction, side_request};

/// The tokens from which on a context is full: four fifths of what models hold that hold 200,000.
pub(crate) const FULL: u64 = 160_000;

/// How a turn goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Next {
    /// As it should.
    GoOn,
    /// The provider is asked at once.
    Ask,
    /// The turn waits for what comes.
    Wait,
    /// The turn is over; what is to be kept of it has been saved.
    End(TurnOutcome),
}

/// What becomes of a turn that the user stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnStop {
    /// It ends, and what has come of the reply is kept.
    KeepReply,
    /// It ends, and the thread stands as it is.
    DropReply,
    /// It goes on until its tools have ended.
    Wait,
}

/// What the next request follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asking {
    Prompt,
    /// The results of a step; the turn began at this place of the thread.
    Results {
        turn_start: usize,
    },
    Summary,
    /// The same request, which failed.
    Retry,
}

/// Why a reply, or a call, did not come to its end.
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

/// A reply that failed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Failure<'a> {
    pub(crate) text: &'a str,
    /// Whether the provider may take the same request later.
    pub(crate) may_pass: bool,
    /// Whether it may, and the turn has retries left.
    pub(crate) may_retry: bool,
}

/// What a correct agent decides.
pub(crate) struct Reference;

impl Decisions for Reference {}

impl fmt::Debug for dyn Decisions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Decisions")
    }
}

pub(crate) trait Decisions: Send + Sync {
    // A turn begins.

    /// Calls of earlier turns that run again: none. A call that was cut off may have had its effect.
    fn turn_begins(&mut self, _thread: &[Message], _late: &mut Vec<LateRun>) -> Vec<Call> {
        Vec::new()
    }

    /// What stands between results and a prompt for providers that refuse a prompt there: that the answer to the
    /// results was never given.
    fn word_after_results(&self) -> Option<&'static str> {
        Some("(interrupted)")
    }

    /// With what a turn ends before it begins: nothing. A thread that has become invalid is repaired, because to
    /// refuse it bricks the thread just as the provider would.
    fn refuses(&self, _thread: &[Message]) -> Option<TurnOutcome> {
        None
    }

    // The provider is asked.

    /// The body of a request: the thread as it is stored. So a later request begins with the bytes of an earlier one,
    /// and the provider's cache holds.
    fn request(&mut self, setup: &Setup, thread: &mut [Message], _id: RequestId, _asking: Asking) -> Vec<u8> {
        request::body(setup, thread)
    }

    /// Whether a request asks the model to think where thinking is on: not while calls that were made without it are being
    /// answered, which some providers refuse.
    fn asks_to_think(&self, dialect: Dialect, thread: &[Message]) -> bool {
        !(wire::of(dialect).traits.wants_thinking_before_calls && request::follows_unthinking(thread))
    }

    /// A reply begins, empty: nothing of a failed attempt goes into it.
    fn reply_begins(&mut self, _reply: &mut Step) {}

    // The model says something that no provider takes back.

    /// The call to which a piece of arguments belongs: the one that the provider names.
    fn call_of_piece(&self, _reply: &Step, index: u64) -> u64 {
        index
    }

    /// Whether a tool's name that is unknown is kept as the model wrote it. Providers check the form of names.
    fn keeps_name(&self, name: &str) -> bool {
        is_valid_name(name)
    }

    /// Whether an id with that problem is replaced, in the call and in its result.
    fn replaces_id(&self, _problem: IdProblem) -> bool {
        true
    }

    /// Whether a picture is sent whose longer side has so many pixels: only if a provider takes it among many, too.
    fn sends_picture(&self, longest_side: Option<usize>) -> bool {
        longest_side.is_some_and(|side| side <= 2000)
    }

    /// Whether arguments of which nothing came are kept as an empty object. Every API means that by none.
    fn fills_empty_arguments(&self) -> bool {
        true
    }

    /// What is wrong with a call whose arguments are not valid. They are never completed and run: what the model left
    /// out cannot be known.
    fn invalid(&self, _args: &mut String, problem: InvalidCall) -> Option<InvalidCall> {
        Some(problem)
    }

    /// Whether the arguments of a call that is not run are kept: if they are an object.
    fn keeps_arguments(&self, problem: InvalidCall) -> bool {
        matches!(problem, InvalidCall::UnknownTool | InvalidCall::SchemaMismatch)
    }

    /// Whether a call that cannot be run gets a result. It does, and the model reads what was wrong.
    fn answers_invalid(&self, _problem: InvalidCall) -> bool {
        true
    }

    /// Whether a text of nothing but space is kept. Providers refuse it.
    fn keeps_blank_text(&self) -> bool {
        false
    }

    // Tools run.

    /// Whether a tool runs after the user was asked.
    fn may_run(&self, consent: Consent) -> bool {
        consent == Consent::Given
    }

    /// Another call that a yes releases: none. A yes is for one call.
    fn also_released<'a>(&self, _step: &'a mut Step, _tools: &[Tool]) -> Option<&'a mut StepCall> {
        None
    }

    /// Whether the result of a tool is recorded. It always is: failed or empty, and also when the reply still comes.
    fn keeps_result(&self, _outcome: &ToolOutcome, _is_reply_over: bool) -> bool {
        true
    }

    /// Whether the user sees that a call has ended, or it would seem to run for ever.
    fn shows_result(&self, _outcome: &ToolOutcome, _is_reply_over: bool) -> bool {
        true
    }

    /// A call of the step has its result. The others run on.
    fn call_ended(&mut self, _step: &mut Step, _id: &str, _outcome: &ToolOutcome, _session: &mut Session) {}

    /// A call that hands over has its result. The others run on, and control moves when all have theirs.
    fn handed_over(&mut self, _step: &mut Step, _session: &mut Session) {}

    /// What follows a tool that was denied: the turn goes on, and the model reads of it.
    fn denied(&mut self, _turn: &mut Turn, _session: &mut Session) -> Next {
        Next::GoOn
    }

    /// A tool that was given up answers all the same. Its call has its result already, so nothing is recorded.
    fn late_result(&mut self, _call_id: String, _outcome: &ToolOutcome, _thread: &mut Vec<Message>) {}

    // A reply is over.

    /// Whether a request that was refused with that status may be sent again.
    fn may_pass(&self, status: u16) -> bool {
        matches!(status, 408 | 409 | 429 | 500..)
    }

    /// Whether the reply has come whole: only its terminal event proves it.
    fn is_complete(&self, _reply: &mut Step, has_terminal_event: bool) -> bool {
        has_terminal_event
    }

    /// A reply has come whole. Its stop reason proves nothing: calls are answered whatever it says.
    fn reply_complete(&mut self, _turn: &mut Turn, _session: &mut Session) -> Next {
        Next::GoOn
    }

    /// A reply has failed. If it has started tools, their results are kept; else the request is sent again.
    fn reply_failed(&mut self, _turn: &mut Turn, _failure: Failure<'_>, _session: &mut Session) -> Next {
        Next::GoOn
    }

    /// The pause before a retry: what the provider asked for.
    fn pause_ms(&self, wanted_ms: Option<u64>) -> Option<u64> {
        wanted_ms
    }

    /// A request is sent again, with the thread as it was: the reply that failed is not in it.
    fn retries(&mut self, _turn: &Turn, _session: &mut Session) {}

    /// A turn fails for good. Whether its reply is kept; the user's message and earlier results always are.
    fn keeps_failed(&mut self, _turn: &Turn, _failure: Failure<'_>, _session: &mut Session) -> bool {
        true
    }

    // A step is over.

    /// Whether the next request may go out: when every call of the batch has its result.
    fn is_settled(&self, step: &Step) -> bool {
        !step.is_running()
    }

    /// With what a settled turn ends although the model has more to say: nothing.
    fn ends_settled(&mut self) -> Option<TurnOutcome> {
        None
    }

    /// Whether the turn goes on when the provider has paused in a tool of its own: it does, with the paused reply as the last
    /// message. What the user says next would be refused.
    fn resumes(&self) -> bool {
        true
    }

    /// Whether the call of a tool that the provider runs itself goes when its result will not come any more.
    fn drops_open_searches(&self) -> bool {
        true
    }

    /// Whether a call keeps its result when the turn ends with this step: the thread goes on with the next turn.
    fn keeps_result_at(&self, _halt: Halt, _is_final_call: bool) -> bool {
        true
    }

    /// The turn goes on from a step, which is kept as it came.
    fn continues(&self, _step: &mut Step) {}

    /// The step hands the conversation over to another agent, which is asked next. All its results go with it: the thread
    /// is the same.
    fn control_moves(&mut self, _step: &mut Step, _tools: &[Tool]) {}

    /// Saves a step: the reply as one message, after it the results in the order of the calls, and nothing between
    /// them. What was said meanwhile is saved later, if it is left in the turn.
    fn record(&mut self, turn: &mut Turn, _put_off: Option<&Change>, session: &mut Session) {
        session.push_message(turn.step.message());
        session.push_results(turn.step.results());
    }

    // The turn ends in the middle.

    /// The user stops the turn. It ends at once, also if a tool does not react.
    fn stops(&mut self, _turn: &mut Turn, _tools: &[Tool], _session: &mut Session) -> OnStop {
        OnStop::KeepReply
    }

    /// The user stops when no turn runs. There is nothing to stop.
    fn stops_again(&mut self, _thread: &mut Vec<Message>) {}

    /// A reply is kept that did not come to its end: as far as it came, unchanged, with its order and its signatures.
    fn keeps_part(&mut self, _why: CutOff, _step: &mut Step, _thread: &mut Vec<Message>) {}

    /// The result of a call that has none. Every call that is kept gets one, and it is true: the tool may have run, or
    /// was not allowed to.
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

    /// A result that came before the stop is kept as it is; the user sees no other state of its call.
    fn keeps_early_result(&self, _result: &mut CallResult, _why: CutOff) -> Option<ShownState> {
        None
    }

    /// What follows the end of a stopped turn: the agent is idle.
    fn stopped(&mut self, _turn: &mut Turn) -> Next {
        Next::End(TurnOutcome::Cancelled)
    }

    // Somebody speaks while the turn runs.

    /// Whether a second prompt is taken while a turn runs. It is refused: its messages would mix with the turn's.
    fn takes_second_prompt(&mut self, _turn: &mut Turn, _text: &str, _session: &mut Session) -> bool {
        false
    }

    // The history is changed.

    /// Whether a request that failed in these words is sent again with the history summarised: once, if it was too long.
    fn shortens(&mut self, dialect: Dialect, failure: &str) -> bool {
        wire::of(dialect).says_overflow(failure)
    }

    /// Whether long results are cut when a summary of what is before them has not helped. A batch whose results are larger
    /// than the window would brick the thread.
    fn cuts_results(&self) -> bool {
        true
    }

    /// Whether a request of so many tokens fills the context, so that the history is summarised before the next one.
    fn is_full(&mut self, tokens: u64) -> bool {
        tokens >= FULL
    }

    /// Whether a cut by number may begin with that message as it stands: a history begins with the user's words, and
    /// that is looked for first.
    fn may_begin_with(&self, _first: &Message, _is_turn_running: bool) -> bool {
        false
    }

    /// The thread without the user's last messages, so many, and what followed them.
    fn rewound(&self, thread: &[Message], n_prompts: usize) -> Vec<Message> {
        compaction::rewound(thread, n_prompts).to_vec()
    }

    /// The body that asks for a summary of the messages before that place.
    fn summary_request(&self, setup: &Setup, thread: &[Message], end: usize) -> Vec<u8> {
        side_request::of_summary(setup, &thread[..end])
    }

    /// The thread whose beginning a summary replaces. It is repaired first, so that calls and results stay together.
    fn summarised(
        &self,
        thread: &[Message],
        keep: usize,
        summary: &str,
        is_turn_running: bool,
    ) -> Vec<Message> {
        compaction::summarised(&repaired(thread.to_vec()), keep, summary, is_turn_running)
    }

    /// The body that asks a question about the thread which does not become a part of it.
    fn question_request(&self, setup: &Setup, thread: &[Message], question: &str) -> Vec<u8> {
        side_request::of_question(setup, thread, question)
    }

    // An agent is a tool of this one.

    /// Whether the call of a sub-agent that ended with an error gets it as its result. It does, or the turn would wait for ever.
    fn hears_failed_sub_agent(&self) -> bool {
        true
    }

    /// A sub-agent has been stopped together with the turn. Its thread is gone with it, and this one stands.
    fn sub_agent_stopped(&mut self, _its_thread: &[Message], _thread: &mut Vec<Message>) {}

    // The thread goes on with another provider.

    /// Whether ids that the new provider does not take are replaced: they are, in the calls and in their results.
    fn fits_foreign_ids(&self) -> bool {
        true
    }

    /// Whether what the model thought at the old provider stays in the thread. It goes: no other provider can check its
    /// signature.
    fn keeps_foreign_thoughts(&self) -> bool {
        false
    }

    // The thread is stored and loaded.

    /// Adds what a running turn has so far to the thread that is saved: the reply and the results that have come.
    fn save_running(&self, turn: &Turn, thread: &mut Vec<Message>) {
        store::push(thread, turn.step.message_so_far(), turn.step.results());
    }

    /// The thread as it is shown to whoever asks: the one that the next request sends.
    fn history<'a>(&self, thread: &'a [Message]) -> Cow<'a, [Message]> {
        Cow::Borrowed(thread)
    }

    /// Whether the store is read again before a turn when another process may have written to it.
    fn rereads(&self) -> bool {
        true
    }

    /// The thread that a new process goes on with. What sub-agents had said that died with the old one does not come into it:
    /// their calls have a result like all that were cut off.
    fn rejoined(&self, thread: Vec<Message>, _sub_agents: &[SubThread]) -> Vec<Message> {
        self.loaded(thread)
    }

    /// The same without sub-agents: with one result for every call.
    fn loaded(&self, thread: Vec<Message>) -> Vec<Message> {
        repaired(thread)
    }
}
