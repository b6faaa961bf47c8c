//! The provider APIs on the wire, one folder each: `mod.rs` contains the facts, `encode.rs` writes replies,
//! `decode.rs` reads them, `request.rs` writes requests, and `history.rs` reads them.

mod anthropic;
mod bedrock;
mod gemini;
mod mistral;
mod openai;
mod responses;
#[cfg(feature = "toy-dialect")]
mod toy;

use crate::wire::Wire;
use brickbat_rules::dialect::Dialect;

/// The wire of a dialect.
#[warn(clippy::wildcard_enum_match_arm)]
pub fn of(dialect: Dialect) -> &'static Wire {
    match dialect {
        Dialect::AnthropicMessages => &anthropic::WIRE,
        Dialect::OpenaiChat => &openai::WIRE,
        Dialect::OpenaiResponses => &responses::WIRE,
        Dialect::Gemini => &gemini::WIRE,
        Dialect::BedrockConverse => &bedrock::WIRE,
        Dialect::Mistral => &mistral::WIRE,
        #[cfg(feature = "toy-dialect")]
        Dialect::Toy => &toy::WIRE,
    }
}
