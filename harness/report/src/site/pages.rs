//! The pages for readers: the overview, and one for each system and each cause.

use std::fmt::Write;

use super::changes;
use super::table::{Cell, Column, Row, columns, table};
use super::{Results, Seen, Step, Stored, StoredCause, badge_of, page_of, page_of_cause, thread};
use crate::report::html::{escaped, page};
use crate::report::text::counted;
use brickbat_engine::checks::CHECKS;
use brickbat_scenario::premise::Premise;
use brickbat_scenario::verdict::Level;

/// The place of a page: at the top of the site, or in a folder.
#[derive(Clone, Copy)]
pub(super) enum Depth {
    Top,
    Folder,
}

impl Depth {
    /// The way to the top.
    pub(super) fn up(self) -> &'static str {
        match self {
            Depth::Top => "",
            Depth::Folder => "../",
        }
    }
}

/// A page with the navigation of the site.
pub(super) fn sheet(title: &str, depth: Depth, main: &str) -> String {
    const PLACES: [(&str, &str); 6] = [
        ("index.html", "Systems"),
        ("changes.html", "Changes"),
        ("fixed.html", "Fixed upstream"),
        ("properties.html", "Properties"),
        ("results.json", "JSON"),
        ("feed.xml", "Feed"),
    ];
    let up = depth.up();
    let links: Vec<String> =
        PLACES.iter().map(|(path, name)| format!("<a href=\"{up}{path}\">{name}</a>")).collect();
    let body = format!(
        "<header><nav aria-label=\"site\"><strong>Brickbat results</strong> {}</nav><button id=\"theme\">dark / light</button></header>\n\
         <main>\n{main}</main>\n",
        links.join(" ")
    );
    page(&format!("{title} · Brickbat results"), &body)
}

/// The list of systems.
pub(super) fn overview(systems: &[Results<'_>]) -> String {
    let n_whole = systems.iter().filter(|results| results.newest().is_whole()).count();
    let newest = systems.iter().map(|results| results.newest().date.as_str()).max().unwrap_or("none");
    let mut html = format!(
        "<h1>Do threads survive?</h1>\n<p>Brickbat stops turns, kills processes and breaks streams at exact points, and judges \
         what an agent SDK does next. This page lists the newest result of each system and version: {}, of them {n_whole} with \
         all plans of the dated requirements. The newest result is of {newest}.</p>\n{}\
         <p><input id=\"search\" type=\"search\" placeholder=\"search systems\" aria-label=\"search systems\"></p>\n",
        counted(systems.len(), "system"),
        legend(),
    );
    let row = |results: &Results<'_>| {
        let result = results.newest();
        let link = format!("<a href=\"{}\">{}</a>", results.page(), escaped(results.system));
        let mut cells = vec![Cell::html(link), Cell::text(&result.title())];
        cells.extend(result.steps.iter().map(|step| share(result, step)));
        cells.extend([Cell::number(result.n_causes), Cell::number(&result.date)]);
        Row::new(cells).found_by(&format!("{} {}", results.system, result.title()))
    };
    let rows: Vec<Row> = systems.iter().map(row).collect();
    let levels = Level::ALL.map(|level| Column::explained(level.name(), level.sentence()));
    let columns: Vec<Column> =
        columns(["system", "result"]).into_iter().chain(levels).chain(columns(["causes", "date"])).collect();
    html.push_str(&table("Systems", &columns, &rows, "There is no stored result."));
    sheet("Systems", Depth::Top, &html)
}

/// The meaning of levels and shares.
fn legend() -> String {
    let levels = Level::ALL
        .iter()
        .map(|level| format!("<li><strong>{}</strong>: {}</li>\n", level.name(), level.sentence()));
    format!(
        "<details><summary>Levels and shares</summary>\n<ul>\n{}</ul>\n<p>A level is reached if every check up to it had \
         something to judge and found nothing, in all plans of the dated requirements. The share of a level counts the judged \
         plans in which no check up to it found anything. A part run has shares, and reaches no level.</p>\n</details>\n",
        levels.collect::<String>()
    )
}

/// The share of a level.
fn share(result: &Stored, step: &Step) -> Cell {
    let reached = result.is_whole() && result.level.is_some_and(|level| step.level <= level);
    let share = format!("{}%", result.share(step));
    match (result.judged, result.is_whole(), reached) {
        (0, _, _) => Cell::number("–"),
        (_, true, true) => Cell::number(format!("✓ {share}")).with_class("n good"),
        (_, true, false) => Cell::number(share),
        (_, false, _) => Cell::number(share).with_class("n soft"),
    }
}

/// The page of a system.
pub(super) fn system(results: &Results<'_>, address: Option<&str>) -> String {
    let result = results.newest();
    let commit = result.commit.as_ref().map(|commit| format!(", commit <code>{}</code>", escaped(commit)));
    let mut html = format!(
        "<h1>{}</h1>\n<p><strong>{}</strong></p>\n<p>{} of {}: {}. {} judged, {} that the system does not support or reach, {} \
         open.<br><span class=\"soft\">Brickbat {}{}</span></p>\n",
        escaped(results.system),
        escaped(&result.title()),
        if result.is_whole() { "Run" } else { "Part run" },
        result.date,
        escaped(&result.coverage()),
        counted(result.judged, "plan"),
        result.beyond,
        result.open,
        escaped(&result.brickbat),
        commit.unwrap_or_default(),
    );
    html.push_str(&levels(result));
    html.push_str(&next_level(result));
    html.push_str(&causes(result));
    html.push_str(&history(results));
    html.push_str(&readme(results, address));
    sheet(results.system, Depth::Folder, &html)
}

fn levels(result: &Stored) -> String {
    let row = |step: &Step| {
        let level = Cell::html(step.level.name());
        Row::new(vec![
            level,
            share(result, step),
            Cell::html(step.level.sentence()),
            Cell::text(&step.broken_by.join(", ")),
        ])
    };
    let rows: Vec<Row> = result.steps.iter().map(row).collect();
    format!(
        "<h2>Levels</h2>\n{}",
        table("Levels", &columns(["level", "share", "requirement", "broken by"]), &rows, "")
    )
}

/// The checks that keep the system from the next level, each with its causes.
fn next_level(result: &Stored) -> String {
    let Some(step) = result.next_step() else {
        return "<h2>Next level</h2>\n<p>The highest level is reached.</p>\n".to_owned();
    };
    let mut html = format!("<h2>Between this and {}</h2>\n", step.level.name());
    let mut lines = String::new();
    for check in &step.broken_by {
        let own: Vec<&StoredCause> = result.causes.iter().filter(|cause| cause.check == *check).collect();
        let causes = match own.len() {
            0 => "only as a consequence of other causes".to_owned(),
            n => counted(n, "cause"),
        };
        let _ =
            writeln!(lines, "<li><strong>{}</strong>{}: {causes}</li>", escaped(check), requirement(check));
    }
    for check in &step.unasked {
        let name = escaped(check);
        let _ = writeln!(
            lines,
            "<li><strong>{name}</strong>{}: nothing to judge in any plan</li>",
            requirement(check)
        );
    }
    match lines.as_str() {
        "" if result.is_whole() => html.push_str("<p>No check found anything.</p>\n"),
        "" => html.push_str("<p>No check found anything in this part run. A level needs all plans.</p>\n"),
        lines => {
            let _ = write!(html, "<ul>\n{lines}</ul>\n");
        }
    }
    html
}

/// The requirement of a check, after a comma.
fn requirement(check: &str) -> String {
    let known = CHECKS.iter().find(|known| known.id == check);
    known.map(|known| format!(" ({})", escaped(known.summary))).unwrap_or_default()
}

fn causes(result: &Stored) -> String {
    let row = |cause: &StoredCause| {
        let line = Cell::html(line(cause, Depth::Folder));
        Row::new(vec![line, Cell::number(cause.n_plans), Cell::html(thread::words(cause))])
    };
    let rows: Vec<Row> = result.causes.iter().map(row).collect();
    let mut html = format!("<h2>Causes ({})</h2>\n", result.n_causes);
    if result.n_causes > rows.len() {
        let _ = writeln!(html, "<p>Only the first {} are kept.</p>", rows.len());
    }
    let columns = columns(["cause", "plans", "public report"]);
    html.push_str(&table("Causes", &columns, &rows, "Nothing is wrong in the judged plans."));
    html
}

/// The number of causes in words.
pub(super) fn causes_words(result: &Stored) -> String {
    counted(result.n_causes, "cause")
}

/// A cause in a line, with a link to its page.
pub(super) fn line(cause: &StoredCause, depth: Depth) -> String {
    format!(
        "<a href=\"{}{}\"><code>{}</code></a> <strong>{}</strong> ({}): {}",
        depth.up(),
        page_of_cause(cause),
        &cause.id[..6],
        escaped(&cause.severity),
        escaped(&cause.check),
        escaped(&cause.message),
    )
}

/// Earlier results of the system, and the change to the newest.
fn history(results: &Results<'_>) -> String {
    let mut html = String::from("<h2>Earlier results</h2>\n");
    let changes: Vec<String> = results.changes().map(|change| changes::one(&change, Depth::Folder)).collect();
    if changes.is_empty() {
        html.push_str("<p>This is the first stored result of the system.</p>\n");
    }
    html.push_str(&changes.concat());
    html
}

/// The text that a README can quote.
fn readme(results: &Results<'_>, address: Option<&str>) -> String {
    let address = address.unwrap_or("https://ADDRESS-OF-THIS-SITE");
    let badge = format!("{address}/{}", badge_of(results.system));
    let text = format!(
        "[![{}](https://img.shields.io/endpoint?url={})]({address}/{})",
        results.newest().title(),
        encoded(&badge),
        results.page(),
    );
    format!("<h2>For a README</h2>\n<pre>{}</pre>\n", escaped(&text))
}

/// A text as a part of an address.
fn encoded(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let of_byte =
        |byte: u8| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    text.bytes().map(of_byte).collect()
}

/// The page of a cause.
pub(super) fn cause(seen: &Seen<'_>) -> String {
    let Seen { cause, result, newest, dates } = seen;
    let check = CHECKS.iter().find(|known| known.id == cause.check);
    let mut html = format!(
        "<h1>{}</h1>\n<p><strong class=\"bad\">{}</strong>{} on <a href=\"../{}\">{}</a></p>\n",
        escaped(&cause.message),
        escaped(&cause.severity),
        if cause.without_fault { ", without any fault" } else { "" },
        page_of(&result.system),
        escaped(&result.system),
    );
    if newest.date != result.date {
        let _ = writeln!(html, "<p class=\"good\">The result of {} does not have it.</p>", newest.date);
    }
    let mut rows = String::new();
    let mut row = |name: &str, value: &str| {
        if !value.is_empty() {
            let _ = writeln!(rows, "<tr><th scope=\"row\">{name}</th><td>{value}</td></tr>");
        }
    };
    row("severity", &cause.severity().map(|severity| escaped(severity.sentence())).unwrap_or_default());
    let level = check.map(|check| format!(", level {}", check.level.name())).unwrap_or_default();
    row("check", &format!("{}{}{level}", escaped(&cause.check), requirement(&cause.check)));
    row(
        "rule",
        &cause.rule.as_ref().map(|rule| format!("<code>{}</code>", escaped(rule))).unwrap_or_default(),
    );
    let premise = cause.premise.as_deref().and_then(Premise::named);
    row(
        "premise",
        &premise.map(|premise| format!("{}: {}", premise.name(), premise.sentence())).unwrap_or_default(),
    );
    row("expected", &escaped(&cause.expected));
    row("observed", &escaped(&cause.got));
    row("reason", &cause.reason.as_deref().map(escaped).unwrap_or_default());
    row("public report", &thread::words(cause));
    row(
        "seen in",
        &format!("{}, first in <code>{}</code>", counted(cause.n_plans, "plan"), escaped(&cause.plan)),
    );
    row("dates", &escaped(&dates.join(", ")));
    let _ = write!(
        html,
        "<table class=\"facts\">\n<tbody>\n{rows}</tbody>\n</table>\n<h2>Run it again</h2>\n<pre>{}</pre>\n",
        escaped(&cause.reproduce)
    );
    sheet(&cause.id, Depth::Folder, &html)
}
