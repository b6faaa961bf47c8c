//! `brickbat systems`.

use std::fmt::Write;

use clap::Args;
use serde_json::{Value, json};

use super::embedded::catalogue;
use super::error::Outcome;
use super::output::print_plain;
use brickbat_drive::driver::manifest::{AtLeast, Install, Manifest, Mode};
use brickbat_report::report::text::counted;

/// List the systems that scenarios can run on: each SDK in each version and mode.
///
/// Shows how each system is driven, what its installation requires, and what it can do.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Systems {
    /// Only systems whose name begins with this, such as `ai-sdk@6`.
    #[arg(value_name = "NAME", default_value = "")]
    name: String,
    /// Print machine-readable JSON.
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "Examples:
  brickbat systems ai-sdk
  brickbat run --system ai-sdk@6/ui-messages abort/";

/// The built-in systems.
const OWN: [(&str, &str); 5] = [
    ("reference", "The reference agent, over real sockets."),
    ("reference/acp", "The same in a process of its own, served by `brickbat agent`."),
    ("reference/blocking", "The same, requesting replies in one piece."),
    ("reference/simulated", "The same in process, without sockets."),
    (
        "canary/NAME, canary/NAME/acp, canary/NAME/simulated",
        "The same with one planted bug, such as `canary/dangling-on-abort`; `brickbat canaries` lists them.",
    ),
];

impl Systems {
    pub(super) fn execute(&self) -> Outcome {
        let all = catalogue().manifests();
        let rows = all.iter().flat_map(|manifest| manifest.modes.iter().map(move |mode| (manifest, mode)));
        let rows: Vec<(&Manifest, &Mode)> =
            rows.filter(|(manifest, mode)| manifest.full_name(&mode.name).starts_with(&self.name)).collect();
        print_plain(&if self.json {
            let rows: Vec<Value> = rows.iter().map(|(manifest, mode)| to_json(manifest, mode)).collect();
            format!("{:#}\n", json!(rows))
        } else {
            self.text(&rows)
        });
        Ok(0)
    }

    fn text(&self, rows: &[(&Manifest, &Mode)]) -> String {
        let mut text = String::new();
        for (name, what) in OWN.iter().filter(|(name, _)| name.starts_with(&self.name)) {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{name}\n  {what}");
        }
        for (nth, (manifest, mode)) in rows.iter().enumerate() {
            let _ = writeln!(
                text,
                "{}\n  {} {}",
                manifest.full_name(&mode.name),
                manifest.description,
                mode.description
            );
            if !mode.application.is_empty() {
                let names: Vec<&str> = mode.application.iter().map(|duty| duty.name()).collect();
                let _ = writeln!(text, "  left to the application: {}", names.join(", "));
            }
            if !mode.lacks.is_empty() {
                let _ = writeln!(text, "  cannot {}", mode.lacks.join(", "));
            }
            // The notes that modes share are printed after the last mode.
            let is_last = rows
                .get(nth + 1)
                .is_none_or(|(next, _)| next.version != manifest.version || next.name != manifest.name);
            if is_last {
                let _ = writeln!(text, "  {}", driven(manifest));
                if let Some(names) = &manifest.capabilities {
                    let _ = writeln!(text, "  can {}", names.join(", "));
                }
                let _ = writeln!(text, "  speaks {}", dialects(manifest).join(", "));
            }
        }
        let mut names: Vec<&str> = rows.iter().map(|(manifest, _)| manifest.name.as_str()).collect();
        names.dedup();
        let counts = [counted(rows.len(), "system"), counted(names.len(), "SDK")];
        let _ = writeln!(text, "{}, besides the built-in agents", counts.join(" of "));
        text
    }
}

/// How it is driven, and what its installation requires.
fn driven(manifest: &Manifest) -> String {
    let mut words = match manifest.acp {
        Some(_) => "driven over ACP, which it speaks natively".to_owned(),
        None => "driven by an adapter over ACP".to_owned(),
    };
    let program = match manifest.install {
        Install::None => None,
        Install::Npm => Some("npm"),
        Install::Pip => Some("uv or pip"),
        Install::Cargo => Some("cargo"),
    };
    if let Some(program) = program {
        let _ = write!(words, "; {program}");
    }
    if let Some(size) = manifest.megabytes {
        let _ = write!(words, ", {size} MB");
    }
    let requires = [("Node.js", manifest.requires.node), ("Python", manifest.requires.python)];
    for (program, least) in requires {
        match least {
            Some(AtLeast(major, 0)) => {
                let _ = write!(words, "; {program} {major} or later");
            }
            Some(AtLeast(major, minor)) => {
                let _ = write!(words, "; {program} {major}.{minor} or later");
            }
            None => {}
        }
    }
    words
}

fn dialects(manifest: &Manifest) -> Vec<&'static str> {
    manifest.dialects.iter().map(|dialect| dialect.name()).collect()
}

fn to_json(manifest: &Manifest, mode: &Mode) -> Value {
    json!({
        "name": manifest.full_name(&mode.name),
        "sdk": manifest.sdk,
        "version": manifest.version,
        "mode": mode.name,
        "description": format!("{} {}", manifest.description, mode.description),
        "driven": driven(manifest),
        "megabytes": manifest.megabytes,
        "capabilities": manifest.capabilities,
        "dialects": dialects(manifest),
        "limits": manifest.limits,
        "application": mode.application,
        "repairs": mode.repairs,
        "lacks": mode.lacks,
    })
}
