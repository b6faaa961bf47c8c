//! The circumstances of a finding: what interrupted the system, and the state of the calls concerned.
//!
//! A cause is identified by them together with its damage, so both are coarse: a stop at another point, or a
//! connection that breaks in another way, is the same trigger.

use crate::action::Action;

crate::named! {
    /// The interruption of the system before a finding, or another unusual event.
    pub enum Trigger {
        /// Nothing: the conversation was healthy.
        Nothing = "nothing",
        /// The user was asked, and stopped, left or answered.
        Approval = "approval",
        /// The user stopped the turn.
        Stop = "stop",
        /// The reply broke off, or its stream was broken.
        Stream = "stream",
        /// The provider refused a request.
        Refusal = "refusal",
        /// The process was killed.
        Kill = "kill",
        /// An exception or a limit ended the turn.
        Exception = "exception",
        /// A write of the store failed.
        Write = "write",
        /// A message came while the turn was running.
        Message = "message",
        /// A tool failed, never returned, or answered out of order.
        Tool = "tool",
        /// The model sent something that does not fit.
        Model = "model",
        /// The history was shortened, or the user took a part of it back.
        Transform = "transform",
        /// The thread moved to another provider, thinking was switched, or the list of tools changed.
        Switch = "switch",
        /// The history was there before the first turn.
        Given = "given",
    }
}

crate::named! {
    /// The state of the calls that a finding concerns.
    pub enum CallState {
        /// It concerns no call, or the state of its calls does not matter.
        NoCall = "no-call",
        /// The arguments of a call had not arrived completely.
        Cut = "cut",
        /// The arguments had arrived completely, and the finding is about them.
        Complete = "complete",
        /// A call had no result.
        Unanswered = "unanswered",
        /// Every call had its result.
        Answered = "answered",
    }
}

impl Trigger {
    /// The trigger that an action is.
    pub fn of_action<C, S>(action: &Action<C, S>) -> Trigger {
        action.spec().trigger
    }

    /// The event as a phrase that follows "after".
    pub fn phrase(self) -> &'static str {
        match self {
            Trigger::Nothing => "nothing unusual",
            Trigger::Approval => "a question to the user",
            Trigger::Stop => "a stop by the user",
            Trigger::Stream => "a broken stream",
            Trigger::Refusal => "a refused request",
            Trigger::Kill => "a kill of the process",
            Trigger::Exception => "an exception or a limit",
            Trigger::Write => "a failed write of the store",
            Trigger::Message => "a message in the running turn",
            Trigger::Tool => "an unusual tool",
            Trigger::Model => "an unusual reply of the model",
            Trigger::Transform => "a shortened history",
            Trigger::Switch => "a switch of the model or its tools",
            Trigger::Given => "a given history",
        }
    }
}
