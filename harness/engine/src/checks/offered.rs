//! Whether the model could have done what the script does for it: made its calls, shown what it thinks, and been
//! the one that was to be asked.

use super::*;

/// A scripted call of a tool that the request does not offer. A real model calls only what it is offered, so such
/// a run says nothing about the system: the harness knows the tool under a wrong name, or the system was not given
/// it.
pub(super) fn absent(evidence: &Evidence<'_>) -> Option<String> {
    evidence.requests.iter().find_map(|request| {
        let tool =
            called(evidence, request).find(|tool| !request.offered.iter().any(|known| known == tool))?;
        let offered = match request.offered.as_slice() {
            [] => "no tools".to_owned(),
            names => listed(names),
        };
        let place = request.place("");
        Some(format!("the script calls the tool `{tool}`, but the request ({place}) offers {offered}"))
    })
}

/// The model thinks in the plan, and no request asks it to, so that it showed nothing of it: then the plan was not
/// played. A system may leave thinking out of one request, as some do to repair a history, but not of all of which
/// the plan does not switch it off itself.
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

/// The provider searches in the reply to a request that does not offer the search, so that it was not sent: then
/// the plan was not played. A real provider runs only what it is offered, so the system was not given the search.
pub(super) fn unoffered_search(evidence: &Evidence<'_>) -> Option<String> {
    let searches = |request: &RequestView| {
        let script = evidence.script_of(request);
        script.is_some_and(|script| script.server_blocks().next().is_some())
    };
    let request = evidence.requests.iter().find(|request| searches(request) && !request.offers_search)?;
    let place = request.place("");
    Some(format!("the provider searches in this plan, but the request ({place}) does not offer its search"))
}

/// The system was to ask a model, and no request names it: then the rules of another one were played. A name may
/// have the provider's in front of it, and a system may ask a smaller model for a title.
pub(super) fn other_model(evidence: &Evidence<'_>) -> Option<String> {
    let wanted = evidence.plan.model.as_deref()?;
    let mut named = evidence.requests.iter().filter_map(|request| request.model.as_deref()).peekable();
    let first = *named.peek()?;
    let is_meant = named.any(|model| model.contains(wanted));
    (!is_meant)
        .then(|| format!("the system was to ask the model `{wanted}`, and its requests name `{first}`"))
}

/// The tools that the reply to a request calls, but for those that the model makes up.
fn called<'a>(evidence: &Evidence<'a>, request: &RequestView) -> impl Iterator<Item = &'a str> {
    let plan = evidence.plan;
    evidence
        .script_of(request)
        .into_iter()
        .flat_map(move |script| script.calls().map(|key| &plan.calls[key.0 as usize]))
        .filter(|call| !call.is_malformed(|it| it.tool))
        .map(|call| call.tool.as_str())
}

/// Tools that a message lists. A coding agent has about a dozen of its own.
const MAX_LISTED: usize = 30;

fn listed(names: &[String]) -> String {
    let rest = names.len().saturating_sub(MAX_LISTED);
    let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    let shown: Vec<String> = names.iter().take(MAX_LISTED).map(|name| format!("`{name}`")).collect();
    format!("{}{more}", shown.join(", "))
}
