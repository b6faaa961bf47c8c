//! `brickbat verify-adapter`.

use clap::Args;

use super::error::{CliError, Outcome};
use super::launch::{block_on, own_program};
use super::options::{SystemOptions, TextOrJson};
use super::output::{paint, print, print_json, tell};
use brickbat_drive::runner::{ProbeOutcome, Verification, verify};
use brickbat_report::report::text::Tone;

/// Check that an adapter follows the protocol.
///
/// Probes drive the adapter. For each probe, the output shows whether it passed, what was observed, and how to fix the
/// adapter. The probes judge the adapter, not the SDK that it drives. For an agent that needs no adapter, they check
/// that the agent matches its manifest.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct VerifyAdapter {
    #[command(flatten)]
    system: SystemOptions,
    /// The output format.
    #[arg(long, value_enum, default_value = "text")]
    format: TextOrJson,
}

const EXAMPLES: &str = "Examples:
  brickbat verify-adapter --command 'node adapter.mjs'
  brickbat verify-adapter --manifest my-agent/system.yaml
  brickbat verify-adapter --system ai-sdk@6 --format json

Exit codes: 0 the adapter is correct, 1 a probe failed, 2 bad input, 3 a probe was inconclusive.";

impl VerifyAdapter {
    pub(super) fn execute(&self) -> Outcome {
        if !self.system.is_given() {
            let hint = "name your adapter: `--manifest brickbat/system.yaml` or `--command COMMAND`";
            return Err(CliError::input(format!(
                "no system is named, and there is no brickbat/system.yaml here\nhint: {hint}"
            )));
        }
        let system = self.system.one_system()?;
        let note = |words: &str| tell(words);
        let verification = block_on(verify(&system, &own_program()?, &note))??;
        match self.format {
            TextOrJson::Text => print(&text(&verification)),
            TextOrJson::Json => print_json(verification.to_json()),
        }
        Ok(verification.exit_code())
    }
}

/// The width of the results column.
const RESULT_WIDTH: usize = 10;
/// The number of stderr lines shown: enough for a stack trace.
const MAX_STDERR_LINES: usize = 20;
/// The width of the probes column.
const PROBE_WIDTH: usize = 21;

fn text(verification: &Verification) -> String {
    let about = verification.about.as_deref().unwrap_or("unknown");
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
            ProbeOutcome::Failed { seen, hint, stderr, limit } => {
                text.push_str(&format!("{indent}seen: {seen}\n{indent}fix:  {hint}\n"));
                if let Some(limit) = limit {
                    let words = "if the SDK does this, and not the adapter, add this to the manifest:";
                    text.push_str(&format!("{indent}or:   {words}\n{indent}      {limit}\n"));
                }
                let lines: Vec<&str> = stderr.lines().collect();
                for line in &lines[lines.len().saturating_sub(MAX_STDERR_LINES)..] {
                    text.push_str(&format!("{indent}| {line}\n"));
                }
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
