//! The files for programs: the results as JSON, the badges and the feed.

use std::fmt::Write;

use serde::Serialize;
use serde_json::json;

use super::{Results, Stored, badge_of, page_of, slug};
use crate::report::html::escaped;
use brickbat_scenario::verdict::Level;

/// The version of `results.json`.
const SCHEMA: u32 = 1;

/// The results that the feed lists: some weeks of a nightly run that renews a few systems.
const MAX_ENTRIES: usize = 100;

/// `results.json`. Its first field shows that a folder contains a site of Brickbat.
#[derive(Serialize)]
struct AllResults<'a> {
    site: &'static str,
    schema: u32,
    systems: Vec<SystemResults<'a>>,
}

#[derive(Serialize)]
struct SystemResults<'a> {
    system: &'a str,
    /// The name that a README can quote.
    title: String,
    page: String,
    badge: String,
    newest: &'a Stored,
    /// Older results, the newest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    earlier: Vec<Earlier<'a>>,
}

#[derive(Serialize)]
struct Earlier<'a> {
    date: &'a str,
    title: String,
    level: Option<Level>,
    n_causes: usize,
}

/// The results of all systems.
pub(super) fn results(systems: &[Results<'_>]) -> String {
    let all =
        AllResults { site: "brickbat", schema: SCHEMA, systems: systems.iter().map(of_system).collect() };
    serde_json::to_string_pretty(&all).expect("results are JSON") + "\n"
}

fn of_system<'a>(results: &Results<'a>) -> SystemResults<'a> {
    let earlier = |result: &&'a Stored| Earlier {
        date: &result.date,
        title: result.title(),
        level: result.level,
        n_causes: result.n_causes,
    };
    SystemResults {
        system: results.newest().system.as_str(),
        title: results.newest().title(),
        page: page_of(results.system),
        badge: badge_of(results.system),
        newest: results.newest(),
        earlier: results.all.iter().skip(1).map(earlier).collect(),
    }
}

/// The badge of a result, for <https://shields.io/badges/endpoint-badge>.
pub(super) fn badge(result: &Stored) -> String {
    let color = match (result.is_whole(), result.level) {
        (false, _) => "lightgrey",
        (true, None) => "red",
        (true, Some(Level::L0 | Level::L1)) => "orange",
        (true, Some(Level::L2 | Level::L3)) => "yellow",
        (true, Some(Level::L4 | Level::L5)) => "brightgreen",
    };
    let badge = json!({
        "schemaVersion": 1,
        "label": result.label(),
        "message": result.level_words(),
        "color": color,
    });
    serde_json::to_string_pretty(&badge).expect("a badge is JSON") + "\n"
}

/// The newest results as an Atom feed, with the changes since the result before.
pub(super) fn feed(systems: &[Results<'_>], address: Option<&str>) -> String {
    let mut entries: Vec<(&Stored, String)> = Vec::new();
    for results in systems {
        let changes = results.changes().map(|change| change.words());
        let words = changes.map(Some).chain([None]);
        entries.extend(results.all.iter().copied().zip(words.map(Option::unwrap_or_default)));
    }
    entries.sort_by(|(a, _), (b, _)| (&b.date, &a.system).cmp(&(&a.date, &b.system)));
    let updated = entries.first().map_or("1970-01-01", |(newest, _)| &newest.date);
    let base = address.map(|address| format!(" xml:base=\"{}/\"", escaped(address))).unwrap_or_default();
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\"{base}>\n\
         <title>Brickbat results</title>\n<id>{ID}</id>\n<updated>{updated}T00:00:00Z</updated>\n\
         <author><name>Brickbat</name></author>\n<link rel=\"self\" href=\"feed.xml\"/>\n<link href=\"index.html\"/>\n",
    );
    for (result, change) in entries.iter().take(MAX_ENTRIES) {
        let summary = match change.as_str() {
            "" => format!("{}; {}", super::pages::causes_words(result), result.coverage()),
            change => format!("{change}; {}", result.coverage()),
        };
        let _ = write!(
            xml,
            "<entry>\n<title>{}: {}</title>\n<id>{ID}:{}:{}</id>\n<updated>{}T00:00:00Z</updated>\n<link href=\"{}\"/>\n\
             <summary>{}</summary>\n</entry>\n",
            escaped(&result.system),
            escaped(&result.title()),
            slug(&result.system),
            result.date,
            result.date,
            page_of(&result.system),
            escaped(&summary),
        );
    }
    xml.push_str("</feed>\n");
    xml
}

/// The id of the feed, which stays the same wherever it is published.
const ID: &str = "tag:github.com,2026:brickbat/brickbat:results";
