//! Probes of sessions: beside each other, and one after the other in two processes.

use super::hint::Examinee;
use super::host::Host;
use super::judge;
use super::probe::{Found, Probe};
use super::script::BATCH;
use super::stage::{PATIENCE, Stage, Step};
use crate::driver::DriverError;

/// What each user says, so that the two can be told apart: the words of the plans are the same.
const SEEDS: [u64; 2] = [1, 2];

/// Two sessions in one process, both in the middle of a turn, have nothing of each other.
pub(super) async fn isolates(host: &mut Host) -> Result<Found, DriverError> {
    let hint = host.hint(Probe::IsolatesSessions);
    let (adapter, dialect) = (host.adapter(SEEDS.len()).await?, host.dialect());
    let mut stages = Vec::new();
    for seed in SEEDS {
        let mut plan = (*BATCH.plan(dialect, seed)?).clone();
        for turn in &mut plan.turns {
            turn.user = format!("{} I am user {seed}.", turn.user);
        }
        stages.push(Stage::open(host, &adapter, plan.into(), &host.mode).await?);
    }
    let (played, warnings) = match host.examinee {
        Examinee::Adapter => (at_the_same_time(&mut stages).await?, Vec::new()),
        Examinee::Agent => {
            let words = "the sessions took turns: an agent without an adapter gets one plan at a time";
            (one_after_the_other(&mut stages).await?, vec![words.to_owned()])
        }
    };
    if let Err(seen) = played {
        return Ok(Found::failed(seen, hint));
    }
    for stage in &mut stages {
        stage.play(1).await?;
    }
    for (own, other) in [(0, 1), (1, 0)] {
        let (own, other) = (&stages[own], &stages[other]);
        for (_, body) in &own.log.requests {
            let foreign = judge::nothing_of(&other.plan, other.base_url(), &user_of(other), body);
            if let Err(seen) = foreign.and_then(|()| judge::remembers(&own.plan, 0, body)) {
                return Ok(Found::failed(seen, hint));
            }
        }
        if own.log.requests.is_empty() {
            return Ok(Found::failed("the second turn of one of two sessions sends no request", hint));
        }
    }
    Ok(Found::Ok { warnings })
}

/// Plays the first turns so that both wait at a gate before either goes on. The inner error is what is wrong.
async fn at_the_same_time(stages: &mut [Stage]) -> Result<Result<(), String>, DriverError> {
    let mut gates = Vec::new();
    for stage in stages.iter_mut() {
        stage.prompt(0).await?;
        match stage.until(PATIENCE, |step| matches!(step, Step::Opened(_))).await? {
            Some(Step::Opened(gate)) => gates.push(gate),
            _ => return Ok(Err("of two turns at the same time one never starts a tool".to_owned())),
        }
    }
    for (stage, gate) in stages.iter_mut().zip(gates).rev() {
        stage.settle(gate);
        stage.finish().await?;
        if let Err(seen) = judge::conversation(&stage.plan, 0, &stage.log) {
            return Ok(Err(format!("of two turns at the same time: {seen}")));
        }
    }
    Ok(Ok(()))
}

/// Plays the first turns while both sessions are open.
async fn one_after_the_other(stages: &mut [Stage]) -> Result<Result<(), String>, DriverError> {
    for stage in stages {
        stage.play(0).await?;
        if let Err(seen) = judge::conversation(&stage.plan, 0, &stage.log) {
            return Ok(Err(format!("of two open sessions: {seen}")));
        }
    }
    Ok(Ok(()))
}

/// The words by which the user of a session is known.
fn user_of(stage: &Stage) -> String {
    format!("I am user {}.", stage.plan.seed)
}

/// A new process goes on with a session, and knows nothing of it without its folder.
pub(super) async fn reloads(host: &mut Host) -> Result<Found, DriverError> {
    if !host.capabilities().load {
        return Ok(Found::lacks("load"));
    }
    let hint = host.hint(Probe::ReloadsSessions);
    let first = host.fresh().await?;
    let plan = BATCH.plan(host.dialect(), 3)?;
    let mut stage = Stage::open(host, &first, plan, &host.mode).await?;
    stage.play(0).await?;
    if let Err(seen) = judge::conversation(&stage.plan, 0, &stage.log) {
        return Ok(Found::failed(seen, host.hint(Probe::HoldsAConversation)));
    }
    first.kill().await?;
    let state = stage.spec.state_dir.clone();
    let second = host.fresh().await?;
    stage.load(&second, state).await?;
    stage.play(1).await?;
    let Some((_, body)) = stage.log.requests.first() else {
        return Ok(Found::failed("the first turn after session/load sends no request", hint));
    };
    if let Err(seen) = judge::remembers(&stage.plan, 0, body) {
        return Ok(Found::failed(format!("after session/load: {seen}"), hint));
    }
    second.kill().await?;
    if host.examinee == Examinee::Agent {
        let words = "where it is stored was not looked at: an agent without an adapter knows no `stateDir`";
        return Ok(Found::Ok { warnings: vec![words.to_owned()] });
    }
    // With another folder there is nothing to load; what is known all the same stands somewhere else.
    let third = host.fresh().await?;
    match stage.load(&third, host.folder()?).await {
        Err(error) if error.is_refusal() => return Ok(Found::ok()),
        Err(error) => return Err(error),
        Ok(()) => {}
    }
    stage.play(1).await?;
    let remembered =
        stage.log.requests.iter().any(|(_, body)| judge::remembers(&stage.plan, 0, body).is_ok());
    Ok(match remembered {
        true => {
            Found::failed("with an empty `stateDir` session/load restores the session all the same", hint)
        }
        false => Found::ok(),
    })
}
