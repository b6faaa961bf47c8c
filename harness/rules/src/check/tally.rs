//! The counts of a report, over all requests.

use std::collections::{BTreeMap, BTreeSet};

use super::{Basis, CheckedRequest, Providers};
use crate::Profile;

/// Counts over the requests so far.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct Tally {
    /// Files that were read.
    pub n_files: usize,
    /// Requests that were judged.
    pub n_requests: usize,
    /// Requests that every provider asked accepts.
    pub n_accepted: usize,
    /// Requests that a provider rejects.
    pub n_refused: usize,
    /// Accepted requests that break a denied rule.
    pub n_denied: usize,
    /// Violations that this provider accepts.
    pub n_warnings: usize,
    /// Texts that could not be judged.
    pub n_unjudged: usize,
    /// Files in folders that are not requests.
    pub n_passed_over: usize,
    /// Recorded requests that ask for no reply.
    pub n_no_reply: usize,
}

/// Unknown facts about requests, and the rules and profiles that depend on them.
#[derive(Debug, Default)]
pub(super) struct Unknown {
    /// Requests without a known model.
    pub(super) n_without_model: usize,
    /// The rules that depend on the model.
    pub(super) rules: BTreeSet<&'static str>,
    /// Requests without a known host, in dialects with different providers.
    pub(super) n_without_host: usize,
    /// The profiles used for them.
    pub(super) profiles: BTreeSet<&'static str>,
    /// Requests without a known host that were judged as the model's name suggests.
    pub(super) n_by_model: usize,
    /// The profiles used for them.
    pub(super) of_models: BTreeSet<&'static str>,
    /// Hosts that name no provider, such as that of this computer.
    pub(super) stand_ins: BTreeSet<String>,
    /// Models of another provider than the one that judged, each with the host of its own. The rules there for the dialect
    /// are not known.
    pub(super) strangers: BTreeMap<String, &'static str>,
}

/// The maximum number of hosts, or of models, that a note lists.
const MAX_LISTED: usize = 5;

impl Unknown {
    pub(super) fn add(&mut self, checked: &CheckedRequest) {
        if !checked.rules_by_model.is_empty() {
            self.n_without_model += 1;
            self.rules.extend(&checked.rules_by_model);
        }
        let Providers::Profile(profile) = checked.providers else { return };
        let mut others = Profile::newest_of_each_name(profile.dialect);
        // Another version of the provider's own API is not chosen by a host.
        if checked.basis == Basis::Newest && others.any(|other| other.provider != profile.provider) {
            self.n_without_host += 1;
            self.profiles.insert(profile.name);
        }
        if matches!(checked.basis, Basis::Newest | Basis::Model)
            && let Some(host) = &checked.host
            && self.stand_ins.len() < MAX_LISTED
        {
            self.stand_ins.insert(host.clone());
        }
        if checked.basis == Basis::Newest
            && self.strangers.len() < MAX_LISTED
            && let Some(model) = &checked.model
            && let Some(host) = crate::host_of_model(model)
        {
            self.strangers.insert(model.clone(), host);
        }
        if checked.basis == Basis::Model {
            self.n_by_model += 1;
            self.of_models.insert(profile.name);
        }
    }
}
