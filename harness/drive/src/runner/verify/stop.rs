//! Probes of the user's stop, and of when a turn is answered.

use std::time::Duration;

use super::hint::Examinee;
use super::host::Host;
use super::judge;
use super::probe::{Found, Probe};
use super::script::{DEAF, HEARING, PAUSED};
use super::stage::{PATIENCE, QUIET, Stage, Step};
use crate::driver::DriverError;
use crate::server::GateId;

/// What is seen when no tool starts.
pub(super) const NO_GATE: &str = "no tool came to its gate";

/// A stop closes the gate of a tool that hears it, and leaves a deaf one alone.
pub(super) async fn passes_on(host: &mut Host) -> Result<Found, DriverError> {
    if !host.capabilities().cancel {
        return Ok(Found::lacks("cancel"));
    }
    let hint = host.hint(Probe::PassesTheStopOn);
    let mut stage = host.open(HEARING).await?;
    let Some(gate) = stopped_at_the_gate(&mut stage).await? else {
        return Ok(Found::failed(NO_GATE, host.hint(Probe::HoldsAConversation)));
    };
    if !is_dropped(&mut stage, gate, HEARING_TIME).await? {
        let seen = "after session/cancel the tool still waits at its gate, though it is not deaf";
        return Ok(Found::failed(seen, hint));
    }
    let mut stage = host.open(DEAF).await?;
    let Some(gate) = stopped_at_the_gate(&mut stage).await? else {
        return Ok(Found::failed(NO_GATE, host.hint(Probe::HoldsAConversation)));
    };
    if is_dropped(&mut stage, gate, QUIET).await? {
        let seen = "after session/cancel a tool that is `deaf` was given up at its gate";
        let hint = match host.examinee {
            Examinee::Adapter => {
                "do not pass the SDK's stop signal to the request at the gate of a tool that is `deaf`"
            }
            Examinee::Agent => "on a stop the agent has to let the tool server live: its calls are not over",
        };
        return Ok(Found::failed(seen, hint));
    }
    stage.settle(gate);
    stage.finish().await?;
    Ok(Found::ok())
}

/// Starts a turn and stops it when its first tool waits. None if no tool starts.
async fn stopped_at_the_gate(stage: &mut Stage) -> Result<Option<GateId>, DriverError> {
    stage.prompt(0).await?;
    match stage.until(PATIENCE, |step| matches!(step, Step::Opened(_))).await? {
        Some(Step::Opened(gate)) => {
            stage.cancel().await?;
            Ok(Some(gate))
        }
        _ => Ok(None),
    }
}

/// Whether a gate is given up before nothing happens any more. `afterwards` is how long is waited once the turn has
/// been answered: by then the SDK has heard the stop.
async fn is_dropped(stage: &mut Stage, gate: GateId, afterwards: Duration) -> Result<bool, DriverError> {
    loop {
        let wait = if stage.log.outcome.is_some() { afterwards } else { HEARING_TIME };
        match stage.next(wait).await? {
            Some(Step::Dropped(dropped)) if dropped == gate => return Ok(true),
            Some(Step::Held(exchange)) => stage.release(exchange),
            Some(_) => {}
            None => return Ok(false),
        }
    }
}

/// How long an SDK may take to hear a stop while its turn goes on: some look for it once a second.
const HEARING_TIME: Duration = Duration::from_secs(3);

/// A turn is answered when the provider's last reply is over, and after a stop when nothing of it goes on.
pub(super) async fn awaits(host: &mut Host) -> Result<Found, DriverError> {
    let hint = host.hint(Probe::AwaitsTheTurn);
    let mut stage = host.open(PAUSED).await?;
    if let Err(seen) = answered_after_the_reply(&mut stage).await? {
        return Ok(Found::failed(seen, hint));
    }
    if !host.capabilities().cancel {
        return Ok(Found::Ok { warnings: vec!["a stop was not tried: `cancel` is not claimed".to_owned()] });
    }
    let mut stage = host.open(HEARING).await?;
    let Some(gate) = stopped_at_the_gate(&mut stage).await? else {
        return Ok(Found::failed(NO_GATE, host.hint(Probe::HoldsAConversation)));
    };
    if stage.until(PATIENCE, |step| step == Step::Ended).await?.is_none() {
        // A tool that did not hear the stop may be what the turn waits for.
        stage.settle(gate);
        stage.finish().await?;
    }
    if stage.log.outcome.is_none() {
        return Ok(Found::failed("a turn that was stopped is never answered", hint));
    }
    // A tool that is still there goes on now, and the turn with it.
    stage.settle(gate);
    let goes_on = |step| matches!(step, Step::Requested | Step::Opened(_));
    Ok(match stage.until(QUIET, goes_on).await? {
        Some(Step::Requested) => {
            Found::failed("the provider is asked again after a stopped turn was answered", hint)
        }
        Some(_) => Found::failed("a tool starts after a stopped turn was answered", hint),
        None => Found::ok(),
    })
}

/// Holds the last reply, and looks that the turn is not answered meanwhile.
async fn answered_after_the_reply(stage: &mut Stage) -> Result<Result<(), String>, DriverError> {
    stage.prompt(0).await?;
    let (mut held, mut n_released) = (None, 0);
    loop {
        match stage.next(if held.is_some() { QUIET } else { PATIENCE }).await? {
            Some(Step::Held(exchange)) => {
                held = Some(exchange);
                stage.hear_out().await;
            }
            Some(Step::Ended) => break,
            Some(step) => stage.help(step),
            None => match held.take() {
                Some(exchange) => {
                    n_released += 1;
                    stage.release(exchange);
                }
                None => break,
            },
        }
    }
    // The answer may overtake the news that the reply is held. One that comes in one piece is not held at all.
    let was_asked = stage.log.requests.len() == stage.plan.turns[0].replies.len();
    let is_early = held.is_some()
        || was_asked
            && n_released == 0
            && stage.until(PATIENCE, |step| matches!(step, Step::Held(_))).await?.is_some();
    if is_early {
        return Ok(Err("session/prompt was answered while the provider's reply was still coming".to_owned()));
    }
    Ok(judge::conversation(&stage.plan, 0, &stage.log))
}
