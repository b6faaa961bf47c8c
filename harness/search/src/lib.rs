//! Search: scenarios that are generated, explored, fuzzed and shrunk.

pub mod explore;
pub mod generate;
pub mod hunt;
pub mod oracle;
pub mod shrink;
pub mod target;
