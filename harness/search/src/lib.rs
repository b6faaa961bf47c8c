//! Search: generates, explores, fuzzes and shrinks scenarios.

#[expect(missing_docs, reason = "only the command line uses it; the names say what is missing")]
pub mod explore;
mod fixup;
pub mod fuzz;
pub mod generate;
#[cfg(feature = "sessions")]
pub mod import;
pub mod oracle;
mod points;
pub mod recorded;
#[expect(missing_docs, reason = "only the command line uses it; the names say what is missing")]
pub mod shrink;
pub mod target;
pub mod worlds;
