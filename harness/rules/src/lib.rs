//! The requirements of strict providers: rules about request bodies and grammars of streams, over bytes.
//!
//! This crate is self-contained. It does not depend on scenarios, agents or SDKs.
//!
//! [`validate()`] accepts any bytes. An empty list means that the provider accepts the body. Otherwise,
//! the first error in the list is the provider's error. A [`Profile`] defines which rules apply and how
//! strictly.
//!
//! The rules judge one body, and its references to earlier replies if they get a [`Memory`]. They do not
//! check authentication, model names or sampling parameters. Unknown keys, block types and models pass,
//! because a false rejection is worse than a miss: only known rejections are errors.

pub mod admission;
pub mod base64;
pub mod check;
pub mod colour;
pub mod dialect;
pub mod explain;
pub mod frames;
pub mod histories;
pub mod json;
pub mod lint;
pub mod plain;
#[cfg(feature = "recordings")]
pub mod recordings;
pub mod redact;
pub mod streams;

mod address;
mod checker;
mod detect;
mod dialects;
mod envelope;
mod family;
mod features;
mod hosts;
mod ids;
mod image;
mod memory;
mod models;
mod profile;
mod rule;
mod scope;
mod severity;
mod union;
mod validate;
mod violation;
mod waiting;

pub use address::{Address, Api, model_in};
pub use detect::{DIALECT_SIGNS, detect, unspoken};
pub use dialect::Dialect;
pub use envelope::Envelope;
pub use family::Family;
pub use features::{Feature, FeatureState};
pub use hosts::{dialect_at, host_of_model, hosts, is_known_host, is_stand_in, profile_for};
pub use image::{Unseen, longest_side, media_type_of};
pub use memory::{Delivery, ExpandedRequest, Memory, Retention};
pub use models::{Ability, ModelFact, ability_of};
pub use profile::{BodyLimit, Halves, Profile};
pub use rule::{Confidence, Rule};
pub use severity::Severity;
pub use union::{UnionViolation, validate_union, validate_union_list};
pub use validate::{
    list_of, naming, validate, validate_asking, validate_list, validate_list_to, validate_remembering,
    validate_to, validate_value,
};
pub use violation::{MAX_VIOLATIONS, Violation, refusal};

use dialects::{Bound, Thoughts};
use envelope::RelativeEnvelope;
use hosts::hosts_that;
use ids::{IdHashes, Ids};
use profile::ModelVersion;
use violation::{Occurrence, Violations};
use waiting::Waiting;

#[cfg(test)]
mod tests;

/// Tests the example in the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
