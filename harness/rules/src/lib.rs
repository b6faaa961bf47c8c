//! What strict providers refuse: rules of request bodies and grammars of streams, over bytes.
//!
//! This crate stands alone: it knows no scenario, no agent and no SDK.

pub mod audit;
pub mod colour;
pub mod dialect;
pub mod frames;
pub mod json;
pub mod lint;
pub mod pages;
#[cfg(feature = "recordings")]
pub mod recordings;
pub mod redact;
pub mod rules;
pub mod vectors;
