//! Checks that an adapter meets the requirements in `harness/systems/README.md`. For an agent that needs no
//! adapter, it checks that the manifest describes the agent correctly.
//!
//! A false finding about an SDK often starts with a faulty adapter. Each probe drives the adapter through its
//! own small conversation, and reports what it observed and how to fix it. The probes judge only the adapter,
//! not the SDK, so no checker runs here.

mod change;
mod claims;
mod conversation;
mod host;
mod judge;
mod lifetime;
mod probe;
mod script;
mod session;
mod sessions;
mod stop;

use std::path::Path;

use futures::future::{LocalBoxFuture, ready};
use serde_json::{Value, json};

pub use probe::{Probe, ProbeOutcome};

use super::system::System;
use crate::driver::{DriverError, Progress};
use host::{Examinee, Host};
use probe::{Defect, Halt, Probed};

/// An adapter's probe results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verification {
    pub system: String,
    /// The SDK and its version, as the adapter reports them. `None` if it never did.
    pub about: Option<String>,
    /// The probe results, in a fixed order.
    pub probes: Vec<ProbeReport>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProbeReport {
    pub probe: Probe,
    pub outcome: ProbeOutcome,
}

const SCHEMA: u32 = 1;

impl Verification {
    pub fn to_json(&self) -> Value {
        let probes = self.probes.iter().map(|ProbeReport { probe, outcome }| {
            let (id, title) = (probe.id(), probe.title());
            match outcome {
                ProbeOutcome::Ok { warnings } => {
                    json!({ "probe": id, "title": title, "result": "ok", "warnings": warnings })
                }
                ProbeOutcome::Failed { seen, hint, stderr, limit } => {
                    let mut failed = json!({ "probe": id, "title": title, "result": "failed", "seen": seen, "hint": hint });
                    if !stderr.is_empty() {
                        failed["stderr"] = json!(stderr);
                    }
                    if let Some(limit) = limit {
                        failed["limit"] = json!(limit);
                    }
                    failed
                }
                ProbeOutcome::Skipped { reason } => {
                    json!({ "probe": id, "title": title, "result": "skipped", "reason": reason })
                }
                ProbeOutcome::NotJudged { reason } => {
                    json!({ "probe": id, "title": title, "result": "not-judged", "reason": reason })
                }
            }
        });
        let probes: Vec<Value> = probes.collect();
        json!({ "schema": SCHEMA, "system": self.system, "about": self.about, "probes": probes })
    }

    /// 0 if the adapter is correct, 1 if a probe failed, 3 if a probe could not judge.
    pub fn exit_code(&self) -> u8 {
        let any = |is: fn(&ProbeOutcome) -> bool| self.probes.iter().any(|report| is(&report.outcome));
        if any(|outcome| matches!(outcome, ProbeOutcome::Failed { .. })) {
            return 1;
        }
        if any(|outcome| matches!(outcome, ProbeOutcome::NotJudged { .. })) { 3 } else { 0 }
    }
}

/// Runs every probe against a system's adapter. `note` gets a line before each probe and before long
/// preparations. `supervisor` is the program `brickbat`, which supervises the adapter's processes.
pub async fn verify(
    system: &System,
    supervisor: &Path,
    note: Progress<'_>,
) -> Result<Verification, NoAdapter> {
    let System::Adapted(subject) = system else { return Err(NoAdapter(system.name())) };
    let mut verifier = Verifier { examinee: Examinee::of(subject), invalid_message: None };
    let (mut host, started) = match Host::start(subject, supervisor, note).await {
        Ok(host) => {
            let warnings = host.warnings.clone();
            (Some(host), ProbeOutcome::Ok { warnings })
        }
        Err(halt) => (None, verifier.outcome(Probe::IntroducesItself, Err(halt))),
    };
    let about = host.as_ref().map(Host::about);
    let unmet =
        ProbeOutcome::NotJudged { reason: format!("{} did not introduce itself", verifier.examinee.noun()) };
    let mut probes = vec![ProbeReport { probe: Probe::IntroducesItself, outcome: started }];
    // The second probe needs no run of its own: it collects what the others have seen.
    for probe in Probe::ALL.into_iter().skip(2) {
        let outcome = match &mut host {
            Some(host) => {
                note(&format!("probe: {}", probe.title()));
                match probe.rests_on().filter(|other| has_failed(&probes, *other)) {
                    Some(other) => ProbeOutcome::Skipped {
                        reason: format!("it depends on {}, which failed", other.id()),
                    },
                    None => {
                        let outcome = verifier.in_each_mode(probe, host).await;
                        host.remember(probe, &outcome);
                        within_limits(subject.manifest.limits.get(probe.id()), outcome)
                    }
                }
            }
            None => unmet.clone(),
        };
        probes.push(ProbeReport { probe, outcome });
    }
    let probe = Probe::SilentOnStdout;
    let outcome = match (verifier.invalid_message, &host) {
        (Some(seen), _) => ProbeOutcome::failed(seen, verifier.examinee.hint(probe, None)),
        (None, Some(_)) => ProbeOutcome::ok(),
        (None, None) => unmet,
    };
    probes.insert(1, ProbeReport { probe, outcome });
    Ok(Verification { system: system.name(), about, probes })
}

fn has_failed(probes: &[ProbeReport], probe: Probe) -> bool {
    let is_failed = |report: &ProbeReport| matches!(report.outcome, ProbeOutcome::Failed { .. });
    probes.iter().any(|report| report.probe == probe && is_failed(report))
}

/// Runs a probe on an adapter that has described itself. Boxed, so that callers do not contain all its state
/// machines.
fn run(probe: Probe, host: &mut Host) -> LocalBoxFuture<'_, Probed> {
    match probe {
        Probe::IntroducesItself | Probe::SilentOnStdout => Box::pin(ready(Ok(Vec::new()))),
        Probe::HoldsAConversation => Box::pin(conversation::holds(host)),
        Probe::KeepsNativeIds => Box::pin(conversation::keeps_ids(host)),
        Probe::SendsPromptsOnce => Box::pin(conversation::sends_prompts_once(host)),
        Probe::PassesTheStopOn => Box::pin(stop::passes_on(host)),
        Probe::AwaitsTheTurn => Box::pin(stop::awaits(host)),
        Probe::TellsTheOutcome => Box::pin(conversation::tells_outcome(host)),
        Probe::IsolatesSessions => Box::pin(sessions::isolates(host)),
        Probe::ReloadsSessions => Box::pin(sessions::reloads(host)),
        Probe::HonoursTheMode => Box::pin(lifetime::honours_mode(host)),
        Probe::AnswersExtensions => Box::pin(lifetime::answers_extensions(host)),
        Probe::ChangesTheHistory => Box::pin(change::changes(host)),
        Probe::KeepsItsClaims => Box::pin(claims::keeps(host)),
        Probe::SurvivesManyPlans => Box::pin(lifetime::survives(host)),
        Probe::EndsWithItsInput => Box::pin(lifetime::ends(host)),
    }
}

/// The line for the manifest of a version if its SDK is the cause.
fn limit_line(probe: Probe, seen: &str) -> String {
    format!("versions: [{{ version: VERSION, limits: {{ {}: {} }} }}]", probe.id(), json!(seen))
}

/// A known limit of this version excuses the failure of its probe, and is wrong when the probe passes.
fn within_limits(limit: Option<&String>, outcome: ProbeOutcome) -> ProbeOutcome {
    match (limit, outcome) {
        (Some(limit), ProbeOutcome::Failed { seen, .. }) => {
            ProbeOutcome::Skipped { reason: format!("known limit of this version: {limit} (seen: {seen})") }
        }
        (Some(_), ProbeOutcome::Ok { .. }) => ProbeOutcome::failed(
            "the probe passes, and the manifest lists it among the limits of this version",
            "remove it from `limits`",
        ),
        (_, outcome) => outcome,
    }
}

struct Verifier {
    examinee: Examinee,
    /// The first line of standard output, in any probe, that was not a message.
    invalid_message: Option<String>,
}

impl Verifier {
    /// Runs a probe in the selected mode, and in the others if they may differ in it. The first failure
    /// counts.
    async fn in_each_mode(&mut self, probe: Probe, host: &mut Host) -> ProbeOutcome {
        let first = host.mode.clone();
        let others = host.modes().into_iter().filter(|mode| probe.is_of_each_mode() && *mode != first);
        let mut outcome = self.in_mode(probe, host).await;
        for mode in others {
            if matches!(outcome, ProbeOutcome::Failed { .. } | ProbeOutcome::NotJudged { .. }) {
                break;
            }
            host.mode.clone_from(&mode);
            if conversation::holds(host).await.is_err() {
                // The probe of the modes reports this.
                host.forget_if_lost();
                continue;
            }
            let place = |words: &String| format!("in mode {mode}: {words}");
            match self.in_mode(probe, host).await {
                ProbeOutcome::Ok { warnings: more } => {
                    // A capability that the first mode lacks is tried in the first mode that has it.
                    let mut warnings = match outcome {
                        ProbeOutcome::Ok { warnings } => warnings,
                        _ => Vec::new(),
                    };
                    let new = more.iter().filter(|words| !warnings.contains(words)).map(place);
                    let new: Vec<String> = new.collect();
                    warnings.extend(new);
                    outcome = ProbeOutcome::Ok { warnings };
                }
                ProbeOutcome::Failed { seen, hint, stderr, limit } => {
                    outcome = ProbeOutcome::Failed { seen: place(&seen), hint, stderr, limit };
                }
                ProbeOutcome::NotJudged { reason } => {
                    outcome = ProbeOutcome::NotJudged { reason: place(&reason) };
                }
                // A capability is not tried in a mode that lacks it.
                ProbeOutcome::Skipped { .. } => {}
            }
        }
        host.mode = first;
        outcome
    }

    async fn in_mode(&mut self, probe: Probe, host: &mut Host) -> ProbeOutcome {
        let from = host.stderr_len();
        let probed = run(probe, host).await;
        let outcome = match self.outcome(probe, probed) {
            ProbeOutcome::Failed { seen, hint, .. } => {
                let limit = probe.may_be_the_sdk().then(|| limit_line(probe, &seen));
                ProbeOutcome::Failed { stderr: host.stderr_since(from), limit, seen, hint }
            }
            other => other,
        };
        host.forget_if_lost();
        outcome
    }

    fn outcome(&mut self, probe: Probe, probed: Probed) -> ProbeOutcome {
        let defect = match probed {
            Ok(warnings) => return ProbeOutcome::Ok { warnings },
            Err(Halt::Skipped(reason)) => return ProbeOutcome::Skipped { reason },
            Err(Halt::Defect(defect)) => defect,
            Err(Halt::Driver(error)) => match error.plain() {
                DriverError::InvalidMessage { .. } => {
                    self.invalid_message.get_or_insert(format!("{error} (in the probe {})", probe.id()));
                    let reason = format!("{} was cut off, see silent-on-stdout", self.examinee.noun());
                    return ProbeOutcome::NotJudged { reason };
                }
                // Everything to install was there when the adapter started, so this is an unknown word in the
                // manifest.
                DriverError::Install { .. } if probe != Probe::IntroducesItself => {
                    Defect::new(error.to_string())
                }
                DriverError::ProgramMissing { .. }
                | DriverError::ProgramTooOld { .. }
                | DriverError::Misfit { .. }
                | DriverError::Install { .. }
                | DriverError::Harness { .. } => {
                    return ProbeOutcome::NotJudged { reason: error.to_string() };
                }
                _ => Defect::new(error.to_string()),
            },
        };
        ProbeOutcome::failed(defect.seen, self.examinee.hint(probe, defect.hint))
    }
}

/// A system that has no adapter: it runs in this process, or speaks ACP itself.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0} has no adapter; `reference/acp` has one")]
pub struct NoAdapter(String);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_excuses_its_probe_and_is_wrong_if_the_probe_passes() {
        let limit = "it has no word for it".to_owned();
        let seen = || ProbeOutcome::failed("nothing was said", "say it");
        let ProbeOutcome::Skipped { reason } = within_limits(Some(&limit), seen()) else { panic!() };
        assert_eq!(reason, "known limit of this version: it has no word for it (seen: nothing was said)");
        assert!(matches!(within_limits(Some(&limit), ProbeOutcome::ok()), ProbeOutcome::Failed { .. }));
        assert_eq!(within_limits(None, seen()), seen());
        assert_eq!(within_limits(None, ProbeOutcome::ok()), ProbeOutcome::ok());
    }
}
