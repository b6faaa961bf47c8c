//! An agent without I/O, as the author of a Rust SDK could write it.
//!
//! It requests non-streamed `openai-chat` replies, runs all calls in a reply in parallel, and stores every
//! message. With `DANGLES` it has a typical bug: a stop leaves the calls in a batch without results.

use brickbat_engine::agent::{BodyEnd, Input, Output, RequestId, RunId, SansIo};
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::plan::{Plan, ToolOutcome};
use brickbat_scenario::scenario::Need;
use brickbat_scenario::trace::TurnOutcome;
use serde_json::{Value, json};

pub struct OwnAgent<const DANGLES: bool> {
    tools: Vec<Value>,
    messages: Vec<Value>,
    turn: Option<Turn>,
    n_numbers: u32,
}

/// The state of a turn: a request is open, or calls are running.
enum Turn {
    Asking { request: RequestId, status: u16, body: Vec<u8> },
    Running { step: Value, runs: Vec<Run> },
}

struct Run {
    run: RunId,
    call: String,
    result: Option<String>,
}

const INTERRUPTED: &str = "Error: interrupted. It is not known whether the call has taken effect.";

impl<const DANGLES: bool> SansIo for OwnAgent<DANGLES> {
    fn of_plan(plan: &Plan) -> Option<Self> {
        let declare = |name: &str| json!({ "type": "function", "function": { "name": name } });
        let tools = plan.tools.iter().map(|tool| declare(&tool.name)).collect();
        let speaks = plan.dialect == Dialect::OpenaiChat;
        speaks.then_some(OwnAgent { tools, messages: Vec::new(), turn: None, n_numbers: 0 })
    }

    fn can(need: Need) -> bool {
        matches!(need, Need::Cancel | Need::Resume)
    }

    fn path(&self) -> &str {
        "/v1/chat/completions"
    }

    fn step(&mut self, input: Input<'_>) -> Vec<Output> {
        let mut outputs = Vec::new();
        self.turn = match (self.turn.take(), input) {
            (None, Input::Prompt(text)) => {
                self.messages.push(json!({ "role": "user", "content": text }));
                Some(self.ask(&mut outputs))
            }
            (turn @ Some(_), Input::Prompt(_)) => {
                outputs.push(Output::PromptRefused);
                turn
            }
            (Some(turn), Input::Stop) => {
                self.stop(turn, &mut outputs);
                None
            }
            (Some(Turn::Asking { request, body, .. }), Input::Head { status, .. }) => {
                Some(Turn::Asking { request, status, body })
            }
            (Some(Turn::Asking { request, status, mut body }), Input::Body { bytes, .. }) => {
                body.extend_from_slice(bytes);
                Some(Turn::Asking { request, status, body })
            }
            (Some(Turn::Asking { status, body, .. }), Input::End { how, .. }) => {
                let reply =
                    serde_json::from_slice(&body).ok().filter(|_| how == BodyEnd::Complete && status == 200);
                self.replied(reply, &mut outputs)
            }
            (Some(Turn::Running { step, runs }), Input::ToolDone { run, outcome }) => {
                self.settled(step, runs, run, &outcome, &mut outputs)
            }
            (turn, _) => turn,
        };
        outputs
    }

    fn history(&self) -> Vec<u8> {
        self.saved()
    }

    fn saved(&self) -> Vec<u8> {
        let mut messages = self.messages.clone();
        if let Some(Turn::Running { step, runs }) = &self.turn {
            messages.push(step.clone());
            let done = |run: &Run| Some(result_of(&run.call, run.result.as_deref()?));
            messages.extend(runs.iter().filter_map(done));
        }
        serde_json::to_vec(&messages).unwrap_or_default()
    }

    fn reborn_from(&self, saved: &[u8]) -> Self {
        let mut messages: Vec<Value> = serde_json::from_slice(saved).unwrap_or_default();
        let is_step = |message: &Value| message["tool_calls"].is_array();
        if let Some(at) = messages.iter().rposition(is_step) {
            let calls = messages[at]["tool_calls"].as_array().cloned().unwrap_or_default();
            for (n, id) in calls.iter().map(|call| call["id"].as_str().unwrap_or_default()).enumerate() {
                if messages.get(at + 1 + n).is_none_or(|message| message["tool_call_id"] != id) {
                    messages.insert(at + 1 + n, result_of(id, INTERRUPTED));
                }
            }
        }
        OwnAgent { tools: self.tools.clone(), messages, turn: None, n_numbers: self.n_numbers }
    }
}

impl<const DANGLES: bool> OwnAgent<DANGLES> {
    fn ask(&mut self, outputs: &mut Vec<Output>) -> Turn {
        let request = RequestId(self.number());
        let mut body = json!({ "model": "gpt-4.1", "messages": self.messages });
        if !self.tools.is_empty() {
            body["tools"] = json!(self.tools);
        }
        outputs.push(Output::Request { request, body: serde_json::to_vec(&body).unwrap_or_default() });
        Turn::Asking { request, status: 0, body: Vec::new() }
    }

    fn replied(&mut self, reply: Option<Value>, outputs: &mut Vec<Output>) -> Option<Turn> {
        let Some(mut step) = reply.map(|mut reply| reply["choices"][0]["message"].take()) else {
            let (class, text) = ("ReplyError".to_owned(), "the reply is broken".to_owned());
            outputs.push(Output::Ended(TurnOutcome::Raised { class, text }));
            return None;
        };
        let Some(calls) = step["tool_calls"].as_array_mut().filter(|calls| !calls.is_empty()) else {
            if let Some(text) = step["content"].as_str().filter(|text| !text.trim().is_empty()) {
                self.messages.push(json!({ "role": "assistant", "content": text }));
            }
            outputs.push(Output::Ended(TurnOutcome::Returned));
            return None;
        };
        let mut runs = Vec::new();
        for call in calls {
            let run = RunId(self.number());
            // A model can repeat an id, but each id is stored only once.
            if self.messages.iter().any(|message| message["tool_call_id"] == call["id"])
                || runs.iter().any(|run: &Run| call["id"] == run.call.as_str())
            {
                call["id"] = json!(format!("call_again_{}", run.0));
            }
            let tool = call["function"]["name"].as_str().unwrap_or_default().to_owned();
            let args = call["function"]["arguments"].as_str().unwrap_or_default().to_owned();
            let is_known = self.tools.iter().any(|known| known["function"]["name"] == tool.as_str());
            let is_complete = serde_json::from_str::<Value>(&args).is_ok_and(|args| args.is_object());
            if !is_complete {
                call["function"]["arguments"] = json!("{}");
            }
            if !is_known {
                // The provider accepts only valid tool names, so an invented name is replaced.
                call["function"]["name"] = json!("unknown");
            }
            let result = match (is_known, is_complete) {
                (false, _) => Some(format!("Error: unknown tool `{tool}`.")),
                (true, false) => Some("Error: the arguments are not a JSON object.".to_owned()),
                (true, true) => None,
            };
            let call = call["id"].as_str().unwrap_or_default().to_owned();
            if result.is_none() {
                outputs.push(Output::StartTool { run, tool, args });
            }
            runs.push(Run { run, call, result });
        }
        self.next(step, runs, outputs)
    }

    fn settled(
        &mut self,
        step: Value,
        mut runs: Vec<Run>,
        run: RunId,
        outcome: &ToolOutcome,
        outputs: &mut Vec<Output>,
    ) -> Option<Turn> {
        if let Some(run) = runs.iter_mut().find(|known| known.run == run) {
            run.result = Some(match outcome {
                ToolOutcome::Return(text) => text.clone(),
                failed => format!("Error: {}", failed.text()),
            });
        }
        self.next(step, runs, outputs)
    }

    /// Waits for the other results, or sends the next request once all have arrived.
    fn next(&mut self, step: Value, runs: Vec<Run>, outputs: &mut Vec<Output>) -> Option<Turn> {
        if runs.iter().any(|run| run.result.is_none()) {
            return Some(Turn::Running { step, runs });
        }
        self.store(step, &runs);
        Some(self.ask(outputs))
    }

    fn stop(&mut self, turn: Turn, outputs: &mut Vec<Output>) {
        match turn {
            Turn::Asking { request, .. } => outputs.push(Output::HangUp { request }),
            Turn::Running { step, mut runs } => {
                for run in runs.iter_mut().filter(|run| run.result.is_none()) {
                    outputs.push(Output::CancelTool { run: run.run });
                    run.result = (!DANGLES).then(|| INTERRUPTED.to_owned());
                }
                self.store(step, &runs);
            }
        }
        outputs.push(Output::Ended(TurnOutcome::Cancelled));
    }

    fn store(&mut self, step: Value, runs: &[Run]) {
        self.messages.push(step);
        let results = runs.iter().filter_map(|run| Some(result_of(&run.call, run.result.as_deref()?)));
        self.messages.extend(results);
    }

    fn number(&mut self) -> u32 {
        self.n_numbers += 1;
        self.n_numbers
    }
}

fn result_of(call: &str, text: &str) -> Value {
    json!({ "role": "tool", "tool_call_id": call, "content": text })
}
