//! Malformed calls from the model.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::PlannedCall;

/// The defects of a call, and the call without them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Malformation {
    /// It calls a tool that the system was never given.
    pub tool: bool,
    /// Its arguments do not fit the tool.
    pub args: bool,
    /// It has no id.
    pub no_id: bool,
    /// The call without the defects.
    pub right: WellFormedCall,
}

/// A call without defects.
#[expect(missing_docs, reason = "the names are self-explanatory")]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WellFormedCall {
    pub id: String,
    pub tool: String,
    pub args: Value,
    /// The arguments as text, cut into deltas.
    pub deltas: Vec<String>,
}

impl PlannedCall {
    /// Removes the defects of the call.
    pub fn put_right(&mut self) {
        let Some(malformation) = self.malformation.take() else { return };
        let WellFormedCall { id, tool, args, deltas } = malformation.right;
        (self.id, self.tool, self.args, self.deltas) = (id, tool, args, deltas);
    }
}
