//! Sub-agents: tools of an agent that are agents themselves.
//!
//! A sub-agent has its own thread, which begins with the task in its call, and the tools that are not
//! sub-agents. Its last message is the result of its call, and an error that ends it is the error of its
//! call. Nothing else from it enters the thread of the agent that started it. A stop of that agent also stops
//! the sub-agent, and the call is answered like any other call that was cut off.

use std::collections::VecDeque;

use super::io::SHARE;
use super::session::Counter;
use super::thread::{Block, Message};
use super::{Agent, Input, Output, RequestId, RunId, Setup, TimerId};
use crate::agent::request;
use brickbat_scenario::plan::{PROMPT, ToolOutcome};
use brickbat_scenario::trace::TurnOutcome;
use brickbat_scenario::wire;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The running sub-agents.
#[derive(Debug, Default)]
pub(super) struct SubAgents {
    running: Vec<SubAgent>,
    n_started: u32,
}

/// A running sub-agent.
#[derive(Debug)]
struct SubAgent {
    /// The tool run of this sub-agent.
    run: RunId,
    /// Its first number for requests, runs and timers. The numbers show to which agent something belongs.
    first: u32,
    agent: Agent,
}

/// The stored thread of a running sub-agent.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SubThread {
    /// The tool run of this sub-agent.
    run: u32,
    pub(crate) thread: Vec<Message>,
}

/// True if an input is for a sub-agent.
pub(super) fn is_of_one(input: &Input<'_>) -> bool {
    number(input).is_some_and(|number| number >= SHARE)
}

/// The number of the request, the run or the timer in an input.
fn number(input: &Input<'_>) -> Option<u32> {
    match input {
        Input::Head { request: RequestId(number), .. }
        | Input::Body { request: RequestId(number), .. }
        | Input::End { request: RequestId(number), .. }
        | Input::Answered { run: RunId(number), .. }
        | Input::ToolDone { run: RunId(number), .. }
        | Input::Elapsed { timer: TimerId(number) } => Some(*number),
        Input::Prompt(_)
        | Input::Steer(_)
        | Input::Inject(_)
        | Input::Stop
        | Input::Interrupt(_)
        | Input::WriteFailed
        | Input::Change(_)
        | Input::Tools(_) => None,
    }
}

impl Agent {
    /// Takes an input for a sub-agent. If the sub-agent is gone, nothing happens.
    pub(super) fn step_sub_agent(&mut self, input: Input<'_>) -> Vec<Output> {
        let first = number(&input).unwrap_or_default() / SHARE * SHARE;
        let Some(at) = self.sub_agents.running.iter().position(|running| running.first == first) else {
            return Vec::new();
        };
        // A sub-agent has no sub-agents of its own.
        let outputs = self.sub_agents.running[at].agent.step_itself(input);
        let mut done = Vec::new();
        let own = self.hand_on(at, outputs, &mut done);
        done.extend(self.lead(own));
        done
    }

    /// Starts and stops sub-agents if the outputs of this agent start and stop such tools.
    pub(super) fn lead(&mut self, outputs: Vec<Output>) -> Vec<Output> {
        let mut todo = VecDeque::from(outputs);
        let mut done = Vec::new();
        while let Some(output) = todo.pop_front() {
            match output {
                Output::StartTool { run, tool, args } if self.is_sub_agent(&tool) => {
                    let (at, outputs) = self.start_sub_agent(run, &args);
                    let own = self.hand_on(at, outputs, &mut done);
                    todo.extend(own);
                }
                Output::CancelTool { run } => {
                    let is_its = |running: &SubAgent| running.run == run;
                    match self.sub_agents.running.iter().position(is_its) {
                        Some(at) => done.extend(self.stop_sub_agent(at)),
                        None => done.push(output),
                    }
                }
                other => done.push(other),
            }
        }
        done
    }

    /// The threads of the running sub-agents.
    pub(super) fn sub_threads(&self) -> Vec<SubThread> {
        let said = |running: &SubAgent| SubThread { run: running.run.0, thread: running.agent.thread_now() };
        self.sub_agents.running.iter().map(said).collect()
    }

    fn is_sub_agent(&self, tool: &str) -> bool {
        self.setup.tools.iter().any(|own| own.name == tool && own.agent)
    }

    fn start_sub_agent(&mut self, run: RunId, args: &str) -> (usize, Vec<Output>) {
        self.sub_agents.n_started += 1;
        let first = self.sub_agents.n_started * SHARE;
        let args: Value = serde_json::from_str(args).unwrap_or_default();
        let mut agent = Agent::of(self.setup.of_sub_agent());
        agent.session.counter = Counter::from(first);
        let outputs = agent.step_itself(Input::Prompt(args[PROMPT].as_str().unwrap_or_default()));
        self.sub_agents.running.push(SubAgent { run, first, agent });
        (self.sub_agents.running.len() - 1, outputs)
    }

    /// Processes the outputs of a sub-agent. When it has ended, its call gets its result, and the resulting
    /// outputs of this agent are returned. The user sees only this agent's calls.
    fn hand_on(&mut self, at: usize, outputs: Vec<Output>, done: &mut Vec<Output>) -> Vec<Output> {
        let mut own = Vec::new();
        for output in outputs {
            match output {
                Output::Show { .. } => {}
                Output::Ended(outcome) => {
                    let ended = self.sub_agents.running.remove(at);
                    let outcome = ended.outcome(outcome);
                    if outcome.is_success() || self.decisions.hears_failed_sub_agent() {
                        own.extend(self.step_itself(Input::ToolDone { run: ended.run, outcome }));
                    }
                }
                other => done.push(other),
            }
        }
        own
    }

    /// Stops a sub-agent and removes it.
    fn stop_sub_agent(&mut self, at: usize) -> Vec<Output> {
        let mut stopped = self.sub_agents.running.remove(at).agent;
        let mut outputs = stopped.step_itself(Input::Stop);
        outputs.retain(|output| matches!(output, Output::HangUp { .. } | Output::CancelTool { .. }));
        self.decisions.sub_agent_stopped(&stopped.session.thread, &mut self.session.thread);
        outputs
    }
}

impl SubAgent {
    /// The outcome of the sub-agent's call.
    fn outcome(&self, outcome: TurnOutcome) -> ToolOutcome {
        match outcome {
            TurnOutcome::Returned => ToolOutcome::Return(last_words(&self.agent.session.thread)),
            TurnOutcome::Raised { text, .. } => ToolOutcome::Throw(text),
            TurnOutcome::Cancelled => ToolOutcome::Throw("the sub-agent was stopped".to_owned()),
        }
    }
}

/// The model's last text in a thread.
fn last_words(thread: &[Message]) -> String {
    let Some(Message::Assistant(blocks)) = thread.last() else { return String::new() };
    let texts = blocks.iter().filter_map(|block| match block {
        Block::Text(text) => Some(text.as_str()),
        Block::Thought(_) | Block::Call(_) | Block::Server(_) => None,
    });
    texts.collect()
}

impl Setup {
    /// The setup of a sub-agent: with the tools that are not sub-agents, and without the planted bug of this
    /// agent.
    fn of_sub_agent(&self) -> Setup {
        let tools: Vec<_> = self.tools.iter().filter(|tool| !tool.agent).cloned().collect();
        let declared =
            wire::of(self.dialect).declared_tools(&request::offered(&tools), wire::Searching::Unoffered);
        Setup { tools, declared, step_limit: None, canary: None, ..self.clone() }
    }
}
