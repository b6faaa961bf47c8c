//! A distinct failure, in the format that all commands that group findings print and write.

use brickbat_drive::whole_file;
use brickbat_scenario::plan::CONTROL;
use std::path::Path;

use serde_json::json;

use super::error::CliError;
use super::output::paint;
use super::secrets::redactor;
use brickbat_report::report::Case;
use brickbat_report::report::text::{Tone, counted};
use brickbat_scenario::scenario::Scenario;
use brickbat_scenario::verdict::{Finding, Verdict};
use brickbat_scenario::yaml;

/// The number of unjudged plans that are listed by name; the summary counts all.
pub(super) const MAX_UNJUDGED: usize = 5;

/// The severity, the check, the message and the rule.
pub(super) fn headline(tone: Tone, finding: &Finding) -> String {
    let rule = finding.rule.map(|rule| format!("  rule {rule}")).unwrap_or_default();
    let severity = paint(tone, finding.severity.name());
    format!("{severity} {}\n  {}{rule}\n", finding.check, finding.message)
}

/// The actions in a scenario, each as in its file.
pub(super) fn actions(scenario: &Scenario) -> String {
    let actions = scenario.turns.iter().flat_map(|turn| &turn.at);
    actions.map(|at| format!("    - {}\n", yaml::action(at))).collect()
}

/// The number of plans in which it occurs, and their dialects.
pub(super) fn extent<'a>(n_plans: usize, dialects: impl IntoIterator<Item = &'a str>) -> String {
    let dialects: Vec<&str> = dialects.into_iter().collect();
    format!("  in {}; {}", counted(n_plans, "plan"), dialects.join(", "))
}

/// The comment in a scenario that triggers the failure: its origin, the events, and the finding.
pub(super) fn comment(found: &str, what: &str, finding: &Finding) -> String {
    let why = finding.message.trim_end_matches('.');
    format!("{found}: {what}; then {} fails: {why}.", finding.check)
}

/// Writes a redacted scenario. Its given history is saved alongside it in a file of the same name.
pub(super) fn write(path: &Path, scenario: &Scenario) -> Result<(), CliError> {
    let mut scenario = scenario.clone();
    let to = |path: &Path, text: &str| {
        let written = whole_file::write_private(path, redactor().text(text).as_bytes());
        written.map_err(|error| CliError::cannot_write(path.display(), error))
    };
    if let Some(given) = &mut scenario.given
        && let Some(history) = &given.content
    {
        let file = path.with_extension("json");
        to(&file, &format!("{:#}\n", json!(history)))?;
        given.history = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    }
    to(path, &yaml::text(&scenario))
}

/// Creates the directory for scenarios.
pub(super) fn make_folder(path: Option<&Path>) -> Result<(), CliError> {
    let made = path.map_or(Ok(()), std::fs::create_dir_all);
    made.map_err(|error| {
        let path = path.unwrap_or(Path::new("")).display();
        CliError::input(format!("cannot create the directory {path}: {error}"))
    })
}

/// The number of cases with each verdict, such as `12 pass, 3 fail`.
pub(super) fn counts<'a>(counts: impl IntoIterator<Item = (&'a Verdict, &'a usize)>) -> String {
    let counts = counts.into_iter().map(|(verdict, n)| format!("{n} {}", verdict.name()));
    counts.collect::<Vec<String>>().join(", ")
}

/// The plan for a case, even if it is the case of the control plan.
pub(super) fn plan_of(case: &Case) -> &str {
    case.plan.strip_suffix(CONTROL).unwrap_or(&case.plan)
}
