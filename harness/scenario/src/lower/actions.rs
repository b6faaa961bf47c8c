//! Resolves the actions in a turn, and checks whether each is possible at its point.

use crate::action::{Action, HttpFault, Payload, ProviderChoice};
use crate::plan::{PlannedAction, PlannedPoint, Prompts, Side};
use crate::scenario::At;

use super::limits;
use super::points::TurnContext;
use super::problem::{Problem, Problems};

/// The maximum number of times that one HTTP error may be repeated; clients give up after 2 to 10 tries.
const MAX_HTTP_TIMES: u32 = 20;

/// The same for a request for a summary. It is more than the requests of a client that retries and of an agent that asks
/// it again, so that only a loop sends all of them.
const MAX_SUMMARY_TIMES: u32 = 60;

/// The longest wait that an HTTP error may ask a client for. Longer waits only make runs slow.
const MAX_RETRY_AFTER_MS: u32 = 10_000;

/// Resolves the actions in a turn, in file order. `live_prompts` are the earlier turns that are still in the
/// history, so that their messages can be taken back.
pub(super) fn resolve(
    context: TurnContext<'_>,
    live_prompts: &[usize],
    at: &[At],
    problems: &mut Problems,
) -> Vec<PlannedAction> {
    let base = |index: usize| format!("/turns/{}/at/{index}", context.turn);
    let resolved = at.iter().enumerate().map(|(index, at)| action(context, live_prompts, &base(index), at));
    resolved.filter_map(|action| action.map_err(|problem| problems.add(problem)).ok()).collect()
}

fn action(
    context: TurnContext<'_>,
    live_prompts: &[usize],
    base: &str,
    written: &At,
) -> Result<PlannedAction, Problem> {
    let at = context.point(base, written)?;
    let spec = written.action.spec();
    let inner = format!("{base}/do/{}", spec.name);
    let is_of_thread = !matches!(at, PlannedPoint::Compaction(..));
    check(&inner, &written.action, if is_of_thread { MAX_HTTP_TIMES } else { MAX_SUMMARY_TIMES })?;
    let what = written.action.bind(
        |name| context.settleable(&inner, name),
        |turn| context.prompts_since(live_prompts, &inner, *turn).map(Prompts),
    )?;
    if let Some(refusal) = written.region().and_then(|region| spec.refusal(region)) {
        return Err(Problem::refused(format!("{base}/do"), refusal));
    }
    if what.ends_process() && at == PlannedPoint::Saved(1, Side::Before) {
        let pointer = format!("{base}/before/saved");
        return Err(Problem::new(pointer, "a turn leaves no trace before its first entry is saved")
            .with_hint("use `before: prompt` for the time between two turns"));
    }
    let what = match what {
        Action::Provider(_) => Action::Provider(ProviderChoice::Of(context.table.dialect(context.turn))),
        other => other,
    };
    Ok(PlannedAction { words: written.words(), at, what })
}

/// Checks the payload of an action. `most_times` limits the repetitions of an HTTP error.
fn check(pointer: &str, action: &Action, most_times: u32) -> Result<(), Problem> {
    match (&action.spec().payload, action) {
        (Payload::Text { .. }, _) => said(pointer, action, action.text().unwrap_or_default()),
        (Payload::Keep { least, .. }, Action::Trim(keep) | Action::Summarise(keep)) if keep < least => {
            let message = format!("`{}` must keep at least one message", action.spec().name);
            Err(Problem::new(pointer, message)
                .with_hint("a conversation without messages would be a new one"))
        }
        (_, Action::Http(fault)) => http(pointer, fault, most_times),
        _ => Ok(()),
    }
}

/// Checks the text of an action.
fn said(pointer: &str, action: &Action, text: &str) -> Result<(), Problem> {
    let what = if matches!(action, Action::Aside(_)) { "the question" } else { "the text" };
    let mut problems = Problems::default();
    limits::text(pointer, what, text, &mut problems);
    problems.first().map_or(Ok(()), Err)
}

fn http(pointer: &str, fault: &HttpFault, most_times: u32) -> Result<(), Problem> {
    let wrong = |key: &str, message: String| Err(Problem::new(format!("{pointer}/{key}"), message));
    if !(400..=599).contains(&fault.status) {
        return wrong("status", format!("{} is not an error status, 400 to 599", fault.status));
    }
    if fault.overflow && fault.status != 400 {
        return wrong(
            "overflow",
            format!("a request that is too long is refused with 400, not {}", fault.status),
        );
    }
    if !(1..=most_times).contains(&fault.times) {
        return wrong("times", format!("`times` must be 1 to {most_times}, not {}", fault.times));
    }
    if fault.retry_after_ms > MAX_RETRY_AFTER_MS {
        return wrong(
            "retry-after-ms",
            format!(
                "`retry-after-ms` must be at most {MAX_RETRY_AFTER_MS}: longer waits only slow runs down"
            ),
        );
    }
    Ok(())
}
