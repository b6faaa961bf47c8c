//! Bedrock Converse: the rules and their order.
//!
//! The constraints in the service model come first, then Converse's requirements for every
//! conversation, then the model's. Messages are not merged.

mod block;
mod claude;
mod conversation;
mod mixture;
mod pairing;
mod profiles;
mod schema;
mod stream;

use std::borrow::Cow;

use serde_json::Value;

use super::{Checker, Definition, Switches};
use crate::json::Json;
use crate::streams::Framing;
use crate::{
    Ability, Delivery, Memory, ModelVersion, Occurrence, Profile, Retention, Rule, Violations, ability_of,
};
use block::{BlockFields, ConverseBlock, ConverseKind, ConverseMessage, ConverseRole};
use claude::Claude;
use mixture::Mixture;
use pairing::ConversePairing;
use profiles::BedrockSwitches;

pub(super) static DEFINITION: Definition = Definition {
    name: "bedrock-converse",
    rules: RULES,
    profiles: &profiles::PROFILES,
    path_ends: &["/converse", "/converse-stream"],
    only_host: None,
    model_field: "modelId",
    model_of_path: Some(model_of_path),
    list: "messages",
    codec: &conversation::CODEC,
    bare: br#"{"messages":[],"toolConfig":{"tools":[{"systemTool":{"name":"any"}}]}}"#,
    refuse_unreadable: |_, _, out| out.add(&BODY_NOT_JSON, || Occurrence::at("")),
    keeps: |_| Retention::Thinking,
    remember,
    stream_rules: stream::RULES,
    tolerated_of_relatives: &[],
    framing: Framing::Frames,
    machine: || Box::new(stream::Converse::new()),
};

/// If a reply broke off, the client may have received it up to the end of any block.
/// `/model/MODEL/method`, where the model may be an ARN with slashes.
fn model_of_path(path: &str) -> Option<&str> {
    let (model, _) = path.split_once("/model/")?.1.rsplit_once('/')?;
    Some(model)
}

fn remember(memory: &mut Memory, _: Json, reply: &Value, _: Delivery) {
    let content = reply["output"]["message"]["content"].as_array();
    let thoughts = content.map(Vec::as_slice).unwrap_or_default().iter().filter_map(|block| {
        let thought = &block["reasoningContent"]["reasoningText"];
        Some((thought["signature"].as_str()?, thought["text"].as_str().unwrap_or_default()))
    });
    memory.thoughts.add(None, None, thoughts);
}

impl Switches for BedrockSwitches {
    fn checker<'a>(
        &'static self,
        profile: &'static Profile,
        memory: &'a Memory,
    ) -> Box<dyn Checker<'a> + 'a> {
        Box::new(ConverseChecker {
            profile,
            model: None,
            starts_with_assistant: false,
            blocks: Vec::new(),
            pairing: ConversePairing::default(),
            mixture: Mixture::default(),
            claude: Claude::new(memory),
        })
    }
}

struct ConverseChecker<'a> {
    profile: &'static Profile,
    /// The model in the path.
    model: Option<&'a str>,
    starts_with_assistant: bool,
    /// The blocks of the current message. The allocation is reused for the next one.
    blocks: Vec<ConverseBlock>,
    pairing: ConversePairing<'a>,
    mixture: Mixture,
    claude: Claude<'a>,
}

impl<'a> Checker<'a> for ConverseChecker<'a> {
    fn model(&mut self, model: &'a str) {
        self.model = Some(model);
    }

    fn message(&mut self, n: usize, message: Json<'_, 'a>, out: &mut Violations) {
        let message = ConverseMessage::of(n, message);
        self.starts_with_assistant |= n == 0 && message.role == Some(ConverseRole::Assistant);
        schema::check_message(message, out);
        self.blocks.clear();
        for (b, block) in message.content.map(Json::items).unwrap_or_default().enumerate() {
            let block = BlockFields::read(block);
            schema::check_block(n, b, &block, out);
            self.blocks.push(block.block(message.role));
        }
        let message = ConverseMessage { blocks: &self.blocks, ..message };
        self.pairing.message(message, out);
        self.mixture.message(message, out);
        self.claude.message(message);
    }

    fn finish(&mut self, body: Json<'_, 'a>, n_messages: Option<usize>, out: &mut Violations) {
        // The path names the model. Only a request as an SDK writes it has the model next to the messages.
        let named = body.field(DEFINITION.model_field).as_str();
        let name = self.model.map(Cow::Borrowed).or(named);
        let served = Served { profile: self.profile, name: name.as_deref() };
        let model = served.name.map_or(Model::Unknown, Model::of);
        schema::check_body(body, n_messages, out);
        self.check_beginning(body, n_messages, model, out);
        self.pairing.finish(served, model, body, out);
        self.mixture.finish(served, model, out);
        if let Model::Claude(version) = model {
            self.claude.finish(body, served, version, out);
        }
    }
}

impl ConverseChecker<'_> {
    fn check_beginning(&self, body: Json, n_messages: Option<usize>, model: Model, out: &mut Violations) {
        let is_list = n_messages.is_some() || body.field("messages").is_null();
        if !body.is_object() || !is_list {
            return;
        }
        if n_messages.unwrap_or(0) == 0 {
            // With a prompt from Bedrock's prompt management, the messages are optional.
            if body.field("promptVariables").is_null() {
                let pointer = if n_messages.is_some() { "/messages" } else { "" };
                out.add(&FIRST_MESSAGE_NOT_USER, || Occurrence::at(pointer));
            }
        } else if self.starts_with_assistant {
            let violation = || Occurrence::at("/messages/0");
            match model {
                // Recorded replies of Claude 4.5 show that a conversation with it may begin with the
                // assistant.
                Model::Claude(_) => {}
                Model::Unknown => out.warn(&FIRST_MESSAGE_NOT_USER, violation),
                Model::Amazon | Model::Meta | Model::Other => out.add(&FIRST_MESSAGE_NOT_USER, violation),
            }
        }
    }
}

/// The model of a request; a table lists its abilities.
#[derive(Clone, Copy)]
struct Served<'m> {
    profile: &'static Profile,
    name: Option<&'m str>,
}

impl Served<'_> {
    fn has(self, ability: Ability) -> Option<bool> {
        ability_of(self.profile, self.name?, ability)
    }
}

/// The maker of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Model {
    /// Anthropic, with the version if the id shows it.
    Claude(Option<ModelVersion>),
    /// Amazon itself: Nova and Titan.
    Amazon,
    /// Meta: Llama.
    Meta,
    /// Another maker.
    Other,
    /// Unknown: an inference profile, or a name without a maker.
    Unknown,
}

impl Model {
    /// Reads an id such as `us.amazon.nova-pro-v1:0`, or the ARN of a model or an inference profile.
    fn of(id: &str) -> Model {
        let name = id.rsplit(['/']).next().unwrap_or(id);
        match () {
            () if name.contains("anthropic.") => Model::Claude(ModelVersion::of_claude(name)),
            () if name.contains("amazon.") => Model::Amazon,
            () if name.contains("meta.") => Model::Meta,
            () if name.contains('.') => Model::Other,
            () => Model::Unknown,
        }
    }
}

/// Every rule, in checking order.
static RULES: &[&Rule] = &[
    &BODY_NOT_JSON,
    &schema::REQUEST_SHAPE,
    &schema::BLOCK_WITHOUT_KEY,
    &schema::UNKNOWN_ROLE,
    &schema::TOOL_ID_PATTERN,
    &schema::TOOL_NAME_PATTERN,
    &schema::TOOLS_EMPTY,
    &schema::VALUE_NOT_OBJECT,
    &schema::MESSAGE_EMPTY,
    &schema::TEXT_BLANK,
    &schema::TOOL_RESULT_ERROR_EMPTY,
    &mixture::DOCUMENT_WITHOUT_TEXT,
    &mixture::INPUT_NOT_ENABLED,
    &FIRST_MESSAGE_NOT_USER,
    &pairing::TOOL_CONFIG_MISSING,
    &pairing::TOOL_USE_ID_DUPLICATE,
    &pairing::TOOL_RESULT_DUPLICATE,
    &pairing::TOOL_RESULTS_EXCEED,
    &pairing::TOOL_RESULT_MISSING,
    &pairing::ROLES_NOT_ALTERNATING,
    &mixture::MODEL_TEXT_BESIDE_TOOLS,
    &claude::MODEL_TOOL_ID_PATTERN,
    &claude::MODEL_TOOL_RESULT_MISSING,
    &claude::MODEL_TEXT_AFTER_TOOL_USE,
    &claude::MODEL_TOOL_RESULT_NOT_FIRST,
    &claude::MODEL_TOOL_RESULT_ERROR_NOT_TEXT,
    &claude::MODEL_TEXT_BLANK,
    &claude::MODEL_SIGNATURE_INVALID,
    &claude::MODEL_THINKING_MISSING,
    &claude::MODEL_THINKING_WITH_FORCED_TOOL,
    &claude::MODEL_TRAILING_SPACE,
    &claude::MODEL_PREFILL,
    &claude::MODEL_PREFILL_WITH_TOOLS,
];

/// InvokeModel answers such a body with "Malformed input request, please reformat your input and try
/// again." (<https://docs.aws.amazon.com/bedrock/latest/APIReference/CommonErrors.html>).
pub(crate) static BODY_NOT_JSON: Rule = Rule {
    summary: "The body is JSON.",
    why: "The bytes are not JSON. Write the body with a JSON library, and cut strings by code points.",
    sentences: &["Malformed input request, please reformat your input and try again."],
    sources: &[
        "https://docs.aws.amazon.com/bedrock/latest/APIReference/CommonErrors.html",
        "https://github.com/latitude-dev/latitude-llm/pull/3310",
    ],
    ..Rule::inferred("bedrock-converse/body-not-json", "BDR-BODY-1", 0, "2024-06")
};

pub(crate) static FIRST_MESSAGE_NOT_USER: Rule = Rule {
    summary: "There is a message, and the user speaks first; Claude takes a history that the assistant begins.",
    why: "The history is empty, often because a system prompt was all there was, or it begins with \
         an assistant message because trimming cut the user message before it. Begin with a user \
         message.",
    sentences: &["A conversation must start with a user message. Try again with a conversation that starts \
         with a user message."],
    sources: &[
        "https://github.com/pydantic/pydantic-ai/issues/4495",
        "https://github.com/elastic/kibana/pull/246393",
        "https://github.com/quarkiverse/quarkus-langchain4j/issues/1764",
    ],
    ..Rule::measured("bedrock-converse/first-message-not-user", "BDR-ROLE-1", 3, "2024-06")
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_maker_of_a_model_is_read_from_its_id() {
        let version = |major, minor| Model::Claude(Some(ModelVersion { major, minor }));
        assert_eq!(Model::of("us.anthropic.claude-sonnet-4-5-20250929-v1:0"), version(4, 5));
        assert_eq!(Model::of("us.anthropic.claude-sonnet-4-6"), version(4, 6));
        assert_eq!(Model::of("anthropic.claude-v2"), Model::Claude(None));
        assert_eq!(Model::of("us.amazon.nova-pro-v1:0"), Model::Amazon);
        assert_eq!(Model::of("us.meta.llama3-3-70b-instruct-v1:0"), Model::Meta);
        assert_eq!(Model::of("mistral.mistral-large-2407-v1:0"), Model::Other);
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
