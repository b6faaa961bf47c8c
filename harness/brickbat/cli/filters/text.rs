//! Filters and their findings, as text.

use std::fmt::Write;

use super::named::Chosen;
use brickbat_filter_suite::checks::CHECKS;
use brickbat_filter_suite::{Baseline, RouteReport};
use brickbat_report::report::text::counted;

/// The number of reasons shown for unjudged inputs, the most frequent first.
const MAX_REASONS: usize = 3;

/// The filters and their modes.
pub(super) fn list(chosen: &[Chosen]) -> String {
    let mut text = String::new();
    for filter in chosen {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}", filter.name);
        if let Some(manifest) = &filter.manifest {
            let _ = writeln!(text, "  {}", manifest.description);
        }
        for mode in &filter.modes {
            let routes: Vec<String> = mode.routes().iter().map(brickbat_filter_suite::Route::name).collect();
            let _ = writeln!(text, "  {}: {}", routes.join(", "), mode.description);
        }
    }
    let n_modes = chosen.iter().map(|filter| filter.modes.len()).sum();
    let _ = writeln!(text, "{} with {}", counted(chosen.len(), "filter"), counted(n_modes, "mode"));
    text
}

/// The report on one filter.
pub(super) fn filter(name: &str, routes: &[RouteReport], baseline: Option<&Baseline>) -> String {
    let mut text = String::new();
    for route in routes {
        let _ = writeln!(text, "{name} {}", route.route);
        let _ = writeln!(
            text,
            "  {} of {} judged{}",
            route.judged,
            counted(route.inputs as usize, "input"),
            others(route)
        );
        for cause in &route.causes {
            let knows = |baseline: &Baseline| baseline.knows(name, &route.route, cause.check, &cause.cause);
            let known = if baseline.is_some_and(knows) { ", known" } else { "" };
            let put = route.checks.get(cause.check).map_or(0, |counted| counted.put);
            let _ = writeln!(text, "  {}: {} ({} of {put}{known})", cause.check, cause.cause, cause.inputs);
            let _ = writeln!(text, "    {}", cause.words);
            let _ = writeln!(text, "    in:  {}", cause.minimal);
            let _ = writeln!(text, "    out: {}", cause.output);
        }
        if route.causes.is_empty() {
            let _ = writeln!(text, "  nothing is wrong");
        }
        text.push('\n');
    }
    text
}

/// The inputs that were not judged, and the reasons.
fn others(route: &RouteReport) -> String {
    let mut text = String::new();
    for (what, reasons) in [("not put", &route.not_put), ("unsupported", &route.unsupported)] {
        let n: u64 = reasons.values().sum();
        if n == 0 {
            continue;
        }
        let mut sorted: Vec<(&String, &u64)> = reasons.iter().collect();
        sorted.sort_by(|one, other| other.1.cmp(one.1).then(one.0.cmp(other.0)));
        let shown: Vec<String> =
            sorted.iter().take(MAX_REASONS).map(|(why, n)| format!("{n} {why}")).collect();
        let rest = if sorted.len() > MAX_REASONS { ", …" } else { "" };
        let _ = write!(text, "; {n} {what} ({}{rest})", shown.join(", "));
    }
    if route.refused > 0 {
        let _ = write!(text, "; {} refused, as it says", route.refused);
    }
    text
}

/// A table of filters and checks, with the number of failures and of inputs.
pub(super) fn matrix(judged: &[(String, Vec<RouteReport>)]) -> String {
    let mut text = String::new();
    for (name, routes) in judged {
        for route in routes {
            let _ = writeln!(text, "{name} {}: {} of {} judged", route.route, route.judged, route.inputs);
            for check in CHECKS {
                if let Some(counted) = route.checks.get(check.id) {
                    let mark = if counted.failed > 0 { "FAILED" } else { "ok" };
                    let _ =
                        writeln!(text, "  {mark:<6}  {:<24}  {}/{}", check.id, counted.failed, counted.put);
                }
            }
        }
    }
    let (mut n_routes, mut n_red) = (0, 0);
    for route in judged.iter().flat_map(|(_, routes)| routes) {
        n_routes += 1;
        n_red += usize::from(!route.causes.is_empty());
    }
    let filters = counted(judged.len(), "filter");
    let _ = writeln!(text, "{filters}, {}, {n_red} with findings", counted(n_routes, "route"));
    text
}

/// True if so few inputs on a route can be judged (less than a third) that its verdict means little.
pub(super) fn is_thin(route: &RouteReport) -> bool {
    3 * route.judged < route.inputs
}

/// The number of inputs on which each route can be judged, and the reasons for the others.
pub(super) fn verified(judged: &[(String, Vec<RouteReport>)]) -> String {
    let mut text = String::new();
    for (name, routes) in judged {
        for route in routes {
            let word = if is_thin(route) { "FAILED" } else { "ok" };
            let _ = writeln!(text, "{word:<6}  {name} {}", route.route);
            let _ =
                writeln!(text, "        {} of {} inputs judged{}", route.judged, route.inputs, others(route));
        }
    }
    text
}
