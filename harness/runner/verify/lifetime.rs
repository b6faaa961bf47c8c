//! Probes of what an adapter claims, and of its process.

use futures::stream::{self, StreamExt, TryStreamExt};
use serde_json::{Value, json};

use super::host::Host;
use super::judge;
use super::probe::{Found, Probe};
use super::script::{BATCH, HEARING, REFUSED};
use super::stage::{PATIENCE, Stage, Step};
use crate::driver::{Adapter, DriverError};

/// A word that is no mode and no dialect.
const UNKNOWN: &str = "brickbat-no-such-thing";

/// What is unknown is refused, and each mode works in each dialect.
pub(super) async fn honours_mode(host: &mut Host) -> Result<Found, DriverError> {
    let hint = Probe::HonoursTheMode.hint();
    let adapter = host.adapter().await?;
    for what in ["mode", "dialect"] {
        let stage = host.open(BATCH).await?;
        let mut meta = stage.spec.meta();
        if let Some(Value::Object(brickbat)) = meta.get_mut("brickbat") {
            brickbat.insert(what.to_owned(), json!(UNKNOWN));
        }
        match adapter.open_with(&stage.spec, meta).await {
            Err(error) if error.is_refusal() => {}
            Err(error) => return Err(error),
            Ok(_) => {
                let seen = format!("session/new with the {what} `{UNKNOWN}` opened a session");
                return Ok(Found::failed(seen, hint));
            }
        }
    }
    let claimed = host.modes();
    for mode in &claimed {
        for dialect in host.dialects.clone() {
            let mut stage = Stage::open(host, &adapter, BATCH.plan(dialect, 0)?, mode).await?;
            stage.play(0).await?;
            if let Err(seen) = judge::conversation(&stage.plan, 0, &stage.log) {
                let hint = "offer only modes that work, and in the manifest only dialects that work";
                return Ok(Found::failed(format!("in the mode {mode} on {dialect}: {seen}"), hint));
            }
        }
    }
    Ok(Found::ok())
}

/// The barrier is answered, idle and inside a turn, and the history holds what was said.
pub(super) async fn answers_extensions(host: &mut Host) -> Result<Found, DriverError> {
    let hint = Probe::AnswersExtensions.hint();
    let able = host.capabilities();
    if !able.barrier && !able.history {
        return Ok(Found::Skipped { reason: "neither `barrier` nor `history` is claimed".to_owned() });
    }
    let mut warnings = Vec::new();
    if !able.barrier {
        warnings.push("without a barrier a receipt proves only that the socket was read".to_owned());
    }
    let mut stage = host.open(BATCH).await?;
    stage.session().barrier().await?;
    stage.prompt(0).await?;
    match stage.until(PATIENCE, |step| matches!(step, Step::Opened(_))).await? {
        Some(step) => {
            // It is a question about what was received, not about the turn: the turn waits for the gate.
            stage.session().barrier().await?;
            stage.help(step);
        }
        None => return Ok(Found::failed(super::stop::NO_GATE, Probe::HoldsAConversation.hint())),
    }
    stage.finish().await?;
    if let Some(history) = stage.session().history().await? {
        let user = &stage.plan.turns[0].user;
        if !history.to_string().contains(user.as_str()) {
            let seen = format!("`_brickbat/history` does not hold the user's words `{user}`");
            return Ok(Found::failed(seen, hint));
        }
    }
    Ok(Found::Ok { warnings })
}

/// Plans that one process is given, and how many at once.
const N_PLANS: u64 = 100;
const N_AT_ONCE: usize = 8;

/// Many plans of three kinds in one process, several at the same time.
pub(super) async fn survives(host: &mut Host) -> Result<Found, DriverError> {
    let adapter = host.fresh().await?;
    let host = &*host;
    let plans = (0..N_PLANS).map(|number| one_of_many(host, &adapter, number));
    let wrong: Vec<Option<String>> = stream::iter(plans).buffer_unordered(N_AT_ONCE).try_collect().await?;
    let wrong: Vec<String> = wrong.into_iter().flatten().collect();
    Ok(match wrong.first() {
        Some(first) => {
            let seen = format!("{} of {N_PLANS} plans in one process went wrong: {first}", wrong.len());
            Found::failed(seen, Probe::SurvivesManyPlans.hint())
        }
        None => Found::ok(),
    })
}

/// Runs one plan, and says what went wrong with it.
async fn one_of_many(host: &Host, adapter: &Adapter, number: u64) -> Result<Option<String>, DriverError> {
    let dialect = host.dialects[number as usize % host.dialects.len()];
    let (conversation, is_stopped) = match number % 3 {
        0 => (BATCH, false),
        1 => (REFUSED, false),
        _ => (HEARING, host.capabilities().cancel),
    };
    let plan = conversation.plan(dialect, number)?;
    let mut stage = Stage::open(host, adapter, plan, &host.mode).await?;
    stage.prompt(0).await?;
    if is_stopped {
        if stage.until(PATIENCE, |step| matches!(step, Step::Opened(_))).await?.is_none() {
            return Ok(Some(super::stop::NO_GATE.to_owned()));
        }
        stage.cancel().await?;
    }
    stage.finish().await?;
    let judged = match number % 3 {
        1 => judge::refusal(&stage.log),
        _ if is_stopped => judge::stop(&stage.log).map(|_| ()),
        _ => judge::conversation(&stage.plan, 0, &stage.log),
    };
    Ok(judged.err())
}

/// The process ends when its input ends, also with a session that waits for a tool.
pub(super) async fn ends(host: &mut Host) -> Result<Found, DriverError> {
    let adapter = host.fresh().await?;
    let mut stage = Stage::open(host, &adapter, HEARING.plan(host.dialect(), 0)?, &host.mode).await?;
    stage.prompt(0).await?;
    stage.until(PATIENCE, |step| matches!(step, Step::Opened(_))).await?;
    Ok(match adapter.hang_up().await {
        Ok(()) => Found::ok(),
        Err(DriverError::Silent { waited, .. }) => {
            let seen = format!("it still runs {} s after its standard input has ended", waited.as_secs());
            Found::failed(seen, Probe::EndsWithItsInput.hint())
        }
        Err(error) => Found::failed(error.to_string(), Probe::EndsWithItsInput.hint()),
    })
}
