//! Judges filters: whoever takes a history in and gives one out.
//!
//! Sanitizers, trimmers, compactors, converters, gateways and repairers have one shape. A [`Mode`] says what a filter claims
//! to be, [`inputs`] makes what it is given, a [`Filter`] answers, [`judge()`] compares the two, and [`run()`] counts causes
//! and makes the history of each as small as it gets.
//!
//! This crate is pure: processes and gateways are driven elsewhere, and stand behind the trait [`Filter`]. It knows no
//! filter, and accuses only where the maintainer of one would agree: what is declared is no finding, and what the dialect of
//! the output cannot say is not held against anybody.

mod align;
mod asked;
mod baseline;
mod bug;
pub mod checks;
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
pub use baseline::{Baseline, BaselineError, Known};
/// What a fuzzer's bytes choose.
pub use brickbat_rules::histories::generate::Outline;
pub use bug::{Bug, Limit, Shows};
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
