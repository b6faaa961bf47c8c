//! How the author of an SDK fuzzes an agent of their own: this file, and an agent that is `SansIo`.
#![no_main]

#[path = "../own_agent.rs"]
mod own_agent;

brickbat::fuzz_agent!(own_agent::OwnAgent<false>);
