//! The `serve` and `wrap` options that describe the provider they start.

use std::time::Duration;

use clap::Args;

use super::error::{CliError, UnknownName};
use super::options::{duration, jobs, model, profile};
use brickbat_drive::server::Admission;
use brickbat_engine::improvise::Manner;
use brickbat_engine::standalone::{Behaviour, Due, FaultKind, Faults, ProgramStop, Strictness};
use brickbat_rules::dialect::Dialect;
use brickbat_rules::{Address, Profile, is_known_host};
use brickbat_scenario::plan::Plan;

#[derive(Args)]
pub(super) struct ProviderChoice {
    /// How strict the provider is in the profile's dialect; by default the path or the model selects the profile,
    /// otherwise the newest applies.
    #[arg(long, value_name = "PROFILE", value_parser = profile, conflicts_with = "host")]
    profile: Option<&'static Profile>,
    /// The host that the program would otherwise call, such as `api.x.ai`; it selects the profile.
    #[arg(long, value_name = "HOST", value_parser = host)]
    host: Option<String>,
    /// Judge by the rules for this model, regardless of the model that the requests name.
    #[arg(long, value_name = "MODEL", value_parser = model)]
    model: Option<String>,
    /// Take the replies from a scenario: a file, or the id of a built-in one. By default, they are
    /// improvised.
    #[arg(long, value_name = "SCENARIO")]
    scenario: Option<String>,
    /// The seed for the improvised replies.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// How many times the improvised model calls tools after a prompt before it replies with text.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(0..=100))]
    rounds: u32,
    /// The token count that each reply reports, to trigger history compaction. By default, it depends on the size of
    /// the request.
    #[arg(long, value_name = "TOKENS")]
    usage: Option<u64>,
    /// Inject faults into improvised replies: eof, reset, end-early, error, overloaded, rate-limit and stall, separated
    /// by commas. Without a list, all except stall are injected.
    #[arg(long, value_name = "KINDS", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    #[arg(value_parser = kinds)]
    faults: Option<Kinds>,
    /// With --faults, inject a fault into every Nth reply to a request that offers tools.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    every: u32,
    /// With --faults, inject a fault only into the Nth of these replies.
    #[arg(long, value_name = "N", conflicts_with = "every", value_parser = clap::value_parser!(u32).range(1..))]
    only: Option<u32>,
    /// The time after which a stalled reply continues.
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = duration)]
    pub(super) stall: Duration,
    #[command(flatten)]
    pub(super) admitted: Admitted,
}

/// The additional hosts and origins whose requests are answered. Programs of this machine and the pages that
/// they serve are always answered.
#[derive(Args)]
pub(super) struct Admitted {
    /// Also answer requests whose Host is this name, such as `host.docker.internal`; `*` is any name. May be
    /// repeated.
    #[arg(long, value_name = "NAME")]
    allow_host: Vec<String>,
    /// Also answer requests from web pages with this origin, such as `https://app.example`; `*` is any origin. May be
    /// repeated.
    #[arg(long, value_name = "ORIGIN")]
    allow_origin: Vec<String>,
}

impl Admitted {
    pub(super) fn admission(&self) -> Admission {
        Admission { hosts: self.allow_host.clone(), origins: self.allow_origin.clone() }
    }
}

/// Kinds of faults.
#[derive(Debug, Clone)]
pub(super) struct Kinds(pub(super) Vec<FaultKind>);

pub(super) fn kinds(words: &str) -> Result<Kinds, UnknownName> {
    if words.is_empty() {
        return Ok(Kinds(Faults::USUAL.to_vec()));
    }
    let known = |word: &str| FaultKind::ALL.into_iter().find(|kind| kind.name() == word);
    let kinds: Option<Vec<FaultKind>> = words.split(',').map(|word| known(word.trim())).collect();
    kinds.map(Kinds).ok_or_else(|| {
        let names = FaultKind::ALL.map(FaultKind::name).join(", ");
        UnknownName(format!("expected some of {names}, separated by commas"))
    })
}

/// Reads a host with a known profile in any dialect.
pub(super) fn host(word: &str) -> Result<String, UnknownName> {
    let host = Address::of(word).host;
    match is_known_host(&host) {
        true => Ok(host),
        false => Err(UnknownName(
            "it is not known how strict this host is; choose a profile with --profile".to_owned(),
        )),
    }
}

impl ProviderChoice {
    /// The behaviour of the provider. `stops` are the points at which the program is ended.
    pub(super) fn behaviour(&self, stops: Vec<ProgramStop>) -> Result<Behaviour, CliError> {
        let due = self.only.map_or(Due::Every(self.every), Due::Only);
        let faults = self.faults.as_ref().map(|Kinds(kinds)| Faults { kinds: kinds.clone(), due });
        Ok(Behaviour {
            strictness: Strictness {
                profile: self.profile,
                host: self.host.clone(),
                model: self.model.clone(),
            },
            manner: Manner { seed: self.seed, n_rounds: self.rounds },
            scripted: self.scripted()?,
            usage: self.usage,
            faults,
            stops,
        })
    }

    /// The scenario's first plan in each dialect that can run it.
    fn scripted(&self) -> Result<Vec<Plan>, CliError> {
        let Some(word) = &self.scenario else { return Ok(Vec::new()) };
        let mut plans: Vec<Plan> = Vec::new();
        for job in jobs(std::slice::from_ref(word), &Dialect::ALL, None, self.seed)? {
            let is_new = plans.iter().all(|plan| plan.dialect != job.plan.dialect);
            if is_new && job.plan.impossible.is_none() {
                plans.push(Plan::clone(&job.plan));
            }
        }
        match plans.is_empty() {
            true => Err(CliError::input(format!("no dialect supports `{word}`"))),
            false => Ok(plans),
        }
    }
}
