//! The tables of what the search finds, from the files that `brickbat-bench` has written.

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

/// The lower quartile, the median and the upper quartile; none for a campaign that ended without a find.
fn quartiles<T: Copy + PartialOrd>(finds: &[Option<T>]) -> [Option<T>; 3] {
    let mut sorted: Vec<Option<T>> = finds.to_vec();
    let rank = |find: &Option<T>| (find.is_none(), *find);
    sorted.sort_by(|one, other| rank(one).partial_cmp(&rank(other)).unwrap());
    [1, 2, 3].map(|quarter| sorted[(sorted.len() - 1) * quarter / 4])
}

fn quartiles_cell<T: Copy + PartialOrd + ToString>(finds: &[Option<T>]) -> String {
    quartiles(finds).map(|find| find.map_or_else(|| "–".to_owned(), |find| find.to_string())).join(", ")
}

/// A bug with a median below this, guided and by chance, is not worth a row.
const SOON: usize = 32;

fn finds() -> Finds {
    let finds: Finds = serde_json::from_str(&read("docs/data/finds.json")).unwrap();
    assert_eq!(finds.schema, 1);
    finds
}

/// The coverage after a number of plans, guided and by chance.
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

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Real {
    schema: u32,
    plans: usize,
    seeds: Vec<u64>,
    systems: Vec<OfSystem>,
}

/// The coverage of each seed on a system.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OfSystem {
    system: String,
    /// Including the control plans.
    plans: Both<usize>,
    behaviours: Both<usize>,
    failures: Both<usize>,
}

/// The same on real systems.
pub fn guided_on_real_systems() -> String {
    let real: Real = serde_json::from_str(&read("docs/data/real.json")).unwrap();
    assert_eq!(real.schema, 1);
    let mut text = format!("\n{} generated plans a run, {} seeds.\n\n", real.plans, real.seeds.len());
    text += "| system | what | guided | random | difference, 95 % |\n|---|---|---|---|---|\n";
    for OfSystem { system, plans, behaviours, failures } in &real.systems {
        let rows =
            [("behaviours", behaviours), ("distinct failures", failures), ("plans with controls", plans)];
        for (what, both) in rows {
            writeln!(text, "| `{system}` | {what} | {} |", both.cells().join(" | ")).unwrap();
        }
    }
    text + "\n"
}

/// The number of plans that it took to find each bug that is not found early.
pub fn time_to_find() -> String {
    let finds = finds();
    let is_late = |row: &&Row| {
        let medians = [&row.plans.guided, &row.plans.random].map(|own| quartiles(own)[1]);
        medians.into_iter().any(|median| median.is_none_or(|median| median > SOON))
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
        writeln!(text, "| `{bug}` | {} | {} |", quartiles_cell(&plans.guided), quartiles_cell(&plans.random))
            .unwrap();
    }
    text + "\n"
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Race {
    schema: u32,
    seconds: u64,
    seeds: Vec<u64>,
    bugs: Vec<Times>,
}

/// Seconds until the find of a planted bug, for each seed.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Times {
    bug: String,
    guided: Vec<Option<f64>>,
    random: Vec<Option<f64>>,
    proptest: Vec<Option<f64>>,
    libfuzzer: Vec<Option<f64>>,
}

impl Times {
    fn ways(&self) -> [&[Option<f64>]; 4] {
        [&self.guided, &self.random, &self.proptest, &self.libfuzzer]
    }
}

/// Shares of the time of a run after which the finds are counted.
const SHARES: [f64; 4] = [0.001, 0.01, 0.1, 1.0];

/// A bug that each way finds within these seconds, in the median, is not worth a row.
const AT_ONCE: f64 = 1.0;

/// How many bugs each way of searching has found, and when: on average, and for each bug that takes long.
pub fn race() -> String {
    let race: Race = serde_json::from_str(&read("docs/data/race.json")).unwrap();
    assert_eq!(race.schema, 1);
    let Race { seconds, seeds, bugs, .. } = &race;
    let mut text = format!("\n{} seeds, {} planted bugs, {seconds} s a run.\n\n", seeds.len(), bugs.len());
    let head = "| guided | random | proptest | libFuzzer |\n|---|---|---|---|---|\n";
    write!(text, "| planted bugs found after {head}").unwrap();
    for limit in SHARES.map(|share| share * *seconds as f64) {
        let n_found = |way: usize| {
            let all = bugs.iter().flat_map(|bug| bug.ways()[way]);
            all.flatten().filter(|seconds| **seconds <= limit).count() as f64 / seeds.len() as f64
        };
        let cells = [0, 1, 2, 3].map(|way| format!("{:.1}", n_found(way)));
        writeln!(text, "| {limit} s | {} |", cells.join(" | ")).unwrap();
    }
    let is_late = |bug: &&Times| {
        bug.ways().into_iter().any(|way| quartiles(way)[1].is_none_or(|median| median > AT_ONCE))
    };
    let late: Vec<&Times> = bugs.iter().filter(is_late).collect();
    write!(
        text,
        "\nSeconds until the find: lower quartile, median and upper quartile; – is none in {seconds} s. {} bugs, which all four \
         find within {AT_ONCE} s in the median, are left out.\n\n| planted bug {head}",
        bugs.len() - late.len()
    )
    .unwrap();
    for bug in late {
        writeln!(text, "| `{}` | {} |", bug.bug, bug.ways().map(quartiles_cell).join(" | ")).unwrap();
    }
    text + "\n"
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Worlds {
    schema: u32,
    sizes: Vec<Size>,
    bugs: Vec<Shown>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Size {
    turns: usize,
    calls: usize,
    scenarios: usize,
    plans: usize,
    distinct: usize,
    bugs: usize,
}

/// A planted bug, and the part that is read of the world that shows it first.
#[derive(Deserialize)]
struct Shown {
    bug: String,
    turns: Option<usize>,
}

fn worlds_file() -> Worlds {
    let worlds: Worlds = serde_json::from_str(&read("docs/data/worlds.json")).unwrap();
    assert_eq!(worlds.schema, 1);
    worlds
}

/// How many small worlds there are of each size, and which planted bugs none of them shows.
pub fn worlds() -> String {
    let Worlds { sizes, bugs, .. } = worlds_file();
    let mut text = "\n| turns | calls | scenarios | plans | distinct plans | planted bugs that no smaller world shows |\n\
                    |---|---|---|---|---|---|\n"
        .to_owned();
    for Size { turns, calls, scenarios, plans, distinct, bugs } in &sizes {
        writeln!(text, "| {turns} | {calls} | {scenarios} | {plans} | {distinct} | {bugs} |").unwrap();
    }
    let sum = |of: fn(&Size) -> usize| sizes.iter().map(of).sum::<usize>();
    writeln!(
        text,
        "| all | all | {} | {} | {} | {} |",
        sum(|size| size.scenarios),
        sum(|size| size.plans),
        sum(|size| size.distinct),
        sum(|size| size.bugs)
    )
    .unwrap();
    let is_hidden = |bug: &&Shown| bug.turns.is_none();
    let hidden: Vec<String> = bugs.iter().filter(is_hidden).map(|bug| format!("`{}`", bug.bug)).collect();
    writeln!(
        text,
        "\nNo small world shows {} of the {} planted bugs: {}.\n",
        hidden.len(),
        bugs.len(),
        hidden.join(", ")
    )
    .unwrap();
    text
}

/// A part of a sweep.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Part {
    seed: u64,
    first: u64,
    plans: u64,
    plans_by_dialect: BTreeMap<String, u64>,
    kinds_of_accusations: usize,
    cpu_hours: f64,
}

/// The number of generated plans that the reference agent has played without an accusation.
pub fn sweep() -> String {
    let mut parts: Vec<Part> = serde_json::from_str(&read("docs/data/sweep.json")).unwrap();
    parts.sort_by_key(|part| (part.seed, part.first));
    let is_apart =
        |pair: &[Part]| pair[0].seed != pair[1].seed || pair[0].first + pair[0].plans <= pair[1].first;
    assert!(parts.windows(2).all(is_apart), "a plan is counted twice");
    let mut by_dialect: BTreeMap<&str, u64> = BTreeMap::new();
    for (dialect, n) in parts.iter().flat_map(|part| &part.plans_by_dialect) {
        *by_dialect.entry(dialect).or_default() += n;
    }
    assert!(parts.iter().all(|part| part.kinds_of_accusations == 0));
    let number = |n: u64| super::number(n as f64);
    let dialects: Vec<String> =
        by_dialect.iter().map(|(dialect, n)| format!("{} in {dialect}", number(*n))).collect();
    let seeds: BTreeSet<String> = parts.iter().map(|part| part.seed.to_string()).collect();
    format!(
        "\n{} plans of seed {}, in {:.2} hours of CPU time: {}. Nothing accused the reference agent.\n\n",
        number(parts.iter().map(|part| part.plans).sum()),
        seeds.into_iter().collect::<Vec<_>>().join(" and "),
        parts.iter().map(|part| part.cpu_hours).sum::<f64>(),
        dialects.join(", ")
    )
}
