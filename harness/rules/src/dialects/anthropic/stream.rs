//! Anthropic Messages: `message_start`, then blocks one after the other, `message_delta`, `message_stop`.

use crate::json::Json;
use crate::streams::{
    Arguments, BrokenRule, Common, Machine, Room, SSE, Standing, StreamEvent, Verdict, Warnings,
    error_in_words, illegal, quoted, stream_rules, text, underway,
};

const DOCS: &str = "https://platform.claude.com/docs/en/build-with-claude/streaming";
const TOOLS: &str =
    "https://platform.claude.com/docs/en/agents-and-tools/tool-use/fine-grained-tool-streaming";
const ERRORS: &str = "https://github.com/karthink/gptel/issues/1512";
const READER: &str =
    "https://github.com/anthropics/anthropic-sdk-python/blob/main/src/anthropic/_streaming.py";

stream_rules! { "anthropic-messages";
    error UNREADABLE = "unreadable", "the data of each event is one JSON object in UTF-8", DOCS;
    error NAME = "name-is-type", "the name of an event is the type in its data", DOCS;
    error START_FIRST = "message-start-first", "message_start comes before all but pings", DOCS;
    error START_REPEATED = "message-start-repeated", "message_start comes once", DOCS;
    error START_EMPTY = "message-start-empty",
        "message_start has a message without content and without a stop reason", DOCS;
    error INDEX = "block-index", "the indexes of the blocks are 0, 1, 2 and so on, each once", DOCS;
    error INTERLEAVED = "blocks-interleaved", "a block starts after the block before it has stopped", DOCS;
    error NOT_STARTED = "block-not-started",
        "deltas and stops name the block that has started and has not stopped", DOCS;
    error BLOCK_LATE = "block-after-message-delta", "no block comes after message_delta", DOCS;
    error STILL_OPEN = "block-still-open",
        "message_delta and message_stop come after the last block has stopped", DOCS;
    error CALL_NAMELESS = "tool-use-nameless", "a tool_use block starts with its id and name", DOCS;
    error DELTA_TYPE = "delta-type", "the type of a delta fits the type of its block", DOCS;
    error DELTA_EMPTY = "delta-without-text", "a delta holds its piece as a string", DOCS;
    error SIGNATURE_LAST = "signature-last",
        "only its stop follows the signature_delta of a thinking block", DOCS;
    warning UNSIGNED = "signature-missing", "a thinking block has a signature_delta before its stop", DOCS;
    warning INPUT = "input-not-json",
        "the input of a stopped tool_use block is nothing or a JSON object, unless the reply was cut off", TOOLS;
    error DELTA_MISSING = "message-delta-missing",
        "message_stop comes after a message_delta with the stop reason", DOCS;
    warning NO_CALL = "stop-reason-without-call",
        "the stop reason tool_use comes after a tool_use block", DOCS;
    warning ERROR_SHAPE = "error-shape", "an error event has an error with a type and a message", ERRORS;
    error AFTER_END = "after-end", "only pings come after message_stop or an error event", READER;
    error TRUNCATED = "truncated", "a stream ends with message_stop, or with an error event", ERRORS;
    warning UNENDED = "last-event-unended", "a blank line ends each event", SSE;
    warning STRAY = "stray-line", "each line is a field, a comment or blank", SSE;
}

static COMMON: Common =
    Common { truncated: &TRUNCATED, unreadable: &UNREADABLE, unended: Some(&UNENDED), stray: Some(&STRAY) };

/// The events in this grammar. Others pass.
const KNOWN: [&str; 8] = [
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
    "ping",
    "error",
];

/// Stop reasons for replies that may end in the middle of a call.
const CUT_OFF: [&str; 4] = ["max_tokens", "refusal", "model_context_window_exceeded", "pause_turn"];

/// True for the beginning of a reply that continues the code of an earlier one: it has the results of the code, and
/// the calls that the code makes (<https://github.com/vercel/ai/pull/14717>,
/// <https://github.com/langchain-ai/langchain/issues/34406>).
fn is_continued(message: Json) -> bool {
    let is_of_code = |block: Json| {
        let kind = block.field("type").as_str().unwrap_or_default();
        kind.ends_with("code_execution_tool_result") || block.field("caller").is_object()
    };
    message.field("content").items().any(is_of_code)
}

#[derive(Debug)]
pub(super) struct Messages {
    phase: Phase,
    next: u64,
    n_calls: usize,
    /// The first stopped call with an input that is not JSON.
    broken_input: Option<u64>,
    has_stop_reason: bool,
    room: Room,
}

#[derive(Debug)]
enum Phase {
    Before,
    BetweenBlocks,
    InBlock(OpenBlock),
    AfterDelta,
    Stopped,
    Failed(String),
}

#[derive(Debug)]
struct OpenBlock {
    index: u64,
    kind: OpenBlockKind,
    /// True if the block starts with a signature, as a non-streamed block does.
    starts_signed: bool,
    is_signed: bool,
    input: Arguments,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OpenBlockKind {
    Text,
    Thinking,
    /// The input arrives in pieces. Only client calls are checked when they stop.
    Call {
        is_client: bool,
    },
    /// The block arrives complete, without deltas.
    Whole,
    Unknown,
}

impl OpenBlockKind {
    fn of(word: &str) -> OpenBlockKind {
        match word {
            "text" => OpenBlockKind::Text,
            "thinking" => OpenBlockKind::Thinking,
            "tool_use" => OpenBlockKind::Call { is_client: true },
            "server_tool_use" | "mcp_tool_use" => OpenBlockKind::Call { is_client: false },
            "redacted_thinking" | "web_search_tool_result" => OpenBlockKind::Whole,
            _ => OpenBlockKind::Unknown,
        }
    }

    /// Returns whether a delta of this type may be in the block, and the field with its piece. `None` for
    /// unknown types.
    fn takes(self, delta: &str) -> Option<(bool, &'static str)> {
        let (fits, field) = match delta {
            "text_delta" => (self == OpenBlockKind::Text, "text"),
            "input_json_delta" => (matches!(self, OpenBlockKind::Call { .. }), "partial_json"),
            "thinking_delta" => (self == OpenBlockKind::Thinking, "thinking"),
            "signature_delta" => (self == OpenBlockKind::Thinking, "signature"),
            _ => return None,
        };
        Some((fits || self == OpenBlockKind::Unknown, field))
    }
}

impl Messages {
    pub(super) fn new() -> Messages {
        Messages {
            phase: Phase::Before,
            next: 0,
            n_calls: 0,
            broken_input: None,
            has_stop_reason: false,
            room: Room::new(),
        }
    }

    fn message_start(&mut self, message: Json) -> Verdict {
        if !matches!(self.phase, Phase::Before) {
            return illegal(&START_REPEATED, "a second message_start");
        }
        if !message.is_object() {
            return illegal(&START_EMPTY, "message_start without a message");
        }
        self.phase = Phase::BetweenBlocks;
        if message.field("content").is_empty() && message.field("stop_reason").is_null() {
            return Ok(());
        }
        if !is_continued(message) {
            return illegal(
                &START_EMPTY,
                "the message of message_start has content or a stop reason already",
            );
        }
        let calls = message.field("content").items().filter(|block| block.field("type").is("tool_use"));
        self.n_calls = calls.count();
        self.has_stop_reason = !message.field("stop_reason").is_null();
        Ok(())
    }

    fn block_start(&mut self, data: Json) -> Verdict {
        match &self.phase {
            Phase::InBlock(open) => {
                let message = format!("a block starts while block {} is open", open.index);
                return illegal(&INTERLEAVED, message);
            }
            Phase::AfterDelta => return illegal(&BLOCK_LATE, "a block starts after message_delta"),
            _ => {}
        }
        if data.field("index").as_u64() != Some(self.next) {
            return illegal(
                &INDEX,
                format!("block {} starts, expected block {}", index_text(data.field("index")), self.next),
            );
        }
        let block = data.field("content_block");
        let kind = OpenBlockKind::of(&block.field("type").as_str().unwrap_or_default());
        if let OpenBlockKind::Call { is_client: true } = kind {
            if text(block.field("id")).is_none() || text(block.field("name")).is_none() {
                return illegal(&CALL_NAMELESS, "a tool_use block starts without an id or without a name");
            }
            self.n_calls += 1;
        }
        let starts_signed = text(block.field("signature")).is_some();
        let input = Arguments::default();
        self.phase =
            Phase::InBlock(OpenBlock { index: self.next, kind, starts_signed, is_signed: false, input });
        self.next += 1;
        Ok(())
    }

    fn block_delta(&mut self, data: Json) -> Verdict {
        let room = &mut self.room;
        let block = open_block(&mut self.phase, data, "a delta")?;
        let delta = data.field("delta");
        let word = &*delta.field("type").as_str().unwrap_or_default();
        let Some((fits, field)) = block.kind.takes(word) else { return Ok(()) };
        if !fits {
            let message = format!("a {word} in block {}, which is of another type", block.index);
            return illegal(&DELTA_TYPE, message);
        }
        let Some(piece) = delta.field(field).as_str() else {
            return illegal(&DELTA_EMPTY, format!("a {word} without the string `{field}`"));
        };
        if block.is_signed && block.kind == OpenBlockKind::Thinking {
            return illegal(
                &SIGNATURE_LAST,
                format!("a {word} after the signature of block {}", block.index),
            );
        }
        block.is_signed |= word == "signature_delta";
        if block.kind == (OpenBlockKind::Call { is_client: true }) {
            block.input.push(&piece, room);
        }
        Ok(())
    }

    fn block_stop(&mut self, data: Json, warnings: &mut Warnings) -> Verdict {
        let block = open_block(&mut self.phase, data, "a stop")?;
        if block.kind == OpenBlockKind::Thinking && !block.is_signed && !block.starts_signed {
            warnings.add(&UNSIGNED, format!("thinking block {} stops without a signature", block.index));
        }
        if block.input.are_broken() {
            self.broken_input.get_or_insert(block.index);
        }
        self.phase = Phase::BetweenBlocks;
        Ok(())
    }

    fn message_delta(&mut self, delta: Json, warnings: &mut Warnings) -> Verdict {
        self.no_open_block("message_delta")?;
        self.phase = Phase::AfterDelta;
        let Some(reason) = text(delta.field("stop_reason")) else { return Ok(()) };
        self.has_stop_reason = true;
        if reason == "tool_use" && self.n_calls == 0 {
            warnings.add(&NO_CALL, "the stop reason is tool_use, but no tool_use block came");
        }
        if let Some(index) = self.broken_input
            && !CUT_OFF.contains(&&*reason)
        {
            let message = format!(
                "the input of block {index} is not a JSON object, and the stop reason is {}",
                quoted(&reason)
            );
            warnings.add(&INPUT, message);
        }
        Ok(())
    }

    fn message_stop(&mut self) -> Verdict {
        self.no_open_block("message_stop")?;
        if !self.has_stop_reason {
            return illegal(&DELTA_MISSING, "message_stop before a message_delta with a stop reason");
        }
        self.phase = Phase::Stopped;
        Ok(())
    }

    fn no_open_block(&self, what: &str) -> Verdict {
        match &self.phase {
            Phase::InBlock(block) => {
                illegal(&STILL_OPEN, format!("{what} while block {} is open", block.index))
            }
            _ => Ok(()),
        }
    }

    fn fail(&mut self, error: Json, warnings: &mut Warnings) {
        let (kind, message) = (text(error.field("type")), text(error.field("message")));
        if kind.is_none() || message.is_none() {
            warnings.add(&ERROR_SHAPE, "an error event without `error.type` or without `error.message`");
        }
        self.phase = Phase::Failed(error_in_words(kind, message));
    }
}

impl Machine for Messages {
    fn common(&self) -> &'static Common {
        &COMMON
    }

    fn step(&mut self, event: &StreamEvent<'_>, warnings: &mut Warnings) -> Verdict {
        let document = event.object(&UNREADABLE)?;
        let data = document.root();
        let kind = &*data.field("type").as_str().unwrap_or_default();
        if !KNOWN.contains(&kind) && !KNOWN.contains(&event.name) {
            return Ok(());
        }
        if kind != event.name {
            let message = format!("the event is named {}, its type is {}", quoted(event.name), quoted(kind));
            return illegal(&NAME, message);
        }
        match (&self.phase, kind) {
            (_, "ping") => return Ok(()),
            (Phase::Stopped, _) => return illegal(&AFTER_END, format!("{kind} after message_stop")),
            (Phase::Failed(_), _) => return illegal(&AFTER_END, format!("{kind} after an error event")),
            (Phase::Before, "message_start" | "error") => {}
            (Phase::Before, _) => return illegal(&START_FIRST, format!("{kind} before message_start")),
            _ => {}
        }
        match kind {
            "message_start" => self.message_start(data.field("message")),
            "content_block_start" => self.block_start(data),
            "content_block_delta" => self.block_delta(data),
            "content_block_stop" => self.block_stop(data, warnings),
            "message_delta" => self.message_delta(data.field("delta"), warnings),
            "message_stop" => self.message_stop(),
            _ => {
                self.fail(data.field("error"), warnings);
                Ok(())
            }
        }
    }

    fn standing(&self) -> Standing {
        match &self.phase {
            Phase::Before => underway("message_start"),
            Phase::InBlock(block) => underway(format!("the stop of block {}", block.index)),
            Phase::BetweenBlocks => underway("message_delta"),
            Phase::AfterDelta => underway("message_stop"),
            Phase::Stopped => Standing::Complete,
            Phase::Failed(words) => Standing::Failed(words.clone()),
        }
    }
}

/// Returns the open block, if the event names it.
fn open_block<'p>(phase: &'p mut Phase, data: Json, what: &str) -> Result<&'p mut OpenBlock, BrokenRule> {
    let index = data.field("index").as_u64();
    let (is_it, open) = match phase {
        Phase::InBlock(block) => (Some(block.index) == index, format!("block {} is open", block.index)),
        _ => (false, "no block is open".to_owned()),
    };
    match phase {
        Phase::InBlock(block) if is_it => Ok(block),
        _ => {
            let message = format!("{what} for block {}, but {open}", index_text(data.field("index")));
            Err(BrokenRule { rule: &NOT_STARTED, message })
        }
    }
}

fn index_text(index: Json) -> String {
    match index.as_u64() {
        Some(index) => index.to_string(),
        None => "without a number".to_owned(),
    }
}
