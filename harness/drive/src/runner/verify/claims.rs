//! The probe of what is claimed beyond a plain conversation: each claim shows itself once.

use super::host::Host;
use super::judge;
use super::probe::{Defect, Halt, Probed, wrong};
use super::script::{BATCH, Conversation, FINAL, FULL, LIMITED};
use super::session::{Observation, PATIENCE, ProbeSession, QUIET};
use brickbat_scenario::plan::Change;
use brickbat_scenario::scenario::InterruptCause;
use brickbat_scenario::trace::{Aside, TurnOutcome};

/// What is said to a running turn, and outside the conversation.
const WORDS: &str = "Mind the gap.";

/// The claims that are tried, by their keys.
const CLAIMS: [&str; 9] = [
    "steer",
    "hooks",
    "secondPrompt",
    "interrupt",
    "stepLimit",
    "finalTools",
    "changes.automatic",
    "changes.rewind",
    "changes.aside",
];

/// Each claim of a mode is kept.
pub(super) async fn keeps(host: &mut Host) -> Probed {
    let able = host.capabilities();
    let claimed: Vec<&str> = CLAIMS.into_iter().filter(|key| able.has(key)).collect();
    if claimed.is_empty() {
        return Err(Halt::Skipped("nothing is claimed beyond a plain conversation".to_owned()));
    }
    for key in claimed {
        let kept = match key {
            "steer" => hears(host, Aside::Steered).await,
            "hooks" => hears(host, Aside::Injected).await,
            "secondPrompt" => answers_both(host).await,
            "interrupt" => raises(host).await,
            "stepLimit" => ends_after_one_reply(host, LIMITED).await,
            "finalTools" => ends_after_one_reply(host, FINAL).await,
            "changes.automatic" => compacts(host).await,
            "changes.rewind" => takes_back(host).await,
            _ => asks_outside(host).await,
        };
        kept.map_err(|halt| match halt {
            Halt::Defect(defect) => Halt::Defect(defect.within(format!("`{key}` is claimed"))),
            other => other,
        })?;
    }
    Ok(Vec::new())
}

/// What is said while the tools of a batch run, by a hook after the first result, is in a later request.
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
        return wrong("what was said to a running turn is in no later request");
    }
    Ok(())
}

/// A prompt that comes while a turn runs is answered, and so is the one before.
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
                None => return wrong("of two prompts at the same time one is never answered"),
            }
        }
    }
    Ok(())
}

/// An exception that leaves the loop ends the turn, and is reported.
async fn raises(host: &mut Host) -> Result<(), Halt> {
    let mut session = host.open(BATCH).await?;
    let first = start(&mut session).await?;
    session.acp().interrupt(InterruptCause::Guardrail).await?;
    // Tools that are waited for go on after a while.
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

/// A turn ends with the results of its first reply, which the next turn still has.
async fn ends_after_one_reply(host: &mut Host, conversation: Conversation) -> Result<(), Halt> {
    let mut session = host.open(conversation).await?;
    session.play(0).await?;
    let n_requests = session.log.requests.len();
    match &session.log.outcome {
        None => return wrong("the turn is not answered"),
        Some(_) if n_requests != 1 => {
            return wrong(format!("the turn sent {n_requests} requests, and was to end after the first"));
        }
        Some(_) => {}
    }
    session.play(1).await?;
    Ok(judge::kept_ids(&session.plan, 0, first_request(&session)?)?)
}

/// When the provider has reported a full context, something of the turn is gone in the next one.
async fn compacts(host: &mut Host) -> Result<(), Halt> {
    let mut session = host.open(FULL).await?;
    session.play(0).await?;
    session.play(1).await?;
    let last = session.log.requests.last();
    let (_, body) = last.ok_or_else(|| Defect::new("the turn after a full context sends no request"))?;
    if judge::remembers(&session.plan, 0, body).is_ok() {
        return wrong("after a report of 190,000 tokens the next turn still sends the whole turn before");
    }
    Ok(())
}

/// What was taken back is in no later request.
async fn takes_back(host: &mut Host) -> Result<(), Halt> {
    let mut session = host.open(BATCH).await?;
    session.play(0).await?;
    session.acp().change(&Change::Rewind { prompts: 1 }).await?;
    session.play(1).await?;
    first_request(&session)?;
    if session.has_requested(&session.plan.calls[0].id) {
        return wrong("what was taken back is in a later request");
    }
    returned(&session)
}

/// A question outside the conversation is asked, and does not join it.
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
        return wrong("a question outside the conversation is in a later request");
    }
    returned(&session)
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

/// What the turn asked the provider for first.
fn first_request(session: &ProbeSession) -> Result<&[u8], Halt> {
    let first = session.log.requests.first();
    Ok(first.map(|(_, body)| &body[..]).ok_or_else(|| Defect::new("the next turn sends no request"))?)
}
