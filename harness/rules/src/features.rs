//! The features that providers have added to their APIs since 2025, each with what Brickbat knows of it.
//!
//! A feature is known in steps: its bodies are accepted, rules are about it, scenarios play it. A test compares each row with
//! the rules, the vectors and the scenarios.

use crate::Dialect;

/// A feature of a provider's API.
#[derive(Debug, Clone, Copy)]
pub struct Feature {
    /// The name, which is unique.
    pub name: &'static str,
    /// The provider.
    pub provider: &'static str,
    /// The dialect of its requests. `None` if Brickbat does not speak it.
    pub dialect: Option<Dialect>,
    /// The day on which the provider's own SDK was first released with it, as `YYYY-MM-DD`.
    pub since: &'static str,
    /// That release, for example `openai 3.8.0` on PyPI.
    pub release: &'static str,
    /// Its effect on a history.
    pub what: &'static str,
    /// The rules about it, by id.
    pub rules: &'static [&'static str],
    /// The vectors of accepted bodies or streams that show it, by name.
    pub vectors: &'static [&'static str],
    /// The scenarios that play it, as paths below `scenarios/`.
    pub plays: &'static [&'static str],
    /// The provider's page, or the package with its types.
    pub source: &'static str,
    /// The day on which the source was last read, as `YYYY-MM-DD`.
    pub read: &'static str,
}

/// How far a feature is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeatureState {
    /// Brickbat does not speak this API, or no vector shows the feature.
    NotYet,
    /// Bodies with it are accepted, and not judged further.
    Accepted,
    /// Rules judge bodies with it.
    Rule,
}

impl FeatureState {
    /// Returns the name, as documents print it.
    pub fn name(self) -> &'static str {
        match self {
            FeatureState::NotYet => "not yet",
            FeatureState::Accepted => "accepted",
            FeatureState::Rule => "rule",
        }
    }
}

impl Feature {
    /// Returns every feature: by provider, the newest first.
    pub fn all() -> &'static [Feature] {
        FEATURES
    }

    /// Returns how far the feature is known.
    pub fn state(&self) -> FeatureState {
        match (self.rules, self.vectors) {
            ([], []) => FeatureState::NotYet,
            ([], _) => FeatureState::Accepted,
            _ => FeatureState::Rule,
        }
    }

    const fn new(
        provider: &'static str,
        name: &'static str,
        since: &'static str,
        release: &'static str,
    ) -> Feature {
        Feature {
            name,
            provider,
            dialect: None,
            since,
            release,
            what: "",
            rules: &[],
            vectors: &[],
            plays: &[],
            source: "",
            read: "2026-11-30",
        }
    }

    const fn openai(name: &'static str, since: &'static str, release: &'static str) -> Feature {
        Feature { dialect: Some(Dialect::OpenaiResponses), ..Feature::new("OpenAI", name, since, release) }
    }

    const fn anthropic(name: &'static str, since: &'static str, release: &'static str) -> Feature {
        Feature {
            dialect: Some(Dialect::AnthropicMessages),
            ..Feature::new("Anthropic", name, since, release)
        }
    }

    const fn google(name: &'static str, since: &'static str, release: &'static str) -> Feature {
        Feature { dialect: Some(Dialect::Gemini), ..Feature::new("Google", name, since, release) }
    }
}

const OPENAI_TYPES: &str = "https://github.com/openai/openai-python/tree/main/src/openai/types/responses";
const ANTHROPIC_TYPES: &str =
    "https://github.com/anthropics/anthropic-sdk-python/tree/main/src/anthropic/types/beta";
const GOOGLE_TYPES: &str = "https://github.com/googleapis/python-genai/blob/main/google/genai/types.py";

static FEATURES: &[Feature] = &[
    Feature {
        what: "A call with `async: true` needs no output at once: the output may come turns later, and must not come twice.",
        rules: &["openai-responses/tool-output-missing", "openai-responses/async-output-duplicate"],
        vectors: &[
            "2026-async-call-without-output",
            "2026-async-output-later",
            "2026-async-custom-output-later",
        ],
        source: "https://developers.openai.com/api/docs/guides/async-tool-calling",
        ..Feature::openai("async tool calls", "2026-09-03", "openai 3.8.0")
    },
    Feature {
        what: "A message to a running response (`response.steer`). The response ends as `steered`, and its successor may be given \
               the results that the client has saved.",
        vectors: &["2026-steered-successor", "2026-steered"],
        source: "https://developers.openai.com/api/docs/guides/websocket-mode",
        ..Feature::openai("steering of a running response", "2026-09-03", "openai 3.8.0")
    },
    Feature {
        what: "An item `configuration_update` changes the reasoning effort or the format of the text from there on.",
        vectors: &["2026-configuration-update"],
        source: OPENAI_TYPES,
        ..Feature::openai("configuration updates", "2026-09-03", "openai 3.8.0")
    },
    Feature {
        what: "Items `program` and `program_output`: code of the model calls functions, and waits for their outputs.",
        vectors: &["2026-program-pending", "2026-program-done", "2026-program"],
        source: OPENAI_TYPES,
        ..Feature::openai("programmatic tool calls", "2026-07-09", "openai 2.45.0")
    },
    Feature {
        what: "Items `multi_agent_call` and `multi_agent_call_output`, and the field `agent`: the provider runs several agents.",
        vectors: &["2026-multi-agent"],
        source: "https://developers.openai.com/api/docs/guides/multi-agent",
        read: "2026-11-29",
        ..Feature::openai("hosted agents", "2026-07-09", "openai 2.45.0")
    },
    Feature {
        what: "An item `additional_tools` offers further tools from there on.",
        vectors: &["2026-additional-tools"],
        source: OPENAI_TYPES,
        ..Feature::openai("additional tools", "2026-06-01", "openai 2.39.0")
    },
    Feature {
        what: "Calls and outputs of a search for tools. A search that the client runs needs its output, one of the provider does \
               not.",
        rules: &["openai-responses/tool-output-missing", "openai-responses/tool-output-orphan"],
        vectors: &["tool-search", "2026-tool-search-by-the-provider"],
        source: OPENAI_TYPES,
        ..Feature::openai("tool search", "2026-03-05", "openai 2.25.0")
    },
    Feature {
        what: "A message says whether it is a comment or the final answer (`phase`), and has to be sent back with it.",
        vectors: &["phase", "2026-phases", "2026-phase-of-a-plain-message"],
        source: OPENAI_TYPES,
        ..Feature::openai("phases of messages", "2026-02-24", "openai 2.24.0")
    },
    Feature {
        what: "Responses over a WebSocket, with a memory of the connection in place of stored responses.",
        source: "https://developers.openai.com/api/docs/guides/websocket-mode",
        ..Feature::new("OpenAI", "WebSocket transport", "2026-02-23", "openai 2.22.0")
    },
    Feature {
        what: "Items `compaction` and `compaction_trigger`: the provider replaces earlier items by an encrypted summary.",
        vectors: &[
            "compaction",
            "2026-compaction-first",
            "2026-compaction-in-the-middle",
            "2026-compaction-trigger",
        ],
        source: "https://developers.openai.com/api/docs/guides/compaction",
        read: "2026-11-29",
        ..Feature::openai("compaction", "2025-12-04", "openai 2.9.0")
    },
    Feature {
        what: "Calls of a custom tool, with any text as their input, and their outputs.",
        rules: &["openai-responses/tool-output-missing", "openai-responses/tool-output-orphan"],
        vectors: &["2026-custom-tool", "2026-custom"],
        source: "https://developers.openai.com/api/docs/guides/function-calling",
        read: "2026-11-29",
        ..Feature::openai("custom tools", "2025-08-07", "openai 1.99.2")
    },
    Feature {
        what: "Calls of a tool server that the provider asks itself, and requests for the user's approval with their answers.",
        vectors: &["2026-mcp-call", "2026-mcp-approval", "2026-mcp-approval-refused"],
        source: "https://developers.openai.com/api/docs/guides/tools-connectors-mcp",
        read: "2026-11-29",
        ..Feature::openai("hosted MCP with approvals", "2025-05-21", "openai 1.80.0")
    },
    Feature {
        what: "A response that runs in the background, and is fetched, continued or cancelled by its id.",
        vectors: &["2026-queued"],
        source: OPENAI_TYPES,
        ..Feature::openai("background mode", "2025-05-21", "openai 1.80.0")
    },
    Feature {
        what: "The conversation is kept by the provider (`conversation`), so a request holds only what is new. Its lock is not \
               judged.",
        rules: &["openai-responses/tool-output-missing"],
        plays: &["abort/mid-batch.yaml"],
        source: OPENAI_TYPES,
        ..Feature::openai("conversations", "2025-03-11", "openai 1.66.0")
    },
    Feature {
        what: "A field `thread` continues an earlier reply, and only the new messages are sent.",
        vectors: &["2026-message-thread"],
        source: "https://platform.claude.com/docs/en/build-with-claude/message-threads",
        ..Feature::anthropic("message threads", "2026-10-23", "anthropic 2.2.0")
    },
    Feature {
        what: "A system message changes the effort from there on, with or without a text.",
        rules: &["anthropic-messages/request-shape"],
        vectors: &["system-message-with-effort-alone"],
        source: "https://platform.claude.com/docs/en/build-with-claude/effort-per-message",
        ..Feature::anthropic("effort in a system message", "2026-10-21", "anthropic 2.0.0")
    },
    Feature {
        what: "Version 2026-10-21 of the API: no document in a reply, no citations in a user's text, no sampling parameters.",
        rules: &[
            "anthropic-messages/document-outside-user",
            "anthropic-messages/citations-outside-assistant",
            "anthropic-messages/sampling-parameter",
        ],
        vectors: &["2026-citations-switched-on"],
        source: "https://platform.claude.com/docs/en/api/migration-2026-10-21",
        read: "2026-11-29",
        ..Feature::anthropic("API version 2026-10-21", "2026-10-21", "anthropic 2.0.0")
    },
    Feature {
        what: "A block `tool_addition` defines a tool in the conversation.",
        rules: &["anthropic-messages/system-message-content"],
        vectors: &["2026-inline-tool"],
        source: ANTHROPIC_TYPES,
        ..Feature::anthropic("inline tools", "2026-09-22", "anthropic 1.8.0")
    },
    Feature {
        what: "A block `mcp_tool_listing` keeps the tools that a server listed, and is sent back unchanged.",
        vectors: &["2026-mcp-tool-listing"],
        source: ANTHROPIC_TYPES,
        ..Feature::anthropic("listings of MCP tools", "2026-09-22", "anthropic 1.8.0")
    },
    Feature {
        what: "A request asks for a summary (`compaction`), at once or while the turn continues. The signed block comes first, and the \
               turns since the request stay after it.",
        vectors: &["2026-compaction-request", "2026-compaction-first", "2026-compaction-in-the-background"],
        source: "https://platform.claude.com/docs/en/build-with-claude/compaction-on-demand",
        read: "2026-11-29",
        ..Feature::anthropic("compaction on demand", "2026-09-15", "anthropic 1.6.0")
    },
    Feature {
        what: "Thinking is bound to the messages before it, and to the account that asked for it.",
        rules: &["anthropic-messages/thinking-bound-elsewhere"],
        vectors: &["2026-thinking-bound-to-the-account"],
        source: ANTHROPIC_TYPES,
        ..Feature::anthropic("bound thinking", "2026-09-01", "anthropic 1.3.0")
    },
    Feature {
        what: "A block `browser_state` in the result of a browser's tool lists the open tabs.",
        vectors: &["2026-browser-state"],
        source: ANTHROPIC_TYPES,
        ..Feature::anthropic("state of the browser", "2026-08-19", "anthropic 0.124.0")
    },
    Feature {
        what: "Blocks `tool_addition` and `tool_removal` in a system message change the tools of a conversation.",
        rules: &["anthropic-messages/system-message-content"],
        vectors: &["2026-tool-added-and-removed"],
        source: ANTHROPIC_TYPES,
        ..Feature::anthropic("addition and removal of tools", "2026-07-24", "anthropic 0.120.0")
    },
    Feature {
        what: "The token of a refused reply lets another model continue it from a prefill.",
        rules: &["anthropic-messages/prefill-not-supported"],
        vectors: &["fallback-credit"],
        source: "https://platform.claude.com/docs/en/build-with-claude/fallback-credit",
        ..Feature::anthropic("fallback credit", "2026-06-09", "anthropic 0.108.0")
    },
    Feature {
        what: "A block `fallback` marks the place where another model took over, and keeps its place in the reply.",
        vectors: &["2026-fallback"],
        source: ANTHROPIC_TYPES,
        ..Feature::anthropic("fallback models", "2026-06-09", "anthropic 0.108.0")
    },
    Feature {
        what: "A message of the role `system` in the middle of a conversation, after a user's message only.",
        rules: &[
            "anthropic-messages/system-message-not-after-user",
            "anthropic-messages/system-message-not-before-assistant",
        ],
        source: ANTHROPIC_TYPES,
        ..Feature::anthropic("system messages in the conversation", "2026-05-28", "anthropic 0.105.0")
    },
    Feature {
        what: "The model asks an advisor; call and result are in one reply.",
        rules: &[
            "anthropic-messages/server-tool-result-missing",
            "anthropic-messages/server-tool-result-orphan",
        ],
        vectors: &["2026-advisor"],
        source: ANTHROPIC_TYPES,
        ..Feature::anthropic("advisor", "2026-04-09", "anthropic 0.93.0")
    },
    Feature {
        what: "The provider compacts a conversation that is longer than a threshold; the block comes first in its reply.",
        vectors: &["2026-compaction-at-a-threshold", "2026-compaction-failed"],
        plays: &["server/summarised.yaml"],
        source: "https://platform.claude.com/docs/en/build-with-claude/compaction-threshold",
        read: "2026-11-29",
        ..Feature::anthropic("compaction at a threshold", "2026-02-05", "anthropic 0.78.0")
    },
    Feature {
        what: "Code in the provider's container calls tools of the client, and waits for their results.",
        vectors: &[
            "2026-programmatic-call-pending",
            "2026-programmatic-call-done",
            "2026-programmatic-calls-in-two-rounds",
        ],
        source: "https://platform.claude.com/docs/en/agents-and-tools/tool-use/programmatic-tool-calling",
        read: "2026-11-29",
        ..Feature::anthropic("programmatic tool calls", "2025-11-24", "anthropic 0.75.0")
    },
    Feature {
        what: "The provider, or a tool of the client, finds tools by a search (`tool_reference`).",
        vectors: &["2026-tool-search", "2026-tool-search-of-the-client"],
        source: "https://platform.claude.com/docs/en/agents-and-tools/tool-use/tool-search-tool",
        read: "2026-11-29",
        ..Feature::anthropic("tool search", "2025-11-24", "anthropic 0.75.0")
    },
    Feature {
        what: "Tools that the provider runs, together with functions: parts `toolCall` and `toolResponse`.",
        vectors: &["2026-tools-of-the-provider"],
        source: GOOGLE_TYPES,
        ..Feature::google("tools of the provider", "2026-03-18", "python-genai 1.68.0")
    },
    Feature {
        what: "Code that the provider runs has an id, which its result repeats.",
        vectors: &["2026-code-execution"],
        source: "https://ai.google.dev/gemini-api/docs/code-execution",
        read: "2026-11-29",
        ..Feature::google("code execution with ids", "2026-03-18", "python-genai 1.68.0")
    },
    Feature {
        what: "An API of its own that keeps conversations at the provider: steps, `previous_interaction_id`, background.",
        source: "https://ai.google.dev/gemini-api/docs/interactions",
        ..Feature::new("Google", "Interactions", "2025-12-11", "python-genai 1.55.0")
    },
    Feature {
        what: "The arguments of a call come in pieces (`partialArgs`, `willContinue`).",
        vectors: &["2026-partial-arguments"],
        source: GOOGLE_TYPES,
        ..Feature::google("arguments in pieces", "2025-11-18", "python-genai 1.51.0")
    },
    Feature {
        what: "The response of a function has parts, such as images.",
        vectors: &["2026-parts-of-a-response"],
        source: GOOGLE_TYPES,
        ..Feature::google("parts of a function's response", "2025-09-25", "python-genai 1.39.0")
    },
    Feature {
        what: "Nova runs tools of its own: a call of type `server_tool_use` and its result are in one reply.",
        rules: &["bedrock-converse/tool-result-missing"],
        vectors: &["2026-grounding", "2026-code-interpreter", "2026-system-tool-not-offered"],
        dialect: Some(Dialect::BedrockConverse),
        source: "https://docs.aws.amazon.com/nova/latest/nova2-userguide/using-tools.html",
        read: "2026-11-29",
        ..Feature::new("Amazon", "system tools", "2025-10-29", "botocore 1.40.62")
    },
    Feature {
        what: "Conversations and agents that the provider keeps.",
        source: "https://docs.mistral.ai/api/endpoint/beta/conversations",
        ..Feature::new("Mistral", "Conversations", "2025-05-27", "mistralai 1.8.0")
    },
];
