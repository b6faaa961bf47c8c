//! Bedrock `ConverseStream`: `messageStart`, blocks, `messageStop`, `metadata`, as binary frames.
//!
//! `contentBlockStart` opens a block with a call. The first delta opens a block with text or reasoning.

use std::collections::{BTreeMap, BTreeSet};

use crate::json::Json;
use crate::streams::{
    Arguments, Common, EventKind, Machine, Room, Standing, StreamEvent, Verdict, Warnings, error_in_words,
    illegal, quoted, stream_rules, text, underway,
};

const DOCS: &str = "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html";
const GUIDE: &str = "https://docs.aws.amazon.com/bedrock/latest/userguide/conversation-inference-call.html";
const FRAMES: &str = "https://smithy.io/2.0/aws/amazon-eventstream.html";

stream_rules! { "bedrock-converse";
    error UNREADABLE = "unreadable",
        "the lengths and checksums of each frame are right, its headers name its type, and its payload is a JSON object", FRAMES;
    error START_FIRST = "message-start-first", "messageStart comes before everything", GUIDE;
    error START_REPEATED = "message-start-repeated", "messageStart comes once", GUIDE;
    error NO_INDEX = "block-without-index", "events of a block have its contentBlockIndex", DOCS;
    error REPEATED = "block-repeated",
        "a block starts once, before its deltas, and nothing of it comes after its stop", GUIDE;
    warning GAP = "block-index-gap", "the indexes of the blocks are 0, 1, 2 and so on", GUIDE;
    warning INTERLEAVED = "blocks-interleaved", "a block begins after the block before it has stopped", GUIDE;
    error NOT_STARTED = "call-not-started",
        "the input of a call comes after the contentBlockStart of its block", GUIDE;
    error CALL_NAMELESS = "tool-use-nameless", "the start of a call has its toolUseId and its name", DOCS;
    error DELTA_TYPE = "delta-type", "all deltas of a block are of the type of the block", DOCS;
    warning INPUT = "input-not-json",
        "the input of a stopped call is nothing or a JSON object, unless the reply was cut off", GUIDE;
    error STILL_OPEN = "block-still-open", "messageStop comes after the last block has stopped", GUIDE;
    error STOP_REASON = "stop-reason-missing", "messageStop has the stopReason", DOCS;
    error METADATA_EARLY = "metadata-early", "metadata comes after messageStop", GUIDE;
    warning METADATA_MISSING = "metadata-missing", "metadata follows messageStop", GUIDE;
    error AFTER_END = "after-end",
        "only metadata comes after messageStop, and nothing after metadata or an exception", GUIDE;
    error TRUNCATED = "truncated",
        "a stream ends after messageStop, or with an exception, and never inside a frame", DOCS;
}

static COMMON: Common = Common { truncated: &TRUNCATED, unreadable: &UNREADABLE, unended: None, stray: None };

/// The events in this grammar. Others pass.
const KNOWN: [&str; 6] =
    ["messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", "metadata"];

/// Stop reasons for replies that may end in the middle of a call.
const CUT_OFF: [&str; 6] = [
    "max_tokens",
    "guardrail_intervened",
    "content_filtered",
    "malformed_model_output",
    "malformed_tool_use",
    "model_context_window_exceeded",
];

#[derive(Debug)]
pub(super) struct Converse {
    phase: Phase,
    /// Blocks by index. `None` for blocks that have stopped.
    blocks: BTreeMap<u64, Option<OpenBlock>>,
    /// Indexes of the blocks that have not stopped.
    open: BTreeSet<u64>,
    broken_input: Option<u64>,
    room: Room,
}

#[derive(Debug)]
enum Phase {
    Before,
    Blocks,
    Stopped,
    Ended,
    Failed(String),
}

#[derive(Debug)]
struct OpenBlock {
    kind: OpenBlockKind,
    input: Arguments,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OpenBlockKind {
    /// Text, or its citations.
    Text,
    Reasoning,
    ToolUse,
    /// Of an unknown kind, or not known yet.
    Unknown,
}

impl OpenBlockKind {
    fn of_delta(delta: Json) -> OpenBlockKind {
        let has = |field: &str| delta.get(field).is_some_and(|value| !value.is_null());
        match () {
            () if has("text") || has("citation") => OpenBlockKind::Text,
            () if has("reasoningContent") => OpenBlockKind::Reasoning,
            () if has("toolUse") => OpenBlockKind::ToolUse,
            () => OpenBlockKind::Unknown,
        }
    }
}

impl Converse {
    pub(super) fn new() -> Converse {
        Converse {
            phase: Phase::Before,
            blocks: BTreeMap::new(),
            open: BTreeSet::new(),
            broken_input: None,
            room: Room::new(),
        }
    }

    /// Opens a new block.
    fn open(&mut self, index: u64, kind: OpenBlockKind, warnings: &mut Warnings) {
        let n_blocks = self.blocks.len() as u64;
        if index != n_blocks {
            warnings.add(&GAP, format!("block {index} begins, expected block {n_blocks}"));
        }
        if let Some(open) = self.open.last() {
            warnings.add(&INTERLEAVED, format!("block {index} begins while block {open} is open"));
        }
        if self.room.track() {
            self.blocks.insert(index, Some(OpenBlock { kind, input: Arguments::default() }));
            self.open.insert(index);
        }
    }

    fn block_start(&mut self, index: u64, start: Json, warnings: &mut Warnings) -> Verdict {
        if self.blocks.contains_key(&index) {
            return illegal(&REPEATED, format!("block {index} starts, but has begun already"));
        }
        let call = start.field("toolUse");
        let kind = if call.is_object() { OpenBlockKind::ToolUse } else { OpenBlockKind::Unknown };
        if kind == OpenBlockKind::ToolUse
            && (text(call.field("toolUseId")).is_none() || text(call.field("name")).is_none())
        {
            return illegal(&CALL_NAMELESS, format!("block {index} starts a call without an id or a name"));
        }
        self.open(index, kind, warnings);
        Ok(())
    }

    fn block_delta(&mut self, index: u64, delta: Json, warnings: &mut Warnings) -> Verdict {
        let kind = OpenBlockKind::of_delta(delta);
        if !self.blocks.contains_key(&index) {
            if kind == OpenBlockKind::ToolUse {
                return illegal(
                    &NOT_STARTED,
                    format!("the input of a call in block {index}, which has not started"),
                );
            }
            self.open(index, kind, warnings);
            return Ok(());
        }
        match self.blocks.get_mut(&index) {
            Some(Some(block)) => {
                if block.kind == OpenBlockKind::Unknown {
                    block.kind = kind;
                }
                if kind != OpenBlockKind::Unknown && kind != block.kind {
                    return illegal(&DELTA_TYPE, format!("a delta of another type than block {index}"));
                }
                if let Some(piece) = text(delta.field("toolUse").field("input")) {
                    block.input.push(&piece, &mut self.room);
                }
                Ok(())
            }
            _ => illegal(&REPEATED, format!("a delta of block {index}, which has stopped")),
        }
    }

    fn block_stop(&mut self, index: u64, warnings: &mut Warnings) -> Verdict {
        // A block without deltas has only its stop event.
        if !self.blocks.contains_key(&index) {
            self.open(index, OpenBlockKind::Unknown, warnings);
        }
        self.open.remove(&index);
        match self.blocks.get_mut(&index).and_then(Option::take) {
            Some(block) => {
                if block.input.are_broken() {
                    self.broken_input.get_or_insert(index);
                }
                Ok(())
            }
            None => illegal(&REPEATED, format!("block {index} stops a second time")),
        }
    }

    fn message_stop(&mut self, data: Json, warnings: &mut Warnings) -> Verdict {
        if let Some(open) = self.open.last() {
            return illegal(&STILL_OPEN, format!("messageStop while block {open} is open"));
        }
        let Some(reason) = text(data.field("stopReason")) else {
            return illegal(&STOP_REASON, "messageStop without a stopReason");
        };
        if let Some(index) = self.broken_input
            && !CUT_OFF.contains(&&*reason)
        {
            let message = format!(
                "the input of block {index} is not a JSON object, and the stop reason is {}",
                quoted(&reason)
            );
            warnings.add(&INPUT, message);
        }
        self.phase = Phase::Stopped;
        Ok(())
    }
}

impl Machine for Converse {
    fn common(&self) -> &'static Common {
        &COMMON
    }

    fn step(&mut self, event: &StreamEvent<'_>, warnings: &mut Warnings) -> Verdict {
        let name = event.name;
        let is_exception = event.kind == EventKind::Exception;
        if !is_exception && !KNOWN.contains(&name) {
            return Ok(());
        }
        match (&self.phase, name) {
            (Phase::Failed(_), _) => {
                return illegal(&AFTER_END, format!("{} after an exception", quoted(name)));
            }
            (Phase::Ended, _) => return illegal(&AFTER_END, format!("{} after metadata", quoted(name))),
            (_, _) if is_exception => {
                let data = event.object(&UNREADABLE).ok();
                let message = data.as_ref().and_then(|data| text(data.root().field("message")));
                self.phase = Phase::Failed(error_in_words(Some(name.into()), message));
                return Ok(());
            }
            (Phase::Stopped, "metadata") => {}
            (Phase::Stopped, _) => return illegal(&AFTER_END, format!("{name} after messageStop")),
            (Phase::Before, "messageStart") => {}
            (Phase::Before, _) => return illegal(&START_FIRST, format!("{name} before messageStart")),
            (Phase::Blocks, "messageStart") => return illegal(&START_REPEATED, "a second messageStart"),
            (Phase::Blocks, "metadata") => return illegal(&METADATA_EARLY, "metadata before messageStop"),
            (Phase::Blocks, _) => {}
        }
        let document = event.object(&UNREADABLE)?;
        let data = document.root();
        match name {
            "messageStart" => self.phase = Phase::Blocks,
            "metadata" => self.phase = Phase::Ended,
            "messageStop" => return self.message_stop(data, warnings),
            _ => {
                let Some(index) = data.field("contentBlockIndex").as_u64() else {
                    return illegal(&NO_INDEX, format!("{name} without a contentBlockIndex"));
                };
                if self.room.is_full() && !self.blocks.contains_key(&index) {
                    return Ok(());
                }
                return match name {
                    "contentBlockStart" => self.block_start(index, data.field("start"), warnings),
                    "contentBlockDelta" => self.block_delta(index, data.field("delta"), warnings),
                    _ => self.block_stop(index, warnings),
                };
            }
        }
        Ok(())
    }

    fn standing(&self) -> Standing {
        match &self.phase {
            Phase::Before => underway("messageStart"),
            Phase::Blocks => underway(match self.open.last() {
                Some(open) => format!("the stop of block {open}"),
                None => "messageStop".to_owned(),
            }),
            Phase::Stopped | Phase::Ended => Standing::Complete,
            Phase::Failed(words) => Standing::Failed(words.clone()),
        }
    }

    fn end(&self, warnings: &mut Warnings) {
        if matches!(self.phase, Phase::Stopped) {
            warnings.add(&METADATA_MISSING, "no metadata after messageStop");
        }
    }
}
