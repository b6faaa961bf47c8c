//! The model is offered the tools that the system has.

use super::*;
use brickbat_scenario::action::ToolChange;
use brickbat_scenario::plan::Change;

pub(super) const CHECK: Check = Check {
    summary: "after the list of tools has changed, requests offer the new list",
    invariants: &[27],
    applies: |evidence| judged(evidence).next().is_some(),
    find,
    ..Check::new("tools-current", Level::L2, Severity::ViewsDiffer)
};

/// Words in a request that changes the list by other means, which this check does not read: the model may call only some of
/// the declared tools, finds tools by a search, or reads in the conversation that tools come and go. Pydantic AI adds a
/// tool in this way in the Responses API, which keeps the cache.
const OTHER_MEANS: [&str; 7] = [
    "\"allowed_tools\"",
    "\"additional_tools\"",
    "\"tool_addition\"",
    "\"tool_removal\"",
    "\"tool_reference\"",
    "\"tool_search\"",
    "\"defer_loading\"",
];

fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let mut found: Vec<Finding> = Vec::new();
    for (request, known) in judged(evidence) {
        for (at, change) in known.iter().enumerate() {
            let is_latest = |kind: fn(&ToolChange) -> bool| {
                let later = known[at + 1..].iter().filter(|other| other.tool() == change.tool());
                kind(change) && !later.clone().any(|other| other.presence().is_some())
            };
            let tool = change.tool();
            let is_offered = names(evidence.plan, &request.offered, tool);
            let is_extended = names(evidence.plan, &request.extended, tool);
            let wrong = match change {
                ToolChange::Withdraw(_) if is_offered && is_latest(|_| true) => (
                    format!("a request offers the tool `{tool}`, which had been withdrawn"),
                    format!("no tool `{tool}`"),
                ),
                ToolChange::Offer(_) if !is_offered && is_latest(|_| true) => (
                    format!("a request does not offer the tool `{tool}`, which had been added"),
                    format!("the tool `{tool}`"),
                ),
                ToolChange::Extend(_) if is_offered && !is_extended => (
                    format!("a request offers the tool `{tool}` with the schema that it had before"),
                    format!("the tool `{tool}` with its new argument"),
                ),
                ToolChange::Withdraw(_) | ToolChange::Offer(_) | ToolChange::Extend(_) => continue,
            };
            let (message, expected) = wrong;
            if found.iter().all(|other| other.message != message) {
                let got = format!("the tools {}", offered::listed(&request.offered));
                found.push(Finding { message, expected, got, ..CHECK.finding(request.place("")) });
            }
        }
    }
    found
}

/// The requests of the thread that offer tools after a change of the list, each with the changes that the system knew then.
fn judged<'e>(evidence: &'e Evidence<'_>) -> impl Iterator<Item = (&'e RequestView, Vec<ToolChange>)> {
    let mut changes = Changes::default();
    evidence.run.trace.events().iter().filter_map(move |event| {
        changes.on(event);
        let Event::Requested { exchange, body, .. } = event else { return None };
        let request = evidence.requests.iter().find(|request| request.exchange == *exchange)?;
        // A request without any tools asks for something else, such as a last answer.
        let is_of_thread = request.kind != RequestKind::Auxiliary && !request.offered.is_empty();
        let is_judged =
            request.is_read && is_of_thread && !OTHER_MEANS.iter().any(|word| says_word(body, word));
        (is_judged && !changes.known.is_empty()).then(|| (request, changes.known.clone()))
    })
}

/// The changes of the list so far.
#[derive(Default)]
struct Changes {
    known: Vec<ToolChange>,
    /// Changes that happened while the next request may have been on its way already.
    uncertain: Vec<ToolChange>,
    is_running: bool,
    open: Vec<CallKey>,
}

impl Changes {
    fn on(&mut self, event: &Event) {
        match event {
            Event::Prompted { .. } => {
                self.is_running = true;
                self.known.append(&mut self.uncertain);
            }
            Event::TurnEnded { .. } | Event::Killed => {
                self.is_running = false;
                self.open.clear();
            }
            Event::ToolStarted { call: Some(call), .. } => self.open.push(*call),
            Event::ToolSettled { call, .. } | Event::ToolCancelled { call } => {
                self.open.retain(|open| open != call);
            }
            Event::Changed { change: Change::Tools { change } } => {
                // The next request of a turn waits for its open calls.
                let is_certain = self.uncertain.is_empty() && (!self.is_running || !self.open.is_empty());
                let list = if is_certain { &mut self.known } else { &mut self.uncertain };
                list.push(change.clone());
            }
            _ => {}
        }
    }
}

fn says_word(body: &[u8], word: &str) -> bool {
    body.windows(word.len()).any(|window| window == word.as_bytes())
}

/// True if one of the names is that of a tool. A system may put the name of a server in front.
fn names(plan: &Plan, names: &[String], tool: &str) -> bool {
    let is_of_plan = |name: &String| plan.tools.iter().any(|known| known.name == *name);
    let is_prefixed = |name: &String| {
        let prefix = name.strip_suffix(tool).filter(|_| !is_of_plan(name));
        prefix.is_some_and(|prefix| prefix.ends_with(['_', '.', '-', '/', ':']))
    };
    names.iter().any(|name| name == tool || is_prefixed(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(events: &[Event]) -> usize {
        let mut changes = Changes::default();
        events.iter().for_each(|event| changes.on(event));
        changes.known.len()
    }

    #[test]
    fn a_change_counts_once_no_request_can_be_on_its_way() {
        let change = ToolChange::Withdraw("order".to_owned());
        let changed = Event::Changed { change: Change::Tools { change } };
        let prompted = Event::Prompted { turn: 0 };
        let started = Event::ToolStarted { call: Some(CallKey(0)), args: "{}".to_owned() };
        let ended = Event::ToolCancelled { call: CallKey(0) };
        assert_eq!(known(std::slice::from_ref(&changed)), 1, "no turn runs");
        assert_eq!(known(&[prompted.clone(), started.clone(), changed.clone()]), 1, "a call is open");
        let late = [prompted.clone(), started, ended, changed];
        assert_eq!(known(&late), 0, "all calls have ended");
        assert_eq!(known(&[&late[..], &[prompted]].concat()), 1, "the next turn has begun");
    }

    #[test]
    fn a_name_may_have_that_of_a_server_in_front() {
        let id = brickbat_scenario::plan::PlanId::new("a", brickbat_rules::dialect::Dialect::OpenaiChat);
        let tool = brickbat_scenario::plan::PlannedTool::new("re_order", Vec::new());
        let plan = Plan { tools: vec![tool], ..Plan::new(id, 1) };
        let is_named = |name: &str| names(&plan, &[name.to_owned()], "order");
        assert!(is_named("order") && is_named("mcp__brickbat__order"));
        assert!(!is_named("reorder") && !is_named("re_order"));
    }
}
