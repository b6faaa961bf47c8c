//! The repair over the rule vectors and over generated histories in every dialect: what is sound stays byte for byte, what
//! can be mended is, and nothing is lost.

use std::collections::BTreeMap;
use std::path::Path;

use brickbat_rules::histories::generate::Outline;
use brickbat_rules::lint::{Expectation, VectorFile};
use brickbat_rules::{Dialect, Profile};
use brickbat_sessions::oracle::{Outcome, outcome_of};
use brickbat_sessions::{Files, Repair, RepairOptions, repair};

#[test]
fn valid_vectors_stay_and_broken_ones_are_mended_or_left() {
    let corpora = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpora/histories");
    let mut tally: BTreeMap<&str, usize> = BTreeMap::new();
    for dialect in Dialect::ALL {
        for entry in std::fs::read_dir(corpora.join(dialect.name())).unwrap() {
            let file = VectorFile::read(&std::fs::read_to_string(entry.unwrap().path()).unwrap()).unwrap();
            for vector in &file.vectors {
                let Some(request) = &vector.request else { continue };
                // A list alone is judged as a list, not as a body that should be an object.
                if vector.earlier.is_some() || request.is_array() {
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
    // Where fewer are mended, or more, this says so.
    assert_eq!((tally["mended"], tally["beyond"]), (MENDED, BEYOND));
}

/// Broken vectors that are mended, and those that are left alone: what a client may not send at all, and what needs a guess.
const MENDED: usize = 225;
const BEYOND: usize = 380;

/// Histories of each dialect; the nightly run asks for more.
const N_HISTORIES: u64 = 300;

#[test]
fn sound_histories_stay_and_mendable_ones_are_mended() {
    let n = std::env::var("BRICKBAT_HISTORIES").ok().and_then(|n| n.parse().ok()).unwrap_or(N_HISTORIES);
    let start = std::time::Instant::now();
    let (mut n_healthy, mut n_mended, mut n_beyond) = (0, 0, 0);
    for dialect in Dialect::ALL {
        for number in 0..n {
            let history = Outline::numbered(dialect, number).history();
            match outcome_of(&history).unwrap_or_else(|wrong| panic!("{dialect} {number}: {wrong}")) {
                Outcome::Healthy => n_healthy += 1,
                Outcome::Mended => n_mended += 1,
                Outcome::Beyond => n_beyond += 1,
            }
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    let n_all = n_healthy + n_mended + n_beyond;
    println!("{n_all} histories: {n_healthy} healthy, {n_mended} mended, {n_beyond} beyond; {seconds:.1} s");
    // Every third of a dialect is sound.
    let n_sound = Dialect::ALL.len() as u64 * n.div_ceil(3);
    assert_eq!((n_healthy, n_all), (n_sound, Dialect::ALL.len() as u64 * n));
}
