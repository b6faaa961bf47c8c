//! Search: scenarios that are generated, explored, fuzzed and shrunk.

pub mod explore;
mod fixup;
pub mod fuzz;
pub mod generate;
pub mod oracle;
mod points;
pub mod shrink;
pub mod target;
