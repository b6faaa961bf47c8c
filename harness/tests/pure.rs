//! Tests that run without sockets, processes or files. They are one program, because each program costs a
//! link.

#[path = "common/plans.rs"]
mod plans;
#[path = "common/simulated.rs"]
mod simulated;
#[path = "../../fuzz/own_agent.rs"]
mod small_agent;

mod dependencies;
mod dialects;
mod differential;
mod documents;
mod fixes;
mod given;
mod improvise;
mod judgement;
mod life_cycle;
mod lint;
mod lowering;
mod own_agent;
mod own_history;
mod properties;
mod regressions;
mod scenario_errors;
mod scenario_properties;
mod schema;
mod shrink;
mod stages;
mod strict;
mod suite;
mod sweep;
mod tidy;
mod vectors;
mod wire;
mod words;
