//! Brickbat throws aborts, faults and reorderings at an agent SDK and proves that the thread survives.
//!
//! The modules stand in layers; each may use only the layers above it in this list.
//! `ARCHITECTURE.md` draws the whole house.

pub mod dialect;
pub mod plan;
pub mod provider;
pub mod rules;
pub mod scenario;
pub mod trace;

#[cfg(feature = "cli")]
pub mod driver;
