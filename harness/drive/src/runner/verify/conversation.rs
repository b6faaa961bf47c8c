//! Probes of a turn that runs to its end.

use super::hint::Examinee;
use super::host::Host;
use super::probe::{Found, Probe};
use super::script::{BATCH, HEARING, REFUSED};
use super::stage::{PATIENCE, Step};
use super::{judge, stop};
use crate::driver::DriverError;

/// A plain conversation works, in its first turn and in the one after.
pub(super) async fn holds(host: &mut Host) -> Result<Found, DriverError> {
    let hint = host.hint(Probe::HoldsAConversation);
    let mut stage = host.open(BATCH).await?;
    for turn in 0..stage.plan.turns.len() {
        stage.play(turn).await?;
        if let Err(seen) = judge::conversation(&stage.plan, turn, &stage.log) {
            return Ok(Found::failed(format!("in turn {}: {seen}", turn + 1), hint));
        }
    }
    Ok(Found::ok())
}

/// What is shown and what is sent back has the ids of the provider.
pub(super) async fn keeps_ids(host: &mut Host) -> Result<Found, DriverError> {
    let hint = host.hint(Probe::KeepsNativeIds);
    let mut stage = host.open(BATCH).await?;
    stage.play(0).await?;
    let shown = match host.examinee {
        Examinee::Adapter => judge::shown_ids(&stage.plan, 0, &stage.log),
        Examinee::Agent => judge::shown_ids_or_own(&stage.plan, 0, &stage.log),
    };
    let warnings = match shown {
        Ok(warnings) => warnings,
        Err(seen) => return Ok(Found::failed(seen, hint)),
    };
    stage.play(1).await?;
    let Some((_, body)) = stage.log.requests.first() else {
        return Ok(Found::failed("the second turn sends no request", hint));
    };
    Ok(match judge::kept_ids(&stage.plan, 0, body) {
        Ok(()) => Found::Ok { warnings },
        Err(seen) => Found::failed(seen, hint),
    })
}

/// The outcome is what happened: an end, a refusal of the provider, a stop.
pub(super) async fn tells_outcome(host: &mut Host) -> Result<Found, DriverError> {
    let hint = host.hint(Probe::TellsTheOutcome);
    let mut stage = host.open(BATCH).await?;
    stage.play(0).await?;
    if let Err(seen) = judge::conversation(&stage.plan, 0, &stage.log) {
        return Ok(Found::failed(format!("of a turn in which nothing goes wrong: {seen}"), hint));
    }
    let mut stage = host.open(REFUSED).await?;
    stage.play(0).await?;
    if let Err(seen) = judge::refusal(&stage.log) {
        return Ok(Found::failed(seen, hint));
    }
    if !host.capabilities().cancel {
        return Ok(Found::Ok { warnings: vec!["a stop was not tried: `cancel` is not claimed".to_owned()] });
    }
    let mut stage = host.open(HEARING).await?;
    stage.prompt(0).await?;
    if stage.until(PATIENCE, |step| matches!(step, Step::Opened(_))).await?.is_none() {
        return Ok(Found::failed(stop::NO_GATE, host.hint(Probe::HoldsAConversation)));
    }
    stage.cancel().await?;
    stage.finish().await?;
    Ok(match judge::stop(&stage.log) {
        Ok(warnings) => Found::Ok { warnings },
        Err(seen) => Found::failed(seen, hint),
    })
}
