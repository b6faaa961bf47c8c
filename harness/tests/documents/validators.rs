//! The tables of validators of others, from the file that `harness/nightly/validators/validators.py` has
//! written.

use brickbat_rules::Rule;
use serde::Deserialize;

use super::blocks::table;
use super::*;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Report {
    validators: Vec<Validator>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Validator {
    name: String,
    version: String,
    registry: String,
    /// The function or the type that was asked.
    what: String,
    /// The checks that it is meant to make.
    claims: String,
    source: String,
    /// The families of rules that it claims to check completely.
    families: Vec<String>,
    /// The accepted and all valid histories of each dialect.
    valid: BTreeMap<String, (usize, usize)>,
    /// The rules with invalid histories, and those with a valid history that it refuses.
    rows: Vec<Row>,
}

/// The answers for one rule. Refusals are counted by reason.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    dialect: String,
    rule: String,
    refusals: BTreeMap<String, usize>,
    invalid: usize,
    missed: usize,
    crashed: usize,
    caught: BTreeMap<String, usize>,
    unrelated: BTreeMap<String, usize>,
}

impl Row {
    fn n_caught(&self) -> usize {
        self.caught.values().sum()
    }

    fn family(&self) -> &'static str {
        let family = Rule::find(&self.rule).and_then(Rule::family);
        family.unwrap_or_else(|| panic!("{}: no such rule", self.rule)).name()
    }
}

impl Validator {
    /// The refused and all invalid histories of a family, or nothing if there are none.
    fn of_family(&self, family: &str) -> String {
        let rows: Vec<&Row> = self.rows.iter().filter(|row| row.family() == family).collect();
        match rows.iter().map(|row| row.invalid).sum() {
            0_usize => String::new(),
            n => format!("{} of {n}", rows.iter().map(|row| row.n_caught()).sum::<usize>()),
        }
    }
}

fn all() -> Vec<Validator> {
    serde_json::from_str::<Report>(&read("docs/data/validators.json")).unwrap().validators
}

const HEAD: [&str; 6] = [
    "validator",
    "claim",
    "valid histories accepted",
    "refused, of the invalid ones in its claim",
    "not refused in its claim",
    "invalid ones refused beyond its claim",
];

/// A row for each validator.
pub fn validators() -> String {
    let rows = all().into_iter().map(|of| {
        let is_claimed = |row: &&Row| of.families.iter().any(|family| family == row.family());
        let (claimed, others): (Vec<&Row>, Vec<&Row>) = of.rows.iter().partition(is_claimed);
        let n_caught = |rows: &[&Row]| rows.iter().map(|row| row.n_caught()).sum::<usize>();
        let n_invalid: usize = claimed.iter().map(|row| row.invalid).sum();
        let mut missed = BTreeMap::new();
        for row in &claimed {
            let (left, all) = missed.entry(row.family()).or_insert((0, 0));
            *left += row.missed + row.crashed;
            *all += row.invalid;
        }
        missed.retain(|_, (left, _)| *left > 0);
        let missed = missed.iter().map(|(family, (left, all))| format!("`{family}` {left} of {all}"));
        let valid = of.valid.iter().filter(|(_, (_, all))| *all > 0);
        let valid = valid.map(|(dialect, (accepted, all))| format!("`{dialect}` {accepted} of {all}"));
        let claimed_cell = match of.families.is_empty() {
            true => "–".to_owned(),
            false => format!("{} of {n_invalid}", n_caught(&claimed)),
        };
        vec![
            format!("[{}]({}) {} ({}): {}", of.name, of.source, of.version, of.registry, of.what),
            of.claims.clone(),
            valid.collect::<Vec<_>>().join(", "),
            claimed_cell,
            missed.collect::<Vec<_>>().join(", "),
            n_caught(&others).to_string(),
        ]
    });
    format!("\n{}\n\n", table(&HEAD, rows).trim_end())
}

/// The refused histories of each family, in a column for each validator.
pub fn validators_by_family() -> String {
    let validators = all();
    let families: BTreeSet<&str> = validators.iter().flat_map(|of| of.rows.iter().map(Row::family)).collect();
    let rows = families.into_iter().filter_map(|family| {
        let cells: Vec<String> = validators.iter().map(|of| of.of_family(family)).collect();
        let is_asked = cells.iter().any(|cell| !cell.is_empty());
        is_asked.then(|| [vec![format!("`{family}`")], cells].concat())
    });
    let names = validators.iter().map(|of| of.name.as_str());
    let head: Vec<&str> = ["family"].into_iter().chain(names).collect();
    format!("\n{}\n\n", table(&head, rows).trim_end())
}

/// The valid histories that are refused, with the reason that the validator gives.
pub fn validators_too_strict() -> String {
    let validators = all();
    let rows = validators.iter().flat_map(|of| {
        let of_rule = move |row: &Row| {
            let refusals: Vec<_> = row.refusals.iter().map(|(why, n)| (why.clone(), *n)).collect();
            let rule = row.rule.clone();
            refusals.into_iter().map(move |(why, n)| {
                vec![
                    of.name.clone(),
                    format!("`{rule}`"),
                    n.to_string(),
                    format!("`{}`", why.replace('|', "/")),
                ]
            })
        };
        of.rows.iter().flat_map(of_rule).collect::<Vec<_>>()
    });
    let head = ["validator", "rule of the vector", "vectors", "its reason"];
    format!("\n{}\n\n", table(&head, rows).trim_end())
}

#[test]
fn each_row_of_a_validator_adds_up() {
    for of in all() {
        assert!(of.source.starts_with("https://"), "{}", of.name);
        for row in &of.rows {
            let place = format!("{}: {}", of.name, row.rule);
            assert!(row.rule.starts_with(&format!("{}/", row.dialect)), "{place}");
            // Refusals for a reason that a valid history gets as well are in none of the groups.
            let n_unrelated: usize = row.unrelated.values().sum();
            let n_answers = row.missed + row.crashed + row.n_caught() + n_unrelated;
            assert!(n_answers <= row.invalid, "{place}: {n_answers} of {}", row.invalid);
        }
        for family in &of.families {
            assert!(of.rows.iter().any(|row| row.family() == family), "{}: no vectors of {family}", of.name);
        }
    }
}
