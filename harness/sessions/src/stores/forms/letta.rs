//! Letta: an agent file (`.af`) with the messages of its agents.
//!
//! The agent sends the messages in `in_context_message_ids`. An id there without a message ends the import
//! (`_import_agent` in `letta/services/agent_serialization_manager.py`). Source: `MessageSchema` in `letta/schemas/agent_file.py` of <https://github.com/letta-ai/letta>.

use super::{BASE, Form, Framing, Mark, Shape};
use crate::Product;

pub(crate) const FORM: Form = Form {
    product: Product::Letta,
    generation: "agent file",
    file: Framing::Each(&["/agents"], &["/messages"]),
    marks: &[Mark::Root(&["/agents", "/blocks", "/tools"]), Mark::Every(&["/id", "/role"])],
    shape: Shape::Speakers(super::CHAT),
    model: &["/model"],
    among: Some(("/in_context_message_ids", "/id")),
    ..BASE
};

/// The description of an id without a message.
pub(super) const NOT_THERE: &str = "`in_context_message_ids` names a message that the file does not have, so the file cannot be imported; remove \
     the id there too";
