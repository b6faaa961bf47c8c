//! A static site of stored results: the level of each system, the causes with their public reports, the changes between two
//! dates, badges and a feed.
//!
//! It is made only of dated results ([`Stored`]), so the same results give the same files.

mod changes;
mod fixed;
mod machine;
mod map;
mod pages;
mod stored;
mod table;
mod thread;

use std::collections::BTreeMap;

pub use stored::{MAX_BYTES, Step, Stored, StoredCause, StoredError};

use changes::Change;

/// A file of the site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiteFile {
    /// The path below the folder of the site, such as `systems/ai-sdk-7.0.173-ui-messages.html`.
    pub path: String,
    /// The text.
    pub text: String,
}

impl SiteFile {
    fn new(path: impl Into<String>, text: String) -> SiteFile {
        SiteFile { path: path.into(), text }
    }
}

/// The file that shows that a folder contains such a site.
pub const MARK: &str = "results.json";

/// The beginning of this file.
pub const MARK_TEXT: &str = "{\n  \"site\": \"brickbat\",\n";

/// The results of one system, the newest first. There is at least one.
struct Results<'a> {
    system: &'a str,
    all: Vec<&'a Stored>,
}

/// A cause, with the newest result that has it.
struct Seen<'a> {
    cause: &'a StoredCause,
    result: &'a Stored,
    /// The newest result of the system.
    newest: &'a Stored,
    /// The days of the results that have it, the newest first.
    dates: Vec<&'a str>,
}

impl<'a> Results<'a> {
    fn newest(&self) -> &'a Stored {
        self.all[0]
    }

    fn page(&self) -> String {
        page_of(self.system)
    }

    /// The changes from each result to the next one, the newest first.
    fn changes(&self) -> impl Iterator<Item = Change<'a>> {
        self.all.windows(2).map(|pair| Change::of(pair[1], pair[0]))
    }

    /// Every cause that a result has, those of the newest result first.
    fn causes(&self) -> Vec<Seen<'a>> {
        let mut seen: Vec<Seen<'a>> = Vec::new();
        for result in &self.all {
            for cause in &result.causes {
                match seen.iter_mut().find(|known| known.cause.id == cause.id) {
                    Some(known) => known.dates.push(&result.date),
                    None => {
                        let dates = vec![result.date.as_str()];
                        seen.push(Seen { cause, result, newest: self.newest(), dates });
                    }
                }
            }
        }
        seen
    }
}

/// The files of the site. `address` is where it will be published, for texts to copy into a README.
#[must_use]
pub fn build(results: &[Stored], address: Option<&str>) -> Vec<SiteFile> {
    let mut by_system: BTreeMap<&str, Vec<&Stored>> = BTreeMap::new();
    for result in results {
        by_system.entry(&result.system).or_default().push(result);
    }
    let systems: Vec<Results<'_>> = by_system
        .into_iter()
        .map(|(system, mut all)| {
            all.sort_by(|a, b| b.date.cmp(&a.date));
            Results { system, all }
        })
        .collect();
    let mut files = vec![
        SiteFile::new("index.html", pages::overview(&systems)),
        SiteFile::new("changes.html", changes::page(&systems)),
        SiteFile::new("fixed.html", fixed::page(&systems)),
        SiteFile::new("properties.html", map::page()),
        SiteFile::new(MARK, machine::results(&systems)),
        SiteFile::new("feed.xml", machine::feed(&systems, address)),
    ];
    for system in &systems {
        files.push(SiteFile::new(system.page(), pages::system(system, address)));
        files.push(SiteFile::new(badge_of(system.system), machine::badge(system.newest())));
        let pages = system.causes();
        files.extend(pages.iter().map(|seen| SiteFile::new(page_of_cause(seen.cause), pages::cause(seen))));
    }
    files
}

/// The name of a system as the name of a file. It has no `@`, because a name with one looks like an e-mail address.
#[must_use]
pub fn slug(system: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    system.chars().map(|c| if is_plain(c) { c } else { '-' }).collect()
}

fn page_of(system: &str) -> String {
    format!("systems/{}.html", slug(system))
}

fn badge_of(system: &str) -> String {
    format!("badges/{}.json", slug(system))
}

fn page_of_cause(cause: &StoredCause) -> String {
    format!("causes/{}.html", cause.id)
}

#[cfg(test)]
mod tests;
