//! Systems by name, and systems that run.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use tempfile::TempDir;
use tokio::sync::Mutex;

use super::live::{self, Pace};
use crate::agent::canary::Canary;
use crate::agent::{Agent, Delivery};
use crate::dialect::Dialect;
use crate::driver::in_process::{InProcess, Place};
use crate::driver::{
    About, Adapter, DriverError, Launch, Manifest, Mode, Plain, PlainAgent, SessionSpec, ToolSpec, install,
    resolve,
};
use crate::parse::did_you_mean;
use crate::plan::{Plan, PlannedTool};
use crate::provider::Provider;
use crate::rules::Profile;
use crate::scenario::Need;
use crate::server::{Limits, Server};
use crate::simulate::{Run, simulate};
use crate::trace::Grade;

/// A system that plans can run on.
#[derive(Debug, Clone)]
pub enum System {
    /// The reference agent, or a canary, in the simulation.
    Simulated(Option<Canary>),
    /// The same over real sockets.
    Live(Option<Canary>, Delivery),
    /// A system behind an adapter.
    Adapted(Box<Manifest>, Mode),
}

/// The systems that need no adapter.
const OWN: [&str; 3] = ["reference", "reference/blocking", "reference/simulated"];

/// A name that means no system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownSystem(String);

impl fmt::Display for UnknownSystem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UnknownSystem {}

impl System {
    /// The system that a name means: `reference`, `reference/simulated`, `reference/blocking`, or a system with an
    /// adapter, such as `ai-sdk@6/ui-messages`.
    pub fn named(name: &str) -> Result<System, UnknownSystem> {
        match name {
            "reference" => Ok(System::Live(None, Delivery::Streamed)),
            "reference/blocking" => Ok(System::Live(None, Delivery::Whole)),
            "reference/simulated" => Ok(System::Simulated(None)),
            _ => match resolve(name) {
                Ok((manifest, mode)) => Ok(System::Adapted(Box::new(manifest), mode)),
                Err(error) => Err(UnknownSystem(match did_you_mean(name, &OWN) {
                    Some(hint) => format!("unknown system `{name}`; {hint}"),
                    None => format!("{error} (`brickbat systems` lists them)"),
                })),
            },
        }
    }

    /// The full name.
    pub fn name(&self) -> String {
        match self {
            System::Simulated(None) => "reference/simulated".to_owned(),
            System::Live(None, Delivery::Streamed) => "reference".to_owned(),
            System::Live(None, Delivery::Whole) => "reference/blocking".to_owned(),
            System::Simulated(Some(canary)) => format!("canary/{}/simulated", canary.name()),
            System::Live(Some(canary), _) => format!("canary/{}", canary.name()),
            System::Adapted(manifest, mode) => manifest.full_name(mode),
        }
    }
}

/// A system that runs, with the server that it talks to.
pub(super) struct Running {
    name: String,
    how: How,
}

enum How {
    Simulated(Option<Canary>),
    Live { canary: Option<Canary>, delivery: Delivery, server: Server },
    Adapted(Box<Adapted>),
}

/// One adapter process for many plans; a new one is started when it dies.
struct Adapted {
    manifest: Manifest,
    mode: Mode,
    launch: Launch,
    server: Server,
    adapter: Mutex<Adapter>,
    capabilities: crate::driver::Capabilities,
    state: TempDir,
}

impl Running {
    pub(super) async fn start(system: &System, note: &(dyn Fn(&str) + Sync)) -> Result<Running, DriverError> {
        let how = match system {
            System::Simulated(canary) => How::Simulated(*canary),
            System::Live(canary, delivery) => {
                How::Live { canary: *canary, delivery: *delivery, server: server().await? }
            }
            System::Adapted(manifest, mode) => {
                let cache = install::cache_folder()?;
                let launch = install::launch(manifest, &cache, note).await?;
                let adapter = start(manifest, &launch).await?;
                is_what_it_should_be(adapter.about(), manifest, mode)?;
                let state = TempDir::with_prefix("brickbat-")
                    .map_err(|error| harness("a temporary folder", &error))?;
                How::Adapted(Box::new(Adapted {
                    manifest: (**manifest).clone(),
                    mode: mode.clone(),
                    launch,
                    server: server().await?,
                    capabilities: adapter.about().capabilities,
                    adapter: Mutex::new(adapter),
                    state,
                }))
            }
        };
        Ok(Running { name: system.name(), how })
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Whether the system speaks a dialect.
    pub(super) fn speaks(&self, dialect: Dialect) -> bool {
        match &self.how {
            How::Adapted(adapted) => adapted.manifest.dialects.contains(&dialect),
            How::Simulated(_) | How::Live { .. } => true,
        }
    }

    /// What the system lacks for a plan, in words.
    pub(super) fn missing(&self, plan: &Plan) -> Option<String> {
        let lacks = |need: &&Need| match &self.how {
            How::Adapted(adapted) => match need {
                Need::Cancel => !adapted.capabilities.cancel,
                Need::EagerTools => !adapted.capabilities.eager_tools,
                Need::Streaming => !adapted.capabilities.streaming,
            },
            How::Live { delivery: Delivery::Whole, .. } => matches!(need, Need::EagerTools | Need::Streaming),
            How::Simulated(_) | How::Live { .. } => false,
        };
        plan.needs.iter().find(lacks).map(|need| format!("{} lacks {}", self.name, need.name()))
    }

    /// The plan as this system sees it: with the names under which it offers the tools to the model.
    pub(super) fn named(&self, plan: &Arc<Plan>) -> Arc<Plan> {
        match self.plain() {
            Some(plain) => Arc::new(plan.with_tool_names(|tool| plain.tools.name(tool))),
            None => Arc::clone(plan),
        }
    }

    /// Plans that may run at once. Whether an agent without an adapter has consumed what it received is seen from its
    /// processes, so it gets one plan at a time.
    pub(super) fn n_jobs(&self, wanted: usize) -> usize {
        if self.plain().is_some() { 1 } else { wanted }
    }

    fn plain(&self) -> Option<&Plain> {
        match &self.how {
            How::Adapted(adapted) => adapted.manifest.acp.as_ref(),
            How::Simulated(_) | How::Live { .. } => None,
        }
    }

    /// The grade of receipt that this system can give.
    pub(super) fn grade(&self) -> Grade {
        match &self.how {
            How::Adapted(adapted) if !adapted.capabilities.barrier => Grade::Read,
            _ => Grade::Observed,
        }
    }

    /// Drives one plan.
    pub(super) async fn drive(
        &self,
        plan: &Arc<Plan>,
        profile: &'static Profile,
        width: Option<usize>,
    ) -> Result<Run, DriverError> {
        let agent = |canary, delivery| Agent::new(plan.dialect, delivery, &plan.tools, canary);
        let provider = Provider::new(Arc::clone(plan), profile);
        match &self.how {
            How::Simulated(canary) => Ok(simulate(plan, profile, agent(*canary, Delivery::Streamed), width)),
            How::Live { canary, delivery, server } => {
                let agent = agent(*canary, *delivery);
                let open = async |base_path: &str| {
                    let place = Place { server: server.addr(), base_path: base_path.to_owned() };
                    Ok(live::Session::InProcess(InProcess::start(agent, plan.dialect.path(), place)))
                };
                live::drive(server, plan, provider, width, Pace::OWN, open).await
            }
            How::Adapted(adapted) => {
                let open = async |base_path: &str| adapted.open(plan, base_path).await;
                live::drive(&adapted.server, plan, provider, width, Pace::ADAPTED, open).await
            }
        }
    }
}

impl Adapted {
    async fn open(&self, plan: &Plan, base_path: &str) -> Result<live::Session, DriverError> {
        let spec = self.spec(plan, base_path)?;
        let mut adapter = self.adapter.lock().await;
        let session = match adapter.open(&spec).await {
            Ok(session) => session,
            Err(DriverError::Exited { .. } | DriverError::Silent { .. }) => {
                // It died under an earlier plan, which has been told so; this one gets a new process.
                *adapter = start(&self.manifest, &self.launch).await?;
                adapter.open(&spec).await?
            }
            Err(error) => return Err(error),
        };
        Ok(live::Session::Acp(session))
    }

    fn spec(&self, plan: &Plan, base_path: &str) -> Result<SessionSpec, DriverError> {
        let base_url = format!("http://{}{base_path}", self.server.addr());
        let state_dir: PathBuf = self.state.path().join(base_path.trim_start_matches('/').replace('/', "-"));
        std::fs::create_dir_all(&state_dir).map_err(|error| harness("the state folder", &error))?;
        let tool = |tool: &PlannedTool| ToolSpec::new(tool, format!("{base_url}/gate/{}", tool.name));
        let tools = plan.tools.iter().map(tool).collect();
        let mode = self.mode.name.clone();
        Ok(SessionSpec {
            dialect: plan.dialect,
            model: None,
            mode,
            tools,
            state_dir,
            base_url: base_url.clone(),
        })
    }
}

/// Starts an adapter, or an agent that needs none.
async fn start(manifest: &Manifest, launch: &Launch) -> Result<Adapter, DriverError> {
    let Some(plain) = &manifest.acp else { return Adapter::start(launch).await };
    let relay = std::env::current_exe().map_err(|error| harness("the harness's own program", &error))?;
    let agent = PlainAgent {
        plain: plain.clone(),
        sdk: manifest.sdk.clone(),
        version: manifest.version.clone(),
        modes: manifest.modes.iter().map(|mode| mode.name.clone()).collect(),
        relay,
    };
    Adapter::start_plain(launch, agent).await
}

/// A report must not name a version that did not run.
fn is_what_it_should_be(about: &About, manifest: &Manifest, mode: &Mode) -> Result<(), DriverError> {
    let says = format!("{} {} with {}", about.sdk, about.version, about.modes.join(", "));
    let wanted = format!("{} {} with {}", manifest.sdk, manifest.version, mode.name);
    match about.sdk == manifest.sdk && about.version == manifest.version && about.modes.contains(&mode.name) {
        true => Ok(()),
        false => Err(DriverError::Nonsense { why: format!("it should be {wanted}"), said: says }),
    }
}

async fn server() -> Result<Server, DriverError> {
    Server::start(Limits::STANDARD).await.map_err(|error| harness("the provider's socket", &error))
}

fn harness(what: &str, error: &std::io::Error) -> DriverError {
    DriverError::Harness { what: format!("cannot open {what}"), text: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_adapter_of_another_version_is_refused() {
        let (manifest, mode) = resolve("ai-sdk").unwrap();
        let capabilities = crate::driver::Capabilities {
            cancel: true,
            streaming: true,
            eager_tools: false,
            barrier: true,
            history: true,
        };
        let about = |version: &str| About {
            protocol: 1,
            sdk: manifest.sdk.clone(),
            version: version.to_owned(),
            modes: vec![mode.name.clone()],
            capabilities,
        };
        assert!(is_what_it_should_be(&about(&manifest.version), &manifest, &mode).is_ok());
        assert!(is_what_it_should_be(&about("9.9.9"), &manifest, &mode).is_err());
    }
}
