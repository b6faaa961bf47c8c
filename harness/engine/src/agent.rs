//! The reference agent: a correct agent, even when a turn ends badly.
//!
//! It streams a reply, starts each tool as soon as its call is complete, and sends the results back. A turn
//! can end in the middle of that: the user stops it, the stream breaks, the process dies. Everything stored
//! by then is sent with every later request, and a provider that rejects it once rejects it forever. So this
//! agent follows a few rules:
//!
//! - **Every call that is kept has one result**, directly after its message and in the order of the calls. A
//!   call with incomplete arguments is dropped; a tool that was cut off is reported as possibly having run.
//! - **Results are facts.** A result that a tool returned before the end of the turn is kept. No success is
//!   invented, no tool runs twice, and a late result is not recorded again.
//! - **The user's message stays**, however the turn ends.
//! - **A reply is kept as it arrived**: in its order, with its signatures, in one message. A retry starts
//!   from nothing.
//! - **A stop ends the turn immediately**, even if a tool does not react to it. The user sees no call that
//!   runs forever.
//! - **The agent sends what it stores.** A repair is made only once and stored, so later requests repeat it
//!   exactly.
//! - **A process may die at any moment.** The store is written before any effect that it has to record, and
//!   the process that loads it adds a result for every open call.
//!
//! The agent does no I/O: it takes an [`Input`] and returns [`Output`]s ([`Agent::step`]).
//!
//! **Where to start**: five files contain a whole turn. Read them in this order.
//!
//! 1. `turn`: the course of a turn, from the user's message until the agent is idle.
//! 2. `decisions`: every decision on that course, with the reason. None sees the turn itself: it is given the
//!    reply and returns a value, which the course carries out.
//! 3. `step`: one reply of the model, and the tools that it started.
//! 4. `failure`: the end of a reply, including one that fails.
//! 5. `ending`: stops, interruptions and limits.
//!
//! The other files add one thing each: `model_errors` errors of the model, `handoff` calls that hand over to
//! another agent, `mid_turn` messages to a running turn, `server_tools` tools that the provider runs,
//! `side_request` and `compaction` changes to the history, `provider_switch` another provider, `sub_agent`
//! agents that are tools of this one, `tool_list` a changed list of tools, `store` and `repair` the part that survives the process. A canary is
//! this agent with one wrong decision; see [`crate::flaws`].

pub(crate) mod compaction;
pub(crate) mod decisions;
mod ending;
pub(crate) mod failure;
pub(crate) mod handoff;
mod io;
mod mid_turn;
pub(crate) mod model_errors;
mod pictures;
mod provider_switch;
pub(crate) mod repair;
pub(crate) mod request;
mod sans_io;
pub(crate) mod server_tools;
pub(crate) mod session;
mod side_request;
pub(crate) mod step;
mod store;
pub(crate) mod sub_agent;
mod tool_list;
mod turn;

use brickbat_rules::dialect::Dialect;
use brickbat_scenario::plan::{Change, Plan, PlannedTool};
use brickbat_scenario::wire;
pub(crate) use brickbat_scenario::wire::thread;
pub use brickbat_scenario::wire::{Delivery, Searching, Thinking};
use decisions::{Decisions, Reference};
pub use io::{BodyEnd, Input, Output, RequestId, RunId, TimerId};
pub use sans_io::SansIo;
use serde_json::Value;
use session::Session;
use side_request::SideRequest;
pub use store::BrokenStore;
use sub_agent::SubAgents;
use turn::Turn;

use crate::flaws::Canary;

/// An agent with one thread.
#[derive(Debug)]
pub struct Agent {
    setup: Setup,
    decisions: Box<dyn Decisions>,
    session: Session,
    turn: Option<Turn>,
    side_request: Option<SideRequest>,
    /// A history change that waits for the running step's results.
    put_off: Option<Change>,
    sub_agents: SubAgents,
}

/// The part that does not change during an agent's life.
#[derive(Debug, Clone)]
pub(crate) struct Setup {
    dialect: Dialect,
    delivery: Delivery,
    thinking: Thinking,
    searching: Searching,
    /// The number of steps after which a turn ends.
    step_limit: Option<u32>,
    model: String,
    /// The path of its requests.
    path: String,
    tools: Vec<Tool>,
    /// The list of tools that replaces this one before the next request.
    next_tools: Option<Vec<Tool>>,
    /// The declarations of the tools, identical in every request until the list changes.
    declared: String,
    canary: Option<Canary>,
}

/// A tool of an agent.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// The name by which the model calls it.
    pub name: String,
    /// The description for the model.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub input_schema: Value,
    /// True if it ignores the user's stop.
    pub deaf: bool,
    /// True if the user is asked before it runs.
    pub asks: bool,
    /// True if the turn ends with its result.
    pub ends: bool,
    /// The agent to which it hands the conversation over, if it is a handoff.
    pub hands_over: Option<String>,
    /// True if it is a sub-agent, which may call all tools that are not sub-agents.
    pub agent: bool,
    /// True if it runs in the client: this agent hands its calls to the client and waits for their results.
    pub client: bool,
}

impl Setup {
    /// The tool declarations for a provider of this dialect.
    fn declared_at(&self, dialect: Dialect) -> String {
        wire::of(dialect).declared_tools(&request::offered(&self.tools), self.searching)
    }

    /// The same setup without thinking.
    fn unthinking(&self) -> Setup {
        Setup { thinking: Thinking::Unasked, ..self.clone() }
    }
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
            hands_over: tool.other_agent(),
            agent: tool.agent,
            client: tool.client,
        }
    }
}

impl Agent {
    /// The agent for a plan, either the reference agent or a canary. It has the plan's tools and model, asks
    /// the model to think if the plan's model does, and has loaded the given history.
    pub fn of_plan(plan: &Plan, delivery: Delivery, canary: Option<Canary>) -> Agent {
        let tools = plan.tools_after(&[]).iter().map(Tool::from).collect();
        let agent = Agent::equipped(plan.dialect, delivery, plan.model.clone(), tools, canary);
        let agent = agent.limited(plan.step_limit);
        let agent = if plan.thinks() { agent.asking(Thinking::Asked) } else { agent };
        let agent = if plan.searches.is_empty() { agent } else { agent.searching(Searching::Offered) };
        match plan.given.as_slice() {
            [] => agent,
            given => agent.with_thread(&Agent::stored(given)).expect("what is written can be read"),
        }
    }

    /// The reference agent with an empty thread.
    pub fn reference(dialect: Dialect, delivery: Delivery, tools: &[PlannedTool]) -> Agent {
        Agent::new(dialect, delivery, tools, None)
    }

    /// An agent with an empty thread: the reference agent, or a canary.
    pub fn new(dialect: Dialect, delivery: Delivery, tools: &[PlannedTool], canary: Option<Canary>) -> Agent {
        Agent::equipped(dialect, delivery, None, tools.iter().map(Tool::from).collect(), canary)
    }

    /// An agent with these tools. Without a model, it uses a current one of the dialect.
    pub fn equipped(
        dialect: Dialect,
        delivery: Delivery,
        model: Option<String>,
        tools: Vec<Tool>,
        canary: Option<Canary>,
    ) -> Agent {
        let wire = wire::of(dialect);
        let searching = Searching::Unoffered;
        let declared = wire.declared_tools(&request::offered(&tools), searching);
        let model = model.unwrap_or_else(|| wire.current_model().to_owned());
        let path = wire.post_path(&model, delivery);
        let (thinking, step_limit) = (Thinking::Unasked, None);
        Agent::of(Setup {
            dialect,
            delivery,
            thinking,
            searching,
            step_limit,
            model,
            path,
            tools,
            next_tools: None,
            declared,
            canary,
        })
    }

    fn of(setup: Setup) -> Agent {
        Agent {
            decisions: setup.canary.map_or_else(|| Box::new(Reference) as _, Canary::decisions),
            setup,
            session: Session::default(),
            turn: None,
            side_request: None,
            put_off: None,
            sub_agents: SubAgents::default(),
        }
    }

    /// The same agent, with this setting for thinking.
    pub fn asking(mut self, thinking: Thinking) -> Agent {
        self.setup.thinking = thinking;
        self
    }

    /// The same agent, with or without a search that the provider runs itself.
    pub fn searching(mut self, searching: Searching) -> Agent {
        self.setup.searching = searching;
        self.setup.declared = self.setup.declared_at(self.setup.dialect);
        self
    }

    /// The same agent with this limit on the steps of a turn.
    pub fn limited(mut self, step_limit: Option<u32>) -> Agent {
        self.setup.step_limit = step_limit;
        self
    }

    /// The agent in a new process, with the saved thread. A store that cannot be read counts as empty: the
    /// checks report the loss.
    pub fn reborn_from(&self, saved: &[u8]) -> Agent {
        let anew = || Agent::of(self.setup.clone());
        anew().with_thread(saved).unwrap_or_else(|_| anew())
    }

    /// The path of its requests, below the base URL.
    pub fn path(&self) -> &str {
        &self.setup.path
    }

    /// The tools that it was given.
    pub fn tools(&self) -> &[Tool] {
        &self.setup.tools
    }

    /// The thread as the next request would send it: a JSON array of messages in the dialect.
    pub fn history(&self) -> Vec<u8> {
        wire::of(self.setup.dialect).request_messages(&self.decisions.history(&self.session.thread))
    }

    /// Takes an input and returns the resulting outputs.
    pub fn step(&mut self, input: Input<'_>) -> Vec<Output> {
        if sub_agent::is_of_one(&input) {
            return self.step_sub_agent(input);
        }
        let outputs = self.step_itself(input);
        self.lead(outputs)
    }

    /// The step of this agent, without its sub-agents.
    fn step_itself(&mut self, input: Input<'_>) -> Vec<Output> {
        match (input, self.turn.take()) {
            (Input::Tools(tools), turn) => {
                self.takes_tools(tools);
                self.turn = turn;
            }
            (Input::WriteFailed, turn) => self.turn = self.write_failed(turn),
            (Input::Prompt(text), None) => self.turn = self.begin(text),
            (Input::ToolDone { run, outcome }, None) => self.answered_late(run, &outcome),
            (Input::Steer(text) | Input::Inject(text), None) => self.said_too_late(text),
            (Input::Stop, None) => self.decisions.stops_again(&mut self.session.thread),
            (Input::Change(change), None) => self.change(change),
            (input, turn) if self.is_of_side_request(&input) => {
                self.turn = self.advance_side_request(turn, input);
            }
            (_, None) => {}
            (input, Some(turn)) => {
                self.turn = self.advance(turn, input);
                if self.turn.is_none() {
                    self.drop_open_searches();
                }
            }
        }
        std::mem::take(&mut self.session.outputs)
    }
}
