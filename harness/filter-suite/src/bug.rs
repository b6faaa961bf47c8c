//! Filter bugs: for each, the smallest history that triggers it, so that the bug can be reproduced.

use brickbat_rules::Dialect;
use serde::Deserialize;
use serde_json::Value;

use crate::{Asked, Budget, Mode, Route, Said, SuiteError, yardstick};

/// A bug of a filter, as a file in `corpora/filters/` describes it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bug {
    /// The version of this format.
    pub schema: u32,
    /// A description of the filter's behaviour.
    pub comment: String,
    /// The name of the filter.
    pub filter: String,
    /// The version of the filter with the bug.
    pub version: String,
    /// The mode with the bug.
    pub mode: String,
    /// The dialect of the history.
    pub from: Dialect,
    /// The dialect of the output.
    pub to: Dialect,
    /// The maximum size of the answer, for a mode with a budget.
    pub budget: Option<Limit>,
    /// The symptom that identifies the bug.
    pub shows: Shows,
    /// The file in the package, and the line.
    pub place: String,
    /// The error in the code.
    pub cause: String,
    /// Why the maintainer would agree.
    pub maintainer: String,
    /// A thread about it or about a similar bug.
    pub thread: Option<String>,
    /// Its failure classes.
    #[serde(default)]
    pub classes: Vec<String>,
    /// The history, in the format of the mode.
    pub request: Value,
}

/// A budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// In messages.
    Messages(u64),
    /// In tokens, according to the filter's counter.
    Tokens(u64),
}

/// The symptom that identifies a bug.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shows {
    /// The output breaks this rule.
    Refused(String),
    /// The output does not contain this text.
    Loses(String),
    /// The filter raises this kind of error.
    Raises(String),
}

/// The supported version of the format.
const SCHEMA: u32 = 1;

impl Bug {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// Fails if the file is invalid.
    pub fn read(text: &str) -> Result<Bug, SuiteError> {
        let bug: Bug = serde_json::from_str(text)?;
        if bug.schema != SCHEMA {
            return Err(SuiteError::BugVersion { found: bug.schema, known: SCHEMA });
        }
        let lost = match &bug.shows {
            Shows::Loses(words) => Some(words),
            Shows::Refused(_) | Shows::Raises(_) => None,
        };
        match lost.filter(|words| !bug.request.to_string().contains(words.as_str())) {
            Some(words) => Err(SuiteError::NothingToLose(words.clone())),
            None => Ok(bug),
        }
    }

    /// Returns the route through the filter, if its mode has one for this bug.
    pub fn route<'m>(&self, modes: &'m [Mode]) -> Option<Route<'m>> {
        let mode = modes.iter().find(|mode| mode.name == self.mode)?;
        mode.routes().into_iter().find(|route| route.from == self.from && route.to == self.to)
    }

    /// Returns the question that triggers the bug.
    pub fn asked(&self, route: &Route<'_>) -> Asked {
        Asked {
            mode: self.mode.clone(),
            from: self.from,
            to: self.to,
            model: route.model.clone(),
            form: route.mode.form,
            request: self.request.clone(),
            is_control: false,
            budget: self.budget.map(|budget| match budget {
                Limit::Messages(n) => (Budget::Messages, n),
                Limit::Tokens(n) => (Budget::Tokens, n),
            }),
        }
    }

    /// Returns whether this answer exhibits the bug.
    pub fn is_shown(&self, route: &Route<'_>, said: &Said) -> bool {
        match (&self.shows, said) {
            (Shows::Raises(kind), Said::Raised { kind: raised, .. }) => kind == raised,
            (Shows::Loses(words), Said::Request { body, .. }) => !body.to_string().contains(words.as_str()),
            (Shows::Refused(rule), Said::Request { body, .. }) => {
                yardstick::refusals(route, body).iter().any(|violation| violation.rule.id == *rule)
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;
    use serde_json::json;

    const BUG: &str = r#"{
        "schema": 1, "comment": "c", "filter": "f", "version": "1", "mode": "cut", "place": "p", "cause": "c", "maintainer": "m",
        "from": "openai-chat", "to": "openai-chat", "shows": { "refused": "openai-chat/tool-message-orphan" },
        "budget": { "messages": 1 }, "request": { "model": "gpt-5.2", "messages": [] }
    }"#;

    fn cut() -> Mode {
        Mode {
            budget: Budget::Messages,
            ..Mode::new("cut", Kind::Trimmer, "It cuts.", &[Dialect::OpenaiChat])
        }
    }

    #[test]
    fn a_bug_is_recognised_by_its_symptom() {
        let (bug, modes) = (Bug::read(BUG).unwrap(), [cut()]);
        let route = bug.route(&modes).unwrap();
        assert_eq!(bug.asked(&route).budget, Some((Budget::Messages, 1)));
        let result = json!({ "role": "tool", "tool_call_id": "a", "content": "found" });
        let orphan = json!({ "model": "gpt-5.2", "messages": [result] });
        assert!(bug.is_shown(&route, &Said::request(orphan)));
        let sound = json!({ "model": "gpt-5.2", "messages": [{ "role": "user", "content": "Hello." }] });
        assert!(!bug.is_shown(&route, &Said::request(sound)));
        let raised = Said::Raised { kind: "KeyError".to_owned(), message: String::new() };
        assert!(!bug.is_shown(&route, &raised));
        assert!(Bug { shows: Shows::Raises("KeyError".to_owned()), ..bug }.is_shown(&route, &raised));
    }

    #[test]
    fn only_words_of_the_history_can_be_lost() {
        let text =
            BUG.replace(r#"{ "refused": "openai-chat/tool-message-orphan" }"#, r#"{ "loses": "found" }"#);
        assert!(Bug::read(&text).unwrap_err().to_string().contains("`found` is not in the history"));
        let bug = Bug::read(&text.replace(r#""messages": [] }"#, r#""messages": ["found"] }"#)).unwrap();
        let modes = [cut()];
        let route = bug.route(&modes).unwrap();
        assert!(bug.is_shown(&route, &Said::request(json!({ "messages": [] }))));
        assert!(!bug.is_shown(&route, &Said::request(json!({ "messages": ["found"] }))));
    }

    #[test]
    fn an_unknown_schema_is_rejected() {
        assert_eq!(
            Bug::read(&BUG.replace(r#""schema": 1"#, r#""schema": 2"#)).unwrap_err().to_string(),
            "schema 2, and 1 is read"
        );
    }
}
