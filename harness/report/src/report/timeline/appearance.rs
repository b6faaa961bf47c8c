//! The step in which a planned action appears.

use brickbat_scenario::action::{Action, PoorSummary};
use brickbat_scenario::plan::{BoundAction, CallKey, Change};
use brickbat_scenario::scenario::InterruptCause;
use brickbat_scenario::trace::Ending;

/// How an action that has happened appears in the drawing.
#[derive(Debug, PartialEq)]
pub(super) enum Appearance<'a> {
    /// The user stops the turn.
    Stop,
    /// The provider is silent.
    Silence,
    /// The provider is silent until the user stops the turn.
    SilenceAndStop,
    /// The process ends.
    Kill,
    /// An exception leaves the system's loop.
    Interruption(InterruptCause),
    /// A write of the store fails.
    FailedWrite,
    /// A text joins the running turn.
    Text(&'a str),
    /// A question of the system stays open.
    NoAnswer,
    /// A call settles.
    Settled(CallKey),
    /// A frame of a reply is repeated or malformed.
    Frame,
    /// A reply ends.
    Ending(Option<Ending>),
    /// A status replaces a reply.
    Status,
    /// The system compacts its history.
    Compaction,
    /// The summary that the system asked for is of no use.
    PoorSummary(PoorSummary),
    /// The history changes, or a question is asked outside it.
    Change(Option<Change>),
    /// The system ends the turn.
    End,
}

impl Appearance<'_> {
    /// The appearance of an action. The match lists every action, so that a new one is drawn.
    pub(super) fn of(what: &BoundAction) -> Appearance<'_> {
        match what {
            Action::Abort | Action::StopAgain => Appearance::Stop,
            Action::Pause => Appearance::Silence,
            Action::Stall => Appearance::SilenceAndStop,
            Action::Kill => Appearance::Kill,
            Action::Interrupt(cause) => Appearance::Interruption(*cause),
            Action::Fail(_) => Appearance::FailedWrite,
            Action::Steer(text) | Action::Prompt(text) | Action::Inject(text) => Appearance::Text(text),
            Action::Ignore => Appearance::NoAnswer,
            Action::Settle(call) => Appearance::Settled(*call),
            Action::Duplicate | Action::Malformed => Appearance::Frame,
            Action::Reset | Action::Eof | Action::EndEarly | Action::Error(_) => {
                Appearance::Ending(what.spec().ending)
            }
            Action::Http(_) => Appearance::Status,
            Action::Tokens(_) => Appearance::Compaction,
            Action::Summary(poor) => Appearance::PoorSummary(*poor),
            Action::Trim(_)
            | Action::Summarise(_)
            | Action::Rewind(_)
            | Action::Aside(_)
            | Action::Thinking(_)
            | Action::Provider(_)
            | Action::Tools(_) => Appearance::Change(what.change()),
            Action::Finish => Appearance::End,
        }
    }

    /// True if the user stops the turn.
    pub(super) fn has_stop(&self) -> bool {
        matches!(self, Appearance::Stop | Appearance::SilenceAndStop)
    }

    /// True if the provider is silent.
    pub(super) fn has_silence(&self) -> bool {
        matches!(self, Appearance::Silence | Appearance::SilenceAndStop)
    }
}
