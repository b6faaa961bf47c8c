//! Reports: cases, baselines, records, and the documents that are generated from them.

#![expect(
    missing_docs,
    reason = "a part of the program: a field is documented where its name does not say enough"
)]

pub mod baseline;
pub mod causes;
pub mod classes;
pub mod diff;
pub mod export;
pub mod matrix;
pub mod record;
pub mod report;
pub mod site;
pub mod switches;
