//! The explanation of a case in a kept run: the check, the loss, the rule, and the known findings for the
//! system.

use super::super::embedded::catalogue;
use super::super::error::CliError;
use super::super::runs::KeptCase;
use super::{rules, words};
use brickbat_drive::driver::BASELINE;
use brickbat_drive::folder;
use brickbat_report::baseline::{Baseline, Entry, PlanFindings};
use brickbat_report::record::{CaseNote, FindingNote, Record};
use brickbat_rules::explain;

/// The page about a case.
pub(super) fn page(kept: &KeptCase) -> Result<String, CliError> {
    let record = folder::read_case(&kept.folder)?;
    let case = &record.case;
    let mut page = format!("{} on {}: {}\n", case.plan, case.system, case.verdict.name());
    if let Some(reason) = &case.reason {
        page.push_str(&format!("\n{reason}\n"));
    }
    if case.unconfirmed {
        page.push_str("\nseen, not confirmed: the plan did not run a second time\n");
    }
    // A short id names one cause; the case may show others.
    let meant = |at: &usize| kept.finding.is_none_or(|finding| finding == *at);
    for (_, finding) in case.findings.iter().enumerate().filter(|(at, _)| meant(at)) {
        page.push_str(&one(&record, finding));
    }
    let n_others = case.findings.len().saturating_sub(1);
    if kept.finding.is_some() && n_others > 0 {
        let others =
            if n_others == 1 { "another cause".to_owned() } else { format!("{n_others} other causes") };
        page.push_str(&format!("\nthe case also shows {others}: {}\n", kept.folder.display()));
    }
    if case.findings.is_empty() {
        words::pages(case.verdict.name()).iter().for_each(|text| page.push_str(&format!("\n{text}")));
    }
    page.push_str(&format!("\nagain: {}\n", case.reproduce));
    Ok(page)
}

fn one(record: &Record, finding: &FindingNote) -> String {
    let mut text = format!("\n── {}\n   at {}\n", finding.message, finding.place);
    if let Some(trigger) = finding.trigger {
        text.push_str(&format!("   after {}\n", trigger.phrase()));
    }
    text.push('\n');
    for known in known(record, finding) {
        let state = known.state().map(|state| format!(", {}", state.words())).unwrap_or_default();
        let link = known.link().map(|link| format!(" ({link}{state})")).unwrap_or_default();
        text.push_str(&format!("known in {}: {}{link}\n\n", record.case.system, known.reason));
    }
    let errors: Vec<String> = explain::client_pages(&finding.message);
    text.push_str(&errors.join("\n"));
    text.push_str(&words::of_finding(&finding.check, finding.severity));
    if let Some(rule) = &finding.rule {
        rules::pages(rule).iter().for_each(|page| text.push_str(&format!("{page}\n")));
    }
    text
}

/// The entries in a built-in system's baseline that cover a finding.
fn known(record: &Record, finding: &FindingNote) -> Vec<Entry> {
    let CaseNote { system, plan, .. } = &record.case;
    let manifests = catalogue().manifests();
    let texts =
        manifests.iter().filter_map(|manifest| Some((manifest.name.as_str(), manifest.text(BASELINE)?)));
    let baselines =
        texts.filter_map(|(name, text)| Baseline::parse(&text, &format!("{name}/{BASELINE}")).ok());
    let actions = record.receipts.iter().map(|receipt| receipt.action.as_str()).collect();
    let shown = PlanFindings { system, plan, actions, is_judged: true, findings: &[] };
    let is_it = |entry: &Entry| {
        entry.check == finding.check
            && entry.severity == finding.severity
            && entry.rule.as_deref().is_none_or(|rule| finding.rule.as_deref() == Some(rule))
            && entry.is_explained()
    };
    baselines
        .flat_map(|baseline| {
            let entries =
                baseline.entries.iter().filter(|entry| is_it(entry) && baseline.covers(entry, &shown));
            entries.cloned().collect::<Vec<_>>()
        })
        .take(1)
        .collect()
}
