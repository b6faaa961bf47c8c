//! An issue's text: the actual behaviour, the expected behaviour, how to reproduce it, and the source of
//! the rule.

use std::fmt::Write;

use super::assertion::Assertion;
use super::page::Page;
use super::{ExportFile, Framework, Refusal, words};
use crate::baseline::{Entry, PlanFindings};
use brickbat_rules::Rule;

/// The default headings of an issue.
const USUAL: &str = include_str!("parts/issue.md");

/// The text, which names the test and the package file.
pub(super) fn text(page: &Page<'_>, test: &ExportFile, packages: &ExportFile) -> Result<ExportFile, Refusal> {
    let known = known(page);
    let (title, expected, versions) = (page.title(), expected(page), versions(page, packages));
    let (what, reproduction) = (what(page, known), reproduction(page, test, packages));
    let related = known.and_then(Entry::link).map_or_else(String::new, |link| format!("Related: {link}"));
    let values = [
        ("title", title.as_str()),
        ("what", what.trim_end()),
        ("expected", expected.trim_end()),
        ("reproduction", reproduction.trim_end()),
        ("versions", versions.trim_end()),
        ("related", &related),
    ];
    let text = page.fill(page.target.issue.unwrap_or(USUAL), &values)?;
    Ok(ExportFile { name: "issue.md".to_owned(), text: format!("{}\n", text.trim_end()) })
}

/// A part of baseline reasons that the project does not need to read.
const UNREPORTED: &str = " No public issue known.";

fn what(page: &Page<'_>, known: Option<&Entry>) -> String {
    let mut text = words::what_happens(page).join("\n");
    if let Some(entry) = known.filter(|entry| entry.is_explained()) {
        let _ = write!(text, "\n\n{}", entry.reason.replace(UNREPORTED, ""));
    }
    text
}

fn expected(page: &Page<'_>) -> String {
    let mut text = words::expected(page.assertion);
    if let Assertion::Accepted { rule, .. } = page.assertion
        && let Some(rule) = Rule::find(rule.id)
    {
        let _ = write!(text, "\n\nThe provider's message:\n\n> {}\n", page.finding.message);
        let _ = write!(text, "\nWhere the rule was seen or is documented:\n\n");
        rule.sources.iter().for_each(|source| {
            let _ = writeln!(text, "- {source}");
        });
    }
    text
}

fn reproduction(page: &Page<'_>, test: &ExportFile, packages: &ExportFile) -> String {
    let run = match page.framework {
        Framework::Vitest => format!("npm install\nnpx vitest run {}", test.name),
        Framework::NodeTest => format!("npm install\nnode --test {}", test.name),
        Framework::Pytest => format!("pip install -r {}\npytest {}", packages.name, test.name),
    };
    format!(
        "`{}` is a test that needs no provider and no key: it contains a local HTTP stub, which replies as \
         a provider does.\n\
         It fails on {} {}, and `{}` lists the exact versions.\n\n```sh\n{run}\n```",
        test.name, page.target.sdk, page.target.version, packages.name
    )
}

fn versions(page: &Page<'_>, packages: &ExportFile) -> String {
    let target = page.target;
    let mut text = format!("- {} {}\n", target.sdk, target.version);
    let named = target.packages.iter().filter(|it| it.name != target.sdk && names(&packages.text, &it.name));
    named.for_each(|package| {
        let _ = writeln!(text, "- {} {}", package.name, package.version);
    });
    text
}

/// True if a package file names that package.
fn names(packages: &str, name: &str) -> bool {
    let is_it = |line: &str| {
        let named = line.trim().trim_start_matches('"');
        named.strip_prefix(name).is_some_and(|rest| rest.starts_with(['"', '=', '[']))
    };
    packages.lines().any(is_it)
}

/// The entry of the baseline that lists the finding.
fn known<'a>(page: &Page<'a>) -> Option<&'a Entry> {
    let baseline = page.target.baseline?;
    let (case, finding) = (&page.record.case, page.finding);
    let scenario = case.plan.split(['#', '@']).next().unwrap_or_default();
    let mut actions: Vec<&str> = page.record.receipts.iter().map(|receipt| receipt.action.as_str()).collect();
    if actions.is_empty() {
        actions.push(scenario);
    }
    let shown =
        PlanFindings { system: &case.system, plan: &case.plan, actions, is_judged: true, findings: &[] };
    baseline.entries.iter().find(|entry| {
        entry.check == finding.check
            && entry.severity == finding.severity
            && entry.rule.as_ref().is_none_or(|rule| Some(rule) == finding.rule.as_ref())
            && baseline.covers(entry, &shown)
    })
}
