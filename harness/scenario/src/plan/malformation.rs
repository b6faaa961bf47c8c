//! What is wrong with a call as the model makes it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::PlannedCall;

/// What is wrong with a call, and what it would be if nothing were.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Malformation {
    /// It calls a tool that the system was never given.
    pub tool: bool,
    /// Its arguments are not what the tool takes.
    pub args: bool,
    /// It has no id.
    pub no_id: bool,
    /// What it would be.
    pub right: WellFormedCall,
}

/// A call as it should be.
#[expect(missing_docs, reason = "the names are self-explanatory")]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WellFormedCall {
    pub id: String,
    pub tool: String,
    pub args: Value,
    /// The same as text, cut into deltas.
    pub deltas: Vec<String>,
}

impl PlannedCall {
    /// The same call with nothing wrong about it.
    pub fn put_right(&mut self) {
        let Some(malformation) = self.malformation.take() else { return };
        let WellFormedCall { id, tool, args, deltas } = malformation.right;
        (self.id, self.tool, self.args, self.deltas) = (id, tool, args, deltas);
    }
}
