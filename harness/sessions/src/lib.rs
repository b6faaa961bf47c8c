//! Sessions as agents store them: read, judged, and repaired.
//!
//! A session can be broken in three layers. The *store* cannot be read: a torn line, NUL bytes. The *branch* is rebuilt
//! wrongly from what can be read. Or the right branch makes a *request* that the provider refuses. [`read()`] tells the
//! first two, [`judge()`] the third: it asks the product's *send model* what would be sent of what is stored, and the rules
//! of `brickbat-rules` whether a strict provider takes it.
//!
//! This crate is pure: bytes in, answers out. Opening files, locks and backups are the command line's.

mod files;
mod halves;
mod json;
mod judge;
pub mod oracle;
mod place;
mod plant;
mod product;
mod repair;
pub mod report;
mod session;
#[cfg(feature = "sqlite")]
mod sqlite;
mod stores;
mod strays;

pub use files::{File, Files};
pub use judge::{Judgement, Refusal, Verdict, judge, judge_for};
pub use place::{Place, Row};
pub use plant::{Fault, PlantError, Spot, plant};
pub use product::Product;
pub use repair::{
    Beyond, Loss, Mended, Planned, Reason, Repair, RepairError, RepairOptions, is_healthy, losses, plan,
    repair,
};
pub use session::{Block, Cut, Ending, Message, Sent, Session, Trouble};
pub use stores::{Edit, ReadError, Relapse, WriteError, messages_of, parent_of, read, read_body, store_of};

/// Text of a result that stands in for one that was never recorded. It claims nothing that the store does not show.
pub const NOT_RECORDED: &str =
    "No result of this call was recorded. It may or may not have run; check before you run it again.";

/// Text of a result for a call that the user declined, in stores that have no form of their own for that.
pub const DECLINED: &str = "The user declined this call, and it did not run.";

/// Text of a result for a call that was never approved: the product asked, and runs nothing before the answer.
pub const NOT_APPROVED: &str =
    "This call waited for the user's approval, which was not given. It did not run.";
