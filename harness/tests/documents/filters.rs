//! The block of the page of filters: what is known to be wrong with each.

use std::fmt::Write;

use brickbat::cli::embedded::known_of_filters;
use brickbat_filter_suite::{Known, Shows};

/// All bugs, one section for each filter.
pub fn bugs() -> String {
    let known = known_of_filters().unwrap();
    let mut text = format!("\n{} bugs of {} filters.\n", known.len(), names(&known));
    let mut filter = "";
    for (place, known) in &known {
        if known.filter != filter {
            filter = &known.filter;
            write!(text, "\n### {filter} {}\n\n", known.version).unwrap();
        }
        let thread = known.thread.as_deref().map_or("none found".to_owned(), |url| format!("<{url}>"));
        writeln!(
            text,
            "- **{}** ({})\n  {}.\n  In `{}`: {}.\n  What speaks for it: {}\n  Thread: {thread}.\n  History: `corpora/filters/{place}`.",
            known.comment,
            known.mode,
            shows(known),
            known.place,
            known.cause,
            known.maintainer,
        )
        .unwrap();
    }
    text + "\n"
}

fn names(known: &[(String, Known)]) -> usize {
    known.iter().map(|(_, known)| known.filter.as_str()).collect::<std::collections::BTreeSet<_>>().len()
}

fn shows(known: &Known) -> String {
    let Known { from, to, .. } = known;
    match &known.shows {
        Shows::Refused(rule) => format!("From {from} to {to}, refused by `{rule}`"),
        Shows::Loses(words) => format!("From {from} to {to}, `{words}` is lost"),
        Shows::Raises(kind) => format!("From {from} to {to}, `{kind}` is raised"),
    }
}
