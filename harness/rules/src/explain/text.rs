//! Formats a page as text for a terminal.

use std::fmt::Write;

use super::{Counts, Example, Page, of_violation};
use crate::lint::VectorFile;
use crate::streams::StreamRule;
use crate::{Profile, Rule};

/// Returns the page of a rule. `vectors` are its vectors, and `counts` are the results from recordings.
pub fn text(rule: &'static Rule, vectors: Option<&VectorFile>, counts: &Counts) -> String {
    let page = Page::of(rule, vectors, counts);
    let Rule { id, alias, summary, why, status, since, phase, .. } = rule;
    let mut text = format!("{id} ({alias})\n\n{summary}\n{why}\n");
    let _ = writeln!(text, "\nThe provider says, with status {status}:");
    rule.sentences.iter().for_each(|sentence| {
        let _ = writeln!(text, "  {sentence}");
    });
    if let Some(envelope) = &page.envelope {
        envelope.lines().for_each(|line| {
            let _ = writeln!(text, "    {line}");
        });
    }
    example(&mut text, "Before", page.before.as_ref());
    example(&mut text, "After", page.after.as_ref());
    let (place, n_rules) = page.order;
    let _ = writeln!(text, "\nOrder of checks: {place} of {n_rules}, in phase {phase}.");
    let _ = writeln!(text, "First seen {since}, {}.", page.confidence());
    let _ = writeln!(text, "Known from: {}.", page.known_from());
    page.recorded.iter().for_each(|words| {
        let _ = writeln!(text, "Recordings: {words}.");
    });
    let _ = writeln!(text, "Models: {}.", page.models());
    if !page.hosts.is_empty() {
        let _ = writeln!(text, "Hosts: {}.", page.hosts.join(", "));
    }
    profiles(&mut text, "Enforced by", &page.enforced);
    profiles(&mut text, "Tolerated by", &page.tolerated);
    profiles(&mut text, "Unknown to", &page.lacking);
    text.push_str("\nSources:\n");
    rule.sources.iter().for_each(|source| {
        let _ = writeln!(text, "  {source}");
    });
    text
}

/// Returns the page of a stream rule.
pub fn stream_text(rule: &StreamRule) -> String {
    let StreamRule { id, summary, source, .. } = rule;
    let dialect = rule.dialect();
    let violation = of_violation(rule);
    format!(
        "{id}\n\n{summary}\n\n`brickbat check --stream` checks recorded streams of {dialect} against this rule.\n{violation}\n\n\
         Source:\n  {source}\n"
    )
}

fn example(text: &mut String, name: &str, example: Option<&Example>) {
    let Some(Example { comment, lines, said }) = example else { return };
    let _ = writeln!(text, "\n{name}: {comment}");
    lines.iter().for_each(|line| {
        let _ = writeln!(text, "  {line}");
    });
    let _ = writeln!(text, "  => {said}");
}

fn profiles(text: &mut String, words: &str, profiles: &[&Profile]) {
    if !profiles.is_empty() {
        let names: Vec<&str> = profiles.iter().map(|profile| profile.name).collect();
        let _ = writeln!(text, "{words}: {}.", names.join(", "));
    }
}
