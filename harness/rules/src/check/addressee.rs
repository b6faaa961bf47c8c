//! Decides which provider a request goes to. The caller's options come first, then the context of the
//! request, then its body.

use std::borrow::Cow;

use super::{CheckError, CheckOptions, Providers, Strictness, Subject};
use crate::detect::is_open;
use crate::json::{self, Document, Json, Part};
use crate::{self as rules, Address, Api, Dialect, Profile};

/// The context of a request: the known facts apart from its body.
#[derive(Debug, Clone, Default)]
pub(super) struct Around {
    pub(super) address: Address,
    /// The name in the recording.
    pub(super) dialect: Option<String>,
    pub(super) model: Option<String>,
    /// The version of the provider's API, from the header `anthropic-version`.
    pub(super) version: Option<String>,
}

/// Why a profile was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// The caller named it.
    Option,
    /// It belongs to the host.
    Host,
    /// The host is unknown or names no provider, and only one provider has a model of that name.
    Model,
    /// The host is unknown or names no provider, so the newest profile of the dialect was chosen.
    Newest,
}

/// The provider that a request goes to.
#[derive(Debug, Clone)]
pub(super) struct Addressee {
    pub(super) providers: Providers,
    pub(super) basis: Basis,
    pub(super) host: Option<String>,
    pub(super) model: Option<String>,
    /// The model to put into the body, if it differs from the one in the body.
    pub(super) to_name: Option<String>,
}

impl Around {
    /// Reads the fields next to the request in a row.
    pub(super) fn of_row(row: Json) -> Around {
        let word = |name: &str| row.field(name).as_str().map(Cow::into_owned);
        let address = Address::of(&word("url").unwrap_or_default());
        let host = word("host").unwrap_or(address.host);
        let version = row.field("headers").field(Profile::VERSION_HEADER).as_str().map(Cow::into_owned);
        let address = Address { host, ..address };
        Around { address, dialect: word("dialect"), model: word("model"), version }
    }
}

impl Addressee {
    /// Determines the addressee of a request.
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
        // A recording may use another name for the model than the body. The provider reads the body.
        let to_name = given.clone().or_else(|| outside.clone().filter(|_| own.is_none()));
        let model = given.or(outside).or(own);
        let dialect = || dialect(subject, around, options);
        let at_version = |profile: &'static Profile| {
            around.version.as_deref().map_or(profile, |it| profile.at_version(it))
        };
        let of_provider = host.as_ref().filter(|host| is_of_provider(host, model.as_deref()));
        let (providers, basis) = match (options.strictness, of_provider) {
            (Strictness::Profile(profile), _) => {
                is_for(profile, subject, options)?;
                (Providers::Profile(profile), Basis::Option)
            }
            (Strictness::Union, _) => (Providers::Union(dialect()?), Basis::Option),
            (Strictness::Newest, None) => {
                let dialect = dialect()?;
                let name = model.as_deref().unwrap_or_default();
                let of_model = || rules::profile_for(dialect, rules::host_of_model(name)?, name);
                of_model().map_or(
                    (Providers::Profile(at_version(Profile::newest(dialect))), Basis::Newest),
                    |profile| (Providers::Profile(at_version(profile)), Basis::Model),
                )
            }
            (Strictness::Newest, Some(host)) => {
                let dialect = dialect()?;
                let model = model.as_deref().unwrap_or_default();
                // Some dialects look alike, and the host speaks only one of them. A path leaves no doubt.
                let is_named = spoken(around, options).is_some();
                let list = Some(rules::list_of(dialect)).filter(|_| !is_named);
                let similar = || rules::dialect_at(host, model, list?);
                let profile = rules::profile_for(dialect, host, model)
                    .or_else(|| rules::profile_for(similar()?, host, model));
                let host = host.clone();
                let profile = profile.ok_or(CheckError::NoProfile { dialect, host })?;
                (Providers::Profile(at_version(profile)), Basis::Host)
            }
        };
        Ok(Addressee { providers, basis, host, model, to_name })
    }
}

/// False for a host that names no provider, such as that of this computer.
fn is_of_provider(host: &str, model: Option<&str>) -> bool {
    let model = model.unwrap_or_default();
    let is_known = |dialect| rules::profile_for(dialect, host, model).is_some();
    Dialect::ALL.into_iter().any(is_known) || !rules::is_stand_in(host)
}

/// Checks that a body can be of the profile's dialect, unless the caller says that it is. Dialects with the same list of
/// messages look alike.
fn is_for(profile: &'static Profile, subject: &Subject, options: &CheckOptions) -> Result<(), CheckError> {
    let own = options.dialect.is_none().then(|| rules::detect(subject.readable)).flatten();
    match own {
        Some(own) if rules::list_of(own) != rules::list_of(profile.dialect) => {
            Err(CheckError::OtherDialect { dialect: own, profile: profile.name })
        }
        _ => Ok(()),
    }
}

/// Returns the model in the body.
fn named(subject: &Subject) -> Option<String> {
    let mut named = None;
    let read = json::walk(subject.readable, "messages", |part| {
        if let Part::Rest(body) = part {
            named = rules::model_in(body).map(Cow::into_owned);
        }
    });
    read.ok()?;
    named
}

fn dialect(subject: &Subject, around: &Around, options: &CheckOptions) -> Result<Dialect, CheckError> {
    if let Some(dialect) = options.dialect {
        return Ok(dialect);
    }
    match spoken(around, options) {
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
        (None, None) => {
            let hosts = [&options.address.host, &around.address.host];
            let host = hosts.into_iter().find(|host| !host.is_empty());
            of_host(subject, host.map(String::as_str)).ok_or(CheckError::NoDialect)
        }
    }
}

/// Returns the API that a path names: that of the options, or that of the recording.
fn spoken(around: &Around, options: &CheckOptions) -> Option<Api> {
    // A host from the options also applies to the path of the recording.
    let given = Address { host: options.address.host.clone(), ..around.address.clone() };
    let around_given = if given.host.is_empty() { &around.address } else { &given };
    options.address.api().or_else(|| around_given.api())
}

/// Returns the only dialect that the host, or the only provider of the model, expects of a body with such a list.
fn of_host(subject: &Subject, host: Option<&str>) -> Option<Dialect> {
    if !is_open(subject.readable) {
        return None;
    }
    let model = named(subject).unwrap_or_default();
    let host = host.or_else(|| rules::host_of_model(&model))?;
    let lists = Dialect::ALL.map(rules::list_of);
    let document = Document::parse(subject.readable).ok()?;
    let root = document.root();
    // A bare list of messages, as programs keep it.
    let list = match root.item(0).field("role").is_str() {
        true => "messages",
        // The list may be inside an object, which the provider refuses.
        false => lists
            .into_iter()
            .find(|list| root.field(list).item(0).is_object() || root.field(list).is_object())?,
    };
    rules::dialect_at(host, &model, list)
}
