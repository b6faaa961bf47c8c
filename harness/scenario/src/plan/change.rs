//! What is done to the history of a conversation on purpose.

use brickbat_rules::dialect::Dialect;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::CallKey;
use crate::action::{Action, ProviderChoice};

/// A change of the history, a question outside it, or a switch of what is asked for or of who is asked. The user asks for it, or the application around the SDK does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Change {
    /// The history is cut: about so many of its last messages stay.
    Trim {
        /// The messages.
        keep: u32,
    },
    /// A summary takes the place of the history, but for about so many of its last messages.
    Summarise {
        /// The messages.
        keep: u32,
    },
    /// What was said from one of the user's messages on is taken back, as if it had never been said.
    Rewind {
        /// How many messages of the user are taken back, the last ones.
        prompts: u32,
    },
    /// The user asks something outside the conversation. Neither question nor answer becomes part of it.
    Aside {
        /// The question.
        question: String,
    },
    /// From the next turn on the model is asked to think, or no longer.
    Thinking {
        /// Whether it is asked to think.
        on: bool,
    },
    /// From the next turn on the thread goes on with another provider.
    Provider {
        /// The dialect that it speaks.
        dialect: Dialect,
    },
}

impl Change {
    /// In words: `rewind by 1`.
    pub fn words(&self) -> String {
        match self {
            Change::Trim { keep } => format!("trim {keep}"),
            Change::Summarise { keep } => format!("summarise {keep}"),
            Change::Rewind { prompts } => format!("rewind by {prompts}"),
            Change::Aside { .. } => "aside".to_owned(),
            Change::Thinking { on: true } => "thinking on".to_owned(),
            Change::Thinking { on: false } => "thinking off".to_owned(),
            Change::Provider { dialect } => format!("provider {dialect}"),
        }
    }
}

/// An action whose calls are those of the plan, and which takes back so many messages of the user.
pub type BoundAction = Action<CallKey, Prompts>;

/// How many messages of the user are taken back, the last ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Prompts(pub u32);

impl BoundAction {
    /// The change of the history that it is.
    pub fn change(&self) -> Option<Change> {
        match self {
            Action::Trim(keep) => Some(Change::Trim { keep: *keep }),
            Action::Summarise(keep) => Some(Change::Summarise { keep: *keep }),
            Action::Rewind(Prompts(prompts)) => Some(Change::Rewind { prompts: *prompts }),
            Action::Aside(question) => Some(Change::Aside { question: question.clone() }),
            Action::Thinking(on) => Some(Change::Thinking { on: *on }),
            Action::Provider(ProviderChoice::Of(dialect)) => Some(Change::Provider { dialect: *dialect }),
            // A test holds that these are all whose line in the table says so.
            _ => None,
        }
    }
}
