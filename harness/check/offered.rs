//! Whether the model could have made the calls that the script makes for it.

use super::evidence::{Evidence, RequestView};
use crate::trace::RequestKind;

/// A scripted call of a tool that the request does not offer. A real model calls only what it is offered, so such a run
/// says nothing about the system: the harness knows the tool under a wrong name, or the system was not given it.
pub(super) fn absent(evidence: &Evidence<'_>) -> Option<String> {
    evidence.requests.iter().find_map(|request| {
        let tool =
            called(evidence, request).find(|tool| !request.offered.iter().any(|known| known == tool))?;
        let offered = match request.offered.as_slice() {
            [] => "no tools".to_owned(),
            names => listed(names),
        };
        let place = request.place("");
        Some(format!("the script calls the tool `{tool}`, and the request ({place}) offers {offered}"))
    })
}

/// The tools that the reply to a request calls.
fn called<'a>(evidence: &Evidence<'a>, request: &RequestView) -> impl Iterator<Item = &'a str> {
    let script = match request.kind {
        RequestKind::Scripted { turn, reply, attempt } => evidence
            .plan
            .turns
            .get(turn)
            .and_then(|turn| turn.replies.get(reply))
            .and_then(|reply| reply.attempts.get(attempt)),
        _ => None,
    };
    let plan = evidence.plan;
    script
        .into_iter()
        .flat_map(move |script| script.calls().map(|key| plan.calls[key.0 as usize].tool.as_str()))
}

/// Tools that a message lists. A coding agent has about a dozen of its own.
const MAX_LISTED: usize = 30;

fn listed(names: &[String]) -> String {
    let rest = names.len().saturating_sub(MAX_LISTED);
    let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    let shown: Vec<String> = names.iter().take(MAX_LISTED).map(|name| format!("`{name}`")).collect();
    format!("{}{more}", shown.join(", "))
}
