//! Filters and what is wrong with them, as text.

use std::fmt::Write;

use super::named::Chosen;
use brickbat_filter_suite::RouteReport;
use brickbat_report::report::text::counted;

/// Reasons why inputs were not judged that are shown, the most frequent first.
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

/// What came of one filter.
pub(super) fn filter(name: &str, routes: &[RouteReport]) -> String {
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
            let put = route.checks.get(cause.check).map_or(0, |counted| counted.put);
            let _ = writeln!(text, "  {}: {} ({} of {put})", cause.check, cause.cause, cause.inputs);
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

/// What was not judged, and why.
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
