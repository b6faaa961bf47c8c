//! `brickbat explain`.

use std::path::{Path, PathBuf};

use clap::Args;

use super::{bad_input, rule};
use crate::pages;
use crate::rules::Rule;
use crate::runner::examples;

/// Explains a rule: what it asks for, why, how to mend a history that breaks it, and where that is known from.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Explain {
    /// A rule, such as `anthropic-messages/tool-result-missing`; the dialect may be left out.
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
  brickbat explain --all | grep thinking
  brickbat explain --html rules/        then open rules/index.html";

impl Explain {
    pub(super) fn execute(&self) -> u8 {
        if let Some(folder) = &self.html {
            return write(folder);
        }
        let Some(wanted) = &self.rule else {
            Rule::all().for_each(|rule| anstream::println!("{}  {}", rule.id, rule.summary));
            return 0;
        };
        let found = match rule::named(wanted) {
            Ok(found) => found.0,
            Err(error) => return bad_input(format!("error: {error}")),
        };
        let vectors = examples::vectors();
        let page = |rule: &'static Rule| pages::text(rule, vectors.get(rule.id));
        let pages: Vec<String> = found.into_iter().map(page).collect();
        anstream::print!("{}", pages.join("\n"));
        0
    }
}

fn write(folder: &Path) -> u8 {
    let site = pages::site(&examples::vectors());
    for (path, html) in &site {
        let path = folder.join(path);
        let parent = path.parent().unwrap_or(folder);
        let written = std::fs::create_dir_all(parent).and_then(|()| std::fs::write(&path, html));
        if let Err(error) = written {
            return bad_input(format!("error: cannot write {}: {error}", path.display()));
        }
    }
    anstream::println!("{}: {} pages", folder.join("index.html").display(), site.len());
    0
}
