//! What some canaries do once more: they ask again and again, and run calls that must not run.

use super::step::{CallState, Step};
use super::thread::{Block, Message};
use super::turn::Turn;
use super::{Agent, Output};
use brickbat_scenario::trace::TurnOutcome;

impl Agent {
    pub(super) fn storm_on(&mut self, mut turn: Turn, outputs: &mut Vec<Output>) -> Option<Turn> {
        match turn.storm {
            Some(left) if left > 0 => {
                turn.storm = Some(left - 1);
                turn.step = self.ask(outputs);
                Some(turn)
            }
            _ => {
                outputs.push(Output::Ended(TurnOutcome::Cancelled));
                None
            }
        }
    }

    pub(super) fn run_open_calls(&mut self, step: &mut Step, outputs: &mut Vec<Output>) {
        for call in
            step.calls_mut().filter(|call| call.state == CallState::Open && !call.call.args.is_empty())
        {
            let run = self.counter.run();
            call.state = CallState::Running(run);
            let args = std::mem::replace(&mut call.call.args, "{}".to_owned());
            outputs.push(Output::StartTool { run, tool: call.call.tool.clone(), args });
        }
    }

    pub(super) fn run_again(&mut self, outputs: &mut Vec<Output>) {
        let stragglers = std::mem::take(&mut self.stragglers);
        for straggler in stragglers {
            let call = self.thread.iter().rev().find_map(|message| match message {
                Message::Assistant(blocks) => blocks.iter().find_map(|block| match block {
                    Block::Call(call) if call.id == straggler.call_id => Some(call.clone()),
                    _ => None,
                }),
                _ => None,
            });
            if let Some(call) = call {
                let run = self.counter.run();
                outputs.push(Output::StartTool { run, tool: call.tool, args: call.args });
            }
        }
    }
}
