//! A light view of an Anthropic conversation: messages, their blocks, and the turns into which they merge.
//!
//! "Consecutive `user` or `assistant` turns in your request will be combined into a single turn"
//! (the official Python SDK, `types/message_create_params.py`), so the shape rules judge turns.
//! Every place stays named by its index in the array as it was sent.

use std::ops::Range;

use crate::json::Json;

/// A conversation, read leniently: whatever is malformed becomes something that no shape rule accuses.
pub(super) struct History<'a> {
    pub(super) messages: Vec<Message>,
    pub(super) blocks: Vec<Block<'a>>,
    pub(super) turns: Vec<Turn>,
}

/// One message of the array. Its place in [`History::messages`] is its index in the array.
pub(super) struct Message {
    pub(super) role: Role,
    pub(super) blocks: Range<usize>,
}

/// A run of messages with the same role, as the provider merges them.
pub(super) struct Turn {
    pub(super) role: Role,
    /// The index of the first message of the run.
    pub(super) first: usize,
    pub(super) blocks: Range<usize>,
}

/// One content block. A content that is a plain string is one text block; an empty string is none.
pub(super) struct Block<'a> {
    /// The index of the message.
    pub(super) message: usize,
    /// The index in the content array; `None` for a plain string.
    index: Option<usize>,
    pub(super) kind: Kind<'a>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    User,
    Assistant,
    System,
    /// A system message with no content and an `output_config`: it is accepted anywhere and says nothing.
    Directive,
    /// Missing or unknown; the schema check has said so.
    Unknown,
}

/// What a block is, as far as the rules care. A call and a result know their id, if it is a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind<'a> {
    Text(&'a str),
    ToolUse(Option<&'a str>),
    ToolResult(Option<&'a str>),
    /// `thinking` and `redacted_thinking`.
    Thinking,
    /// A tool that the provider runs itself: `server_tool_use`, `mcp_tool_use`.
    ServerUse,
    /// The result of such a tool: `web_search_tool_result`, `mcp_tool_result`, ….
    ServerResult,
    /// Known content of a client that is neither text nor a tool: `image`, `document`.
    Attachment,
    /// Malformed, or a type that we do not know.
    Other,
}

impl<'a> History<'a> {
    pub(super) fn read(array: &'a [Json<'a>]) -> Self {
        let mut history =
            History { messages: Vec::with_capacity(array.len()), blocks: Vec::new(), turns: Vec::new() };
        for (index, message) in array.iter().enumerate() {
            history.push(index, message);
        }
        history
    }

    /// The blocks of a turn.
    pub(super) fn blocks_of(&self, turn: &Turn) -> &[Block<'a>] {
        &self.blocks[turn.blocks.clone()]
    }

    fn push(&mut self, index: usize, message: &'a Json<'a>) {
        let start = self.blocks.len();
        match message.get("content") {
            Some(Json::String(text)) if text.is_empty() => {}
            Some(Json::String(text)) => {
                self.blocks.push(Block { message: index, index: None, kind: Kind::Text(text) });
            }
            Some(Json::Array(content)) => {
                let block = |(b, value)| Block { message: index, index: Some(b), kind: Kind::of(value) };
                self.blocks.extend(content.iter().enumerate().map(block));
            }
            // Malformed, not empty: the emptiness rules must not accuse it as well.
            _ => self.blocks.push(Block { message: index, index: None, kind: Kind::Other }),
        }
        let blocks = start..self.blocks.len();
        let role = Role::of(message, blocks.is_empty());
        self.messages.push(Message { role, blocks: blocks.clone() });
        match self.turns.last_mut() {
            _ if role == Role::Directive => {}
            Some(turn) if turn.role == role => turn.blocks.end = blocks.end,
            _ => self.turns.push(Turn { role, first: index, blocks }),
        }
    }
}

impl Role {
    fn of(message: &Json, is_empty: bool) -> Role {
        match message.get("role").and_then(Json::as_str) {
            Some("user") => Role::User,
            Some("assistant") => Role::Assistant,
            Some("system") if is_empty && message.get("output_config").is_some() => Role::Directive,
            Some("system") => Role::System,
            _ => Role::Unknown,
        }
    }
}

impl<'a> Kind<'a> {
    fn of(block: &'a Json<'a>) -> Kind<'a> {
        let field = |name| block.get(name).and_then(Json::as_str);
        match field("type") {
            Some("text") => field("text").map_or(Kind::Other, Kind::Text),
            Some("tool_use") => Kind::ToolUse(field("id")),
            Some("tool_result") => Kind::ToolResult(field("tool_use_id")),
            Some("thinking" | "redacted_thinking") => Kind::Thinking,
            Some("server_tool_use" | "mcp_tool_use") => Kind::ServerUse,
            Some("image" | "document") => Kind::Attachment,
            Some(name) if name.ends_with("_tool_result") => Kind::ServerResult,
            _ => Kind::Other,
        }
    }
}

impl Block<'_> {
    /// The JSON pointer to the block.
    pub(super) fn pointer(&self) -> String {
        match self.index {
            Some(index) => format!("/messages/{}/content/{index}", self.message),
            None => format!("/messages/{}/content", self.message),
        }
    }

    /// The block as the provider's sentences name it: `messages.3.content.1`.
    pub(super) fn path(&self) -> String {
        format!("messages.{}.content.{}", self.message, self.index.unwrap_or(0))
    }

    /// Whether the block stands in a content array, not in a plain string.
    pub(super) fn is_written_out(&self) -> bool {
        self.index.is_some()
    }
}
