//! The switches of the Google Gemini profiles: the differences between profiles that rules ask for.

use crate::ModelVersion;

/// Differences between the models of Google Gemini.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GeminiSwitches {
    /// The first version that requires the thought signatures of the current turn.
    pub(crate) first_with_signatures: ModelVersion,
    /// The first version that requires a response to every call, and all responses of a batch in one
    /// content.
    pub(crate) first_with_strict_responses: ModelVersion,
    /// The first version that rejects a conversation ending with a content of the model.
    pub(crate) first_without_prefill: ModelVersion,
    /// The first version that rejects the role `function`.
    pub(crate) first_without_function_role: ModelVersion,
    /// Name fragments that identify earlier models that also reject both.
    pub(crate) also_without_them: &'static [&'static str],
}
