//! A message and its blocks, each read in one pass over its fields.
//!
//! The checks read the same few fields repeatedly, and looking each one up again would cost more than
//! parsing the text did. Malformed values become variants that only the schema rules report.

use std::borrow::Cow;

use crate::json::{Json, Mark};

#[derive(Clone, Copy)]
pub(super) struct MessageParts<'t, 'a> {
    pub(super) json: Json<'t, 'a>,
    pub(super) role: Option<Json<'t, 'a>>,
    pub(super) content: Option<Json<'t, 'a>>,
    pub(super) has_output_config: bool,
    /// A key that the provider was seen to reject.
    pub(super) extra: Option<&'static str>,
}

/// One content block with its fields. A plain string counts as one text block, and an empty string as
/// none.
#[derive(Clone, Copy)]
pub(super) struct ContentBlock<'t, 'a> {
    pub(super) place: BlockPosition,
    pub(super) json: Json<'t, 'a>,
    pub(super) kind: BlockKind,
    fields: [Mark; N_FIELDS],
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Field {
    Type,
    Text,
    Id,
    Name,
    Input,
    ToolUseId,
    Content,
    Thinking,
    Signature,
    CacheControl,
    IsError,
}

const N_FIELDS: usize = 11;

impl Field {
    #[inline]
    fn of(name: &[u8]) -> Option<Field> {
        Some(match name {
            b"type" => Field::Type,
            b"text" => Field::Text,
            b"id" => Field::Id,
            b"name" => Field::Name,
            b"input" => Field::Input,
            b"tool_use_id" => Field::ToolUseId,
            b"content" => Field::Content,
            b"thinking" => Field::Thinking,
            b"signature" => Field::Signature,
            b"cache_control" => Field::CacheControl,
            b"is_error" => Field::IsError,
            _ => return None,
        })
    }
}

/// The position of a block in the array as sent. No text is long enough for an index above 32 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BlockPosition {
    pub(super) message: u32,
    /// The index in the content array, or [`PLAIN`] for a plain string.
    index: u32,
}

/// The index for a plain string.
const PLAIN: u32 = u32::MAX;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AnthropicRole {
    User,
    Assistant,
    System,
    /// A system message with an `output_config` and no content. It is accepted anywhere and adds no text.
    Directive,
    /// Missing or unknown. The schema check reports it.
    Unknown,
}

/// The kind of a block, as far as the rules need it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockKind {
    Text(Text),
    ToolUse,
    ToolResult,
    Thinking,
    RedactedThinking,
    /// A call of a server tool, which the provider runs itself.
    ServerUse,
    /// A call of a server tool through MCP. Its ids have another format.
    McpUse,
    /// The result of a server tool: `web_search_tool_result`, `mcp_tool_result` and others.
    ServerResult,
    /// Known client content that is neither text nor a tool: `image`, `document`.
    Attachment,
    /// Malformed, or an unknown type.
    Other,
}

/// The kind of a text, as far as the rules need it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Text {
    Empty,
    /// Only white space.
    Blank,
    /// Ends with white space.
    Ragged,
    Plain,
}

impl<'t, 'a> MessageParts<'t, 'a> {
    pub(super) fn read(json: Json<'t, 'a>) -> MessageParts<'t, 'a> {
        let mut message =
            MessageParts { json, role: None, content: None, has_output_config: false, extra: None };
        for (name, value) in json.fields() {
            match name.plain() {
                Some(name) => message.take(name, value),
                None => message.take(name.as_str().unwrap_or_default().as_bytes(), value),
            }
        }
        message
    }

    #[inline]
    fn take(&mut self, name: &[u8], value: Json<'t, 'a>) {
        match name {
            b"role" => self.role = Some(value),
            b"content" => self.content = Some(value),
            b"output_config" => self.has_output_config = true,
            b"id" => self.extra = Some("id"),
            b"name" => self.extra = self.extra.or(Some("name")),
            _ => {}
        }
    }

    pub(super) fn speaker(&self) -> AnthropicRole {
        let Some(role) = self.role else { return AnthropicRole::Unknown };
        if role.is("user") {
            AnthropicRole::User
        } else if role.is("assistant") {
            AnthropicRole::Assistant
        } else if role.is("system") {
            let is_nothing =
                |content: Json| content.is_empty_str() || (content.is_array() && content.is_empty());
            if self.content.is_some_and(is_nothing) && self.has_output_config {
                AnthropicRole::Directive
            } else {
                AnthropicRole::System
            }
        } else {
            AnthropicRole::Unknown
        }
    }

    pub(super) fn each_block(&self, n: usize, mut each: impl FnMut(&ContentBlock<'t, 'a>)) {
        let place = BlockPosition { message: n as u32, index: PLAIN };
        match self.content {
            Some(content) if content.is_array() => {
                for (b, json) in content.items().enumerate() {
                    each(&ContentBlock::read(BlockPosition { index: b as u32, ..place }, json));
                }
            }
            Some(text) if text.is_str() => match Text::of(text) {
                Text::Empty => {}
                kind => each(&ContentBlock::new(place, text, BlockKind::Text(kind))),
            },
            // The content is malformed, not empty, so the rules about emptiness must not report it too.
            _ => each(&ContentBlock::new(place, self.json, BlockKind::Other)),
        }
    }
}

impl<'t, 'a> ContentBlock<'t, 'a> {
    fn new(place: BlockPosition, json: Json<'t, 'a>, kind: BlockKind) -> ContentBlock<'t, 'a> {
        ContentBlock { place, json, kind, fields: [Mark::NOWHERE; N_FIELDS] }
    }

    fn read(place: BlockPosition, json: Json<'t, 'a>) -> ContentBlock<'t, 'a> {
        let mut block = ContentBlock::new(place, json, BlockKind::Other);
        for (name, value) in json.fields() {
            let field = match name.plain() {
                Some(name) => Field::of(name),
                None => Field::of(name.as_str().unwrap_or_default().as_bytes()),
            };
            let Some(field) = field else { continue };
            block.fields[field as usize] = value.mark();
        }
        block.kind = block.kind();
        block
    }

    /// Returns a field. If a name is repeated, the last field counts.
    #[inline]
    pub(super) fn get(&self, field: Field) -> Option<Json<'t, 'a>> {
        self.json.at(self.fields[field as usize])
    }

    pub(super) fn str(&self, field: Field) -> Option<Cow<'a, str>> {
        self.get(field)?.as_str()
    }

    fn kind(&self) -> BlockKind {
        match self.str(Field::Type).as_deref() {
            Some("text") => match self.get(Field::Text) {
                Some(text) if text.is_str() => BlockKind::Text(Text::of(text)),
                _ => BlockKind::Other,
            },
            Some("tool_use") => BlockKind::ToolUse,
            Some("tool_result") => BlockKind::ToolResult,
            Some("thinking") => BlockKind::Thinking,
            Some("redacted_thinking") => BlockKind::RedactedThinking,
            Some("server_tool_use") => BlockKind::ServerUse,
            Some("mcp_tool_use") => BlockKind::McpUse,
            Some("image" | "document") => BlockKind::Attachment,
            Some(name) if name.ends_with("_tool_result") => BlockKind::ServerResult,
            _ => BlockKind::Other,
        }
    }
}

impl Text {
    fn of(text: Json) -> Text {
        if text.is_empty_str() {
            Text::Empty
        } else if text.is_blank() {
            Text::Blank
        } else if text.ends_blank() {
            Text::Ragged
        } else {
            Text::Plain
        }
    }
}

impl BlockKind {
    pub(super) fn is_thought(self) -> bool {
        matches!(self, BlockKind::Thinking | BlockKind::RedactedThinking)
    }

    /// Returns the type of a block, if the provider was seen to name it in an error. Other types pass.
    pub(super) fn name(self) -> Option<&'static str> {
        match self {
            BlockKind::Text(_) => Some("text"),
            BlockKind::ToolUse => Some("tool_use"),
            _ => None,
        }
    }
}

impl BlockPosition {
    /// Returns the index in the content array, or `None` for a plain string.
    pub(super) fn index(self) -> Option<u32> {
        (self.index != PLAIN).then_some(self.index)
    }

    pub(super) fn pointer(self) -> String {
        match self.index() {
            Some(index) => format!("/messages/{}/content/{index}", self.message),
            None => format!("/messages/{}/content", self.message),
        }
    }

    /// Returns the path of the block as it appears in the provider's error messages:
    /// `messages.3.content.1`.
    pub(super) fn path(self) -> String {
        format!("messages.{}.content.{}", self.message, self.index().unwrap_or(0))
    }

    /// Returns whether the block is in a content array. A plain string is not.
    pub(super) fn is_written_out(self) -> bool {
        self.index != PLAIN
    }
}
