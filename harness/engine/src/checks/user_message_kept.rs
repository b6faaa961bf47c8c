//! The last request contains everything that the user said, even during a running turn.
//!
//! After a turn that ended well, the message is the system's. After a turn that was stopped, failed or died, it is
//! with the code that stores the message before the turn, which may be the application.

use super::*;
use brickbat_scenario::plan::Side;

pub(super) const CHECK: Check = Check {
    summary: "the last request contains everything that the user said",
    invariants: &[11],
    rests_on: &[Duty::Input],
    applies: |_| true,
    find,
    ..Check::new("user-message-kept", Level::L2, Severity::UserMessageLost)
};

fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let Some(last) = evidence.last_request() else { return Vec::new() };
    let said = |text: &str| {
        last.history.items.iter().any(|item| match &item.content {
            Content::Text { text: kept } => item.role == Role::User && kept.contains(text.trim()),
            _ => false,
        })
    };
    // Some systems append a message that arrives in the middle of a batch to the last result.
    let told = |text: &str| {
        last.history.items.iter().any(|item| match &item.content {
            Content::Text { text: kept } | Content::Result { text: kept, .. } => kept.contains(text.trim()),
            Content::Raw { value } => value.to_string().contains(text.trim()),
            Content::Thought { .. } | Content::Call { .. } => false,
        })
    };
    let lost = |what: String, text: &str| Finding {
        message: format!("{what} is missing from the last request"),
        expected: format!("`{text}` in a user message"),
        got: evidence.shape(last),
        ..CHECK.finding(last.place(""))
    };
    let turns = evidence.plan.turns[..=last.turn.min(evidence.plan.turns.len() - 1)].iter().enumerate();
    let prompts = turns.filter(|(at, turn)| !evidence.changed.may_be_gone(*at) && !said(&turn.user));
    let prompts = prompts.map(|(turn, planned)| {
        let lost = lost(format!("the user's message of {}", in_turn(turn)), &planned.user);
        lost.of_turn(turn).resting_on(&basis(evidence, turn))
    });
    let given = given::user_messages(evidence.plan).filter(|text| !said(text));
    let given =
        given.map(|text| lost("a user message of the given history".to_owned(), text).resting_on(&[]));
    let asides = evidence
        .asides()
        .filter(|(turn, _, text)| *turn < last.turn && !evidence.changed.may_be_gone(*turn) && !told(text))
        .filter(|(turn, _, text)| !died_in_its_write(evidence, *turn, text));
    let who = |way| if way == Aside::Injected { "a hook" } else { "the user" };
    let asides = asides.map(|(turn, way, text)| {
        let what = format!("what {} said during {}", who(way), in_turn(turn));
        lost(what, text).of_turn(turn).resting_on(&basis(evidence, turn))
    });
    given.chain(prompts).chain(asides).collect()
}

/// True if the process died in the first write after something was said: no system can have kept it.
fn died_in_its_write(evidence: &Evidence<'_>, turn: usize, text: &str) -> bool {
    let is_it = |event: &&Event| matches!(event, Event::Said { text: said, .. } if said == text);
    let later = evidence.events_of(turn).skip_while(|event| !is_it(event));
    let until_killed: Vec<&Event> = later.take_while(|event| **event != Event::Killed).collect();
    let writes = |wanted: Side| {
        until_killed.iter().any(|event| matches!(event, Event::Saving { side, .. } if *side == wanted))
    };
    evidence.died_in(turn) && writes(Side::Before) && !writes(Side::After)
}

/// The duties that the presence of the user's message rests on.
///
/// A turn may have failed because the application left something undone: its message is then missing for the same
/// reason.
fn basis(evidence: &Evidence<'_>, turn: usize) -> Vec<Duty> {
    let ended = |wanted: fn(&TurnOutcome) -> bool| {
        evidence.outcomes().any(|(at, outcome)| at == turn && wanted(outcome))
    };
    if evidence.died_in(turn) {
        vec![Duty::Store, Duty::Input]
    } else if ended(|outcome| *outcome == TurnOutcome::Returned) {
        if evidence.came_to_nothing(turn) { vec![Duty::Invalid] } else { Vec::new() }
    } else if ended(|outcome| matches!(outcome, TurnOutcome::Raised { .. })) {
        [&[Duty::Input], thread_survives::left_undone(evidence, turn)].concat()
    } else {
        vec![Duty::Input]
    }
}
