//! Drives real systems: sockets, processes, files.

pub mod driver;
pub mod folder;
pub mod runner;
pub mod server;
