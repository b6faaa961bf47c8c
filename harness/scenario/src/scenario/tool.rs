//! A tool of a scenario and its ending.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a tool ends once the harness lets it. Give exactly one of `returns`, `fails`, `throws` and `denies`,
/// unless the tool is `missing`, `hands_over` or is an `agent`. In a text, `{key}` is replaced by the
/// argument `key` of the call. An empty text produces an empty result. U+FFFD represents half a character (a
/// lone surrogate), which the tool really returns.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tool {
    /// The tool returns this text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub returns: Option<String>,
    /// The tool returns an error result with this text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fails: Option<String>,
    /// The tool throws an error with this text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throws: Option<String>,
    /// The user refuses the call: with `asks` the answer is no and the tool never runs; otherwise the tool
    /// throws a refusal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub denies: Option<String>,
    /// The tool ignores the user's stop: it continues and settles late.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deaf: bool,
    /// The user is asked before the tool runs, and agrees unless the tool `denies`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub asks: bool,
    /// The model calls this tool, but the system was never given it. It has no outcome, because it never
    /// runs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub missing: bool,
    /// The name by which the model calls the tool, exactly as on the wire, if that is not a valid tool name.
    /// Only for a `missing` tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub called: Option<String>,
    /// The tool does not settle during its turn; if it is also `deaf`, it settles in the next one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hangs: bool,
    /// The turn ends with this tool's result, and the model is not asked again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ends: bool,
    /// The tool hands the conversation over to another agent, which is asked once the batch is answered. The
    /// system chooses the text of the result, so the tool has no separate outcome. If one batch contains
    /// several handoffs, a system may take only one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hands_over: bool,
    /// The tool's result is padded with filler words to this many bytes, at most 1,000,000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u32>,
    /// The tool is a sub-agent: it asks the same provider in its own conversation, may call all tools that
    /// are not sub-agents, and returns its last text. Each call to it gives its model's replies under
    /// `agent`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub agent: bool,
    /// The tool runs in the client, for example in a browser: the system hands its calls to the client, and
    /// its loop continues when it gets their results.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub client: bool,
}

impl Tool {
    /// Creates a tool that returns a text.
    pub fn returning(text: impl Into<String>) -> Tool {
        Tool { returns: Some(text.into()), ..Tool::default() }
    }
}
