//! The differences between two results: of two days, or of two versions.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::pages::{self, Depth};
use super::{Results, Stored, StoredCause, page_of, page_of_cause, thread};
use crate::report::html::escaped;
use crate::report::text::counted;

/// The differences from one result to another.
pub(super) struct Change<'a> {
    pub(super) from: &'a Stored,
    pub(super) to: &'a Stored,
    /// Causes that only the other has.
    pub(super) new: Vec<&'a StoredCause>,
    /// Causes that only the first has.
    pub(super) gone: Vec<&'a StoredCause>,
    /// Causes with another public report, or another state of it: as they were, and as they are.
    moved: Vec<(&'a StoredCause, &'a StoredCause)>,
}

impl<'a> Change<'a> {
    pub(super) fn of(from: &'a Stored, to: &'a Stored) -> Change<'a> {
        let find = |result: &'a Stored, kind: &str| result.causes.iter().find(|cause| cause.kind == kind);
        let new = to.causes.iter().filter(|cause| find(from, &cause.kind).is_none()).collect();
        let gone = from.causes.iter().filter(|cause| find(to, &cause.kind).is_none()).collect();
        let both = to.causes.iter().filter_map(|cause| Some((find(from, &cause.kind)?, cause)));
        let differs = |(old, new): &(&StoredCause, &StoredCause)| {
            (&old.thread, ending(old)) != (&new.thread, ending(new))
        };
        Change { from, to, new, gone, moved: both.filter(differs).collect() }
    }

    /// True if the same plans ran, so that a missing cause means something.
    pub(super) fn is_fair(&self) -> bool {
        self.from.is_like(self.to)
    }

    /// The change in a few words.
    pub(super) fn words(&self) -> String {
        if !self.is_fair() {
            return "not compared, because other plans ran".to_owned();
        }
        let (from, to) = (self.from.level_words(), self.to.level_words());
        let level = if from == to { to } else { format!("{from} → {to}") };
        format!("{level}; {} new, {} gone", counted(self.new.len(), "cause"), self.gone.len())
    }
}

/// The state of a public report without the day on which it was read.
fn ending(cause: &StoredCause) -> Option<&str> {
    let state = cause.state.as_deref()?;
    Some(state.rsplit_once(' ').map_or(state, |(ending, _)| ending))
}

/// Pairs of neighbouring versions of one system in one mode, the newer second.
pub(super) fn of_versions<'a>(systems: &[Results<'a>]) -> Vec<Change<'a>> {
    /// The newest result of a version, after its number.
    type OfVersion<'r, 'a> = (Vec<Number<'r>>, &'a Stored);
    let mut by_name: BTreeMap<(&str, &str), Vec<OfVersion<'_, 'a>>> = BTreeMap::new();
    for results in systems {
        let Some((name, rest)) = results.system.split_once('@') else { continue };
        let (version, mode) = rest.split_once('/').unwrap_or((rest, ""));
        by_name.entry((name, mode)).or_default().push((numbers(version), results.newest()));
    }
    let mut changes = Vec::new();
    for mut versions in by_name.into_values() {
        versions.sort_by(|(a, _), (b, _)| a.cmp(b));
        changes.extend(versions.windows(2).map(|pair| Change::of(pair[0].1, pair[1].1)));
    }
    changes
}

/// A part of a version. Numbers are ordered by value, and words come before them, as in `1.0.beta`.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Number<'a> {
    Word(&'a str),
    Digits(u64),
}

fn numbers(version: &str) -> Vec<Number<'_>> {
    let part = |part| str::parse(part).map_or(Number::Word(part), Number::Digits);
    version.split(['.', '-', '+']).map(part).collect()
}

/// The page of changes.
pub(super) fn page(systems: &[Results<'_>]) -> String {
    let mut html = String::from(
        "<h1>Changes</h1>\n<p>Two results are compared if the same plans ran. A cause is the same in both if the check, the \
         severity, the damage, the interruption and the state of the calls are the same.</p>\n",
    );
    let mut dates: Vec<Change<'_>> = systems.iter().flat_map(Results::changes).collect();
    dates.sort_by(|a, b| (&b.to.date, &a.to.system).cmp(&(&a.to.date, &b.to.system)));
    section(&mut html, "From one date to the next", &dates, "No system has results of two dates yet.");
    let versions = of_versions(systems);
    section(
        &mut html,
        "From one version to the next",
        &versions,
        "No system has results of two versions yet.",
    );
    pages::sheet("Changes", Depth::Top, &html)
}

fn section(html: &mut String, title: &str, changes: &[Change<'_>], nothing: &str) {
    let _ = writeln!(html, "<h2>{title}</h2>");
    if changes.is_empty() {
        let _ = writeln!(html, "<p>{nothing}</p>");
    }
    changes.iter().for_each(|change| html.push_str(&one(change, Depth::Top)));
}

/// One change, with links to the causes.
pub(super) fn one(change: &Change<'_>, depth: Depth) -> String {
    let up = depth.up();
    let Change { from, to, .. } = change;
    let name = |result: &Stored| {
        let page = page_of(&result.system);
        format!("<a href=\"{up}{page}\">{}</a> of {}", escaped(&result.system), result.date)
    };
    let mut html = format!("<section class=\"cause\">\n<p><strong>{}</strong><br>", escaped(&change.words()));
    let _ = writeln!(html, "{} → {}</p>", name(from), name(to));
    if !change.is_fair() {
        let _ = writeln!(
            html,
            "<p class=\"soft\">The first ran {}; the other {}.</p>\n</section>",
            escaped(&from.coverage()),
            escaped(&to.coverage())
        );
        return html;
    }
    html.push_str(&list("New", &change.new, depth));
    html.push_str(&list("Gone", &change.gone, depth));
    let moved = change.moved.iter().map(|(old, new)| {
        let page = page_of_cause(new);
        format!(
            "<li><a href=\"{up}{page}\">{}</a>: {} → {}</li>\n",
            escaped(&new.check),
            thread::words(old),
            thread::words(new)
        )
    });
    let moved: String = moved.collect();
    if !moved.is_empty() {
        let _ = write!(html, "<h3>Public reports</h3>\n<ul>\n{moved}</ul>\n");
    }
    html.push_str("</section>\n");
    html
}

fn list(title: &str, causes: &[&StoredCause], depth: Depth) -> String {
    if causes.is_empty() {
        return String::new();
    }
    let lines = causes.iter().map(|cause| format!("<li>{}</li>\n", pages::line(cause, depth)));
    format!("<h3>{title}</h3>\n<ul>\n{}</ul>\n", lines.collect::<String>())
}
