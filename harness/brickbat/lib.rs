//! Brickbat puts aborts, faults and reorderings into the turns of an agent SDK and proves that the thread survives.
//!
//! This package is the command line. As a library, it is a strict provider for tests in Rust: in `fixture`,
//! and, for tests with the crate `wiremock`, in `strict`. The libraries that it is built on are separate
//! crates; `ARCHITECTURE.md` describes all of them.

#[cfg(feature = "fixture")]
pub mod fixture;

#[cfg(feature = "wiremock")]
pub mod strict;

#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;
