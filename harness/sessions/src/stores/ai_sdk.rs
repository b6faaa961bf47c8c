//! Shared code for the Vercel AI SDK stores: the message parts, and the SDK's send model.
//!
//! Source: `ai` 6.0.326 and `@ai-sdk/anthropic` 3.0.138
//! (<https://github.com/vercel/ai/tree/main/packages/ai>). Stores of these messages do not record the version
//! that wrote them. The forms of version 4 and older (`tool-invocation`, `args`) are not read.

pub(crate) mod parts;
pub(crate) mod send;
pub(crate) mod ui;
