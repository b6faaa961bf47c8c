//! Which dialect a body or a bare list of messages is written in.

use crate::Dialect;
use crate::json::{self, Json, Part};

/// The dialect of a request body or of a bare list of messages, by the first thing that only one dialect has.
///
/// `None` means that it is no conversation, one that several dialects could have written, such as a lone user
/// message without a model name, or one of a dialect that is not known here. A message that several could have
/// written is passed over; the other fields and the model's name decide only where no message does. Mistral writes
/// what OpenAI writes, and is known by the model's name or, where there is none, by its call ids of nine characters.
pub fn detect(body: &[u8]) -> Option<Dialect> {
    let mut clues = Clues::default();
    let is_list = body.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[');
    let read = if is_list {
        json::walk_list(body, |part| clues.take(part))
    } else {
        json::walk(body, "messages", |part| clues.take(part))
    };
    read.ok()?;
    Dialect::from_name(clues.dialect?)
}

const ANTHROPIC: &str = "anthropic-messages";
const CHAT: &str = "openai-chat";
const RESPONSES: &str = "openai-responses";
const GEMINI: &str = "gemini";
const BEDROCK: &str = "bedrock-converse";
const MISTRAL: &str = "mistral";

/// What has been seen of a request. Dialects go by their names here, so that a body of a dialect that Brickbat does
/// not speak is not taken for one that it speaks.
#[derive(Debug, Default)]
struct Clues {
    /// The dialect that a message tells.
    by_message: Option<&'static str>,
    /// Whether there are call ids, and each has nine characters.
    has_short_ids: Option<bool>,
    /// A system prompt as the first message is OpenAI's way; Anthropic refuses it.
    starts_with_system: bool,
    /// Whether there is a list of messages.
    has_messages: bool,
    dialect: Option<&'static str>,
}

impl Clues {
    fn take(&mut self, part: Part<'_, '_>) {
        match part {
            Part::Begin => *self = Clues { has_messages: true, ..Clues::default() },
            Part::Item(n, message) => {
                self.starts_with_system |= n == 0 && message.field("role").is("system");
                self.by_message = self.by_message.or_else(|| of_message(message));
                for call in message.field("tool_calls").items() {
                    let id = call.field("id").as_str();
                    let is_short = id.is_some_and(|id| is_mistral_id(&id));
                    self.has_short_ids = Some(self.has_short_ids.unwrap_or(true) && is_short);
                }
            }
            Part::Rest(body) => self.dialect = self.of_request(body),
        }
    }

    fn of_request(&self, body: Json) -> Option<&'static str> {
        let found = match self.by_message {
            Some(dialect) => dialect,
            None if self.has_messages => of_fields(body)
                .or_else(|| self.starts_with_system.then_some(CHAT))
                .or_else(|| of_model(body))?,
            None => of_other_list(body)?,
        };
        let model = body.field("model").as_str();
        let is_mistral = match &model {
            Some(model) => is_mistral_model(model),
            None => self.has_short_ids == Some(true),
        } || MISTRAL_FIELDS.iter().any(|field| body.get(field).is_some());
        Some(if found == CHAT && is_mistral { MISTRAL } else { found })
    }
}

fn of_message(message: Json) -> Option<&'static str> {
    let has = |field| message.get(field).is_some();
    if message.field("parts").is_array() {
        return Some(GEMINI);
    }
    if let Some(dialect) = message.field("type").as_str().and_then(|name| of_item(&name)) {
        return Some(dialect);
    }
    let role = message.field("role").as_str()?;
    match role.as_ref() {
        "tool" | "function" => return Some(CHAT),
        _ if has("tool_calls") || has("tool_call_id") || has("function_call") || has("refusal") => {
            return Some(CHAT);
        }
        _ => {}
    }
    let content = message.get("content")?;
    if content.is_null() {
        return Some(CHAT);
    }
    let by_block = content.items().find_map(of_block);
    by_block.or_else(|| (role == "developer").then_some(CHAT))
}

/// Items of the Responses API that are no messages.
fn of_item(name: &str) -> Option<&'static str> {
    let is_item = matches!(name, "function_call" | "function_call_output" | "reasoning" | "item_reference")
        || name.ends_with("_call")
        || name.ends_with("_call_output")
        || name.starts_with("mcp_");
    is_item.then_some(RESPONSES)
}

/// Blocks of Bedrock have no `type`; the name of their one field says what they are.
const BEDROCK_BLOCKS: [&str; 10] = [
    "text",
    "toolUse",
    "toolResult",
    "reasoningContent",
    "cachePoint",
    "image",
    "document",
    "video",
    "guardContent",
    "citationsContent",
];

fn of_block(block: Json) -> Option<&'static str> {
    let Some(name) = block.field("type").as_str() else {
        let is_untyped = block.is_object() && block.get("type").is_none();
        return (is_untyped && BEDROCK_BLOCKS.iter().any(|field| block.get(field).is_some()))
            .then_some(BEDROCK);
    };
    match name.as_ref() {
        "tool_use" | "tool_result" | "thinking" | "redacted_thinking" | "server_tool_use"
        | "mcp_tool_use" | "image" | "document" => Some(ANTHROPIC),
        "input_text" | "output_text" | "input_image" | "input_file" => Some(RESPONSES),
        "image_url" | "input_audio" | "file" | "refusal" => Some(CHAT),
        name if name.ends_with("_tool_result") => Some(ANTHROPIC),
        _ => None,
    }
}

/// Fields of a request that only Anthropic knows.
const ANTHROPIC_FIELDS: [&str; 5] =
    ["system", "anthropic_version", "stop_sequences", "mcp_servers", "output_config"];

/// Fields of a request that only OpenAI knows, and who took its API over.
const OPENAI_FIELDS: [&str; 6] = [
    "max_completion_tokens",
    "parallel_tool_calls",
    "reasoning_effort",
    "response_format",
    "stream_options",
    "stop",
];

/// Fields of a request that only Bedrock knows.
const BEDROCK_FIELDS: [&str; 5] =
    ["inferenceConfig", "toolConfig", "additionalModelRequestFields", "guardrailConfig", "modelId"];

/// The dialect of a body whose conversation is not called `messages`. An embedding request has an `input` as well, but
/// neither a list of objects nor a field that only conversations have.
fn of_other_list(body: Json) -> Option<&'static str> {
    if body.field("contents").is_array() {
        return Some(GEMINI);
    }
    let input = body.get("input")?;
    let has = |field: &&str| body.get(field).is_some();
    let is_conversation =
        if input.item(0).is_null() { RESPONSES_FIELDS.iter().any(has) } else { input.item(0).is_object() };
    is_conversation.then_some(RESPONSES)
}

/// Fields of a request that only the Responses API knows, or that a request for embeddings does not have.
const RESPONSES_FIELDS: [&str; 7] =
    ["instructions", "max_output_tokens", "previous_response_id", "reasoning", "store", "stream", "tools"];

fn of_fields(body: Json) -> Option<&'static str> {
    let has = |field: &&str| body.get(field).is_some();
    let tool = body.field("tools").item(0);
    let system = body.field("system").item(0);
    if BEDROCK_FIELDS.iter().any(has) || (system.is_object() && system.get("type").is_none()) {
        return Some(BEDROCK);
    }
    if ANTHROPIC_FIELDS.iter().any(has) || tool.get("input_schema").is_some() {
        return Some(ANTHROPIC);
    }
    (OPENAI_FIELDS.iter().any(has) || tool.get("function").is_some()).then_some(CHAT)
}

/// Gateways with OpenAI's API name Claude `anthropic/claude-…`.
fn of_model(body: Json) -> Option<&'static str> {
    match body.field("model").as_str()?.as_ref() {
        model if model.contains("claude-") && !model.contains('/') => Some(ANTHROPIC),
        model if model.contains("claude-") || model.contains("gpt-") => Some(CHAT),
        model if is_mistral_model(model) => Some(CHAT),
        _ => None,
    }
}

/// Fields of a request that only Mistral knows.
const MISTRAL_FIELDS: [&str; 2] = ["safe_prompt", "random_seed"];

/// The families of Mistral's own models; on a gateway they have a `/` in their name.
const MISTRAL_MODELS: [&str; 8] = [
    "mistral-",
    "magistral",
    "codestral",
    "ministral",
    "devstral",
    "pixtral",
    "open-mistral",
    "open-mixtral",
];

fn is_mistral_model(model: &str) -> bool {
    MISTRAL_MODELS.iter().any(|family| model.starts_with(family)) && !model.contains('/')
}

/// Mistral's ids have nine letters and digits, and it refuses others.
fn is_mistral_id(id: &str) -> bool {
    id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(body: &str) -> Option<&'static str> {
        let mut clues = Clues::default();
        let part = |part: Part<'_, '_>| clues.take(part);
        let read = if body.starts_with('[') {
            json::walk_list(body.as_bytes(), part)
        } else {
            json::walk(body.as_bytes(), "messages", part)
        };
        read.ok()?;
        clues.dialect
    }

    #[test]
    fn blocks_roles_and_fields_give_a_dialect_away() {
        let cases = [
            (
                ANTHROPIC,
                r#"[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"tool_use"}]}]"#,
            ),
            (CHAT, r#"{"messages":[{"role":"tool","content":"42","tool_call_id":"call_1"}]}"#),
            (CHAT, r#"[{"role":"system","content":"Be brief."},{"role":"user","content":"hi"}]"#),
            (ANTHROPIC, r#"{"model":"claude-sonnet-5","messages":[{"role":"user","content":"hi"}]}"#),
            (
                ANTHROPIC,
                r#"{"messages":[{"content":"hi","role":"user"}],"system":[{"type":"text","text":"Be brief."}]}"#,
            ),
            (CHAT, r#"{"messages":[{"role":"user","content":"hi"}],"model":"anthropic/claude-sonnet-5"}"#),
            (RESPONSES, r#"{"model":"gpt-5","input":"hi","stream":false}"#),
            (RESPONSES, r#"[{"role":"user","content":"hi"},{"type":"function_call","call_id":"c"}]"#),
            (RESPONSES, r#"[{"role":"user","content":[{"type":"input_text","text":"hi"}]}]"#),
            (GEMINI, r#"{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}"#),
            (GEMINI, r#"[{"role":"user","parts":[{"text":"hi"}]}]"#),
            (BEDROCK, r#"{"messages":[{"role":"user","content":[{"text":"hi"}]}]}"#),
            (BEDROCK, r#"[{"role":"assistant","content":[{"toolUse":{"toolUseId":"a"}}]}]"#),
            (BEDROCK, r#"{"messages":[],"toolConfig":{"tools":[]}}"#),
            (MISTRAL, r#"{"model":"mistral-large-latest","messages":[{"role":"user","content":"hi"}]}"#),
            (MISTRAL, r#"[{"role":"assistant","tool_calls":[{"id":"D681PevKs"}]}]"#),
            (CHAT, r#"[{"role":"assistant","tool_calls":[{"id":"call_a"},{"id":"D681PevKs"}]}]"#),
            (
                CHAT,
                r#"{"model":"gpt-5","messages":[{"role":"assistant","tool_calls":[{"id":"D681PevKs"}]}]}"#,
            ),
        ];
        for (dialect, body) in cases {
            assert_eq!(named(body), Some(dialect), "{body}");
            assert_eq!(detect(body.as_bytes()), Dialect::from_name(dialect), "{body}");
        }
    }

    #[test]
    fn what_several_could_have_written_stays_open() {
        let open = [
            r#"[{"role":"user","content":"hi"}]"#,
            r#"{"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]}"#,
            r#"{"model":"text-embedding-3-small","input":["hi"],"encoding_format":"float"}"#,
            r#"{"model":"gpt-5","request":{"messages":[]}}"#,
            "null",
            "[",
            "",
        ];
        for body in open {
            assert_eq!(detect(body.as_bytes()), None, "{body}");
        }
    }

    #[test]
    fn of_a_list_that_is_repeated_the_last_one_counts() {
        let body = r#"{"messages":[{"role":"tool","content":"x"}],"messages":[{"role":"user","content":[{"type":"tool_result"}]}]}"#;
        assert_eq!(named(body), Some(ANTHROPIC));
    }
}
