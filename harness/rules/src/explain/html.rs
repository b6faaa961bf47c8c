//! The pages about rules and profiles, in HTML without scripts, and the elements of all pages.

pub(super) mod errors;

use std::collections::BTreeSet;
use std::fmt::Write;

use super::reported::Reports;
use super::said::sentences;
use super::site::{WebPage, entry, title_of};
use super::{Counts, Example, Page, of_violation};
use crate::lint::VectorFile;
use crate::streams::StreamRule;
use crate::{Profile, Rule, Severity};

/// The commands for an error about a history.
const COMMANDS: &str = "<p><code>brickbat check FILE</code> judges a request body, and <code>brickbat check --fix FILE</code> repairs it. \
                        <code>brickbat session</code> judges the sessions that agents have stored, and \
                        <code>brickbat repair FILE</code> repairs a copy of one.</p>\n";

/// The pages of the book about these commands.
const HELP: &[(&str, &str)] = &[
    ("howto/broken-request", "Judge a broken request"),
    ("howto/paste", "Paste a refused request"),
    ("howto/session", "Bring a session back"),
];

/// Returns the path of a profile's page. The `@` in its name is replaced, because it is unusual in a URL.
fn path_of(profile: &Profile) -> String {
    format!("profiles/{}", profile.name.replace('@', "-"))
}

pub(super) fn of_rule(
    rule: &'static Rule,
    vectors: Option<&VectorFile>,
    counts: &Counts,
    reports: &Reports,
) -> WebPage {
    let page = Page::of(rule, vectors, counts);
    let mut body = format!(
        "<p><code>{}</code> · {} · {}</p>\n<p><strong>{}</strong></p>\n<p>{}</p>\n",
        escaped(rule.id),
        escaped(rule.alias),
        rule.dialect(),
        code(rule.summary),
        code(rule.why)
    );
    body.push_str(COMMANDS);
    let _ = writeln!(body, "<h2>What the provider says</h2>\n<p>With status {}:</p>", rule.status);
    let _ = writeln!(body, "<pre>{}</pre>", escaped(&rule.sentences.join("\n")));
    if let Some(envelope) = &page.envelope {
        let _ = writeln!(body, "<pre>{}</pre>", escaped(envelope));
    }
    let said: BTreeSet<&str> = rule.sentences.iter().copied().collect();
    let of_profiles: BTreeSet<&str> = sentences(rule).filter(|sentence| !said.contains(sentence)).collect();
    if !of_profiles.is_empty() {
        let of_profiles: Vec<&str> = of_profiles.into_iter().collect();
        let _ = writeln!(body, "<p>Other profiles:</p>\n<pre>{}</pre>", escaped(&of_profiles.join("\n")));
    }
    example(&mut body, "Before", page.before.as_ref());
    example(&mut body, "After", page.after.as_ref());
    let (place, n_rules) = page.order;
    let _ = writeln!(
        body,
        "<h2>How it is known</h2>\n<p>Check {place} of {n_rules}, in phase {}. First seen {}, {}.</p>",
        rule.phase,
        escaped(rule.since),
        escaped(page.confidence())
    );
    let _ = writeln!(body, "<p>Known from: {}.</p>", page.known_from());
    page.recorded.iter().for_each(|words| {
        let _ = writeln!(body, "<p>Recordings: {}.</p>", escaped(words));
    });
    let _ = writeln!(body, "<p>Models: {}.</p>", code(page.models()));
    if !page.hosts.is_empty() {
        let _ = writeln!(body, "<p>Hosts: {}.</p>", escaped(&page.hosts.join(", ")));
    }
    profiles(&mut body, "Enforced by", &page.enforced);
    profiles(&mut body, "Tolerated by", &page.tolerated);
    profiles(&mut body, "Unknown to", &page.lacking);
    sources(&mut body, rule.sources);
    let mut same = reports.iter().filter(|own| own.rule.as_deref() == Some(rule.id)).peekable();
    if same.peek().is_some() {
        body.push_str("<h2>Other texts about the same fault</h2>\n<ul>\n");
        let pages = same.map(errors::of_reported);
        body.extend(pages.map(|page| entry("../", &page.path, &page.title, &page.note)));
        body.push_str("</ul>\n");
    }
    WebPage {
        path: rule.id.to_owned(),
        title: title_of(rule.sentences.first().unwrap_or(&rule.summary)),
        distinction: rule.id.to_owned(),
        note: format!("<code>{}</code> {}", escaped(rule.short_name()), code(rule.summary)),
        body,
        help: HELP,
    }
}

pub(super) fn of_stream_rule(rule: &'static StreamRule) -> WebPage {
    let mut body = format!(
        "<p>A rule of recorded streams of {}.</p>\n<p><strong>{}</strong></p>\n<p>{}</p>\n\
         <p><code>brickbat check --stream FILE</code> judges a recorded stream.</p>\n",
        rule.dialect(),
        code(rule.summary),
        of_violation(rule)
    );
    sources(&mut body, &[rule.source]);
    WebPage {
        path: rule.id.to_owned(),
        title: rule.id.to_owned(),
        distinction: String::new(),
        note: code(rule.summary),
        body,
        help: &HELP[..1],
    }
}

pub(super) fn of_profile(profile: &'static Profile) -> WebPage {
    let provider = format!("{}, in the dialect {}.", escaped(profile.provider), profile.dialect);
    let mut body = format!("<p>{provider}</p>\n");
    let lists = [
        ("Refuses requests that break", Some(Severity::Error)),
        ("Accepts, with a warning from Brickbat", Some(Severity::Warning)),
        ("Does not have", None),
    ];
    for (words, severity) in lists {
        let is_meant = |rule: &&Rule| rule.dialect() == profile.dialect && profile.severity(rule) == severity;
        let rules: Vec<&Rule> = Rule::all().filter(is_meant).collect();
        if rules.is_empty() {
            continue;
        }
        let _ = writeln!(body, "<h2>{words}</h2>\n<ul>");
        for rule in rules {
            body.push_str(&entry("../", rule.id, rule.short_name(), &code(rule.summary)));
        }
        body.push_str("</ul>\n");
    }
    WebPage {
        path: path_of(profile),
        title: profile.name.to_owned(),
        distinction: String::new(),
        note: provider,
        body,
        help: &[],
    }
}

fn example(body: &mut String, name: &str, example: Option<&Example>) {
    let Some(Example { comment, lines, said }) = example else { return };
    let _ = writeln!(body, "<h2>{name}</h2>\n<p>{}</p>", code(comment));
    let _ =
        writeln!(body, "<pre>{}</pre>\n<p class=\"said\">{}</p>", escaped(&lines.join("\n")), escaped(said));
}

fn profiles(body: &mut String, words: &str, profiles: &[&Profile]) {
    if profiles.is_empty() {
        return;
    }
    let links: Vec<String> = profiles
        .iter()
        .map(|profile| format!("<a href=\"../{}.html\">{}</a>", path_of(profile), escaped(profile.name)))
        .collect();
    let _ = writeln!(body, "<p>{words} {}.</p>", links.join(", "));
}

/// Lists where an error is known from.
fn sources<S: AsRef<str>>(body: &mut String, sources: &[S]) {
    if sources.is_empty() {
        return;
    }
    body.push_str("<h2>Sources</h2>\n<ul>\n");
    for source in sources {
        let _ = writeln!(body, "<li>{}</li>", link(source.as_ref()));
    }
    body.push_str("</ul>\n");
}

/// Formats a source. A URL becomes a link.
fn link(source: &str) -> String {
    let text = escaped(source);
    if source.starts_with("https://") && !source.contains(char::is_whitespace) {
        format!("<a href=\"{text}\">{text}</a>")
    } else {
        text
    }
}

/// Formats a text with `code` in backticks.
fn code(text: &str) -> String {
    let mut html = String::new();
    let n_ticks = text.matches('`').count();
    for (index, part) in text.split('`').enumerate() {
        match (index % 2, index == n_ticks) {
            (0, _) => html.push_str(&escaped(part)),
            // A backtick without a partner stays as it is.
            (_, true) => {
                html.push('`');
                html.push_str(&escaped(part));
            }
            _ => {
                let _ = write!(html, "<code>{}</code>", escaped(part));
            }
        }
    }
    html
}

pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
