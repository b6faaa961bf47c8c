//! `brickbat filters`.

mod bugs;
mod known;
mod named;
mod page;
pub(super) mod proof;
mod text;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use serde_json::json;

use super::embedded::vectors_by_file;
use super::error::{CliError, Outcome, UNJUDGED};
use super::launch::own_program;
use super::options::{TextOrJson, dialect, duration};
use super::output::{print, print_json, print_plain, tell};
use super::reports::write_beside_verdict;
use brickbat_drive::driver::FilterProcess;
use brickbat_drive::driver::install::cache_folder;
use brickbat_filter_suite::{Baseline, Explorer, Filter, Input, Route, RouteReport, planted, run, search};
use brickbat_rules::dialect::Dialect;

use named::Chosen;

/// Judge filters: programs and functions that rewrite a message history.
///
/// A filter is a repairer, a trimmer, a compactor, a converter or a gateway. It receives valid histories, and broken
/// ones of the kinds that it claims to repair. Its output is checked against the rules of the provider that receives
/// it, and compared with the input. Each cause is printed once, with the smallest history that triggers it.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Filters {
    /// The filter, such as `turnsafe`, `turnsafe@0.1.0` or `turnsafe/repair`; by default all built-in ones.
    /// May be repeated.
    #[arg(long = "filter", value_name = "NAME")]
    pub(super) filters: Vec<String>,
    /// A manifest of your own.
    #[arg(long, value_name = "FILE", conflicts_with = "filters")]
    pub(super) manifest: Option<PathBuf>,
    /// Only histories of this dialect. May be repeated.
    #[arg(long = "dialect", value_name = "DIALECT", value_parser = dialect)]
    pub(super) dialects: Vec<Dialect>,
    /// How many histories of each kind to generate, in addition to the vectors.
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub(super) histories: u64,
    /// The seed for the generated histories.
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub(super) seed: u64,
    /// Search for this long on each route through a filter, by varying histories that showed something new, instead of
    /// using a fixed number of histories.
    #[arg(long, value_name = "T", value_parser = duration)]
    pub(super) time: Option<Duration>,
    /// Only check that a driver follows the protocol, and count the histories on which it can be judged.
    #[arg(long)]
    pub(super) verify: bool,
    /// Judge the filters that contain one planted bug each, and the correct filters, to prove that each check catches
    /// only its own bug
    #[arg(long, conflicts_with_all = ["filters", "manifest", "verify", "time"])]
    pub(super) planted: bool,
    /// List the filters, and judge nothing.
    #[arg(long)]
    pub(super) list: bool,
    /// Check only the known bugs of the built-in filters: each bug in `corpora/filters` must still appear.
    #[arg(long, conflicts_with_all = ["manifest", "planted", "list", "verify", "time", "matrix"])]
    pub(super) bugs: bool,
    /// Compare filters and checks in a table, without the histories.
    #[arg(long)]
    pub(super) matrix: bool,
    /// A file of known causes, which do not fail the run.
    #[arg(long, value_name = "FILE")]
    pub(super) baseline: Option<PathBuf>,
    /// Write the causes to this file, as known causes.
    #[arg(long, value_name = "FILE")]
    pub(super) write_baseline: Option<PathBuf>,
    /// Write the matrix and the causes to this file, as an HTML page.
    #[arg(long, value_name = "FILE")]
    pub(super) html: Option<PathBuf>,
    /// The output format.
    #[arg(long, value_enum, default_value = "text")]
    pub(super) format: TextOrJson,
}

const EXAMPLES: &str = "Examples:
  brickbat filters --list
  brickbat filters --filter repair
  brickbat filters --filter turnsafe --seed 7 --histories 1000
  brickbat filters --manifest my-filter/filter.yaml --format json
  brickbat filters --matrix --html filters.html

Exit codes: 0 nothing is wrong, 1 findings, 2 usage or bad input, 3 a filter could not be judged.";

/// The exit code if a filter has a finding.
const FINDINGS: u8 = 1;

/// Searches a filter for this long in total, for `brickbat fuzz`.
pub(super) fn searched(filter: &str, dialects: &[Dialect], seed: u64, time: Duration) -> Outcome {
    let chosen = named::chosen(&[filter.to_owned()])?;
    let routes = chosen.iter().flat_map(|chosen| &chosen.modes).flat_map(|mode| mode.routes());
    let n_routes = routes.filter(|route| dialects.is_empty() || dialects.contains(&route.from)).count();
    let each = time / u32::try_from(n_routes.max(1)).unwrap_or(u32::MAX);
    let filters = Filters {
        filters: vec![filter.to_owned()],
        manifest: None,
        dialects: dialects.to_vec(),
        histories: 0,
        seed,
        time: Some(each),
        verify: false,
        planted: false,
        list: false,
        bugs: false,
        matrix: false,
        baseline: None,
        write_baseline: None,
        html: None,
        format: TextOrJson::Text,
    };
    filters.execute()
}

/// The reports on each filter.
type Judged = Vec<(String, Vec<RouteReport>)>;

impl Filters {
    pub(super) fn execute(&self) -> Outcome {
        if self.planted {
            return proof::execute(self.histories);
        }
        let chosen = match &self.manifest {
            Some(path) => named::of_manifest(path)?,
            None => named::chosen(&self.filters)?,
        };
        if self.list {
            print_plain(&text::list(&chosen));
            return Ok(0);
        }
        let baseline = self.baseline.as_deref().map(known::read).transpose()?;
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        let runtime =
            runtime.map_err(|error| CliError::start(format!("cannot start the runtime: {error}")))?;
        if self.bugs {
            return bugs::execute(&chosen, &runtime);
        }
        let mut judged: Judged = Vec::new();
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
        if self.verify {
            print(&text::verified(&judged));
            let is_thin = judged.iter().flat_map(|(_, routes)| routes).any(text::is_thin);
            return Ok(if is_unjudged { UNJUDGED } else { u8::from(is_thin) });
        }
        self.report(&judged, baseline.as_ref());
        Ok(exit_code(&judged, baseline.as_ref(), is_unjudged))
    }

    /// Prints the reports on the filters, and writes the requested files.
    fn report(&self, judged: &Judged, baseline: Option<&Baseline>) {
        match self.format {
            TextOrJson::Text if self.matrix => print(&text::matrix(judged)),
            TextOrJson::Text => {
                let filters = judged.iter().map(|(name, routes)| text::filter(name, routes, baseline));
                print(&filters.collect::<String>());
            }
            TextOrJson::Json => {
                let filters = judged.iter().map(|(name, routes)| json!({ "filter": name, "routes": routes }));
                let filters: Vec<_> = filters.collect();
                let (seed, histories) = (self.seed, self.histories);
                print_json(json!({ "schema": 1, "seed": seed, "histories": histories, "filters": filters }));
            }
        }
        for stale in baseline.iter().flat_map(|baseline| baseline.stale(judged)) {
            tell(format!(
                "stale: {} {} {}: {} no longer appears",
                stale.filter, stale.route, stale.check, stale.cause
            ));
        }
        let redacted = |text: &str| super::secrets::redactor().text(text).into_owned();
        if let Some(path) = &self.html {
            write_beside_verdict(path, &redacted(&page::page(judged)));
        }
        if let Some(path) = &self.write_baseline {
            write_beside_verdict(path, &redacted(&known::text(&Baseline::of(judged))));
        }
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
                let process = FilterProcess::prepare(manifest, (&cache, &supervisor), handle, &note);
                Box::new(process.map_err(CliError::start)?)
            }
        };
        let mut reports = Vec::new();
        for route in chosen.modes.iter().flat_map(|mode| mode.routes()) {
            if !self.dialects.is_empty() && !self.dialects.contains(&route.from) {
                continue;
            }
            let back = planted::back(&chosen.all, &route);
            let report = match self.time {
                None => {
                    let inputs = Input::for_route(&route, vectors(&route), self.seed, self.histories);
                    run(filter.as_mut(), &route, back.as_ref(), inputs, |_| {})
                }
                Some(time) => {
                    let began = Instant::now();
                    let explorer = Explorer::new(self.seed, vectors(&route));
                    search(filter.as_mut(), &route, back.as_ref(), explorer, || began.elapsed() < time)
                }
            };
            reports.push(report.map_err(CliError::start)?);
        }
        Ok(reports)
    }
}

/// The built-in vectors for a route.
fn vectors(route: &Route<'_>) -> Vec<Input> {
    let files = vectors_by_file(route.from);
    Input::of_vectors(files.iter().map(|(name, file)| (name.as_str(), file)), route)
}

fn exit_code(judged: &Judged, baseline: Option<&Baseline>, is_unjudged: bool) -> u8 {
    let is_known = |filter: &str, route: &RouteReport, check: &str, cause: &str| {
        baseline.is_some_and(|baseline| baseline.knows(filter, &route.route, check, cause))
    };
    let has_new = judged.iter().any(|(filter, routes)| {
        let mut causes = routes.iter().flat_map(|route| route.causes.iter().map(move |cause| (route, cause)));
        causes.any(|(route, cause)| !is_known(filter, route, cause.check, &cause.cause))
    });
    let has_stale = baseline.is_some_and(|baseline| !baseline.stale(judged).is_empty());
    let n_judged: u64 = judged.iter().flat_map(|(_, routes)| routes).map(|route| route.judged).sum();
    match (has_new || has_stale, is_unjudged || n_judged == 0) {
        (true, _) => FINDINGS,
        (false, true) => UNJUDGED,
        (false, false) => 0,
    }
}
