//! The switches of the OpenAI Responses profiles: the differences between profiles that rules ask for.

/// Differences between OpenAI Responses providers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ResponsesSwitches {
    /// Maximum length of an item id or a call id.
    pub(crate) max_id_chars: usize,
    /// True if a call may have `async: true`, so that it needs no output yet. Only OpenAI documents this
    /// (September 2026): <https://developers.openai.com/api/docs/guides/async-tool-calling>.
    pub(crate) has_async_calls: bool,
}
