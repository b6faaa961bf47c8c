//! The page of findings that upstream has fixed.

use std::fmt::Write;

use super::pages::{self, Depth};
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
    let mut rows = String::new();
    for results in systems {
        for seen in results.causes() {
            let state = seen.cause.state.as_deref().and_then(ThreadState::parse);
            let Some(ThreadEnding::Fixed(version)) = state.map(|state| state.ending) else { continue };
            let _ = writeln!(
                rows,
                "<tr><th scope=\"row\"><a href=\"{}\">{}</a></th><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
                page_of(results.system),
                escaped(results.system),
                pages::line(seen.cause, Depth::Top),
                escaped(&version),
                thread::words(seen.cause),
                seen.dates[0],
            );
        }
    }
    let heads = ["system", "cause", "fixed in", "report", "last seen"];
    pages::table("Causes with a fixed report", &heads, &rows, "No stored result has such a cause.")
}

fn gone(systems: &[Results<'_>]) -> String {
    let mut rows = String::new();
    for change in changes::of_versions(systems).iter().filter(|change| change.is_fair()) {
        for cause in &change.gone {
            let _ = writeln!(
                rows,
                "<tr><th scope=\"row\"><a href=\"{}\">{}</a></th><td><a href=\"{}\">{}</a></td><td>{}</td><td>{}</td></tr>",
                page_of(&change.from.system),
                escaped(&change.from.system),
                page_of(&change.to.system),
                escaped(&change.to.system),
                pages::line(cause, Depth::Top),
                thread::words(cause),
            );
        }
    }
    let heads = ["shown by", "not by", "cause", "report"];
    pages::table(
        "Causes that a later version does not show",
        &heads,
        &rows,
        "No later version was run on the same plans.",
    )
}
