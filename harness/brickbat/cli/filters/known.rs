//! Filter baselines, as files.

use std::fmt::Write;
use std::path::Path;

use crate::cli::error::CliError;
use crate::cli::regular;
use brickbat_filter_suite::Baseline;
use brickbat_scenario::parse;

/// Reads a baseline.
pub(super) fn read(path: &Path) -> Result<Baseline, CliError> {
    let text = regular::text(path, parse::MAX_TEXT as u64)
        .map_err(|error| CliError::cannot_read(path.display(), error))?;
    let baseline: Baseline = parse::document(&path.display().to_string(), &text, |_| None)?;
    Ok(baseline.checked()?)
}

/// A baseline as YAML. Texts are written as JSON, which is YAML.
pub(super) fn text(baseline: &Baseline) -> String {
    let mut text = format!("schema: {}\nknown:", baseline.schema);
    if baseline.known.is_empty() {
        text.push_str(" []");
    }
    text.push('\n');
    let quoted = |word: &str| serde_json::Value::from(word).to_string();
    for known in &baseline.known {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  - filter: {}", quoted(&known.filter));
        let _ = writeln!(text, "    route: {}", quoted(&known.route));
        let _ = writeln!(text, "    check: {}", quoted(&known.check));
        let _ = writeln!(text, "    cause: {}", quoted(&known.cause));
        for (key, value) in [("reason", &known.reason), ("link", &known.link)] {
            if let Some(value) = value {
                let _ = writeln!(text, "    {key}: {}", quoted(value));
            }
        }
    }
    text
}
