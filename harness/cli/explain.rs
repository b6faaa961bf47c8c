//! `brickbat explain`.

use clap::Args;

use super::bad_input;
use crate::parse::did_you_mean;
use crate::rules::Rule;

/// Explains a rule: what it asks for, why, how to mend a history that breaks it, and where that is known from.
#[derive(Args)]
pub(super) struct Explain {
    /// A rule, such as `anthropic-messages/tool-result-missing`; the dialect may be left out.
    #[arg(value_name = "RULE")]
    rule: Option<String>,
}

impl Explain {
    pub(super) fn execute(&self) -> u8 {
        let Some(wanted) = &self.rule else {
            Rule::all().for_each(|rule| anstream::println!("{}  {}", rule.id, rule.summary));
            return 0;
        };
        let short = |rule: &&Rule| rule.id.split_once('/').is_some_and(|(_, name)| name == wanted);
        let found: Vec<&Rule> = match Rule::find(wanted) {
            Some(rule) => vec![rule],
            None => Rule::all().filter(short).collect(),
        };
        if found.is_empty() {
            let known: Vec<&str> = Rule::all().map(|rule| rule.id).collect();
            let hint = did_you_mean(wanted, &known)
                .unwrap_or_else(|| "`brickbat explain` without a rule lists them all".to_owned());
            return bad_input(format!("error: there is no rule `{wanted}`\nhint: {hint}"));
        }
        let pages: Vec<String> = found.into_iter().map(page).collect();
        anstream::print!("{}", pages.join("\n"));
        0
    }
}

fn page(rule: &Rule) -> String {
    let Rule { id, alias, summary, why, status, confidence, sources } = rule;
    let confidence = format!("{confidence:?}").to_lowercase();
    let sources: String = sources.iter().map(|source| format!("  {source}\n")).collect();
    format!("{id} ({alias})\n\n{summary}\n{why}\n\nstatus {status}, {confidence}\n{sources}")
}
