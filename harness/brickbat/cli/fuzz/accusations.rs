//! The findings against the reference agent in generated scenarios. Each of these accusations is a bug in
//! Brickbat.

use std::path::Path;

use super::super::error::CliError;
use super::super::failure;
use brickbat_drive::runner::quoted;
use brickbat_engine::triage::{Signature, file_name, words};
use brickbat_report::report::text::Tone;
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::scenario::Scenario;
use brickbat_scenario::verdict::Finding;

/// Accusations of different kinds, in the order in which they were made.
#[derive(Default)]
pub(super) struct Accusations {
    all: Vec<Accusation>,
    /// The number already printed.
    n_reported: usize,
}

struct Accusation {
    scenario: Scenario,
    dialect: Dialect,
    finding: Finding,
}

impl Accusations {
    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Keeps a scenario's first finding of a new kind.
    pub(super) fn add(&mut self, scenario: &Scenario, dialect: Dialect, findings: Vec<Finding>) {
        let is_new = |finding: &Finding| self.all.iter().all(|known| !known.is_of_the_kind_of(finding));
        if let Some(finding) = findings.into_iter().find(is_new) {
            self.all.push(Accusation { scenario: scenario.clone(), dialect, finding });
        }
    }

    /// The text of each accusation that has not been reported yet. If a folder is given, the scenario is
    /// written to it.
    pub(super) fn report(&mut self, out: Option<&Path>) -> Result<Vec<String>, CliError> {
        let texts = self.all[self.n_reported..].iter().map(|accusation| accusation.report(out)).collect();
        self.n_reported = self.all.len();
        texts
    }
}

impl Accusation {
    fn is_of_the_kind_of(&self, finding: &Finding) -> bool {
        Signature::of(&self.finding) == Signature::of(finding)
    }

    fn report(&self, out: Option<&Path>) -> Result<String, CliError> {
        let Accusation { scenario, dialect, finding } = self;
        let mut text = failure::headline(Tone::Bad, finding);
        text.push_str(&format!(
            "  a bug in Brickbat: the reference agent is accused in {dialect}: {}\n  {}\n",
            finding.message,
            words(scenario)
        ));
        if let Some(folder) = out {
            let path = folder.join(format!("accusation-{}", file_name(&Signature::of(finding), scenario)));
            failure::write(&path, scenario)?;
            let file = quoted(&path.to_string_lossy());
            text.push_str(&format!("  again: brickbat run {file} --system reference/simulated\n"));
            let shrink = format!("brickbat shrink {file} --system reference/simulated --dialect {dialect}");
            text.push_str(&format!("  smaller: {shrink}\n"));
        }
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use brickbat_scenario::parse;
    use brickbat_scenario::verdict::Severity;

    fn scenario() -> Scenario {
        let text = include_str!("../../../../scenarios/control/plain-batch.yaml");
        parse::parse("plain-batch.yaml", text).unwrap().remove(0).scenario
    }

    fn finding(severity: Severity) -> Finding {
        Finding::new("results-kept", severity, "a result is gone")
    }

    #[test]
    fn each_kind_of_accusation_is_reported_once_and_its_scenario_is_kept() {
        let folder = tempfile::TempDir::new().unwrap();
        let (scenario, dialect) = (scenario(), Dialect::OpenaiChat);
        let mut accusations = Accusations::default();
        accusations.add(&scenario, dialect, vec![finding(Severity::ResultsLost)]);
        accusations.add(&scenario, dialect, vec![finding(Severity::ResultsLost)]);
        let texts = accusations.report(Some(folder.path())).unwrap();
        let [text] = texts.as_slice() else { panic!("{texts:?}") };
        assert!(text.contains("a bug in Brickbat: the reference agent is accused in openai-chat"), "{text}");
        assert!(text.contains("again: brickbat run ") && text.contains("accusation-"), "{text}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);

        let known_and_new = vec![finding(Severity::ResultsLost), finding(Severity::BrickedByProvider)];
        accusations.add(&scenario, dialect, known_and_new);
        assert_eq!(accusations.report(None).unwrap().len(), 1);
        assert_eq!(accusations.report(None).unwrap().len(), 0);
    }
}
