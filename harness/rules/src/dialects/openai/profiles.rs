//! Profiles for OpenAI Chat Completions, and for stricter compatible providers.
//!
//! For a provider other than OpenAI, only rules with a known rejection there are errors. OpenAI's other rules
//! are tolerated if they are about calls and answers, because most servers check those. They are dropped if
//! they are about a single message's form.

use super::shared::{OTHER_SHAPES, PAIRING, SHAPES, SHAPES_WITH_CALLS};
use super::switches::{
    Alternation, Arguments, BesideCalls, MessageFields, OpenaiChatSwitches, Parts, ReasoningContent, Roles,
    TwinCalls,
};
use super::{BODY_TOO_LARGE, COPILOT_BYTES, content, media, pairing, relatives, schema, stream};
use crate::{BodyLimit, Dialect, Envelope, Halves, Profile, RelativeEnvelope};

/// No refusal of half a surrogate pair by OpenAI is known.
const BASE: Profile = Profile {
    halves: Halves::Replaced,
    ..Profile::base(Dialect::OpenaiChat, "OpenAI", Envelope::Openai, &OPENAI)
};

/// A provider other than OpenAI.
const RELATIVE: Profile = Profile { tolerated_in_streams: stream::TOLERATED_OF_RELATIVES, ..BASE };

pub(crate) static PROFILES: [Profile; 23] = [
    // Azure's error messages are the same: https://github.com/sdcb/chats/pull/132.
    Profile { name: "openai-chat@2026-09", tolerated: &[&pairing::TOOL_CALL_ID_DUPLICATE], ..BASE },
    // V4 has required the reasoning since April 2026. An unknown id on its own was not seen to be
    // rejected, but such an answer leaves a call without an answer, which is rejected.
    Profile {
        name: "deepseek@2026-09",
        added: &[&relatives::REASONING_CONTENT_NOT_RETURNED, &relatives::PART_NOT_TEXT],
        switches: &OpenaiChatSwitches {
            reasoning: ReasoningContent::TurnsWithCalls,
            parts: Parts::ByModel,
            roles: Roles::Deepseek,
            ..OPENAI
        },
        ..DEEPSEEK
    },
    // V3.2 has been able to think between calls since December 2025. It requires the reasoning in the turn
    // that continues.
    Profile {
        name: "deepseek@2026-02",
        added: &[&relatives::REASONING_CONTENT_MISSING, &relatives::PART_NOT_TEXT],
        switches: &OpenaiChatSwitches {
            reasoning: ReasoningContent::CallsOfLastTurn,
            parts: Parts::Text,
            roles: Roles::Deepseek,
            ..OPENAI
        },
        ..DEEPSEEK
    },
    // R1: https://github.com/microsoft/autogen/pull/7229.
    Profile {
        name: "deepseek@2025-06",
        added: &[&relatives::SUCCESSIVE_ROLES, &relatives::PART_NOT_TEXT],
        switches: &OpenaiChatSwitches {
            alternation: Alternation::DeepseekReasoner,
            parts: Parts::Text,
            roles: Roles::Deepseek,
            ..OPENAI
        },
        ..DEEPSEEK
    },
    // The switch for thinking: https://github.com/mastra-ai/mastra/issues/12592 (on by default for K2.5),
    // https://github.com/simstudioai/sim/pull/5716 (off with `thinking.type`).
    Profile {
        name: "moonshot@2026-09",
        provider: "Moonshot",
        added: &[&relatives::REASONING_CONTENT_MISSING, &relatives::CONTENT_EMPTY],
        tolerated: &[
            &schema::TOOL_CALL_SHAPE,
            &pairing::TOOL_MESSAGE_ORPHAN,
            &pairing::TOOL_MESSAGE_UNKNOWN_ID,
            &pairing::TOOL_MESSAGE_DUPLICATE,
        ],
        given_up: &SHAPES,
        wording: &[
            // https://github.com/openclaw/openclaw/issues/84730, with the words in
            // https://github.com/openclaw/openclaw/pull/51155.
            (
                &pairing::TOOL_CALL_ID_DUPLICATE,
                &["Invalid request: tool call id {id} is duplicated", "tool call id {id} is duplicated"],
            ),
            // https://github.com/MoonshotAI/kimi-cli/issues/1977.
            (
                &pairing::TOOL_MESSAGE_MISSING,
                &["an assistant message with 'tool_calls' must be followed by tool messages responding to \
                     each 'tool_call_id'. The following tool_call_ids did not have response messages: {ids}"],
            ),
            // https://github.com/open-webui/open-webui/issues/25083, and for the user
            // https://github.com/rikkahub/rikkahub/issues/436.
            (
                &relatives::CONTENT_EMPTY,
                &[
                    "Invalid request: the message at position {n} with role '{role}' must not be empty",
                    "the message at position {n} with role '{role}' must not be empty",
                ],
            ),
            // Quoted with and without an id: https://github.com/QwenLM/qwen-code/issues/199. None of the reports
            // shows the history, so both are only warnings.
            (&pairing::TOOL_MESSAGE_ORPHAN, MOONSHOT_NOT_FOUND),
            (&pairing::TOOL_MESSAGE_UNKNOWN_ID, MOONSHOT_NOT_FOUND),
            // https://github.com/continuedev/continue/issues/11600.
            (
                &relatives::REASONING_CONTENT_MISSING,
                &["thinking is enabled but reasoning_content is missing in assistant tool call message at \
                   index {n}"],
            ),
        ],
        envelope: Envelope::Relative(RelativeEnvelope::TypeOnly),
        switches: &OpenaiChatSwitches {
            reasoning: ReasoningContent::Calls,
            beside_calls: BesideCalls::Empty,
            ..OPENAI
        },
        ..RELATIVE
    },
    Profile {
        name: "groq@2026-09",
        provider: "Groq",
        added: &[&relatives::UNKNOWN_MESSAGE_FIELD, &relatives::PART_NOT_TEXT],
        tolerated: &PAIRING,
        given_up: &SHAPES,
        // https://github.com/vercel/ai/issues/2837 and https://github.com/sam3gp8/jarvis-aio/issues/17.
        wording: &[(&relatives::PART_NOT_TEXT, &["messages[{n}].content must be a string"])],
        envelope: Envelope::Relative(RelativeEnvelope::TypeOnly),
        switches: &OpenaiChatSwitches {
            message_fields: MessageFields::Groq,
            parts: Parts::MediaByModel,
            ..OPENAI
        },
        ..RELATIVE
    },
    Profile {
        name: "xai@2026-09",
        provider: "xAI",
        added: &[&relatives::CONTENT_EMPTY],
        tolerated: &PAIRING,
        given_up: &SHAPES,
        envelope: Envelope::Relative(RelativeEnvelope::Xai),
        ..RELATIVE
    },
    Profile {
        name: "cerebras@2026-09",
        provider: "Cerebras",
        added: &[&relatives::UNKNOWN_MESSAGE_FIELD],
        tolerated: &PAIRING,
        given_up: &SHAPES,
        // https://github.com/Kilo-Org/kilocode/issues/10375.
        wording: &[(
            &relatives::UNKNOWN_MESSAGE_FIELD,
            &["messages.{n}.{role}.{field}: property 'messages.{n}.{role}.{field}' is unsupported"],
        )],
        envelope: Envelope::Relative(RelativeEnvelope::Cerebras),
        switches: &OpenaiChatSwitches { message_fields: MessageFields::Cerebras, ..OPENAI },
        ..RELATIVE
    },
    // The second version of the API has OpenAI's messages. The first has a different body.
    Profile {
        name: "cohere@2026-09",
        provider: "Cohere",
        tolerated: &[
            &schema::TOOL_CALL_SHAPE,
            &pairing::TOOL_MESSAGE_ORPHAN,
            &pairing::TOOL_MESSAGE_UNKNOWN_ID,
            &pairing::TOOL_MESSAGE_DUPLICATE,
            &pairing::TOOL_CALL_ID_DUPLICATE,
        ],
        given_up: &SHAPES,
        // Quoted without an id at its end, from a client that sends none. Command A rejects this; Command
        // R does not: https://github.com/oracle/langchain-oracle/issues/10.
        wording: &[(
            &pairing::TOOL_MESSAGE_MISSING,
            &["invalid request: An assistant message with 'tool_calls' must be followed by tool messages \
                 responding to each 'tool_call_id'. The following tool_call_ids did not have response \
                 messages: {ids}"],
        )],
        envelope: Envelope::Relative(RelativeEnvelope::Cohere),
        ..RELATIVE
    },
    Profile {
        name: "minimax@2026-09",
        provider: "MiniMax",
        added: &[&relatives::ARGUMENTS_NOT_JSON],
        tolerated: &[&pairing::TOOL_MESSAGE_DUPLICATE],
        given_up: &SHAPES_WITH_CALLS,
        wording: &[
            // Also seen with a result but no call at all:
            // https://github.com/anomalyco/opencode/pull/32609.
            (&pairing::TOOL_MESSAGE_ORPHAN, &[MINIMAX_NOT_FOUND]),
            // https://github.com/agent0ai/agent-zero/issues/1724.
            (&pairing::TOOL_MESSAGE_UNKNOWN_ID, &[MINIMAX_NOT_FOUND]),
            // https://github.com/anomalyco/opencode/issues/32608.
            (
                &pairing::TOOL_MESSAGE_MISSING,
                &["invalid params, tool call result does not follow tool call (2013)"],
            ),
            // https://github.com/earendil-works/pi/issues/5468.
            (
                &relatives::ARGUMENTS_NOT_JSON,
                &["invalid params, invalid function arguments json string, tool_call_id: {id} (2013)"],
            ),
        ],
        envelope: Envelope::Relative(RelativeEnvelope::Minimax),
        // One result for two calls with the same id is rejected:
        // https://github.com/can1357/oh-my-pi/issues/2055. No test with a result for each is known.
        switches: &OpenaiChatSwitches {
            arguments: Arguments::Json,
            twin_calls: TwinCalls::AnAnswerEach,
            ..OPENAI
        },
        ..RELATIVE
    },
    Profile {
        name: "dashscope@2026-09",
        provider: "DashScope",
        added: &[&relatives::ARGUMENTS_NOT_JSON, &relatives::PART_NOT_TEXT],
        tolerated: &[
            &pairing::TOOL_MESSAGE_UNKNOWN_ID,
            &pairing::TOOL_MESSAGE_DUPLICATE,
            &pairing::TOOL_CALL_ID_DUPLICATE,
        ],
        given_up: &SHAPES_WITH_CALLS,
        wording: &[
            // The error message has the place where OpenAI has the ids:
            // https://github.com/QwenLM/qwen-code/issues/315.
            (
                &pairing::TOOL_MESSAGE_MISSING,
                &[
                    "<400> InternalError.Algo.InvalidParameter: An assistant message with \"tool_calls\" must \
                     be followed by tool messages responding to each \"tool_call_id\". The following \
                     tool_call_ids did not have response messages: message[{place}].role",
                ],
            ),
            // https://github.com/philschmid/mcp-openai-gemini-llama-example/pull/5.
            (
                &pairing::TOOL_MESSAGE_ORPHAN,
                &[
                    "<400> InternalError.Algo.InvalidParameter: messages with role \"tool\" must be a response \
                   to a preceeding message with \"tool_calls\".",
                ],
            ),
            // https://github.com/can1357/oh-my-pi/issues/1859.
            (
                &relatives::PART_NOT_TEXT,
                &["<400> InternalError.Algo.InvalidParameter: The provided messages input is invalid. The \
                     error info is [Unexpected item type in content.]"],
            ),
        ],
        envelope: Envelope::Relative(RelativeEnvelope::Dashscope),
        switches: &OpenaiChatSwitches { arguments: Arguments::Object, parts: Parts::MediaByModel, ..OPENAI },
        ..RELATIVE
    },
    // Two messages of the user in a row are rejected for every model:
    // https://github.com/perplexityai/api-discussion/issues/265.
    Profile {
        name: "perplexity@2026-09",
        provider: "Perplexity",
        added: &[&relatives::SUCCESSIVE_ROLES],
        tolerated: &PAIRING,
        given_up: &SHAPES,
        wording: &[(
            &relatives::SUCCESSIVE_ROLES,
            &[
                "After the (optional) system message(s), user or tool message(s) should alternate with assistant \
                 message(s).",
                "After the (optional) system message(s), user and assistant roles should be alternating.",
            ],
        )],
        envelope: Envelope::Relative(RelativeEnvelope::TypeOnly),
        switches: &OpenaiChatSwitches { alternation: Alternation::Always, ..OPENAI },
        ..RELATIVE
    },
    // The reasoning: https://github.com/tailcallhq/forgecode/issues/3347. Images of tools:
    // https://github.com/XiaomiMiMo/MiMo/issues/44 and https://github.com/NousResearch/hermes-agent/issues/57766.
    Profile {
        name: "mimo@2026-09",
        provider: "Xiaomi MiMo",
        added: &[&relatives::REASONING_CONTENT_NOT_RETURNED],
        tolerated: &PAIRING,
        given_up: &OTHER_SHAPES,
        wording: &[
            (
                &relatives::REASONING_CONTENT_NOT_RETURNED,
                &["The reasoning_content in the thinking mode must be passed back to the API."],
            ),
            (&media::IMAGE_OUTSIDE_USER, &["`text` is not set"]),
        ],
        envelope: Envelope::Relative(RelativeEnvelope::TypeOnly),
        switches: &OpenaiChatSwitches { reasoning: ReasoningContent::TurnsWithCalls, ..OPENAI },
        ..RELATIVE
    },
    // Reports of its code 1214 name other causes too (empty contents, several replies in a row), but none of them was
    // tested alone: https://github.com/anomalyco/opencode/issues/22209.
    Profile {
        name: "zai@2026-09",
        provider: "Z.ai",
        added: &[&relatives::USER_MESSAGE_MISSING],
        is_lenient: false,
        // The second is that of the Chinese host: https://github.com/AstrBotDevs/AstrBot/issues/6196.
        wording: &[(
            &relatives::USER_MESSAGE_MISSING,
            &[
                "The messages parameter is illegal. Please check the documentation.",
                "messages 参数非法。请检查文档。",
            ],
        )],
        envelope: Envelope::Relative(RelativeEnvelope::Zai),
        ..LENIENT
    },
    // A gateway, for the models that it does not forward to a provider with a profile:
    // https://openrouter.ai/docs/features/provider-routing.
    Profile { name: "openrouter@2026-09", provider: "OpenRouter", ..LENIENT },
    // "Input validation error" is the whole message: https://github.com/mozilla-ai/any-llm/issues/714.
    Profile { name: "together@2026-09", provider: "Together", ..LENIENT },
    // A gateway: https://huggingface.co/docs/inference-providers/index.
    Profile { name: "huggingface@2026-09", provider: "Hugging Face", ..LENIENT },
    // https://docs.baseten.co/reference/inference-api/chat-completions
    Profile { name: "baseten@2026-09", provider: "Baseten", ..LENIENT },
    // Only fields outside of the conversation were seen to be rejected:
    // https://github.com/FlowiseAI/Flowise/issues/2866.
    Profile { name: "fireworks@2026-09", provider: "Fireworks", ..LENIENT },
    // Models of several makers. Of the conversation, its size (status 413: https://github.com/github/copilot-cli/issues/965)
    // and arguments that are not JSON were seen to be rejected: https://github.com/microsoft/vscode/issues/277728,
    // https://github.com/microsoft/vscode/issues/282544.
    Profile {
        name: "copilot-chat@2026-09",
        provider: "GitHub Copilot",
        added: &[&BODY_TOO_LARGE, &relatives::ARGUMENTS_NOT_JSON],
        wording: &[(&relatives::ARGUMENTS_NOT_JSON, &["Invalid JSON format in tool call arguments"])],
        switches: &OpenaiChatSwitches { arguments: Arguments::Json, ..OPENAI },
        max_body: Some(BodyLimit { bytes: COPILOT_BYTES, rule: &BODY_TOO_LARGE }),
        ..LENIENT
    },
    // A server such as vLLM that renders the conversation with the template of the model, and rejects what the template
    // raises. The table of templates was derived by rendering those that llama.cpp ships.
    Profile {
        name: "chat-template@2026-11",
        provider: "a local server",
        added: &[
            &relatives::SUCCESSIVE_ROLES,
            &relatives::USER_MESSAGE_MISSING,
            &relatives::ARGUMENTS_NOT_JSON,
        ],
        tolerated: &[&relatives::ARGUMENTS_NOT_JSON],
        wording: &[
            (&relatives::SUCCESSIVE_ROLES, TEMPLATE_SENTENCES),
            (&relatives::USER_MESSAGE_MISSING, &["No user query found in messages."]),
            // llama.cpp: https://github.com/ggml-org/llama.cpp/issues/25510.
            (&relatives::ARGUMENTS_NOT_JSON, &["Failed to parse tool call arguments as JSON: {error}"]),
        ],
        envelope: Envelope::Relative(RelativeEnvelope::Vllm),
        switches: &OpenaiChatSwitches {
            alternation: Alternation::OfTemplate,
            arguments: Arguments::Json,
            ..OPENAI
        },
        ..VLLM
    },
    Profile {
        name: "vllm@2026-09",
        envelope: Envelope::Relative(RelativeEnvelope::Vllm),
        switches: &OpenaiChatSwitches {
            alternation: Alternation::Template,
            arguments: Arguments::Json,
            ..OPENAI
        },
        ..VLLM
    },
    // Older versions do not replace malformed arguments, and then the server fails while it fills the
    // template. This is only a warning, because not every template reads the arguments.
    Profile {
        name: "vllm@2024-07",
        added: &[&relatives::SUCCESSIVE_ROLES, &relatives::ARGUMENTS_NOT_JSON],
        tolerated: &[&relatives::SUCCESSIVE_ROLES, &relatives::ARGUMENTS_NOT_JSON],
        envelope: Envelope::Relative(RelativeEnvelope::VllmFlat),
        switches: &OpenaiChatSwitches {
            alternation: Alternation::Template,
            arguments: Arguments::Json,
            ..OPENAI
        },
        ..VLLM
    },
];

/// The sentences of chat templates about two messages of one role, in the order of `model::template_sentence`.
const TEMPLATE_SENTENCES: &[&str] = &[
    "Conversation roles must alternate user/assistant/user/assistant/...",
    "After the optional system message, conversation roles must alternate user/assistant/user/assistant/...",
    "After the optional system message, conversation roles must alternate user and assistant roles except for tool \
     calls and results.",
];

/// A provider without a known rejection of a conversation. Only bodies that no provider reads are errors.
const LENIENT: Profile = Profile {
    tolerated: &PAIRING,
    given_up: &SHAPES,
    tolerated_in_streams: stream::TOLERATED_OF_UNKNOWN,
    is_lenient: true,
    ..RELATIVE
};

/// OpenAI's requirements: no optional rule applies.
const OPENAI: OpenaiChatSwitches = OpenaiChatSwitches {
    max_call_id_chars: MAX_CALL_ID_CHARS,
    message_fields: MessageFields::Any,
    alternation: Alternation::Free,
    arguments: Arguments::Any,
    beside_calls: BesideCalls::Contested,
    reasoning: ReasoningContent::Free,
    twin_calls: TwinCalls::OneAnswer,
    parts: Parts::Any,
    roles: Roles::Six,
};

/// Reports say 29 (2023), 40 (2024 to early 2026) and 64 (2026). In July 2026 a maintainer could no longer
/// get OpenAI to reject an id of 51 characters (vercel/ai#8132), so the highest limit is used.
const MAX_CALL_ID_CHARS: usize = 64;

/// The requirements of DeepSeek for every model.
const DEEPSEEK: Profile = Profile {
    name: "deepseek",
    provider: "DeepSeek",
    // https://github.com/BYK/loreai/issues/68: "lone leading surrogate in hex escape".
    halves: Halves::Refused,
    tolerated: &[&pairing::TOOL_MESSAGE_UNKNOWN_ID],
    given_up: &[
        &schema::MESSAGES_EMPTY,
        &schema::CONTENT_PART_TYPE,
        &schema::CONTENT_LIST_EMPTY,
        &schema::TOOL_CALLS_EMPTY,
        &schema::CALL_ID_TOO_LONG,
        &schema::FUNCTION_NAME_PATTERN,
        &media::IMAGE_OUTSIDE_USER,
        &media::INPUT_NOT_ENABLED,
    ],
    wording: &[
        // https://github.com/lmk123/deepseek4j/issues/41 has the first sentence, and
        // https://github.com/carlrobertoh/ProxyAI/issues/830 and https://github.com/charmbracelet/crush/issues/3794 the
        // second, which is about replies.
        (
            &content::CONTENT_NULL,
            &[
                "Failed to deserialize the JSON body into the target type: messages[{n}]: missing field `content`",
                "Invalid assistant message: content or tool_calls must be set",
            ],
        ),
        // A call without its `function` is rejected: https://github.com/deepseek-ai/awesome-deepseek-integration/issues/520.
        // The words are those about other fields of a message.
        (
            &schema::TOOL_CALL_SHAPE,
            &[
                "Failed to deserialize the JSON body into the target type: messages[{n}]: missing field `{field}`",
                "Failed to deserialize the JSON body into the target type: messages[{n}]: invalid type: {got}, expected \
                 {expected}",
            ],
        ),
        // https://github.com/losesky/ai-auto-trading/issues/14, https://github.com/icebear0828/codex-proxy/issues/589.
        (
            &schema::UNKNOWN_ROLE,
            &[
                "Failed to deserialize the JSON body into the target type: messages[{n}].role: unknown variant \
               `{role}`, expected one of `system`, `user`, `assistant`, `tool`, `latest_reminder`",
            ],
        ),
        // https://github.com/EKKOLearnAI/hermes-studio/issues/323 (the end of the error message is cut off
        // there).
        (
            &schema::TOOL_CALL_ID_REQUIRED,
            &["Failed to deserialize the JSON body into the target type: messages[{n}]: missing field \
               `tool_call_id`"],
        ),
        // https://github.com/TurixAI/TuriX-CUA/issues/15.
        (
            &pairing::TOOL_MESSAGE_MISSING,
            &["An assistant message with 'tool_calls' must be followed by tool messages responding to each \
               'tool_call_id'. (insufficient tool messages following tool_calls message)"],
        ),
        // https://github.com/itmisx/deepx-code/issues/94.
        (
            &pairing::TOOL_MESSAGE_ORPHAN,
            &["Messages with role 'tool' must be a response to a preceding message with 'tool_calls'"],
        ),
        // https://github.com/craft-ai-agents/craft-agents-oss/issues/621. A report says that ids must be
        // unique in the complete conversation (issue 630 of the same project), but its ids were all empty,
        // so only ids within one message are checked.
        (&pairing::TOOL_CALL_ID_DUPLICATE, &[DEEPSEEK_DUPLICATE]),
        (&pairing::TOOL_MESSAGE_DUPLICATE, &[DEEPSEEK_DUPLICATE]),
    ],
    envelope: Envelope::Relative(RelativeEnvelope::Deepseek),
    ..RELATIVE
};

const DEEPSEEK_DUPLICATE: &str = "Duplicate value for 'tool_call_id' of {id} in message[{n}]";

const MOONSHOT_NOT_FOUND: &[&str] =
    &["Invalid request: tool_call_id {id} is not found", "tool_call_id {id} is not found"];

const MINIMAX_NOT_FOUND: &str = "invalid params, tool result's tool id ({id}) not found (2013)";

/// vLLM. Its source has no check of calls and answers, drops an empty list of calls, and replaces
/// arguments that it cannot parse
/// (<https://github.com/vllm-project/vllm/blob/main/vllm/entrypoints/chat_utils.py>). Releases without that replacement
/// answer with the error of Python's parser (<https://github.com/vllm-project/vllm/issues/43995>), so the arguments are
/// a warning. The model's chat
/// template decides whether roles must alternate: rejected in
/// <https://github.com/vllm-project/vllm/issues/6862>, fixed with another template in
/// <https://github.com/weaviate/Verba/issues/150>.
const VLLM: Profile = Profile {
    name: "vllm",
    provider: "vLLM",
    added: &[
        &relatives::TOOL_CALL_NOT_FUNCTION,
        &relatives::SUCCESSIVE_ROLES,
        &relatives::ARGUMENTS_NOT_JSON,
    ],
    tolerated: &[&relatives::SUCCESSIVE_ROLES, &relatives::ARGUMENTS_NOT_JSON],
    given_up: &[
        &schema::MESSAGES_EMPTY,
        &schema::UNKNOWN_ROLE,
        &schema::CONTENT_PART_TYPE,
        &schema::CONTENT_LIST_EMPTY,
        &schema::TOOL_CALLS_EMPTY,
        &schema::TOOL_CALL_SHAPE,
        &schema::CALL_ID_TOO_LONG,
        &schema::FUNCTION_NAME_PATTERN,
        &schema::TOOL_CALL_ID_REQUIRED,
        &pairing::TOOL_MESSAGE_ORPHAN,
        &pairing::TOOL_MESSAGE_UNKNOWN_ID,
        &pairing::TOOL_MESSAGE_MISSING,
        &pairing::TOOL_MESSAGE_DUPLICATE,
        &pairing::TOOL_CALL_ID_DUPLICATE,
        &content::CONTENT_NULL,
        &media::IMAGE_OUTSIDE_USER,
        &media::INPUT_NOT_ENABLED,
    ],
    wording: &[
        (&relatives::SUCCESSIVE_ROLES, TEMPLATE_SENTENCES),
        (&relatives::ARGUMENTS_NOT_JSON, PYTHON_PARSER),
    ],
    envelope: Envelope::Relative(RelativeEnvelope::Vllm),
    ..RELATIVE
};

/// The errors of Python's JSON parser (`Lib/json/decoder.py`), and of orjson, which SGLang uses
/// (<https://github.com/MoonshotAI/kimi-cli/issues/1171>).
const PYTHON_PARSER: &[&str] = &[
    "Expecting ',' delimiter: line {line} column {column} (char {char})",
    "Unterminated string starting at: line {line} column {column} (char {char})",
    "Expecting value: line {line} column {column} (char {char})",
    "Expecting property name enclosed in double quotes: line {line} column {column} (char {char})",
    "Expecting ':' delimiter: line {line} column {column} (char {char})",
    "Invalid control character at: line {line} column {column} (char {char})",
    "Extra data: line {line} column {column} (char {char})",
    "unexpected end of data: line {line} column {column} (char {char})",
];
