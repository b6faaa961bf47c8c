//! Differences between dialects in how the products send their stored messages.
//!
//! Each dialect has one entry, with the names that stores give to its providers. The stores read this table instead of comparing dialects, so a new dialect needs
//! one entry here and no change in a store.

use brickbat_rules::Dialect;
use brickbat_rules::histories::Role;

use crate::names::Names;

/// The products' clients for one dialect.
#[derive(Debug)]
pub(crate) struct Clients {
    /// The names under which the stores record the dialect's providers.
    pub(crate) names: Names,
    /// The roles for which pydantic-ai sends empty texts.
    pub(crate) empty_texts: &'static [Role],
    /// A model that requires a signature in the first call of each reply, if the default model does not.
    pub(crate) later_model: Option<&'static str>,
    quirks: &'static [Quirk],
}

/// A change that the client of one product makes in some dialects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quirk {
    /// The AI SDK moves calls behind texts, and leaves out files of the model.
    AiSdkOrdersReplies,
    /// The AI SDK sends searches that the provider ran.
    AiSdkSendsSearches,
    /// Copilot CLI sends a reply without text and calls with no content. In other dialects it leaves it out.
    CopilotCliSendsEmptyReplies,
    /// goose sends texts of white space only. In other dialects it leaves them out.
    GooseSendsSpaces,
    /// LangChain leaves out blank texts and empty replies, and replaces invalid arguments and ids.
    LanggraphCleans,
    /// opencode inserts a reply between results and a user message.
    OpencodeAnswersResults,
    /// opencode sends a space for an empty text beside a signed thought.
    OpencodeKeepsPlaces,
    /// opencode moves the images in results into a user message.
    OpencodeMovesPictures,
    /// opencode shortens ids of calls to nine letters and digits.
    OpencodeShortensIds,
    /// pi sends thinking without a signature as text, and replaces characters in ids of calls.
    PiCleans,
    /// pi stores the name of a field in the place of a thought's signature.
    PiStoresFieldNames,
    /// pi stores thoughts and texts as items with ids.
    PiStoresItems,
    /// pydantic-ai raises an error for arguments that are not an object.
    PydanticAiRequiresObjects,
    /// pydantic-ai sends replies without content.
    PydanticAiSendsEmptyReplies,
    /// pydantic-ai sends thoughts without text.
    PydanticAiSendsEmptyThoughts,
    /// Qwen Code leaves out calls without results, and results without calls.
    QwenCodeRemovesOrphans,
    /// TanStack AI runs calls without results again.
    TanstackRerunsCalls,
}

impl Clients {
    /// Returns whether the clients have a quirk.
    pub(crate) fn have(&self, quirk: Quirk) -> bool {
        self.quirks.contains(&quirk)
    }
}

/// The clients for a dialect. If a store does not show the dialect, its sessions count as Anthropic Messages.
#[warn(clippy::wildcard_enum_match_arm)]
pub(crate) fn of(dialect: Option<Dialect>) -> &'static Clients {
    match dialect.unwrap_or(Dialect::AnthropicMessages) {
        Dialect::AnthropicMessages => &ANTHROPIC,
        Dialect::OpenaiChat => &OPENAI_CHAT,
        Dialect::OpenaiResponses => &OPENAI_RESPONSES,
        Dialect::Gemini => &GEMINI,
        Dialect::BedrockConverse => &BEDROCK,
        Dialect::Mistral => &MISTRAL,
        #[cfg(feature = "toy-dialect")]
        Dialect::Toy => &TOY,
    }
}

/// `BedrockConverseModel` sends all empty texts, for example.
const EVERYBODY: &[Role] = &[Role::System, Role::User, Role::Assistant, Role::Tool];
/// In Chat Completions and Responses, the texts of a reply are joined, so an empty one makes no difference.
const ALL_BUT_THE_MODEL: &[Role] = &[Role::System, Role::User, Role::Tool];

static ANTHROPIC: Clients = Clients {
    names: Names {
        ai_sdk: &["anthropic"],
        cline: &["anthropic"],
        copilot_cli: &["/claude"],
        goose: &["anthropic", "gcp_vertex_ai/claude"],
        langgraph: &["anthropic"],
        opencode: &["anthropic", "google-vertex-anthropic", "opencode/claude"],
        pi: &["anthropic-messages"],
        pydantic_ai: &["anthropic"],
        qwen_code: &["anthropic"],
    },
    // Only `AnthropicModel` leaves out empty texts of both the user and the model.
    empty_texts: &[Role::System],
    later_model: None,
    quirks: &[
        Quirk::AiSdkOrdersReplies,
        Quirk::AiSdkSendsSearches,
        Quirk::LanggraphCleans,
        Quirk::OpencodeKeepsPlaces,
        Quirk::PiCleans,
        Quirk::PydanticAiRequiresObjects,
    ],
};

static OPENAI_CHAT: Clients = Clients {
    names: Names {
        ai_sdk: &[],
        cline: &[],
        copilot_cli: &[],
        goose: &["azure_openai", "groq", "litellm", "lmstudio", "ollama", "openai", "openrouter", "xai"],
        langgraph: &[
            "azure",
            "deepseek",
            "fireworks",
            "groq",
            "ollama",
            "openai",
            "openrouter",
            "together",
            "xai",
        ],
        opencode: &[
            "alibaba",
            "baseten",
            "cerebras",
            "chutes",
            "deepinfra",
            "deepseek",
            "fireworks-ai",
            "github-copilot",
            "github-models",
            "groq",
            "huggingface",
            "inference",
            "llama",
            "lmstudio",
            "moonshotai",
            "nvidia",
            "ollama",
            "ollama-cloud",
            "opencode",
            "openrouter",
            "togetherai",
            "venice",
            "xai",
            "zai",
            "zhipuai",
        ],
        pi: &["openai-completions"],
        pydantic_ai: &[
            "alibaba",
            "azure",
            "cerebras",
            "deepseek",
            "fireworks",
            "github",
            "grok",
            "groq",
            "heroku",
            "huggingface",
            "litellm",
            "moonshotai",
            "nebius",
            "ollama",
            "openai",
            "openai-chat",
            "openrouter",
            "ovhcloud",
            "sambanova",
            "together",
            "vercel",
            "xai",
        ],
        qwen_code: &["openai", "qwen-oauth"],
    },
    empty_texts: ALL_BUT_THE_MODEL,
    later_model: None,
    quirks: &[
        Quirk::GooseSendsSpaces,
        Quirk::OpencodeMovesPictures,
        Quirk::PiStoresFieldNames,
        Quirk::CopilotCliSendsEmptyReplies,
        Quirk::PydanticAiSendsEmptyReplies,
        Quirk::QwenCodeRemovesOrphans,
    ],
};

static OPENAI_RESPONSES: Clients = Clients {
    names: Names {
        ai_sdk: &["openai", "azure"],
        cline: &[],
        copilot_cli: &["/gpt-5"],
        goose: &[],
        langgraph: &["azure", "openai"],
        opencode: &["azure", "openai", "opencode/gpt"],
        pi: &["openai-responses", "azure-openai-responses", "openai-codex-responses"],
        pydantic_ai: &["openai-responses"],
        qwen_code: &[],
    },
    empty_texts: ALL_BUT_THE_MODEL,
    later_model: None,
    quirks: &[Quirk::GooseSendsSpaces, Quirk::PiStoresItems, Quirk::TanstackRerunsCalls],
};

static GEMINI: Clients = Clients {
    names: Names {
        ai_sdk: &["google", "vertex"],
        cline: &[],
        copilot_cli: &[],
        goose: &["gcp_vertex_ai", "google"],
        langgraph: &["google_genai", "google_vertexai"],
        opencode: &["google", "google-vertex", "opencode/gemini"],
        pi: &["google-generative-ai", "google-vertex", "google-gemini-cli"],
        pydantic_ai: &["google", "google-gla", "google-vertex"],
        qwen_code: &["gemini", "vertex-ai", "gemini-api-key"],
    },
    empty_texts: EVERYBODY,
    later_model: Some("gemini-3-flash-preview"),
    quirks: &[Quirk::PydanticAiRequiresObjects],
};

static BEDROCK: Clients = Clients {
    names: Names {
        ai_sdk: &["bedrock"],
        cline: &[],
        copilot_cli: &[],
        goose: &["aws_bedrock"],
        langgraph: &["bedrock_converse"],
        opencode: &["amazon-bedrock"],
        pi: &["bedrock-converse-stream"],
        pydantic_ai: &["bedrock"],
        qwen_code: &[],
    },
    empty_texts: EVERYBODY,
    later_model: None,
    quirks: &[Quirk::PydanticAiRequiresObjects, Quirk::PydanticAiSendsEmptyThoughts],
};

static MISTRAL: Clients = Clients {
    names: Names {
        ai_sdk: &["mistral"],
        cline: &[],
        copilot_cli: &[],
        goose: &[],
        langgraph: &["mistralai"],
        opencode: &["mistral"],
        pi: &["mistral-conversations"],
        pydantic_ai: &["mistral"],
        qwen_code: &[],
    },
    empty_texts: ALL_BUT_THE_MODEL,
    later_model: None,
    quirks: &[
        Quirk::OpencodeAnswersResults,
        Quirk::OpencodeMovesPictures,
        Quirk::OpencodeShortensIds,
        Quirk::PydanticAiSendsEmptyReplies,
    ],
};

/// No product has a client for the toy.
#[cfg(feature = "toy-dialect")]
static TOY: Clients = Clients {
    names: Names {
        ai_sdk: &[],
        cline: &[],
        copilot_cli: &[],
        goose: &[],
        langgraph: &[],
        opencode: &[],
        pi: &[],
        pydantic_ai: &[],
        qwen_code: &[],
    },
    empty_texts: EVERYBODY,
    later_model: None,
    quirks: &[],
};
