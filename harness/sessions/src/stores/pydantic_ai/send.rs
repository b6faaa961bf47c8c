//! The send model of pydantic-ai 1.x, and of 2.x after it has cleaned the history.
//!
//! Source: pydantic-ai-slim 1.44.0 (<https://pypi.org/project/pydantic-ai-slim/1.44.0/>), `_agent_graph.py`
//! for the steps before the model, and `models/*.py` for the changes that each model class makes. The
//! library joins consecutive requests only if their instructions agree. Here they always agree.

use brickbat_rules::Dialect;
use brickbat_rules::histories::{Block, Role, Signs};

use super::{OF_2, cleaned};
use crate::clients::{self, Quirk};
use crate::{Message, Place, Sent, Session};

/// `UserPromptNode.run` raises this error for a new prompt after a response with calls, in 1.x and 2.x.
const UNPROCESSED: &str =
    "UserError: Cannot provide a new user prompt when the message history contains unprocessed tool calls.";

/// `ToolCallPart.args_as_dict` raises this error in 1.x for truncated arguments. 2.x sends them as
/// `INVALID_JSON`.
const NO_OBJECT: &str =
    "ValueError: the arguments of a call are no JSON object, and this model's class needs one";

const REORDERED: &str = "puts results before words in requests that follow each other";
const AS_WORDS: &str = "sends thinking that this provider did not sign as words";
const LEFT_OUT: &str = "leaves out empty texts and messages";

/// The send model of a session.
pub(in crate::stores) fn send(session: &Session) -> Sent {
    let is_of_2 = session.generation == OF_2;
    let (messages, mut mended) = match is_of_2 {
        true => cleaned::cleaned(session),
        false => (session.messages.clone(), Vec::new()),
    };
    let error = gives_up(&messages);
    let error = error.or_else(|| if is_of_2 { None } else { no_object(session) });
    if error.is_some() {
        return Sent { gives_up: error, ..Sent::as_stored(session) };
    }
    let dialect = session.dialect.unwrap_or(Dialect::AnthropicMessages);
    let mut counts = Counts::default();
    let mut messages = join_requests(&messages, &mut counts);
    for message in &mut messages {
        model_class(message, dialect, &mut counts);
    }
    // For Anthropic, Bedrock and Gemini, a message is added only if it has content. In Chat Completions, a
    // request without parts makes no message, and a response always makes one.
    let n_before = messages.len();
    let is_kept = |message: &Message| {
        let sends_empty = clients::of(Some(dialect)).have(Quirk::PydanticAiSendsEmptyReplies);
        !message.blocks.is_empty() || (sends_empty && message.role == Role::Assistant)
    };
    messages.retain(is_kept);
    counts.left_out += n_before - messages.len();
    let counted = [(REORDERED, counts.reordered), (AS_WORDS, counts.as_words), (LEFT_OUT, counts.left_out)];
    mended.extend(counted.into_iter().filter(|(_, n)| *n > 0));
    Sent { messages, mended, gives_up: None }
}

#[derive(Default)]
struct Counts {
    reordered: usize,
    as_words: usize,
    left_out: usize,
}

/// The error that the library raises before it sends anything, and the place of the block that causes it.
fn gives_up(messages: &[Message]) -> Option<(String, Place)> {
    let is_call = |block: &&crate::Block| matches!(block.content, Block::Call(_));
    let last = messages.last().filter(|last| last.role == Role::Assistant)?;
    last.blocks.iter().find(is_call).map(|call| (UNPROCESSED.to_owned(), call.place.clone()))
}

/// The error of 1.x for arguments that it cannot send, and the place of the call.
fn no_object(session: &Session) -> Option<(String, Place)> {
    if !clients::of(session.dialect).have(Quirk::PydanticAiRequiresObjects) {
        return None;
    }
    let blocks = session.messages.iter().flat_map(|message| &message.blocks);
    let mut broken = blocks.filter(|block| match &block.content {
        Block::Call(call) => !is_object(&call.arguments),
        _ => false,
    });
    broken.next().map(|block| (NO_OBJECT.to_owned(), block.place.clone()))
}

/// Returns whether `args_as_dict` accepts the arguments. It turns empty arguments into an empty object.
pub(super) fn is_object(arguments: &str) -> bool {
    arguments.is_empty()
        || serde_json::from_str::<serde_json::Value>(arguments).is_ok_and(|value| value.is_object())
}

/// `_clean_message_history`: joins consecutive requests, with results first.
fn join_requests(messages: &[Message], counts: &mut Counts) -> Vec<Message> {
    let mut joined: Vec<Message> = Vec::with_capacity(messages.len());
    let mut run: Vec<Message> = Vec::new();
    for message in messages {
        if message.role == Role::Assistant {
            close(&mut joined, &mut run, counts);
            joined.push(message.clone());
        } else {
            run.push(message.clone());
        }
    }
    close(&mut joined, &mut run, counts);
    joined
}

fn close(joined: &mut Vec<Message>, run: &mut Vec<Message>, counts: &mut Counts) {
    let is_late = |pair: &[Message]| pair[0].role != Role::Tool && pair[1].role == Role::Tool;
    counts.reordered += run.windows(2).filter(|pair| is_late(pair)).count();
    run.sort_by_key(|message| message.role != Role::Tool);
    joined.append(run);
}

/// Applies the changes that the model class makes to a message.
fn model_class(message: &mut Message, dialect: Dialect, counts: &mut Counts) {
    let signs_calls = dialect.codec().signs == Signs::Calls;
    let n_before = message.blocks.len();
    message.blocks.retain(|block| is_sent(block, message.role, dialect));
    counts.left_out += n_before - message.blocks.len();
    for block in &mut message.blocks {
        match &mut block.content {
            // The signature of a thought moves to the part after it.
            Block::Thinking(thinking) if signs_calls => thinking.signature = None,
            // `'\n'.join([start_tag, content, end_tag])`.
            Block::Thinking(thinking) if thinking.signature.is_none() => {
                counts.as_words += 1;
                block.content = Block::Text(format!("<think>\n{}\n</think>", thinking.text));
            }
            Block::Call(call) => {
                if call.arguments.is_empty() {
                    call.arguments.push_str("{}");
                }
                // `GoogleModel` gives a call without a signature this one, which Gemini does not check.
                if signs_calls && call.signature.is_none() {
                    call.signature = Some("skip_thought_signature_validator".to_owned());
                }
            }
            // The content of a result is one string, which may be blank.
            Block::Result(result) => {
                result.output.retain(|block| !matches!(block, Block::Text(text) if text.trim().is_empty()));
            }
            _ => {}
        }
    }
}

/// Returns whether a block reaches the request.
fn is_sent(block: &crate::Block, role: Role, dialect: Dialect) -> bool {
    let clients = clients::of(Some(dialect));
    match &block.content {
        Block::Text(text) if text.is_empty() => clients.empty_texts.contains(&role),
        // The signature of such a thought is on the next part.
        Block::Thinking(thinking) if thinking.text.is_empty() => match dialect.codec().signs {
            Signs::Calls => false,
            Signs::Thoughts | Signs::Items | Signs::Nothing => {
                thinking.signature.is_some() || clients.have(Quirk::PydanticAiSendsEmptyThoughts)
            }
        },
        _ => true,
    }
}
