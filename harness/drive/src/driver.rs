//! Drives systems under test: starts their adapters, speaks ACP with them, and lists the known systems.
//!
//! It gives no verdict. It reports either what the system did ([`SessionEvent`]) or that the adapter failed
//! ([`DriverError`]), which is never counted as an SDK bug. The protocol on top of ACP is described in
//! `harness/systems/README.md`.

pub mod acp;
pub mod action;
mod busy;
pub mod capability;
pub mod catalogue;
pub mod duties;
mod environment;
mod error;
mod event;
pub mod exported;
mod feed;
mod file_source;
#[cfg(feature = "filters")]
mod filter;
mod give;
mod http;
pub mod in_process;
pub mod install;
pub mod lines;
pub mod manifest;
pub mod mcp;
pub mod plain;
pub mod process;
pub mod program;
pub mod protocol;
mod questions;
mod readings;
mod rest;
mod scratch;
pub mod serve;
pub(crate) mod stopwatch;
#[cfg(unix)]
pub mod supervisor;
mod supervisor_handle;
pub mod talk;
pub mod waits;

pub use acp::{Adapter, Introduction, Met, Session};
pub use capability::{CAPABILITIES, Capabilities, Capability};
pub use catalogue::{BASELINE, Catalogue, ResolveError, resolve};
pub use duties::Duties;
pub use error::{DriverError, ErrorSource, InvalidValue};
pub use event::SessionEvent;
#[cfg(feature = "filters")]
pub use filter::{FILTER_SHEET, FilterCatalogue, FilterManifest, FilterProcess};
pub use install::Progress;
pub use manifest::{Manifest, Mode};
pub use plain::{NamePattern, Plain, PlainAgent};
pub use process::{Launch, ProcessLimits};
pub use protocol::{About, FailingWrite, Reading, SessionSpec, StoreWrite, ToolSpec};
pub use scratch::Scratch;
pub(crate) use scratch::home as home_of;
pub use waits::Waits;
