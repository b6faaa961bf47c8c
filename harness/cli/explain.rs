//! `brickbat explain`.

use std::path::{Path, PathBuf};

use clap::Args;

use super::embedded::{counts, vectors};
use super::error::{CliError, Outcome};
use super::output::print_plain;
use super::rule;
use brickbat_rules::Rule;
use brickbat_rules::explain;
use brickbat_rules::streams::StreamRule;

/// Explain a rule: what it demands, why, how to repair a history that violates it, since when, for which models and hosts,
/// how well it is known, and the source.
///
/// Covers the rules for recorded streams too, which `check --stream` names.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Explain {
    /// A rule, such as `anthropic-messages/tool-result-missing` or `openai-chat/stream/truncated`; the dialect is
    /// optional.
    #[arg(value_name = "RULE")]
    rule: Option<String>,
    /// List all rules, one on each line; this is also what `explain` does without a rule.
    #[arg(long, conflicts_with = "rule")]
    all: bool,
    /// Write the pages of all rules and profiles to this directory, for a browser.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["rule", "all"])]
    html: Option<PathBuf>,
}

const EXAMPLES: &str = "Examples:
  brickbat explain tool-result-missing
  brickbat explain ANT-TU-1
  brickbat explain openai-chat/stream/truncated
  brickbat explain --all | grep thinking
  brickbat explain --html rules/        then open rules/index.html";

impl Explain {
    pub(super) fn execute(&self) -> Outcome {
        if let Some(folder) = &self.html {
            return write(folder);
        }
        let Some(wanted) = &self.rule else {
            let of_bodies = Rule::all().map(|rule| (rule.id, rule.summary));
            let of_streams = StreamRule::all().map(|rule| (rule.id, rule.summary));
            let line = |(id, summary)| format!("{id}  {summary}\n");
            print_plain(&of_bodies.chain(of_streams).map(line).collect::<String>());
            return Ok(0);
        };
        let (of_bodies, of_streams) = rule::any_named(wanted)?;
        let (vectors, counts) = (vectors(), counts());
        let page = |rule: &'static Rule| explain::text(rule, vectors.get(rule.id), &counts);
        let of_streams = of_streams.into_iter().map(explain::stream_text);
        let pages: Vec<String> = of_bodies.into_iter().map(page).chain(of_streams).collect();
        print_plain(&pages.join("\n"));
        Ok(0)
    }
}

fn write(folder: &Path) -> Outcome {
    let site = explain::site(&vectors(), &counts());
    for (path, html) in &site {
        let path = folder.join(path);
        let parent = path.parent().unwrap_or(folder);
        let written = std::fs::create_dir_all(parent).and_then(|()| std::fs::write(&path, html));
        written.map_err(|error| CliError::cannot_write(path.display(), error))?;
    }
    print_plain(&format!("{}: {} pages\n", folder.join("index.html").display(), site.len()));
    Ok(0)
}
