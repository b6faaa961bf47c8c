//! The engine: provider core, conductor, simulation, reference agent and checks.

pub mod agent;
pub mod checks;
pub mod conductor;
pub mod events;
pub mod interpreter;
pub mod provider;
pub mod run;
pub mod simulate;
pub mod triage;
