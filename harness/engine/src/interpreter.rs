//! The interpreter of the conductor's commands, and the world that they change.
//!
//! The simulation and the live runner are two [`World`]s. [`perform`] takes both through a plan, so a command
//! means the same in each. The postcondition of each command is documented only here.

use brickbat_scenario::action::WriteFailure;
use brickbat_scenario::plan::{CallKey, Change, ToolOutcome};
use brickbat_scenario::scenario::InterruptCause;
use brickbat_scenario::trace::{Aside, Consent, Event, ExchangeId, LetGo, QuestionId};

use crate::conductor::Command;

/// The environment in which a plan is driven: the provider, the gates, and a system between them.
///
/// A world that acts immediately returns `()`; one that has to wait for them returns a future.
pub trait World {
    /// The result of each operation.
    type Done<'a>
    where
        Self: 'a;

    /// Records an event that the conductor does not need, because it gave the order.
    fn note(&mut self, event: Event);

    /// Moves the provider to a turn and sends the system the user's message. Everything that the system did
    /// before belongs to the previous turn. The event is recorded in between.
    fn prompt(&mut self, turn: usize) -> Self::Done<'_>;

    /// Delivers the user's stop. Later events, such as a late result, reach a system that has taken it in.
    fn stop(&mut self) -> Self::Done<'_>;

    /// Throws an exception from the system's loop. Later events reach a system that has taken it in.
    fn interrupt(&mut self, cause: InterruptCause) -> Self::Done<'_>;

    /// Sends a message to the running turn. Later events reach a system that has taken it in.
    fn say(&mut self, way: Aside, text: String) -> Self::Done<'_>;

    /// Kills the system's process once it has finished what it was given, and observes its death. All its
    /// pending work is dropped.
    fn kill(&mut self) -> Self::Done<'_>;

    /// Lets the write fail that the system's store is about to begin.
    fn fail_write(&mut self, how: WriteFailure) -> Self::Done<'_>;

    /// Starts a new process that loads the session, and observes that it has done so.
    fn resume(&mut self) -> Self::Done<'_>;

    /// Continues in another process of the system and records that. The process has loaded the session when
    /// this is done.
    fn switch(&mut self, process: u32) -> Self::Done<'_>;

    /// Asks the system to change the history, and observes that it has done so.
    fn change(&mut self, change: Change) -> Self::Done<'_>;

    /// Lets a held reply continue.
    fn release(&mut self, exchange: ExchangeId) -> Self::Done<'_>;

    /// Lets a tool end, or observes that the system has given it up. Everything that the system reported
    /// before is observed first.
    fn settle(&mut self, call: CallKey, outcome: ToolOutcome) -> Self::Done<'_>;

    /// Records that a sub-agent has started or ended, which no gate reports.
    fn sub_agent(&mut self, event: Event) -> Self::Done<'_>;

    /// Sends the system the user's answer.
    fn answer(&mut self, question: QuestionId, consent: Consent) -> Self::Done<'_>;

    /// Records what continues in a stopped turn. The commands for that follow.
    fn let_go(&mut self, what: LetGo) -> Self::Done<'_>;

    /// Makes sure that the system is silent, and not the code that drives it, and records that the harness
    /// has given up.
    fn give_up(&mut self) -> Self::Done<'_>;

    /// Ends the plan.
    fn finish(&mut self) -> Self::Done<'_>;
}

/// Carries out a command in a world.
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
        Command::FailWrite(how) => world.fail_write(how),
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
        Command::LetGo(what) => world.let_go(what),
        Command::GiveUp => world.give_up(),
        Command::Finish => world.finish(),
    }
}
