//! Whom a request goes to: what the caller says, else what stands around the request, else what it says itself.

use std::borrow::Cow;

use super::{CheckError, CheckOptions, Providers, Strictness, Subject};
use crate::json::{self, Json, Part};
use crate::{self as rules, Address, Api, Dialect, Profile};

/// What is known of a request besides its body.
#[derive(Debug, Clone, Default)]
pub(super) struct Around {
    pub(super) address: Address,
    /// As a recording names it.
    pub(super) dialect: Option<String>,
    pub(super) model: Option<String>,
}

/// Why a profile judges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// The caller named it.
    Option,
    /// It is that of the host.
    Host,
    /// No host is known, so it is the newest of the dialect.
    Newest,
}

/// Whom a request goes to.
#[derive(Debug, Clone)]
pub(super) struct Addressee {
    pub(super) providers: Providers,
    pub(super) basis: Basis,
    pub(super) host: Option<String>,
    pub(super) model: Option<String>,
    /// The model that the body is to name, where that is not what it names itself.
    pub(super) to_name: Option<String>,
}

impl Around {
    /// What a row says next to its request.
    pub(super) fn of_row(row: Json) -> Around {
        let word = |name: &str| row.field(name).as_str().map(Cow::into_owned);
        let address = Address::of(&word("url").unwrap_or_default());
        let host = word("host").unwrap_or(address.host);
        Around { address: Address { host, ..address }, dialect: word("dialect"), model: word("model") }
    }
}

impl Addressee {
    /// Finds out whom a request goes to.
    pub(super) fn of(
        subject: &Subject,
        around: &Around,
        options: &CheckOptions,
    ) -> Result<Addressee, CheckError> {
        let given = &options.address;
        let host = [&given.host, &around.address.host].into_iter().find(|host| !host.is_empty()).cloned();
        let of_path = |address: &Address| address.model().map(Cow::into_owned);
        let given = options.model.clone().or_else(|| of_path(given));
        let outside = around.model.clone().or_else(|| of_path(&around.address));
        let own = named(subject);
        // A recording may call the model by another name than the body, which is what the provider reads.
        let to_name = given.clone().or_else(|| outside.clone().filter(|_| own.is_none()));
        let model = given.or(outside).or(own);
        let dialect = || dialect(subject, around, options);
        let (providers, basis) = match (options.strictness, &host) {
            (Strictness::Profile(profile), _) => (Providers::Profile(profile), Basis::Option),
            (Strictness::Union, _) => (Providers::Union(dialect()?), Basis::Option),
            (Strictness::Newest, None) => (Providers::Profile(Profile::newest(dialect()?)), Basis::Newest),
            (Strictness::Newest, Some(host)) => {
                let dialect = dialect()?;
                let profile = rules::profile_for(dialect, host, model.as_deref().unwrap_or_default());
                let host = host.clone();
                let profile = profile.ok_or(CheckError::NoProfile { dialect, host })?;
                (Providers::Profile(profile), Basis::Host)
            }
        };
        Ok(Addressee { providers, basis, host, model, to_name })
    }
}

/// The model that the body names: most do, and a body of Bedrock as an SDK writes it.
fn named(subject: &Subject) -> Option<String> {
    let mut named = None;
    let read = json::walk(subject.readable, "messages", |part| {
        if let Part::Rest(body) = part {
            let name = body.field("model").as_str().or_else(|| body.field("modelId").as_str());
            named = name.map(Cow::into_owned);
        }
    });
    read.ok()?;
    named
}

fn dialect(subject: &Subject, around: &Around, options: &CheckOptions) -> Result<Dialect, CheckError> {
    if let Some(dialect) = options.dialect {
        return Ok(dialect);
    }
    // The host of the recording also says whose path it is.
    let given = Address { host: options.address.host.clone(), ..around.address.clone() };
    let around_given = if given.host.is_empty() { &around.address } else { &given };
    match options.address.api().or_else(|| around_given.api()) {
        Some(Api::Spoken(dialect)) => return Ok(dialect),
        Some(Api::Unspoken(name)) => return Err(CheckError::NotSpoken(name.to_owned())),
        None => {}
    }
    if let Some(name) = &around.dialect {
        return Dialect::from_name(name).ok_or_else(|| CheckError::NotSpoken(name.clone()));
    }
    match (rules::detect(subject.readable), rules::unspoken(subject.readable)) {
        (Some(dialect), _) => Ok(dialect),
        (None, Some(name)) => Err(CheckError::NotSpoken(name.to_owned())),
        (None, None) => Err(CheckError::NoDialect),
    }
}
