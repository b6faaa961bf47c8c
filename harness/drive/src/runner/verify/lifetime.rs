//! Probes for an adapter's claims and for its process.

use futures::stream::{self, StreamExt, TryStreamExt};
use serde_json::{Value, json};

use super::host::{Examinee, Host};
use super::judge;
use super::probe::{Defect, Halt, Hint, Probe, Probed, wrong};
use super::script::{BATCH, REFUSED, WAITING};
use super::session::{Observation, PATIENCE};
use crate::driver::{Adapter, DriverError};

/// A word that is neither a mode nor a dialect.
const UNKNOWN: &str = "brickbat-no-such-thing";

/// Checks that unknown modes and dialects are rejected, and that each mode works in each dialect.
pub(super) async fn honours_mode(host: &mut Host) -> Probed {
    let claimed = host.modes();
    let warnings = match host.examinee {
        Examinee::Adapter => {
            refuses_the_unknown(host).await?;
            Vec::new()
        }
        Examinee::Agent if claimed.len() > 1 => {
            let modes = claimed.join(", ");
            let seen = format!("the modes {modes} are listed, but nothing tells the agent which one to use");
            let hint = Hint::Text("list one mode, and write a separate manifest for each other mode");
            return Err(Defect::new(seen).hint(hint).into());
        }
        Examinee::Agent => {
            vec![
                "refusals were not tested: in plain ACP, session/new does not name a mode or dialect"
                    .to_owned(),
            ]
        }
    };
    let adapter = host.adapter(claimed.len() * host.dialects.len()).await?;
    for mode in &claimed {
        for dialect in host.dialects_of(mode) {
            let mut session = host.open_in(&adapter, BATCH.plan(dialect, 0)?, mode).await?;
            session.play(0).await?;
            let hint = Hint::Text("offer only modes that work, and in the manifest only dialects that work");
            let place = format!("in mode {mode} on {dialect}");
            session.judge(0).map_err(|defect| defect.within(place).hint(hint))?;
        }
    }
    Ok(warnings)
}

/// Asks for an unknown mode and an unknown dialect.
async fn refuses_the_unknown(host: &mut Host) -> Result<(), Halt> {
    let adapter = host.adapter(1).await?;
    for what in ["mode", "dialect"] {
        let session = host.open(BATCH).await?;
        let mut meta = session.spec.meta();
        if let Some(Value::Object(brickbat)) = meta.get_mut("brickbat") {
            brickbat.insert(what.to_owned(), json!(UNKNOWN));
        }
        match adapter.open_with(&session.spec, meta).await {
            Err(error) if error.is_refusal() => {}
            Err(error) => return Err(error.into()),
            Ok(_) => {
                let seen = format!("session/new with the {what} `{UNKNOWN}` opened a session");
                return wrong(seen);
            }
        }
    }
    Ok(())
}

/// Checks that the barrier is answered, idle and inside a turn, and that the history contains the
/// messages.
pub(super) async fn answers_extensions(host: &mut Host) -> Probed {
    let able = host.capabilities();
    if host.examinee == Examinee::Agent {
        let words = "plain ACP has no extension methods; consumption is measured from the agent's processes";
        return Err(Halt::Skipped(words.to_owned()));
    }
    if !able.has("barrier") && !able.has("history") {
        return Err(Halt::Skipped("neither `barrier` nor `history` is claimed".to_owned()));
    }
    let mut warnings = Vec::new();
    if !able.has("barrier") {
        warnings.push("without a barrier, a receipt proves only that the socket was read".to_owned());
    }
    let mut session = host.open(BATCH).await?;
    session.acp().barrier().await?;
    session.prompt(0).await?;
    let opened = session.until(PATIENCE, Observation::is_opened).await?.ok_or_else(Defect::no_gate)?;
    // The barrier concerns the received messages and not the turn, which waits for the gate.
    session.acp().barrier().await?;
    session.let_go_on(opened);
    session.finish().await?;
    if able.has("history")
        && let Some(history) = session.acp().history().await?
    {
        let user = &session.plan.turns[0].user;
        if !history.to_string().contains(user.as_str()) {
            let seen = format!("`_brickbat/history` does not contain the user's message `{user}`");
            return wrong(seen);
        }
    }
    Ok(warnings)
}

/// The number of plans for one process, and the number that run at once.
const N_PLANS: usize = 100;
const N_AT_ONCE: usize = 8;

/// Runs many plans of three kinds in one process, several at the same time. An agent without an adapter gets
/// as many as its manifest allows, one after the other.
pub(super) async fn survives(host: &mut Host) -> Probed {
    let adapter = host.fresh().await?;
    let host = &*host;
    let (n_plans, n_at_once, warnings) = match host.max_sessions() {
        None => (N_PLANS, N_AT_ONCE, Vec::new()),
        Some(max) => {
            // If the manifest allows none, each plan gets a process of its own.
            let n_plans = max.clamp(1, N_PLANS);
            let words =
                format!("{n_plans} plans, one after the other: `maxSessions` of the manifest is {max}");
            (n_plans, 1, vec![words])
        }
    };
    let plans = (0..n_plans).map(async |number| match one_of_many(host, &adapter, number as u64).await {
        Ok(()) => Ok(None),
        Err(Halt::Defect(defect)) => Ok(Some(defect.seen)),
        Err(other) => Err(other),
    });
    let seen: Vec<Option<String>> = stream::iter(plans).buffer_unordered(n_at_once).try_collect().await?;
    let seen: Vec<String> = seen.into_iter().flatten().collect();
    match seen.first() {
        Some(first) => {
            let n_wrong = seen.len();
            wrong(format!("{n_wrong} of {n_plans} plans in one process went wrong: {first}"))
        }
        None => Ok(warnings),
    }
}

async fn one_of_many(host: &Host, adapter: &Adapter, number: u64) -> Result<(), Halt> {
    let dialect = host.dialects[number as usize % host.dialects.len()];
    // A known limit of the system would be found here again, and would hide what this probe looks for.
    let kind = match number % 3 {
        1 if host.is_limited(Probe::TellsTheOutcome) => 0,
        2 if host.is_limited(Probe::PassesTheStopOn) => 0,
        kind => kind,
    };
    let (conversation, is_stopped) = match kind {
        0 => (BATCH, false),
        1 => (REFUSED, false),
        _ => (WAITING, host.capabilities().has("cancel")),
    };
    let mut session = host.open_in(adapter, conversation.plan(dialect, number)?, &host.mode).await?;
    if is_stopped {
        let gate = session.stop_at_gate().await?;
        session.finish_stopped(gate).await?;
    } else {
        session.play(0).await?;
    }
    match kind {
        1 => judge::refusal(&session.log)?,
        // Another probe has already shown how a stop is reported.
        _ if is_stopped && host.is_limited(Probe::TellsTheOutcome) => {}
        _ if is_stopped => drop(judge::stop(&session.log)?),
        _ => session.judge(0)?,
    }
    Ok(())
}

/// Checks that the process ends when its input ends, even with a session that waits for a tool.
pub(super) async fn ends(host: &mut Host) -> Probed {
    let adapter = host.fresh().await?;
    let mut session = host.open_in(&adapter, WAITING.plan(host.dialect(), 0)?, &host.mode).await?;
    session.prompt(0).await?;
    session.until(PATIENCE, Observation::is_opened).await?;
    match adapter.hang_up().await {
        Ok(()) => Ok(Vec::new()),
        Err(DriverError::AnswerTimedOut { waited, .. }) => {
            let seen = format!("it is still running {} s after its standard input ended", waited.as_secs());
            wrong(seen)
        }
        Err(error) => wrong(error.to_string()),
    }
}
