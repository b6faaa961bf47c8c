//! Causes of a run: what was found on a system, one for each signature, with the plans that show it.

use super::{Case, Report};
use brickbat_engine::triage::Signature;
use brickbat_scenario::verdict::Finding;

/// Findings with one signature on one system.
#[derive(Debug, Clone)]
pub struct Cause<'a> {
    /// The system, with version and mode.
    pub system: &'a str,
    /// What makes its findings one.
    pub signature: Signature,
    /// The plans that show it, each with its first finding of this cause, in the order of the report. There is at least
    /// one.
    pub shown: Vec<(&'a Case, &'a Finding)>,
}

impl Cause<'_> {
    /// The plan that stands for the others: the first that shows it in each of its runs.
    pub fn example(&self) -> Option<(&Case, &Finding)> {
        let steady = self.shown.iter().find(|(case, _)| case.label().is_none());
        steady.or(self.shown.first()).copied()
    }
}

impl Report {
    /// The causes of everything that counts, the worst and most frequent first.
    pub fn causes(&self) -> Vec<Cause<'_>> {
        let mut causes: Vec<Cause<'_>> = Vec::new();
        for case in &self.cases {
            for finding in case.counted() {
                let signature = Signature::of(finding);
                let known = causes
                    .iter_mut()
                    .find(|known| known.system == case.system && known.signature == signature);
                match known {
                    Some(known) if known.shown.last().is_some_and(|(last, _)| std::ptr::eq(*last, case)) => {}
                    Some(known) => known.shown.push((case, finding)),
                    None => {
                        causes.push(Cause { system: &case.system, signature, shown: vec![(case, finding)] })
                    }
                }
            }
        }
        causes.sort_by(|a, b| {
            let by_weight = |cause: &Cause<'_>| (cause.signature.harm, usize::MAX - cause.shown.len());
            by_weight(a)
                .cmp(&by_weight(b))
                .then_with(|| (a.system, &a.signature).cmp(&(b.system, &b.signature)))
        });
        causes
    }
}
