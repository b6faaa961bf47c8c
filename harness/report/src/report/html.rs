//! The report as one self-contained HTML file: it uses neither the network nor other files.

mod case;
mod json;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::cause::Cause;
use super::short::ShortIds;
use super::stopped::UNCONFIRMED;
use super::text::counted;
use super::{Case, Report};
use crate::record::Record;
use brickbat_rules::plain::is_plain;
use brickbat_scenario::verdict::{Level, Severity, Verdict};

const STYLE: &str = include_str!("html/style.css");
const SCRIPT: &str = include_str!("html/script.js");

/// The report: verdict, causes with their timelines, the matrix of systems and families, and every plan.
///
/// `records` belong to the cases that represent the causes; a cause without a record has no
/// timeline.
pub fn to_html(report: &Report, fail_on: Severity, records: &[Record]) -> String {
    let mut body = String::new();
    head(&mut body, report, fail_on);
    causes(&mut body, report, fail_on, records);
    matrix(&mut body, report);
    plans(&mut body, report);
    page("Brickbat report", &body)
}

/// A page with a single case.
pub fn of_case(record: &Record) -> String {
    let case = &record.case;
    let mut body = format!(
        "<header><h1>{}</h1><button id=\"theme\">dark / light</button></header>\n<p>on {}: {}</p>\n",
        escaped(&case.plan),
        escaped(&case.system),
        case.verdict.name()
    );
    if case.unconfirmed {
        let _ = writeln!(body, "<p>{UNCONFIRMED}: the plan did not run a second time</p>");
    }
    for finding in &case.findings {
        let _ = writeln!(
            body,
            "<p><strong class=\"bad\">{}</strong> ({}): {}</p>",
            finding.severity.name(),
            escaped(&finding.check),
            escaped(&finding.message)
        );
    }
    body.push_str(&case::section(record));
    let _ = writeln!(body, "<p class=\"soft\">again: <code>{}</code></p>", escaped(&case.reproduce));
    page(&case.plan, &body)
}

/// The browser's policy for the page, regardless of its content: it may show itself, and run its only script,
/// which is identified by its hash.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; \
    script-src 'sha256-va81Jw7DwSAW3qIOWQ/8sVydn7Hk7iDsPdBoBq9tpAo='; base-uri 'none'; form-action 'none'";

/// A page with this body, which is HTML.
pub(crate) fn page(title: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{}</title>\n\
         <style>\n{STYLE}</style>\n</head>\n<body>\n{body}<script>\n{SCRIPT}</script>\n</body>\n</html>\n",
        escaped(title)
    )
}

fn head(html: &mut String, report: &Report, fail_on: Severity) {
    let (class, word) = match report.exit_code(fail_on) {
        0 => ("good", "pass"),
        1 => ("bad", "fail"),
        4 => ("bad", "broken: the reference agent fails"),
        _ => ("warn", "not judged"),
    };
    let word = if report.stopped.is_some() { "stopped" } else { word };
    let n_judged = report.cases.iter().filter(|case| case.is_judged()).count();
    let n_causes = report.causes().len();
    let stopped = report.stopped_line().map(|line| format!("<p>{}</p>\n", escaped(&line)));
    let _ = write!(
        html,
        "<header><h1>Brickbat: <span class=\"{class}\">{word}</span></h1>\n\
         <input id=\"search\" type=\"search\" placeholder=\"search causes and plans\" aria-label=\"search\">\n\
         <button id=\"theme\">dark / light</button></header>\n<p class=\"soft\">{} in {}; seed {}; profiles {}</p>\n",
        counted(n_causes, "cause"),
        counted(n_judged, "judged plan"),
        report.seed,
        escaped(&report.profiles.join(" ")),
    );
    html.push_str(&stopped.unwrap_or_default());
    html.push_str("<div class=\"scroll\"><table><tr><th>system</th>");
    for verdict in Verdict::ALL {
        let _ = write!(html, "<th class=\"n\">{}</th>", verdict.name());
    }
    html.push_str("<th>level</th></tr>\n");
    for account in &report.accounts {
        let _ = write!(html, "<tr><td>{}</td>", escaped(&account.system));
        for verdict in Verdict::ALL {
            let n = account.plans.get(verdict.name()).copied().unwrap_or(0);
            let _ = write!(html, "<td class=\"n\">{n}</td>");
        }
        let _ = writeln!(html, "<td>{}</td></tr>", account.level.map_or("none", Level::name));
    }
    html.push_str("</table></div>\n");
}

fn causes(html: &mut String, report: &Report, fail_on: Severity, records: &[Record]) {
    let causes = report.causes();
    let ids = ShortIds::of_causes(causes.iter().map(Cause::id).collect());
    let _ = writeln!(html, "<h2>Causes ({})</h2>", causes.len());
    for (at, cause) in causes.iter().enumerate() {
        one_cause(html, cause, &ids, fail_on, records, at == 0);
    }
    if causes.is_empty() {
        let words = match report.stopped {
            Some(_) => "No cause was found before the run was stopped.",
            None => "Nothing is wrong in the judged plans.",
        };
        let _ = writeln!(html, "<p>{words}</p>");
    }
}

fn one_cause(
    html: &mut String,
    cause: &Cause<'_>,
    ids: &ShortIds,
    fail_on: Severity,
    records: &[Record],
    is_first: bool,
) {
    let Some((case, finding)) = cause.example() else { return };
    let class = if finding.severity <= fail_on { "bad" } else { "warn" };
    let id = ids.short(&cause.id());
    let unconfirmed = if cause.is_confirmed() { String::new() } else { format!(", {UNCONFIRMED}") };
    let words = format!(
        "{} {} {} {} {}",
        cause.severity_words(),
        finding.check,
        case.system,
        case.plan,
        finding.message
    );
    let open = if is_first { " open" } else { "" };
    let _ = write!(
        html,
        "<details class=\"cause\" data-words=\"{}\"{open}><summary><strong class=\"{class}\">{}</strong> {}: {}, {}{unconfirmed}\
         <br>{}</summary>\n<p class=\"soft\">{} For example <code>{id}</code> {}{}, at {}.<br>again: <code>{}</code></p>\n",
        escaped(&words.to_lowercase()),
        cause.severity_words(),
        escaped(finding.check),
        escaped(&case.system),
        counted(cause.shown.len(), "plan"),
        escaped(&finding.message),
        escaped(finding.severity.sentence()),
        escaped(&case.plan),
        finding.rule.map(|rule| format!(" (rule {})", escaped(rule))).unwrap_or_default(),
        escaped(&finding.place),
        escaped(&case.reproduce),
    );
    let is_it = |record: &&Record| record.case.system == case.system && record.case.plan == case.plan;
    match records.iter().find(is_it) {
        Some(record) => html.push_str(&case::section(record)),
        None => html.push_str(
            "<p class=\"soft\">This plan has no timeline, because the run kept no record of it.</p>\n",
        ),
    }
    html.push_str("</details>\n");
}

/// For each family and system, the number of plans that fail and the number that were judged.
fn matrix(html: &mut String, report: &Report) {
    let families: BTreeSet<&str> = report.cases.iter().map(Case::family).collect();
    let mut cells: BTreeMap<(&str, &str), (usize, usize, Option<Severity>)> = BTreeMap::new();
    for case in report.cases.iter().filter(|case| case.is_judged()) {
        let cell = cells.entry((&case.system, case.family())).or_default();
        cell.1 += 1;
        if let Some(worst) = case.worst_counted() {
            cell.0 += 1;
            cell.2 = Some(cell.2.map_or(worst, |known| known.min(worst)));
        }
    }
    html.push_str("<h2>Systems and families</h2>\n<div class=\"scroll\"><table><tr><th>system</th>");
    for family in &families {
        let _ = write!(html, "<th class=\"n\">{}</th>", escaped(family));
    }
    html.push_str("</tr>\n");
    for account in &report.accounts {
        let _ = write!(html, "<tr><td>{}</td>", escaped(&account.system));
        for family in &families {
            let _ = match cells.get(&(account.system.as_str(), *family)) {
                None => write!(html, "<td class=\"n soft\">–</td>"),
                Some((0, judged, _)) => write!(html, "<td class=\"n good\">0/{judged}</td>"),
                Some((failed, judged, worst)) => {
                    let worst = worst.map_or("", Severity::name);
                    write!(html, "<td class=\"n bad\" title=\"{worst}\">{failed}/{judged}</td>")
                }
            };
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</table></div>\n");
}

/// Every plan that was run, with its worst finding.
fn plans(html: &mut String, report: &Report) {
    let ran = report.cases.iter().filter(|case| case.verdict != Verdict::Unsupported);
    let _ = writeln!(html, "<h2>Plans ({})</h2>", ran.clone().count());
    let n_apart = report.count(Verdict::Unsupported);
    if n_apart > 0 {
        let _ = writeln!(html, "<p class=\"soft\">{} did not apply.</p>", counted(n_apart, "other plan"));
    }
    html.push_str(
        "<div class=\"scroll\"><table><tr><th>plan</th><th>system</th><th>verdict</th><th>worst</th></tr>\n",
    );
    for case in ran {
        let class = match case.verdict {
            Verdict::Pass => "good",
            Verdict::Fail => "bad",
            _ => "warn",
        };
        let worst = case.worst().map_or("", Severity::name);
        let unconfirmed = if case.unconfirmed { format!(" ({UNCONFIRMED})") } else { String::new() };
        let words = format!("{} {} {} {worst}", case.plan, case.system, case.verdict.name()).to_lowercase();
        let _ = writeln!(
            html,
            "<tr data-words=\"{}\"><td><code>{}</code></td><td>{}</td><td class=\"{class}\">{}{unconfirmed}</td><td>{worst}</td></tr>",
            escaped(&words),
            escaped(&case.plan),
            escaped(&case.system),
            case.verdict.name()
        );
    }
    html.push_str("</table></div>\n");
}

/// A text with its markup escaped.
pub(crate) fn escaped(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            '\n' | '\t' => html.push(c),
            c if is_plain(c) => html.push(c),
            _ => html.push(' '),
        }
    }
    html
}

#[cfg(test)]
mod tests {
    use brickbat_rules::base64;
    use sha2::{Digest, Sha256};

    use super::*;

    #[test]
    fn a_page_runs_only_its_own_script() {
        let html =
            page("<\u{202e}title>", &format!("<p>{}</p>", escaped("a\u{202e}b\u{2066}c\u{200f}\u{1b}[31m")));
        let script = html.split("<script>").nth(1).and_then(|rest| rest.split("</script>").next()).unwrap();
        let hash = base64::encode(&Sha256::digest(script.as_bytes()));
        assert!(html.contains(&format!("script-src 'sha256-{hash}'")), "the hash of the script is {hash}");
        assert!(html.contains("default-src 'none'") && !html.contains(" onclick="));
        // Nothing reverses a line.
        assert!(
            html.contains("<p>a b c  [31m</p>") && !html.contains(brickbat_rules::plain::turns),
            "{html}"
        );
    }
}
