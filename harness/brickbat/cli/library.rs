//! The built-in scenarios, and the user's scenarios.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use include_dir::{Dir, include_dir};

use super::embedded::CLASSES;
use super::regular;
use brickbat_drive::runner::Job;
use brickbat_report::classes;
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::lower;
use brickbat_scenario::parse::{self, Diagnostic, MAX_TEXT, did_you_mean};
use brickbat_scenario::plan::PlanId;
use brickbat_scenario::scenario::Scenario;

static BUILT_IN: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/scenarios");
static REQUIREMENTS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/corpora/requirements");

/// A scenario, by the name that the user gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A file.
    File(PathBuf),
    /// A built-in scenario, or all plans whose id begins with this text.
    Prefix(String),
}

impl Source {
    /// The name of a built-in family or scenario takes precedence over the files in the working directory.
    /// Otherwise an existing path is a file or a folder of files, and anything else is the beginning of a
    /// built-in id.
    pub fn of(word: &str) -> Source {
        let path = Path::new(word);
        if path.exists() && !word.is_empty() && !is_built_in(word) {
            Source::File(path.to_owned())
        } else {
            Source::Prefix(word.to_owned())
        }
    }

    /// The path to a file or folder in the working directory that a built-in name hides. `None` if it hides
    /// nothing.
    pub(super) fn hidden(word: &str) -> Option<String> {
        (is_built_in(word) && Path::new(word).exists()).then(|| format!("./{word}"))
    }
}

/// True if a word is the name of a built-in family, such as `kill` or `kill/`, or of a built-in scenario.
fn is_built_in(word: &str) -> bool {
    let name = word.strip_suffix('/').unwrap_or(word);
    let is_it = |id: &str| id.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    !name.is_empty() && built_in().iter().any(|(id, _)| is_it(id))
}

/// The choice of plans.
#[derive(Debug, Clone)]
pub struct Selection<'a> {
    /// The scenarios; if empty, all built-in ones.
    pub sources: &'a [Source],
    pub dialects: &'a [Dialect],
    /// A text that the plan's id must contain.
    pub filter: Option<&'a str>,
    /// The seed for wire ids and markers.
    pub seed: u64,
}

/// The reason why scenarios could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// A scenario contains an error.
    #[error(transparent)]
    Scenario(#[from] Box<Diagnostic>),
    /// A file could not be read.
    #[error("cannot read {}: {source}", .path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    /// A scenario names a class that does not exist.
    #[error("{}: unknown failure class `{class}`\nhint: {hint}", .path.display())]
    UnknownClass { path: PathBuf, class: String, hint: String },
    /// A folder contains no scenario.
    #[error("the directory {} contains no scenario\nhint: the name of a scenario ends in .yaml or .yml", .0.display())]
    Empty(PathBuf),
    /// Two files have the same name, so their plans cannot be distinguished.
    #[error(
        "{} and {} are both called `{id}`\nhint: run them one by one, or rename one of them",
        .paths[0].display(), .paths[1].display()
    )]
    SameName { id: String, paths: [PathBuf; 2] },
    /// There is no such file and no such built-in scenario.
    #[error("`{wanted}` is neither a file nor the beginning of a built-in scenario's id\nhint: {hint}")]
    Unknown { wanted: String, hint: String },
}

/// Loads the chosen plans, in the order of their ids within each source.
pub fn load(selection: &Selection<'_>) -> Result<Vec<Job>, SourceError> {
    let everything = [Source::Prefix(String::new())];
    let sources = if selection.sources.is_empty() { &everything } else { selection.sources };
    let mut jobs: Vec<Job> = Vec::new();
    let mut seen: BTreeMap<PlanId, Option<PathBuf>> = BTreeMap::new();
    for source in sources {
        let found = match source {
            Source::File(path) => from_path(path, selection)?,
            Source::Prefix(prefix) => from_prefix(prefix, selection)?,
        };
        for job in found {
            match seen.get(&job.plan.id) {
                None => {
                    seen.insert(job.plan.id.clone(), job.path.clone());
                    jobs.push(job);
                }
                Some(path) if is_same_file(path.as_deref(), job.path.as_deref()) => {}
                Some(path) => {
                    let paths = [path.clone(), job.path].map(Option::unwrap_or_default);
                    return Err(SourceError::SameName { id: job.plan.id.scenario.clone(), paths });
                }
            }
        }
    }
    jobs.retain(|job| selection.filter.is_none_or(|filter| job.plan.id.to_string().contains(filter)));
    Ok(jobs)
}

/// The failure classes that each built-in scenario covers, by the scenario's id.
pub fn said() -> Result<BTreeMap<String, BTreeSet<String>>, SourceError> {
    let classes = |(id, text): (String, &str)| {
        let variants = parse::parse(&format!("scenarios/{id}.yaml"), text);
        let variants = variants.map_err(Box::new)?;
        Ok((id, variants.into_iter().flat_map(|variant| variant.scenario.class).collect()))
    };
    built_in().into_iter().map(classes).collect()
}

/// One scenario: a file, or a built-in one by its id, such as `abort/mid-batch#k=1`. If no variant is given,
/// the first one.
pub fn one_scenario(word: &str) -> Result<(String, Scenario), SourceError> {
    let (id, variant) = word.split_once('#').map_or((word, None), |(id, variant)| (id, Some(variant)));
    let (name, variants) = match Source::of(id) {
        Source::File(path) => {
            let text = read(&path)?;
            let name = scenario_id(path.file_name().map_or(&path, Path::new));
            (name, variants(id, &text, &|history| beside(&path, history)))
        }
        Source::Prefix(_) => {
            let files = built_in();
            let Some((_, text)) = files.iter().find(|(known, _)| known == id) else {
                return Err(unknown(word, id, &files));
            };
            (id.to_owned(), variants(&format!("scenarios/{id}.yaml"), text, &|path| in_built_in(id, path)))
        }
    };
    let mut variants = variants.map_err(Box::new)?.into_iter();
    let found = variants.find(|one| variant.is_none_or(|wanted| one.name == wanted));
    let found =
        found.ok_or_else(|| SourceError::Unknown { wanted: word.to_owned(), hint: LIST.to_owned() })?;
    Ok((name, found.scenario))
}

/// The variants of a file, with their preloaded histories.
fn variants(file: &str, text: &str, files: lower::Files<'_>) -> Result<Vec<parse::Variant>, Diagnostic> {
    let mut variants = parse::parse(file, text)?;
    variants.iter_mut().try_for_each(|variant| lower::fetch(file, variant, files))?;
    Ok(variants)
}

/// The text of a built-in scenario.
pub(super) fn built_in_text(id: &str) -> Option<&'static str> {
    BUILT_IN.get_file(format!("{id}.yaml"))?.contents_utf8()
}

/// A file next to a built-in scenario.
fn in_built_in(id: &str, path: &str) -> io::Result<String> {
    let folder = id.rsplit_once('/').map_or("", |(folder, _)| folder);
    let file = BUILT_IN.get_file(format!("{folder}/{path}")).and_then(|file| file.contents_utf8());
    file.map(str::to_owned).ok_or_else(|| io::Error::other("there is no such file"))
}

/// True if two plans come from the same file; built-in ones have none.
fn is_same_file(one: Option<&Path>, other: Option<&Path>) -> bool {
    match (one, other) {
        (None, None) => true,
        (Some(one), Some(other)) => one == other || one.canonicalize().ok() == other.canonicalize().ok(),
        _ => false,
    }
}

pub(super) fn built_in() -> Vec<(String, &'static str)> {
    let mut files = Vec::new();
    collect(&BUILT_IN, &mut files);
    files.sort();
    files
}

/// The built-in dated sets of requirements, as names and texts, newest last.
pub(super) fn requirements() -> Vec<(String, &'static str)> {
    let mut sets = Vec::new();
    collect(&REQUIREMENTS, &mut sets);
    sets.sort();
    sets
}

fn collect(folder: &Dir<'static>, files: &mut Vec<(String, &'static str)>) {
    for file in folder.files().filter(|file| file.path().extension().is_some_and(|ending| ending == "yaml")) {
        let id = file.path().with_extension("").to_string_lossy().replace('\\', "/");
        files.push((id, file.contents_utf8().unwrap_or_default()));
    }
    folder.dirs().for_each(|folder| collect(folder, files));
}

fn from_prefix(prefix: &str, selection: &Selection<'_>) -> Result<Vec<Job>, SourceError> {
    // A prefix may reach into the variant and the dialect of a plan.
    let scenario = prefix.split(['#', '@']).next().unwrap_or_default();
    let reaches_in = scenario.len() < prefix.len();
    let mut jobs = Vec::new();
    let files = built_in();
    for (id, text) in &files {
        if !id.starts_with(scenario) || (reaches_in && id != scenario) {
            continue;
        }
        let file = format!("scenarios/{id}.yaml");
        let plans = plans(id, &file, text, selection, &|path| in_built_in(id, path))?;
        jobs.extend(
            plans.into_iter().filter(|plan| plan.id.to_string().starts_with(prefix)).map(built_in_job),
        );
    }
    if jobs.is_empty() {
        return Err(unknown(prefix, scenario, &files));
    }
    Ok(jobs)
}

/// The hint for a name without a similar known name.
const LIST: &str = "`brickbat run --list` shows all plans";

/// The error for an unknown name, with the most similar known name.
fn unknown(wanted: &str, scenario: &str, files: &[(String, &str)]) -> SourceError {
    let distance = |id: &&String| strsim::damerau_levenshtein(id, scenario);
    let guessed = files.iter().map(|(id, _)| id).filter(|_| scenario.len() <= parse::MAX_GUESSED);
    let nearest = guessed.min_by_key(distance);
    let nearest = nearest.filter(|id| 3 * distance(id) <= id.len());
    let hint = nearest.map_or(LIST.to_owned(), |nearest| format!("did you mean `{nearest}`?"));
    SourceError::Unknown { wanted: wanted.to_owned(), hint }
}

fn built_in_job(plan: brickbat_scenario::plan::Plan) -> Job {
    Job { plan: Arc::new(plan), path: None }
}

fn from_path(path: &Path, selection: &Selection<'_>) -> Result<Vec<Job>, SourceError> {
    if !path.is_dir() {
        // An absolute path must not appear in a report, so such a file is known by its name only.
        let known_as = if path.is_absolute() { path.file_name().map_or(path, Path::new) } else { path };
        return from_file(path, &scenario_id(known_as), selection);
    }
    let mut files = Vec::new();
    collect_files(path, &mut files)?;
    if files.is_empty() {
        return Err(SourceError::Empty(path.to_owned()));
    }
    files.sort();
    let id_of = |file: &Path| scenario_id(file.strip_prefix(path).unwrap_or(file));
    let jobs: Result<Vec<Vec<Job>>, SourceError> =
        files.iter().map(|file| from_file(file, &id_of(file), selection)).collect();
    Ok(jobs?.into_iter().flatten().collect())
}

/// The maximum number of files below a folder; a larger suite is run folder by folder.
const MAX_FILES: usize = 10_000;

/// Collects the scenario files below a folder. Links to folders are not followed, because they may form
/// cycles.
fn collect_files(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), SourceError> {
    let failed = |error: io::Error| unreadable(folder, error);
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let path = entry.path();
        if entry.file_type().map_err(failed)?.is_dir() {
            collect_files(&path, files)?;
        } else if path.extension().is_some_and(|ending| ending == "yaml" || ending == "yml") {
            files.push(path);
        }
        if files.len() > MAX_FILES {
            return Err(failed(io::Error::other(format!("it has more than {MAX_FILES} scenarios"))));
        }
    }
    Ok(())
}

fn from_file(path: &Path, id: &str, selection: &Selection<'_>) -> Result<Vec<Job>, SourceError> {
    let text = read(path)?;
    let name = path.to_string_lossy();
    let plans = plans(id, &name, &text, selection, &|history| beside(path, history))?;
    plans.iter().flat_map(|plan| &plan.classes).try_for_each(|class| known_class(path, class))?;
    Ok(plans.into_iter().map(|plan| Job { plan: Arc::new(plan), path: Some(path.to_owned()) }).collect())
}

/// The classes of scenarios that a search has found, as they are written to files.
const OF_SEARCHES: [&str; 3] = ["explored", "fuzzed", brickbat_search::generate::CLASS];

/// Rejects a class that does not exist, because the scenario would be missing in the table of classes.
fn known_class(path: &Path, class: &str) -> Result<(), SourceError> {
    // The built-in catalogue is valid, as a test checks.
    let classes = classes::parse(CLASSES.1, CLASSES.0).unwrap_or_default();
    let known: Vec<&str> = classes.iter().map(|class| class.id.as_str()).chain([classes::CONTROL]).collect();
    if OF_SEARCHES.contains(&class) || known.contains(&class) {
        return Ok(());
    }
    let hint = did_you_mean(class, &known);
    let hint =
        hint.unwrap_or_else(|| "`brickbat classes` lists them; a scenario of your own needs none".to_owned());
    Err(SourceError::UnknownClass { path: path.to_owned(), class: class.to_owned(), hint })
}

/// The text of a scenario file.
fn read(path: &Path) -> Result<String, SourceError> {
    bounded(path).map_err(|error| unreadable(path, error))
}

/// The text of a file, if it is not too large.
fn bounded(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    regular::open(path)?.take(MAX_TEXT as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > MAX_TEXT {
        let words = format!("it is too large: a scenario has at most {MAX_TEXT} bytes");
        return Err(io::Error::other(words));
    }
    String::from_utf8(bytes)
        .map_err(|error| io::Error::other(format!("it is not UTF-8: {}", error.utf8_error())))
}

/// The text of a file named in a scenario. A link that leads out of the scenario's folder is not followed.
fn beside(scenario: &Path, name: &str) -> io::Result<String> {
    let folder = match scenario.parent() {
        Some(folder) if folder != Path::new("") => folder.canonicalize()?,
        _ => Path::new(".").canonicalize()?,
    };
    let file = folder.join(name).canonicalize()?;
    if !file.starts_with(&folder) {
        return Err(io::Error::other("it is outside the scenario's directory"));
    }
    bounded(&file)
}

fn scenario_id(path: &Path) -> String {
    path.with_extension("").to_string_lossy().replace('\\', "/").trim_start_matches("./").to_owned()
}

fn unreadable(path: &Path, source: io::Error) -> SourceError {
    SourceError::Unreadable { path: path.to_owned(), source }
}

fn plans(
    id: &str,
    file: &str,
    text: &str,
    selection: &Selection<'_>,
    files: lower::Files<'_>,
) -> Result<Vec<brickbat_scenario::plan::Plan>, SourceError> {
    lower::plans_with(id, file, text, selection.dialects, selection.seed, files)
        .map_err(|diagnostic| Box::new(diagnostic).into())
}
