//! Does a call that needs the user's consent wait for it?

use super::*;

pub(super) const CHECK: Check = Check {
    id: "consent-given",
    summary: "a call that needs the user's consent runs only after the user has given it",
    level: Level::L3,
    invariants: &[25],
    severity: Severity::ExecutedUnasked,
    rests_on: &[Duty::Loop],
    applies: |evidence| evidence.plan.calls.iter().any(|call| call.asks),
    find,
};

fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let calls = (0..).map(CallKey).zip(evidence.calls());
    let unasked = calls.filter(|(_, (call, account))| call.asks && account.unasked);
    unasked
        .map(|(key, (call, account))| {
            let got = match account.consent {
                Some(Consent::Refused) => "the user had refused",
                Some(Consent::Withheld) => "the user had stopped the turn instead of answering",
                Some(Consent::Given) | None => "the user had not been asked",
            };
            Finding {
                message: format!("call {} ran without the user's consent", call.name),
                expected: "no run before the user's consent".to_owned(),
                got: got.to_owned(),
                ..CHECK.finding("the tool's gate").of_calls([key])
            }
        })
        .collect()
}

/// A question about an unknown call, where a call ran that had to be asked about: the question may have been about
/// that call, under a name that the adapter made up, so consent cannot be judged.
pub(super) fn question_about_nobody(evidence: &Evidence<'_>) -> Option<String> {
    let asked = evidence.run.trace.events().iter().find_map(|event| match event {
        Event::Asked { id, call: None, .. } => Some(id),
        _ => None,
    })?;
    let unasked =
        |account: &brickbat_scenario::trace::CallRecord| account.unasked && account.consent.is_none();
    let (call, _) = evidence.calls().find(|(call, account)| call.asks && unasked(account))?;
    Some(format!(
        "the user was asked about the unknown call `{asked}`, and call {} ran: a question must name its call by the \
         provider's id",
        call.name
    ))
}
