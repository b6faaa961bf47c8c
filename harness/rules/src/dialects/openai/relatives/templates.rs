//! Which conversations the chat templates of models reject, derived by rendering them.
//!
//! The templates are in llama_cpp_python 0.3.36 (`vendor/llama.cpp/models/templates`). 62 of them were asked,
//! and those that are not listed render every probe. `harness/nightly/differential/derive_templates.py` writes this
//! file. Do not edit it.

use super::template::{Probe, Template};

#[rustfmt::skip]
pub(super) static TEMPLATES: &[Template] = &[
    Template { model: "google-gemma-2-2b-it", rejects: &[(Probe::SuccessiveUsers, "Conversation roles must alternate user/assistant/user/assistant/..."), (Probe::SuccessiveReplies, "Conversation roles must alternate user/assistant/user/assistant/..."), (Probe::NoUser, "System role not supported")] },
    Template { model: "mistral-small-3.2-24b-instruct-2506", rejects: &[(Probe::SuccessiveUsers, "After the optional system message, conversation roles must alternate user/assistant/user/assistant/..."), (Probe::SuccessiveReplies, "After the optional system message, conversation roles must alternate user/assistant/user/assistant/..."), (Probe::NoUser, "After the optional system message, conversation roles must alternate user/assistant/user/assistant/...")] },
    Template { model: "mistralai-ministral-3-14b-reasoning-2512", rejects: &[(Probe::SuccessiveUsers, "After the optional system message, conversation roles must alternate user and assistant roles except for tool calls and results."), (Probe::SuccessiveReplies, "After the optional system message, conversation roles must alternate user and assistant roles except for tool calls and results."), (Probe::NoUser, "After the optional system message, conversation roles must alternate user and assistant roles except for tool calls and results.")] },
    Template { model: "mistralai-mistral-nemo-instruct-2407", rejects: &[(Probe::SuccessiveUsers, "After the optional system message, conversation roles must alternate user/assistant/user/assistant/..."), (Probe::SuccessiveReplies, "After the optional system message, conversation roles must alternate user/assistant/user/assistant/..."), (Probe::NoUser, "After the optional system message, conversation roles must alternate user/assistant/user/assistant/...")] },
    Template { model: "qwen3.5-4b", rejects: &[(Probe::NoUser, "No user query found in messages.")] },
];
