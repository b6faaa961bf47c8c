//! The losses of a resumed thread, and cut replies that it contains as if complete.

use super::run::{Ended, Run};
use brickbat_engine::standalone::{CutReply, Loss, Runs};
use brickbat_report::report::text::counted;

/// The losses, in one sentence. `None` if there are none.
pub(super) fn words(threads: &Runs) -> Option<String> {
    let losses = threads.losses();
    let lost = listed(&losses)?;
    Some(match threads.has_continued() {
        true => format!("the resumed thread has lost {lost}"),
        false => format!(
            "the thread has nothing of the runs before: it lacks {lost}; either --resume begins a new thread, or the \
             program has not stored them. Check that --resume continues the thread of a run that is not stopped"
        ),
    })
}

/// The losses, each with its run.
fn listed(losses: &[Loss]) -> Option<String> {
    let each = losses.iter().map(|loss| {
        let message = loss.message.then(|| format!("the user's message of run {}", loss.of));
        let results = (loss.results > 0).then(|| {
            let of = if loss.message { String::new() } else { format!(" of run {}", loss.of) };
            format!("{}{of}", counted(loss.results, "result"))
        });
        let parts: Vec<String> = message.into_iter().chain(results).collect();
        format!("{} (seen in run {})", parts.join(" and "), loss.run)
    });
    let each: Vec<String> = each.collect();
    (!each.is_empty()).then(|| each.join(", "))
}

/// Cut replies that the next run sends back as if they were complete, although their own run reported no error by
/// its exit code.
pub(super) fn notes(threads: &Runs, runs: &[Run]) -> Vec<String> {
    let has_succeeded = |nth: usize| match runs.get(nth.saturating_sub(1)).map(|run| &run.ended) {
        Some(Ended::ByItself(status)) => status.success(),
        Some(Ended::AtPoint { .. } | Ended::TimedOut | Ended::Interrupted) | None => false,
    };
    let kept = threads.kept_cuts().filter(|(nth, _)| has_succeeded(nth.saturating_sub(1)));
    let note = |(nth, cut): (usize, &CutReply)| {
        format!(
            "reply {} was cut off ({}), and the thread of run {nth} contains its text as if it were complete; run {} \
             ended with success",
            cut.reply,
            cut.words,
            nth - 1
        )
    };
    kept.map(note).collect()
}
