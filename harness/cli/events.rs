//! `brickbat events`: events out of order, fed to what consumes an SDK's own stream.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};

use super::embedded::sequences;
use super::own::Own;
use super::progress::Progress;
use super::run::paint;
use super::secrets::redactor;
use super::{bad_input, block_on, own_program, print, tell};
use brickbat_drive::driver::DriverError;
use brickbat_drive::runner::{Feeder, Played, System};
use brickbat_engine::events::{Event, Sequence, Wrong, shuffled};
use brickbat_report::report::text::Tone;
use brickbat_scenario::parse::MAX_TEXT;
use brickbat_search::generate::Source;

/// Feeds sequences of events to what consumes an SDK's own stream, and judges what it stores after each event.
///
/// The events are those of the SDK itself, below any provider: a call begins, its arguments stream, it is ready, it has a
/// result, the turn is over. They come swapped, twice, late or not at all. Whatever the order, a call that is over stays as
/// it is, and nothing is lost, stored twice or left open. To refuse an event out loud is no mistake.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Events {
    /// Files with sequences; those that come with Brickbat by default.
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// A system whose adapter can feed events, such as `ai-sdk@6`. May be repeated.
    #[arg(long = "system", value_name = "NAME", id = "systems")]
    systems: Vec<String>,
    #[command(flatten)]
    own: Own,
    /// What is fed; everything that the adapter offers by default. May be repeated.
    #[arg(long = "consumer", value_name = "NAME")]
    consumers: Vec<String>,
    /// So many sequences more, drawn at random.
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(..=100_000))]
    shuffled: u32,
    /// The seed of the first of them.
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Print JSON, for other programs.
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "Examples:
  brickbat events --system ai-sdk@6
  brickbat events --system tanstack-ai@0.28.0 --system tanstack-ai@0.58.0 --consumer stream-processor
  brickbat events my-sequence.yaml --command 'node adapter.mjs' --shuffled 0

Exit codes: 0 right in every order, 1 something is stored wrong, 2 bad input, 3 a sequence could not be judged.";

/// Version of the JSON.
const SCHEMA: u32 = 1;

/// A consumer that failed so often is given up: the rest would say the same.
const MAX_FAILURES: usize = 3;

/// What became of all sequences on one consumer.
struct Sheet {
    system: String,
    sdk: String,
    consumer: String,
    named: Vec<(String, Vec<Event>, Played)>,
    drawn: Drawn,
    failures: Vec<String>,
}

/// What became of those that were drawn.
#[derive(Default)]
struct Drawn {
    n: usize,
    n_refused: usize,
    n_wrong: usize,
    causes: BTreeMap<Wrong, Cause>,
}

/// One kind of mistake, and the smallest sequence that shows it.
struct Cause {
    n: usize,
    events: Vec<Event>,
    played: Played,
}

impl Events {
    pub(super) fn execute(&self) -> u8 {
        if self.systems.is_empty() && self.own.command.is_none() && self.own.manifest.is_none() {
            return bad_input(
                "error: no system is named\nhint: `--system NAME`, `--manifest FILE` or `--command COMMAND`",
            );
        }
        let systems = match self.own.systems(&self.systems) {
            Ok(systems) => systems,
            Err(error) => return bad_input(error),
        };
        let named = match self.named() {
            Ok(named) => named,
            Err(error) => return bad_input(error),
        };
        let supervisor = match own_program() {
            Ok(supervisor) => supervisor,
            Err(code) => return code,
        };
        match block_on(self.play_all(&systems, &named, &supervisor)) {
            Ok(Ok(sheets)) => self.tell(&sheets),
            Ok(Err(code)) | Err(code) => code,
        }
    }

    fn named(&self) -> Result<Vec<(String, Sequence)>, String> {
        if self.files.is_empty() {
            return Ok(sequences());
        }
        self.files.iter().map(|path| read(path)).collect()
    }

    async fn play_all(
        &self,
        systems: &[System],
        named: &[(String, Sequence)],
        supervisor: &Path,
    ) -> Result<Vec<Sheet>, u8> {
        let mut sheets = Vec::new();
        for system in systems {
            let name = redactor().text(&system.name()).into_owned();
            let progress = Progress::on(&name);
            let note = |words: &str| progress.note(&redactor().text(words));
            let mut feeder = Feeder::start(system, supervisor, &note).await.map_err(|error| {
                tell(format!("error: {name}: {}", redactor().text(&error.to_string())));
                3
            })?;
            let offered = feeder.consumers().to_vec();
            if offered.is_empty() {
                return Err(bad_input(format!(
                    "error: the adapter of {name} offers no consumer of events\nhint: `consumers` in its answer to `initialize` names them"
                )));
            }
            let wanted = if self.consumers.is_empty() { &offered } else { &self.consumers };
            for consumer in wanted {
                sheets.push(self.sheet(&mut feeder, &name, consumer, named).await);
            }
        }
        Ok(sheets)
    }

    async fn sheet(
        &self,
        feeder: &mut Feeder,
        system: &str,
        consumer: &str,
        named: &[(String, Sequence)],
    ) -> Sheet {
        let mut sheet = Sheet {
            system: system.to_owned(),
            sdk: feeder.sdk(),
            consumer: consumer.to_owned(),
            named: Vec::new(),
            drawn: Drawn::default(),
            failures: Vec::new(),
        };
        for (name, sequence) in named {
            match feeder.play(consumer, &sequence.events).await {
                Ok(played) => sheet.named.push((name.clone(), sequence.events.clone(), played)),
                Err(error) => sheet.failures.push(format!("{name}: {error}")),
            }
            if sheet.failures.len() >= MAX_FAILURES {
                return sheet;
            }
        }
        for nth in 0..u64::from(self.shuffled) {
            let seed = self.seed.wrapping_add(nth);
            if let Err(error) = sheet.drawn.add(feeder, consumer, seed).await {
                sheet.failures.push(format!("seed {seed}: {error}"));
            }
            if sheet.failures.len() >= MAX_FAILURES {
                return sheet;
            }
        }
        sheet
    }

    fn tell(&self, sheets: &[Sheet]) -> u8 {
        match self.json {
            true => {
                let subjects: Vec<Value> = sheets.iter().map(Sheet::to_json).collect();
                let mut json = json!({ "schema": SCHEMA, "seed": self.seed, "subjects": subjects });
                redactor().value(&mut json);
                print(&format!("{json:#}\n"));
            }
            false => sheets.iter().for_each(|sheet| print(&redactor().text(&sheet.text(self.seed)))),
        }
        let is_wrong = |sheet: &Sheet| sheet.n_wrong() + sheet.drawn.n_wrong > 0;
        match () {
            () if sheets.iter().any(|sheet| !sheet.failures.is_empty()) => 3,
            () if sheets.iter().any(is_wrong) => 1,
            () => 0,
        }
    }
}

fn read(path: &Path) -> Result<(String, Sequence), String> {
    let shown = path.display();
    let size = std::fs::metadata(path).map_err(|error| format!("error: cannot read {shown}: {error}"))?.len();
    if size > MAX_TEXT as u64 {
        return Err(format!("error: {shown} has {size} bytes, more than {MAX_TEXT}"));
    }
    let text =
        std::fs::read_to_string(path).map_err(|error| format!("error: cannot read {shown}: {error}"))?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let sequence = Sequence::parse(&shown.to_string(), &text).map_err(|diagnostic| diagnostic.to_string())?;
    Ok((name, sequence))
}

impl Drawn {
    /// Draws a sequence, plays it, and makes the first of each kind of mistake small.
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
            if let Some(cause) = self.causes.get_mut(&wrong) {
                cause.n += 1;
                continue;
            }
            let events = feeder.smallest(consumer, events.clone(), wrong).await?;
            let played = feeder.play(consumer, &events).await?;
            self.causes.insert(wrong, Cause { n: 1, events, played });
        }
        Ok(())
    }
}

impl Sheet {
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
        let n_named = self.named.len();
        let many = if n_named == 1 { "sequence" } else { "sequences" };
        text.push_str(&format!("  {n_named} named {many}, {} wrong\n", self.n_wrong()));
        let Drawn { n, n_refused, n_wrong, causes } = &self.drawn;
        if *n > 0 {
            text.push_str(&format!(
                "  {n} drawn from seed {seed} on, {n_wrong} wrong, {n_refused} refused\n"
            ));
        }
        for (wrong, Cause { n, events, played }) in causes {
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
        let causes = self.drawn.causes.iter().map(|(wrong, Cause { n, events, played })| {
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

/// What was wrong or refused, a line each.
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
