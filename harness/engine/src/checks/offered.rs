//! Verifies that the model could have acted as scripted: make its calls, show its thinking, and be the
//! requested model.

use super::*;

/// A scripted call to a tool that the request does not offer. A real model calls only offered tools, so such
/// a run proves nothing about the system: the harness knows the tool under a wrong name, or the system did
/// not receive it.
pub(super) fn absent(evidence: &Evidence<'_>) -> Option<String> {
    // `tools-current` judges the tools that come and go.
    let changed: Vec<_> = evidence.plan.tool_changes().collect();
    let is_absent = |request: &RequestView, tool: &str| {
        !request.offered.iter().any(|known| known == tool)
            && changed.iter().all(|change| change.tool() != tool)
    };
    evidence.requests.iter().find_map(|request| {
        let tool = called(evidence, request).find(|tool| is_absent(request, tool))?;
        let offered = match request.offered.as_slice() {
            [] => "no tools".to_owned(),
            names => listed(names),
        };
        let place = request.place("");
        Some(format!("the script calls the tool `{tool}`, but the request ({place}) offers {offered}"))
    })
}

/// Reports that the plan was not executed because no request asks the model to think, although it thinks in
/// the plan. A system may leave thinking out of some requests, for example to repair a history, but not out
/// of all. Turns in which the plan itself switches thinking off do not count.
pub(super) fn unasked_thinking(evidence: &Evidence<'_>) -> Option<String> {
    let is_switched_off = |turn: usize| {
        let until = evidence.plan.turns.iter().take(turn + 1).flat_map(|turn| &turn.actions);
        let mut switches = until.filter_map(|action| match action.what {
            Action::Thinking(on) => Some(on),
            _ => None,
        });
        switches.next_back() == Some(false)
    };
    let thinks = |request: &RequestView| {
        evidence.script_of(request).is_some_and(Script::thinks) && !is_switched_off(request.turn)
    };
    let is_unasked = evidence.requests.iter().any(thinks)
        && !evidence.requests.iter().any(|request| request.asks_to_think);
    is_unasked.then(|| "the model thinks in this plan, but no request asks it to".to_owned())
}

/// Reports that the plan was not executed because a request does not offer the search that its reply
/// contains. The search was then left out of the reply: a real provider runs only what a request offers. So
/// the system did not receive the search.
pub(super) fn unoffered_search(evidence: &Evidence<'_>) -> Option<String> {
    let searches = |request: &RequestView| {
        let script = evidence.script_of(request);
        script.is_some_and(|script| script.server_blocks().next().is_some())
    };
    let request = evidence.requests.iter().find(|request| searches(request) && !request.offers_search)?;
    let place = request.place("");
    Some(format!("the provider searches in this plan, but the request ({place}) does not offer its search"))
}

/// The reason why no provider sends the replies of this plan to this system: a request forbids several calls in a
/// reply, as with `parallel_tool_calls: false`, or requires a call, as with `tool_choice: required`, and its reply does
/// not comply.
pub(super) fn impossible_reply(evidence: &Evidence<'_>) -> Option<String> {
    evidence.requests.iter().find_map(|request| {
        let script = evidence.script_of(request)?;
        let place = request.place("");
        let several = !request.allowed.several && called(evidence, request).nth(1).is_some();
        let missing = request.allowed.at_least_one && script.calls().next().is_none();
        match (several, missing) {
            (true, _) => Some(format!(
                "the reply has several calls, but the request ({place}) allows only one in a reply"
            )),
            (_, true) => {
                Some(format!("the reply has no call, but the request ({place}) requires one of the model"))
            }
            (false, false) => None,
        }
    })
}

/// Reports that no request names the model that the system was to use, so the rules of another model applied.
/// A name may be prefixed with the provider's, and a system may use a smaller model for a title.
pub(super) fn other_model(evidence: &Evidence<'_>) -> Option<String> {
    let wanted = evidence.plan.model.as_deref()?;
    let mut named = evidence.requests.iter().filter_map(|request| request.model.as_deref()).peekable();
    let first = *named.peek()?;
    let is_meant = named.any(|model| model.contains(wanted));
    (!is_meant).then(|| {
        format!("the system should have requested the model `{wanted}`, but its requests name `{first}`")
    })
}

/// The tools that the reply to a request calls, except those that the model invents.
fn called<'a>(evidence: &Evidence<'a>, request: &RequestView) -> impl Iterator<Item = &'a str> {
    let plan = evidence.plan;
    evidence
        .script_of(request)
        .into_iter()
        .flat_map(move |script| script.calls().map(|key| &plan.calls[key.0 as usize]))
        .filter(|call| !call.is_malformed(|it| it.tool))
        .map(|call| call.tool.as_str())
}

/// The maximum number of tools that a message lists. A coding agent has about a dozen tools.
const MAX_LISTED: usize = 30;

pub(super) fn listed(names: &[String]) -> String {
    let rest = names.len().saturating_sub(MAX_LISTED);
    let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    let shown: Vec<String> = names.iter().take(MAX_LISTED).map(|name| format!("`{name}`")).collect();
    format!("{}{more}", shown.join(", "))
}
