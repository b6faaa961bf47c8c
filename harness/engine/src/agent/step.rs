//! One incoming reply, and the tools that it started.

use super::thread::{Block, Call, CallResult, Message, ServerBlock, Thought};
use super::{Delivery, RequestId, RunId, TimerId};
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::plan::ToolOutcome;
use brickbat_scenario::wire::{Decoder, ReplyEvent};

/// The state of one model reply.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) request: RequestId,
    pub(crate) phase: Phase,
    pub(crate) blocks: Vec<StepBlock>,
    /// The ids of the calls as the model wrote them, each with the id that is kept.
    pub(crate) ids: Vec<(String, String)>,
    /// The complete calls that start when the reply is over.
    pub(crate) put_off: Vec<u64>,
    /// The stop reason.
    pub(crate) stop: Option<String>,
    /// The provider's id of the reply, if requests can refer to it.
    pub(crate) response: Option<String>,
    /// True if a text of only white space is kept.
    keeps_blank_text: bool,
    /// The error that the provider reported inside the stream.
    pub(crate) error: Option<String>,
    /// The reason why the reply did not complete, if its tools ran anyway.
    pub(crate) broken: Option<String>,
    /// The body of an answer that is not a stream.
    pub(crate) whole: Vec<u8>,
    /// How long the provider wants the client to wait before the next request, if specified.
    pub(crate) pause_ms: Option<u64>,
    /// The provider's count of tokens for the request, if it reports one.
    pub(crate) tokens: Option<u64>,
}

/// The phase of a reply.
#[derive(Debug)]
pub(crate) enum Phase {
    /// No request is sent yet: the provider wants a pause.
    Pausing(TimerId),
    /// The request is sent, but nothing has arrived.
    Asked,
    /// The body is arriving.
    Coming { status: u16, decoder: Decoder, terminated: bool },
    /// The reply has arrived; tools may still run.
    Over,
}

/// A piece of the reply.
#[derive(Debug, Clone)]
pub(crate) enum StepBlock {
    Thought(StepThought),
    Text(String),
    Call(StepCall),
    Server(ServerBlock),
}

/// A thought of the model, as far as it has arrived.
#[derive(Debug, Clone)]
pub(crate) struct StepThought {
    pub(crate) text: String,
    pub(crate) signature: Option<String>,
    is_open: bool,
}

impl StepBlock {
    /// The block for a message. A thought that was cut off before its signature is left out, because
    /// providers reject it.
    pub(crate) fn kept(&self, keeps_blank_text: bool) -> Option<Block> {
        match self {
            StepBlock::Thought(StepThought { text, signature, .. }) => {
                let signature = Some(signature.clone()?);
                Some(Block::Thought(Thought { text: text.clone(), signature }))
            }
            StepBlock::Text(text) if text.trim().is_empty() && !keeps_blank_text => None,
            StepBlock::Text(text) => Some(Block::Text(text.clone())),
            StepBlock::Call(call) => Some(Block::Call(call.call.clone())),
            StepBlock::Server(block) => Some(Block::Server(block.clone())),
        }
    }
}

/// A call of the reply.
#[derive(Debug, Clone)]
pub(crate) struct StepCall {
    pub(crate) index: u64,
    pub(crate) call: Call,
    pub(crate) state: CallState,
}

/// The state of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CallState {
    /// Its arguments are still arriving.
    Open,
    /// The user is asked whether its tool may run.
    Asked(RunId),
    /// Its tool runs.
    Running(RunId),
    /// It has its result.
    Done(CallResult),
    /// It gets no result, which is always a bug.
    Forgotten,
}

impl Step {
    pub(crate) fn new(request: RequestId, keeps_blank_text: bool) -> Step {
        Step {
            request,
            phase: Phase::Asked,
            blocks: Vec::new(),
            ids: Vec::new(),
            put_off: Vec::new(),
            stop: None,
            response: None,
            keeps_blank_text,
            error: None,
            broken: None,
            whole: Vec::new(),
            pause_ms: None,
            tokens: None,
        }
    }

    /// A step in which nothing is left to do.
    pub(crate) fn over(request: RequestId) -> Step {
        Step { phase: Phase::Over, ..Step::new(request, false) }
    }

    /// Notes that an answer has begun.
    pub(crate) fn answered_with(&mut self, status: u16, dialect: Dialect) {
        self.phase = Phase::Coming { status, decoder: Decoder::new(dialect), terminated: false };
    }

    /// Takes a piece of the answer's body and returns its events. A non-streamed body produces no events
    /// until it is complete.
    pub(crate) fn take_in(&mut self, bytes: &[u8], delivery: Delivery) -> Vec<ReplyEvent> {
        let mut events = Vec::new();
        match &mut self.phase {
            Phase::Coming { status: 200, decoder, .. } if delivery == Delivery::Streamed => {
                decoder.feed(bytes, |event| events.push(event));
            }
            Phase::Coming { .. } => self.whole.extend_from_slice(bytes),
            Phase::Asked | Phase::Pausing(_) | Phase::Over => {}
        }
        events
    }

    /// All text that has arrived.
    pub(crate) fn text(&self) -> String {
        let texts = self.blocks.iter().filter_map(|block| match block {
            StepBlock::Text(text) => Some(text.as_str()),
            StepBlock::Thought(_) | StepBlock::Call(_) | StepBlock::Server(_) => None,
        });
        texts.collect()
    }

    /// The calls, in order.
    pub(crate) fn calls(&self) -> impl Iterator<Item = &StepCall> {
        self.blocks.iter().filter_map(|block| match block {
            StepBlock::Call(call) => Some(call),
            StepBlock::Thought(_) | StepBlock::Text(_) | StepBlock::Server(_) => None,
        })
    }

    /// The calls, in order, as mutable references.
    pub(crate) fn calls_mut(&mut self) -> impl Iterator<Item = &mut StepCall> {
        self.blocks.iter_mut().filter_map(|block| match block {
            StepBlock::Call(call) => Some(call),
            StepBlock::Thought(_) | StepBlock::Text(_) | StepBlock::Server(_) => None,
        })
    }

    /// The thoughts, in order, as mutable references.
    pub(crate) fn thoughts_mut(&mut self) -> impl Iterator<Item = &mut StepThought> {
        self.blocks.iter_mut().filter_map(|block| match block {
            StepBlock::Thought(thought) => Some(thought),
            StepBlock::Text(_) | StepBlock::Call(_) | StepBlock::Server(_) => None,
        })
    }

    /// Takes an event of the reply. Returns the index of a call that is complete with this event.
    pub(crate) fn take_event(&mut self, event: ReplyEvent) -> Option<u64> {
        match event {
            ReplyEvent::Thought(text) => match self.blocks.last_mut() {
                Some(StepBlock::Thought(thought)) if thought.is_open => thought.text.push_str(&text),
                _ => {
                    self.blocks.push(StepBlock::Thought(StepThought {
                        text,
                        signature: None,
                        is_open: true,
                    }));
                }
            },
            ReplyEvent::ThoughtEnd { signature } => {
                if let Some(thought) = self.thoughts_mut().last() {
                    thought.signature = signature;
                    thought.is_open = false;
                }
            }
            ReplyEvent::Text(text) => match self.blocks.last_mut() {
                Some(StepBlock::Text(so_far)) => so_far.push_str(&text),
                _ => self.blocks.push(StepBlock::Text(text)),
            },
            ReplyEvent::CallStart { index, id, name } => {
                let call = Call::new(id, name, "");
                self.blocks.push(StepBlock::Call(StepCall { index, call, state: CallState::Open }));
            }
            ReplyEvent::CallSignature { index, signature } => {
                if let Some(call) = self.open_call(index) {
                    call.call.signature = Some(signature);
                }
            }
            ReplyEvent::CallArgs { index, fragment } => {
                if let Some(call) = self.open_call(index) {
                    call.call.args.push_str(&fragment);
                }
            }
            ReplyEvent::CallEnd { index } => return Some(index),
            ReplyEvent::Server(block) => self.blocks.push(StepBlock::Server(block)),
            ReplyEvent::End => {
                if let Phase::Coming { terminated, .. } = &mut self.phase {
                    *terminated = true;
                }
            }
            ReplyEvent::Error { kind, message } => self.error = Some(format!("{kind}: {message}")),
            ReplyEvent::Tokens(tokens) => self.tokens = Some(tokens),
            ReplyEvent::Stop(reason) => self.stop = Some(reason),
            ReplyEvent::ResponseId(id) => self.response = Some(id),
            ReplyEvent::Unknown(_) => {}
        }
        None
    }

    /// The open call with this index. A later attempt may reuse the index of an earlier one.
    pub(crate) fn open_call(&mut self, index: u64) -> Option<&mut StepCall> {
        self.calls_mut().find(|call| call.index == index && call.state == CallState::Open)
    }

    /// The id as the model wrote it.
    fn said_id(&self, call: &StepCall) -> &str {
        let known = self.ids.iter().find(|(_, kept)| *kept == call.call.id);
        known.map_or("", |(said, _)| said.as_str())
    }

    /// True if the start of this call is a repetition: the call with this index is open and has the same id.
    pub(crate) fn has_begun(&self, index: u64, said_id: &str) -> bool {
        let mut open = self.calls().filter(|call| call.index == index && call.state == CallState::Open);
        open.any(|call| self.said_id(call) == said_id)
    }

    /// Drops the open call with this index if it repeats another one, including its id and arguments: the
    /// model meant one call.
    pub(crate) fn drop_repeated(&mut self, index: u64) {
        let open = |call: &StepCall| call.index == index && call.state == CallState::Open;
        let Some(late) = self.calls().find(|call| open(call)) else { return };
        let said = self.said_id(late);
        let is_same = |call: &StepCall| {
            self.said_id(call) == said && call.call.tool == late.call.tool && call.call.args == late.call.args
        };
        let is_repeated = self.calls().filter(|call| call.call.id != late.call.id).any(is_same);
        if is_repeated && !said.is_empty() {
            let id = late.call.id.clone();
            self.blocks.retain(|block| !matches!(block, StepBlock::Call(call) if call.call.id == id));
        }
    }

    /// The call to which a tool run belongs.
    pub(crate) fn call_of(&mut self, run: RunId) -> Option<&mut StepCall> {
        self.calls_mut().find(|call| call.state == CallState::Running(run))
    }

    /// The call to which a question to the user belongs.
    pub(crate) fn asked_about(&mut self, run: RunId) -> Option<&mut StepCall> {
        self.calls_mut().find(|call| call.state == CallState::Asked(run))
    }

    /// True if the reply contains text.
    pub(crate) fn has_text(&self) -> bool {
        self.blocks.iter().any(|block| matches!(block, StepBlock::Text(_)))
    }

    /// True if a tool has been started or a call has been answered.
    pub(crate) fn has_side_effects(&self) -> bool {
        self.calls().any(|call| call.state != CallState::Open)
    }

    /// True if tools run or wait for the user.
    pub(crate) fn is_running(&self) -> bool {
        self.calls().any(|call| matches!(call.state, CallState::Running(_) | CallState::Asked(_)))
    }

    /// True if the user is being asked about a call.
    pub(crate) fn is_asking(&self) -> bool {
        self.calls().any(|call| matches!(call.state, CallState::Asked(_)))
    }

    /// Drops the calls with incomplete arguments.
    pub(crate) fn drop_open_calls(&mut self) {
        self.blocks.retain(|block| !matches!(block, StepBlock::Call(call) if call.state == CallState::Open));
    }

    /// Drops the calls with incomplete arguments, and keeps those that start when the reply is over.
    pub(crate) fn drop_incomplete_calls(&mut self) {
        let put_off = &self.put_off;
        let is_incomplete = |call: &StepCall| call.state == CallState::Open && !put_off.contains(&call.index);
        self.blocks.retain(|block| !matches!(block, StepBlock::Call(call) if is_incomplete(call)));
    }

    /// Drops the open call with this index.
    pub(crate) fn drop_open_call(&mut self, index: u64) {
        let is_it = |call: &StepCall| call.index == index && call.state == CallState::Open;
        self.blocks.retain(|block| !matches!(block, StepBlock::Call(call) if is_it(call)));
    }

    /// The assistant message that this reply leaves in the thread.
    pub(crate) fn message(&self) -> Vec<Block> {
        message_of(&self.blocks, self.keeps_blank_text)
    }

    /// The assistant message, if the reply ended now: without the calls with incomplete arguments.
    pub(crate) fn message_so_far(&self) -> Vec<Block> {
        let is_open =
            |block: &&StepBlock| matches!(block, StepBlock::Call(call) if call.state == CallState::Open);
        message_of(self.blocks.iter().filter(|block| !is_open(block)), self.keeps_blank_text)
    }

    /// The results, in the order of the calls.
    pub(crate) fn results(&self) -> Vec<CallResult> {
        let results = self.calls().filter_map(|call| match &call.state {
            CallState::Done(result) => Some(result.clone()),
            _ => None,
        });
        results.collect()
    }
}

/// A message of these blocks. Providers reject a message that contains only thinking. A model may write text
/// between two calls, but Claude rejects that order: only calls may follow the first call.
pub(crate) fn message_of<'a>(
    blocks: impl IntoIterator<Item = &'a StepBlock>,
    keeps_blank_text: bool,
) -> Vec<Block> {
    let mut kept: Vec<Block> = blocks.into_iter().filter_map(|block| block.kept(keeps_blank_text)).collect();
    kept.sort_by_key(|block| block.call().is_some());
    let has_more = kept.iter().any(|block| !matches!(block, Block::Thought(_)));
    if has_more { kept } else { Vec::new() }
}

/// The messages that a reply and its results leave in the thread. An empty one is left out.
pub(crate) fn saved(reply: Vec<Block>, results: Vec<CallResult>) -> Vec<Message> {
    let reply = (!reply.is_empty()).then_some(Message::Assistant(reply));
    let results = (!results.is_empty()).then_some(Message::Results(results));
    reply.into_iter().chain(results).collect()
}

/// The result for a tool that ended.
pub(crate) fn result_of(call: &Call, outcome: &ToolOutcome) -> CallResult {
    let text = match outcome {
        // Providers reject some empty texts, and leaving the result out would leave its call open.
        ToolOutcome::Return(text) | ToolOutcome::Error(text) if text.is_empty() => "(no output)".to_owned(),
        ToolOutcome::Return(text) => text.clone(),
        ToolOutcome::Error(text) => text.clone(),
        ToolOutcome::Throw(text) => format!("The tool failed: {text}"),
        ToolOutcome::Deny(text) => format!("The user refused this call: {text}"),
    };
    CallResult::text(call.id.clone(), text, !outcome.is_success())
}

/// The result for a tool that the user did not allow.
pub(crate) fn not_allowed(call: &Call, why: &str) -> CallResult {
    CallResult::text(call.id.clone(), format!("Not run: {why}."), true)
}

/// The beginning of the result for a tool that was cut off.
pub(crate) const MADE_UP: &str = "Interrupted before a result was known";

/// The result for a tool that was cut off.
pub(crate) fn interrupted(call: &Call) -> CallResult {
    CallResult::text(call.id.clone(), format!("{MADE_UP}; the tool may have run."), true)
}
