//! Probes of two sessions: at the same time in one process, and one after the other in two.

use super::host::{Examinee, Host};
use super::judge;
use super::probe::{Defect, Halt, Hint, Probe, Probed, wrong};
use super::script::BATCH;
use super::session::{Observation, PATIENCE, ProbeSession};

/// The seeds for the two users' messages. They distinguish the users, because the plans contain the
/// same texts.
const SEEDS: [u64; 2] = [1, 2];

/// Checks that two sessions in one process, both in the middle of a turn, share nothing.
pub(super) async fn isolates(host: &mut Host) -> Probed {
    let (adapter, dialect) = (host.adapter(SEEDS.len()).await?, host.dialect());
    let mut sessions = Vec::new();
    for seed in SEEDS {
        let mut plan = (*BATCH.plan(dialect, seed)?).clone();
        for turn in &mut plan.turns {
            turn.user = format!("{} I am user {seed}.", turn.user);
        }
        sessions.push(host.open_in(&adapter, plan.into(), &host.mode).await?);
    }
    let warnings = match host.examinee {
        Examinee::Adapter => {
            at_the_same_time(&mut sessions).await?;
            Vec::new()
        }
        Examinee::Agent => {
            one_after_the_other(&mut sessions).await?;
            vec![
                "the sessions took turns, because an agent without an adapter gets one plan at a time"
                    .to_owned(),
            ]
        }
    };
    for session in &mut sessions {
        session.play(1).await?;
    }
    for (own, other) in [(0, 1), (1, 0)] {
        let (own, other) = (&sessions[own], &sessions[other]);
        for (_, body) in &own.log.requests {
            judge::nothing_of(&other.plan, other.base_url(), &user_of(other), body)?;
            judge::remembers(&own.plan, 0, body)?;
        }
        if own.log.requests.is_empty() {
            return wrong("the second turn of one of two sessions sends no request");
        }
    }
    Ok(warnings)
}

/// Runs the first turns so that both wait at a gate before either continues.
async fn at_the_same_time(sessions: &mut [ProbeSession]) -> Result<(), Halt> {
    let mut gates = Vec::new();
    for session in sessions.iter_mut() {
        session.prompt(0).await?;
        match session.until(PATIENCE, Observation::is_opened).await? {
            Some(Observation::Opened(gate)) => gates.push(gate),
            _ => return wrong("one of two simultaneous turns never starts a tool"),
        }
    }
    for (session, gate) in sessions.iter_mut().zip(gates).rev() {
        session.settle(gate);
        session.finish().await?;
        session.judge(0).map_err(|defect| defect.within("of two turns at the same time"))?;
    }
    Ok(())
}

/// Runs the first turns while both sessions are open.
async fn one_after_the_other(sessions: &mut [ProbeSession]) -> Result<(), Halt> {
    for session in sessions {
        session.play(0).await?;
        session.judge(0).map_err(|defect| defect.within("of two open sessions"))?;
    }
    Ok(())
}

/// The text that identifies the user of a session.
fn user_of(session: &ProbeSession) -> String {
    format!("I am user {}.", session.plan.seed)
}

/// Checks that a new process can continue a session, and cannot without its folder.
pub(super) async fn reloads(host: &mut Host) -> Probed {
    if !host.capabilities().has("load") {
        return Err(Halt::unclaimed("load"));
    }
    let first = host.fresh().await?;
    let mut session = host.open_in(&first, BATCH.plan(host.dialect(), 3)?, &host.mode).await?;
    session.play(0).await?;
    session.judge(0).map_err(|defect| defect.hint(Hint::Of(Probe::HoldsAConversation)))?;
    session.acp().kill().await?;
    let state = session.spec.state_dir.clone();
    let second = host.fresh().await?;
    session.load(&second, state).await?;
    session.play(1).await?;
    let request = session.log.requests.first();
    let (_, body) =
        request.ok_or_else(|| Defect::new("the first turn after session/load sends no request"))?;
    judge::remembers(&session.plan, 0, body).map_err(|defect| defect.within("after session/load"))?;
    session.acp().kill().await?;
    if host.examinee == Examinee::Agent {
        let words = "the storage location was not checked: an agent without an adapter has no `stateDir`";
        return Ok(vec![words.to_owned()]);
    }
    // With another folder there is nothing to load. A history that is known anyway is stored somewhere else.
    let third = host.fresh().await?;
    match session.load(&third, host.folder()?).await {
        Err(error) if error.is_refusal() => return Ok(Vec::new()),
        other => other?,
    }
    session.play(1).await?;
    let remembers = |body| judge::remembers(&session.plan, 0, body).is_ok();
    if session.log.requests.iter().any(|(_, body)| remembers(body)) {
        let seen = "session/load restores the session even with an empty `stateDir`";
        return wrong(seen);
    }
    Ok(Vec::new())
}
