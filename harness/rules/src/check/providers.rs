//! Who judges a text: one provider, or everyone who speaks a dialect.

use std::borrow::Cow;

use super::Subject;
use crate::Dialect;
use crate::{self as rules, Profile, Severity, UnionViolation, Violation};

/// How strict the provider is.
#[derive(Debug, Clone, Copy, Default)]
pub enum Strictness {
    /// As the newest profile of the dialect.
    #[default]
    Newest,
    /// As this profile.
    Profile(&'static Profile),
    /// As all the newest profiles of a dialect at once: for a client that does not know whom it will talk to.
    Union,
}

/// Who judges.
#[derive(Debug, Clone, Copy)]
pub enum Providers {
    /// One provider.
    Profile(&'static Profile),
    /// Everyone who speaks a dialect.
    Union(Dialect),
}

impl Providers {
    /// The dialect.
    pub fn dialect(self) -> Dialect {
        match self {
            Providers::Profile(profile) => profile.dialect,
            Providers::Union(dialect) => dialect,
        }
    }

    /// The name that options and reports use: a profile's, or for example `union:openai-chat`.
    pub fn name(self) -> Cow<'static, str> {
        match self {
            Providers::Profile(profile) => profile.name.into(),
            Providers::Union(dialect) => format!("union:{dialect}").into(),
        }
    }

    /// What everyone here has against a text.
    pub(super) fn judge(self, subject: &Subject) -> Vec<UnionViolation> {
        match (self, subject.is_list) {
            (Providers::Union(dialect), true) => rules::validate_union_list(dialect, subject.bytes),
            (Providers::Union(dialect), false) => rules::validate_union(dialect, subject.bytes),
            (Providers::Profile(profile), true) => {
                of_one(profile, rules::validate_list(profile, subject.bytes))
            }
            (Providers::Profile(profile), false) => of_one(profile, rules::validate(profile, subject.bytes)),
        }
    }
}

fn of_one(profile: &'static Profile, violations: Vec<Violation>) -> Vec<UnionViolation> {
    let minded = |violation: Violation| {
        let (refused_by, warned_by) = match violation.severity {
            Severity::Error => (vec![profile], Vec::new()),
            Severity::Warning => (Vec::new(), vec![profile]),
        };
        UnionViolation { violation, refused_by, warned_by }
    };
    violations.into_iter().map(minded).collect()
}
