//! The actions of the user and the tools, in the order in which they were seen, as the steps of a test.

use super::Refusal;
use super::assertion::Assertion;
use crate::record::{Exchange, Observed, Record};
use brickbat_scenario::plan::CallKey;
use brickbat_scenario::scenario::Need;
use brickbat_scenario::trace::{Event, ExchangeId, Held, RequestKind};

/// The steps of a test, and the replies that it needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Story {
    pub(super) steps: Vec<Step>,
    /// The requests that get the recorded reply, in order; later requests get a short text.
    pub(super) answered: Vec<ExchangeId>,
    /// The positions at which replies are held: the request, counted from 1, and how many frames have been
    /// sent. `None` if not even the head was sent.
    pub(super) holds: Vec<(usize, Option<usize>)>,
    /// The calls that settle or run, in the order of the plan.
    pub(super) calls: Vec<CallKey>,
}

/// One step of a test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// The user sends a message.
    Begin { turn: usize, text: String },
    /// The tools of these calls have started.
    Started(Vec<CallKey>),
    /// The provider holds its reply to the request with this number, from 1.
    Holding(usize),
    /// The provider continues that reply.
    GoOn(usize),
    /// The tool of a call ends as it did.
    Settle(CallKey),
    /// The user stops the turn.
    Stop,
    /// The turn has ended.
    Ended { turn: usize },
}

impl Story {
    /// The story of a record, up to the end of the turn in which the assertion fails.
    pub(super) fn of(record: &Record, observed: &Observed, assertion: &Assertion) -> Result<Story, Refusal> {
        if let Some(lacking) = record.plan.needs.iter().find_map(|need| inexpressible(*need)) {
            return Err(refused(lacking));
        }
        let mut teller =
            Teller { record, observed, story: Story::empty(), started: Vec::new(), held: None, told: None };
        for (turn, event) in observed.trace.by_turn().filter(|(turn, _)| *turn <= assertion.last_turn()) {
            teller.tell(turn, event)?;
        }
        teller.end();
        let story = &mut teller.story;
        story.calls.sort();
        story.calls.dedup();
        Ok(teller.story)
    }

    fn empty() -> Story {
        Story { steps: Vec::new(), answered: Vec::new(), holds: Vec::new(), calls: Vec::new() }
    }
}

/// The part of a plan that a test cannot express, for plans that need this capability.
fn inexpressible(need: Need) -> Option<&'static str> {
    match need {
        Need::GivenHistory
        | Need::GivenThinking
        | Need::GivenPictures
        | Need::GivenMarks
        | Need::GivenOrphans
        | Need::GivenRawArguments => Some("a given history"),
        Need::Handoffs => Some("a tool that hands over to another agent"),
        Need::FinalTools => Some("a tool that ends the turn with its result"),
        Need::ClientTools => Some("a tool that runs in the client"),
        Need::StepLimit => Some("a limit of steps"),
        Need::ToolChanges | Need::ToolChangesInTurn => Some("a list of tools that changes"),
        // The template of a system has them, or the events of the trace say that the test cannot express them.
        Need::Cancel
        | Need::EagerTools
        | Need::Streaming
        | Need::Approvals
        | Need::Resume
        | Need::Thinking
        | Need::SharedSession
        | Need::Saving
        | Need::FailingWrites
        | Need::Steer
        | Need::SecondPrompt
        | Need::Interrupt
        | Need::SubAgents
        | Need::Hooks
        | Need::Trim
        | Need::Summarise
        | Need::ChangeInFlight
        | Need::AutoCompaction
        | Need::Rewind
        | Need::Aside
        | Need::ThinkingSwitch
        | Need::ProviderSwitch
        | Need::ServerTools => None,
    }
}

/// Builds the story, event by event.
struct Teller<'a> {
    record: &'a Record,
    observed: &'a Observed,
    story: Story,
    /// The calls that have started since the last step that waits for them.
    started: Vec<CallKey>,
    /// The reply that the provider holds.
    held: Option<(ExchangeId, Held)>,
    /// The turn that runs.
    told: Option<usize>,
}

impl Teller<'_> {
    fn tell(&mut self, turn: usize, event: &Event) -> Result<(), Refusal> {
        match event {
            Event::Prompted { turn } => {
                self.end();
                let planned = self
                    .record
                    .plan
                    .turns
                    .get(*turn)
                    .ok_or_else(|| refused("a turn that was not planned"))?;
                self.told = Some(*turn);
                self.push(Step::Begin { turn: *turn, text: planned.user.clone() });
            }
            Event::Requested { exchange, kind, .. } => self.requested(*exchange, *kind)?,
            Event::Held { exchange, at, .. } => self.held = Some((*exchange, *at)),
            // The provider has continued: nothing happened while it held.
            Event::Replied { exchange, .. } => {
                self.held.take_if(|(held, _)| held == exchange);
            }
            Event::ToolStarted { call: Some(call), .. } => {
                if self.story.calls.contains(call) {
                    // It runs again: the test counts it, and its end is the same.
                    return Ok(());
                }
                self.story.calls.push(*call);
                self.started.push(*call);
            }
            Event::ToolSettled { call, .. } => self.act(Step::Settle(*call))?,
            Event::Stopped => self.act(Step::Stop)?,
            Event::TurnEnded { .. } if self.told == Some(turn) => self.end(),
            Event::ToolStarted { call: None, .. }
            | Event::TurnEnded { .. }
            | Event::Early { .. }
            | Event::PeerClosed { .. }
            | Event::ToolCancelled { .. }
            | Event::OldRunEnded { .. }
            | Event::CallShown { .. }
            | Event::Stored { .. }
            | Event::Waited { .. }
            | Event::Repaired { .. }
            | Event::LetGo { .. }
            | Event::Quiet => {}
            Event::Asked { .. } | Event::Answered { .. } => return Err(refused("a question to the user")),
            Event::Interrupted { .. } => return Err(refused("an exception inside the SDK's loop")),
            Event::Said { .. } | Event::PromptRefused => return Err(refused("a message to a running turn")),
            Event::Killed | Event::Resumed => return Err(refused("the death of a process")),
            Event::Switched { .. } => return Err(refused("two processes")),
            Event::Changed { .. } => return Err(refused("a change of the stored history")),
            Event::Saving { .. } => return Err(refused("a point between two writes of a store")),
            Event::GaveUp => return Err(refused("a turn that never ends")),
        }
        Ok(())
    }

    fn requested(&mut self, exchange: ExchangeId, kind: RequestKind) -> Result<(), Refusal> {
        match kind {
            // Its reply is what is being asserted.
            RequestKind::Refused { .. } => Ok(()),
            RequestKind::OfSubAgent { .. } => Err(refused("a sub-agent")),
            RequestKind::Repeated { .. } => Err(refused("a request that a client repeats in a later turn")),
            _ if self.exchange(exchange).is_none() => Err(refused("more requests than were kept")),
            _ => {
                self.story.answered.push(exchange);
                Ok(())
            }
        }
    }

    /// Adds a step that happens after everything that was seen before it.
    fn act(&mut self, step: Step) -> Result<(), Refusal> {
        // A tool that ends has started. It depends on the system whether others have: it may run one after the
        // other, and then reports the start of the next before the end of the last.
        let is_due = |call: &CallKey| match step {
            Step::Settle(settled) => *call == settled,
            _ => true,
        };
        let (due, later): (Vec<CallKey>, Vec<CallKey>) = self.started.drain(..).partition(is_due);
        self.started = later;
        if !due.is_empty() {
            self.push(Step::Started(due));
        }
        let held = self.held.take().map(|(exchange, at)| self.hold(exchange, at)).transpose()?;
        held.into_iter().for_each(|number| self.push(Step::Holding(number)));
        let stops = step == Step::Stop;
        self.push(step);
        // A reply in which the user stops the turn stays held until the turn has ended.
        held.into_iter().filter(|_| !stops).for_each(|number| self.push(Step::GoOn(number)));
        Ok(())
    }

    /// Records a position at which a reply is held, and returns the number of its request.
    fn hold(&mut self, exchange: ExchangeId, at: Held) -> Result<usize, Refusal> {
        let number = self.story.answered.iter().position(|known| *known == exchange).map(|place| place + 1);
        let number = number.ok_or_else(|| refused("a hold in a reply that was refused"))?;
        let reply = self.exchange(exchange).map(|known| &known.reply);
        let hold = reply.and_then(|reply| reply.holds.iter().find(|hold| hold.at == at));
        let hold = hold.ok_or_else(|| refused("a hold that is not in the reply"))?;
        if self.story.holds.iter().any(|(known, _)| *known == number) {
            return Err(refused("two points inside one reply"));
        }
        self.story.holds.push((number, hold.after_frames));
        Ok(number)
    }

    fn end(&mut self) {
        self.held = None;
        self.started.clear();
        if let Some(turn) = self.told.take() {
            self.push(Step::Ended { turn });
        }
    }

    fn exchange(&self, id: ExchangeId) -> Option<&Exchange> {
        self.observed.exchanges.iter().find(|known| known.id == id)
    }

    fn push(&mut self, step: Step) {
        self.story.steps.push(step);
    }
}

fn refused(what: &str) -> Refusal {
    Refusal::Story(what.to_owned())
}
