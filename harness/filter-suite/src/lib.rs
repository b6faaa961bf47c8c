//! Judges filters: code that rewrites a message history.
//!
//! Sanitizers, trimmers, compactors, converters, gateways and repair functions all have this form. A
//! [`Mode`] declares the claims of a filter, [`inputs`] creates its inputs, a [`Filter`] answers,
//! [`judge()`] compares the two, and [`run()`] counts causes and shrinks the history of each.
//!
//! This crate is pure. Processes and gateways are driven elsewhere and implement the [`Filter`] trait. The
//! checks do not depend on the filter, and report only problems that its maintainer would accept: declared
//! losses are not findings, and neither is anything that the output's dialect cannot represent.

mod align;
mod asked;
mod baseline;
mod bug;
pub mod checks;
mod error;
mod explore;
mod facts;
mod form;
pub mod inputs;
mod judge;
mod left;
mod mode;
mod oracle;
pub mod planted;
mod run;
mod shrink;
mod words;
mod yardstick;

pub use asked::{Answer, Asked, Broken, Filter, Function, Said};
pub use baseline::{Baseline, Known};
/// The choices that a fuzzer makes with its bytes.
pub use brickbat_rules::histories::generate::Outline;
pub use bug::{Bug, Limit, Shows};
pub use error::SuiteError;
pub use explore::Explorer;
pub use facts::{CallFact, Facts, Part, ResultFact};
pub use form::written;
pub use inputs::{Input, Share, State};
pub use judge::{Judged, Outcome, judge};
pub use mode::{Budget, Declined, Form, Kind, Loss, Mode, Route};
pub use oracle::wrong_with;
pub use run::{Cause, Counted, RouteReport, run, search};

pub use shrink::smallest;
pub use yardstick::translated;
