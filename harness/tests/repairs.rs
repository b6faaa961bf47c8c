//! The repair over the rule vectors and over generated histories in every dialect: what is sound stays byte for byte, what
//! can be mended is, and nothing is lost.

use std::collections::BTreeMap;
use std::path::Path;

use brickbat_rules::histories::generate::{History, Mending, Outline};
use brickbat_rules::lint::{Expectation, VectorFile};
use brickbat_rules::{Dialect, Profile};
use brickbat_sessions::{Block, Files, Repair, RepairOptions, Session, read_body, repair};

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
const MENDED: usize = 224;
const BEYOND: usize = 376;

/// Histories of each dialect; the nightly run asks for more.
const N_HISTORIES: u64 = 300;

#[test]
fn sound_histories_stay_and_mendable_ones_are_mended() {
    let n = std::env::var("BRICKBAT_HISTORIES").ok().and_then(|n| n.parse().ok()).unwrap_or(N_HISTORIES);
    let mut beyond: BTreeMap<String, u64> = BTreeMap::new();
    for dialect in Dialect::ALL {
        for number in 0..n {
            let history = Outline::numbered(dialect, number).history();
            let word = outcome(&history).unwrap_or_else(|wrong| panic!("{dialect} {number}: {wrong}"));
            let fault = history.fault.map_or("sound", |fault| fault.name());
            *beyond.entry(format!("{fault} {word}")).or_default() += 1;
        }
    }
    let of = |word: &str| beyond.iter().filter(|(key, _)| key.ends_with(word)).map(|(_, n)| n).sum::<u64>();
    println!(
        "{} histories: {} healthy, {} mended, {} beyond",
        n * 6,
        of("healthy"),
        of("mended"),
        of("beyond")
    );
}

/// What came of a history, or what is wrong with that.
fn outcome(history: &History) -> Result<&'static str, String> {
    let request = history.request();
    let body = request.body.to_string();
    let profile = Profile::newest(history.dialect);
    let options =
        RepairOptions { profile: Some(profile), body: Some(history.dialect), ..RepairOptions::default() };
    let files = Files::one("body.json", body.as_bytes());
    let fault = history.fault.map(|fault| (fault.name(), fault.mending()));
    match (repair(&files, 0, &options), fault) {
        (Ok(Repair::Healthy(_)), None) => Ok("healthy"),
        (Ok(Repair::Beyond(_)), Some((_, Mending::Impossible))) => Ok("beyond"),
        (Ok(Repair::Mended(mended)), Some((name, mending))) => {
            let before = read_body(body.as_bytes(), history.dialect).map_err(|error| error.to_string())?;
            let after = read_body(mended.files.main(), history.dialect).map_err(|error| error.to_string())?;
            let must_stay: Vec<&str> = request
                .blocks
                .iter()
                .filter(|(_, message, block)| !history.surplus.contains(&(*message, *block)))
                .map(|(pointer, ..)| pointer.as_str())
                .collect();
            if let Some(gone) = missing(&before, &after, &must_stay) {
                return Err(format!("{name} ({mending:?}): lost {gone:?}\n{body}"));
            }
            let again = repair(&mended.files, 0, &options);
            match again {
                Ok(Repair::Healthy(_)) => Ok("mended"),
                again => Err(format!("{name}: repaired twice: {again:?}")),
            }
        }
        (Ok(Repair::Beyond(beyond)), fault) => Err(format!("{fault:?}: {}\n{body}", beyond.why)),
        (Ok(Repair::Healthy(_)), fault) => Err(format!("{fault:?}: taken for healthy\n{body}")),
        (Ok(Repair::Mended(_)), None) => Err(format!("a sound history was changed\n{body}")),
        (Err(error), fault) => Err(format!("{fault:?}: {error}\n{body}")),
    }
}

/// A block that had to stay, and is gone.
fn missing<'s>(before: &'s Session, after: &Session, must_stay: &[&str]) -> Option<&'s Block> {
    let mut left: Vec<&brickbat_rules::histories::Block> =
        after.messages.iter().flat_map(|message| &message.blocks).map(|block| &block.content).collect();
    let blocks = before.messages.iter().flat_map(|message| &message.blocks);
    blocks.filter(|block| must_stay.contains(&block.place.pointer.as_str())).find(|block| {
        match left.iter().position(|content| **content == block.content) {
            Some(at) => {
                left.swap_remove(at);
                false
            }
            None => true,
        }
    })
}
