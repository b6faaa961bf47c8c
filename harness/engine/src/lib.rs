//! The engine: provider core, conductor, simulation, reference agent and checks.

pub mod agent;
pub mod cause;
pub mod check;
pub mod conductor;
pub mod interpreter;
pub mod life_cycle;
pub mod provider;
pub mod run;
pub mod simulate;
