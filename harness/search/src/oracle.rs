//! Oracles: what must hold of any input, however it came about. They are what fuzz targets and sweeps ask.
//!
//! An oracle gives its answer, or says what is wrong: then our own code is, or the agent that was asked about.

mod agent;
mod input;
mod life_cycle;
mod text;
mod wire;

pub use agent::{accusation, caught, failure, judgement, plan, plan_on};
pub use input::check;
pub use life_cycle::life_cycle;
pub use text::round_trip;
pub use wire::{linted, split};
