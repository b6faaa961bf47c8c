//! Brickbat throws aborts, faults and reorderings at an agent SDK and proves that the thread survives.
//!
//! This package is the command line; what it is built on are crates of their own, layer on layer, and their modules are
//! reachable from here. `ARCHITECTURE.md` draws the whole house.

pub use brickbat_engine::{agent, checks, conductor, events, interpreter, provider, run, simulate, triage};
pub use brickbat_report::{baseline, classes, matrix, parting, record, report};
pub use brickbat_rules::{
    self as rules, check, colour, dialect, explain, json, lint, recordings, redact, streams,
};
pub use brickbat_scenario::{
    action, hash, history, lower, parse, plan, point, scenario, trace, verdict, wire, yaml,
};
pub use brickbat_search::{explore, fuzz, fuzz_agent, generate, mutate_scenarios, oracle, shrink, target};

#[cfg(feature = "cli")]
pub use brickbat_drive::{driver, folder, runner, server};

#[cfg(feature = "wiremock")]
pub mod strict;

#[cfg(feature = "cli")]
pub mod cli;
