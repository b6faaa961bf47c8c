//! Scenarios and plans: the file format, and the provider's side of the wire.

pub mod action;
mod dialects;
pub mod duty;
pub mod hash;
pub mod history;
pub mod lower;
mod named;
pub mod parse;
pub mod plan;
pub mod point;
pub mod premise;
pub mod random;
pub mod scenario;
pub mod surrogate;
pub mod trace;
pub mod trigger;
pub mod verdict;
pub mod wire;
pub mod yaml;
