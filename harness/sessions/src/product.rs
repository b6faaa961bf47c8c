//! The products with a known store, one per row.

use std::fmt;

/// The number of sessions in one file of a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PerFile {
    /// One session, identified by the file name.
    One,
    /// Many sessions, identified by file name and id.
    Many,
}

/// A product's file format, as far as it matters for planting faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// One JSON document, in which a call and its result are one part.
    Parts(Part),
    /// One JSON document.
    Json,
    /// Lines, rows or directories.
    Other,
}

/// How a part shows that its call is still running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// As a part of a `UIMessage` of the AI SDK.
    Ui,
    /// As Twenty stores such a part.
    Twenty,
    /// As a part of a message of TanStack AI.
    Tanstack,
}

macro_rules! products {
    ($($(#[$doc:meta])* $variant:ident: $id:literal, $name:literal, $per_file:ident, $form:ident $(($part:ident))?;)*) => {
        /// A product that stores sessions.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Product {
            $($(#[$doc])* $variant,)*
        }

        impl Product {
            /// All products.
            pub const ALL: &[Product] = &[$(Product::$variant),*];

            /// The name in options and reports, such as `claude-code`.
            pub fn id(self) -> &'static str {
                match self {
                    $(Product::$variant => $id,)*
                }
            }

            /// The name in its makers' spelling.
            fn name(self) -> &'static str {
                match self {
                    $(Product::$variant => $name,)*
                }
            }

            pub(crate) fn per_file(self) -> PerFile {
                match self {
                    $(Product::$variant => PerFile::$per_file,)*
                }
            }

            pub(crate) fn form(self) -> Form {
                match self {
                    $(Product::$variant => Form::$form $((Part::$part))?,)*
                }
            }
        }
    };
}

products! {
    /// Anthropic's Claude Code: JSONL.
    ClaudeCode: "claude-code", "Claude Code", One, Other;
    /// opencode, and Kilo CLI: JSON files, SQLite rows, exports.
    Opencode: "opencode", "opencode", Many, Other;
    /// OpenAI's Codex CLI: JSONL rollouts.
    Codex: "codex", "Codex", One, Other;
    /// Google's Gemini CLI: JSON, and JSONL with patches.
    GeminiCli: "gemini-cli", "Gemini CLI", One, Other;
    /// Qwen Code: JSONL.
    QwenCode: "qwen-code", "Qwen Code", One, Other;
    /// Cline, Roo and the Kilo extension: a list of Anthropic messages.
    Cline: "cline", "Cline", One, Other;
    /// goose: SQLite, JSON exports, formerly JSONL.
    Goose: "goose", "goose", Many, Other;
    /// pi, OpenClaw, oh-my-pi: a JSONL tree.
    Pi: "pi", "pi", One, Other;
    /// GitHub's Copilot CLI: JSONL events.
    CopilotCli: "copilot-cli", "Copilot CLI", One, Other;
    /// Vercel's AI SDK: `UIMessage[]`.
    AiSdkUiMessages: "ai-sdk-ui-messages", "AI SDK UI messages", One, Parts(Ui);
    /// Vercel's AI SDK: the chunks of a UI message stream.
    AiSdkUiChunks: "ai-sdk-ui-chunks", "AI SDK UI chunks", One, Other;
    /// Vercel's AI SDK: `ModelMessage[]`, as Apex stores it.
    AiSdkModelMessages: "ai-sdk-model-messages", "AI SDK model messages", One, Json;
    /// Twenty: rows of UI messages.
    Twenty: "twenty", "Twenty", One, Parts(Twenty);
    /// TanStack AI: UI messages.
    Tanstack: "tanstack", "TanStack AI", One, Parts(Tanstack);
    /// AG-UI: a list of events.
    AgUiEvents: "ag-ui-events", "AG-UI events", One, Other;
    /// AG-UI: the messages of a snapshot.
    AgUiMessages: "ag-ui-messages", "AG-UI messages", One, Other;
    /// pydantic-ai: `ModelMessagesTypeAdapter`.
    PydanticAi: "pydantic-ai", "pydantic-ai", One, Json;
    /// tunacode: a session of pydantic-ai messages.
    Tunacode: "tunacode", "tunacode", One, Json;
    /// OpenAI Agents SDK: SQLite.
    OpenaiAgents: "openai-agents", "OpenAI Agents SDK", Many, Json;
    /// LangGraph: checkpoints in SQLite.
    Langgraph: "langgraph", "LangGraph", Many, Other;
    /// A request body, or a list of messages in a provider's own format.
    Request: "request", "request body", One, Json;
}

impl Product {
    /// The product with this id.
    pub fn from_id(id: &str) -> Option<Product> {
        Product::ALL.iter().copied().find(|product| product.id() == id)
    }
}

impl fmt::Display for Product {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
