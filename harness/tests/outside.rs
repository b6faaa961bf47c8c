//! Tests that run programs, open sockets and write files. They are one program, because each program costs a
//! link.

#[path = "common/plans.rs"]
mod plans;
#[path = "common/polite.rs"]
mod polite;
#[path = "common/probes.rs"]
mod probes;
#[path = "common/program.rs"]
mod program;
#[path = "common/runs.rs"]
mod runs;

mod acp_driver;
mod agent;
mod bad_adapters;
mod baseline;
mod chosen;
mod classes;
mod cli;
mod cli_check;
mod cli_check_addressee;
mod cli_check_pasted;
mod cli_check_stream;
mod cli_keep;
mod cli_output;
mod cli_secrets;
mod cli_session;
mod cli_shrink;
mod console;
mod diff;
mod events;
mod explore;
mod export;
mod fixture;
mod flakes;
mod front;
mod fuzz;
mod help;
mod init;
mod live;
mod matrix;
mod mcp;
mod past_requests;
mod plain_agent;
mod proxy;
mod raw_socket;
mod repairs;
mod run_folder;
mod serve;
mod sessions;
mod shards;
mod site;
mod small_agents;
mod stopped;
mod supervisor;
mod unseen;
mod verify;
mod verify_plain;
#[cfg(unix)]
mod workflows;
mod wrap;
