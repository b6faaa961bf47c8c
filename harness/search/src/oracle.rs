//! Oracles: what must hold of any input, however it came about. They are what fuzz targets and sweeps ask.
//!
//! An oracle returns what is wrong, with our own code or with the agent that it was asked about; nothing is `None`.

mod agent;
mod events;
mod input;
mod text;
mod wire;

pub use agent::{accusation, caught, failure, judgement, plan, plan_on};
pub use events::events;
pub use input::check;
pub use text::round_trip;
pub use wire::{linted, split};
