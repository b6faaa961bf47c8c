//! Deliberate changes of a conversation's history.

use brickbat_rules::dialect::Dialect;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::CallKey;
use crate::action::{Action, ProviderChoice, ToolChange};

/// A change to the history or to the list of tools, a question outside the history, or a switch of the thinking mode or the
/// provider. It is requested either by the user or by the application around the SDK.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Change {
    /// The history is cut to about its last `keep` messages.
    Trim {
        /// The number of messages to keep.
        keep: u32,
    },
    /// A summary replaces the history except for about its last `keep` messages.
    Summarise {
        /// The number of messages to keep.
        keep: u32,
    },
    /// Everything from one of the user's messages on is taken back, as if it had never existed.
    Rewind {
        /// The number of user messages that are taken back, counted from the end.
        prompts: u32,
    },
    /// The user asks something outside the conversation. Neither question nor answer becomes part of it.
    Aside {
        /// The question.
        question: String,
    },
    /// From the next turn on, the model is asked to think, or no longer asked.
    Thinking {
        /// True if the model is asked to think.
        on: bool,
    },
    /// From the next turn on, the thread continues with another provider.
    Provider {
        /// The dialect of that provider.
        dialect: Dialect,
    },
    /// From the next request on, the system offers the model other tools. An adapter gets the complete list instead.
    #[schemars(skip)]
    Tools {
        /// The tool, and its change.
        change: ToolChange,
    },
}

/// How a change makes the history shorter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shortening {
    /// Messages are left out.
    Cut,
    /// A summary stands for messages.
    Summary,
}

impl Change {
    /// How it makes the history shorter, if it does. After a rewind, the messages have never existed, so nothing was shortened.
    pub fn shortening(&self) -> Option<Shortening> {
        match self {
            Change::Trim { .. } => Some(Shortening::Cut),
            Change::Summarise { .. } => Some(Shortening::Summary),
            Change::Rewind { .. }
            | Change::Aside { .. }
            | Change::Thinking { .. }
            | Change::Provider { .. }
            | Change::Tools { .. } => None,
        }
    }

    /// A short description: `rewind by 1`.
    pub fn words(&self) -> String {
        match self {
            Change::Trim { keep } => format!("trim {keep}"),
            Change::Summarise { keep } => format!("summarise {keep}"),
            Change::Rewind { prompts } => format!("rewind by {prompts}"),
            Change::Aside { .. } => "aside".to_owned(),
            Change::Thinking { on: true } => "thinking on".to_owned(),
            Change::Thinking { on: false } => "thinking off".to_owned(),
            Change::Provider { dialect } => format!("provider {dialect}"),
            Change::Tools { change } => format!("tools {change}"),
        }
    }
}

/// An action that names the plan's calls, and the number of user messages that it takes back.
pub type BoundAction = Action<CallKey, Prompts>;

/// The number of user messages that are taken back, counted from the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Prompts(pub u32);

impl BoundAction {
    /// The change of the history, if the action is one.
    pub fn change(&self) -> Option<Change> {
        match self {
            Action::Trim(keep) => Some(Change::Trim { keep: *keep }),
            Action::Summarise(keep) => Some(Change::Summarise { keep: *keep }),
            Action::Rewind(Prompts(prompts)) => Some(Change::Rewind { prompts: *prompts }),
            Action::Aside(question) => Some(Change::Aside { question: question.clone() }),
            Action::Thinking(on) => Some(Change::Thinking { on: *on }),
            Action::Provider(ProviderChoice::Of(dialect)) => Some(Change::Provider { dialect: *dialect }),
            Action::Tools(change) => Some(Change::Tools { change: change.clone() }),
            // A test compares this with the actors of the table.
            _ => None,
        }
    }
}
