//! A text with a request often quotes the refusal of its provider, which shows the provider's rules.

use super::ReadEvent;
use crate::cli::explain;
use brickbat_rules::check::{CheckOptions, Level, Strictness};
use brickbat_rules::{Profile, Rule, Severity};

/// The maximum number of rules that are tried.
const MAX_TRIED: usize = 3;

/// Judges requests by the first profile with a rule of the quoted refusal that they break. `None` if the caller names a
/// provider, if the findings explain the refusal, or if no profile finds the fault. `checked` judges the requests.
pub(super) fn judged_as_quoted(
    around: &str,
    events: &[ReadEvent],
    terms: &CheckOptions,
    checked: impl Fn(&CheckOptions) -> Vec<ReadEvent>,
) -> Option<(&'static Profile, Vec<ReadEvent>)> {
    let is_free = matches!(terms.strictness, Strictness::Newest)
        && terms.dialect.is_none()
        && terms.address.host.is_empty();
    if !is_free || around.trim().is_empty() {
        return None;
    }
    // A sentence that was cut suffices, since a finding confirms it.
    let rules = explain::rules_near(around);
    if rules.iter().any(|rule| is_broken(events, rule)) {
        return None;
    }
    rules.iter().take(MAX_TRIED).find_map(|rule| {
        let enforces = |profile: &&'static Profile| profile.severity(rule) == Some(Severity::Error);
        let mut profiles: Vec<_> = Profile::newest_of_each_name(rule.dialect()).filter(enforces).collect();
        // First those that say the sentence.
        profiles.sort_by_key(|profile| !explain::is_said_by(profile, rule, around));
        profiles.into_iter().find_map(|profile| {
            let terms = CheckOptions { strictness: Strictness::Profile(profile), ..terms.clone() };
            let events = checked(&terms);
            is_broken(&events, rule).then_some((profile, events))
        })
    })
}

/// Returns whether a request breaks a rule, in whichever dialect it is judged.
fn is_broken(events: &[ReadEvent], rule: &Rule) -> bool {
    events.iter().any(|event| match event {
        ReadEvent::Judged(checked) => {
            let is_of_rule =
                |level: Level, own: &Rule| level == Level::Refused && own.short_name() == rule.short_name();
            checked.findings.iter().any(|finding| is_of_rule(finding.level, finding.rule))
        }
        _ => false,
    })
}
