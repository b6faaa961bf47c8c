//! The filters that names refer to: the built-in ones, and functions in Brickbat itself.

use std::path::Path;

use crate::cli::embedded::filters;
use crate::cli::error::CliError;
use brickbat_drive::driver::FilterManifest;
use brickbat_filter_suite::{Filter, Mode, planted};

/// A filter, and its modes to judge.
pub(super) struct Chosen {
    /// The name with the version.
    pub(super) name: String,
    /// The modes to judge.
    pub(super) modes: Vec<Mode>,
    /// All its modes; one of them may convert back.
    pub(super) all: Vec<Mode>,
    /// The manifest used to install and start it; none for a function in Brickbat itself.
    pub(super) manifest: Option<FilterManifest>,
}

impl Chosen {
    fn of(manifest: &FilterManifest, mode: Option<&str>) -> Chosen {
        let is_meant = |known: &&Mode| mode.is_none_or(|mode| known.name == mode);
        Chosen {
            name: manifest.full_name(),
            modes: manifest.modes.iter().filter(is_meant).cloned().collect(),
            all: manifest.modes.clone(),
            manifest: Some(manifest.clone()),
        }
    }
}

/// The filters with these names; without names, all built-in ones.
pub(super) fn chosen(names: &[String]) -> Result<Vec<Chosen>, CliError> {
    let built_in = filters().manifests();
    if names.is_empty() {
        let own = planted::own().into_iter().map(|own| of_own(own.name, own));
        return Ok(own.chain(built_in.iter().map(|manifest| Chosen::of(manifest, None))).collect());
    }
    let mut chosen = Vec::new();
    for wanted in names {
        if let Some(own) = planted::named(wanted) {
            chosen.push(of_own(wanted, own));
            continue;
        }
        let (name, mode) =
            wanted.split_once('/').map_or((wanted.as_str(), None), |(name, mode)| (name, Some(mode)));
        let (name, version) =
            name.split_once('@').map_or((name, None), |(name, version)| (name, Some(version)));
        let is_meant = |manifest: &&FilterManifest| {
            manifest.name == name && version.is_none_or(|version| manifest.version == version)
        };
        // A name without a version refers to the first version.
        let found = built_in.iter().find(is_meant).map(|manifest| Chosen::of(manifest, mode));
        match found.filter(|found| !found.modes.is_empty()) {
            Some(found) => chosen.push(found),
            None => return Err(unknown(wanted, built_in)),
        }
    }
    Ok(chosen)
}

/// The filters of the user's manifest, in their first version.
pub(super) fn of_manifest(path: &Path) -> Result<Vec<Chosen>, CliError> {
    let manifests = FilterManifest::read(path)?;
    Ok(manifests.first().map(|manifest| Chosen::of(manifest, None)).into_iter().collect())
}

/// The function behind one of Brickbat's own filters.
pub(super) fn function(name: &str) -> Result<Box<dyn Filter>, CliError> {
    let own = planted::named(name).ok_or_else(|| CliError::input(format!("there is no filter `{name}`")))?;
    Ok((own.filter)())
}

fn of_own(name: &str, own: &planted::Own) -> Chosen {
    let modes = (own.modes)();
    Chosen { name: name.to_owned(), all: modes.clone(), modes, manifest: None }
}

fn unknown(wanted: &str, built_in: &[FilterManifest]) -> CliError {
    let names = built_in.iter().map(FilterManifest::full_name);
    let own = planted::own().into_iter().map(|own| own.name.to_owned());
    let names: Vec<String> = own.chain(names).collect();
    let known: Vec<&str> = names.iter().map(String::as_str).collect();
    let hint = brickbat_scenario::parse::did_you_mean(wanted, &known);
    let hint = hint.unwrap_or_else(|| "`brickbat filters --list` lists them".to_owned());
    CliError::input(format!("there is no filter `{wanted}`\nhint: {hint}"))
}
