//! Mistral: writes client requests. The messages are the same as in OpenAI Chat Completions.

use crate::dialects::openai;
use crate::wire::request::RequestForm;

pub(super) const FORM: RequestForm =
    RequestForm { current_model: "mistral-large-latest", newer_model: None, ..openai::request::FORM };
