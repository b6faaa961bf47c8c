//! Probes of what an adapter claims, and of its process.

use futures::stream::{self, StreamExt, TryStreamExt};
use serde_json::{Value, json};

use super::hint::Examinee;
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
    let hint = host.hint(Probe::HonoursTheMode);
    let claimed = host.modes();
    let warnings = match host.examinee {
        Examinee::Adapter => match refuses_the_unknown(host).await? {
            Ok(()) => Vec::new(),
            Err(seen) => return Ok(Found::failed(seen, hint)),
        },
        Examinee::Agent if claimed.len() > 1 => {
            let seen = format!(
                "the modes {} are listed, and nothing tells the agent which is meant",
                claimed.join(", ")
            );
            return Ok(Found::failed(seen, "list one mode, and write a manifest for each other one"));
        }
        Examinee::Agent => {
            vec!["a refusal was not tried: session/new of plain ACP names no mode and no dialect".to_owned()]
        }
    };
    let adapter = host.adapter(claimed.len() * host.dialects.len()).await?;
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
    Ok(Found::Ok { warnings })
}

/// Asks for an unknown mode and an unknown dialect. The inner error is what is wrong.
async fn refuses_the_unknown(host: &mut Host) -> Result<Result<(), String>, DriverError> {
    let adapter = host.adapter(1).await?;
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
                return Ok(Err(format!("session/new with the {what} `{UNKNOWN}` opened a session")));
            }
        }
    }
    Ok(Ok(()))
}

/// The barrier is answered, idle and inside a turn, and the history holds what was said.
pub(super) async fn answers_extensions(host: &mut Host) -> Result<Found, DriverError> {
    let hint = host.hint(Probe::AnswersExtensions);
    let able = host.capabilities();
    if host.examinee == Examinee::Agent {
        let words = "plain ACP has no extension methods; what is consumed is seen from the agent's processes";
        return Ok(Found::Skipped { reason: words.to_owned() });
    }
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
        None => return Ok(Found::failed(super::stop::NO_GATE, host.hint(Probe::HoldsAConversation))),
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
const N_PLANS: usize = 100;
const N_AT_ONCE: usize = 8;

/// Many plans of three kinds in one process, several at the same time; of an agent without an adapter as many as its
/// manifest says, one after the other.
pub(super) async fn survives(host: &mut Host) -> Result<Found, DriverError> {
    let adapter = host.fresh().await?;
    let host = &*host;
    let (n_plans, n_at_once, warnings) = match host.max_sessions() {
        None => (N_PLANS, N_AT_ONCE, Vec::new()),
        Some(max) => {
            // Where the manifest allows none, each plan gets a process of its own.
            let n_plans = max.clamp(1, N_PLANS);
            let words =
                format!("{n_plans} plans, one after the other: `maxSessions` of the manifest is {max}");
            (n_plans, 1, vec![words])
        }
    };
    let plans = (0..n_plans).map(|number| one_of_many(host, &adapter, number as u64));
    let wrong: Vec<Option<String>> = stream::iter(plans).buffer_unordered(n_at_once).try_collect().await?;
    let wrong: Vec<String> = wrong.into_iter().flatten().collect();
    Ok(match wrong.first() {
        Some(first) => {
            let seen = format!("{} of {n_plans} plans in one process went wrong: {first}", wrong.len());
            Found::failed(seen, host.hint(Probe::SurvivesManyPlans))
        }
        None => Found::Ok { warnings },
    })
}

/// Runs one plan, and says what went wrong with it.
async fn one_of_many(host: &Host, adapter: &Adapter, number: u64) -> Result<Option<String>, DriverError> {
    let dialect = host.dialects[number as usize % host.dialects.len()];
    // What the system is known not to do would be found here again, and would hide what this probe is after.
    let kind = match number % 3 {
        1 if host.is_limited(Probe::TellsTheOutcome) => 0,
        2 if host.is_limited(Probe::PassesTheStopOn) => 0,
        kind => kind,
    };
    let (conversation, is_stopped) = match kind {
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
    let judged = match kind {
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
        Err(DriverError::AnswerTimedOut { waited, .. }) => {
            let seen = format!("it still runs {} s after its standard input has ended", waited.as_secs());
            Found::failed(seen, host.hint(Probe::EndsWithItsInput))
        }
        Err(error) => Found::failed(error.to_string(), host.hint(Probe::EndsWithItsInput)),
    })
}
