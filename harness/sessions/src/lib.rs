//! Reads, judges and repairs sessions as agents store them.
//!
//! A session can be broken in three layers. The *store* cannot be read: a torn line, NUL bytes. The *branch*
//! is rebuilt wrongly from the readable parts. Or the correct branch produces a *request* that the provider
//! rejects. [`read()`] detects faults in the first two layers, [`judge()`] in the third: the product's *send
//! model* derives the next request from the store, and the rules of `brickbat-rules` decide whether a strict
//! provider accepts it.
//!
//! This crate is pure: it takes bytes and returns values. The command line opens the files and handles
//! locking and backups.

mod beside;
mod clients;
mod edit;
mod errors;
mod files;
mod foreign;
mod form;
mod halves;
mod json;
mod judge;
mod names;
mod near;
mod next;
pub mod oracle;
mod place;
mod plant;
mod product;
mod recorded;
mod repair;
pub mod report;
mod session;
#[cfg(feature = "sqlite")]
mod sqlite;
mod state;
mod stores;
mod strays;
mod verdict;

pub use edit::Edit;
#[cfg(feature = "sqlite")]
pub use errors::SqliteError;
pub use errors::{
    EditError, FormError, PlantError, ReadError, RecordError, RepairError, Unsound, WriteError,
};
pub use files::{File, Files};
pub use foreign::Foreign;
pub use form::{FixedBody, FormEdit, Unfixed, fix_body, no_edit};
pub use judge::{Judgement, Refusal, judge, judge_for};
pub use near::{Near, nearest};
pub use next::next_step;
pub use place::{Place, Row};
pub use plant::{Fault, Spot, plant};
pub use product::{Beside, Product};
pub use recorded::Recorded;
pub use repair::{
    Beyond, Loss, Mended, Planned, Reason, Repair, RepairOptions, Reshaped, is_healthy, losses, plan, repair,
    repair_session,
};
pub use session::{Block, Cut, Ending, Lost, Message, RecordedRefusal, Sent, Session, Trouble};
pub use state::Progress;
pub use stores::{Look, Relapse, found, parent_of, read, read_body, read_named, store_of};
pub use verdict::Verdict;

/// Text of a result that replaces one that was never recorded. It claims nothing that the store does not
/// show.
pub const NOT_RECORDED: &str =
    "No result of this call was recorded. It may or may not have run; check before you run it again.";

/// Text of a result for a declined call, in stores without their own format for that.
pub const DECLINED: &str = "The user declined this call, and it did not run.";

/// Text of a result for a call that was never approved. The product asks the user and runs nothing before the
/// answer.
pub const NOT_APPROVED: &str =
    "This call waited for the user's approval, which was not given. It did not run.";
