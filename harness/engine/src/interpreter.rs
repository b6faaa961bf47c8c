//! The interpreter of the conductor's commands, and the world that they change.
//!
//! The simulation and the live runner are two [`World`]s: both are led through a plan by [`perform`], so that a command
//! means the same in either, and what must hold when it is done is said here once.

use brickbat_scenario::plan::{CallKey, Change, ToolOutcome};
use brickbat_scenario::scenario::InterruptCause;
use brickbat_scenario::trace::{Aside, Consent, Event, ExchangeId, QuestionId};

use crate::conductor::Command;

/// Where a plan is driven: the provider, the gates, and a system between them.
///
/// A world that does things at once gives nothing back; one that has to wait for them gives a future.
pub trait World {
    /// What doing something gives back.
    type Done<'a>
    where
        Self: 'a;

    /// Writes an event down that the conductor need not hear of, since it has ordered it.
    fn note(&mut self, event: Event);

    /// Moves the provider to a turn and gives the system the user's message. What the system did up to here belongs to the
    /// turn before. The event is noted in between.
    fn prompt(&mut self, turn: usize) -> Self::Done<'_>;

    /// Gives the system the user's stop. What follows, such as a late result, finds a system that has taken it in.
    fn stop(&mut self) -> Self::Done<'_>;

    /// Lets an exception out of the system's loop. What follows finds a system that has taken it in.
    fn interrupt(&mut self, cause: InterruptCause) -> Self::Done<'_>;

    /// Says something to the running turn. What follows finds a system that has taken it in.
    fn say(&mut self, way: Aside, text: String) -> Self::Done<'_>;

    /// Kills the process of the system when it is done with what it was given, and observes that it is gone. What was still
    /// to be done for it is dropped.
    fn kill(&mut self) -> Self::Done<'_>;

    /// Starts a new process that loads the session, and observes that it has.
    fn resume(&mut self) -> Self::Done<'_>;

    /// Goes on in another process of the system, which has loaded the session when this is done, and notes it.
    fn switch(&mut self, process: u32) -> Self::Done<'_>;

    /// Asks the system to change the history, and observes that it has.
    fn change(&mut self, change: Change) -> Self::Done<'_>;

    /// Lets a held reply go on.
    fn release(&mut self, exchange: ExchangeId) -> Self::Done<'_>;

    /// Lets a tool end, or observes that the system has given it up. What the system has said before comes before.
    fn settle(&mut self, call: CallKey, outcome: ToolOutcome) -> Self::Done<'_>;

    /// Notes that a sub-agent has started or ended, which no gate shows.
    fn sub_agent(&mut self, event: Event) -> Self::Done<'_>;

    /// Gives the system the user's answer.
    fn answer(&mut self, question: QuestionId, consent: Consent) -> Self::Done<'_>;

    /// Notes that what was held goes on in a turn that was stopped; the commands for that follow.
    fn let_go(&mut self) -> Self::Done<'_>;

    /// Makes sure that it is the system that is silent, and not what drives it, and notes that the harness has given up.
    fn give_up(&mut self) -> Self::Done<'_>;

    /// Ends the plan.
    fn finish(&mut self) -> Self::Done<'_>;
}

/// Does what a command says.
pub fn perform<W: World>(world: &mut W, command: Command) -> W::Done<'_> {
    match command {
        Command::Prompt { turn } => world.prompt(turn),
        Command::Stop => {
            world.note(Event::Stopped);
            world.stop()
        }
        Command::Interrupt(cause) => {
            world.note(Event::Interrupted { cause });
            world.interrupt(cause)
        }
        Command::Say { way, text } => {
            world.note(Event::Said { way, text: text.clone() });
            world.say(way, text)
        }
        Command::Kill => world.kill(),
        Command::Resume => world.resume(),
        Command::Switch { process } => world.switch(process),
        Command::Change(change) => world.change(change),
        Command::Release(exchange) => world.release(exchange),
        Command::Settle { call, outcome } => world.settle(call, outcome),
        Command::SubAgentStarted { call, args } => {
            world.sub_agent(Event::ToolStarted { call: Some(call), args })
        }
        Command::SubAgentEnded { call, outcome, grade } => {
            world.sub_agent(Event::ToolSettled { call, outcome, grade })
        }
        Command::Answer { question, call, consent } => {
            world.note(Event::Answered { question, call, consent });
            world.answer(question, consent)
        }
        Command::LetGo => world.let_go(),
        Command::GiveUp => world.give_up(),
        Command::Finish => world.finish(),
    }
}
