//! Generates the website: an index, and a page for each rule and each profile, in plain HTML without
//! scripts.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::{Counts, Example, Page, of_violation};
use crate::Dialect;
use crate::lint::VectorFile;
use crate::streams::StreamRule;
use crate::{Profile, Rule, Severity};

/// Returns every file of the website by its path. `vectors` are the vector files by the id of their rule,
/// and `counts` are the results from recordings.
pub fn site(vectors: &BTreeMap<String, VectorFile>, counts: &Counts) -> BTreeMap<String, String> {
    let mut site = BTreeMap::from([("index.html".to_owned(), index())]);
    for rule in Rule::all() {
        site.insert(format!("{}.html", rule.id), of_rule(rule, vectors.get(rule.id), counts));
    }
    for rule in StreamRule::all() {
        site.insert(format!("{}.html", rule.id), of_stream_rule(rule));
    }
    for profile in Profile::all() {
        site.insert(path_of(profile), of_profile(profile));
    }
    site
}

/// Returns the path of a profile's page. The `@` in its name is replaced, because it is unusual in a URL.
fn path_of(profile: &Profile) -> String {
    format!("profiles/{}.html", profile.name.replace('@', "-"))
}

fn index() -> String {
    let mut body = String::from(
        "<h1>What providers refuse</h1>\n<p>The rules that providers apply to request bodies, by dialect, in the order in which they are checked.</p>\n",
    );
    for dialect in Dialect::ALL {
        let _ = writeln!(body, "<h2>{dialect}</h2>\n<ul>");
        for rule in Rule::all().filter(|rule| rule.dialect() == dialect) {
            body.push_str(&entry("", rule.id, rule.short_name(), rule.summary));
        }
        body.push_str("</ul>\n<p>Rules of its streams:</p>\n<ul>\n");
        for rule in StreamRule::of(dialect) {
            body.push_str(&entry("", rule.id, rule.short_name(), rule.summary));
        }
        body.push_str("</ul>\n<p>Profiles:");
        for profile in Profile::all().filter(|profile| profile.dialect == dialect) {
            let _ = write!(body, " <a href=\"{}\">{}</a>", path_of(profile), escaped(profile.name));
        }
        body.push_str("</p>\n");
    }
    document("Rules of provider APIs", "", &body)
}

fn of_rule(rule: &'static Rule, vectors: Option<&VectorFile>, counts: &Counts) -> String {
    let page = Page::of(rule, vectors, counts);
    let mut body =
        format!("<h1>{}</h1>\n<p>{} · {}</p>\n", escaped(rule.id), escaped(rule.alias), rule.dialect());
    let _ = writeln!(body, "<p><strong>{}</strong></p>\n<p>{}</p>", code(rule.summary), code(rule.why));
    let _ = writeln!(body, "<h2>What the provider says</h2>\n<p>With status {}:</p>", rule.status);
    let _ = writeln!(body, "<pre>{}</pre>", escaped(&rule.sentences.join("\n")));
    if let Some(envelope) = &page.envelope {
        let _ = writeln!(body, "<pre>{}</pre>", escaped(envelope));
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
    body.push_str("<ul>\n");
    for source in rule.sources {
        let _ = writeln!(body, "<li>{}</li>", link(source));
    }
    body.push_str("</ul>\n");
    document(rule.id, "../", &body)
}

fn of_stream_rule(rule: &StreamRule) -> String {
    let body = format!(
        "<h1>{}</h1>\n<p>A rule of recorded streams of {}.</p>\n<p><strong>{}</strong></p>\n<p>{}</p>\n<ul>\n\
         <li>{}</li>\n</ul>\n",
        escaped(rule.id),
        rule.dialect(),
        code(rule.summary),
        of_violation(rule),
        link(rule.source)
    );
    document(rule.id, "../../", &body)
}

fn of_profile(profile: &'static Profile) -> String {
    let mut body = format!(
        "<h1>{}</h1>\n<p>{}, in the dialect {}.</p>\n",
        escaped(profile.name),
        escaped(profile.provider),
        profile.dialect
    );
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
            body.push_str(&entry("../", rule.id, rule.short_name(), rule.summary));
        }
        body.push_str("</ul>\n");
    }
    document(profile.name, "../", &body)
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
        .map(|profile| format!("<a href=\"../{}\">{}</a>", path_of(profile), escaped(profile.name)))
        .collect();
    let _ = writeln!(body, "<p>{words} {}.</p>", links.join(", "));
}

/// The content security policy: a page may only show its own content.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

fn document(title: &str, up: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>{}</title>\n<style>\n{STYLE}</style>\n\
         </head>\n<body>\n<nav><a href=\"{up}index.html\">All rules</a></nav>\n{body}</body>\n</html>\n",
        escaped(title)
    )
}

const STYLE: &str =
    "body { max-width: 60em; margin: 2em auto; padding: 0 1em; font-family: sans-serif; line-height: 1.5 }
pre { overflow-x: auto; padding: .7em; background: #f3f3f3 }
li { margin: .2em 0 }
.said { font-weight: bold }
@media (prefers-color-scheme: dark) {
  body { color: #ddd; background: #181818 }
  pre { background: #262626 }
  a { color: #8bf }
}
";

/// The entry of a rule in a list. `up` leads from this page to the folder of the dialects.
fn entry(up: &str, id: &str, short_name: &str, summary: &str) -> String {
    let (id, short_name, summary) = (escaped(id), escaped(short_name), code(summary));
    format!("<li><a href=\"{up}{id}.html\">{short_name}</a> {summary}</li>\n")
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

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
