//! Entries of `corpora/sessions`, and the files that they name.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use brickbat_rules::Profile;
use brickbat_sessions::{File, Files};
use rusqlite::{Connection, MAIN_DB};
use serde::Deserialize;

/// The content of `<product>/entries.yaml`, which describes the stored sessions next to it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entries {
    schema: u32,
    product: String,
    /// By name.
    sessions: BTreeMap<String, Entry>,
}

/// The description of one stored session.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Entry {
    /// A sentence about the session: the events, or the mistake of a naive reader.
    pub(crate) comment: String,
    /// The public thread.
    pub(crate) source: String,
    /// The version that wrote it, if the store contains it.
    #[serde(default)]
    pub(crate) version: Option<String>,
    /// A class of `corpora/classes.yaml`; a healthy session has none.
    #[serde(default)]
    pub(crate) class: Option<String>,
    /// The file next to the entry. SQL is a database written as text.
    pub(crate) store: String,
    /// The file name that the product uses, for stores that are recognised by it.
    #[serde(default)]
    pub(crate) name: Option<String>,
    /// Files that belong to it.
    #[serde(default)]
    pub(crate) companions: Vec<String>,
    /// The profile of the provider, if not its newest one.
    #[serde(default)]
    pub(crate) profile: Option<String>,
    pub(crate) expect: Expect,
}

/// The expected result.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Expect {
    pub(crate) layer: Layer,
    pub(crate) verdict: String,
    /// The first rule that is broken.
    #[serde(default)]
    pub(crate) rule: Option<String>,
    /// True if the product itself gives up before it sends anything.
    #[serde(default)]
    pub(crate) gives_up: bool,
    /// The number of places that are reported in the store.
    #[serde(default)]
    pub(crate) troubles: usize,
    /// The exit code of `session`.
    pub(crate) exit: u8,
    pub(crate) repair: Mending,
    /// Lines that are put after the one that came before them.
    #[serde(default)]
    pub(crate) reattached: usize,
    /// How many edits of each kind the repair makes.
    #[serde(default)]
    pub(crate) edits: BTreeMap<String, usize>,
    /// The verdict on the repaired session.
    #[serde(default)]
    pub(crate) then: Option<String>,
    /// The exit code of `repair`.
    pub(crate) repair_exit: u8,
}

/// The broken layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Layer {
    None,
    Store,
    Branch,
    Request,
}

/// The result of a repair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Mending {
    Healthy,
    Mended,
    Beyond,
}

/// The list of a product's sessions, in its folder.
const ENTRIES: &str = "entries.yaml";

/// An entry and its place.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    /// The product and the name, such as `claude-code/two-writers`.
    pub(crate) id: String,
    /// The product, which is also the name of the folder.
    pub(crate) product: String,
    pub(crate) name: String,
    pub(crate) entry: Entry,
}

/// The folder of the project.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn corpus() -> PathBuf {
    root().join("corpora/sessions")
}

/// Every entry, in the order of the products and names.
pub(crate) fn all() -> Vec<Case> {
    let lists = files_below(&corpus()).into_iter().filter(|path| path.ends_with(ENTRIES));
    lists.flat_map(|path| cases(&path)).collect()
}

/// The entries of a list.
fn cases(path: &Path) -> Vec<Case> {
    let place = path.display();
    let text = fs::read_to_string(path).unwrap();
    let Entries { schema, product, sessions } =
        serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{place}: {error}"));
    assert_eq!(schema, 1, "{place}");
    assert!(path.parent().unwrap().ends_with(&product), "{place} is in the folder of its product");
    let of_entry =
        |(name, entry)| Case { id: format!("{product}/{name}"), product: product.clone(), name, entry };
    sessions.into_iter().map(of_entry).collect()
}

/// Files of the corpus that no entry names.
pub(crate) fn unclaimed() -> Vec<String> {
    let mut claimed = BTreeSet::new();
    for case in all() {
        let folder = corpus().join(&case.product);
        claimed.insert(folder.join(ENTRIES));
        claimed.insert(folder.join(&case.entry.store));
        claimed.extend(case.entry.companions.iter().map(|name| folder.join(name)));
    }
    let files = files_below(&corpus()).into_iter().filter(|path| !claimed.contains(path));
    files.map(|path| path.display().to_string()).collect()
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    entries.into_iter().flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

impl Case {
    /// True if it is in the corpus because it must not be accused.
    pub(crate) fn is_healthy(&self) -> bool {
        self.name.starts_with("healthy-")
    }

    pub(crate) fn profile(&self) -> Option<&'static Profile> {
        let name = self.entry.profile.as_ref()?;
        Some(Profile::named(name).unwrap_or_else(|| panic!("{}: {name}", self.id)))
    }

    /// The text of the store, as it is kept.
    pub(crate) fn text(&self) -> Vec<u8> {
        fs::read(corpus().join(&self.product).join(&self.entry.store)).unwrap()
    }

    /// The store in its product's form, with its companions.
    pub(crate) fn files(&self) -> Files {
        let mut files = self.files_of(self.text());
        // A store with a name of its own is in a folder of the corpus, which its companions are in too.
        let is_elsewhere = |folder: &str| {
            self.entry.name.as_ref().is_some_and(|name| !name.starts_with(&format!("{folder}/")))
        };
        let folder = self.entry.store.rsplit_once('/').filter(|(folder, _)| is_elsewhere(folder));
        for name in &self.entry.companions {
            let bytes = fs::read(corpus().join(&self.product).join(name)).unwrap();
            let own = folder.and_then(|(folder, _)| name.strip_prefix(folder)?.strip_prefix('/'));
            files.files.push(File { name: own.unwrap_or(name).to_owned(), bytes });
        }
        files
    }

    /// The same with another text of the store.
    pub(crate) fn files_of(&self, text: Vec<u8>) -> Files {
        self.files_with(text).unwrap_or_else(|error| panic!("{}: {error}", self.id))
    }

    /// The same with an error for SQL that makes no database.
    pub(crate) fn files_with(&self, text: Vec<u8>) -> rusqlite::Result<Files> {
        let bytes = match self.entry.store.ends_with(".sql") {
            true => database(&String::from_utf8(text).unwrap())?,
            false => text,
        };
        Ok(Files::one(self.entry.name.as_ref().unwrap_or(&self.entry.store), bytes))
    }
}

/// The database that SQL makes.
fn database(sql: &str) -> rusqlite::Result<Vec<u8>> {
    let mut connection = Connection::open_in_memory()?;
    connection.execute_batch(sql)?;
    Ok(connection.serialize(MAIN_DB)?.to_vec())
}
