//! Probes of the user's stop, and of when a turn is answered.

use std::time::Duration;

use super::host::{Examinee, Host, NO_STOP};
use super::probe::{Defect, Halt, Hint, Probed, wrong};
use super::script::{DEAF, PAUSED, WAITING};
use super::session::{Observation, PATIENCE, ProbeSession, QUIET};
use crate::driver::DriverError;
use crate::server::GateId;

/// Checks that a stop closes the gate of a tool that accepts the signal, but not the gate of a deaf one.
pub(super) async fn passes_on(host: &mut Host) -> Probed {
    if !host.capabilities().has("cancel") {
        return Err(Halt::unclaimed("cancel"));
    }
    let mut session = host.open(WAITING).await?;
    let gate = session.stop_at_gate().await?;
    if !is_dropped(&mut session, gate, SIGNAL_TIME).await? {
        return wrong("after session/cancel, the tool still waits at its gate although it is not deaf");
    }
    let mut session = host.open(DEAF).await?;
    let gate = session.stop_at_gate().await?;
    if is_dropped(&mut session, gate, QUIET).await? {
        let hint = match host.examinee {
            Examinee::Adapter => {
                "do not pass the SDK's stop signal to the request at the gate of a tool that is `deaf`"
            }
            Examinee::Agent => "on a stop, the agent must keep the tool server alive: its calls are not over",
        };
        let seen = "after session/cancel, a tool that is `deaf` was given up at its gate";
        return Err(Defect::new(seen).hint(Hint::Text(hint)).into());
    }
    session.settle(gate);
    session.finish().await?;
    Ok(Vec::new())
}

/// True if a gate is closed before the events end. `afterwards` is how long to wait after the turn has been
/// answered:
/// by then the SDK has processed the stop.
async fn is_dropped(
    session: &mut ProbeSession,
    gate: GateId,
    afterwards: Duration,
) -> Result<bool, DriverError> {
    loop {
        let wait = if session.log.outcome.is_some() { afterwards } else { SIGNAL_TIME };
        match session.next(wait).await? {
            Some(Observation::Dropped(dropped)) if dropped == gate => return Ok(true),
            Some(Observation::Held(exchange)) => session.release(exchange),
            Some(_) => {}
            None => return Ok(false),
        }
    }
}

/// The time limit for an SDK to notice a stop while its turn continues. Some SDKs poll for it once a
/// second.
const SIGNAL_TIME: Duration = Duration::from_secs(3);

/// Checks that a turn is answered when the provider's last reply has ended, and after a stop only when
/// nothing of the turn still runs.
pub(super) async fn awaits(host: &mut Host) -> Probed {
    let mut session = host.open(PAUSED).await?;
    answered_after_the_reply(&mut session).await?;
    if !host.capabilities().has("cancel") {
        return Ok(vec![NO_STOP.to_owned()]);
    }
    let mut session = host.open(WAITING).await?;
    let gate = session.stop_at_gate().await?;
    if session.until(PATIENCE, |seen| seen == Observation::Ended).await?.is_none() {
        // The turn may be waiting for a tool that did not get the signal.
        session.settle(gate);
        session.finish().await?;
    }
    if session.log.outcome.is_none() {
        return wrong("a turn that was stopped is never answered");
    }
    // If the tool is still there, it continues now, and the turn with it.
    session.settle(gate);
    let goes_on = |seen| matches!(seen, Observation::Requested | Observation::Opened(_));
    match session.until(QUIET, goes_on).await? {
        Some(Observation::Requested) => {
            wrong("the provider is asked again after a stopped turn was answered")
        }
        Some(_) => wrong("a tool starts after a stopped turn was answered"),
        None => Ok(Vec::new()),
    }
}

/// Holds the last reply, and checks that the turn is not answered in the meantime.
async fn answered_after_the_reply(session: &mut ProbeSession) -> Result<(), Halt> {
    session.prompt(0).await?;
    let (mut held, mut n_released) = (None, 0);
    loop {
        match session.next(if held.is_some() { QUIET } else { PATIENCE }).await? {
            Some(Observation::Held(exchange)) => {
                held = Some(exchange);
                session.drain().await;
            }
            Some(Observation::Ended) => break,
            Some(seen) => session.let_go_on(seen),
            None => match held.take() {
                Some(exchange) => {
                    n_released += 1;
                    session.release(exchange);
                }
                None => break,
            },
        }
    }
    // The answer may arrive before the event that the reply is held. A reply in one piece is not held at all.
    let was_asked = session.log.requests.len() == session.plan.turns[0].replies.len();
    let is_held = |seen| matches!(seen, Observation::Held(_));
    if held.is_some() || was_asked && n_released == 0 && session.until(PATIENCE, is_held).await?.is_some() {
        return wrong("session/prompt was answered while the provider's reply was still coming");
    }
    Ok(session.judge(0)?)
}
