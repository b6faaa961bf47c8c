//! A change of the list of tools that a system offers to the model.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A change of the list of tools, with the name of the tool.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ToolChange {
    /// The tool is gone. A call of it that runs continues, and later requests do not offer the tool.
    Withdraw(String),
    /// The tool is offered, for the first time or again. Until then, a tool that was not withdrawn before is missing.
    Offer(String),
    /// The schema of the tool changes: it takes one more argument, the text `detail`, which calls may leave out.
    Extend(String),
}

/// The name of the argument that [`ToolChange::Extend`] adds.
pub const DETAIL: &str = "detail";

impl ToolChange {
    /// The name of the tool.
    pub fn tool(&self) -> &str {
        match self {
            ToolChange::Withdraw(tool) | ToolChange::Offer(tool) | ToolChange::Extend(tool) => tool,
        }
    }

    /// True if a system has the tool after the change. `None` if the change leaves that as it was.
    pub fn presence(&self) -> Option<bool> {
        match self {
            ToolChange::Withdraw(_) => Some(false),
            ToolChange::Offer(_) => Some(true),
            ToolChange::Extend(_) => None,
        }
    }

    /// True if a system has the tool before the first of these changes of it.
    pub fn is_there_before<'a>(mut of_tool: impl Iterator<Item = &'a ToolChange>) -> bool {
        of_tool.find_map(ToolChange::presence) != Some(true)
    }
}

/// A short description, such as `withdraw lookup`.
impl fmt::Display for ToolChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ToolChange::Withdraw(tool) => write!(f, "withdraw {tool}"),
            ToolChange::Offer(tool) => write!(f, "offer {tool}"),
            ToolChange::Extend(tool) => write!(f, "extend {tool}"),
        }
    }
}
