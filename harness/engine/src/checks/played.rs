//! The proof that the planned faults happened: the receipts of actions, and the delivery of faults that are not
//! actions.

use super::*;

/// The part of a plan that was played, according to the receipts.
pub(super) enum Played<'a> {
    /// Every action has its receipt.
    Fully,
    /// Everything before this action. Later actions may be missing as well, because a broken thread does not
    /// reach them.
    UpTo(&'a Receipt),
    /// This action has no receipt, and nothing follows from the system's behaviour: no action before it
    /// happened, or it is unknown what the system had read by the time of one.
    Unproven(&'a Receipt),
}

impl Played<'_> {
    pub(super) fn of(run: &Run, needed: Confidence) -> Played<'_> {
        let receipts = run.receipts.as_slice();
        let proven = |receipt: &&Receipt| receipt.fired && receipt.grade >= Some(needed);
        let n_first = receipts.iter().take_while(proven).count();
        let Some(missing) = receipts.get(n_first) else { return Played::Fully };
        let is_in_order = n_first > 0 && n_first == receipts.iter().filter(proven).count();
        let is_unread = |receipt: &Receipt| receipt.fired && receipt.grade < Some(Confidence::Read);
        if is_in_order && !receipts.iter().any(is_unread) {
            Played::UpTo(missing)
        } else {
            Played::Unproven(missing)
        }
    }
}

/// True if a turn has replies with malformed output or with a handoff, and none of them was sent completely,
/// which would prove it.
pub(super) fn is_oddity_unsent(evidence: &Evidence<'_>) -> bool {
    let plan = evidence.plan;
    let is_over = |exchange: ExchangeId| {
        let over = Event::Replied { exchange, ending: Ending::Complete };
        evidence.run.trace.events().contains(&over)
    };
    let is_sent = |at: (usize, usize, usize)| {
        let (turn, reply, attempt) = at;
        let kind = RequestKind::Scripted { turn, reply, attempt };
        evidence.requests.iter().any(|request| request.kind == kind && is_over(request.exchange))
    };
    let wrong = |turn: usize| {
        let replies = plan.turns[turn].replies.iter().enumerate();
        let scripts = replies.flat_map(move |(reply, planned)| {
            planned.attempts.iter().enumerate().map(move |(attempt, script)| ((turn, reply, attempt), script))
        });
        let is_odd = |script: &Script| script.is_wrong(&plan.calls) || script.hands_over(&plan.calls);
        scripts.filter(move |(_, script)| is_odd(script)).map(|(at, _)| at)
    };
    let mut turns = (0..plan.turns.len()).filter(|turn| plan.turns[*turn].actions.is_empty());
    turns.any(|turn| wrong(turn).next().is_some() && !wrong(turn).any(is_sent))
}

/// The call with a planned failure that was never delivered. If the fault of a turn is a failing tool, its delivery
/// is the receipt. If the user is asked about the call, the denial is delivered instead.
pub(super) fn undelivered_failure<'a>(evidence: &Evidence<'a>) -> Option<&'a str> {
    let without_actions = |turn: usize| evidence.plan.turns[turn].actions.is_empty();
    let fails = |call: &PlannedCall| !call.outcome.is_success() && !call.is_invalid();
    let planned = |turn: usize| {
        evidence.calls().filter(move |(call, _)| call.turn == turn && !call.given && fails(call))
    };
    let is_pending = |call: &PlannedCall, account: &CallRecord| {
        account.settled.is_none() && !(call.is_refused() && account.consent == Some(Consent::Refused))
    };
    let turns = (0..evidence.plan.turns.len()).filter(|turn| without_actions(*turn));
    turns
        .filter(|turn| planned(*turn).all(|(call, account)| is_pending(call, account)))
        .find_map(|turn| planned(turn).next().map(|(call, _)| call.name.as_str()))
}
