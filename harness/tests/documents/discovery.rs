//! The tables of what the search finds, from the file that `brickbat-bench find` has written.

use serde::Deserialize;

use super::*;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Finds {
    schema: u32,
    plans: usize,
    seeds: Vec<u64>,
    stops: Vec<Stop>,
    bugs: Vec<Row>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Stop {
    plans: usize,
    behaviours: Both<usize>,
    bugs: Both<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    bug: String,
    plans: Both<Option<usize>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Both<T> {
    guided: Vec<T>,
    random: Vec<T>,
}

/// Student's t for 95 %, for one to nine degrees of freedom.
const T: [f64; 9] = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262];

impl Both<usize> {
    /// The mean of each, and the mean of the paired differences with half of its 95 % interval.
    fn cells(&self) -> [String; 3] {
        let n = self.guided.len() as f64;
        let mean = |of: &[usize]| format!("{:.1}", of.iter().sum::<usize>() as f64 / n);
        let pairs = self.guided.iter().zip(&self.random);
        let differences: Vec<f64> = pairs.map(|(guided, random)| *guided as f64 - *random as f64).collect();
        let of_all = differences.iter().sum::<f64>() / n;
        let variance = differences.iter().map(|own| (own - of_all).powi(2)).sum::<f64>() / (n - 1.0);
        let half = T[self.guided.len() - 2] * (variance / n).sqrt();
        [mean(&self.guided), mean(&self.random), format!("{of_all:+.1} ± {half:.1}")]
    }
}

/// The lower quartile, the median and the upper quartile; the greatest number for a campaign that ended without a find.
fn quartiles(finds: &[Option<usize>]) -> [usize; 3] {
    let mut sorted: Vec<usize> = finds.iter().map(|find| find.unwrap_or(usize::MAX)).collect();
    sorted.sort_unstable();
    [1, 2, 3].map(|quarter| sorted[(sorted.len() - 1) * quarter / 4])
}

fn plans_cell(finds: &[Option<usize>]) -> String {
    let words = quartiles(finds).map(|n| if n == usize::MAX { "–".to_owned() } else { n.to_string() });
    words.join(", ")
}

/// A bug that is found so soon in the median, guided and by chance, is not worth a row.
const SOON: usize = 32;

fn finds() -> Finds {
    let finds: Finds = serde_json::from_str(&read("harness/bench/finds.json")).unwrap();
    assert_eq!(finds.schema, 1);
    finds
}

/// What was reached after so many plans, guided and by chance.
pub fn guided() -> String {
    let finds = finds();
    let n_bugs = finds.bugs.len();
    let mut text = format!("\n{} seeds, {n_bugs} planted bugs.\n\n", finds.seeds.len());
    text += "| plans | what | guided | random | difference, 95 % |\n|---|---|---|---|---|\n";
    for stop in &finds.stops {
        for (what, both) in [("behaviours", &stop.behaviours), ("planted bugs found", &stop.bugs)] {
            writeln!(text, "| {} | {what} | {} |", stop.plans, both.cells().join(" | ")).unwrap();
        }
    }
    text + "\n"
}

/// The plans that it took to find each bug that is not found soon.
pub fn time_to_find() -> String {
    let finds = finds();
    let is_late = |row: &&Row| {
        let [guided, random] = [&row.plans.guided, &row.plans.random].map(|own| quartiles(own)[1]);
        guided.max(random) > SOON
    };
    let late: Vec<&Row> = finds.bugs.iter().filter(is_late).collect();
    let mut text = format!(
        "\nPlans until the find: lower quartile, median and upper quartile of {} seeds; – is none in {}. \
         {} bugs, which both find within {SOON} plans in the median, are left out.\n\n",
        finds.seeds.len(),
        finds.plans,
        finds.bugs.len() - late.len()
    );
    text += "| planted bug | guided | random |\n|---|---|---|\n";
    for Row { bug, plans } in late {
        writeln!(text, "| `{bug}` | {} | {} |", plans_cell(&plans.guided), plans_cell(&plans.random))
            .unwrap();
    }
    text + "\n"
}
