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

/// Files next to a store that belong to its sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Beside {
    /// A folder with the name of the file.
    Folder,
    /// The write-ahead log of a database.
    Log,
    /// Cline's lists of edits and compactions.
    OfCline,
    /// The messages of an agent of Strands.
    OfStrands,
    /// The events of a conversation of OpenHands.
    OfOpenhands,
    /// The state of a session of PicoClaw.
    OfPicoclaw,
    /// opencode before 1.2: `storage/session/<project>/<session>.json`, with messages and parts in separate folders.
    Storage,
}

/// File extensions of one kind of store.
type Endings = &'static [&'static str];

const JSON: Endings = &["json"];
const LINES: Endings = &["jsonl", "ndjson"];
const TRAJECTORY: Endings = &["traj", "json"];
const AGENT_FILE: Endings = &["af", "json"];
const COMPRESSED: Endings = &["zst"];
const PACKED: Endings = &["zstd"];
const VSCODE_DATABASE: Endings = &["vscdb"];
const ROWS: Endings = &["csv"];
const DUMP: Endings = &["sql"];
const DATABASE: Endings = &["db", "sqlite", "sqlite3", "sqlite-db"];

/// A product's row.
#[derive(Debug)]
struct Row {
    id: &'static str,
    name: &'static str,
    per_file: PerFile,
    form: Form,
    endings: &'static [Endings],
    beside: &'static [Beside],
}

macro_rules! products {
    ($($(#[$doc:meta])* $variant:ident: $id:literal, $name:literal, $per_file:ident, $form:ident $(($part:ident))?,
        [$($endings:ident),*], [$($beside:ident),*];)*) => {
        /// A product that stores sessions.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Product {
            $($(#[$doc])* $variant,)*
        }

        impl Product {
            /// All products.
            pub const ALL: &[Product] = &[$(Product::$variant),*];

            const fn row(self) -> &'static Row {
                match self {
                    $(Product::$variant => &Row {
                        id: $id,
                        name: $name,
                        per_file: PerFile::$per_file,
                        form: Form::$form $((Part::$part))?,
                        endings: &[$($endings),*],
                        beside: &[$(Beside::$beside),*],
                    },)*
                }
            }
        }
    };
}

products! {
    /// Anthropic's Claude Code: JSONL.
    ClaudeCode: "claude-code", "Claude Code", One, Other, [LINES], [Folder];
    /// opencode, and Kilo CLI: JSON files, SQLite rows, exports.
    Opencode: "opencode", "opencode", Many, Other, [JSON, DATABASE], [Log, Storage];
    /// OpenAI's Codex CLI: JSONL rollouts.
    Codex: "codex", "Codex", One, Other, [LINES, COMPRESSED], [];
    /// Google's Gemini CLI: JSON, and JSONL with patches.
    GeminiCli: "gemini-cli", "Gemini CLI", One, Other, [JSON, LINES], [];
    /// Qwen Code: JSONL.
    QwenCode: "qwen-code", "Qwen Code", One, Other, [LINES], [];
    /// Cline, Roo and the Kilo extension: a list of Anthropic messages.
    Cline: "cline", "Cline", One, Other, [JSON], [OfCline];
    /// goose: SQLite, JSON exports, formerly JSONL.
    Goose: "goose", "goose", Many, Other, [JSON, LINES, DATABASE], [Log];
    /// pi, OpenClaw, oh-my-pi: a JSONL tree.
    Pi: "pi", "pi", One, Other, [LINES], [];
    /// GitHub's Copilot CLI: JSONL events.
    CopilotCli: "copilot-cli", "Copilot CLI", One, Other, [LINES], [];
    /// Vercel's AI SDK: `UIMessage[]`.
    AiSdkUiMessages: "ai-sdk-ui-messages", "AI SDK UI messages", One, Parts(Ui), [JSON], [];
    /// Vercel's AI SDK: the chunks of a UI message stream.
    AiSdkUiChunks: "ai-sdk-ui-chunks", "AI SDK UI chunks", One, Other, [JSON, LINES], [];
    /// Vercel's AI SDK: `ModelMessage[]`, as Apex stores it.
    AiSdkModelMessages: "ai-sdk-model-messages", "AI SDK model messages", One, Json, [JSON], [];
    /// Twenty: rows of UI messages.
    Twenty: "twenty", "Twenty", One, Parts(Twenty), [JSON], [];
    /// TanStack AI: UI messages.
    Tanstack: "tanstack", "TanStack AI", One, Parts(Tanstack), [JSON], [];
    /// AG-UI: a list of events.
    AgUiEvents: "ag-ui-events", "AG-UI events", One, Other, [JSON, LINES], [];
    /// AG-UI: the messages of a snapshot.
    AgUiMessages: "ag-ui-messages", "AG-UI messages", One, Other, [JSON], [];
    /// pydantic-ai: `ModelMessagesTypeAdapter`.
    PydanticAi: "pydantic-ai", "pydantic-ai", One, Json, [JSON], [];
    /// tunacode: a session of pydantic-ai messages.
    Tunacode: "tunacode", "tunacode", One, Json, [JSON], [];
    /// OpenAI Agents SDK: SQLite.
    OpenaiAgents: "openai-agents", "OpenAI Agents SDK", Many, Json, [JSON, DATABASE], [Log];
    /// LangGraph: checkpoints in SQLite.
    Langgraph: "langgraph", "LangGraph", Many, Other, [DATABASE], [Log];
    /// LangGraph: a dump of PostgreSQL.
    LanggraphPostgres: "langgraph-postgres", "LangGraph in PostgreSQL", Many, Other, [DUMP], [];
    /// LangGraph: documents of Redis.
    LanggraphRedis: "langgraph-redis", "LangGraph in Redis", Many, Other, [JSON, LINES], [];
    /// LangChain: the dicts of `messages_to_dict`.
    Langchain: "langchain", "LangChain messages", Many, Other, [JSON, DATABASE], [Log];
    /// LangGraph: the state of a thread, with LangChain messages.
    LanggraphState: "langgraph-state", "LangGraph state", One, Other, [JSON], [];
    /// n8n: rows with LangChain messages.
    N8n: "n8n", "n8n", Many, Other, [JSON, ROWS], [];
    /// ShareGPT: `conversations` of a training set.
    Sharegpt: "sharegpt", "ShareGPT", Many, Other, [JSON], [];
    /// OpenHands: the events of a trajectory, or a folder with a file for each event.
    Openhands: "openhands", "OpenHands", One, Other, [JSON], [OfOpenhands];
    /// SWE-agent: a trajectory.
    SweAgent: "swe-agent", "SWE-agent", One, Other, [TRAJECTORY], [];
    /// Continue: a JSON file.
    Continue: "continue", "Continue", One, Other, [JSON], [];
    /// Open WebUI: an export of chats.
    OpenWebui: "open-webui", "Open WebUI", Many, Other, [JSON], [];
    /// LibreChat: an export of a conversation.
    Librechat: "librechat", "LibreChat", One, Other, [JSON], [];
    /// Letta: an agent file.
    Letta: "letta", "Letta", Many, Other, [AGENT_FILE], [];
    /// Jan: a message on each line.
    Jan: "jan", "Jan", One, Other, [LINES], [];
    /// Mistral Vibe: a message on each line.
    MistralVibe: "mistral-vibe", "Mistral Vibe", One, Other, [LINES], [];
    /// Kimi CLI: a message on each line.
    Kimi: "kimi", "Kimi CLI", One, Other, [LINES], [];
    /// Kimi Code: a log of events.
    KimiCode: "kimi-code", "Kimi Code", One, Other, [LINES], [];
    /// VS Code chat: a JSON file, or a log of changes to it.
    VscodeChat: "vscode-chat", "VS Code chat", One, Other, [JSON, LINES], [];
    /// Cursor: SQLite.
    Cursor: "cursor", "Cursor", Many, Other, [VSCODE_DATABASE], [Log];
    /// Zed: SQLite, with packed threads.
    Zed: "zed", "Zed", Many, Other, [DATABASE], [Log];
    /// Charm's Crush: SQLite.
    Crush: "crush", "Crush", Many, Other, [DATABASE], [Log];
    /// xAI's Grok CLI: JSONL.
    GrokCli: "grok-cli", "Grok CLI", One, Other, [LINES], [];
    /// superagent's Grok CLI: SQLite.
    SuperagentGrok: "superagent-grok", "Grok CLI by superagent", Many, Other, [DATABASE], [Log];
    /// Simon Willison's llm: SQLite.
    Llm: "llm", "llm", Many, Other, [DATABASE], [Log];
    /// Docker Agent, formerly cagent: SQLite.
    DockerAgent: "docker-agent", "Docker Agent", Many, Other, [DATABASE], [Log];
    /// Hermes Agent: SQLite, or exports in JSONL.
    Hermes: "hermes", "Hermes Agent", Many, Other, [DATABASE, LINES], [Log];
    /// AgentScope: the state of an agent in JSON.
    Agentscope: "agentscope", "AgentScope", Many, Other, [JSON], [];
    /// Roo Code, since version 2 of its history.
    RooCode: "roo-code", "Roo Code", One, Other, [JSON], [];
    /// Deep Code: a message on each line.
    Deepcode: "deepcode", "Deep Code", One, Other, [LINES], [];
    /// DeepSeek Harness: a log of events.
    DeepseekHarness: "deepseek-harness", "DeepSeek Harness", One, Other, [LINES, PACKED], [];
    /// nanobot: a message on each line.
    Nanobot: "nanobot", "nanobot", One, Other, [LINES], [];
    /// jcode: a JSON file.
    Jcode: "jcode", "jcode", One, Other, [JSON], [];
    /// Codewhale: a JSON file.
    Codewhale: "codewhale", "Codewhale", One, Other, [JSON], [];
    /// AiderDesk: the context of a task.
    AiderDesk: "aider-desk", "AiderDesk", One, Other, [JSON], [];
    /// Laravel's AI SDK: SQLite.
    LaravelAi: "laravel-ai", "Laravel AI SDK", Many, Other, [DATABASE], [Log];
    /// Spring AI: chat memory in SQLite.
    SpringAi: "spring-ai", "Spring AI", Many, Other, [DATABASE], [Log];
    /// Factory's Droid: JSONL.
    Droid: "droid", "Droid", One, Other, [LINES], [];
    /// Amp: a thread in JSON.
    Amp: "amp", "Amp", One, Other, [JSON], [];
    /// Kiro CLI: an exported conversation.
    Kiro: "kiro", "Kiro CLI", One, Other, [JSON, LINES], [];
    /// Google's Agent Development Kit: a session in JSON, or SQLite.
    GoogleAdk: "google-adk", "Google ADK", Many, Other, [JSON, DATABASE], [Log];
    /// Strands: a folder with a file for each message, and snapshots.
    Strands: "strands", "Strands", One, Other, [JSON], [OfStrands];
    /// Mastra: SQLite.
    Mastra: "mastra", "Mastra", Many, Other, [DATABASE], [Log];
    /// Genkit: messages and sessions.
    Genkit: "genkit", "Genkit", One, Other, [JSON], [];
    /// AutoGen: the state of an agent.
    Autogen: "autogen", "AutoGen", One, Other, [JSON], [];
    /// Agno: a stored session in JSON, or SQLite.
    Agno: "agno", "Agno", Many, Other, [JSON, DATABASE], [Log];
    /// LlamaIndex: a chat store.
    Llamaindex: "llamaindex", "LlamaIndex", Many, Other, [JSON, DATABASE], [Log];
    /// Semantic Kernel: a chat history.
    SemanticKernel: "semantic-kernel", "Semantic Kernel", One, Other, [JSON], [];
    /// Haystack: a list of messages.
    Haystack: "haystack", "Haystack", One, Other, [JSON], [];
    /// Microsoft Agent Framework: the messages of a thread.
    AgentFramework: "agent-framework", "Agent Framework", One, Other, [JSON], [];
    /// Microsoft Agent Framework on Durable Task: the state of an agent.
    DurableAgent: "durable-agent", "Agent Framework durable state", One, Other, [JSON], [];
    /// LangChain4j: a list of messages.
    Langchain4j: "langchain4j", "LangChain4j", One, Other, [JSON], [];
    /// LiveKit Agents: the items of a chat context.
    Livekit: "livekit", "LiveKit Agents", One, Other, [JSON], [];
    /// SillyTavern: a message on each line.
    Sillytavern: "sillytavern", "SillyTavern", One, Other, [LINES], [];
    /// LM Studio: a conversation in JSON.
    LmStudio: "lm-studio", "LM Studio", One, Other, [JSON], [];
    /// RubyLLM: SQLite.
    RubyLlm: "ruby-llm", "RubyLLM", Many, Other, [DATABASE], [Log];
    /// Cloudflare's `AIChatAgent`: the SQLite of a Durable Object.
    CloudflareAgents: "cloudflare-agents", "Cloudflare Agents", Many, Other, [DATABASE], [Log];
    /// VoltAgent: LibSQL.
    Voltagent: "voltagent", "VoltAgent", Many, Other, [DATABASE], [Log];
    /// PicoClaw: a message on each line, and a file with the number of lines that are skipped.
    Picoclaw: "picoclaw", "PicoClaw", One, Other, [LINES], [OfPicoclaw];
    /// Chat messages, one on each line.
    MessageLines: "message-lines", "list of messages", One, Other, [LINES], [];
    /// A request body, or a list of messages in a provider's own format.
    Request: "request", "request body", One, Json, [JSON], [];
}

impl Product {
    /// The product with this id.
    pub fn from_id(id: &str) -> Option<Product> {
        Product::ALL.iter().copied().find(|product| product.id() == id)
    }

    /// The name in options and reports, such as `claude-code`.
    pub const fn id(self) -> &'static str {
        self.row().id
    }

    /// The extensions of its stores' file names.
    pub fn endings(self) -> impl Iterator<Item = &'static str> {
        self.row().endings.iter().copied().flatten().copied()
    }

    /// The files next to its stores.
    pub const fn beside(self) -> &'static [Beside] {
        self.row().beside
    }

    pub(crate) const fn per_file(self) -> PerFile {
        self.row().per_file
    }

    pub(crate) const fn form(self) -> Form {
        self.row().form
    }
}

/// Forks that store sessions in the format of another product: the product, a part of their paths, and their name.
const FORKS: [(Product, &str, &str); 6] = [
    (Product::Pi, "/.openclaw/", "OpenClaw"),
    (Product::Pi, "/.clawdbot/", "OpenClaw"),
    (Product::Pi, "/.moltbot/", "OpenClaw"),
    (Product::Pi, "/.omp/", "oh-my-pi"),
    (Product::Cline, "/rooveterinaryinc.roo-cline/", "Roo Code"),
    (Product::Cline, "/kilocode.kilo-code/", "Kilo Code"),
];

impl Product {
    /// The fork of this product that keeps its files at this path. `None` if the path shows none.
    pub fn fork_at(self, path: &str) -> Option<&'static str> {
        let path = format!("{}/", path.replace('\\', "/"));
        FORKS.iter().find(|(of, part, _)| *of == self && path.contains(part)).map(|(_, _, fork)| *fork)
    }
}

impl fmt::Display for Product {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // In its makers' spelling.
        f.write_str(self.row().name)
    }
}

#[cfg(feature = "sqlite")]
#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::Path;

    /// Products that store one JSON document with the form [`Form::Other`]. No system that the closed loop or the
    /// nightly run starts stores them, so no fault is planted in them.
    const NOT_PLANTED: [Product; 3] = [Product::Cline, Product::AgUiEvents, Product::AgUiMessages];

    /// The kinds of files that a product's stored sessions in `corpora/sessions` have; `sql` is a database.
    #[expect(clippy::disallowed_methods, reason = "a test may read the stored sessions")]
    fn kinds(product: Product) -> BTreeSet<String> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpora/sessions");
        let entries = std::fs::read_dir(root.join(product.id())).into_iter().flatten().flatten();
        let endings = entries.filter_map(|entry| entry.path().extension()?.to_str().map(str::to_owned));
        endings.filter(|ending| ending != "yaml").collect()
    }

    #[test]
    fn the_form_and_the_number_of_sessions_fit_the_stored_sessions() {
        for product in Product::ALL.iter().copied() {
            let kinds = kinds(product);
            let is_document = kinds.iter().eq(["json"]);
            let is_described =
                crate::stores::forms::tests::FORMS.iter().any(|form| form.product() == product);
            let is_listed = NOT_PLANTED.contains(&product) || is_described && is_document;
            assert_eq!(is_document && product.form() == Form::Other, is_listed, "{product}: its form");
            if kinds.contains("sql") {
                assert_eq!(product.per_file(), PerFile::Many, "{product}: a database has many sessions");
            }
        }
        assert!(Product::ALL.iter().filter(|product| !kinds(**product).is_empty()).count() > 15);
    }
}
