//! `brickbat diff`: the same plans on two systems, and where they part.

use std::path::{Path, PathBuf};

use clap::Args;

use super::interrupt::until_interrupted;
use super::library::{self, Selection, Source};
use super::merge::read_report;
use super::own::Own;
use super::progress::Progress;
use super::run::{dialect, paint, profile, profiles};
use super::secrets::redactor;
use super::shrink::options;
use super::{bad_input, block_on, own_program, print, tell};
use brickbat_drive::runner::{self, Job, Options, Repeat, System};
use brickbat_report::parting::{Comparison, Gap, Parting};
use brickbat_report::report::Case;
use brickbat_report::report::text::Tone;
use brickbat_rules::Profile;
use brickbat_rules::dialect::Dialect;

/// Runs the same plans on two systems, versions or modes, and tells where they part: one plan for each cause.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Diff {
    /// A system, such as `ai-sdk@5/ui-messages`; or the JSON report of a run on one system, which is not run again.
    #[arg(value_name = "SYSTEM")]
    first: String,
    /// The system that it is held against, or its report.
    #[arg(value_name = "SYSTEM")]
    second: String,
    /// A scenario file or folder, or the beginning of a built-in plan's id, such as `abort/`; all built-in ones by
    /// default.
    #[arg(value_name = "SCENARIO")]
    scenarios: Vec<String>,
    /// A manifest of your own that names the systems.
    #[arg(long, value_name = "FILE")]
    manifest: Option<PathBuf>,
    /// A dialect that the provider speaks; all by default. May be repeated.
    #[arg(long = "dialect", value_name = "DIALECT", value_parser = dialect)]
    dialects: Vec<Dialect>,
    /// How strict the provider is, such as `anthropic-messages@2026-05`; the newest by default. May be repeated.
    #[arg(long = "profile", value_name = "PROFILE", value_parser = profile)]
    profiles: Vec<&'static Profile>,
    /// Only plans whose id contains this text.
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Plans at once; an agent that speaks ACP itself runs one at a time.
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=256))]
    jobs: u16,
    /// Do not run a plan with a finding a second time, nor what is doubtful alone.
    #[arg(long)]
    no_confirm: bool,
    /// Seed of the wire ids.
    #[arg(long, value_name = "S", default_value_t = 0)]
    seed: u64,
    /// Print the comparison as JSON.
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "Examples:
  brickbat diff ai-sdk@5/ui-messages ai-sdk@7/ui-messages
  brickbat diff ai-sdk@7/ui-messages ai-sdk@7/ui-messages-clean abort/ --dialect openai-chat
  brickbat diff before.json after.json
  brickbat diff before.json ai-sdk@7/ui-messages --json

Exit codes: 0 the systems do the same, 1 they part, 2 bad input, 3 a plan could not be judged.";

impl Diff {
    pub(super) fn execute(&self) -> u8 {
        match self.compare() {
            Ok(comparison) => self.tell(&comparison),
            Err(code) => code,
        }
    }

    fn compare(&self) -> Result<Comparison, u8> {
        // What cannot be read is told before anything runs.
        let sides = [self.side(&self.first)?, self.side(&self.second)?];
        let jobs = match sides.iter().any(|side| matches!(side, Side::System(_))) {
            true => self.jobs()?,
            false => Vec::new(),
        };
        let [first, second] = sides;
        let first = self.cases(first, &jobs)?;
        let second = self.cases(second, &jobs)?;
        Ok(Comparison::of(&first, &second))
    }

    fn side(&self, word: &str) -> Result<Side, u8> {
        if Path::new(word).extension().is_some_and(|ending| ending == "json") {
            let cases = read_report(Path::new(word))?.cases;
            if cases.windows(2).any(|pair| pair[0].system != pair[1].system) {
                return Err(bad_input(format!(
                    "error: {word} is of several systems\nhint: give a report of each: `brickbat run --system NAME --report FILE`"
                )));
            }
            return Ok(Side::Ran(cases));
        }
        let own = Own { manifest: self.manifest.clone(), command: None, mode: None, sdk_version: None };
        let systems = own.systems(&[word.to_owned()]).map_err(bad_input)?;
        systems.into_iter().next().map(Side::System).ok_or_else(|| bad_input("error: no system is named"))
    }

    fn jobs(&self) -> Result<Vec<Job>, u8> {
        let sources: Vec<Source> = self.scenarios.iter().map(|word| Source::of(word)).collect();
        let dialects = if self.dialects.is_empty() { &Dialect::ALL[..] } else { &self.dialects };
        let filter = self.filter.as_deref();
        let jobs = library::load(&Selection { sources: &sources, dialects, filter, seed: self.seed })
            .map_err(bad_input)?;
        match jobs.is_empty() {
            true => Err(bad_input("error: no plan is left\nhint: `brickbat run --list` shows what there is")),
            false => Ok(jobs),
        }
    }

    /// What a system does in all plans.
    fn cases(&self, side: Side, jobs: &[Job]) -> Result<Vec<Case>, u8> {
        let system = match side {
            Side::Ran(cases) => return Ok(cases),
            Side::System(system) => system,
        };
        let supervisor = own_program()?;
        let profiles = profiles(&self.profiles);
        let repeat = Repeat { times: 1, confirm: !self.no_confirm };
        let options = Options { repeat, ..options(&profiles, &supervisor, usize::from(self.jobs)) };
        let progress = Progress::on(&redactor().text(&system.name()));
        let note = |words: &str| progress.note(&redactor().text(words));
        let on_case = |case: &Case, n_done: usize, n_all: usize| progress.case(case, n_done, n_all);
        match block_on(until_interrupted(runner::run(&system, jobs, options, &note, &on_case)))? {
            Some(cases) => Ok(cases),
            None => {
                tell("two systems cannot be compared by half; fewer plans are a shorter run");
                Err(UNJUDGED)
            }
        }
    }

    fn tell(&self, comparison: &Comparison) -> u8 {
        match self.json {
            true => print(&format!("{}\n", serde_json::to_string_pretty(comparison).unwrap_or_default())),
            false => print(&text(comparison)),
        }
        match (comparison.is_open(), comparison.partings.is_empty()) {
            (true, _) => UNJUDGED,
            (false, true) => 0,
            (false, false) => PARTED,
        }
    }
}

/// One of the two: a system to run on, or what a report says of one.
enum Side {
    System(System),
    Ran(Vec<Case>),
}

/// Exit code where the systems part.
const PARTED: u8 = 1;

/// Exit code where a plan could not be judged.
const UNJUDGED: u8 = 3;

fn text(comparison: &Comparison) -> String {
    let mut text: String = comparison.partings.iter().map(parting).collect();
    comparison.gaps.iter().for_each(|it| text.push_str(&gap(comparison, it)));
    let Comparison { first, second, n_compared, n_alike, n_beyond_both, partings, .. } = comparison;
    let tone = if partings.is_empty() { Tone::Good } else { Tone::Bad };
    let told = if partings.len() == 1 { "1 cause".to_owned() } else { format!("{} causes", partings.len()) };
    text.push_str(&format!(
        "{}  {n_compared} plans on {first} and {second}: {n_alike} alike; they part by {told}; \
         {n_beyond_both} more plans are beyond both\n",
        paint(tone, "diff"),
    ));
    text
}

fn parting(parting: &Parting) -> String {
    let finding = &parting.finding;
    let rule = finding.rule.map(|rule| format!("  rule {rule}")).unwrap_or_default();
    let plans = if parting.n_plans == 1 { "1 plan".to_owned() } else { format!("{} plans", parting.n_plans) };
    let dialects: Vec<&str> = parting.dialects.iter().map(String::as_str).collect();
    let both = if parting.elsewhere_on_both { "; in other plans both do" } else { "" };
    format!(
        "only on {}: {} {}\n  {}{rule}\n  {}\n  in {plans}; {}{both}\n  again: {}\n\n",
        parting.only_on,
        paint(Tone::Bad, parting.harm.name()),
        finding.check,
        finding.message,
        parting.plan,
        dialects.join(", "),
        parting.reproduce,
    )
}

fn gap(comparison: &Comparison, gap: &Gap) -> String {
    let verdict =
        |verdict: &Option<String>| verdict.clone().unwrap_or_else(|| "not among its plans".to_owned());
    let more = match gap.n_plans {
        1 => String::new(),
        n => format!(" and {} more", n - 1),
    };
    let reason = gap.reason.as_ref().map(|reason| format!("\n  {reason}")).unwrap_or_default();
    format!(
        "{}: {}{more}: {} on {}, {} on {}{reason}\n\n",
        paint(Tone::Warn, "not compared"),
        gap.plan,
        verdict(&gap.first),
        comparison.first,
        verdict(&gap.second),
        comparison.second,
    )
}
