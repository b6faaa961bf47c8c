//! Bedrock Converse: the rules, and the order in which they are checked.
//!
//! The constraints of the service's model come first, then what Converse asks of every conversation, then what the
//! model itself refuses. Messages are not merged: their roles must alternate.

mod block;
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
use block::{Block, Kind, Message, Role, Written};
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
            blocks: Vec::new(),
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
    /// The blocks of the message at hand; its room is used again for the next.
    blocks: Vec<Block>,
    pairing: Pairing<'a>,
    claude: Claude<'a>,
}

impl<'a> Judge<'a> for Request<'a> {
    fn model(&mut self, model: &str) {
        self.model = Some(Model::of(model));
    }

    fn message(&mut self, n: usize, message: Json<'_, 'a>, out: &mut Breaches) {
        let message = Message::of(n, message);
        self.starts_with_assistant |= n == 0 && message.role == Some(Role::Assistant);
        schema::check_message(message, out);
        self.blocks.clear();
        for (b, block) in message.content.map(Json::items).unwrap_or_default().enumerate() {
            let block = Written::read(block);
            schema::check_block(n, b, &block, out);
            self.blocks.push(block.block());
        }
        let message = Message { blocks: &self.blocks, ..message };
        self.pairing.message(message, out);
        self.claude.message(message);
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
