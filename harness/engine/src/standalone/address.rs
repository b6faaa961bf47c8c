//! The address of a request: its dialect, and the profile that applies to it.

use std::borrow::Cow;

use brickbat_rules::dialect::Dialect;
use brickbat_rules::json::{Json, Part, walk};
use brickbat_rules::{self as rules, Address, Api, Profile};
use brickbat_scenario::wire::{self, Route};

use crate::provider::Headers;

/// The strictness of the provider, as far as the user specifies it.
#[derive(Debug, Clone, Default)]
pub struct Strictness {
    /// The profile, for requests in its dialect.
    pub profile: Option<&'static Profile>,
    /// The host that the program believes to be talking to.
    pub host: Option<String>,
    /// The model with the rules that apply, regardless of the model in a request.
    pub model: Option<String>,
}

/// The reason why a profile applies to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// The path begins with the name of the profile.
    Path,
    /// The user named the profile.
    Option,
    /// The user named the host.
    Host,
    /// The server that receives the requests is at a known host.
    Upstream,
    /// Only one provider has the model.
    Model,
    /// The profile is the newest of the dialect.
    Newest,
}

impl Basis {
    /// The reason as a phrase.
    pub fn words(self) -> &'static str {
        match self {
            Basis::Path => "as the path says",
            Basis::Option => "as --profile says",
            Basis::Host => "as --host says",
            Basis::Upstream => "as the server's host says",
            Basis::Model => "by the name of the model",
            Basis::Newest => "the newest of the dialect",
        }
    }
}

/// The address of a request for a reply, parsed.
#[derive(Debug)]
pub(crate) struct Addressed<'r> {
    pub(crate) profile: &'static Profile,
    pub(crate) basis: Basis,
    pub(crate) route: Route<'r>,
}

impl Addressed<'_> {
    /// Chooses the profile of the version that the request's headers name, unless the user named a profile.
    pub(crate) fn at_version_of(self, headers: Headers<'_>) -> Self {
        let is_newest = Profile::named(self.profile.undated()).is_some_and(|it| it.name == self.profile.name);
        match headers.named(Profile::VERSION_HEADER) {
            Some(version) if is_newest && self.basis != Basis::Option => {
                Addressed { profile: self.profile.at_version(&version), ..self }
            }
            _ => self,
        }
    }
}

/// Splits a path into the profile that it begins with, if any, and the rest.
pub(crate) fn split(path: &str) -> (Option<&'static Profile>, &str) {
    let below = path.strip_prefix('/').unwrap_or(path);
    let (first, _) = below.split_once('/').unwrap_or((below, ""));
    match Profile::named(first) {
        Some(profile) => (Some(profile), &below[first.len()..]),
        None => (None, path),
    }
}

/// The address of a request for a reply. `None` if its path does not lead to one.
pub(crate) fn addressed<'r>(
    strictness: &Strictness,
    method: &str,
    path: &'r str,
    body: &[u8],
) -> Option<Addressed<'r>> {
    let (named, below) = split(path);
    if let Some(profile) = named {
        let route = wire::of(profile.dialect).route_by_end(method, below)?;
        return Some(Addressed { profile, basis: Basis::Path, route });
    }
    let host = strictness.host.as_deref().unwrap_or_default();
    let address = Address { host: host.to_owned(), path: path.to_owned() };
    let Some(Api::Spoken(dialect)) = address.api() else { return None };
    let model = match (&strictness.model, address.model()) {
        (Some(model), _) => model.clone(),
        (None, Some(model)) => model.into_owned(),
        (None, None) => named_model(body),
    };
    let (profile, basis) = judge(strictness, dialect, &model);
    let route = wire::of(profile.dialect).route_by_end(method, path)?;
    Some(Addressed { profile, basis, route })
}

/// The profile for requests to the paths of a dialect, which other dialects may share.
fn judge(strictness: &Strictness, dialect: Dialect, model: &str) -> (&'static Profile, Basis) {
    let shares = |other: &Dialect| wire::of(*other).path_owner == Some(dialect);
    let is_meant = |profile: &&Profile| profile.dialect == dialect || shares(&profile.dialect);
    if let Some(profile) = strictness.profile.filter(is_meant) {
        return (profile, Basis::Option);
    }
    if let Some(host) = &strictness.host {
        let profile = rules::profile_for(dialect, host, model);
        return profile.map_or((Profile::newest(dialect), Basis::Newest), |profile| (profile, Basis::Host));
    }
    let Some(host) = rules::host_of_model(model) else {
        return (Profile::newest(dialect), Basis::Newest);
    };
    let mut dialects = std::iter::once(dialect).chain(Dialect::ALL.into_iter().filter(shares));
    let profile = dialects.find_map(|dialect| rules::profile_for(dialect, host, model));
    profile.map_or((Profile::newest(dialect), Basis::Newest), |profile| (profile, Basis::Model))
}

/// The model in a body, or an empty text if the body names none.
fn named_model(body: &[u8]) -> String {
    let mut model = String::new();
    let name = |body: Json| body.field("model").as_str().map(Cow::into_owned);
    // A body that is not JSON names no model. Reporting that is left to the rules.
    let _ = walk(body, "messages", |part| {
        if let Part::Rest(body) = part {
            model = name(body).unwrap_or_default();
        }
    });
    model
}

/// The dialect of the API that a request asks for, if its path begins with the name of a profile of another
/// dialect, with that profile. Nothing answers there.
pub fn asks_other_dialect(method: &str, path: &str) -> Option<(Dialect, &'static Profile)> {
    let (profile, below) = split(path);
    let profile = profile?;
    let asks = |dialect: &Dialect| wire::of(*dialect).is_asked_at(method, below);
    let asked = Dialect::ALL.into_iter().find(asks)?;
    (!asks(&profile.dialect)).then_some((asked, profile))
}

/// The dialects that may answer a request for anything other than a reply, each with the path that it may
/// know. The base URLs of some clients end in `/v1`, others do not.
pub(crate) fn beside(path: &str) -> Vec<(Dialect, Cow<'_, str>)> {
    let (named, below) = split(path);
    let dialects = named.map_or_else(|| Dialect::ALL.to_vec(), |profile| vec![profile.dialect]);
    let paths = [Cow::Borrowed(below), Cow::Owned(format!("/v1{below}"))];
    let each = |dialect| paths.iter().map(move |path| (dialect, path.clone()));
    dialects.into_iter().flat_map(each).collect()
}

#[cfg(test)]
mod tests {
    use brickbat_scenario::wire::Delivery;

    use super::*;

    fn judged(strictness: &Strictness, path: &str, body: &str) -> Option<(&'static str, Basis)> {
        let found = addressed(strictness, "POST", path, body.as_bytes())?;
        Some((found.profile.undated(), found.basis))
    }

    #[test]
    fn bare_paths_lead_to_the_dialect_that_owns_them() {
        let nothing = Strictness::default();
        let newest = |path: &str| judged(&nothing, path, "{}").map(|(name, _)| name);
        for dialect in Dialect::ALL {
            let wire = wire::of(dialect);
            for delivery in [Delivery::Streamed, Delivery::Whole] {
                let path = wire.post_path("model", delivery);
                let owner = Profile::newest(wire.path_owner.unwrap_or(dialect));
                assert_eq!(newest(&path), Some(owner.undated()), "{path}");
            }
        }
        assert_eq!(newest("/v1/messages"), Some("anthropic-messages"));
        assert_eq!(newest("/v1/chat/completions"), Some("openai-chat"));
        assert_eq!(newest("/openai/deployments/mine/chat/completions"), Some("openai-chat"));
        assert_eq!(newest("/v1/responses"), Some("openai-responses"));
        assert_eq!(newest("/v1beta/models/gemini-3-pro:generateContent"), Some("gemini"));
        assert_eq!(newest("/model/m/converse-stream"), Some("bedrock-converse"));
        for elsewhere in ["/v1/messages/count_tokens", "/v1/embeddings", "/", "/v1/threads/t/messages"] {
            assert_eq!(newest(elsewhere), None, "{elsewhere}");
        }
        assert!(addressed(&nothing, "GET", "/v1/responses", b"").is_none());
    }

    #[test]
    fn the_version_in_the_header_selects_the_profile_unless_an_option_does() {
        let headers = Headers::of_head(b"POST / HTTP/1.1\r\nAnthropic-Version: 2026-10-21\r\n\r\n");
        let at_version = |strictness: &Strictness, path: &str| {
            let found = addressed(strictness, "POST", path, b"{}").unwrap();
            found.at_version_of(headers).profile.name
        };
        let newest = Strictness::default();
        for path in ["/v1/messages", "/anthropic-messages/v1/messages"] {
            let name = at_version(&newest, path);
            assert!(name.starts_with("anthropic-messages-2026-10-21@"), "{path}: {name}");
        }
        assert!(at_version(&newest, "/v1/responses").starts_with("openai-responses@"));
        let old = at_version(&newest, "/anthropic-messages@2026-05/v1/messages");
        assert_eq!(old, "anthropic-messages@2026-05");
        let given = Strictness { profile: Profile::named("anthropic-messages"), ..Strictness::default() };
        assert!(at_version(&given, "/v1/messages").starts_with("anthropic-messages@"));
        let plain = addressed(&newest, "POST", "/v1/messages", b"{}").unwrap().at_version_of(Headers::NONE);
        assert!(plain.profile.name.starts_with("anthropic-messages@"));
    }

    #[test]
    fn a_request_below_the_name_of_a_profile_of_another_dialect_names_both() {
        let asks = |path| asks_other_dialect("POST", path).map(|(asked, own)| (asked, own.undated()));
        assert_eq!(asks("/deepseek/v1/messages"), Some((Dialect::AnthropicMessages, "deepseek")));
        assert_eq!(
            asks("/anthropic-messages/v1/responses"),
            Some((Dialect::OpenaiResponses, "anthropic-messages"))
        );
        for own in ["/deepseek/chat/completions", "/v1/messages", "/deepseek/v1/embeddings"] {
            assert_eq!(asks(own), None, "{own}");
        }
    }

    #[test]
    fn path_option_host_and_model_determine_the_strictness() {
        let chat = "/v1/chat/completions";
        let of = |profile, host: Option<&str>| Strictness {
            profile: Option::and_then(profile, Profile::named),
            host: host.map(str::to_owned),
            model: None,
        };
        let nothing = of(None, None);
        let grok = r#"{"messages":[],"model":"grok-4"}"#;
        assert_eq!(judged(&nothing, "/deepseek/chat/completions", grok), Some(("deepseek", Basis::Path)));
        assert_eq!(judged(&nothing, "/mistral/v1/chat/completions", grok), Some(("mistral", Basis::Path)));
        assert_eq!(judged(&of(Some("groq"), None), chat, grok), Some(("groq", Basis::Option)));
        assert_eq!(judged(&of(Some("mistral"), None), chat, grok), Some(("mistral", Basis::Option)));
        assert_eq!(judged(&of(None, Some("api.deepseek.com")), chat, grok), Some(("deepseek", Basis::Host)));
        assert_eq!(judged(&of(None, Some("api.mistral.ai")), chat, "{}"), Some(("mistral", Basis::Host)));
        assert_eq!(judged(&nothing, chat, grok), Some(("xai", Basis::Model)));
        let mistral = r#"{"model":"mistral-large-latest"}"#;
        assert_eq!(judged(&nothing, chat, mistral), Some(("mistral", Basis::Model)));
        assert_eq!(judged(&nothing, chat, "no JSON"), Some(("openai-chat", Basis::Newest)));
        assert_eq!(
            judged(&of(Some("groq"), None), "/v1/messages", "{}"),
            Some(("anthropic-messages", Basis::Newest))
        );
    }
}
