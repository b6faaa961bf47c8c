//! Checks that the known filter bugs still occur.

use super::named::Chosen;
use crate::cli::embedded::bugs_of_filters;
use crate::cli::error::{CliError, Outcome, UNJUDGED};
use crate::cli::launch::own_program;
use crate::cli::output::{print, tell};
use brickbat_drive::driver::install::cache_folder;
use brickbat_drive::driver::{FilterManifest, FilterProcess};
use brickbat_filter_suite::{Bug, Filter};
use tokio::runtime::Runtime;

/// The exit code when a bug no longer occurs, so that its file and the page are out of date.
const OUT_OF_DATE: u8 = 1;

/// Runs the input of each known bug in these filters, and reports whether the bug still occurs.
pub(super) fn execute(chosen: &[Chosen], runtime: &Runtime) -> Outcome {
    let bugs = bugs_of_filters();
    let (mut n_shown, mut n_gone, mut n_unjudged) = (0_usize, 0_usize, 0_usize);
    for manifest in chosen.iter().filter_map(|chosen| chosen.manifest.as_ref()) {
        let is_ours = |bug: &Bug| bug.filter == manifest.name && bug.version == manifest.version;
        let ours: Vec<_> = bugs.iter().filter(|(_, bug)| is_ours(bug)).collect();
        if ours.is_empty() {
            continue;
        }
        match ask(manifest, &ours, runtime) {
            Ok(answers) => {
                for ((place, _), is_shown) in ours.iter().zip(answers) {
                    print(&format!("{} {place}\n", if is_shown { "shown" } else { "gone " }));
                    n_shown += usize::from(is_shown);
                    n_gone += usize::from(!is_shown);
                }
            }
            Err(error) => {
                n_unjudged += ours.len();
                tell(format!("{} could not be run:", manifest.full_name()));
                error.report();
            }
        }
    }
    print(&format!("{n_shown} shown, {n_gone} gone, {n_unjudged} not run\n"));
    Ok(match (n_gone, n_unjudged) {
        (0, 0) => 0,
        (0, _) => UNJUDGED,
        _ => OUT_OF_DATE,
    })
}

/// Each bug, with true if the filter still has it.
fn ask(manifest: &FilterManifest, bugs: &[&(String, Bug)], runtime: &Runtime) -> Result<Vec<bool>, CliError> {
    let (cache, supervisor) = (cache_folder()?, own_program()?);
    let note = |words: &str| tell(words);
    let mut filter = FilterProcess::prepare(manifest, (&cache, &supervisor), runtime.handle().clone(), &note)
        .map_err(CliError::start)?;
    let mut shown = Vec::new();
    for (place, bug) in bugs {
        let route = bug.route(&manifest.modes);
        let route = route.ok_or_else(|| CliError::input(format!("{place}: no such mode")))?;
        let said = filter.ask(&[bug.asked(&route)]).map_err(CliError::start)?;
        shown.push(said.iter().all(|said| bug.is_shown(&route, said)));
    }
    Ok(shown)
}
