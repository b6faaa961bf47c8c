//! The stored sessions of `corpora/sessions`: each is read, judged and repaired as its entry says.

#![expect(clippy::unwrap_used, reason = "a test may fail anywhere, also outside its own function")]

mod doubled;
mod entry;
mod hostile;
mod planted;
mod program;
mod secrets;

use std::collections::{BTreeMap, BTreeSet};

use brickbat_sessions::{
    Judgement, Lost, Product, Progress, Reason, Repair, RepairOptions, Session, Verdict, judge,
};

use entry::{Case, Expect, Layer, Mending, all};

/// The minimum number of faults, and of healthy sessions.
const MIN_FAULTS: usize = 40;
const MIN_HEALTHY: usize = 15;

/// The result for a session, in the words of an entry.
fn said_of(case: &Case) -> Result<Expect, String> {
    let files = case.files();
    let sessions = brickbat_sessions::read(&files).unwrap_or_else(|error| panic!("{}: {error}", case.id));
    let [session] = sessions.as_slice() else { panic!("{}: {} sessions", case.id, sessions.len()) };
    assert_eq!(session.product.id(), case.product, "{}", case.id);
    if case.entry.version.is_some() {
        assert_eq!(session.version, case.entry.version, "{}", case.id);
    }
    let profile = case.profile();
    let judgement = judge(session, profile);
    let options = RepairOptions { profile, ..RepairOptions::default() };
    let mut said = Expect {
        layer: layer(session, &judgement),
        verdict: judgement.verdict.name().to_owned(),
        rule: judgement.refusals.first().and_then(|own| own.rule).map(|rule| rule.id.to_owned()),
        gives_up: judgement.refusals.first().is_some_and(|own| own.rule.is_none()),
        troubles: session.troubles.len(),
        // `cli_session` checks the exit code of the program.
        exit: case.entry.expect.exit,
        repair: Mending::Healthy,
        reattached: 0,
        edits: BTreeMap::new(),
        then: None,
        repair_exit: case.entry.expect.repair_exit,
    };
    let repaired = brickbat_sessions::repair(&files, 0, &options);
    let mended = match repaired.map_err(|error| format!("{said:?}, and {error}"))? {
        Repair::Healthy(_) => return Ok(said),
        Repair::Beyond(_) => {
            said.repair = Mending::Beyond;
            return Ok(said);
        }
        Repair::Mended(mended) => mended,
    };
    said.repair = Mending::Mended;
    said.reattached = mended.reattached.len();
    for planned in &mended.edits {
        *said.edits.entry(planned.reason.id().to_owned()).or_default() += 1;
    }
    said.then = Some(mended.after.verdict.name().to_owned());
    // A second repair changes nothing, and the same files make the same bytes.
    let again = brickbat_sessions::repair(&mended.files, 0, &options);
    assert!(matches!(again, Ok(Repair::Healthy(_))), "{}: {again:?}", case.id);
    match brickbat_sessions::repair(&files, 0, &options) {
        Ok(Repair::Mended(twin)) => assert_eq!(twin.files, mended.files, "{}", case.id),
        other => panic!("{}: {other:?}", case.id),
    }
    Ok(said)
}

fn layer(session: &Session, judgement: &Judgement) -> Layer {
    let is_torn = session.troubles.iter().any(|trouble| {
        let is_of_a_character = trouble.loses == Some(Lost::HalfCharacter);
        trouble.loses.is_some() && !is_of_a_character
    });
    match () {
        () if session.cut.is_some() => Layer::Branch,
        () if is_torn => Layer::Store,
        () if judgement.verdict == Verdict::Refused => Layer::Request,
        () => Layer::None,
    }
}

#[test]
fn each_session_is_read_judged_and_repaired_as_its_entry_says() {
    let wrong: Vec<String> = all()
        .iter()
        .filter_map(|case| {
            let said = said_of(case);
            let expected = &case.entry.expect;
            (said.as_ref() != Ok(expected))
                .then(|| format!("{}:\n  said     {said:?}\n  expected {expected:?}", case.id))
        })
        .collect();
    assert!(wrong.is_empty(), "{} entries do not hold:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_healthy_session_is_never_called_bricked_and_never_changed() {
    let healthy: Vec<Case> = all().into_iter().filter(Case::is_healthy).collect();
    assert!(healthy.len() >= MIN_HEALTHY, "{}", healthy.len());
    for case in healthy {
        let expect = &case.entry.expect;
        assert!(["accepted", "open-tail", "excerpt"].contains(&expect.verdict.as_str()), "{}", case.id);
        assert_eq!((expect.repair, expect.exit, expect.repair_exit), (Mending::Healthy, 0, 0), "{}", case.id);
        let options = RepairOptions { truncate: true, ..RepairOptions::default() };
        let repaired = brickbat_sessions::repair(&case.files(), 0, &options);
        assert!(matches!(repaired, Ok(Repair::Healthy(_))), "{}: {repaired:?}", case.id);
    }
}

#[test]
fn each_entry_is_complete_and_each_fault_of_a_product_is_there_once() {
    let classes = std::fs::read_to_string(entry::root().join("corpora/classes.yaml")).unwrap();
    let mut faults = BTreeSet::new();
    let mut stores = BTreeSet::new();
    for case in all() {
        let (id, entry) = (&case.id, &case.entry);
        assert!(entry.comment.len() >= 10 && entry.comment.ends_with('.'), "{id}: a comment is a sentence");
        assert!(entry.source.starts_with("https://github.com/"), "{id}: the source is a public thread");
        assert!(Product::from_id(&case.product).is_some(), "{id}: {}", case.product);
        assert!(stores.insert((case.product.clone(), entry.store.clone())), "{id}: a store of its own");
        for reason in entry.expect.edits.keys() {
            assert!(Reason::ALL.iter().any(|known| known.id() == reason), "{id}: {reason}");
        }
        if case.is_healthy() {
            assert_eq!(entry.class, None, "{id}");
            continue;
        }
        let class = entry.class.as_deref().unwrap_or_else(|| panic!("{id}: no class"));
        assert!(classes.contains(&format!("  - id: {class}\n")), "{id}: {class}");
        assert!(faults.insert((case.product.clone(), case.name.clone())), "{id}");
        let is_named = entry.expect.rule.is_some() || entry.expect.gives_up || entry.expect.troubles > 0;
        assert!(is_named, "{id}: a fault is named");
    }
    assert!(faults.len() >= MIN_FAULTS, "{} faults", faults.len());
    assert_eq!(entry::unclaimed(), Vec::<String>::new(), "files that no entry names");
}

/// `session FOLDER` finds files by what the rows of the products say of them.
#[test]
fn the_row_of_a_product_names_the_endings_of_its_stores_and_what_is_next_to_them() {
    for case in all() {
        let product = Product::from_id(&case.product).unwrap();
        let store = case.entry.name.as_deref().unwrap_or(&case.entry.store);
        let ending = store.rsplit('.').next().unwrap();
        // A database is kept as its SQL.
        assert!(ending == "sql" || product.endings().any(|known| known == ending), "{}: {store}", case.id);
        assert!(case.entry.companions.is_empty() || !product.beside().is_empty(), "{}", case.id);
    }
}

/// The products without an entry. The tests of the AI SDK's chunks contain their own, and `corpora/histories`
/// has request bodies.
const WITHOUT_ENTRY: [Product; 2] = [Product::AiSdkUiChunks, Product::Request];

/// A new product needs sessions, and a row in the table of stores.
/// A repair and an imported scenario ask how far a call had come, so a store's new state must not be unknown.
#[test]
fn each_state_of_a_call_says_how_far_it_had_come() {
    let mut unknown = BTreeSet::new();
    for case in all() {
        let Ok(sessions) = brickbat_sessions::read(&case.files()) else { continue };
        let blocks =
            sessions.iter().flat_map(|session| &session.messages).flat_map(|message| &message.blocks);
        let states = blocks.filter_map(|block| block.state.as_deref());
        let states = states.filter(|state| Progress::of(state).is_none());
        unknown.extend(states.map(|state| (case.product.clone(), state.to_owned())));
    }
    assert_eq!(unknown, BTreeSet::new());
}

#[test]
fn each_product_has_entries_and_a_row_in_the_table_of_stores() {
    let products: BTreeSet<String> = all().into_iter().map(|case| case.product).collect();
    let page = std::fs::read_to_string(entry::root().join("docs/src/howto/session.md")).unwrap();
    let (_, table) = page.split_once("| product | store | limits |").unwrap();
    let rows = table.lines().filter_map(|row| row.strip_prefix("| ")?.split_once(" |"));
    let names: Vec<&str> = rows.flat_map(|(products, _)| products.split(", ")).collect();
    for product in Product::ALL {
        assert_ne!(products.contains(product.id()), WITHOUT_ENTRY.contains(product), "{product}");
        // Several stores of one SDK share a row.
        let has_row = names.iter().any(|name| product.to_string().starts_with(*name));
        assert!(has_row || *product == Product::Request, "{product} is not in the table of stores");
    }
}
