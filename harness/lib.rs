//! Brickbat throws aborts, faults and reorderings at an agent SDK and proves that the thread survives.
//!
//! The modules stand in layers; each may use only its own layer and those above it in this list.
//! `ARCHITECTURE.md` draws the whole house, and a test holds the code to it.

// Layer 1: plain types.
pub mod dialect;
pub mod history;
pub mod plan;
pub mod scenario;
pub mod trace;
pub mod vectors;
pub mod verdict;

// Layer 2: pure mechanics.
pub mod json;
pub mod lint;
pub mod lower;
pub mod parse;
pub mod redact;
pub mod rules;
pub mod wire;

// Layer 3: pure judgement.
pub mod agent;
pub mod audit;
pub mod baseline;
pub mod cause;
pub mod check;
pub mod classes;
pub mod conductor;
pub mod explore;
pub mod generate;
pub mod hunt;
pub mod life_cycle;
pub mod matrix;
pub mod oracle;
pub mod pages;
pub mod parting;
pub mod provider;
pub mod record;
pub mod recordings;
pub mod report;
pub mod shrink;
pub mod simulate;
pub mod target;

// Layer 4: input and output.
#[cfg(feature = "cli")]
pub mod driver;
#[cfg(feature = "cli")]
pub mod folder;
#[cfg(feature = "cli")]
pub mod server;
#[cfg(feature = "wiremock")]
pub mod strict;

// Layer 5: the front.
#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "cli")]
pub mod runner;
