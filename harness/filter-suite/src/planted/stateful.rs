//! Planted bugs that depend on state from earlier inputs, in the same thread or in other threads.

use brickbat_rules::{Profile, Severity, validate_value};
use serde_json::Value;

use super::edits::with_entries;
use crate::{Asked, Broken, Filter, Said};

/// A gateway that rejects the next request of any user after its provider has rejected one.
#[derive(Debug, Clone, Default)]
struct Cooldown {
    is_cooling: bool,
}

pub(super) fn cooldown() -> Box<dyn Filter> {
    Box::new(Cooldown::default())
}

impl Filter for Cooldown {
    fn ask(&mut self, asked: &[Asked]) -> Result<Vec<Said>, Broken> {
        Ok(asked.iter().map(|asked| self.pass(asked)).collect())
    }

    fn fresh(&mut self) -> Result<(), Broken> {
        self.is_cooling = false;
        Ok(())
    }
}

impl Cooldown {
    fn pass(&mut self, asked: &Asked) -> Said {
        let violations = validate_value(Profile::newest(asked.from), &asked.request);
        if violations.iter().any(|violation| violation.severity == Severity::Error) {
            self.is_cooling = true;
            return Said::Raised { kind: "BadRequestError".to_owned(), message: "status 400".to_owned() };
        }
        if std::mem::take(&mut self.is_cooling) {
            let message = "no deployments available, try again in 5 seconds".to_owned();
            return Said::Raised { kind: "RateLimitError".to_owned(), message };
        }
        Said::request(asked.request.clone())
    }
}

/// A filter that remembers the histories that it forwarded. If the same one arrives again, it assumes a retry
/// and adds a prompt.
#[derive(Debug, Clone, Default)]
struct Prompting {
    passed_last: Vec<Value>,
}

pub(super) fn prompting() -> Box<dyn Filter> {
    Box::new(Prompting::default())
}

impl Filter for Prompting {
    fn ask(&mut self, asked: &[Asked]) -> Result<Vec<Said>, Broken> {
        let requests = asked.iter().map(|asked| asked.request.clone()).collect();
        let passed_last = std::mem::replace(&mut self.passed_last, requests);
        let answer = |asked: &Asked| match passed_last.contains(&asked.request) {
            true => Said::request(with_entries(&asked.request, asked.from, |entries| {
                entries.push((asked.from.codec().prompt)("Please select a tool."));
            })),
            false => Said::request(asked.request.clone()),
        };
        Ok(asked.iter().map(answer).collect())
    }

    fn fresh(&mut self) -> Result<(), Broken> {
        self.passed_last.clear();
        Ok(())
    }
}
