//! The reference agent: what a right agent does in every bad ending, without I/O.
//!
//! It streams a reply, starts each tool as soon as its call is complete, sends the results back, and closes
//! every call that it keeps: with the real result where there is one, with an honest error where there is none.
//! What it keeps survives the death of its process: see [`Agent::saved`] and [`Agent::with_thread`].
//! The canaries in [`canary`] are the same agent with one planted bug each.

mod aside;
pub mod canary;
mod cut;
mod ending;
mod errand;
mod given;
mod heal;
mod intake;
mod loads;
mod request;
mod retold;
mod sans_io;
mod spoil;
mod step;
mod store;
mod storm;
mod stragglers;
mod turn;

use brickbat_rules::dialect::Dialect;
use brickbat_scenario::plan::{Change, Plan, PlannedTool, ToolOutcome};
use brickbat_scenario::scenario::InterruptCause;
use brickbat_scenario::trace::{Aside, Consent, ShownState, TurnOutcome};
use brickbat_scenario::wire::{self, thread};
pub use brickbat_scenario::wire::{Delivery, Thinking};
use canary::Canary;
use errand::Errand;
pub use sans_io::SansIo;
use serde_json::Value;
pub use store::BrokenStore;
use thread::Message;
use turn::Turn;

/// An agent with one thread.
#[derive(Debug)]
pub struct Agent {
    setup: Setup,
    thread: Vec<Message>,
    turn: Option<Turn>,
    /// Calls of ended turns that may still answer.
    stragglers: Vec<Straggler>,
    /// Whether the user has ever stopped a turn.
    was_stopped: bool,
    /// A request beside the turns.
    errand: Option<Errand>,
    /// A change of the history that waits for the results of the running step.
    put_off: Option<Change>,
    counter: Counter,
    /// Length of the thread before the last turn; only a canary looks at it when the turn is over.
    last_mark: usize,
    /// Whether a canary runs calls of the last turn again in the next.
    reruns: bool,
}

/// What does not change while an agent lives.
#[derive(Debug, Clone)]
struct Setup {
    dialect: Dialect,
    delivery: Delivery,
    thinking: Thinking,
    /// Steps after which a turn ends.
    step_limit: Option<u32>,
    model: String,
    /// The path to which it posts.
    path: String,
    tools: Vec<Tool>,
    /// The tools as every request declares them.
    declared: String,
    canary: Option<Canary>,
}

/// A tool as an agent is given it.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// What the model is told of it.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub input_schema: Value,
    /// Whether it does not hear the stop.
    pub deaf: bool,
    /// Whether the user is asked before it runs.
    pub asks: bool,
    /// Whether the turn ends with its result.
    pub ends: bool,
}

impl From<&PlannedTool> for Tool {
    fn from(tool: &PlannedTool) -> Tool {
        Tool {
            name: tool.name.clone(),
            description: "A tool of the harness.".to_owned(),
            input_schema: tool.input_schema(),
            deaf: tool.deaf,
            asks: tool.asks,
            ends: tool.ends,
        }
    }
}

/// A tool that was given up, or that nobody waits for any more.
#[derive(Debug, Clone)]
struct Straggler {
    run: RunId,
    call_id: String,
}

/// Number of one request of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub u32);

/// Number of one tool run of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId(pub u32);

/// Number of one timer of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimerId(pub u32);

/// Numbers given out.
#[derive(Debug, Default)]
struct Counter {
    n_requests: u32,
    n_runs: u32,
    n_ids: u32,
    n_timers: u32,
}

impl Counter {
    fn request(&mut self) -> RequestId {
        self.n_requests += 1;
        RequestId(self.n_requests - 1)
    }

    /// The number of an id that the agent gives a call itself.
    fn id(&mut self) -> u32 {
        self.n_ids += 1;
        self.n_ids
    }

    fn run(&mut self) -> RunId {
        self.n_runs += 1;
        RunId(self.n_runs - 1)
    }

    fn timer(&mut self) -> TimerId {
        self.n_timers += 1;
        TimerId(self.n_timers - 1)
    }
}

/// What happens to an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input<'a> {
    /// The user says something. Refused while a turn runs.
    Prompt(&'a str),
    /// The user says something to the running turn.
    Steer(&'a str),
    /// A hook adds context for the model.
    Inject(&'a str),
    /// The user stops the turn.
    Stop,
    /// An exception leaves the loop.
    Interrupt(InterruptCause),
    /// The history is to be changed.
    Change(&'a Change),
    /// The status of an answer.
    Head {
        /// Which request is answered.
        request: RequestId,
        /// The status.
        status: u16,
        /// After how long the provider wants to be asked again, if it says so.
        pause_ms: Option<u64>,
    },
    /// A piece of an answer's body.
    Body {
        /// Which request is answered.
        request: RequestId,
        /// The piece, in any split.
        bytes: &'a [u8],
    },
    /// An answer's body is over.
    End {
        /// Which request was answered.
        request: RequestId,
        /// How.
        how: BodyEnd,
    },
    /// The user answered a question.
    Answered {
        /// About which run.
        run: RunId,
        /// What.
        consent: Consent,
    },
    /// A tool ended.
    ToolDone {
        /// Which run.
        run: RunId,
        /// How.
        outcome: ToolOutcome,
    },
    /// A timer has run out.
    Elapsed {
        /// Which one.
        timer: TimerId,
    },
}

impl Input<'_> {
    /// Something that is said to a running turn.
    pub fn said(way: Aside, text: &str) -> Input<'_> {
        match way {
            Aside::Steered => Input::Steer(text),
            Aside::Prompted => Input::Prompt(text),
            Aside::Injected => Input::Inject(text),
        }
    }
}

/// How a body ended, as HTTP sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyEnd {
    /// As its framing says.
    Complete,
    /// The connection broke.
    Broken,
}

/// What an agent wants done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// Post this body to the provider.
    Request {
        /// Its number.
        request: RequestId,
        /// The body.
        body: Vec<u8>,
    },
    /// Close the connection of a request.
    HangUp {
        /// Which one.
        request: RequestId,
    },
    /// Ask the user whether a tool may run.
    Ask {
        /// The number that the run will have.
        run: RunId,
        /// The call's wire id.
        id: String,
    },
    /// Run a tool.
    StartTool {
        /// The number of the run.
        run: RunId,
        /// The tool.
        tool: String,
        /// The arguments, as text.
        args: String,
    },
    /// Tell a running tool to stop.
    CancelTool {
        /// Which run.
        run: RunId,
    },
    /// Show the state of a call to the user.
    Show {
        /// The call's wire id.
        id: String,
        /// The state.
        state: ShownState,
    },
    /// Tell the user that there is no other prompt while a turn runs.
    PromptRefused,
    /// Say when so much time has passed. In the simulation that is virtual time: it costs nothing.
    Wait {
        /// The number of the timer.
        timer: TimerId,
        /// How long.
        ms: u64,
    },
    /// The history is changed, or, while a turn runs, will be when the results of its step have come.
    Changed(Change),
    /// The turn is over.
    Ended(TurnOutcome),
}

impl Agent {
    /// The agent that a plan is driven on, the reference agent or one with a planted bug: it has the plan's tools, asks
    /// the model to think where the model does, and has loaded the history that is given.
    pub fn of_plan(plan: &Plan, delivery: Delivery, canary: Option<Canary>) -> Agent {
        let agent = Agent::new(plan.dialect, delivery, &plan.tools, canary).limited(plan.step_limit);
        let agent = if plan.thinks() { agent.asking(Thinking::Asked) } else { agent };
        match plan.given.as_slice() {
            [] => agent,
            given => agent.with_thread(&Agent::stored(given)).expect("what is written can be read"),
        }
    }

    /// The reference agent with an empty thread.
    pub fn reference(dialect: Dialect, delivery: Delivery, tools: &[PlannedTool]) -> Agent {
        Agent::new(dialect, delivery, tools, None)
    }

    /// The same agent with one planted bug, or with none.
    pub fn new(dialect: Dialect, delivery: Delivery, tools: &[PlannedTool], canary: Option<Canary>) -> Agent {
        Agent::equipped(dialect, delivery, None, tools.iter().map(Tool::from).collect(), canary)
    }

    /// An agent with these tools and this model, or a current one of the dialect.
    pub fn equipped(
        dialect: Dialect,
        delivery: Delivery,
        model: Option<String>,
        tools: Vec<Tool>,
        canary: Option<Canary>,
    ) -> Agent {
        let wire = wire::of(dialect);
        let declared = wire.declared_tools(&request::offered(&tools));
        let model = model.unwrap_or_else(|| wire.current_model().to_owned());
        let path = wire.post_path(&model, delivery);
        Agent {
            setup: Setup {
                dialect,
                delivery,
                thinking: Thinking::Unasked,
                step_limit: None,
                model,
                path,
                tools,
                declared,
                canary,
            },
            thread: Vec::new(),
            turn: None,
            stragglers: Vec::new(),
            was_stopped: false,
            errand: None,
            put_off: None,
            counter: Counter::default(),
            last_mark: 0,
            reruns: false,
        }
    }

    /// The same agent, asking the model to think, or not.
    pub fn asking(mut self, thinking: Thinking) -> Agent {
        self.setup.thinking = thinking;
        self
    }

    /// The same agent, ending each turn after so many steps, or not.
    pub fn limited(mut self, step_limit: Option<u32>) -> Agent {
        self.setup.step_limit = step_limit;
        self
    }

    /// The agent that a new process makes of what was saved. A store that cannot be read is as good as none: what is lost
    /// with it, the checkers will say.
    pub fn reborn_from(&self, saved: &[u8]) -> Agent {
        let anew = || {
            let Setup { dialect, delivery, thinking, step_limit, model, tools, canary, .. } =
                self.setup.clone();
            Agent::equipped(dialect, delivery, Some(model), tools, canary)
                .asking(thinking)
                .limited(step_limit)
        };
        anew().with_thread(saved).unwrap_or_else(|_| anew())
    }

    /// The path, below the base URL, to which it posts its requests.
    pub fn path(&self) -> &str {
        &self.setup.path
    }

    /// The tools that it was given.
    pub fn tools(&self) -> &[Tool] {
        &self.setup.tools
    }

    /// The thread as the next request would say it: a JSON array of the dialect's messages.
    pub fn history(&self) -> Vec<u8> {
        match self.setup.canary {
            Some(Canary::StoreForgets) => {
                wire::of(self.setup.dialect).request_messages(&self.without_stopped_results())
            }
            _ => wire::of(self.setup.dialect).request_messages(&self.thread),
        }
    }

    /// Takes what happened and says what to do.
    pub fn step(&mut self, input: Input<'_>) -> Vec<Output> {
        let mut outputs = Vec::new();
        match (input, self.turn.take()) {
            (Input::Prompt(text), None) => self.turn = self.begin(text, &mut outputs),
            (Input::ToolDone { run, outcome }, None) => self.straggler_done(run, &outcome),
            (Input::Steer(text) | Input::Inject(text), None) => self.said_too_late(text),
            (Input::Stop, None) => self.stopped_again(),
            (Input::Change(change), None) => self.change(change, &mut outputs),
            (input, turn) if self.is_of_errand(&input) => {
                self.turn = self.run_errand(turn, input, &mut outputs);
            }
            (_, None) => {}
            (input, Some(turn)) => self.turn = self.advance(turn, input, &mut outputs),
        }
        outputs
    }
}
