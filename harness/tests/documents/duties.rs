//! The lists of tasks that the built-in systems leave to the application, from `harness/systems/duties.yaml`.

use brickbat::cli::embedded::catalogue;
use brickbat_scenario::duty::{Duty, Statement};

use super::blocks::table;
use super::*;

/// The tasks that each system leaves to the application, with the sentence of its documentation.
pub fn left() -> String {
    let mut rows: Vec<Vec<String>> = Vec::new();
    for duty in Duty::ALL {
        let mut systems: BTreeMap<&str, (BTreeSet<String>, &Statement)> = BTreeMap::new();
        for manifest in catalogue().manifests() {
            for mode in &manifest.modes {
                let Some(stated) = mode.documented.get(&duty) else { continue };
                let system = systems.entry(&manifest.name).or_insert((BTreeSet::new(), stated));
                system.0.insert(format!("`{}`", mode.name));
            }
        }
        rows.extend(systems.into_iter().map(|(system, (modes, stated))| {
            let modes = modes.into_iter().collect::<Vec<_>>().join(", ");
            vec![format!("`{}`", duty.name()), format!("`{system}`"), modes, linked(stated)]
        }));
    }
    table(&["task", "system", "modes", "its documentation"], rows)
}

/// The repairs that adapters make in the application's place.
pub fn repaired() -> String {
    let mut rows: BTreeMap<(&str, &str), &Statement> = BTreeMap::new();
    for manifest in catalogue().manifests() {
        let repairs = manifest.modes.iter().flat_map(|mode| &mode.adapter_repairs);
        rows.extend(repairs.map(|(repair, stated)| ((manifest.name.as_str(), repair.as_str()), stated)));
    }
    let row = |((system, repair), stated): ((&str, &str), &Statement)| {
        vec![format!("`{system}`"), format!("`{repair}`"), linked(stated)]
    };
    table(&["adapter", "repair", "the documentation that asks for it"], rows.into_iter().map(row))
}

fn linked(Statement { says, at }: &Statement) -> String {
    format!("[{says}]({at})")
}
