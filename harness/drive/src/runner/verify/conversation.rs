//! Probes for a turn that runs until it ends.

use super::host::{Examinee, Host, NO_STOP};
use super::judge;
use super::probe::{Defect, Probed};
use super::script::{BATCH, REFUSED, WAITING};

/// Checks that a plain conversation works, in its first turn and in the next one.
pub(super) async fn holds(host: &mut Host) -> Probed {
    let mut session = host.open(BATCH).await?;
    for turn in 0..session.plan.turns.len() {
        session.play(turn).await?;
        session.judge(turn).map_err(|defect| defect.within(format!("in turn {}", turn + 1)))?;
    }
    Ok(Vec::new())
}

/// Checks that calls are shown and sent back under the provider's ids.
pub(super) async fn keeps_ids(host: &mut Host) -> Probed {
    let mut session = host.open(BATCH).await?;
    session.play(0).await?;
    let warnings = match host.examinee {
        Examinee::Adapter => judge::shown_ids(&session.plan, 0, &session.log)?,
        Examinee::Agent => judge::shown_ids_or_own(&session.plan, 0, &session.log)?,
    };
    session.play(1).await?;
    let (_, body) =
        session.log.requests.first().ok_or_else(|| Defect::new("the second turn sends no request"))?;
    judge::kept_ids(&session.plan, 0, body)?;
    let order = judge::order_of_calls(&session.plan, 0, body);
    Ok(warnings.into_iter().chain(order).collect())
}

/// Checks that the user's message is in each request at most once, in its own turn and in the next.
pub(super) async fn sends_prompts_once(host: &mut Host) -> Probed {
    let mut session = host.open(BATCH).await?;
    for turn in 0..session.plan.turns.len() {
        session.play(turn).await?;
        for (_, body) in &session.log.requests {
            judge::prompts_once(&session.plan, turn, body)?;
        }
    }
    Ok(Vec::new())
}

/// Checks that the reported outcome matches what happened: an end, a rejection by the provider, or
/// a stop.
pub(super) async fn tells_outcome(host: &mut Host) -> Probed {
    let mut session = host.open(BATCH).await?;
    session.play(0).await?;
    session.judge(0).map_err(|defect| defect.within("of a turn in which nothing goes wrong"))?;
    let mut session = host.open(REFUSED).await?;
    session.play(0).await?;
    judge::refusal(&session.log)?;
    if !host.capabilities().has("cancel") {
        return Ok(vec![NO_STOP.to_owned()]);
    }
    let mut session = host.open(WAITING).await?;
    let gate = session.stop_at_gate().await?;
    session.finish_stopped(gate).await?;
    Ok(judge::stop(&session.log)?)
}
