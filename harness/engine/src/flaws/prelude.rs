//! The frame and the imports of every flaw.

/// Plants a bug: its description, then the state that it needs, if any, and the decisions that it gets wrong.
macro_rules! flaw {
    ($flaw:expr; struct { $($state:tt)* } $($decisions:tt)*) => {
        pub static FLAW: Flaw = $flaw.deciding(|| Box::<Bug>::default());

        #[derive(Default)]
        struct Bug {
            $($state)*
        }

        impl Decisions for Bug {
            $($decisions)*
        }
    };
    ($flaw:expr; $($decisions:tt)*) => {
        flaw! { $flaw; struct {} $($decisions)* }
    };
}

pub(super) use flaw;

pub(super) use super::Flaw;
pub(super) use super::mechanics::{
    LARGE_BATCH, LastFirst, NO_SEARCH, SEARCHING, call_of, calls_of_no_tool, done, is_made_up, of_client,
    split_batch, stored, taken_blocks, without_calls, without_last_calls, without_results,
};
pub(super) use crate::agent::compaction::{Summary, has_summary};
pub(super) use crate::agent::decisions::{
    Asking, CutOff, Decisions, Failure, Halt, MidTurnMessage, Next, OnStop, Progress, Reference, Said,
};
pub(super) use crate::agent::failure::{MAX_RETRIES, raised};
pub(super) use crate::agent::handoff::is_handoff;
pub(super) use crate::agent::model_errors::{IdProblem, InvalidCall};
pub(super) use crate::agent::repair::repaired;
pub(super) use crate::agent::request::{SUMMARISE, without_tools};
pub(super) use crate::agent::session::{LateRun, Session};
pub(super) use crate::agent::step::{
    CallState, MADE_UP, Phase, Step, StepBlock, StepCall, interrupted, message_of, saved,
};
pub(super) use crate::agent::sub_agent::SubThread;
pub(super) use crate::agent::thread::{Block, Call, CallResult, Message, ServerBlock, Thought, unanswered};
pub(super) use crate::agent::{Output, RequestId, Setup, Tool, compaction, request, server_tools};
pub(super) use brickbat_rules::dialect::Dialect;
pub(super) use brickbat_scenario::plan::{Change, ToolOutcome};
pub(super) use brickbat_scenario::scenario::InterruptCause;
pub(super) use brickbat_scenario::surrogate::HALF_CHARACTER;
pub(super) use brickbat_scenario::trace::{Aside, Consent, ShownState, TurnOutcome};
pub(super) use std::borrow::Cow;
