//! Reports: cases, baselines, records and what is made of them.

pub mod baseline;
pub mod classes;
pub mod matrix;
pub mod parting;
pub mod record;
pub mod report;
