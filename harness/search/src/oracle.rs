//! Oracles: properties that hold for any input, whatever its origin. Fuzz targets and sweeps use them.
//!
//! An oracle returns a description of the problem, in our own code or in the agent under test, or `None`.

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
