//! The errors of this crate. None of them is a verdict on a filter.

use brickbat_rules::Dialect;
use thiserror::Error;

use crate::Form;

/// Why a file or an answer cannot be read, or a history cannot be translated.
#[derive(Debug, Error)]
pub enum SuiteError {
    /// A baseline has another version of the format.
    #[error("version {found} of the format is not known, this is {known}")]
    BaselineVersion {
        /// The version of the file.
        found: u32,
        /// The version that is read.
        known: u32,
    },
    /// A file does not have the format of a bug.
    #[error("{0}")]
    NotABug(#[from] serde_json::Error),
    /// A file with a bug has another version of the format.
    #[error("schema {found}, and {known} is read")]
    BugVersion {
        /// The version of the file.
        found: u32,
        /// The version that is read.
        known: u32,
    },
    /// A bug loses a text that the history does not contain.
    #[error("`{0}` is not in the history, so that it cannot get lost")]
    NothingToLose(String),
    /// A line is not JSON.
    #[error("not JSON: {0}")]
    NotJson(#[source] serde_json::Error),
    /// An answer does not name its question.
    #[error("an answer without a number `id`")]
    NoId,
    /// An answer does not name the kind of its error.
    #[error("an `error` without a text `kind`")]
    NoKind,
    /// An answer does not describe what the filter does not support.
    #[error("`unsupported` is no text")]
    NoReason,
    /// An answer has none, or several, of the three forms.
    #[error("an answer has one of `request`, `error` and `unsupported`")]
    NotOneForm,
    /// A native format cannot represent a part of the history.
    #[error("the form {} has no {what}", .form.name())]
    NoPlace {
        /// The format.
        form: Form,
        /// The part.
        what: &'static str,
    },
    /// A dialect cannot represent a part of a history in another dialect.
    #[error("{to} has no {what} of {from}")]
    Foreign {
        /// The dialect of the output.
        to: Dialect,
        /// The part.
        what: String,
        /// The dialect of the history.
        from: Dialect,
    },
    /// The provider refuses the translated history.
    #[error("{to} refuses what it says: {rule}")]
    Refused {
        /// The dialect of the output.
        to: Dialect,
        /// The first broken rule.
        rule: &'static str,
    },
}
