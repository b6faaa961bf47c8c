//! `brickbat events`: events out of order, sent to the code that consumes an SDK's own stream.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};

use super::embedded::sequences;
use super::error::{CliError, Outcome};
use super::launch::{block_on, cannot_start, own_program};
use super::options::SystemOptions;
use super::output::{paint, print, print_json};
use super::progress::Progress;
use super::regular;
use super::secrets::redactor;
use brickbat_drive::driver::DriverError;
use brickbat_drive::runner::{Feeder, Played, System};
use brickbat_engine::events::{Event, Sequence, Wrong, shuffled};
use brickbat_report::report::text::{Tone, counted};
use brickbat_scenario::parse::MAX_TEXT;
use brickbat_search::generate::Source;

/// Replay an SDK's own stream events out of order, and judge what the SDK stores after each event.
///
/// The events are those of the SDK itself, independent of any provider: a call begins, its arguments stream, it is
/// ready, it has a result, the turn ends. They arrive swapped, twice, late or not at all. Whatever the order, a
/// finished call must not change, and nothing may be lost, stored twice or left open. Rejecting an event with an error
/// is allowed.
#[derive(Args)]
#[command(after_help = EXAMPLES, mut_arg("systems", |arg| arg.help(SYSTEM_HELP)))]
pub(super) struct Events {
    /// Files with event sequences; the built-in sequences by default.
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    system: SystemOptions,
    /// The consumer to feed; by default every consumer that the adapter offers. May be repeated.
    #[arg(long = "consumer", value_name = "NAME")]
    consumers: Vec<String>,
    /// How many additional random sequences to play.
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(..=100_000))]
    shuffled: u32,
    /// The seed for the first random sequence.
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Print machine-readable JSON.
    #[arg(long)]
    json: bool,
}

const SYSTEM_HELP: &str = "A system whose adapter can feed events, such as `ai-sdk@6`. With --manifest, a name from that manifest. May be repeated";

const EXAMPLES: &str = "Examples:
  brickbat events --system ai-sdk@6
  brickbat events --system tanstack-ai@0.28.0 --system tanstack-ai@0.58.0 --consumer stream-processor
  brickbat events my-sequence.yaml --command 'node adapter.mjs' --shuffled 0

Exit codes: 0 correct in every order, 1 something is stored wrongly, 2 bad input, 3 a sequence could not be judged.";

/// Version of the JSON.
const SCHEMA: u32 = 1;

/// A consumer is skipped after this many failures, because the rest would be the same.
const MAX_FAILURES: usize = 3;

/// The results of all sequences for one consumer.
struct ConsumerResult {
    system: String,
    sdk: String,
    consumer: String,
    named: Vec<(String, Vec<Event>, Played)>,
    drawn: Drawn,
    failures: Vec<String>,
}

/// The results of random sequences.
#[derive(Default)]
struct Drawn {
    n: usize,
    n_refused: usize,
    n_wrong: usize,
    failures: BTreeMap<Wrong, Smallest>,
}

/// The number of errors of one kind, and the smallest sequence that triggers one.
struct Smallest {
    n: usize,
    events: Vec<Event>,
    played: Played,
}

impl Events {
    pub(super) fn execute(&self) -> Outcome {
        if !self.system.is_given() {
            let hint = "use `--system NAME`, `--manifest FILE` or `--command COMMAND`";
            return Err(CliError::input(format!("no system is named\nhint: {hint}")));
        }
        let systems = self.system.systems()?;
        let named = match self.files.as_slice() {
            [] => sequences(),
            files => files.iter().map(|path| read(path)).collect::<Result<_, CliError>>()?,
        };
        let results = block_on(self.play_all(&systems, &named, &own_program()?))??;
        self.report(&results);
        let is_wrong = |result: &ConsumerResult| result.n_wrong() + result.drawn.n_wrong > 0;
        Ok(if results.iter().any(|result| !result.failures.is_empty()) {
            3
        } else {
            u8::from(results.iter().any(is_wrong))
        })
    }

    async fn play_all(
        &self,
        systems: &[System],
        named: &[(String, Sequence)],
        supervisor: &Path,
    ) -> Result<Vec<ConsumerResult>, CliError> {
        let mut results = Vec::new();
        for system in systems {
            let name = redactor().text(&system.name()).into_owned();
            let progress = Progress::on(system);
            let note = |words: &str| progress.note(words);
            let started = Feeder::start(system, supervisor, &note).await;
            let mut feeder = started.map_err(|error| match system {
                System::Adapted(_) => cannot_start(system, &error),
                System::Simulated(_) | System::Live(..) => CliError::start(format!("{name}: {error}")),
            })?;
            let offered = feeder.consumers().to_vec();
            if offered.is_empty() {
                return Err(CliError::input(format!(
                    "the adapter of {name} offers no consumer of events\nhint: an adapter lists them as `consumers` in its response to `initialize`"
                )));
            }
            let wanted = if self.consumers.is_empty() { &offered } else { &self.consumers };
            for consumer in wanted {
                results.push(self.play(&mut feeder, &name, consumer, named).await);
            }
        }
        Ok(results)
    }

    async fn play(
        &self,
        feeder: &mut Feeder,
        system: &str,
        consumer: &str,
        named: &[(String, Sequence)],
    ) -> ConsumerResult {
        let mut result = ConsumerResult {
            system: system.to_owned(),
            sdk: feeder.sdk(),
            consumer: consumer.to_owned(),
            named: Vec::new(),
            drawn: Drawn::default(),
            failures: Vec::new(),
        };
        for (name, sequence) in named {
            match feeder.play(consumer, &sequence.events).await {
                Ok(played) => result.named.push((name.clone(), sequence.events.clone(), played)),
                Err(error) => result.failures.push(format!("{name}: {error}")),
            }
            if result.failures.len() >= MAX_FAILURES {
                return result;
            }
        }
        for nth in 0..u64::from(self.shuffled) {
            let seed = self.seed.wrapping_add(nth);
            if let Err(error) = result.drawn.add(feeder, consumer, seed).await {
                result.failures.push(format!("seed {seed}: {error}"));
            }
            if result.failures.len() >= MAX_FAILURES {
                return result;
            }
        }
        result
    }

    fn report(&self, results: &[ConsumerResult]) {
        if self.json {
            let subjects: Vec<Value> = results.iter().map(ConsumerResult::to_json).collect();
            return print_json(json!({ "schema": SCHEMA, "seed": self.seed, "subjects": subjects }));
        }
        results.iter().for_each(|result| print(&result.text(self.seed)));
    }
}

fn read(path: &Path) -> Result<(String, Sequence), CliError> {
    let shown = path.display();
    let cannot_read = |error: std::io::Error| CliError::cannot_read(&shown, error);
    let n_bytes = std::fs::metadata(path).map_err(cannot_read)?.len();
    if n_bytes > MAX_TEXT as u64 {
        return Err(CliError::input(format!("{shown} has {n_bytes} bytes; the limit is {MAX_TEXT}")));
    }
    let text = regular::text(path, MAX_TEXT as u64).map_err(cannot_read)?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Ok((name, Sequence::parse(&shown.to_string(), &text)?))
}

impl Drawn {
    /// Draws random sequences, runs them, and minimises the first of each kind of error.
    async fn add(&mut self, feeder: &mut Feeder, consumer: &str, seed: u64) -> Result<(), DriverError> {
        let mut source = Source::seeded(seed);
        let events = shuffled(&mut |n| source.below(n));
        let played = feeder.play(consumer, &events).await?;
        self.n += 1;
        self.n_refused += usize::from(played.refused.is_some());
        self.n_wrong += usize::from(!played.breaches.is_empty());
        let mut kinds: Vec<Wrong> = played.breaches.iter().map(|breach| breach.wrong).collect();
        kinds.sort();
        kinds.dedup();
        for wrong in kinds {
            if let Some(known) = self.failures.get_mut(&wrong) {
                known.n += 1;
                continue;
            }
            let events = feeder.smallest(consumer, events.clone(), wrong).await?;
            let played = feeder.play(consumer, &events).await?;
            self.failures.insert(wrong, Smallest { n: 1, events, played });
        }
        Ok(())
    }
}

impl ConsumerResult {
    fn n_wrong(&self) -> usize {
        self.named.iter().filter(|(_, _, played)| !played.breaches.is_empty()).count()
    }

    fn text(&self, seed: u64) -> String {
        let mut text = format!("{} ({}), {}\n", self.system, self.sdk, self.consumer);
        for (name, events, played) in &self.named {
            let (tone, word) = verdict(played);
            text.push_str(&format!("  {}  {name}\n", paint(tone, &format!("{word:<7}"))));
            if !played.breaches.is_empty() {
                text.push_str(&format!("           {}\n", words(events)));
            }
            text.push_str(&findings(played, "           "));
        }
        text.push_str(&format!(
            "  {}, {} wrong\n",
            counted(self.named.len(), "named sequence"),
            self.n_wrong()
        ));
        let Drawn { n, n_refused, n_wrong, failures } = &self.drawn;
        if *n > 0 {
            text.push_str(&format!("  {n} random from seed {seed}, {n_wrong} wrong, {n_refused} refused\n"));
        }
        for (wrong, Smallest { n, events, played }) in failures {
            let name = paint(Tone::Bad, wrong.name());
            text.push_str(&format!("    {name} in {n}, the smallest: {}\n", words(events)));
            text.push_str(&findings(played, "      "));
        }
        for failure in &self.failures {
            text.push_str(&format!("  {}  {failure}\n", paint(Tone::Warn, "not judged")));
        }
        text
    }

    fn to_json(&self) -> Value {
        let named = self.named.iter().map(|(name, events, played)| {
            let mut entry = entry(events, played);
            entry["name"] = json!(name);
            entry
        });
        let causes = self.drawn.failures.iter().map(|(wrong, Smallest { n, events, played })| {
            let mut entry = entry(events, played);
            entry["wrong"] = json!(wrong);
            entry["n"] = json!(n);
            entry
        });
        let Drawn { n, n_refused, n_wrong, .. } = self.drawn;
        json!({
            "system": self.system,
            "sdk": self.sdk,
            "consumer": self.consumer,
            "named": named.collect::<Vec<Value>>(),
            "drawn": { "n": n, "wrong": n_wrong, "refused": n_refused, "causes": causes.collect::<Vec<Value>>() },
            "failures": self.failures,
        })
    }
}

fn verdict(played: &Played) -> (Tone, &'static str) {
    match (played.breaches.is_empty(), &played.refused) {
        (false, _) => (Tone::Bad, "WRONG"),
        (true, Some(_)) => (Tone::Warn, "refused"),
        (true, None) => (Tone::Good, "ok"),
    }
}

fn words(events: &[Event]) -> String {
    let words: Vec<String> = events.iter().map(ToString::to_string).collect();
    words.join(", ")
}

/// The errors and rejections, one per line.
fn findings(played: &Played, indent: &str) -> String {
    let mut text: String =
        played.breaches.iter().map(|breach| format!("{indent}{}: {breach}\n", breach.wrong.name())).collect();
    if let Some(refused) = &played.refused {
        text.push_str(&format!("{indent}event {} was refused: {}\n", refused.at, refused.message));
    }
    text
}

fn entry(events: &[Event], played: &Played) -> Value {
    let breaches = played.breaches.iter().map(|breach| {
        json!({ "call": breach.call, "wrong": breach.wrong, "at": breach.at, "words": breach.to_string() })
    });
    json!({
        "verdict": verdict(played).1.to_lowercase(),
        "events": events,
        "breaches": breaches.collect::<Vec<Value>>(),
        "refused": played.refused,
    })
}
