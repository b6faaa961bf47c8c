//! The block of the page of filters: the bugs of each.

use std::fmt::Write;

use brickbat::cli::embedded::bugs_of_filters;
use brickbat_filter_suite::{Bug, Shows};

/// All bugs, one section for each filter.
pub fn bugs() -> String {
    let bugs = bugs_of_filters();
    let mut text = format!("\n{} bugs of {} filters.\n", bugs.len(), n_filters(&bugs));
    let mut filter = "";
    for (place, bug) in &bugs {
        if bug.filter != filter {
            filter = &bug.filter;
            write!(text, "\n### {filter} {}\n\n", bug.version).unwrap();
        }
        let thread = bug.thread.as_deref().map_or("none found".to_owned(), |url| format!("<{url}>"));
        writeln!(
            text,
            "- **{}** ({})\n  {}.\n  In `{}`: {}.\n  Reason: {}\n  Thread: {thread}.\n  History: `corpora/filters/{place}`.",
            bug.comment,
            bug.mode,
            shows(bug),
            bug.place,
            bug.cause,
            bug.maintainer,
        )
        .unwrap();
    }
    text + "\n"
}

fn n_filters(bugs: &[(String, Bug)]) -> usize {
    bugs.iter().map(|(_, bug)| bug.filter.as_str()).collect::<std::collections::BTreeSet<_>>().len()
}

fn shows(bug: &Bug) -> String {
    let Bug { from, to, .. } = bug;
    match &bug.shows {
        Shows::Refused(rule) => format!("From {from} to {to}, refused by `{rule}`"),
        Shows::Loses(words) => format!("From {from} to {to}, `{words}` is lost"),
        Shows::Raises(kind) => format!("From {from} to {to}, `{kind}` is raised"),
    }
}
