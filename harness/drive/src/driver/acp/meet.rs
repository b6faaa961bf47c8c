//! The first meeting with an agent that is known only by its start command.

use agent_client_protocol::v1::schema::{AuthMethod, AuthenticateRequest, InitializeResponse};

use super::{Adapter, Arc, Link, Session};
use crate::driver::error::DriverError;
use crate::driver::plain::PlainAgent;
use crate::driver::process::Launch;
use crate::driver::protocol::SessionSpec;

/// An agent as it introduces itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Introduction {
    /// Its name; empty if it states none.
    pub name: String,
    /// Its version; empty if it states none.
    pub version: String,
    /// True if it loads stored sessions.
    pub loads: bool,
}

impl Introduction {
    fn of(answer: &InitializeResponse) -> Introduction {
        let (name, version) = answer
            .agent_info
            .as_ref()
            .map(|info| (info.name.clone(), info.version.clone()))
            .unwrap_or_default();
        Introduction { name, version, loads: answer.agent_capabilities.load_session }
    }

    /// Starts an agent, lets it introduce itself, and ends it.
    ///
    /// # Errors
    /// If it does not start, or does not speak ACP.
    pub async fn hear(
        launch: &Launch,
        agent: &PlainAgent,
        spec: &SessionSpec,
    ) -> Result<Introduction, DriverError> {
        let (_link, answer) = Adapter::connect(&agent.launch(launch, Some(spec))?).await?;
        Ok(Introduction::of(&answer))
    }
}

/// A first session with an agent.
#[derive(Debug)]
pub struct Met {
    /// The login method that it needed before it opened the session.
    pub login: Option<String>,
    /// The session.
    pub session: Session,
}

impl Met {
    /// Starts an agent and opens a session. If the agent asks for a login, the first method with an API key is used.
    ///
    /// # Errors
    /// If it does not start, does not speak ACP, or opens no session.
    pub async fn first(launch: &Launch, agent: PlainAgent, spec: &SessionSpec) -> Result<Met, DriverError> {
        let (link, answer): (Link, _) = Adapter::connect(&agent.launch(launch, Some(spec))?).await?;
        let about = Arc::new(agent.about(answer.agent_info.as_ref()));
        let request = agent.new_session(spec)?;
        let own = agent.plain.authenticate.clone();
        let adapter =
            Adapter { link: Arc::new(link), about, plain: Some(Arc::new(agent)), own_process: None };
        if let Some(method) = own {
            adapter.log_in(method.clone()).await?;
            return Ok(Met { login: Some(method), session: adapter.enter(request).await? });
        }
        match (adapter.enter(request.clone()).await, with_a_key(&answer.auth_methods)) {
            (Ok(session), _) => Ok(Met { login: None, session }),
            (Err(error), Some(method)) if error.is_refusal() => {
                adapter.log_in(method.clone()).await?;
                Ok(Met { login: Some(method), session: adapter.enter(request).await? })
            }
            (Err(error), _) => Err(error),
        }
    }
}

impl Adapter {
    async fn log_in(&self, method: String) -> Result<(), DriverError> {
        let login = AuthenticateRequest::new(method);
        self.link.ask("authenticate", login, self.link.limits.answer).await.map(drop)
    }
}

/// The id of the first login method with an API key, by its id and its name. Others open a browser.
fn with_a_key(methods: &[AuthMethod]) -> Option<String> {
    let is_by_key = |method: &&AuthMethod| {
        let words = format!("{} {}", method.id(), method.name()).to_lowercase();
        words.contains("api") && words.contains("key")
    };
    methods.iter().find(is_by_key).map(|method| method.id().to_string())
}
