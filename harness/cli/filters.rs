//! `brickbat filters`.

mod known;
mod named;
mod text;

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use super::embedded::vectors_by_file;
use super::error::{CliError, Outcome, UNJUDGED};
use super::launch::own_program;
use super::options::{TextOrJson, dialect};
use super::output::{print, print_json, print_plain, tell};
use brickbat_drive::driver::FilterProcess;
use brickbat_drive::driver::install::cache_folder;
use brickbat_filter_suite::{Filter, Input, Mode, Route, RouteReport, run};
use brickbat_rules::dialect::Dialect;

use named::Chosen;

/// Judge filters: programs and functions that take a history in and give one out.
///
/// A filter is a repairer, a trimmer, a compactor, a converter or a gateway. It is given valid histories, and what it says
/// that it mends; what comes out is held against the rules of the provider that gets it, and against what went in. Each
/// cause is printed once, with the smallest history that shows it.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Filters {
    /// The filter, such as `turnsafe`, `turnsafe@0.1.0` or `turnsafe/repair`; all that are built in by default. May be
    /// repeated.
    #[arg(long = "filter", value_name = "NAME")]
    filters: Vec<String>,
    /// A manifest of your own.
    #[arg(long, value_name = "FILE", conflicts_with = "filters")]
    manifest: Option<PathBuf>,
    /// Only histories of this dialect. May be repeated.
    #[arg(long = "dialect", value_name = "DIALECT", value_parser = dialect)]
    dialects: Vec<Dialect>,
    /// How many histories of each kind are generated, besides the vectors.
    #[arg(long, value_name = "N", default_value_t = 200)]
    histories: u64,
    /// The seed of the generated histories.
    #[arg(long, value_name = "S", default_value_t = 0)]
    seed: u64,
    /// List the filters, and judge nothing.
    #[arg(long)]
    list: bool,
    /// Ask again only for what is known of built-in filters: each bug of `corpora/filters` has to show still.
    #[arg(long, conflicts_with_all = ["list", "manifest", "dialects"])]
    known: bool,
    /// The output format.
    #[arg(long, value_enum, default_value = "text")]
    format: TextOrJson,
}

const EXAMPLES: &str = "Examples:
  brickbat filters --list
  brickbat filters --filter repair
  brickbat filters --filter turnsafe --seed 7 --histories 1000
  brickbat filters --manifest my-filter/filter.yaml --format json

Exit codes: 0 nothing is wrong, 1 findings, 2 usage or bad input, 3 a filter could not be judged.";

/// Exit code when something is wrong with a filter.
const FINDINGS: u8 = 1;

impl Filters {
    pub(super) fn execute(&self) -> Outcome {
        let chosen = match &self.manifest {
            Some(path) => named::of_manifest(path)?,
            None => named::chosen(&self.filters)?,
        };
        if self.list {
            print_plain(&text::list(&chosen));
            return Ok(0);
        }
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        let runtime =
            runtime.map_err(|error| CliError::start(format!("cannot start the runtime: {error}")))?;
        if self.known {
            return known::execute(&chosen, &runtime);
        }
        let mut judged = Vec::new();
        let mut is_unjudged = false;
        for chosen in &chosen {
            match self.judge(chosen, &runtime) {
                Ok(routes) => judged.push((chosen.name.clone(), routes)),
                Err(error) => {
                    is_unjudged = true;
                    tell(format!("{} could not be judged:", chosen.name));
                    error.report();
                }
            }
        }
        match self.format {
            TextOrJson::Text => {
                print(&judged.iter().map(|(name, routes)| text::filter(name, routes)).collect::<String>())
            }
            TextOrJson::Json => {
                let filters = judged.iter().map(|(name, routes)| json!({ "filter": name, "routes": routes }));
                print_json(json!({
                    "schema": 1, "seed": self.seed, "histories": self.histories, "filters": filters.collect::<Vec<_>>(),
                }));
            }
        }
        let mut routes = judged.iter().flat_map(|(_, routes)| routes);
        let has_findings = routes.any(|route| !route.causes.is_empty());
        Ok(match (has_findings, is_unjudged || judged.is_empty()) {
            (true, _) => FINDINGS,
            (false, true) => UNJUDGED,
            (false, false) => 0,
        })
    }

    fn judge(
        &self,
        chosen: &Chosen,
        runtime: &tokio::runtime::Runtime,
    ) -> Result<Vec<RouteReport>, CliError> {
        let mut filter: Box<dyn Filter> = match &chosen.manifest {
            None => named::function(&chosen.name)?,
            Some(manifest) => {
                let (cache, supervisor) = (cache_folder()?, own_program()?);
                let note = |words: &str| tell(words);
                let handle = runtime.handle().clone();
                Box::new(
                    FilterProcess::prepare(manifest, (&cache, &supervisor), handle, &note)
                        .map_err(CliError::start)?,
                )
            }
        };
        let mut reports = Vec::new();
        for mode in &chosen.modes {
            for route in mode.routes() {
                if !self.dialects.is_empty() && !self.dialects.contains(&route.from) {
                    continue;
                }
                let back = back(&chosen.all, mode, &route);
                let vectors = vectors_by_file(route.from);
                let vectors =
                    Input::of_vectors(vectors.iter().map(|(name, file)| (name.as_str(), file)), &route);
                let inputs = Input::for_route(&route, &vectors, self.seed, self.histories);
                let report = run(filter.as_mut(), &route, back.as_ref(), &inputs, |_| {});
                reports.push(report.map_err(CliError::start)?);
            }
        }
        Ok(reports)
    }
}

/// The route that leads back.
fn back<'m>(all: &'m [Mode], mode: &Mode, route: &Route<'_>) -> Option<Route<'m>> {
    let name = mode.back.as_ref()?;
    let back = all.iter().find(|other| other.name == *name)?;
    back.routes().into_iter().find(|back| back.from == route.to && back.to == route.from)
}
