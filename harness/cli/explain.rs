//! `brickbat explain`.

use clap::Args;

use super::bad_input;
use crate::parse::did_you_mean;
use crate::rules::Rule;

/// Explains a rule: what it asks for, why, how to mend a history that breaks it, and where that is known from.
#[derive(Args)]
pub(super) struct Explain {
    /// A rule, such as `anthropic-messages/tool-result-missing`; the dialect may be left out. Without one, all are listed.
    #[arg(value_name = "RULE")]
    rule: Option<String>,
}

impl Explain {
    pub(super) fn execute(&self) -> u8 {
        let Some(wanted) = &self.rule else {
            Rule::all().for_each(|rule| anstream::println!("{}  {}", rule.id, rule.summary));
            return 0;
        };
        let found: Vec<&Rule> = match Rule::find(wanted) {
            Some(rule) => vec![rule],
            None => Rule::all().filter(|rule| short_name(rule) == Some(wanted)).collect(),
        };
        if found.is_empty() {
            let names = |rule: &'static Rule| [rule.id, rule.alias].into_iter().chain(short_name(rule));
            let known: Vec<&str> = Rule::all().flat_map(names).collect();
            let hint = did_you_mean(wanted, &known)
                .unwrap_or_else(|| "`brickbat explain` without a rule lists them all".to_owned());
            return bad_input(format!("error: there is no rule `{wanted}`\nhint: {hint}"));
        }
        let pages: Vec<String> = found.into_iter().map(page).collect();
        anstream::print!("{}", pages.join("\n"));
        0
    }
}

/// The id without the dialect.
fn short_name(rule: &Rule) -> Option<&'static str> {
    rule.id.split_once('/').map(|(_, name)| name)
}

fn page(rule: &Rule) -> String {
    let Rule { id, alias, summary, why, status, confidence, sources } = rule;
    let confidence = format!("{confidence:?}").to_lowercase();
    let sources: String = sources.iter().map(|source| format!("  {source}\n")).collect();
    format!("{id} ({alias})\n\n{summary}\n{why}\n\nstatus {status}, {confidence}\n{sources}")
}
