//! What strict providers refuse: rules of request bodies and grammars of streams, over bytes.
//!
//! This crate stands alone: it knows no scenario, no agent and no SDK.
//!
//! [`validate()`] answers for any bytes: an empty list means that the provider accepts the body, and the first
//! error of the list is what the provider would answer. Which rules bind, and how hard, is a [`Profile`].
//!
//! The rules judge one body, and what it names of earlier replies if they are given a [`Memory`] of them. They know no
//! SDK, and check no authentication, no model name and no sampling parameter. What is not known to be rejected is
//! accepted: unknown keys, unknown block types and unknown models pass, because a false rejection is worse than a miss.

pub mod check;
pub mod colour;
pub mod dialect;
pub mod explain;
pub mod frames;
#[cfg(feature = "histories")]
pub mod histories;
pub mod json;
pub mod lint;
pub mod plain;
#[cfg(feature = "recordings")]
pub mod recordings;
pub mod redact;
pub mod streams;

mod address;
mod base64;
mod detect;
mod dialects;
mod envelope;
mod hosts;
mod ids;
mod image;
mod memory;
mod profile;
mod rule;
mod scope;
mod union;
mod validate;
mod violation;
mod waiting;

pub use address::{Address, Api};
pub use detect::{DIALECT_SIGNS, detect, unspoken};
pub use dialect::Dialect;
pub use hosts::{host_of_model, hosts, is_known_host, profile_for};
pub use image::longest_side;
pub use memory::{Delivery, ExpandedRequest, Memory, Retention};
pub use profile::Profile;
pub use rule::{Confidence, Rule};
pub use union::{UnionViolation, validate_union, validate_union_list};
pub use validate::{
    list_of, naming, validate, validate_asking, validate_list, validate_list_to, validate_remembering,
    validate_to, validate_value,
};
pub use violation::{Envelope, MAX_VIOLATIONS, Severity, Violation, refusal};

use dialects::{Bound, Thoughts};
use envelope::RelativeEnvelope;
use hosts::hosts_that;
use ids::{IdHashes, Ids};
use profile::ModelVersion;
use violation::{Occurrence, Violations};
use waiting::Waiting;

#[cfg(test)]
mod tests;

/// Tests the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
