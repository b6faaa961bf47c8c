//! The destination of a run's records.

use std::path::Path;

use brickbat_drive::folder::{self, RunFolder, RunNote, case_path};
use brickbat_report::record::Record;
use brickbat_report::report::{Case, Report};
use brickbat_rules::redact::Redactor;
use brickbat_scenario::verdict::Verdict;

/// Where the case records go.
pub(super) enum Records {
    /// No records are kept.
    None,
    /// Records of cases that did not pass go to the cache folder.
    Cached(RunFolder),
    /// All records go to the user's directory.
    Asked(RunFolder),
}

impl Records {
    /// Removes a run's cached folder if nothing ran.
    pub(super) fn discard(&self) {
        if let Records::Cached(folder) = self {
            // If this fails, a later run removes it.
            let _ = std::fs::remove_dir_all(folder.path());
        }
    }

    pub(super) fn keep(&self, record: &Record, redactor: &Redactor) {
        let case = &record.case;
        match self {
            Records::Cached(folder) if case.verdict == Verdict::Fail || case.verdict.is_unjudged() => {
                folder.keep(record, redactor);
            }
            // The case may have failed before, and been kept, before it passed.
            Records::Cached(folder) => folder.forget(&case.system, &case.plan),
            Records::Asked(folder) => folder.keep(record, redactor),
            Records::None => {}
        }
    }

    /// True if a case's record can be read.
    pub(super) fn has(&self, case: &Case) -> bool {
        let path = self.path().map(|path| path.join(case_path(&case.system, &case.plan)));
        path.is_some_and(|path| folder::read_case(&path).is_ok())
    }

    /// The records of the causes' representative cases, if they were kept.
    pub(super) fn examples(&self, report: &Report) -> Vec<Record> {
        let Some(folder) = self.path() else { return Vec::new() };
        let causes = report.causes();
        let examples = causes.iter().filter_map(|cause| Some(cause.example()?.0));
        let paths = examples.map(|case| folder.join(case_path(&case.system, &case.plan)));
        paths.filter_map(|path| folder::read_case(&path).ok()).collect()
    }

    /// Writes the end of the run. Returns a message if something could not be written. The results of the run
    /// stay valid.
    pub(super) fn finish(&self, note: &RunNote, report: &Report) -> Option<String> {
        let (folder, whose) = match self {
            Records::None => return None,
            Records::Cached(folder) => (folder, "the run in the cache"),
            Records::Asked(folder) => (folder, "the run directory"),
        };
        let error = folder.finish(note, &report.to_json()).err()?;
        Some(format!("not kept: {whose} is incomplete: {error}"))
    }

    fn path(&self) -> Option<&Path> {
        match self {
            Records::None => None,
            Records::Cached(folder) | Records::Asked(folder) => Some(folder.path()),
        }
    }
}
