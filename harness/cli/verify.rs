//! `brickbat verify-adapter`.

use clap::{Args, ValueEnum};

use super::own::Own;
use super::run::paint;
use super::secrets::redactor;
use super::{bad_input, block_on, own_program, print, tell};
use brickbat_drive::runner::{ProbeOutcome, Verification, verify};
use brickbat_report::report::text::Tone;

/// Drives an adapter through probes and says for each whether the adapter is right, what was seen, and how to mend it.
///
/// The probes judge the adapter and not the SDK behind it; of an agent that needs no adapter they judge whether it and
/// its manifest fit together.
/// Exit codes: 0 the adapter is right, 1 a probe failed, 2 bad input, 3 a probe could not judge.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct VerifyAdapter {
    /// The system whose adapter is meant, such as `ai-sdk@6`; with --manifest, a name in it.
    #[arg(long = "system", value_name = "NAME", id = "systems")]
    system: Option<String>,
    #[command(flatten)]
    own: Own,
    /// How to print what was found.
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

const EXAMPLES: &str = "Examples:
  brickbat verify-adapter --command 'node adapter.mjs'
  brickbat verify-adapter --manifest my-agent/system.yaml
  brickbat verify-adapter --system ai-sdk@6 --format json";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people.
    Text,
    /// For programs.
    Json,
}

impl VerifyAdapter {
    pub(super) fn execute(&self) -> u8 {
        let name: Vec<String> = self.system.iter().cloned().collect();
        let systems = match self.own.systems(&name) {
            Ok(systems) => systems,
            Err(error) => return bad_input(error),
        };
        let Some(system) = systems.first() else { return bad_input("error: no system is named") };
        let supervisor = match own_program() {
            Ok(supervisor) => supervisor,
            Err(code) => return code,
        };
        let note = |words: &str| tell(words);
        let verification = match block_on(verify(system, &supervisor, &note)) {
            Ok(Ok(verification)) => verification,
            Ok(Err(error)) => return bad_input(error),
            Err(code) => return code,
        };
        match self.format {
            Format::Text => print(&text(&verification)),
            Format::Json => {
                let mut json = verification.to_json();
                redactor().value(&mut json);
                print(&format!("{json:#}\n"));
            }
        }
        verification.exit_code()
    }
}

/// Width of the column of results.
const RESULT_WIDTH: usize = 10;
/// Width of the column of probes.
const PROBE_WIDTH: usize = 21;

fn text(verification: &Verification) -> String {
    let about = verification.about.as_deref().unwrap_or("nothing is known of it");
    let mut text = format!("{}: {about}\n\n", verification.system);
    let mut counts = [0; 4];
    for report in &verification.probes {
        let (tone, word, nth) = match &report.outcome {
            ProbeOutcome::Ok { .. } => (Tone::Good, "ok", 0),
            ProbeOutcome::Failed { .. } => (Tone::Bad, "FAILED", 1),
            ProbeOutcome::Skipped { .. } => (Tone::Warn, "skipped", 2),
            ProbeOutcome::NotJudged { .. } => (Tone::Warn, "not judged", 3),
        };
        counts[nth] += 1;
        let word = paint(tone, &format!("{word:<RESULT_WIDTH$}"));
        let id = report.probe.id();
        text.push_str(&format!("{word}  {id:<PROBE_WIDTH$}  {}\n", report.probe.title()));
        let indent = " ".repeat(RESULT_WIDTH + 2);
        match &report.outcome {
            ProbeOutcome::Ok { warnings } => {
                for warning in warnings {
                    text.push_str(&format!("{indent}warning: {warning}\n"));
                }
            }
            ProbeOutcome::Failed { seen, hint } => {
                text.push_str(&format!("{indent}seen: {seen}\n{indent}fix:  {hint}\n"));
            }
            ProbeOutcome::Skipped { reason } | ProbeOutcome::NotJudged { reason } => {
                text.push_str(&format!("{indent}{reason}\n"));
            }
        }
    }
    let [ok, failed, skipped, not_judged] = counts;
    text.push_str(&format!("\n{ok} ok, {failed} failed, {skipped} skipped, {not_judged} not judged\n"));
    text
}
