//! The probe for claimed changes to the history.

use super::host::Host;
use super::judge;
use super::probe::{Defect, Halt, Probed, wrong};
use super::script::BATCH;
use super::session::{Observation, PATIENCE};
use crate::driver::{SessionSpec, ToolSpec};
use brickbat_scenario::action::DETAIL;
use brickbat_scenario::plan::Change;

/// A message limit small enough to force the removal of part of a turn that contains a batch of calls.
const KEEP: u32 = 1;

const CHANGES: [(&str, Change); 2] =
    [("changes.trim", Change::Trim { keep: KEEP }), ("changes.summarise", Change::Summarise { keep: KEEP })];

/// Changes a history between two turns and while tools run. Checks that a part of the turn is then gone, and
/// that the conversation continues.
pub(super) async fn changes(host: &mut Host) -> Probed {
    let able = host.capabilities();
    let claimed: Vec<Change> =
        CHANGES.into_iter().filter(|(key, _)| able.has(key)).map(|(_, change)| change).collect();
    if claimed.is_empty() {
        return Err(Halt::Skipped("neither `changes.trim` nor `changes.summarise` is claimed".to_owned()));
    }
    for change in claimed {
        between_turns(host, &change).await?;
        if able.has("changes.inFlight") {
            in_flight(host, &change).await?;
        }
    }
    Ok(Vec::new())
}

async fn between_turns(host: &mut Host, change: &Change) -> Result<(), Halt> {
    let words = change.words();
    let mut session = host.open(BATCH).await?;
    session.play(0).await?;
    if !session.change(change).await? {
        return wrong(format!("after a turn with calls, it reports nothing to change for `{words}`"));
    }
    session.play(1).await?;
    let place = || format!("after `{words}`");
    session.judge(1).map_err(|defect| defect.within(place()))?;
    let request = session.log.requests.first();
    let (_, body) = request.ok_or_else(|| Defect::new("the next turn sends no request").within(place()))?;
    if judge::remembers(&session.plan, 0, body).is_ok() {
        return wrong(format!("after `{words}`, the next request still contains the complete previous turn"));
    }
    Ok(())
}

async fn in_flight(host: &mut Host, change: &Change) -> Result<(), Halt> {
    let mut session = host.open(BATCH).await?;
    session.prompt(0).await?;
    let opened = session.until(PATIENCE, Observation::is_opened).await?.ok_or_else(Defect::no_gate)?;
    session.change(change).await?;
    session.let_go_on(opened);
    session.finish().await?;
    session.judge(0).map_err(|defect| defect.within(format!("with `{}` while tools run", change.words())))?;
    Ok(())
}

/// Changes the schema of a tool between two turns, and while tools run if that is claimed too. Checks that the next request
/// contains the new one.
pub(super) async fn tools(host: &mut Host) -> Result<(), Halt> {
    let mut session = host.open(BATCH).await?;
    session.play(0).await?;
    let tools = extended(&session.spec);
    session.acp().offer(tools).await?;
    session.play(1).await?;
    if !session.has_requested(DETAIL) {
        return wrong("after the schema of a tool has changed, the next turn offers the old one");
    }
    if !host.capabilities().has("changes.toolsInTurn") {
        return Ok(());
    }
    let mut session = host.open(BATCH).await?;
    let tools = extended(&session.spec);
    session.prompt(0).await?;
    let opened = session.until(PATIENCE, Observation::is_opened).await?.ok_or_else(Defect::no_gate)?;
    session.acp().offer(tools).await?;
    session.let_go_on(opened);
    session.finish().await?;
    if !session.has_requested(DETAIL) {
        return wrong(
            "after the schema of a tool has changed while it ran, the next request offers the old one",
        );
    }
    Ok(session.judge(0)?)
}

/// The tools of a session, each with one more argument.
fn extended(spec: &SessionSpec) -> Vec<ToolSpec> {
    let mut tools = spec.tools.clone();
    for tool in &mut tools {
        tool.input_schema["properties"][DETAIL] = serde_json::json!({ "type": "string" });
    }
    tools
}
