//! The website about errors, as HTML files and as chapters for mdBook.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::html::{errors, escaped, of_profile, of_rule, of_stream_rule};
use super::reported::{Reports, Subject};
use super::said::parts;
use super::{CLIENT_ERRORS, Counts, neighbours};
use crate::ids::hash;
use crate::lint::VectorFile;
use crate::streams::StreamRule;
use crate::{Dialect, Profile, Rule};

/// A page.
pub(super) struct WebPage {
    /// The path without its extension.
    pub(super) path: String,
    /// The text of the error, or the name.
    pub(super) title: String,
    /// The difference from pages with the same title. Empty if there is none.
    pub(super) distinction: String,
    /// A line about the page for lists, in HTML.
    pub(super) note: String,
    /// The HTML below the title.
    pub(super) body: String,
    /// The pages of the book that help with such an error.
    pub(super) help: &'static [(&'static str, &'static str)],
}

/// A list of pages, which is a page too.
struct Group {
    index: WebPage,
    pages: Vec<WebPage>,
}

/// Returns every file of the website by its path. `vectors` are the vector files by the id of their rule,
/// and `counts` are the results from recordings.
pub fn site(vectors: &BTreeMap<String, VectorFile>, counts: &Counts) -> BTreeMap<String, String> {
    let (index, groups) = all(vectors, counts);
    pages(&index, &groups).map(|page| (format!("{}.html", page.path), document(page))).collect()
}

/// Returns the same pages as files for the folder `errors` of an mdBook, and `SUMMARY.md`, which lists them.
pub fn chapters(vectors: &BTreeMap<String, VectorFile>, counts: &Counts) -> BTreeMap<String, String> {
    let (index, groups) = all(vectors, counts);
    let mut files: BTreeMap<String, String> =
        pages(&index, &groups).map(|page| (format!("{}.md", page.path), chapter(page))).collect();
    let mut summary = String::new();
    let mut entry = |indent: &str, page: &WebPage| {
        let _ = writeln!(summary, "{indent}- [{}]({}.md)", markdown(&page.name()), page.path);
    };
    entry("", &index);
    for group in &groups {
        entry("  ", &group.index);
        group.pages.iter().for_each(|page| entry("    ", page));
    }
    files.insert("SUMMARY.md".to_owned(), summary);
    files
}

fn pages<'a>(index: &'a WebPage, groups: &'a [Group]) -> impl Iterator<Item = &'a WebPage> {
    let of_groups = groups.iter().flat_map(|group| [&group.index].into_iter().chain(&group.pages));
    [index].into_iter().chain(of_groups)
}

/// The first page and the others.
fn all(vectors: &BTreeMap<String, VectorFile>, counts: &Counts) -> (WebPage, Vec<Group>) {
    let reports = Reports::all();
    let mut groups: Vec<Group> = Dialect::ALL
        .into_iter()
        .map(|dialect| {
            let of_bodies = Rule::all().filter(|rule| rule.dialect() == dialect);
            let of_bodies = of_bodies.map(|rule| of_rule(rule, vectors.get(rule.id), counts, &reports));
            let profiles = Profile::all().filter(|profile| profile.dialect == dialect).map(of_profile);
            let pages = of_bodies.chain(StreamRule::of(dialect).map(of_stream_rule)).chain(profiles);
            let intro = "The errors with which the provider refuses a request body, in the order in which it checks them; the rules of \
                         its streams; and the profiles.";
            Group::new(dialect.name(), &format!("Errors of {dialect}"), intro, pages.collect())
        })
        .collect();
    for (subject, title, intro) in SUBJECTS {
        let mut pages: Vec<WebPage> = match subject {
            Subject::Client => CLIENT_ERRORS.iter().map(errors::of_client).collect(),
            Subject::Neighbour => neighbours::NEIGHBOURS.iter().map(errors::of_neighbour).collect(),
            Subject::History | Subject::Frame => Vec::new(),
        };
        pages.extend(reports.iter().filter(|own| own.about == subject).map(errors::of_reported));
        groups.push(Group::new(errors::folder(subject), title, intro, pages));
    }
    distinguish(&mut groups);
    groups.iter_mut().for_each(Group::list);
    let mut index = WebPage::index(
        "index",
        "Error messages",
        "The errors of providers, SDKs and clients, with their meaning and what to do. A part that \
         varies, such as an id, is shown as ….",
    );
    list(&mut index, groups.iter().map(|group| &group.index));
    (index, groups)
}

const SUBJECTS: [(Subject, &str, &str); 4] = [
    (
        Subject::Client,
        "Errors of SDKs and clients",
        "SDKs, agents and other clients report these errors themselves.",
    ),
    (
        Subject::History,
        "Further errors about the history",
        "Providers and servers that Brickbat has no profile for refuse a history with these errors.",
    ),
    (
        Subject::Neighbour,
        "Errors that are not about the history",
        "These errors are about length, limits, keys, parameters, offered tools and the like.",
    ),
    (
        Subject::Frame,
        "Texts without a cause",
        "Gateways and clients pass on a refusal with these texts, which do not contain the reason.",
    ),
];

impl Group {
    fn new(folder: &str, title: &str, intro: &str, pages: Vec<WebPage>) -> Group {
        Group { index: WebPage::index(&format!("{folder}/index"), title, intro), pages }
    }

    /// Writes the list of the pages into the index.
    fn list(&mut self) {
        list(&mut self.index, self.pages.iter());
    }
}

impl WebPage {
    fn index(path: &str, title: &str, intro: &str) -> WebPage {
        WebPage {
            path: path.to_owned(),
            title: title.to_owned(),
            distinction: String::new(),
            note: escaped(intro),
            body: format!("<p>{}</p>\n", escaped(intro)),
            help: &[],
        }
    }

    /// The name, which no other page has.
    fn name(&self) -> String {
        let WebPage { title, distinction, .. } = self;
        if distinction.is_empty() { title.clone() } else { format!("{title} ({distinction})") }
    }

    /// The way from this page to the folder of the website.
    fn up(&self) -> String {
        "../".repeat(self.path.matches('/').count())
    }
}

fn list<'a>(index: &mut WebPage, pages: impl Iterator<Item = &'a WebPage>) {
    let up = index.up();
    index.body.push_str("<ul>\n");
    index.body.extend(pages.map(|page| entry(&up, &page.path, &page.name(), &page.note)));
    index.body.push_str("</ul>\n");
}

/// The entry of a page in a list. `up` leads from the list to the folder of the website, and the note is HTML.
pub(super) fn entry(up: &str, path: &str, title: &str, note: &str) -> String {
    format!("<li><a href=\"{up}{path}.html\">{}</a><br>{note}</li>\n", escaped(title))
}

/// Leaves a distinction only where a title is that of several pages.
fn distinguish(groups: &mut [Group]) {
    let (mut seen, mut doubled) = (BTreeSet::new(), BTreeSet::new());
    for page in groups.iter().flat_map(|group| &group.pages) {
        if !seen.insert(page.title.to_lowercase()) {
            doubled.insert(page.title.to_lowercase());
        }
    }
    for page in groups.iter_mut().flat_map(|group| &mut group.pages) {
        if !doubled.contains(&page.title.to_lowercase()) {
            page.distinction.clear();
        }
    }
}

/// The maximum number of letters of the words in a file's name. Longer names are cut by some file systems.
const MAX_NAME: usize = 60;

/// Returns the name of the file about a text. It depends only on the text, so it stays the same when others are added.
pub(super) fn file_name(text: &str) -> String {
    let mut name = String::new();
    for word in text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()) {
        if name.len() + word.len() > MAX_NAME {
            break;
        }
        let _ = write!(name, "{}-", word.to_ascii_lowercase());
    }
    format!("{name}{:06x}", hash(text.as_bytes()) & 0xff_ffff)
}

/// Returns a sentence as a title: with `…` for each placeholder, except at its beginning.
pub(super) fn title_of(sentence: &str) -> String {
    let (fixed, _) = parts(sentence);
    let text = fixed.join("…").split_whitespace().collect::<Vec<_>>().join(" ");
    let title = match text.strip_prefix('…') {
        Some(rest) => rest.trim_start_matches(['…', ':', '.', ' ']),
        None => &text,
    };
    if title.is_empty() { sentence.to_owned() } else { title.to_owned() }
}

/// The content security policy: a page may only show its own content.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

fn document(page: &WebPage) -> String {
    let (name, title, up) = (escaped(&page.name()), escaped(&page.title), page.up());
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>{name}</title>\n<style>\n{STYLE}</style>\n\
         </head>\n<body>\n<nav><a href=\"{up}index.html\">All errors</a></nav>\n<h1>{title}</h1>\n{}</body>\n</html>\n",
        page.body
    )
}

const STYLE: &str =
    "body { max-width: 60em; margin: 2em auto; padding: 0 1em; font-family: sans-serif; line-height: 1.5 }
h1 { font-size: 1.4em }
pre { overflow-x: auto; padding: .7em; background: #f3f3f3 }
li { margin: .2em 0 }
.said { font-weight: bold }
@media (prefers-color-scheme: dark) {
  body { color: #ddd; background: #181818 }
  pre { background: #262626 }
  a { color: #8bf }
}
";

/// A page as Markdown: HTML, which contains every text as it is. mdBook indexes a heading only if it has an id.
fn chapter(page: &WebPage) -> String {
    let mut text = format!("<h1 id=\"error\">{}</h1>\n{}", escaped(&page.title), page.body);
    if !page.help.is_empty() {
        let up = page.up();
        let links: Vec<String> = page
            .help
            .iter()
            .map(|(path, title)| format!("<a href=\"{up}../{path}.html\">{title}</a>"))
            .collect();
        let _ = writeln!(text, "<p>See also: {}.</p>", links.join(", "));
    }
    // A blank line ends HTML in Markdown, except in `<pre>` that follows one. Two braces are commands of mdBook. Its search
    // shows the title again for each further heading of the levels 1 to 3.
    text.replace("<h2>", "<h4>")
        .replace("</h2>", "</h4>")
        .replace("<pre>", "\n<pre><code class=\"language-text\">")
        .replace("</pre>", "</code></pre>\n")
        .replace("{{", "&#123;&#123;")
}

/// Escapes a text for Markdown.
fn markdown(text: &str) -> String {
    let escape = |c: char| if c.is_ascii_punctuation() { format!("\\{c}") } else { c.to_string() };
    text.chars().map(escape).collect()
}
