//! Verifies an adapter: does it what `harness/systems/README.md` asks of it?
//!
//! A false accusation of an SDK begins with an adapter that is not quite right. Each probe drives the adapter through
//! a small conversation of its own and says what was seen, and how to mend it. The probes judge the adapter and not
//! the SDK: no checker runs here.

mod conversation;
mod host;
mod judge;
mod lifetime;
mod probe;
mod script;
mod sessions;
mod stage;
mod stop;

use std::path::Path;

use serde_json::{Value, json};

pub use probe::{Found, Probe};

use super::system::{Subject, System};
use crate::driver::DriverError;
use host::Host;

/// What the probes have found out about an adapter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verification {
    /// The system, as it was named.
    pub system: String,
    /// The SDK and its version, as the adapter says; none if it never came to say so.
    pub about: Option<String>,
    /// What each probe found, in a fixed order.
    pub probes: Vec<Examined>,
}

/// One probe and what came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Examined {
    /// The probe.
    pub probe: Probe,
    /// What came of it.
    pub found: Found,
}

/// Version of the report.
const SCHEMA: u32 = 1;

impl Verification {
    /// The report for programs.
    pub fn to_json(&self) -> Value {
        let probes = self.probes.iter().map(|Examined { probe, found }| {
            let (id, title) = (probe.id(), probe.title());
            match found {
                Found::Ok { warnings } => {
                    json!({ "probe": id, "title": title, "result": "ok", "warnings": warnings })
                }
                Found::Failed { seen, hint } => {
                    json!({ "probe": id, "title": title, "result": "failed", "seen": seen, "hint": hint })
                }
                Found::Skipped { reason } => {
                    json!({ "probe": id, "title": title, "result": "skipped", "reason": reason })
                }
                Found::NotJudged { reason } => {
                    json!({ "probe": id, "title": title, "result": "not-judged", "reason": reason })
                }
            }
        });
        let probes: Vec<Value> = probes.collect();
        json!({ "schema": SCHEMA, "system": self.system, "about": self.about, "probes": probes })
    }

    /// 0 if the adapter is right, 1 if a probe failed, 3 if one could not judge.
    pub fn exit_code(&self) -> u8 {
        let any = |is: fn(&Found) -> bool| self.probes.iter().any(|examined| is(&examined.found));
        match () {
            () if any(|found| matches!(found, Found::Failed { .. })) => 1,
            () if any(|found| matches!(found, Found::NotJudged { .. })) => 3,
            () => 0,
        }
    }
}

/// Runs every probe on the adapter of a system. `note` is told of long preparations and of each probe.
///
/// # Errors
///
/// When the system has no adapter.
///
/// `guardian` is the program `brickbat`, which guards the adapter's processes.
pub async fn verify(
    system: &System,
    guardian: &Path,
    note: &(dyn Fn(&str) + Sync),
) -> Result<Verification, NoAdapter> {
    let System::Adapted(subject) = system else { return Err(NoAdapter(system.name())) };
    if subject.manifest.acp.is_some() {
        return Err(NoAdapter(system.name()));
    }
    // An agent that speaks ACP itself promises nothing on top of it, so there is nothing to hold it to.
    if subject.manifest.acp.is_some() {
        return Err(NoAdapter(system.name()));
    }
    let mut verification = Verification { system: system.name(), about: None, probes: Vec::new() };
    let mut babble = None;
    let first = examine_start(subject, guardian, note, &mut babble).await;
    let found = match &first {
        Ok((host, warnings)) => {
            verification.about = Some(host.about());
            Found::Ok { warnings: warnings.clone() }
        }
        Err(found) => found.clone(),
    };
    let mut probes = vec![Examined { probe: Probe::IntroducesItself, found }];
    let mut host = first.ok().map(|(host, _)| host);
    for probe in Probe::ALL.into_iter().filter(|probe| !matches!(probe, Probe::IntroducesItself)) {
        let found = match (&mut host, probe) {
            (_, Probe::SilentOnStdout) => continue,
            (Some(host), probe) => {
                note(&format!("probe: {}", probe.title()));
                let found = probe.run(host).await;
                let found = found.unwrap_or_else(|error| failed(probe, error, &mut babble));
                host.forget_if_lost();
                found
            }
            (None, _) => Found::NotJudged { reason: "the adapter did not introduce itself".to_owned() },
        };
        probes.push(Examined { probe, found });
    }
    let silent = match (babble, &host) {
        (Some(said), _) => Found::failed(said, Probe::SilentOnStdout.hint()),
        (None, Some(_)) => Found::ok(),
        (None, None) => Found::NotJudged { reason: "the adapter did not introduce itself".to_owned() },
    };
    probes.insert(1, Examined { probe: Probe::SilentOnStdout, found: silent });
    verification.probes = probes;
    Ok(verification)
}

/// The first probe: the adapter starts and introduces itself.
async fn examine_start(
    subject: &Subject,
    guardian: &Path,
    note: &(dyn Fn(&str) + Sync),
    babble: &mut Option<String>,
) -> Result<(Host, Vec<String>), Found> {
    let probe = Probe::IntroducesItself;
    let host = Host::start(subject, guardian, note).await.map_err(|error| failed(probe, error, babble))?;
    let host = match host {
        Ok(host) => host,
        Err(seen) => return Err(Found::failed(seen, probe.hint())),
    };
    let warnings = host.warnings();
    Ok((host, warnings))
}

/// What an error of the driver means for a probe. What is on the standard output is a matter of its own.
fn failed(probe: Probe, error: DriverError, babble: &mut Option<String>) -> Found {
    match error.plain() {
        DriverError::Babble { .. } => {
            let words = format!("{error} (in the probe {})", probe.id());
            babble.get_or_insert(words);
            Found::NotJudged { reason: "the adapter broke off, see silent-on-stdout".to_owned() }
        }
        DriverError::Missing { .. } | DriverError::Install { .. } | DriverError::Harness { .. } => {
            Found::NotJudged { reason: error.to_string() }
        }
        _ => Found::failed(error.to_string(), probe.hint()),
    }
}

/// A system that has no adapter: it runs in this process, or speaks ACP itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoAdapter(String);

impl std::fmt::Display for NoAdapter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "error: {} has no adapter; `reference/acp` has", self.0)
    }
}

impl std::error::Error for NoAdapter {}
