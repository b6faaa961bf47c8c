use super::*;
use crate::cli::mending::Found;

fn row(system: &str, planted: Option<&str>, without: Fate, with: Fate) -> SessionRow {
    SessionRow {
        system: system.to_owned(),
        plan: "corpora/closed-loop/stopped#p=end-a@openai-chat".to_owned(),
        planted: planted.map(str::to_owned),
        spot: planted.map(|_| "first-call".to_owned()),
        store: Some("ai-sdk-ui-messages, JSON list".to_owned()),
        sound: Some(true),
        batch: true,
        compacted: false,
        forked: false,
        without,
        error: None,
        diagnosis: BTreeSet::new(),
        repair: BTreeSet::new(),
        why_not: None,
        with,
        day: None,
    }
}

fn broken(system: &str, planted: Option<&str>, with: Fate) -> SessionRow {
    let (diagnosis, repair) = (BTreeSet::from(["a-rule".to_owned()]), BTreeSet::from(["mended".to_owned()]));
    SessionRow { diagnosis, repair, ..row(system, planted, Fate::Bricked, with) }
}

fn table(rows: Vec<SessionRow>) -> Table {
    let mut table = Table::default();
    table.add(rows);
    table
}

#[test]
fn sessions_that_the_product_broke_and_planted_faults_have_separate_columns() {
    let rows = vec![
        broken("a@1/x", None, Fate::GoesOn),
        broken("a@1/x", Some("result-missing"), Fate::GoesOn),
        row("a@2/x", None, Fate::GoesOn, Fate::GoesOn),
    ];
    let table = table(rows);
    assert!(table.is_closed());
    let text = table.text();
    assert!(
        text.contains("| a | 1/x; 2/x | stopped | 1 | 2 | 1 | 0 | 1 | 0 | 0 | a-rule | mended |"),
        "{text}"
    );
    assert!(text.contains("| a | 1/x | planted: result-missing | 1 | 1 | 0 | 1 | 1 |"), "{text}");
    assert!(text.contains("2 sessions bricked (1 by a planted fault)"), "{text}");
    assert!(text.contains("1 healthy sessions"), "{text}");
}

#[test]
fn a_loop_is_not_closed_if_a_session_stays_bricked_or_is_misjudged_or_was_touched() {
    let mut touched = row("a@1/x", None, Fate::GoesOn, Fate::GoesOn);
    touched.repair.insert("mended".to_owned());
    let mut accused = row("a@1/x", None, Fate::GoesOn, Fate::GoesOn);
    accused.diagnosis.insert("a-rule".to_owned());
    for wrong in [
        broken("a@1/x", None, Fate::Bricked),
        broken("a@1/x", None, Fate::Unjudged),
        row("a@1/x", None, Fate::Bricked, Fate::Bricked),
        touched,
        accused,
    ] {
        let table = table(vec![wrong]);
        assert!(!table.is_closed());
        assert!(table.text().lines().any(|line| line.starts_with("- a@1/x")), "{}", table.text());
    }
}

#[test]
fn a_session_that_is_played_again_replaces_the_first() {
    let mut table = table(vec![broken("a@1/x", None, Fate::Bricked)]);
    table.add(vec![broken("a@1/x", None, Fate::GoesOn), broken("a@2/x", None, Fate::GoesOn)]);
    assert_eq!(table.sessions.len(), 2);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("loop.json");
    Table::add_to(&path, table.sessions.clone()).unwrap();
    assert_eq!(Table::read(&path).unwrap(), table);
    assert_eq!(Table::read(&folder.path().join("none.json")).unwrap(), Table::default());
}

#[test]
fn runs_that_write_one_report_at_the_same_time_are_all_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("loop.json");
    std::thread::scope(|scope| {
        for n in 0..8 {
            let path = &path;
            scope.spawn(move || {
                for spot in 0..8 {
                    let system = format!("a@{n}/{spot}");
                    Table::add_to(path, vec![broken(&system, None, Fate::GoesOn)]).unwrap();
                }
            });
        }
    });
    assert_eq!(Table::read(&path).unwrap().sessions.len(), 64);
    std::fs::write(&path, "{}").unwrap();
    assert!(
        Table::add_to(&path, Vec::new()).is_err_and(|error| format!("{error:?}").contains("not a report"))
    );
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "{}", "another file stays as it is");
}

#[test]
fn a_product_that_stored_two_different_things_is_left_out_and_counted() {
    let treated = |verdict| Treated {
        plan: "kill/x@openai-chat".to_owned(),
        store: None,
        found: Some(Found { verdict, has_batch: true, n_compactions: 0, n_forks: 0 }),
        diagnosis: None,
        outcome: Outcome::Left,
    };
    let (whole, broken) = (treated(sessions::Verdict::Accepted), treated(sessions::Verdict::Refused));
    assert!(is_alike(&whole, &whole) && !is_alike(&whole, &broken));
    let mut unlike = row("a@1/x", None, Fate::Unjudged, Fate::Unjudged);
    unlike.why_not = Some(UNLIKE.to_owned());
    assert!(unlike.is_unlike() && !unlike.is_healthy());
    let text = table(vec![unlike]).text();
    assert!(text.contains("1 left out, since the product stored different things"), "{text}");
}
