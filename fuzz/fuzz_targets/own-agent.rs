//! Shows how SDK authors fuzz their own agent: with this file and an agent that implements `SansIo`.
#![no_main]

#[path = "../own_agent.rs"]
mod own_agent;

brickbat_search::fuzz_agent!(own_agent::OwnAgent<false>);
