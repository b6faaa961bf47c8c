//! Brickbat puts aborts, faults and reorderings into the turns of an agent SDK and proves that the thread survives.
//!
//! This package is the command line. The libraries that it is built on are separate crates, and their modules are
//! re-exported here. `ARCHITECTURE.md` describes all of them.

pub use brickbat_engine::{
    agent, checks, conductor, events, flaws, improvise, interpreter, provider, run, simulate, standalone,
    triage,
};
pub use brickbat_report::{baseline, causes, classes, diff, export, matrix, record, report, switches};
pub use brickbat_rules::{
    self as rules, check, colour, dialect, explain, json, lint, recordings, redact, streams,
};
pub use brickbat_scenario::{
    action, duty, hash, history, lower, parse, plan, point, random, scenario, trace, verdict, wire, yaml,
};
pub use brickbat_search::{
    explore, fuzz, fuzz_agent, generate, mutate_scenarios, oracle, shrink, target, worlds,
};

#[cfg(feature = "fixture")]
pub use brickbat_drive::{driver, folder, proxy, runner, server, strict_server};
#[cfg(feature = "cli")]
pub use brickbat_filter_suite as filter_suite;

#[cfg(feature = "fixture")]
pub mod fixture;

#[cfg(feature = "wiremock")]
pub mod strict;

#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;
