//! Who judges a text: one provider, or everyone who speaks a dialect.

use std::borrow::Cow;

use crate::Dialect;
use crate::{Profile, Rule, Severity, UnionViolation, Violation, union, validate};

/// How strict the provider is.
#[derive(Debug, Clone, Copy, Default)]
pub enum Strictness {
    /// As the profile of the host; as the newest of the dialect, if no host is known.
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

    /// The rules that bind for some models only.
    pub(super) fn rules_by_model(self) -> Vec<&'static str> {
        let binds = |rule: &&Rule| match self {
            Providers::Profile(profile) => profile.severity(rule).is_some(),
            Providers::Union(dialect) => {
                Profile::newest_of_each_name(dialect).any(|profile| profile.severity(rule).is_some())
            }
        };
        let of_dialect = Rule::all().filter(|rule| rule.dialect() == self.dialect());
        of_dialect.filter(|rule| rule.models().is_some()).filter(binds).map(|rule| rule.id).collect()
    }

    /// What everyone here has against the body of a request; `model` is the one that the path names.
    pub(super) fn judge(self, body: &[u8], model: Option<&str>) -> Vec<UnionViolation> {
        match self {
            Providers::Union(dialect) => union::validate_to(dialect, model, body),
            Providers::Profile(profile) => of_one(profile, validate::validate_to(profile, model, body)),
        }
    }

    /// The same for a bare list of messages to a model.
    pub(super) fn judge_list(self, list: &[u8], model: Option<&str>) -> Vec<UnionViolation> {
        match self {
            Providers::Union(dialect) => union::validate_list_to(dialect, model, list),
            Providers::Profile(profile) => of_one(profile, validate::validate_list_to(profile, model, list)),
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
