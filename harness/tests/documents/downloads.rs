//! The share of downloads that the built-in systems have, from `docs/data/downloads.json`.

use serde::Deserialize;

use super::*;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Downloads {
    #[serde(rename = "schema")]
    _schema: u32,
    /// The selection of packages, in words.
    comment: String,
    /// The day of the registries' lists.
    date: String,
    /// The minimum downloads a month of the listed npm packages.
    least: u64,
    /// The last rank of the listed PyPI packages.
    lowest_rank: u32,
    packages: Vec<Package>,
}

/// An npm package with its downloads, or a PyPI package with its rank.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Package {
    package: String,
    downloads: Option<u64>,
    rank: Option<u32>,
    /// The built-in system that drives its loop.
    system: Option<String>,
    note: Option<String>,
}

/// The minimum share, in percent.
const WANTED: f64 = 90.0;

fn downloads() -> Downloads {
    serde_json::from_str(&read("docs/data/downloads.json")).unwrap()
}

/// The share of the npm downloads that belongs to packages with a system, in percent.
fn share(packages: &[Package]) -> f64 {
    let all: u64 = packages.iter().filter_map(|package| package.downloads).sum();
    let driven: u64 = packages
        .iter()
        .filter(|package| package.system.is_some())
        .filter_map(|package| package.downloads)
        .sum();
    100.0 * driven as f64 / all as f64
}

/// Both tables, with their sums.
pub fn shares() -> String {
    let Downloads { comment, date, packages, .. } = downloads();
    let comment = comment.replace(". ", ".\n");
    let (npm, pypi): (Vec<&Package>, Vec<&Package>) =
        packages.iter().partition(|package| package.downloads.is_some());
    let n_driven = pypi.iter().filter(|package| package.system.is_some()).count();
    let npm_rows = npm.iter().map(|package| row(package, millions(package.downloads.unwrap())));
    let pypi_rows = pypi.iter().map(|package| row(package, package.rank.unwrap().to_string()));
    let npm_table = blocks::table(&["package of npm", "millions a month", "system", "note"], npm_rows);
    let pypi_table = blocks::table(&["package of PyPI", "rank", "system", "note"], pypi_rows);
    format!(
        "\n{comment}\nThe figures are those of the registries' lists of {date}.\n\nThe built-in systems drive the loops of \
         {:.1} % of the downloads from npm:\n\n{npm_table}\nAnd those of {n_driven} of {} packages of PyPI:\n\n{pypi_table}\n",
        share(&packages),
        pypi.len(),
    )
}

fn row(package: &Package, figure: String) -> Vec<String> {
    let system = package.system.as_ref().map_or("none".to_owned(), |name| format!("`{name}`"));
    vec![format!("`{}`", package.package), figure, system, package.note.clone().unwrap_or_default()]
}

fn millions(downloads: u64) -> String {
    format!("{:.1}", downloads as f64 / 1e6)
}

#[test]
fn the_list_of_downloads_names_systems_and_reasons_and_is_sorted() {
    let Downloads { least, lowest_rank, packages, .. } = downloads();
    for Package { package, downloads, rank, system, note } in &packages {
        assert!(downloads.is_some() != rank.is_some(), "{package} has either its downloads or its rank");
        assert!(downloads.is_none_or(|count| count >= least), "{package} has too few downloads");
        assert!(rank.is_none_or(|rank| rank <= lowest_rank), "{package} has too low a rank");
        match system {
            Some(name) => assert!(root().join("harness/systems").join(name).is_dir(), "{package}: no {name}"),
            None => assert!(note.is_some(), "{package} has neither a system nor a reason"),
        }
    }
    let order = |package: &Package| (package.rank, std::cmp::Reverse(package.downloads));
    assert!(packages.is_sorted_by_key(order), "first npm by downloads, then PyPI by rank");
}

#[test]
fn the_systems_drive_nine_tenths_of_the_downloads() {
    assert!(share(&downloads().packages) >= WANTED);
}
