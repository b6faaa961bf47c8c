//! Drives real systems: sockets, processes, files.

#![allow(missing_docs, reason = "used by the command line alone; what a name does not say is documented")]

mod by_now;
pub mod driver;
pub mod folder;
pub mod proxy;
pub mod runner;
pub mod server;
pub mod strict_server;
pub mod whole_file;
