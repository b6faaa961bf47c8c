use std::collections::BTreeSet;

use brickbat_engine::checks::CHECKS;
use brickbat_scenario::verdict::Level;

use super::*;
use crate::report::html::escaped;

/// A cause of a check, with an id of 16 equal digits.
fn cause(digit: char, check: &str) -> StoredCause {
    StoredCause {
        id: digit.to_string().repeat(16),
        kind: digit.to_string().repeat(16),
        check: check.to_owned(),
        severity: "bricked-by-provider".to_owned(),
        premise: Some("user".to_owned()),
        without_fault: false,
        rule: Some("openai-chat/tool-message-missing".to_owned()),
        message: "a call has no result".to_owned(),
        expected: "a result".to_owned(),
        got: "none".to_owned(),
        n_plans: 2,
        plan: "abort/mid-batch#k=1@openai-chat".to_owned(),
        reproduce: "brickbat run 'abort/mid-batch#k=1@openai-chat'".to_owned(),
        reason: Some("The stop drops the results.".to_owned()),
        thread: None,
        state: None,
    }
}

/// A whole run with ten judged plans that reaches a level, or fails three plans at the lowest.
fn result(system: &str, date: &str, level: Option<Level>, causes: Vec<StoredCause>) -> Stored {
    let step = |of: Level| {
        let is_reached = level.is_some_and(|level| of <= level);
        let broken_by = causes.iter().map(|cause| cause.check.clone()).collect();
        Step {
            level: of,
            clean: if is_reached { 10 } else { 7 },
            broken_by: if is_reached { Vec::new() } else { broken_by },
            unasked: Vec::new(),
        }
    };
    Stored {
        schema: 1,
        system: system.to_owned(),
        date: date.to_owned(),
        brickbat: "0.1.0".to_owned(),
        commit: Some("1af3f38d".to_owned()),
        requirements: Some("2026-11".to_owned()),
        selection: Vec::new(),
        stopped: false,
        dialects: vec!["openai-chat".to_owned()],
        judged: 10,
        beyond: 4,
        open: 0,
        level,
        steps: Level::ALL.into_iter().map(step).collect(),
        n_causes: causes.len(),
        causes,
    }
}

fn text<'a>(files: &'a [SiteFile], path: &str) -> &'a str {
    &files.iter().find(|file| file.path == path).unwrap_or_else(|| panic!("no {path}")).text
}

#[test]
fn a_name_can_be_quoted() {
    let whole = result("a@1/m", "2026-12-01", Some(Level::L1), Vec::new());
    assert_eq!(whole.title(), "Brickbat 2026-11 · L1");
    let broken = result("a@1/m", "2026-12-01", None, vec![cause('1', "thread-survives")]);
    assert_eq!(broken.title(), "Brickbat 2026-11 · L0 70%");
    let part = Stored { selection: vec!["abort/".to_owned()], requirements: None, ..whole.clone() };
    assert_eq!(part.title(), "Brickbat · part run of 10 plans, L0 100%");
    assert_eq!(part.coverage(), "only abort/, in openai-chat");
    let nothing = Stored { judged: 0, ..part };
    assert_eq!(nothing.title(), "Brickbat · not judged");
}

#[test]
fn a_stored_result_is_read_as_it_is_written() {
    let stored = result("ai-sdk@7.0.1/ui-messages", "2026-12-01", None, vec![cause('a', "thread-survives")]);
    assert_eq!(Stored::parse(&stored.to_json()), Ok(stored.clone()));
    assert_eq!(stored.file_name(), "ai-sdk-7.0.1-ui-messages.2026-12-01.json");
}

#[test]
fn a_wrong_value_is_an_error() {
    let good = result("a@1/m", "2026-12-01", None, vec![cause('1', "thread-survives")]);
    let check = |wrong: Stored, field: &str| {
        let error = Stored::parse(&wrong.to_json()).expect_err(field).to_string();
        assert!(error.starts_with(&format!("{field} of the stored result is not valid: ")), "{error}");
    };
    check(Stored { date: "2026-13-01".to_owned(), ..good.clone() }, "date");
    check(Stored { date: "../../x".to_owned(), ..good.clone() }, "date");
    check(Stored { system: String::new(), ..good.clone() }, "system");
    check(Stored { system: "../up".to_owned(), ..good.clone() }, "system");
    check(Stored { system: "x".repeat(201), ..good.clone() }, "system");
    check(Stored { steps: Vec::new(), ..good.clone() }, "steps");
    check(Stored { judged: 1, ..good.clone() }, "clean");
    let with = |cause| Stored { causes: vec![cause], ..good.clone() };
    check(with(StoredCause { id: "../../../../etc/x".to_owned(), ..cause('1', "x") }), "id");
    check(with(StoredCause { kind: "1".to_owned(), ..cause('1', "x") }), "kind");
    check(with(StoredCause { severity: "bad".to_owned(), ..cause('1', "x") }), "severity");
    for text in ["", "[]", "{}", "{\"schema\": 1}", "{\"schema\": 1, \"more\": 2}"] {
        assert!(matches!(Stored::parse(text), Err(StoredError::Form(_))), "{text}");
    }
    assert_eq!(Stored::parse("{\"schema\": 2}"), Err(StoredError::Schema(2)));
}

#[test]
fn hostile_text_is_escaped_on_every_page() {
    let hostile = "\"><script>alert(1)</script>&'";
    let mut wrong = cause('1', hostile);
    for field in
        [&mut wrong.message, &mut wrong.expected, &mut wrong.got, &mut wrong.plan, &mut wrong.reproduce]
    {
        *field = hostile.to_owned();
    }
    wrong.rule = Some(hostile.to_owned());
    wrong.reason = Some(hostile.to_owned());
    wrong.state = Some(hostile.to_owned());
    wrong.thread = Some(format!("https://example.org/{hostile}"));
    let mut stored = result(&format!("a@1/{hostile}"), "2026-12-01", None, vec![wrong]);
    stored.brickbat = hostile.to_owned();
    stored.commit = Some(hostile.to_owned());
    stored.requirements = Some(hostile.to_owned());
    stored.dialects = vec![hostile.to_owned()];
    let files = build(&[stored], None);
    for SiteFile { path, text } in files.iter().filter(|file| !file.path.ends_with(".json")) {
        assert!(!text.contains("<script>alert"), "{path}");
    }
    assert!(files.iter().any(|file| file.text.contains(&escaped(hostile))));
    assert!(files.iter().all(|file| !file.path.contains("..") && !file.path.contains(['<', '"', '\''])));
}

#[test]
fn only_web_addresses_and_reports_at_github_are_links() {
    let link = |thread: &str| thread::address(thread);
    assert_eq!(link("vercel/ai#10638").unwrap(), "https://github.com/vercel/ai/issues/10638");
    assert_eq!(link("https://example.org/1").unwrap(), "https://example.org/1");
    for thread in
        ["javascript:alert(1)", "data:text/html,x", "a b/c#1", "vercel/ai#x", "ai#1", "//x", "https://a b"]
    {
        assert_eq!(link(thread), None, "{thread}");
    }
    let bare = StoredCause { thread: Some("javascript:alert(1)".to_owned()), ..cause('1', "x") };
    assert_eq!(thread::words(&bare), "javascript:alert(1)");
}

#[test]
fn two_dates_show_new_and_gone_causes_and_the_state_of_reports() {
    let report = |state: &str| StoredCause {
        thread: Some("vercel/ai#1".to_owned()),
        state: Some(state.to_owned()),
        ..cause('3', "order-kept")
    };
    let old =
        result("a@1/m", "2026-11-30", None, vec![cause('1', "thread-survives"), report("open 2026-11-30")]);
    let fixed = report("fixed in 2.0 2026-12-01");
    let new = result("a@1/m", "2026-12-01", Some(Level::L0), vec![cause('2', "results-once"), fixed]);
    let files = build(&[new.clone(), old.clone()], None);
    let page = text(&files, "changes.html");
    let at = |words: &str| page.find(words).unwrap_or_else(|| panic!("no {words} in {page}"));
    assert!(page.contains("L0 70% → L0; 1 cause new, 1 gone"), "{page}");
    let places = [
        at("<h3>New"),
        at("causes/2222222222222222.html"),
        at("<h3>Gone"),
        at("causes/1111111111111111.html"),
    ];
    assert!(places.is_sorted(), "{places:?}");
    assert!(page[at("<h3>Public reports")..].contains("open 2026-11-30 → "), "{page}");
    // Each cause has a page, also one that is gone.
    assert!(
        text(&files, "causes/1111111111111111.html").contains("The result of 2026-12-01 does not have it.")
    );
    assert!(text(&files, "systems/a-1-m.html").contains("<h2>Earlier results</h2>\n<section"));
    assert!(text(&files, "fixed.html").contains("data-name=\"fixed in\">2.0</td>"));
    let feed = text(&files, "feed.xml");
    assert!(
        feed.contains("<updated>2026-12-01T00:00:00Z</updated>") && feed.contains("1 cause new, 1 gone"),
        "{feed}"
    );
    // A state that was read on another day is the same state.
    let again = Stored {
        date: "2026-12-02".to_owned(),
        causes: vec![cause('2', "x"), report("fixed in 2.0 2026-12-02")],
        ..new.clone()
    };
    assert!(!text(&build(&[new, again], None), "changes.html").contains("Public reports"));
}

#[test]
fn other_plans_are_not_compared() {
    let old = result("a@1/m", "2026-11-30", None, vec![cause('1', "thread-survives")]);
    let part = result("a@1/m", "2026-12-01", None, Vec::new());
    let part = Stored { selection: vec!["abort/".to_owned()], requirements: None, ..part };
    let files = build(&[old, part], None);
    let page = text(&files, "changes.html");
    assert!(page.contains("not compared, because other plans ran") && !page.contains("<h3>Gone"), "{page}");
}

#[test]
fn versions_are_compared_in_the_order_of_their_numbers() {
    let versions = [("a@10.0.0/m", '1'), ("a@9.1.0/m", '2'), ("a@9.0.0/other", '3'), ("b@1/m", '4')];
    let results = versions
        .map(|(system, digit)| result(system, "2026-12-01", None, vec![cause(digit, "thread-survives")]));
    let files = build(&results, None);
    let page = text(&files, "changes.html");
    let versions = &page[page.find("From one version").unwrap()..];
    assert_eq!(versions.matches("<section").count(), 1, "{versions}");
    assert!(versions.find("a@9.1.0/m").unwrap() < versions.find("a@10.0.0/m").unwrap(), "{versions}");
    let fixed = text(&files, "fixed.html");
    assert!(
        fixed.contains("causes/2222222222222222.html") && !fixed.contains("causes/1111111111111111.html")
    );
}

#[test]
fn a_system_page_lists_the_checks_before_the_next_level() {
    let mut stored = result("a@1/m", "2026-12-01", Some(Level::L0), vec![cause('1', "results-once")]);
    stored.steps[1].broken_by.push("order-kept".to_owned());
    stored.steps[1].unasked.push("texts-once".to_owned());
    let files = build(&[stored], Some("https://example.org/b"));
    let page = text(&files, "systems/a-1-m.html");
    assert!(page.contains("<h2>Between this and L1</h2>"), "{page}");
    assert!(
        page.contains("<strong>results-once</strong> (no call has two results in one request): 1 cause"),
        "{page}"
    );
    assert!(
        page.contains("only as a consequence of other causes")
            && page.contains("nothing to judge in any plan")
    );
    let quoted = "https://img.shields.io/endpoint?url=https%3A%2F%2Fexample.org%2Fb%2Fbadges%2Fa-1-m.json";
    assert!(page.contains(&escaped(&format!(
        "[![Brickbat 2026-11 · L0]({quoted})](https://example.org/b/systems/a-1-m.html)"
    ))));
}

#[test]
fn a_badge_is_as_shields_reads_it() {
    let badge =
        |stored: &Stored| -> serde_json::Value { serde_json::from_str(&machine::badge(stored)).unwrap() };
    let whole = result("a@1/m", "2026-12-01", Some(Level::L4), Vec::new());
    let expected = serde_json::json!({
        "schemaVersion": 1, "label": "Brickbat 2026-11", "message": "L4", "color": "brightgreen"
    });
    assert_eq!(badge(&whole), expected);
    let part = badge(&Stored { stopped: true, ..whole });
    assert_eq!((&part["label"], &part["color"]), (&"Brickbat".into(), &"lightgrey".into()));
}

#[test]
fn every_link_leads_to_a_file_of_the_site() {
    let results = [
        result("a@1/m", "2026-11-30", None, vec![cause('1', "thread-survives")]),
        result("a@1/m", "2026-12-01", Some(Level::L1), vec![cause('2', "results-kept")]),
        result("a@2/m", "2026-12-01", Some(Level::L5), Vec::new()),
    ];
    let files = build(&results, None);
    let paths: BTreeSet<&str> = files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths.len(), files.len(), "no file is written twice");
    for SiteFile { path, text } in &files {
        for link in text.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next()) {
            let is_outside = link.starts_with("https://");
            let target = match link.strip_prefix("../") {
                Some(target) => target,
                None => link,
            };
            assert!(is_outside || (link.starts_with("../") == path.contains('/')), "{path}: {link}");
            assert!(is_outside || paths.contains(target), "{path}: {link}");
        }
    }
    assert!(text(&files, MARK).starts_with(MARK_TEXT));
}

#[test]
fn the_map_has_every_check_or_names_it_as_outside() {
    let inside: BTreeSet<&str> =
        map::PROPERTIES.iter().chain(&map::INTERRUPTS).flat_map(|row| row.checks.iter().copied()).collect();
    let outside: BTreeSet<&str> = map::OUTSIDE.iter().map(|(check, _)| *check).collect();
    let known: BTreeSet<&str> = CHECKS.iter().map(|check| check.id).collect();
    assert_eq!(inside.intersection(&outside).next(), None);
    assert_eq!(inside.union(&outside).copied().collect::<BTreeSet<&str>>(), known);
}

#[test]
fn no_result_is_an_empty_site() {
    let files = build(&[], None);
    assert!(text(&files, "index.html").contains("There is no stored result."));
    assert!(text(&files, "feed.xml").contains("<updated>1970-01-01T00:00:00Z</updated>"));
}
