//! The lists and tables of documents that are generated from the code.

use brickbat_drive::driver::{CAPABILITIES, Manifest, Mode};
use brickbat_drive::strict_server::variables::{VARIABLES, Yields};
use brickbat_report::report::format::FORMATS;
use brickbat_report::switches::{Pair, Switches};
use brickbat_rules::dialect::Dialect;
use brickbat_rules::streams::StreamRule;
use brickbat_rules::{Profile, Rule};
use brickbat_scenario::action::{Action, ActionSpec, Ends, Payload};
use brickbat_scenario::plan::Side;
use brickbat_scenario::point::{Point, PointSpec, Region};
use brickbat_scenario::scenario::Need;
use brickbat_scenario::verdict::{Level, Severity, Verdict};
use schemars::schema_for;

use super::*;

/// Every block by its name.
pub fn all() -> BTreeMap<&'static str, String> {
    BTreeMap::from([
        ("actions", actions()),
        ("checks", checks()),
        ("closed-loop", closed_loop()),
        ("compaction-threads", super::compactions::compaction_threads()),
        ("compactions", super::compactions::compactions()),
        ("counts", counts()),
        ("duties", super::duties::left()),
        ("duties-repaired", super::duties::repaired()),
        ("downloads", super::downloads::shares()),
        ("exports", exports()),
        ("features", super::features::features()),
        ("figures", super::figures::figures()),
        ("library", super::figures::library()),
        ("filter-checks", filter_checks()),
        ("filters", super::filters::bugs()),
        ("guided", super::discovery::guided()),
        ("guided-on-real-systems", super::discovery::guided_on_real_systems()),
        ("healthy", healthy::healthy()),
        ("repairers", repairers::repairers()),
        ("known", known()),
        ("options", brickbat::cli::options_page()),
        ("exit-codes", brickbat::cli::exit_codes_page()),
        ("levels", levels()),
        ("llms-pages", super::agents::llms_pages()),
        ("mutant-questions", super::mutants::mutant_questions()),
        ("mutants", super::mutants::mutants()),
        ("mutants-by-kind", super::mutants::mutants_by_kind()),
        ("needs", needs()),
        ("needs-claimed", needs_claimed()),
        ("points", points()),
        ("profile", super::figures::profile()),
        ("profiles", profiles()),
        ("race", super::discovery::race()),
        ("report-formats", report_formats()),
        ("severities", severities()),
        ("sweep", super::discovery::sweep()),
        ("switches", switches()),
        ("systems", systems()),
        ("time-to-find", super::discovery::time_to_find()),
        ("validators", super::validators::validators()),
        ("validators-by-family", super::validators::validators_by_family()),
        ("validators-too-strict", super::validators::validators_too_strict()),
        ("variables", variables()),
        ("verdicts", verdicts()),
        ("worlds", super::discovery::worlds()),
    ])
}

pub fn table(head: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut text = format!("| {} |\n|{}\n", head.join(" | "), "---|".repeat(head.len()));
    for row in rows {
        writeln!(text, "| {} |", row.join(" | ")).unwrap();
    }
    text
}

fn code(word: &str) -> String {
    format!("`{word}`")
}

fn codes<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    words.into_iter().map(code).collect::<Vec<_>>().join(", ")
}

/// A sentence as a cell: it has no full stop, unless it is more than one sentence.
fn cell(sentence: &str) -> String {
    let is_one = !sentence.trim_end_matches('.').contains(". ");
    let text = if is_one { sentence.trim_end_matches('.') } else { sentence };
    let mut letters = text.chars();
    let first = letters.next().unwrap();
    let is_word = letters.clone().next().is_some_and(char::is_uppercase);
    if is_word { text.to_owned() } else { first.to_lowercase().chain(letters).collect() }
}

/// The sentences of a type, as cells, by the names of its variants.
fn cells<T: schemars::JsonSchema>() -> BTreeMap<String, String> {
    sentences(&schema_for!(T).to_value())
        .into_iter()
        .map(|(name, sentence)| (name, cell(&sentence)))
        .collect()
}

fn variables() -> String {
    table(
        &["variable", "value", "read by"],
        VARIABLES.iter().map(|variable| {
            let own = match variable.yields {
                Yields::Never => "",
                Yields::ToTheUser => ", unless you set it",
            };
            vec![code(variable.name), format!("{}{own}", code(variable.value)), variable.read_by.to_owned()]
        }),
    )
}

fn severities() -> String {
    let cells = cells::<Severity>();
    let row = |severity: Severity| vec![code(severity.name()), cells[severity.name()].clone()];
    table(&["severity", "what the user loses"], Severity::ALL.map(row))
}

/// The results of the repaired sessions of real products.
fn closed_loop() -> String {
    let page = brickbat::cli::closed_loop::page(&read("docs/data/repaired-sessions.json"));
    format!("\n{}\n", page.unwrap())
}

/// The findings that were exported as tests, with the output of each test.
fn exports() -> String {
    let rows: Vec<serde_json::Value> = serde_json::from_str(&read("corpora/exports/cases.json")).unwrap();
    let said = |row: &serde_json::Value, key: &str| {
        let text = row[key].as_str().unwrap_or_default().replace('|', "\\|").replace('`', "'");
        let cut: String = text.chars().take(MAX_SAID).collect();
        let dots = if cut.len() < text.len() { "…" } else { "" };
        if cut.is_empty() { String::new() } else { code(&format!("{cut}{dots}")) }
    };
    let rows = rows.iter().map(|row| {
        let text = |key: &str| row[key].as_str().unwrap();
        let fixed_in = row["fixed_in"].as_str().unwrap_or("none known").to_owned();
        vec![
            text("name").to_owned(),
            code(text("system")),
            said(row, "plan"),
            said(row, "check"),
            said(row, "red"),
            fixed_in,
        ]
    });
    table(&["export", "system", "plan", "check", "message of the red test", "green on"], rows)
}

/// Characters of a test's output that are shown.
const MAX_SAID: usize = 140;

fn report_formats() -> String {
    let rows = FORMATS.iter().map(|format| {
        vec![format.name.to_owned(), code(&format!(".{}", format.ending)), format.used_for.to_owned()]
    });
    table(&["report", "file name ends in", "use it for"], rows)
}

fn filter_checks() -> String {
    let checks = brickbat_filter_suite::checks::CHECKS;
    table(
        &["check", "what it demands"],
        checks.iter().map(|check| vec![code(check.id), check.summary.to_owned()]),
    )
}

fn checks() -> String {
    let mut checks: Vec<_> = CHECKS.iter().collect();
    checks.sort_by_key(|check| check.level);
    let rows = checks.into_iter().map(|check| {
        let (level, severity) = (check.level.name().to_owned(), code(check.severity.name()));
        let rests_on = codes(check.rests_on.iter().map(|duty| duty.name()));
        vec![code(check.id), level, severity, rests_on, check.summary.to_owned()]
    });
    table(&["check", "level", "severity", "rests on", "what it requires"], rows)
}

fn levels() -> String {
    let cells = cells::<Level>();
    let checks = |level| codes(CHECKS.iter().filter(|check| check.level == level).map(|check| check.id));
    let row = |level: Level| vec![level.name().to_owned(), cells[level.name()].clone(), checks(level)];
    table(&["level", "what a system keeps", "checks"], Level::ALL.map(row))
}

fn verdicts() -> String {
    let cells = cells::<Verdict>();
    let exit_code = |verdict: Verdict| match verdict {
        Verdict::Fail => "1",
        verdict if verdict.is_unjudged() => "3",
        _ => "0",
    };
    let row = |verdict: Verdict| {
        vec![code(verdict.name()), cells[verdict.name()].clone(), exit_code(verdict).to_owned()]
    };
    table(&["verdict", "meaning", "exit code"], Verdict::ALL.map(row))
}

fn needs() -> String {
    let rows = cells::<Need>().into_iter().map(|(name, cell)| vec![code(&name), cell]);
    table(&["need", "required ability"], rows)
}

/// A region in words.
fn region(region: Region) -> &'static str {
    match region {
        Region::Between => "between turns",
        Region::Unanswered => "unanswered",
        Region::Opened => "after the headers",
        Region::Stream => "in a stream",
        Region::Over => "at the end",
        Region::Question => "question",
        Region::Tools => "tools",
        Region::Result => "after a result",
        Region::Store => "before a write",
        Region::Stored => "after a write",
        Region::Unsummarised => "summary unanswered",
        Region::Summary => "in a summary",
    }
}

fn points() -> String {
    let cells = cells::<Point>();
    let side = |spec: &PointSpec, side| spec.region(side).map_or("never", region).to_owned();
    let row = |spec: &'static PointSpec| {
        let needs = spec.needs.map(|need| code(need.name())).unwrap_or_default();
        let is_plain = serde_json::from_value::<Point>(spec.name.into()).is_ok();
        assert_eq!(is_plain, !written_point(spec.name).starts_with('{'), "{}: give it an example", spec.name);
        let sides = [side(spec, Side::Before), side(spec, Side::After)];
        [vec![code(written_point(spec.name)), cells[spec.name].clone()], sides.to_vec(), vec![needs]].concat()
    };
    table(&["point", "where it is", "`before` it is", "`after` it is", "needs"], PointSpec::ALL.map(row))
}

/// The form of a point in a scenario.
fn written_point(name: &'static str) -> &'static str {
    match name {
        "think" => "{ think: 1 }",
        "text" => "{ text: 1 }",
        "start" => "{ start: a }",
        "delta" => "{ delta: [a, 2] }",
        "end" => "{ end: a }",
        "search" => "{ search: s }",
        "found" => "{ found: s }",
        "asked" => "{ asked: a }",
        "started" => "{ started: a }",
        "settled" => "{ settled: 2 }",
        "saved" => "{ saved: 2 }",
        "compaction" => "{ compaction: 1 }",
        plain => plain,
    }
}

fn actions() -> String {
    let cells = cells::<Action>();
    let row = |spec: &'static ActionSpec| {
        let ends = match spec.ends {
            Ends::Nothing => "",
            Ends::Attempt => "the reply",
            Ends::TurnByStop | Ends::Turn => "the turn",
        };
        let needs = spec.needs.map(|need| code(need.name())).unwrap_or_default();
        vec![
            code(&written_action(spec)),
            spec.actor.name().to_owned(),
            cells[spec.name].clone(),
            ends.to_owned(),
            needs,
            places(spec),
        ]
    };
    let head = ["action (`do`)", "whose", "what happens", "ends", "needs", "where"];
    table(&head, ActionSpec::ALL.map(row))
}

/// The form of an action in a scenario.
fn written_action(spec: &ActionSpec) -> String {
    let payload = match spec.payload {
        Payload::Nothing(_) => return spec.name.to_owned(),
        Payload::Error(_) => "overloaded",
        Payload::Http(_) => "{ status: 529, times: 2 }",
        Payload::Call(_) => "b",
        Payload::Cause(_) => "credits",
        Payload::Text { plain, .. } => plain,
        Payload::Tokens(_) => "190000",
        Payload::Keep { .. } => "3",
        Payload::Turn(_) => "1",
        Payload::Switch(_) => "false",
        Payload::OneOf(all) => return format!("{{ {} }}", all[0].to_string().replacen(' ', ": ", 1)),
        Payload::Provider(_) => "openai-chat",
        Payload::Tools(_) => "{ withdraw: lookup }",
    };
    format!("{{ {}: {payload} }}", spec.name)
}

/// The places where an action is allowed, in few words.
fn places(spec: &ActionSpec) -> String {
    use Region::{Opened, Over, Question, Result, Stream, Summary, Tools, Unanswered, Unsummarised};
    const GROUPS: [(&str, &[Region]); 5] = [
        ("in a turn", &[Unanswered, Opened, Stream, Over, Question, Tools, Result, Unsummarised, Summary]),
        ("at a summary", &[Unsummarised, Summary]),
        ("in a reply", &[Unanswered, Opened, Stream, Over]),
        ("inside a stream", &[Opened, Stream]),
        ("tools", &[Tools, Result]),
    ];
    let mut left: Vec<Region> =
        Region::ALL.into_iter().filter(|region| spec.weight(*region).is_some()).collect();
    let mut words = Vec::new();
    for (word, group) in GROUPS {
        if group.iter().all(|region| left.contains(region)) {
            left.retain(|region| !group.contains(region));
            words.push(word);
        }
    }
    words.extend(left.into_iter().map(region));
    words.join(", ")
}

fn profiles() -> String {
    let of = |dialect: Dialect| Profile::all().filter(move |profile| profile.dialect == dialect);
    let row = |dialect: Dialect| vec![code(dialect.name()), codes(of(dialect).map(|profile| profile.name))];
    table(&["dialect", "profiles"], Dialect::ALL.map(row))
}

/// Every built-in system, as its manifest describes it.
fn systems() -> String {
    let folders = std::fs::read_dir(root().join("harness/systems")).unwrap();
    let mut sheets: Vec<_> = folders.map(|entry| entry.unwrap().path().join("system.yaml")).collect();
    sheets.retain(|sheet| sheet.is_file());
    sheets.sort();
    let rows = sheets.iter().map(|sheet| {
        let text = std::fs::read_to_string(sheet).unwrap();
        let value = |key: &str| text.lines().find_map(|line| line.strip_prefix(key)).unwrap();
        // A list of maps, in either of YAML's styles.
        let list = |name: &str, key: &str| -> Vec<String> {
            let (_, list) = text.split_once(&format!("\n{name}:\n")).unwrap();
            let own = list.lines().take_while(|line| line.starts_with(' '));
            let values = own.filter_map(|line| line.trim_start().strip_prefix("- ")?.split_once(key));
            values.map(|(_, value)| value.split([',', ' ']).next().unwrap().to_owned()).collect()
        };
        let modes = list("modes", "name: ");
        let modes = codes(modes.iter().map(String::as_str));
        let description = value("description: ").trim_end_matches('.').to_owned();
        vec![code(value("name: ")), description, list("versions", "version: ").join(", "), modes]
    });
    table(&["system", "what it is", "versions", "modes"], rows)
}

/// Each need, with the built-in systems that meet it. `verify-adapter` checks the lists in their manifests.
fn needs_claimed() -> String {
    let mut sheets: Vec<_> = std::fs::read_dir(root().join("harness/systems"))
        .unwrap()
        .map(|entry| entry.unwrap().path().join("system.yaml"))
        .filter(|sheet| sheet.is_file())
        .collect();
    sheets.sort();
    let newest = sheets.iter().map(|sheet| Manifest::read(sheet).unwrap().remove(0));
    let manifests: Vec<Manifest> = newest.collect();
    let claims = |manifest: &Manifest, key: &str| {
        let listed = manifest.capabilities.as_ref().unwrap_or_else(|| panic!("{} lists none", manifest.name));
        let modes: Vec<&Mode> =
            manifest.modes.iter().filter(|mode| !mode.lacks.iter().any(|lack| lack == key)).collect();
        let is_claimed = listed.iter().any(|claim| claim == key) && !modes.is_empty();
        let of_some = modes.len() < manifest.modes.len();
        let modes = codes(modes.into_iter().map(|mode| mode.name.as_str()));
        let place = if of_some { format!(" ({modes})") } else { String::new() };
        is_claimed.then(|| format!("{}{place}", code(&manifest.name)))
    };
    let rows = CAPABILITIES.iter().filter_map(|capability| {
        let by: Vec<String> =
            manifests.iter().filter_map(|manifest| claims(manifest, capability.key)).collect();
        let need = capability.need?;
        let systems = if by.is_empty() { "none".to_owned() } else { by.join(", ") };
        Some(vec![code(need.name()), by.len().to_string(), systems])
    });
    table(&["need", "systems", "which"], rows)
}

/// The result of each system when its thread continues with another provider, a row for each first provider.
fn switches() -> String {
    let switches: Switches = serde_json::from_str(&read("docs/data/switches.json")).unwrap();
    let head = ["system", "begins with"].into_iter().chain(Dialect::ALL.map(Dialect::name));
    let begins = |system: &str, from: Dialect| {
        let words = |to: Dialect| switches.pair(system, from.name(), to.name()).map(Pair::words);
        let cells = Dialect::ALL.map(words);
        let is_there = cells.iter().any(Option::is_some);
        let own = [code(system), code(from.name())].into_iter();
        is_there.then(|| own.chain(cells.map(Option::unwrap_or_default)).collect::<Vec<String>>())
    };
    let systems = switches.systems();
    let rows =
        systems.iter().flat_map(|system| Dialect::ALL.into_iter().filter_map(|from| begins(system, from)));
    table(&head.collect::<Vec<&str>>(), rows)
}

/// The causes in the baseline of each built-in system.
fn known() -> String {
    let mut text = String::new();
    let mut names: Vec<String> = std::fs::read_dir(root().join("harness/systems"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.join("baseline.yaml").is_file())
        .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
        .collect();
    names.sort();
    for name in names {
        let file = format!("harness/systems/{name}/baseline.yaml");
        let baseline = brickbat_report::baseline::Baseline::parse(&read(&file), &file).unwrap();
        let mut entries = baseline.entries;
        entries.sort_by_key(|entry| entry.severity);
        writeln!(text, "\n## {name}\n").unwrap();
        let rows = entries.iter().map(|entry| {
            let systems = if entry.systems.is_empty() {
                String::new()
            } else {
                codes(entry.systems.iter().map(String::as_str))
            };
            let since: BTreeSet<&str> =
                entry.shown.iter().filter_map(|note| note.split([' ', '/']).next()).collect();
            let seen = codes(since);
            let place = if systems.is_empty() { seen } else { systems };
            let reason = entry.reason.trim().replace('\n', " ").replace('|', "\\|");
            let link = entry.link().map_or("not reported".to_owned(), str::to_owned);
            vec![code(entry.severity.name()), code(&entry.check), place, reason, link]
        });
        text.push_str(&table(&["severity", "check", "where", "what is known", "upstream"], rows));
    }
    text
}

fn counts() -> String {
    let files = plans::lowered();
    let folders: BTreeSet<&str> = files.iter().filter_map(|(name, _)| name.split('/').next()).collect();
    let of = |dialect| Rule::all().filter(|rule| rule.dialect() == dialect).count();
    let each = Dialect::ALL.map(|dialect| format!("{} `{dialect}`", of(dialect)));
    let classes = brickbat_report::classes::parse(&read("corpora/classes.yaml"), "classes.yaml").unwrap();
    let row = |what: &str, n: usize, of_it: String| vec![what.to_owned(), n.to_string(), of_it];
    let n_plans = files.iter().map(|(_, plans)| plans.len()).sum();
    let n_systems = systems().lines().count() - 2;
    table(
        &["item", "count", "breakdown"],
        [
            row("scenarios", files.len(), format!("in {} folders", folders.len())),
            row("plans", n_plans, format!("in {} dialects", Dialect::ALL.len())),
            row("rules for request bodies", Rule::all().count(), each.join(", ")),
            row("rules for streams", StreamRule::all().count(), String::new()),
            row("checks", CHECKS.len(), format!("{} severities", Severity::ALL.len())),
            row("planted bugs", Canary::all().count(), String::new()),
            row("failure classes", classes.len(), String::new()),
            row("built-in systems", n_systems, String::new()),
        ],
    )
}
