//! The providers that judge a text: one provider, or all providers of a dialect.

use std::borrow::Cow;

use crate::Dialect;
use crate::{Profile, Rule, Severity, UnionViolation, Violation, union, validate};

/// How strict the provider is.
#[derive(Debug, Clone, Copy, Default)]
pub enum Strictness {
    /// The profile of the host, or the newest profile of the dialect if the host is unknown.
    #[default]
    Newest,
    /// This profile.
    Profile(&'static Profile),
    /// The newest profiles for a dialect, all at once, for a client with an unknown provider.
    Union,
}

/// The providers that judge a text.
#[derive(Debug, Clone, Copy)]
pub enum Providers {
    /// One provider.
    Profile(&'static Profile),
    /// All providers of a dialect.
    Union(Dialect),
}

impl Providers {
    /// Returns the dialect.
    pub fn dialect(self) -> Dialect {
        match self {
            Providers::Profile(profile) => profile.dialect,
            Providers::Union(dialect) => dialect,
        }
    }

    /// Returns the name used in options and reports: a profile's name, or a name such as
    /// `union:openai-chat`.
    pub fn name(self) -> Cow<'static, str> {
        match self {
            Providers::Profile(profile) => profile.name.into(),
            Providers::Union(dialect) => format!("union:{dialect}").into(),
        }
    }

    /// Returns the rules that apply only to some models.
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

    /// Judges a request body. `model` is the model in the path.
    pub(super) fn judge(self, body: &[u8], model: Option<&str>) -> Vec<UnionViolation> {
        match self {
            Providers::Union(dialect) => union::validate_to(dialect, model, body),
            Providers::Profile(profile) => of_one(profile, validate::validate_to(profile, model, body)),
        }
    }

    /// Judges a bare list of messages to a model.
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
