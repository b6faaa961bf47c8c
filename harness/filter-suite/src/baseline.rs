//! A filter's known causes as data. A known cause that occurs is expected; one that does not occur is stale.

use serde::{Deserialize, Serialize};

use crate::{RouteReport, SuiteError};

/// The version of the format.
const SCHEMA: u32 = 1;

/// The known filter bugs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    /// The version of the format.
    pub schema: u32,
    /// The known causes.
    pub known: Vec<Known>,
}

/// A known cause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Known {
    /// The filter with its version.
    pub filter: String,
    /// The route's name in reports.
    pub route: String,
    /// The check.
    pub check: String,
    /// The cause.
    pub cause: String,
    /// A description of the cause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// A public thread about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
}

impl Baseline {
    /// Checks the constraints that the types do not ensure.
    ///
    /// # Errors
    ///
    /// Fails if the version of the format differs.
    pub fn checked(self) -> Result<Baseline, SuiteError> {
        match self.schema {
            SCHEMA => Ok(self),
            found => Err(SuiteError::BaselineVersion { found, known: SCHEMA }),
        }
    }

    /// Returns a baseline with the causes in the reports.
    pub fn of(reports: &[(String, Vec<RouteReport>)]) -> Baseline {
        let known = each(reports).map(|(filter, route, check, cause)| Known {
            filter: filter.to_owned(),
            route: route.to_owned(),
            check: check.to_owned(),
            cause: cause.to_owned(),
            reason: None,
            link: None,
        });
        Baseline { schema: SCHEMA, known: known.collect() }
    }

    /// Returns whether a cause is known.
    pub fn knows(&self, filter: &str, route: &str, check: &str, cause: &str) -> bool {
        self.known.iter().any(|known| known.is(filter, route, check, cause))
    }

    /// Returns the known causes on the judged routes that did not occur.
    pub fn stale(&self, reports: &[(String, Vec<RouteReport>)]) -> Vec<&Known> {
        let is_judged = |known: &Known| {
            let of_filter = reports.iter().filter(|(filter, _)| *filter == known.filter);
            of_filter.flat_map(|(_, routes)| routes).any(|route| route.route == known.route)
        };
        let shows = |known: &Known| {
            each(reports).any(|(filter, route, check, cause)| known.is(filter, route, check, cause))
        };
        self.known.iter().filter(|known| is_judged(known) && !shows(known)).collect()
    }
}

impl Known {
    fn is(&self, filter: &str, route: &str, check: &str, cause: &str) -> bool {
        self.filter == filter && self.route == route && self.check == check && self.cause == cause
    }
}

/// Returns each cause with its filter and route.
fn each(reports: &[(String, Vec<RouteReport>)]) -> impl Iterator<Item = (&str, &str, &str, &str)> {
    reports.iter().flat_map(|(filter, routes)| {
        routes.iter().flat_map(move |route| {
            let causes = route.causes.iter();
            causes
                .map(move |cause| (filter.as_str(), route.route.as_str(), cause.check, cause.cause.as_str()))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cause, Counted};
    use serde_json::Value;
    use std::collections::BTreeMap;

    fn report(causes: &[&str]) -> Vec<(String, Vec<RouteReport>)> {
        let cause = |cause: &&str| Cause {
            check: "words-kept",
            cause: (*cause).to_owned(),
            inputs: 1,
            words: String::new(),
            first: String::new(),
            minimal: Value::Null,
            output: Value::Null,
        };
        let route = RouteReport {
            route: "trim (openai-chat)".to_owned(),
            inputs: 1,
            judged: 1,
            not_put: BTreeMap::new(),
            unsupported: BTreeMap::new(),
            refused: 0,
            checks: BTreeMap::from([("words-kept", Counted { put: 1, failed: 1 })]),
            causes: causes.iter().map(cause).collect(),
        };
        vec![("own@1".to_owned(), vec![route])]
    }

    #[test]
    fn known_causes_are_expected_and_missing_ones_are_stale() {
        let baseline = Baseline::of(&report(&["user", "reply"]));
        assert!(baseline.knows("own@1", "trim (openai-chat)", "words-kept", "user"));
        assert!(!baseline.knows("own@2", "trim (openai-chat)", "words-kept", "user"));
        assert_eq!(baseline.stale(&report(&["user", "reply"])), Vec::<&Known>::new());
        let stale = baseline.stale(&report(&["user"]));
        assert_eq!(stale.iter().map(|known| known.cause.as_str()).collect::<Vec<_>>(), ["reply"]);
        assert_eq!(baseline.stale(&[]), Vec::<&Known>::new());
    }
}
