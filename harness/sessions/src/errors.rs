//! The reasons why a store was not read, edited or repaired.
//!
//! Their texts contain kinds, counts and places, but no content of the session. A name from a store is printed
//! only in the form that `word` of the module `json` gives it.

use thiserror::Error;

use crate::{Loss, Place, Product};

/// The reason why a store could not be read.
#[derive(Debug, Error)]
pub enum ReadError {
    /// No known product wrote this.
    #[error("not the store of any known product")]
    Unknown,
    /// A known product wrote it, but in an unknown form.
    #[error("{product}: {cause}")]
    Form {
        /// The product.
        product: Product,
        /// The unknown part.
        #[source]
        cause: FormError,
    },
}

/// The part of a known product's store that could not be read.
#[derive(Debug, Error)]
pub enum FormError {
    /// The file is not JSON.
    #[error("not JSON: {0}")]
    Json(#[source] serde_json::Error),
    /// The file or a record in it does not have the shape that the product writes.
    #[error("{0}")]
    Shape(&'static str),
    /// The file belongs to the product, and has no session. The text says what it is, and where the sessions are.
    #[error("{0}")]
    NoSession(&'static str),
    /// A list has no value of this kind at a place where the product writes one.
    #[error("no {0} at {1}")]
    Absent(&'static str, String),
    /// A value lacks a part that the product always writes.
    #[error("the {whole} at {place} has no {part}")]
    Lacks {
        /// The kind of value.
        whole: &'static str,
        /// Its place.
        place: String,
        /// The missing part.
        part: &'static str,
    },
    /// A message has a role that the product does not write.
    #[error("the role {0} is not known")]
    Role(String),
    /// Like [`FormError::Role`], with the place of the message.
    #[error("the role {0} at {1} is not known")]
    RoleAt(String, String),
    /// A call or a result has a state that the product does not write.
    #[error("the state {state} of the {of} at {place} is not known")]
    State {
        /// The name of the state.
        state: String,
        /// The kind of block.
        of: &'static str,
        /// Its place.
        place: String,
    },
    /// The output of a tool has an unknown form.
    #[error("the output at {0} has an unknown form")]
    Output(String),
    /// A message has a part that version 4 of the AI SDK wrote, which later versions cannot send.
    #[error("{0} is a part of AI SDK 4")]
    AiSdk4(String),
    /// A message has a tool call of version 4 of the AI SDK without a result, on which its `convertToCoreMessages` throws
    /// (<https://github.com/vercel/ai/blob/v4/packages/ui-utils/src/convert-to-core-messages.ts>,
    /// <https://github.com/vercel/chatbot/issues/822>).
    #[error(
        "{0} is a tool call of AI SDK 4 without a result, on which `convertToCoreMessages` throws AI_MessageConversionError \
         (ToolInvocation must have a result): set its `toolInvocation.state` to \"result\" and add a `result`, or remove the part"
    )]
    AiSdk4Call(String),
    /// A list of pydantic-ai has an entry that is not a message.
    #[error("entry {0} is neither a request nor a response")]
    Entry(usize),
    /// A message of pydantic-ai has a part of an unknown kind.
    #[error("a part of the kind {0}, which 1.x does not have")]
    Part(String),
    /// A rollout of Codex has an item of an unknown type in this line.
    #[error("an item of the type {0} in line {1}")]
    Item(String, u64),
    /// A line on the branch is a message of an unknown form.
    #[error("line {0}: {1} in an unknown form")]
    Line(u64, &'static str),
    /// The store has a version that is not known.
    #[error("version {0} of the file is not known")]
    Version(String),
    /// The store is newer than the newest known one.
    #[error("{unit} {found} is newer than {newest}, the newest that is known")]
    Newer {
        /// The name that the product gives to such a number, such as `schema`.
        unit: &'static str,
        /// The number in the store.
        found: u64,
        /// The newest known number.
        newest: u64,
    },
    /// A packed file would fill the memory.
    #[error("{packed} packed bytes exceed {bound} when unpacked")]
    Unpacked {
        /// The size of the packed file in bytes.
        packed: usize,
        /// The maximum size of the unpacked file in bytes.
        bound: u64,
    },
    /// A rollout of Codex would take too long to replay.
    #[error("more compactions and rollbacks than can be replayed")]
    Replay,
    /// A cell of this table is longer than this number of MiB.
    #[cfg(feature = "sqlite")]
    #[error("a cell of the table {0} has more than {1} MiB, the most that is read")]
    Cell(String, usize),
    /// The database could not be opened or read.
    #[cfg(feature = "sqlite")]
    #[error(transparent)]
    Sqlite(#[from] SqliteError),
    /// A query over the product's own tables failed.
    #[cfg(feature = "sqlite")]
    #[error("SQLite: {0}")]
    Query(#[from] rusqlite::Error),
}

/// The reason why a record could not be read. Most become the words of a [`Trouble`](crate::Trouble).
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RecordError {
    /// The record has this number of NUL bytes.
    #[error("{0} NUL bytes")]
    Nul(usize),
    /// The record was not written to its end.
    #[error("a torn line: it ends before its JSON does")]
    Torn,
    /// The record is not JSON from this column on.
    #[error("no JSON at column {0}")]
    Json(usize),
    /// The record is JSON, but its form is unknown.
    #[error("JSON of an unknown form")]
    Form,
    /// The record is not a JSON object.
    #[error("not a JSON object")]
    NotObject,
    /// The record is serialised in a format that is not read.
    #[error("a checkpoint of type {0}, which Brickbat does not read")]
    Type(String),
    /// MessagePack that ends before its value, after this number of bytes.
    #[error("cut off after {0} bytes")]
    CutOff(usize),
    /// MessagePack with this number of bytes after its value.
    #[error("{0} bytes after the end of the value")]
    Surplus(usize),
    /// MessagePack with a byte at this offset that begins no value.
    #[error("no value at byte {0}")]
    NoValue(usize),
    /// MessagePack with a text at this offset that is not UTF-8.
    #[error("text that is not UTF-8 at byte {0}")]
    NotUtf8(usize),
    /// MessagePack that is nested deeper than this.
    #[error("more than {0} levels")]
    Levels(usize),
    /// MessagePack with more values than this.
    #[error("more than {0} values")]
    Values(usize),
}

/// A fault in a database. SQLite's own message is left out, since it quotes the schema and thus user text.
#[cfg(feature = "sqlite")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum SqliteError {
    /// The file is not a database.
    #[error("not a SQLite database")]
    NotDatabase,
    /// SQLite failed.
    #[error("SQLite: {0}")]
    Failed(#[source] rusqlite::ffi::Error),
    /// A cell has another type than its column.
    #[error("SQLite: a value of another type")]
    Type,
    /// A table has so many rows that some pages must be used more than once.
    #[error("it has more rows than its file can hold")]
    Rows,
}

/// The reason why an edit could not be written.
#[derive(Debug, Error)]
#[error("{product} at {place}: {cause}")]
pub struct WriteError {
    /// The product.
    pub product: Product,
    /// The place of the edit.
    pub place: String,
    /// The cause.
    #[source]
    pub cause: EditError,
}

/// The reason why a store did not take an edit.
#[derive(Debug, Error)]
pub enum EditError {
    /// The store has nothing at the place that the edit could apply to.
    #[error("{0}")]
    Missing(&'static str),
    /// The store has no form for the edit.
    #[error("{0}")]
    NoForm(&'static str),
    /// The files are not those that were read, or a part of them cannot be read.
    #[error("{0}")]
    Unreadable(&'static str),
    /// The edit names a place at which the session has neither a block nor a message.
    #[error("no part of the session is there")]
    NoPart,
    /// The file is no longer JSON.
    #[error("no longer JSON")]
    NotJson,
    /// The files could not be read again.
    #[error(transparent)]
    Form(#[from] FormError),
    /// A record could not be read.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// SQLite did not run the statement of the edit.
    #[cfg(feature = "sqlite")]
    #[error("SQLite refuses the edit")]
    Refused(#[source] rusqlite::Error),
    /// The database could not be opened or written.
    #[cfg(feature = "sqlite")]
    #[error(transparent)]
    Sqlite(#[from] SqliteError),
    /// A query over the product's own tables failed.
    #[cfg(feature = "sqlite")]
    #[error("SQLite: {0}")]
    Query(#[from] rusqlite::Error),
}

/// The reason why a repair could not be tried.
#[derive(Debug, Error)]
pub enum RepairError {
    /// The store could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The store has no form for the edit that reattaches a cut branch.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The files have no session with this index.
    #[error("no such session")]
    NoSession,
    /// The repair itself is wrong, so it was discarded completely.
    #[error("the repair was discarded: {0}")]
    Unsound(#[source] Unsound),
}

/// The fault of a repair that was discarded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Unsound {
    /// Reattaching the branch would change a message.
    #[error("it would change what was said")]
    Changed,
    /// The provider rejects the repaired session.
    #[error("the provider still refuses")]
    Refused,
    /// The repair loses or invents something.
    #[error("{0}")]
    Lossy(Loss),
}

/// The reason why a fault was not planted.
#[derive(Debug, Error)]
pub enum PlantError {
    /// The store could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The store has no form for the fault.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The conversation has no such call, or the store cannot represent the fault.
    #[error("{0}")]
    Nowhere(&'static str),
}

impl FormError {
    /// The error of a store of this product.
    pub(crate) fn of(self, product: Product) -> ReadError {
        ReadError::Form { product, cause: self }
    }
}

impl EditError {
    /// The error of an edit at this place.
    pub(crate) fn at(self, product: Product, place: &Place) -> WriteError {
        WriteError { product, place: place.to_string(), cause: self }
    }
}

#[cfg(feature = "sqlite")]
impl From<rusqlite::Error> for SqliteError {
    fn from(error: rusqlite::Error) -> SqliteError {
        match error {
            rusqlite::Error::SqliteFailure(code, _) => SqliteError::Failed(code),
            rusqlite::Error::SqlInputError { error, .. } => SqliteError::Failed(error),
            _ => SqliteError::Type,
        }
    }
}
