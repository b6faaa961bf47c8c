//! Verifies an adapter: does it what `harness/systems/README.md` asks of it? Of an agent that needs no adapter it is
//! asked whether its manifest and the agent fit together.
//!
//! A false accusation of an SDK begins with an adapter that is not quite right. Each probe drives the adapter through
//! a small conversation of its own and says what was seen, and how to mend it. The probes judge the adapter and not
//! the SDK: no checker runs here.

mod conversation;
mod hint;
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
use hint::Examinee;
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
    let examinee = Examinee::of(subject);
    let unmet = || Found::NotJudged { reason: format!("{} did not introduce itself", examinee.noun()) };
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
                let found = found.unwrap_or_else(|error| failed(examinee, probe, error, &mut babble));
                let found = held_against(subject.manifest.limits.get(probe.id()), found);
                host.forget_if_lost();
                found
            }
            (None, _) => unmet(),
        };
        probes.push(Examined { probe, found });
    }
    let silent = match (babble, &host) {
        (Some(said), _) => Found::failed(said, examinee.hint(Probe::SilentOnStdout)),
        (None, Some(_)) => Found::ok(),
        (None, None) => unmet(),
    };
    probes.insert(1, Examined { probe: Probe::SilentOnStdout, found: silent });
    verification.probes = probes;
    Ok(verification)
}

/// What was found, held against what the manifest knows of this version: a limit excuses what it speaks of, and no
/// more than that, and is wrong when it does not hold any more.
fn held_against(limit: Option<&String>, found: Found) -> Found {
    match (limit, found) {
        (Some(limit), Found::Failed { seen, .. }) => {
            Found::Skipped { reason: format!("known of this version: {limit} (seen: {seen})") }
        }
        (Some(_), Found::Ok { .. }) => Found::failed(
            "the probe passes, and the manifest has it among the limits of this version",
            "take it out of `limits`",
        ),
        (_, found) => found,
    }
}

/// The first probe: the adapter starts and introduces itself.
async fn examine_start(
    subject: &Subject,
    guardian: &Path,
    note: &(dyn Fn(&str) + Sync),
    babble: &mut Option<String>,
) -> Result<(Host, Vec<String>), Found> {
    let (examinee, probe) = (Examinee::of(subject), Probe::IntroducesItself);
    let host = Host::start(subject, guardian, note).await;
    let host = host.map_err(|error| failed(examinee, probe, error, babble))?;
    let host = match host {
        Ok(host) => host,
        Err(seen) => return Err(Found::failed(seen, examinee.hint(probe))),
    };
    let warnings = host.warnings();
    Ok((host, warnings))
}

/// What an error of the driver means for a probe. What is on the standard output is a matter of its own.
fn failed(examinee: Examinee, probe: Probe, error: DriverError, babble: &mut Option<String>) -> Found {
    match error.plain() {
        DriverError::InvalidMessage { .. } => {
            let words = format!("{error} (in the probe {})", probe.id());
            babble.get_or_insert(words);
            Found::NotJudged { reason: format!("{} broke off, see silent-on-stdout", examinee.noun()) }
        }
        // What has to be installed is there once it has started: then it is the manifest that has a hole.
        DriverError::Install { .. } if probe != Probe::IntroducesItself => {
            Found::failed(error.to_string(), examinee.hint(probe))
        }
        DriverError::ProgramMissing { .. } | DriverError::Install { .. } | DriverError::Harness { .. } => {
            Found::NotJudged { reason: error.to_string() }
        }
        _ => Found::failed(error.to_string(), examinee.hint(probe)),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_excuses_what_it_speaks_of_and_is_wrong_when_it_does_not_hold() {
        let limit = "it has no word for it".to_owned();
        let seen = || Found::failed("nothing was said", "say it");
        let Found::Skipped { reason } = held_against(Some(&limit), seen()) else { panic!() };
        assert_eq!(reason, "known of this version: it has no word for it (seen: nothing was said)");
        assert!(matches!(held_against(Some(&limit), Found::ok()), Found::Failed { .. }));
        assert_eq!(held_against(None, seen()), seen());
        assert_eq!(held_against(None, Found::ok()), Found::ok());
    }
}
