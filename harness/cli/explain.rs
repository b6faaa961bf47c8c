//! `brickbat explain`.

use std::path::{Path, PathBuf};

use clap::Args;

use super::examples;
use super::{bad_input, print_plain, rule};
use brickbat_rules::Rule;
use brickbat_rules::explain;
use brickbat_rules::streams::StreamRule;

/// Explains a rule: what it asks for, why, how to mend a history that breaks it, and where that is known from.
///
/// Rules of recorded streams, which `check --stream` names, are explained as well.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Explain {
    /// A rule, such as `anthropic-messages/tool-result-missing` or `openai-chat/stream/truncated`; the dialect may be
    /// left out.
    #[arg(value_name = "RULE")]
    rule: Option<String>,
    /// List all rules, one on a line; so does `explain` without a rule.
    #[arg(long, conflicts_with = "rule")]
    all: bool,
    /// Write the pages of all rules and profiles into this folder, to be read in a browser.
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
    pub(super) fn execute(&self) -> u8 {
        if let Some(folder) = &self.html {
            return write(folder);
        }
        let Some(wanted) = &self.rule else {
            let of_bodies = Rule::all().map(|rule| (rule.id, rule.summary));
            let of_streams = StreamRule::all().map(|rule| (rule.id, rule.summary));
            let line = |(id, summary)| format!("{id}  {summary}\n");
            print_plain(&of_bodies.chain(of_streams).map(line).collect::<String>());
            return 0;
        };
        let (of_bodies, of_streams) = match rule::any_named(wanted) {
            Ok(found) => found,
            Err(error) => return bad_input(format!("error: {error}")),
        };
        let vectors = examples::vectors();
        let page = |rule: &'static Rule| explain::text(rule, vectors.get(rule.id));
        let of_streams = of_streams.into_iter().map(explain::stream_text);
        let pages: Vec<String> = of_bodies.into_iter().map(page).chain(of_streams).collect();
        print_plain(&pages.join("\n"));
        0
    }
}

fn write(folder: &Path) -> u8 {
    let site = explain::site(&examples::vectors());
    for (path, html) in &site {
        let path = folder.join(path);
        let parent = path.parent().unwrap_or(folder);
        let written = std::fs::create_dir_all(parent).and_then(|()| std::fs::write(&path, html));
        if let Err(error) = written {
            return bad_input(format!("error: cannot write {}: {error}", path.display()));
        }
    }
    print_plain(&format!("{}: {} pages\n", folder.join("index.html").display(), site.len()));
    0
}
