//! The repair over the rule vectors and over generated histories in every dialect: sound requests stay byte
//! for byte, broken ones are repaired if possible, and nothing is lost.

use std::collections::BTreeMap;
use std::path::Path;

use brickbat_rules::histories::generate::Outline;
use brickbat_rules::lint::{Expectation, VectorFile};
use brickbat_rules::{Dialect, Profile};
use brickbat_sessions::oracle::{Outcome, outcome_of};
use brickbat_sessions::{Files, Repair, RepairOptions, repair};

#[test]
fn valid_vectors_stay_and_broken_ones_are_repaired_or_left() {
    let corpora = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpora/histories");
    let mut tally: BTreeMap<&str, usize> = BTreeMap::new();
    for dialect in Dialect::ALL {
        for entry in std::fs::read_dir(corpora.join(dialect.name())).unwrap() {
            let file = VectorFile::read(&std::fs::read_to_string(entry.unwrap().path()).unwrap()).unwrap();
            for vector in &file.vectors {
                let Some(request) = &vector.request else { continue };
                // A list by itself is judged as a list, not as a body that should be an object.
                if vector.earlier.is_some() || vector.padded.is_some() || request.is_array() {
                    continue;
                }
                let named = vector.profile.as_deref().and_then(Profile::named);
                let profile = named.unwrap_or_else(|| Profile::newest(dialect));
                let options =
                    RepairOptions { profile: Some(profile), body: Some(dialect), ..RepairOptions::default() };
                let files = Files::one("body.json", serde_json::to_string_pretty(request).unwrap());
                let name = format!("{:?} {}", file.rule, vector.name);
                let word = match repair(&files, 0, &options) {
                    Ok(Repair::Healthy(_)) => "healthy",
                    Ok(Repair::Mended(mended)) => {
                        let again = repair(&mended.files, 0, &options);
                        assert!(matches!(again, Ok(Repair::Healthy(_))), "{name}");
                        "mended"
                    }
                    Ok(Repair::Beyond(_)) => "beyond",
                    Err(error) => panic!("{name}: {error}"),
                };
                assert_eq!(word == "healthy", vector.result != Expectation::Invalid, "{name} {word}");
                *tally.entry(word).or_default() += 1;
            }
        }
    }
    // Fails if more or fewer are repaired than before.
    assert_eq!((tally["mended"], tally["beyond"]), (MENDED, BEYOND));
}

/// Broken vectors that are repaired, and those that are left alone: requests that a client may not send at
/// all, and those that would need a guess.
const MENDED: usize = 280;
const BEYOND: usize = 426;

/// Histories of each dialect; the nightly run uses more.
const N_HISTORIES: u64 = 300;

/// How many of the first histories of a dialect are healthy, are repaired, and are beyond repair.
fn tally(dialect: Dialect, n: u64) -> [u64; 3] {
    let mut tally = [0; 3];
    for number in 0..n {
        let history = Outline::numbered(dialect, number).history();
        let outcome = outcome_of(&history).unwrap_or_else(|wrong| panic!("{dialect} {number}: {wrong}"));
        tally[match outcome {
            Outcome::Healthy => 0,
            Outcome::Mended => 1,
            Outcome::Beyond => 2,
        }] += 1;
    }
    tally
}

#[test]
fn sound_histories_stay_and_repairable_ones_are_repaired() {
    let n = std::env::var("BRICKBAT_HISTORIES").ok().map_or(N_HISTORIES, |n| n.parse().unwrap());
    let start = std::time::Instant::now();
    // All dialects at once, which is faster on a machine with several cores.
    let tallies = std::thread::scope(|scope| {
        let threads = Dialect::ALL.map(|dialect| (dialect, scope.spawn(move || tally(dialect, n))));
        threads.map(|(dialect, thread)| (dialect, thread.join().unwrap()))
    });
    let seconds = start.elapsed().as_secs_f64();
    for (dialect, tally) in tallies {
        let [n_healthy, n_mended, n_beyond] = tally;
        println!("{dialect}: {n_healthy} healthy, {n_mended} mended, {n_beyond} beyond repair");
        // Every third history is sound.
        assert_eq!((n_healthy, n_healthy + n_mended + n_beyond), (n.div_ceil(3), n), "{dialect}");
    }
    let n_all = n * Dialect::ALL.len() as u64;
    println!("{n_all} histories in {seconds:.1} s: {:.0} a second", n_all as f64 / seconds);
}
