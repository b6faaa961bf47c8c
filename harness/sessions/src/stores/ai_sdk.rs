//! What the stores of Vercel's AI SDK share: the parts of messages, and what the SDK sends of them.
//!
//! The facts are those of `ai` 6.0.326 and `@ai-sdk/anthropic` 3.0.138 (<https://github.com/vercel/ai/tree/main/packages/ai>).
//! Stores of these messages do not say which version wrote them. The forms of version 4 and older
//! (`tool-invocation`, `args`) are not read.

pub(crate) mod parts;
pub(crate) mod send;
pub(crate) mod ui;
