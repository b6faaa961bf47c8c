//! The products whose stores are known.

use std::fmt;

/// A product that stores sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Product {
    /// Anthropic's Claude Code: JSONL.
    ClaudeCode,
    /// opencode, and Kilo CLI: JSON files, SQLite rows, exports.
    Opencode,
    /// OpenAI's Codex CLI: JSONL rollouts.
    Codex,
    /// Google's Gemini CLI: JSON, and JSONL with patches.
    GeminiCli,
    /// Qwen Code: JSONL.
    QwenCode,
    /// Cline, Roo and Kilo's extension: a list of Anthropic messages.
    Cline,
    /// goose: SQLite, JSON exports, formerly JSONL.
    Goose,
    /// pi, OpenClaw, oh-my-pi: a JSONL tree.
    Pi,
    /// GitHub's Copilot CLI: JSONL events.
    CopilotCli,
    /// Vercel's AI SDK: `UIMessage[]`.
    AiSdkUiMessages,
    /// Vercel's AI SDK: the chunks of a UI message stream.
    AiSdkUiChunks,
    /// Vercel's AI SDK: `ModelMessage[]`, as Apex stores it.
    AiSdkModelMessages,
    /// Twenty's rows of UI messages.
    Twenty,
    /// TanStack AI: UI messages.
    Tanstack,
    /// AG-UI: a list of events.
    AgUiEvents,
    /// AG-UI: the messages of a snapshot.
    AgUiMessages,
    /// pydantic-ai: `ModelMessagesTypeAdapter`.
    PydanticAi,
    /// tunacode: a session of pydantic-ai messages.
    Tunacode,
    /// OpenAI Agents SDK: SQLite.
    OpenaiAgents,
    /// LangGraph: checkpoints in SQLite.
    Langgraph,
    /// A request body, or a list of messages in a provider's own form.
    Request,
}

impl Product {
    /// All of them.
    pub const ALL: [Product; 21] = [
        Product::ClaudeCode,
        Product::Opencode,
        Product::Codex,
        Product::GeminiCli,
        Product::QwenCode,
        Product::Cline,
        Product::Goose,
        Product::Pi,
        Product::CopilotCli,
        Product::AiSdkUiMessages,
        Product::AiSdkUiChunks,
        Product::AiSdkModelMessages,
        Product::Twenty,
        Product::Tanstack,
        Product::AgUiEvents,
        Product::AgUiMessages,
        Product::PydanticAi,
        Product::Tunacode,
        Product::OpenaiAgents,
        Product::Langgraph,
        Product::Request,
    ];

    /// The word for options and reports, such as `claude-code`.
    pub fn id(self) -> &'static str {
        match self {
            Product::ClaudeCode => "claude-code",
            Product::Opencode => "opencode",
            Product::Codex => "codex",
            Product::GeminiCli => "gemini-cli",
            Product::QwenCode => "qwen-code",
            Product::Cline => "cline",
            Product::Goose => "goose",
            Product::Pi => "pi",
            Product::CopilotCli => "copilot-cli",
            Product::AiSdkUiMessages => "ai-sdk-ui-messages",
            Product::AiSdkUiChunks => "ai-sdk-ui-chunks",
            Product::AiSdkModelMessages => "ai-sdk-model-messages",
            Product::Twenty => "twenty",
            Product::Tanstack => "tanstack",
            Product::AgUiEvents => "ag-ui-events",
            Product::AgUiMessages => "ag-ui-messages",
            Product::PydanticAi => "pydantic-ai",
            Product::Tunacode => "tunacode",
            Product::OpenaiAgents => "openai-agents",
            Product::Langgraph => "langgraph",
            Product::Request => "request",
        }
    }

    /// The product of that word.
    pub fn from_id(id: &str) -> Option<Product> {
        Product::ALL.into_iter().find(|product| product.id() == id)
    }
}

impl fmt::Display for Product {
    /// The name as its makers write it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Product::ClaudeCode => "Claude Code",
            Product::Opencode => "opencode",
            Product::Codex => "Codex",
            Product::GeminiCli => "Gemini CLI",
            Product::QwenCode => "Qwen Code",
            Product::Cline => "Cline",
            Product::Goose => "goose",
            Product::Pi => "pi",
            Product::CopilotCli => "Copilot CLI",
            Product::AiSdkUiMessages => "AI SDK UI messages",
            Product::AiSdkUiChunks => "AI SDK UI chunks",
            Product::AiSdkModelMessages => "AI SDK model messages",
            Product::Twenty => "Twenty",
            Product::Tanstack => "TanStack AI",
            Product::AgUiEvents => "AG-UI events",
            Product::AgUiMessages => "AG-UI messages",
            Product::PydanticAi => "pydantic-ai",
            Product::Tunacode => "tunacode",
            Product::OpenaiAgents => "OpenAI Agents SDK",
            Product::Langgraph => "LangGraph",
            Product::Request => "request body",
        })
    }
}
