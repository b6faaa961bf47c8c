//! Brickbat throws aborts, faults and reorderings at an agent SDK and proves that the thread survives.
//!
//! The modules stand in layers; each may use only the layers above it in this list.
//! `ARCHITECTURE.md` draws the whole house.

pub mod agent;
pub mod check;
pub mod conductor;
pub mod dialect;
pub mod history;
pub mod plan;
pub mod provider;
pub mod report;
pub mod rules;
pub mod scenario;
pub mod simulate;
pub mod trace;
pub mod verdict;
pub mod wire;
