//! A call that needs the user's consent waits for it.

use super::*;

pub(super) const CHECK: Check = Check {
    summary: "a call that needs the user's consent runs only after the user has given it",
    invariants: &[25],
    rests_on: &[Duty::Loop],
    applies: |evidence| evidence.plan.calls.iter().any(|call| call.asks),
    find,
    ..Check::new("consent-given", Level::L3, Severity::ExecutedUnasked)
};

fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let calls = (0..).map(CallKey).zip(evidence.calls());
    let unasked = calls.filter(|(_, (call, account))| call.asks && account.unasked);
    unasked
        .map(|(key, (call, account))| {
            let got = match account.consent {
                Some(Consent::Refused) => "a run although the user had refused",
                Some(Consent::Withheld) => {
                    "a run although the user had stopped the turn instead of answering"
                }
                Some(Consent::Given) | None => "a run before the user was asked",
            };
            Finding {
                message: format!("call {} ran without the user's consent", call.name),
                expected: "a run only after the user's consent".to_owned(),
                got: got.to_owned(),
                ..CHECK.finding("the start of the tool").of_calls([key])
            }
        })
        .collect()
}

/// Returns why consent cannot be judged: the user was asked about an unknown call, and a call that needs consent
/// ran without a question. The question may have been about that call, under a name that the adapter invented.
pub(super) fn question_about_nobody(evidence: &Evidence<'_>) -> Option<String> {
    let asked = evidence.run.trace.events().iter().find_map(|event| match event {
        Event::Asked { id, call: None, .. } => Some(id),
        _ => None,
    })?;
    let unasked =
        |account: &brickbat_scenario::trace::CallRecord| account.unasked && account.consent.is_none();
    let (call, _) = evidence.calls().find(|(call, account)| call.asks && unasked(account))?;
    Some(format!(
        "the user was asked about the unknown call `{asked}`, and call {} ran without a question: in each question, \
         the adapter must name the call by the provider's id",
        call.name
    ))
}
