//! The page of findings that upstream has fixed.

use super::pages::{self, Depth};
use super::table::{Cell, Row, columns, table};
use super::{Results, changes, page_of, thread};
use crate::baseline::{ThreadEnding, ThreadState};
use crate::report::html::escaped;

/// The page: causes with a public report that is closed as fixed, and causes that a later version no longer shows.
pub(super) fn page(systems: &[Results<'_>]) -> String {
    let mut html = String::from(
        "<h1>Fixed upstream</h1>\n<h2>Reports that are closed as fixed</h2>\n<p>The cause was found in this version. The report \
         names the version that fixes it.</p>\n",
    );
    html.push_str(&reports(systems));
    html.push_str(
        "<h2>Gone in a later version</h2>\n<p>The same plans ran on both versions, and only the older one shows the cause. A \
         maintainer may have fixed it without a report.</p>\n",
    );
    html.push_str(&gone(systems));
    pages::sheet("Fixed upstream", Depth::Top, &html)
}

fn reports(systems: &[Results<'_>]) -> String {
    let mut rows = Vec::new();
    for results in systems {
        for seen in results.causes() {
            let state = seen.cause.state.as_deref().and_then(ThreadState::parse);
            let Some(ThreadEnding::Fixed(version)) = state.map(|state| state.ending) else { continue };
            rows.push(Row::new(vec![
                Cell::html(link(results.system)),
                Cell::html(pages::line(seen.cause, Depth::Top)),
                Cell::text(&version),
                Cell::html(thread::words(seen.cause)),
                Cell::number(seen.dates[0]),
            ]));
        }
    }
    let columns = columns(["system", "cause", "fixed in", "report", "last seen"]);
    table("Causes with a fixed report", &columns, &rows, "No stored result has such a cause.")
}

fn gone(systems: &[Results<'_>]) -> String {
    let mut rows = Vec::new();
    for change in changes::of_versions(systems).iter().filter(|change| change.is_fair()) {
        rows.extend(change.gone.iter().map(|cause| {
            Row::new(vec![
                Cell::html(link(&change.from.system)),
                Cell::html(link(&change.to.system)),
                Cell::html(pages::line(cause, Depth::Top)),
                Cell::html(thread::words(cause)),
            ])
        }));
    }
    let columns = columns(["shown by", "not by", "cause", "report"]);
    table(
        "Causes that a later version does not show",
        &columns,
        &rows,
        "No later version was run on the same plans.",
    )
}

fn link(system: &str) -> String {
    format!("<a href=\"{}\">{}</a>", page_of(system), escaped(system))
}
