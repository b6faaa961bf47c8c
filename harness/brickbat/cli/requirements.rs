//! Dated requirements: the scenarios, checks and profiles at a date. With them, an update of Brickbat does
//! not change the verdicts and levels of a system.

use std::collections::{BTreeMap, BTreeSet};

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use super::error::UnknownName;
use super::library;
use brickbat_drive::runner::{Job, System};
use brickbat_report::report::Case;
use brickbat_rules::Profile;
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::parse;

/// A set of requirements, as stored in `corpora/requirements`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Requirements {
    /// The name of the set: the month in which it was frozen.
    #[serde(skip)]
    pub(super) name: String,
    #[serde(rename = "schema")]
    _schema: u32,
    /// The provider's strictness, one profile for each dialect.
    #[serde(deserialize_with = "profiles")]
    pub(super) profiles: Vec<&'static Profile>,
    /// The checks that count.
    pub(super) checks: Vec<String>,
    /// The scenarios, each with the hash of its file.
    pub(super) scenarios: BTreeMap<String, String>,
}

impl Requirements {
    /// True if a plan belongs to the set, or to a file of the user.
    pub(super) fn has(&self, job: &Job) -> bool {
        job.path.is_some() || self.scenarios.contains_key(&job.plan.id.scenario)
    }

    /// The newest set.
    pub(super) fn newest() -> Option<Requirements> {
        library::requirements().into_iter().next_back().and_then(|(name, text)| read(&name, text).ok())
    }

    /// The set with the given name.
    pub(super) fn named(name: &str) -> Result<Requirements, UnknownName> {
        let sets = library::requirements();
        match sets.iter().find(|(known, _)| known == name) {
            Some((name, text)) => read(name, text).map_err(|error| UnknownName(error.to_string())),
            None => {
                let known: Vec<&str> = sets.iter().map(|(name, _)| name.as_str()).collect();
                Err(UnknownName(format!("expected one of {}", known.join(", "))))
            }
        }
    }

    /// True if a run of all scenarios in these dialects, with these profiles, covers everything that the set
    /// requires of a system.
    pub(super) fn are_whole(
        &self,
        system: &System,
        dialects: &[Dialect],
        profiles: &[&'static Profile],
    ) -> bool {
        let speaks_no_other = system.dialects().iter().all(|dialect| dialects.contains(dialect));
        let is_applied = |own: &&Profile| profiles.iter().any(|profile| profile.name == own.name);
        speaks_no_other && self.profiles.iter().all(is_applied)
    }

    /// True if every scenario in the set was judged on each system, in at least one dialect.
    pub(super) fn ran_in(&self, cases: &[Case]) -> bool {
        let mut ran: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for case in cases {
            let scenario = case.plan.split(['#', '@']).next().unwrap_or_default();
            ran.entry(&case.system).or_default().insert(scenario);
        }
        ran.values().all(|ran| self.scenarios.keys().all(|id| ran.contains(id.as_str())))
    }
}

fn profiles<'de, D: Deserializer<'de>>(names: D) -> Result<Vec<&'static Profile>, D::Error> {
    let unknown = |name: &str| D::Error::custom(format!("unknown profile `{name}`"));
    let profile = |name: &String| Profile::named(name).ok_or_else(|| unknown(name));
    Vec::<String>::deserialize(names)?.iter().map(profile).collect()
}

fn read(name: &str, text: &str) -> Result<Requirements, parse::Diagnostic> {
    let file = format!("corpora/requirements/{name}.yaml");
    let set: Requirements = parse::document(&file, text, |_| None)?;
    Ok(Requirements { name: name.to_owned(), ..set })
}

#[cfg(test)]
mod tests {
    use super::*;
    use brickbat_engine::checks::CHECKS;
    use brickbat_scenario::hash::fnv1a;
    use std::fmt::Write;

    /// A frozen set does not change. The newest set has every scenario, check and profile. When that is no
    /// longer true, it is written again with `BRICKBAT_UPDATE=1` if it has not been released. Otherwise a new
    /// set begins.
    #[test]
    fn the_newest_set_holds_every_scenario_check_and_profile() {
        let hash = |text: &str| format!("{:016x}", fnv1a(text.as_bytes()));
        let mut text = String::from(
            "# The requirements of 2026-11: `brickbat run --requirements 2026-11`. Written by a test with BRICKBAT_UPDATE=1.\n\
             schema: 1\nprofiles:\n",
        );
        Dialect::ALL
            .iter()
            .for_each(|dialect| writeln!(text, "  - {}", Profile::newest(*dialect).name).unwrap());
        text.push_str("checks:\n");
        CHECKS.iter().for_each(|check| writeln!(text, "  - {}", check.id).unwrap());
        text.push_str("scenarios:\n");
        for (id, scenario) in library::built_in() {
            writeln!(text, "  {id}: '{}'", hash(scenario)).unwrap();
        }
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/corpora/requirements/2026-11.yaml");
        if std::env::var_os("BRICKBAT_UPDATE").is_some() {
            std::fs::write(path, &text).unwrap();
        }
        assert!(std::fs::read_to_string(path).unwrap() == text, "write it again with BRICKBAT_UPDATE=1");
    }

    #[test]
    fn a_plan_of_a_newer_scenario_is_not_of_the_set() {
        let words = ["abort/mid-batch".to_owned()];
        let all = super::super::options::jobs(&words, &[Dialect::Gemini], None, 0).unwrap();
        let mut set = Requirements::newest().unwrap();
        assert!(all.iter().all(|job| set.has(job)));
        set.scenarios.remove("abort/mid-batch");
        assert!(!all.iter().any(|job| set.has(job)));
        let own = Job { path: Some("own.yaml".into()), ..all[0].clone() };
        assert!(set.has(&own), "a file of the user belongs to each set");
    }

    #[test]
    fn each_set_can_be_read() {
        let sets = library::requirements();
        assert!(!sets.is_empty());
        for (name, text) in sets {
            let set = read(&name, text).unwrap();
            assert_eq!(set.profiles.len(), Dialect::ALL.len());
            assert!(set.checks.iter().all(|check| CHECKS.iter().any(|known| known.id == *check)));
        }
        assert!(Requirements::named("1999-01").is_err());
    }
}
