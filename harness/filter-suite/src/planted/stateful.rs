//! A planted bug that needs a memory of other threads.

use brickbat_rules::{Profile, Severity, validate_value};

use crate::{Asked, Broken, Filter, Said};

/// A gateway that refuses the next request of anybody after one that its provider has refused.
#[derive(Debug, Clone, Default)]
struct Cooldown {
    is_cooling: bool,
}

/// A fresh one.
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
