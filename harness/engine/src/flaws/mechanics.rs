//! Code that several flaws share.

use brickbat_rules::dialect::Dialect;

use crate::agent::decisions::{Decisions, MidTurnMessage, Reference, Said};
use crate::agent::step::{MADE_UP, Step, StepBlock, saved};
use crate::agent::thread::{Block, Call, CallResult, Message};
use crate::agent::{RequestId, Tool};
use brickbat_scenario::plan::Change;

/// The dialects with a provider that runs tools itself.
pub(super) const SEARCHING: &[Dialect] = &[Dialect::AnthropicMessages];

/// The reason why faults of such tools cannot occur in the other dialects.
pub(super) const NO_SEARCH: &str = "our provider runs no tools itself";

/// The size of the smallest batch in which these flaws get the order of the results wrong.
pub(super) const LARGE_BATCH: usize = 3;

/// The request for the reply in which the last call was answered first.
#[derive(Debug, Default)]
pub(super) struct LastFirst(Option<RequestId>);

impl LastFirst {
    /// Notes that a call of the step has its result.
    pub(super) fn note(&mut self, step: &Step, id: &str) {
        let is_last = step.calls().last().is_some_and(|call| call.call.id == id);
        if is_last && step.results().len() == 1 && step.calls().count() >= LARGE_BATCH {
            self.0 = Some(step.request);
        }
    }

    /// True if the last call of this step, which is recorded now, was answered first.
    pub(super) fn take(&mut self, step: &Step) -> bool {
        self.0.take_if(|request| *request == step.request).is_some()
    }

    /// The messages of a step that is recorded now: those of `broken`, made of the message and its results, if
    /// the last call was answered first.
    pub(super) fn record(
        &mut self,
        (step, said, put_off): (&Step, &mut Said, Option<&Change>),
        broken: impl FnOnce(Vec<Block>, Vec<CallResult>) -> Vec<Message>,
    ) -> Vec<Message> {
        if self.take(step) {
            broken(step.message(), step.results())
        } else {
            Reference.record(step, said, put_off)
        }
    }
}

/// A result that did not come from a tool.
pub(super) fn done(call: &Call) -> CallResult {
    CallResult::text(call.id.clone(), "Done.".to_owned(), false)
}

/// The names of the tools that run in the client.
pub(super) fn of_client(tools: &[Tool]) -> Vec<String> {
    tools.iter().filter(|tool| tool.client).map(|tool| tool.name.clone()).collect()
}

pub(super) fn is_made_up(result: &CallResult) -> bool {
    result.is_error && result.text.starts_with(MADE_UP)
}

/// The last call of a thread with this id.
pub(super) fn call_of(thread: &[Message], id: &str) -> Option<Call> {
    thread.iter().rev().find_map(|message| message.calls().find(|call| call.id == id).cloned())
}

/// Takes the blocks of a failed attempt, without its incomplete calls.
pub(super) fn taken_blocks(step: &mut Step) -> Vec<StepBlock> {
    step.drop_open_calls();
    std::mem::take(&mut step.blocks)
}

/// The messages of a step with the first early message between its results, if there is one. The other
/// messages to the turn are lost.
pub(super) fn split_batch(
    step: &Step,
    said: &mut Said,
    is_early: impl Fn(&MidTurnMessage) -> bool,
) -> Option<Vec<Message>> {
    let early = said.iter().find(|message| is_early(message))?;
    let is_before = |result: &CallResult| early.answered.contains(&result.call_id);
    let (before, after) = step.results().into_iter().partition(is_before);
    let mut messages = saved(step.message(), before);
    messages.push(Message::User(early.text.clone()));
    messages.extend(saved(Vec::new(), after));
    said.clear();
    Some(messages)
}

/// The thread without the calls of its last results.
pub(super) fn without_last_calls(mut thread: Vec<Message>) -> Vec<Message> {
    if let [.., Message::Assistant(_), Message::Results(_)] = thread.as_slice() {
        thread.remove(thread.len() - 2);
    }
    thread
}

/// The thread without some results, and without messages that then have none left.
pub(super) fn without_results(
    mut thread: Vec<Message>,
    is_lost: impl Fn(&CallResult) -> bool,
) -> Vec<Message> {
    for results in thread.iter_mut().filter_map(Message::results_mut) {
        results.retain(|result| !is_lost(result));
    }
    thread.retain(|message| message.results().is_none_or(|results| !results.is_empty()));
    thread
}

/// The ids of the calls in a thread that name none of these tools.
pub(super) fn calls_of_no_tool(tools: &[Tool], thread: &[Message]) -> Vec<String> {
    let calls = thread.iter().flat_map(Message::calls);
    let gone = calls.filter(|call| tools.iter().all(|tool| tool.name != call.tool));
    gone.map(|call| call.id.clone()).collect()
}

/// Removes the calls with these ids from a thread, and messages that then have nothing left.
pub(super) fn without_calls(thread: &mut Vec<Message>, ids: &[String]) {
    for message in thread.iter_mut() {
        let Message::Assistant(blocks) = message else { continue };
        blocks.retain(|block| block.call().is_none_or(|call| !ids.contains(&call.id)));
    }
    thread.retain(|message| !matches!(message, Message::Assistant(blocks) if blocks.is_empty()));
}

/// The body of a Responses request. The provider stores the reply.
pub(super) fn stored(body: Vec<u8>) -> Vec<u8> {
    let text = String::from_utf8_lossy(&body);
    text.replacen(r#""store":false"#, r#""store":true"#, 1).into_bytes()
}
