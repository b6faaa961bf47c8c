//! The engine: provider core, conductor, simulation, reference agent and checks.

pub mod agent;
pub mod checks;
#[expect(missing_docs, reason = "only the simulation and the runner obey it; the names say what is missing")]
pub mod conductor;
pub mod events;
pub mod flaws;
pub mod improvise;
pub mod interpreter;
pub mod provider;
pub mod relay;
pub mod run;
pub mod simulate;
pub mod standalone;
pub mod triage;
