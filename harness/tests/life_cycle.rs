//! Events of calls out of order: a correct store is accused of nothing, and each bug is found.

use brickbat_engine::events::{
    Consumed, Event, MAX_EVENTS, Sequence, StoreBug, Wrong, breaches, consume, shuffled,
};
use brickbat_search::generate::Source;
use brickbat_search::oracle;

const N_SEEDS: u64 = 20_000;

#[test]
fn a_correct_store_is_accused_of_nothing() {
    let accused = (0..N_SEEDS).find_map(|seed| Some((seed, oracle::events(&mut Source::seeded(seed))?)));
    assert_eq!(accused, None);
}

#[test]
fn each_bug_is_found_in_few_sequences() {
    for bug in StoreBug::ALL {
        let found =
            (0..200).position(|seed| !breaches(&drawn(seed), &consume(&drawn(seed), Some(bug))).is_empty());
        assert!(found.is_some(), "{bug:?}");
    }
}

#[test]
fn the_named_sequences_find_every_bug_and_accuse_no_correct_store() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("corpora/events");
    let read = |entry: std::io::Result<std::fs::DirEntry>| {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        Sequence::parse(&path.display().to_string(), &text).unwrap_or_else(|error| panic!("{error}")).events
    };
    let named: Vec<Vec<Event>> = std::fs::read_dir(folder).unwrap().map(read).collect();
    for events in &named {
        assert!(breaches(events, &consume(events, None)).is_empty(), "{events:#?}");
    }
    for bug in StoreBug::ALL {
        let finds = |events: &&Vec<Event>| !breaches(events, &consume(events, Some(bug))).is_empty();
        assert!(named.iter().any(|events| finds(&events)), "{bug:?}");
    }
}

#[test]
fn a_file_without_events_is_refused_at_its_place() {
    let error = Sequence::parse("s.yaml", "comment: Nothing.\nevents: []\n").unwrap_err();
    assert!(error.to_string().contains("there is no event"), "{error}");
    assert!(Sequence::parse("s.yaml", "comment: x\nevents: [{ type: begin }]\n").is_err());
    let many = format!("comment: x\nevents: [{}]\n", "{ type: finish }, ".repeat(MAX_EVENTS + 1));
    assert!(Sequence::parse("s.yaml", &many).is_err());
}

/// A bug is accused of its effect, in the sequence that shows it.
#[test]
fn each_bug_is_accused_of_its_effect() {
    let call = || "a".to_owned();
    let start = || Event::Start { call: call(), tool: "lookup".to_owned() };
    let ready = || Event::Ready { call: call() };
    let result = |text: &str| Event::Result { call: call(), text: text.to_owned(), failed: false };
    let arguments = || Event::Arguments { call: call(), text: "{}".to_owned() };
    let (lost, again) = (Wrong::ResultLost, Wrong::Resurrected);
    let cases = [
        (StoreBug::DropsEarlyResult, vec![start(), result("1"), ready()], vec![(lost, 3)]),
        (StoreBug::RestartReopens, vec![start(), ready(), result("1"), start()], vec![(again, 3), (lost, 4)]),
        (StoreBug::ReadyReopens, vec![start(), ready(), result("1"), ready()], vec![(again, 3), (lost, 4)]),
        (StoreBug::RestartAppends, vec![start(), start()], vec![(Wrong::Duplicated, 1)]),
        (StoreBug::LeavesOpen, vec![start(), ready(), Event::Finish], vec![(Wrong::Open, 3)]),
        (
            StoreBug::LastResultWins,
            vec![start(), ready(), result("1"), result("2")],
            vec![(again, 3), (lost, 4)],
        ),
        (
            StoreBug::TakesLateArguments,
            vec![start(), ready(), arguments()],
            vec![(Wrong::ArgumentsChanged, 2)],
        ),
    ];
    for (bug, events, expected) in cases {
        assert_eq!(breaches(&events, &consume(&events, None)).len(), 0, "{bug:?}");
        let found = breaches(&events, &consume(&events, Some(bug)));
        let found: Vec<(Wrong, usize)> = found.into_iter().map(|breach| (breach.wrong, breach.at)).collect();
        assert_eq!(found, expected, "{bug:?}");
    }
}

#[test]
fn a_forgotten_call_is_a_breach() {
    let events = [Event::Start { call: "a".to_owned(), tool: "lookup".to_owned() }];
    let lost = breaches(&events, &Consumed { stored: vec![Vec::new(); 2], refused: None });
    assert_eq!(lost.first().unwrap().to_string(), "call a was declared and is not stored");
    // After an event that was rejected with an error, nothing is expected.
    let refused = Some(brickbat_engine::events::Refused { at: 0, message: "out of order".to_owned() });
    assert!(breaches(&events, &Consumed { stored: vec![Vec::new(); 2], refused }).is_empty());
}

#[test]
fn sequences_are_bounded_and_use_every_edit() {
    let all: Vec<Vec<Event>> = (0..2_000).map(drawn).collect();
    assert!(all.iter().all(|events| events.len() <= MAX_EVENTS));
    let n_starts =
        |events: &[Event]| events.iter().filter(|event| matches!(event, Event::Start { .. })).count();
    let n_calls = |events: &[Event]| {
        events.iter().filter_map(Event::call).collect::<std::collections::BTreeSet<_>>().len()
    };
    assert!(all.iter().any(|events| n_starts(events) > n_calls(events)), "restarted");
    assert!(all.iter().any(|events| n_starts(events) < n_calls(events)), "a start is dropped");
    assert!(all.iter().any(|events| events.last() != Some(&Event::Finish)), "something comes after the end");
    // Without a choice to make, the simplest turn.
    assert_eq!(shuffled(&mut |_| 0).len(), 5);
}

fn drawn(seed: u64) -> Vec<Event> {
    let mut source = Source::seeded(seed);
    shuffled(&mut |n| source.below(n))
}
