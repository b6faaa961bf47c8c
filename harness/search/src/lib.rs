//! Search: scenarios that are generated, explored, fuzzed and shrunk.

pub mod explore;
mod fixup;
pub mod generate;
pub mod hunt;
pub mod oracle;
mod points;
pub mod shrink;
pub mod target;
