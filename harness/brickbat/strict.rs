//! A strict provider for tests that use the [`wiremock`] crate, for authors of Rust SDKs who already have a
//! test server.
//!
//! It is the provider that scenarios run against: it answers a request that a real provider would refuse with
//! the provider's own 400, and every other request with the next reply of the script. `wiremock` sends only
//! complete bodies, so there are no points inside a reply, and faults inside a stream are not injected.
//!
//! ```
//! # async fn example() {
//! use brickbat::strict::{Dialect, Strict};
//! use wiremock::{Mock, MockServer, matchers::any};
//!
//! let scenario = "
//! schema: 1
//! comment: Two calls at once.
//! class: [control]
//! tools: { lookup: { returns: found } }
//! turns:
//!   - user: Look up both.
//!     replies:
//!       - [{ call: { as: a, tool: lookup, args: {} } }, { call: { as: b, tool: lookup, args: {} } }]
//!       - [{ text: Both are here. }]
//! ";
//! let strict = Strict::of_scenario(scenario, Dialect::OpenaiChat).unwrap();
//! let server = MockServer::start().await;
//! Mock::given(any()).respond_with(strict.clone()).mount(&server).await;
//! // Let the SDK take its turns at `server.uri()`, and stop one in the middle.
//! assert_eq!(strict.refusals(), [""; 0]);
//! # }
//! ```

use std::sync::{Arc, Mutex, PoisonError};

use wiremock::{Request, Respond, ResponseTemplate};

use brickbat_engine::provider::{self, Headers, Provider};
use brickbat_scenario::lower;
use brickbat_scenario::parse::Diagnostic;
use brickbat_scenario::trace::RequestKind;

pub use brickbat_rules::Dialect;
pub use brickbat_scenario::plan::Plan;

/// A strict provider that answers `wiremock` requests. Its clones share one script.
#[derive(Debug, Clone)]
pub struct Strict {
    shared: Arc<Mutex<Shared>>,
}

#[derive(Debug)]
struct Shared {
    provider: Provider,
    refusals: Vec<String>,
}

/// The reason why a text gives no script.
#[derive(Debug, thiserror::Error)]
pub enum StrictError {
    /// The text is not a scenario; the message has line numbers.
    #[error(transparent)]
    Scenario(#[from] Diagnostic),
    /// The scenario has no variant.
    #[error("the scenario has no variant")]
    NoVariant,
    /// The dialect cannot run the scenario, with the reason.
    #[error("{0}")]
    Impossible(String),
}

impl Strict {
    /// A provider for a plan, as strict as the newest profile of its dialect.
    pub fn of_plan(plan: Plan) -> Strict {
        let profile = plan.profile_from(&[]);
        let provider = Provider::new(Arc::new(plan), profile);
        Strict { shared: Arc::new(Mutex::new(Shared { provider, refusals: Vec::new() })) }
    }

    /// A provider for a scenario's first variant, given the text of the scenario file.
    ///
    /// # Errors
    ///
    /// If the text is not a scenario, or the dialect cannot run it.
    pub fn of_scenario(text: &str, dialect: Dialect) -> Result<Strict, StrictError> {
        let plans = lower::plans("scenario", "scenario.yaml", text, &[dialect], 0)?;
        let plan = plans.into_iter().next().ok_or(StrictError::NoVariant)?;
        match &plan.impossible {
            Some(why) => Err(StrictError::Impossible(why.clone())),
            None => Ok(Strict::of_plan(plan)),
        }
    }

    /// Moves the script to a 0-based turn. The user's next message begins it.
    pub fn begin_turn(&self, turn: usize) {
        self.locked(|shared| shared.provider.begin_turn(turn));
    }

    /// All refusal bodies so far, with the provider's own messages. A thread is bricked if its next turn adds
    /// one.
    pub fn refusals(&self) -> Vec<String> {
        self.locked(|shared| shared.refusals.clone())
    }

    fn locked<T>(&self, work: impl FnOnce(&mut Shared) -> T) -> T {
        work(&mut self.shared.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Respond for Strict {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        let asked = provider::Request {
            method: request.method.as_str(),
            path: request.url.path(),
            headers: Headers::NONE,
            body: &request.body,
        };
        self.locked(|shared| {
            let (kind, answer) = shared.provider.answer(asked);
            let body = answer.frames.slice(0..answer.frames.len()).to_vec();
            if matches!(kind, RequestKind::Refused { .. }) {
                shared.refusals.push(String::from_utf8_lossy(&body).into_owned());
            }
            let is_type = |name: &str| name.eq_ignore_ascii_case("content-type");
            let content_type =
                answer.headers.iter().find(|(name, _)| is_type(name)).map(|(_, value)| value.as_ref());
            let mut template = ResponseTemplate::new(answer.status);
            for (name, value) in answer.headers.iter().filter(|(name, _)| !is_type(name)) {
                template = template.insert_header(*name, value.as_ref());
            }
            template.set_body_raw(body, content_type.unwrap_or("application/json"))
        })
    }
}
