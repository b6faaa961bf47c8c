//! Bedrock Converse: the rules, and the order in which they are checked.
//!
//! The constraints of the service's model come first, then what Converse asks of every conversation, then what the
//! model itself refuses. Messages are not merged: their roles must alternate.

mod claude;
mod pairing;
mod schema;
mod table;

use serde_json::Value;

use super::judge::{Book, Judge};
use super::profile::{ModelVersion, Profile};
use super::violation::{Breach, Breaches};
use super::{Keeps, Memory, Rule, Told};
use crate::json::Json;
use claude::Claude;
use pairing::Pairing;

pub(super) use table::*;

/// The rules of Bedrock Converse.
pub(super) struct BedrockConverse;

impl Book for BedrockConverse {
    fn rules(&self) -> &'static [&'static Rule] {
        RULES
    }

    fn list(&self) -> &'static str {
        "messages"
    }

    fn bare(&self) -> &'static [u8] {
        br#"{"messages":[],"toolConfig":{"tools":[{"systemTool":{"name":"any"}}]}}"#
    }

    fn judge<'a>(&self, _: &'static Profile, memory: &'a Memory) -> Box<dyn Judge<'a> + 'a> {
        Box::new(Request {
            model: None,
            starts_with_assistant: false,
            pairing: Pairing::default(),
            claude: Claude::new(memory),
        })
    }

    fn keeps(&self, _: Json) -> Keeps {
        Keeps::Thinking
    }

    /// A reply that was broken off may have been heard up to the end of any block.
    fn remember(&self, memory: &mut Memory, _: Json, reply: &Value, _: Told) {
        let content = reply["output"]["message"]["content"].as_array();
        let thoughts = content.map(Vec::as_slice).unwrap_or_default().iter().filter_map(|block| {
            let thought = &block["reasoningContent"]["reasoningText"];
            Some((thought["signature"].as_str()?, thought["text"].as_str().unwrap_or_default()))
        });
        memory.thoughts.add(None, None, thoughts);
    }

    fn refuse_unreadable(&self, _: &[u8], _: &serde_json::Error, out: &mut Breaches) {
        out.add(&BODY_NOT_JSON, || Breach::at(""));
    }
}

/// A request that is being judged.
struct Request<'a> {
    model: Option<Model>,
    starts_with_assistant: bool,
    pairing: Pairing<'a>,
    claude: Claude<'a>,
}

impl<'a> Judge<'a> for Request<'a> {
    fn model(&mut self, model: &str) {
        self.model = Some(Model::of(model));
    }

    fn message(&mut self, n: usize, message: Json<'_, 'a>, out: &mut Breaches) {
        let role = Role::of(message);
        self.starts_with_assistant |= n == 0 && role == Some(Role::Assistant);
        schema::check_message(n, message, out);
        self.pairing.message(n, role, message, out);
        self.claude.message(n, role, message);
    }

    fn finish(&mut self, body: Json<'_, 'a>, n_messages: Option<usize>, out: &mut Breaches) {
        // The path names the model. Only a request in the words of an SDK has it beside the messages.
        let named = body.field("modelId").as_str();
        let model = self.model.or(named.as_deref().map(Model::of)).unwrap_or(Model::Unknown);
        schema::check_body(body, n_messages, out);
        self.check_beginning(body, n_messages, model, out);
        self.pairing.finish(body, out);
        if let Model::Claude(version) = model {
            self.claude.finish(body, version, out);
        }
    }
}

impl Request<'_> {
    fn check_beginning(&self, body: Json, n_messages: Option<usize>, model: Model, out: &mut Breaches) {
        let is_list = n_messages.is_some() || body.field("messages").is_null();
        if !body.is_object() || !is_list {
            return;
        }
        if n_messages.unwrap_or(0) == 0 {
            // With a prompt of Bedrock's own prompt management the messages are optional.
            if body.field("promptVariables").is_null() {
                let pointer = if n_messages.is_some() { "/messages" } else { "" };
                out.add(&FIRST_MESSAGE_NOT_USER, || Breach::at(pointer));
            }
        } else if self.starts_with_assistant {
            let breach = || Breach::at("/messages/0");
            match model {
                // A recorded answer of Claude Sonnet 4.5 shows that its conversation may begin with the assistant.
                Model::Claude(_) => {}
                Model::Unknown => out.warn(&FIRST_MESSAGE_NOT_USER, breach),
                Model::Other => out.add(&FIRST_MESSAGE_NOT_USER, breach),
            }
        }
    }
}

/// Who made the model that is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Model {
    /// Anthropic; the version is what could be read of it.
    Claude(Option<ModelVersion>),
    /// Somebody else.
    Other,
    /// An inference profile, or a name that says nothing.
    Unknown,
}

impl Model {
    /// Reads an id such as `us.amazon.nova-pro-v1:0`, or the ARN of a model or of an inference profile.
    fn of(id: &str) -> Model {
        let name = id.rsplit(['/']).next().unwrap_or(id);
        match () {
            () if name.contains("anthropic.") => Model::Claude(ModelVersion::of_claude(name)),
            () if name.contains('.') => Model::Other,
            () => Model::Unknown,
        }
    }
}

/// Who says a message. A missing or unknown role, which the schema check reports, is `None`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    User,
    Assistant,
}

impl Role {
    fn of(message: Json) -> Option<Role> {
        match message.field("role").as_str()?.as_ref() {
            "user" => Some(Role::User),
            "assistant" => Some(Role::Assistant),
            _ => None,
        }
    }
}

/// What a block is, as far as the rules care.
#[derive(Debug, Clone, Copy)]
enum Block<'t, 'a> {
    Text(Json<'t, 'a>),
    ToolUse(Json<'t, 'a>),
    ToolResult(Json<'t, 'a>),
    /// What the model thought.
    Reasoning(Json<'t, 'a>),
    /// A call or a result of a tool that the model runs itself. Both stand in the same message.
    Server,
    /// A mark, which is no content.
    CachePoint,
    /// Images, documents, malformed blocks, and kinds that we do not know.
    Other,
}

impl<'t, 'a> Block<'t, 'a> {
    fn of(block: Json<'t, 'a>) -> Block<'t, 'a> {
        let (text, call, result) = (block.field("text"), block.field("toolUse"), block.field("toolResult"));
        match () {
            () if text.is_str() => Block::Text(text),
            // Tools of the model have a field `type`, such as `server_tool_use`.
            () if call.get("type").is_some() || result.get("type").is_some() => Block::Server,
            () if call.is_object() => Block::ToolUse(call),
            () if result.is_object() => Block::ToolResult(result),
            () if block.get("reasoningContent").is_some() => {
                Block::Reasoning(block.field("reasoningContent"))
            }
            () if block.get("cachePoint").is_some() => Block::CachePoint,
            () => Block::Other,
        }
    }
}

/// The blocks of a message.
fn blocks<'t, 'a>(message: Json<'t, 'a>) -> impl Iterator<Item = Block<'t, 'a>> {
    message.field("content").items().map(Block::of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_maker_of_a_model_is_read_from_its_id() {
        let version = |major, minor| Model::Claude(Some(ModelVersion { major, minor }));
        assert_eq!(Model::of("us.anthropic.claude-sonnet-4-5-20250929-v1:0"), version(4, 5));
        assert_eq!(Model::of("us.anthropic.claude-sonnet-4-6"), version(4, 6));
        assert_eq!(Model::of("anthropic.claude-v2"), Model::Claude(None));
        assert_eq!(Model::of("us.amazon.nova-pro-v1:0"), Model::Other);
        assert_eq!(
            Model::of("arn:aws:bedrock:us-east-1::foundation-model/anthropic.claude-3-haiku-20240307-v1:0"),
            version(3, 0)
        );
        assert_eq!(
            Model::of("arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/x1"),
            Model::Unknown
        );
        assert_eq!(Model::of("m"), Model::Unknown);
    }
}
