//! A conversation as the request body of a dialect.

use serde_json::{Map, Value, json};

use super::{Block, CallResult, Image, Message, Role};
use crate::Dialect;

/// A request body, and the position of each conversation block in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Rendered {
    /// The body: the model if known, the called tools, and the conversation.
    pub body: Value,
    /// For each block in the body, its JSON pointer, its message, and its index there, in body order.
    pub blocks: Vec<(String, usize, usize)>,
}

impl Rendered {
    /// The block at a pointer into the body: the block that contains the pointer's target, or otherwise the
    /// first block inside it.
    pub fn block_at(&self, pointer: &str) -> Option<(usize, usize)> {
        let is_under = |inner: &str, outer: &str| {
            inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let holding =
            self.blocks.iter().filter(|(at, ..)| is_under(pointer, at)).max_by_key(|(at, ..)| at.len());
        let found = holding.or_else(|| self.blocks.iter().find(|(at, ..)| is_under(at, pointer)));
        found.map(|&(_, message, block)| (message, block))
    }
}

/// The request body that a client of this dialect sends for a conversation.
///
/// Messages are written unchanged: an empty one stays empty, and a call without a result stays without one. Consecutive
/// messages with the same role are joined in the dialects whose clients do that (Anthropic, Bedrock, Gemini).
pub fn render(dialect: Dialect, model: Option<&str>, messages: &[Message]) -> Rendered {
    let mut writer = Writer { dialect, entries: Vec::new(), blocks: Vec::new() };
    let mut around = Map::new();
    if let Some(model) = model {
        around.insert("model".to_owned(), json!(model));
    }
    (dialect.codec().write)(&mut writer, &mut around, messages);
    around.insert(dialect.definition().list.to_owned(), Value::Array(writer.entries));
    Rendered { body: Value::Object(around), blocks: writer.blocks }
}

/// Writes the list of messages.
#[derive(Debug)]
pub(crate) struct Writer {
    pub(crate) dialect: Dialect,
    entries: Vec<Value>,
    blocks: Vec<(String, usize, usize)>,
}

/// The form of a block in a dialect, if the dialect has one.
pub(crate) type Native = fn(&Block) -> Option<Value>;

/// The block being written: its message, and its index there.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Source {
    pub(crate) message: usize,
    pub(crate) block: usize,
}

impl Writer {
    /// The index of the next entry in the list.
    pub(crate) fn next(&self) -> String {
        format!("/{}/{}", self.dialect.definition().list, self.entries.len())
    }

    pub(crate) fn push(&mut self, entry: Value) {
        self.entries.push(entry);
    }

    pub(crate) fn note(&mut self, pointer: String, source: Source) {
        self.blocks.push((pointer, source.message, source.block));
    }

    /// Writes a message with its blocks under this key. Blocks without a native form are left out.
    pub(crate) fn push_message(
        &mut self,
        role: &str,
        key: &str,
        blocks: &[(Source, &Block)],
        native: Native,
    ) {
        let at = self.next();
        let mut content = Vec::new();
        for (source, block) in blocks {
            if let Some(value) = native(block) {
                self.note(format!("{at}/{key}/{}", content.len()), *source);
                content.push(value);
            }
        }
        self.push(json!({ "role": role, (key): content }));
    }

    /// Writes the turns of a dialect with the roles `assistant` and `user`, the results of a turn first.
    pub(crate) fn push_turns(&mut self, messages: &[Message], native: Native) {
        for (role, mut blocks) in turns(messages, native) {
            let is_reply = role == Role::Assistant;
            if !is_reply {
                blocks.sort_by_key(|(_, block)| !matches!(block, Block::Result(_)));
            }
            self.push_message(if is_reply { "assistant" } else { "user" }, "content", &blocks, native);
        }
    }
}

/// Runs of messages that a dialect writes as one entry.
///
/// Results and user text share the role `user` there. A message with only blocks that the dialect cannot represent,
/// such as thinking without a signature, is left out. An empty message stays.
pub(crate) fn turns(messages: &[Message], native: Native) -> Vec<(Role, Vec<(Source, &Block)>)> {
    let mut turns: Vec<(Role, Vec<(Source, &Block)>)> = Vec::new();
    let is_sent = |block: &Block| native(block).is_some();
    let says_nothing = |message: &Message| !message.blocks.is_empty() && !message.blocks.iter().any(is_sent);
    for (n_message, message) in messages.iter().enumerate() {
        let role = match message.role {
            _ if says_nothing(message) => continue,
            Role::System => continue,
            Role::Tool => Role::User,
            role => role,
        };
        let blocks = message.blocks.iter().enumerate();
        let blocks = blocks.map(|(block, value)| (Source { message: n_message, block }, value));
        match turns.last_mut() {
            Some((last, before)) if *last == role => before.extend(blocks),
            _ => turns.push((role, blocks.collect())),
        }
    }
    turns
}

/// The instructions, one after another.
pub(crate) fn instructions(messages: &[Message]) -> Option<String> {
    let system = messages.iter().filter(|message| message.role == Role::System);
    let texts: Vec<&str> = system.flat_map(|message| message.blocks.iter().filter_map(words)).collect();
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}

fn words(block: &Block) -> Option<&str> {
    match block {
        Block::Text(text) => Some(text),
        _ => None,
    }
}

/// Arguments for a dialect that requires an object. Text that is not JSON stays text.
pub(crate) fn object(arguments: &str) -> Value {
    match serde_json::from_str(arguments) {
        Ok(value) => value,
        Err(_) if arguments.is_empty() => json!({}),
        Err(_) => json!(arguments),
    }
}

/// The text of a result, for a dialect without blocks in results.
pub(crate) fn text_of(result: &CallResult) -> String {
    let text = result.text();
    match result.is_error && text.is_empty() {
        true => "error".to_owned(),
        false => text,
    }
}

pub(crate) fn data_url(image: &Image) -> String {
    format!("data:{};base64,{}", image.media_type, image.data)
}

/// The tools that the history calls, because some providers reject calls of tools that are not offered.
pub(crate) fn tool_names(messages: &[Message]) -> Vec<&str> {
    let mut names = Vec::new();
    for block in messages.iter().flat_map(|message| &message.blocks) {
        if let Block::Call(call) = block
            && !names.contains(&call.name.as_str())
        {
            names.push(call.name.as_str());
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::super::{Call, Thinking};
    use super::*;

    fn said(role: Role, blocks: Vec<Block>) -> Message {
        Message { role, blocks }
    }

    fn thinking(signature: Option<&str>, id: Option<&str>) -> Block {
        let owned = |text: &str| text.to_owned();
        Block::Thinking(Thinking { text: owned("Hm."), signature: signature.map(owned), id: id.map(owned) })
    }

    fn result(output: Vec<Block>, is_error: bool) -> Block {
        Block::Result(CallResult { is_error, ..CallResult::new("call_1", "f", output) })
    }

    fn errors(dialect: Dialect, body: &Value) -> usize {
        let violations = crate::validate_value(crate::Profile::newest(dialect), body);
        violations.iter().filter(|violation| violation.severity == crate::Severity::Error).count()
    }

    #[test]
    fn a_message_of_which_nothing_can_be_sent_parts_no_turn() {
        let unsigned = said(Role::Assistant, vec![thinking(None, None)]);
        let user = || Message::text(Role::User, "Hello.");
        for dialect in [Dialect::AnthropicMessages, Dialect::BedrockConverse] {
            let rendered = render(dialect, None, &[user(), unsigned.clone(), user()]);
            assert_eq!(rendered.body["messages"].as_array().map(Vec::len), Some(1), "{dialect}");
            assert_eq!(errors(dialect, &rendered.body), 0, "{dialect}");
            assert_eq!(rendered.block_at("/messages/0/content/1"), Some((2, 0)));
        }
        let empty = said(Role::Assistant, Vec::new());
        let rendered = render(Dialect::AnthropicMessages, None, &[user(), empty, user()]);
        assert_eq!(rendered.body["messages"].as_array().map(Vec::len), Some(3), "what is empty stays");
        let foreign = Block::Native { dialect: Dialect::Gemini, value: json!({ "fileData": {} }) };
        let rendered = render(Dialect::OpenaiChat, None, &[user(), said(Role::User, vec![foreign])]);
        assert_eq!(rendered.body["messages"].as_array().map(Vec::len), Some(1));
    }

    #[test]
    fn an_error_without_a_word_says_in_converse_that_it_is_one() {
        let call = Call::new("call_1", "f", "");
        let messages = [
            Message::text(Role::User, "Hello."),
            said(Role::Assistant, vec![Block::Call(call)]),
            said(Role::Tool, vec![result(Vec::new(), true)]),
        ];
        let rendered = render(Dialect::BedrockConverse, None, &messages);
        let content = rendered.body.pointer("/messages/2/content/0/toolResult/content");
        assert_eq!(content, Some(&json!([{ "text": "error" }])));
        assert_eq!(errors(Dialect::BedrockConverse, &rendered.body), 0);
    }

    #[test]
    fn encrypted_reasoning_is_sent_back_to_a_provider_that_stores_nothing() {
        let reply = |thought| [Message::text(Role::User, "Hello."), said(Role::Assistant, vec![thought])];
        let body = |thought| render(Dialect::OpenaiResponses, None, &reply(thought)).body;
        assert_eq!(body(thinking(Some("gAAA"), Some("rs_1"))).get("store"), Some(&json!(false)));
        assert_eq!(body(thinking(None, Some("rs_1"))).get("store"), None);
        assert_eq!(body(thinking(Some("EqAB"), None)).get("store"), None, "thinking of another provider");
        let item = body(thinking(Some("gAAA"), Some("rs_1")))["input"][1].clone();
        assert_eq!(item["summary"], json!([{ "type": "summary_text", "text": "Hm." }]));
    }

    #[test]
    fn a_picture_in_a_result_reaches_responses() {
        let picture = Image { media_type: "image/png".to_owned(), data: "AAAA".to_owned() };
        let shown = result(vec![Block::Text("Look.".to_owned()), Block::Image(picture)], false);
        let output = |result| {
            let rendered = render(Dialect::OpenaiResponses, None, &[said(Role::Tool, vec![result])]);
            rendered.body["input"][0]["output"].clone()
        };
        assert_eq!(
            output(shown)[1],
            json!({ "type": "input_image", "image_url": "data:image/png;base64,AAAA" })
        );
        assert_eq!(output(result(vec![Block::Text("Look.".to_owned())], false)), json!("Look."));
    }
}
