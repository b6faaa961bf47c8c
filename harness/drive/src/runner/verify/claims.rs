//! The probe for claims beyond a plain conversation. It tries each claim once.

use super::host::{Examinee, Host};
use super::judge;
use super::probe::{Defect, Halt, Probed, wrong};
use super::script::{BATCH, Conversation, DELEGATED, FINAL, FULL, HANDED, LIMITED, OUTSIDE, SAVED, SEARCHED};
use super::session::{Observation, PATIENCE, ProbeSession, QUIET};
use crate::driver::FailingWrite;
use brickbat_rules::json::Document;
use brickbat_scenario::action::WriteFailure;
use brickbat_scenario::plan::{Change, PlannedTool, Side};
use brickbat_scenario::scenario::InterruptCause;
use brickbat_scenario::trace::{Aside, TurnOutcome};
use brickbat_scenario::wire;

/// The text that is sent to a running turn, and outside the conversation.
const WORDS: &str = "Mind the gap.";

/// The claims of an adapter that are tried here.
#[derive(Debug, Clone, Copy)]
enum Claim {
    ClientTools,
    Saving,
    FailingWrites,
    Steer,
    Hooks,
    SecondPrompt,
    Interrupt,
    StepLimit,
    FinalTools,
    Handoffs,
    SubAgents,
    Compaction,
    Rewind,
    Aside,
    Provider,
    Tools,
    Search,
}

/// The claims that are tried, by their keys.
const CLAIMS: [(&str, Claim); 17] = [
    ("clientTools", Claim::ClientTools),
    ("saving", Claim::Saving),
    ("failingWrites", Claim::FailingWrites),
    ("steer", Claim::Steer),
    ("hooks", Claim::Hooks),
    ("secondPrompt", Claim::SecondPrompt),
    ("interrupt", Claim::Interrupt),
    ("stepLimit", Claim::StepLimit),
    ("finalTools", Claim::FinalTools),
    ("handoffs", Claim::Handoffs),
    ("subAgents", Claim::SubAgents),
    ("changes.automatic", Claim::Compaction),
    ("changes.rewind", Claim::Rewind),
    ("changes.aside", Claim::Aside),
    ("changes.provider", Claim::Provider),
    ("changes.tools", Claim::Tools),
    ("serverTools", Claim::Search),
];

/// Checks that each claim of a mode holds.
pub(super) async fn keeps(host: &mut Host) -> Probed {
    let able = host.capabilities();
    let claimed: Vec<(&str, Claim)> = CLAIMS.into_iter().filter(|(key, _)| able.has(key)).collect();
    if claimed.is_empty() {
        return Err(Halt::Skipped("no claims beyond a plain conversation".to_owned()));
    }
    for (key, claim) in claimed {
        let kept = match claim {
            Claim::ClientTools => hands_out(host).await,
            Claim::Saving => asks_to_write(host).await,
            Claim::FailingWrites => fails_to_write(host).await,
            Claim::Steer => hears(host, Aside::Steered).await,
            Claim::Hooks => hears(host, Aside::Injected).await,
            Claim::SecondPrompt => answers_both(host).await,
            Claim::Interrupt => raises(host).await,
            Claim::StepLimit => ends_after_one_reply(host, LIMITED).await,
            Claim::FinalTools => ends_after_one_reply(host, FINAL).await,
            Claim::Handoffs => hands_over(host).await,
            Claim::SubAgents => delegates(host).await,
            Claim::Compaction => compacts(host).await,
            Claim::Rewind => takes_back(host).await,
            Claim::Aside => asks_outside(host).await,
            Claim::Provider => goes_over(host).await,
            Claim::Tools => super::change::tools(host).await,
            Claim::Search => offers_search(host).await,
        };
        kept.map_err(|halt| match halt {
            Halt::Defect(defect) => Halt::Defect(defect.within(format!("`{key}` is claimed"))),
            other => other,
        })?;
    }
    Ok(Vec::new())
}

/// Checks that a call handed to the client arrives at its gate, and that the next request contains its
/// result and that of its sibling.
async fn hands_out(host: &mut Host) -> Result<(), Halt> {
    let mut session = host.open(OUTSIDE).await?;
    session.play(0).await?;
    session.judge(0)?;
    let calls = &session.plan.calls;
    if let Some(lost) = calls.iter().find(|call| !session.has_requested(call.outcome.text())) {
        let name = &lost.name;
        return wrong(format!("no request contains the result of call {name}"));
    }
    session.play(1).await?;
    Ok(judge::kept_ids(&session.plan, 0, first_request(&session)?)?)
}

/// Checks that the store asks before and after each write, and that a result is stored between the two, not
/// earlier.
async fn asks_to_write(host: &mut Host) -> Result<(), Halt> {
    let mut session = host.open(SAVED).await?;
    let is_shown = host.capabilities().has("history");
    let results: Vec<String> = session.plan.calls.iter().map(|call| call.outcome.text().to_owned()).collect();
    let n_earlier = SAVED_EARLIER + results.len();
    let mut n_written = 0;
    session.prompt(0).await?;
    while session.log.outcome.is_none() {
        let Some(seen) = session.next(PATIENCE).await? else { return wrong("the turn is not answered") };
        if let Observation::Saving(_, write) = seen {
            n_written += if write.side == Side::After { write.entries as usize } else { 0 };
            if is_shown {
                let stored = session.acp().history().await?.unwrap_or_default().to_string();
                let n_stored = results.iter().filter(|text| stored.contains(text.as_str())).count();
                let wanted = n_written.saturating_sub(n_earlier);
                if n_stored != wanted {
                    let side = write.side.name();
                    return wrong(format!(
                        "{side} a write, when {n_written} entries are written, {n_stored} results are stored instead of {wanted}"
                    ));
                }
            }
        }
        session.let_go_on(seen);
    }
    returned(&session)?;
    let n_all = n_earlier + results.len();
    if n_written != n_all {
        return wrong(format!("a turn of {n_all} entries asked after {n_written} of them"));
    }
    Ok(())
}

/// Checks that the store keeps nothing of a write that is to fail, and says so. The turn may end in any way.
async fn fails_to_write(host: &mut Host) -> Result<(), Halt> {
    for how in [WriteFailure::Once, WriteFailure::Lost] {
        let mut session = host.open(SAVED).await?;
        let is_shown = host.capabilities().has("history");
        let said = session.plan.turns[0].user.clone();
        let (mut is_failing, mut has_failed) = (false, false);
        session.prompt(0).await?;
        while session.log.outcome.is_none() {
            let Some(seen) = session.next(PATIENCE).await? else { return wrong("the turn is not answered") };
            match seen {
                Observation::Saving(gate, write) if write.side == Side::Before && !has_failed => {
                    is_failing = true;
                    session.fail_write(gate, &FailingWrite::of(how, write.entries));
                    continue;
                }
                Observation::Saving(_, write) if is_failing => {
                    (is_failing, has_failed) = (false, true);
                    let stored = || session.acp().history();
                    if write.kept != Some(0) {
                        return wrong(format!(
                            "after a write that was to fail, `kept` is {:?}, not 0",
                            write.kept
                        ));
                    }
                    if is_shown && stored().await?.unwrap_or_default().to_string().contains(&said) {
                        return wrong("a write that was to fail is stored");
                    }
                }
                _ => {}
            }
            session.let_go_on(seen);
        }
        if !has_failed {
            return wrong("no write of a turn has failed");
        }
    }
    Ok(())
}

/// Entries in a turn before its calls: the user's message.
const SAVED_EARLIER: usize = 1;

/// Checks that a message is in a later request. It is sent while the tools of a batch run, or by a hook after
/// the first result.
async fn hears(host: &mut Host, way: Aside) -> Result<(), Halt> {
    let mut session = host.open(BATCH).await?;
    let first = start(&mut session).await?;
    match way {
        Aside::Injected => {
            session.let_go_on(first);
            session.say(way, WORDS).await?;
        }
        Aside::Steered | Aside::Prompted => {
            session.say(way, WORDS).await?;
            session.let_go_on(first);
        }
    }
    session.finish().await?;
    returned(&session)?;
    let is_heard = session.has_requested(WORDS);
    session.play(1).await?;
    if !is_heard && !session.has_requested(WORDS) {
        return wrong("no later request contains a message sent to a running turn");
    }
    Ok(())
}

/// Checks that a prompt that comes while a turn runs is answered, and so is the one before.
async fn answers_both(host: &mut Host) -> Result<(), Halt> {
    let mut session = host.open(BATCH).await?;
    let first = start(&mut session).await?;
    session.say(Aside::Prompted, WORDS).await?;
    session.let_go_on(first);
    for _ in 0..2 {
        loop {
            match session.next(PATIENCE).await? {
                Some(Observation::Ended | Observation::Refused) => break,
                Some(seen) => session.let_go_on(seen),
                None => return wrong("one of two simultaneous prompts is never answered"),
            }
        }
    }
    Ok(())
}

/// Checks that an exception that leaves the loop ends the turn, and is reported.
async fn raises(host: &mut Host) -> Result<(), Halt> {
    let mut session = host.open(BATCH).await?;
    let first = start(&mut session).await?;
    session.acp().interrupt(InterruptCause::Guardrail).await?;
    // Tools that are still waited for may finish after a while.
    let mut waiting = vec![first];
    while session.log.outcome.is_none() {
        let wait = if waiting.is_empty() { PATIENCE } else { QUIET };
        match session.next(wait).await? {
            Some(seen) => waiting.push(seen),
            None if waiting.is_empty() => break,
            None => waiting.drain(..).for_each(|seen| session.let_go_on(seen)),
        }
    }
    match &session.log.outcome {
        Some(TurnOutcome::Raised { .. }) => Ok(()),
        Some(other) => {
            wrong(format!("the outcome of a turn that was interrupted is {}", judge::words(other)))
        }
        None => wrong("a turn that was interrupted is never answered"),
    }
}

/// Checks that a turn ends with the results for its first reply, and that the next turn still contains
/// them.
async fn ends_after_one_reply(host: &mut Host, conversation: Conversation) -> Result<(), Halt> {
    let mut session = host.open(conversation).await?;
    session.play(0).await?;
    let n_requests = session.log.requests.len();
    match &session.log.outcome {
        None => return wrong("the turn is not answered"),
        Some(_) if n_requests != 1 => {
            return wrong(format!(
                "the turn sent {n_requests} requests, and should have ended after the first"
            ));
        }
        Some(_) => {}
    }
    session.play(1).await?;
    Ok(judge::kept_ids(&session.plan, 0, first_request(&session)?)?)
}

/// Checks that the request after a handoff names the other agent, by the result of the call or by its
/// instructions.
async fn hands_over(host: &mut Host) -> Result<(), Halt> {
    let mut session = host.open(HANDED).await?;
    session.play(0).await?;
    returned(&session)?;
    let tool = session.plan.tools.iter().find_map(PlannedTool::other_agent);
    let agent = tool.ok_or_else(|| Defect::new("no tool hands over"))?;
    if !session.has_requested(&agent) {
        return wrong(format!("no request after the handoff names the agent `{agent}`"));
    }
    session.play(1).await?;
    Ok(judge::kept_ids(&session.plan, 0, first_request(&session)?)?)
}

/// Checks that a sub-agent sends requests in its own conversation and calls its tool, and that its last
/// message is the result of its call.
async fn delegates(host: &mut Host) -> Result<(), Halt> {
    let mut session = host.open(DELEGATED).await?;
    session.play(0).await?;
    returned(&session)?;
    let n_own = session.log.n_of_sub_agents;
    if n_own != 2 {
        return wrong(format!("the sub-agent asked the provider {n_own} times instead of 2 times"));
    }
    let (starter, inner) = (&session.plan.calls[0], &session.plan.calls[1]);
    if !session.log.gate_calls.iter().any(|run| run.args.contains(&inner.marker)) {
        return wrong("the tool of the sub-agent never reached its gate");
    }
    if !session.has_requested(starter.outcome.text()) {
        return wrong("no later request contains the sub-agent's final text");
    }
    if session.has_requested(&inner.id) {
        return wrong("a call of the sub-agent is in the thread of the agent that started it");
    }
    Ok(())
}

/// Checks that, after the provider has reported a full context, the next turn no longer has all of the turn.
async fn compacts(host: &mut Host) -> Result<(), Halt> {
    let mut session = host.open(FULL).await?;
    session.play(0).await?;
    session.play(1).await?;
    let last = session.log.requests.last();
    let (_, body) = last.ok_or_else(|| Defect::new("the turn after a full context sends no request"))?;
    if judge::remembers(&session.plan, 0, body).is_ok() {
        return wrong(
            "after a report of 190,000 tokens, the next turn still sends the complete previous turn",
        );
    }
    Ok(())
}

/// Checks that a message that was taken back is in no later request.
async fn takes_back(host: &mut Host) -> Result<(), Halt> {
    let mut session = host.open(BATCH).await?;
    session.play(0).await?;
    session.acp().change(&Change::Rewind { prompts: 1 }).await?;
    session.play(1).await?;
    first_request(&session)?;
    if session.has_requested(&session.plan.calls[0].id) {
        return wrong("a later request contains a message that was taken back");
    }
    returned(&session)
}

/// Checks that a question outside the conversation is asked, and does not join it.
async fn asks_outside(host: &mut Host) -> Result<(), Halt> {
    let mut session = host.open(BATCH).await?;
    session.play(0).await?;
    session.acp().change(&Change::Aside { question: WORDS.to_owned() }).await?;
    session.until(QUIET, |_| false).await?;
    if !session.has_asked(WORDS) {
        return wrong("a question outside the conversation was not asked");
    }
    session.play(1).await?;
    first_request(&session)?;
    if session.has_requested(WORDS) {
        return wrong("a later request contains a question from outside the conversation");
    }
    returned(&session)
}

/// Checks that a thread continues with the provider of each other dialect, and that its first request there
/// contains the results from the turn before.
async fn goes_over(host: &mut Host) -> Result<(), Halt> {
    if host.examinee == Examinee::Agent {
        // The harness restarts an agent with other settings for this, and `reloads-sessions` checks that a
        // new process continues.
        return Ok(());
    }
    for dialect in host.dialects.clone().into_iter().skip(1) {
        let mut plan = (*BATCH.plan(host.dialect(), 0)?).clone();
        plan.turns[1].dialect = Some(dialect);
        let adapter = host.adapter(1).await?;
        let mut session = host.open_in(&adapter, plan.into(), &host.mode).await?;
        session.play(0).await?;
        session.change(&Change::Provider { dialect }).await?;
        session.play(1).await?;
        if session.log.requests.is_empty() {
            return wrong(format!(
                "a thread that should continue with {dialect} sends no request to that provider"
            ));
        }
        let calls = &session.plan.calls;
        if let Some(lost) = calls.iter().find(|call| !session.has_requested(&call.marker)) {
            let name = &lost.name;
            return wrong(format!(
                "a thread that continues with {dialect} does not contain the result of call {name}"
            ));
        }
    }
    Ok(())
}

/// Checks that each request in a thread offers the search that the provider runs itself. If no provider in
/// the mode has one, there is nothing to offer.
async fn offers_search(host: &mut Host) -> Result<(), Halt> {
    let Some(dialect) = host.dialects.iter().copied().find(|dialect| wire::of(*dialect).searches()) else {
        return Ok(());
    };
    let plan = SEARCHED.plan(dialect, 0)?;
    let adapter = host.adapter(1).await?;
    let mut session = host.open_in(&adapter, plan, &host.mode).await?;
    for turn in 0..2 {
        session.play(turn).await?;
        returned(&session)?;
        let body = Document::parse(first_request(&session)?).unwrap_or_default();
        if !wire::of(dialect).offers_search(body.root()) {
            return wrong(format!("the first request of turn {} does not offer the search", turn + 1));
        }
    }
    Ok(())
}

/// Starts the first turn, up to its first tool.
async fn start(session: &mut ProbeSession) -> Result<Observation, Halt> {
    session.prompt(0).await?;
    Ok(session.until(PATIENCE, Observation::is_opened).await?.ok_or_else(Defect::no_gate)?)
}

fn returned(session: &ProbeSession) -> Result<(), Halt> {
    match &session.log.outcome {
        Some(TurnOutcome::Returned) => Ok(()),
        Some(other) => wrong(format!("the outcome of the turn is {}", judge::words(other))),
        None => wrong("the turn is not answered"),
    }
}

/// The first request of the turn.
fn first_request(session: &ProbeSession) -> Result<&[u8], Halt> {
    let first = session.log.requests.first();
    Ok(first.map(|(_, body)| &body[..]).ok_or_else(|| Defect::new("the next turn sends no request"))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::Capabilities;
    use std::collections::BTreeSet;

    /// Claims that other probes try.
    const TRIED_ELSEWHERE: [(&str, &str); 8] = [
        ("cancel", "`stop`"),
        ("barrier", "`lifetime`"),
        ("history", "`lifetime`"),
        ("load", "`sessions`"),
        ("changes.trim", "`change`"),
        ("changes.summarise", "`change`"),
        ("changes.inFlight", "`change`"),
        ("changes.toolsInTurn", "with `changes.tools`"),
    ];

    /// Claims that no probe tries, and why.
    const NOT_TRIED: [(&str, &str); 12] = [
        ("streaming", "the provider answers a request as it asks"),
        ("eagerTools", "without it, a plan with such a tool is vacuous"),
        ("approvals", "without a question, a plan that waits for it is vacuous"),
        ("thinking", "the harness reports a session that does not ask the model to think"),
        ("changes.thinking", "the harness reports a session that does not ask the model to think"),
        ("givenHistory", "a plan is vacuous if its given history is not sent"),
        ("givenThinking", "a plan is vacuous if its given history is not sent"),
        ("givenPictures", "a plan is vacuous if its given history is not sent"),
        ("givenMarks", "a plan is vacuous if its given history is not sent"),
        ("givenOrphans", "a plan is vacuous if its given history is not sent"),
        ("givenRawArguments", "a plan is vacuous if its given history is not sent"),
        ("sharedSession", "needs two processes, and a probe has one"),
    ];

    #[test]
    fn every_capability_is_tried_or_listed_with_a_reason() {
        let here = CLAIMS.iter().map(|(key, _)| *key);
        let listed = TRIED_ELSEWHERE.iter().chain(&NOT_TRIED).map(|(key, _)| *key);
        let all: Vec<&str> = here.chain(listed).collect();
        assert_eq!(all.len(), all.iter().collect::<BTreeSet<_>>().len(), "a capability is listed twice");
        let every: BTreeSet<&str> = Capabilities::all().keys().into_iter().collect();
        assert_eq!(all.into_iter().collect::<BTreeSet<_>>(), every);
    }
}
