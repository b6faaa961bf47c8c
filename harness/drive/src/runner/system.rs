//! Systems by name, and running systems.

mod mode;
mod names;
mod own;
mod prepared;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError};

use tokio::sync::Mutex;

pub(super) use prepared::{Prepared, server};

use mode::mode_of;

use super::live::{self, DriveResult, Opener, Opening, Pace, Remains, Settings};
use super::options::Repeat;
use crate::driver::in_process::{Endpoints, InProcess};
use crate::driver::manifest::Install;
use crate::driver::{
    self, Adapter, Catalogue, DriverError, Manifest, Progress, SessionSpec, ToolSpec, resolve,
};
use crate::server::{SAVING, Server};
use brickbat_engine::agent::{Agent, Delivery, Tool};
use brickbat_engine::flaws::Canary;
use brickbat_engine::provider::Provider;
use brickbat_engine::simulate::simulate;
use brickbat_report::record::Observed;
use brickbat_rules::Profile;
use brickbat_rules::dialect::Dialect;
use brickbat_rules::redact::Redactor;
use brickbat_scenario::duty::Application;
use brickbat_scenario::parse::did_you_mean;
use brickbat_scenario::plan::{Plan, PlanId};
use brickbat_scenario::scenario::Need;
use brickbat_scenario::trace::Confidence;

/// A system against which plans can run.
#[derive(Debug, Clone)]
pub enum System {
    /// The reference agent, or a canary, in the simulation.
    Simulated(Option<Canary>),
    /// The same over real sockets.
    Live(Option<Canary>, Delivery),
    Adapted(Box<Subject>),
}

/// A system with an adapter, as the user requested it.
#[derive(Debug, Clone)]
pub struct Subject {
    /// Describes the system and how it is started.
    pub manifest: Manifest,
    /// The mode; none for the first that the adapter offers.
    pub mode: Option<String>,
    pub origin: Origin,
    /// Called with a plan's store before a session is loaded from it; none by default.
    pub mend: Option<Mend>,
    /// The factor by which all waits are longer; 1 by default.
    pub patience: f64,
}

/// The stored state of a session that is about to be loaded.
#[derive(Debug, Clone, Copy)]
pub struct StoredSession<'a> {
    /// The plan that the session is part of.
    pub plan: &'a PlanId,
    /// The id by which it is loaded.
    pub id: &'a str,
    /// The folder of the system's store.
    pub folder: &'a Path,
    /// True if the sessions of other plans are stored there as well, as in the home of an agent.
    pub is_shared: bool,
    /// The model that the system was asked to use, if any.
    pub model: Option<&'a str>,
}

/// The function that is called with a stored session.
pub type MendFn = dyn Fn(StoredSession<'_>) + Send + Sync;

/// Changes a system's stored state before a new process loads a session from it.
///
/// The process that wrote it is dead, or has not opened the session yet.
#[derive(Clone)]
pub struct Mend(pub Arc<MendFn>);

impl std::fmt::Debug for Mend {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Mend")
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    BuiltIn,
    Manifest(PathBuf),
    Command(String),
    /// Our own agent, in a separate process, with or without a planted bug.
    Own(Option<Canary>),
}

/// The circumstances of one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Company {
    /// Other plans run at the same time.
    Others,
    Alone,
    /// It runs alone, with longer waits, to confirm another run's result.
    Suspect,
}

/// The systems that need no adapter except our own.
const OWN: [&str; 4] = ["reference", "reference/acp", "reference/blocking", "reference/simulated"];

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct UnknownSystem(String);

impl System {
    /// The system that a name refers to: `reference`, `reference/acp`, `reference/blocking`,
    /// `reference/simulated`, a planted bug such as `canary/never-ends/acp`, or a system with an adapter,
    /// such as `ai-sdk@6/ui-messages`.
    pub fn named(name: &str, catalogue: &Catalogue) -> Result<System, UnknownSystem> {
        match name {
            "reference" => Ok(System::Live(None, Delivery::Streamed)),
            "reference/blocking" => Ok(System::Live(None, Delivery::Whole)),
            "reference/simulated" => Ok(System::Simulated(None)),
            "reference/acp" => System::served(None),
            _ if name.starts_with("canary/") => own::planted(name),
            _ => match catalogue.resolve(name) {
                Ok((manifest, mode)) => {
                    let (mode, origin) = (Some(mode.name), Origin::BuiltIn);
                    Ok(System::Adapted(Box::new(Subject::new(manifest, mode, origin))))
                }
                Err(error) => Err(UnknownSystem(match did_you_mean(name, &OWN) {
                    Some(hint) => format!("unknown system `{name}`; {hint}"),
                    None if error.is_of_nobody() => {
                        format!("{error}, reference, canary/NAME (`brickbat systems` lists them)")
                    }
                    None => format!("{error} (`brickbat systems` lists them)"),
                })),
            },
        }
    }

    /// The system that a name refers to in a manifest of the user; without a name, its first version and
    /// mode.
    pub fn of_manifest(path: &Path, name: Option<&str>) -> Result<System, UnknownSystem> {
        let manifests = Manifest::read(path).map_err(|error| {
            let hint = names::near(path).map(|near| format!("\nhint: {near}")).unwrap_or_default();
            UnknownSystem(format!("{error}{hint}"))
        })?;
        let first = manifests.first().map(|manifest| manifest.name.clone()).unwrap_or_default();
        let (manifest, mode) = resolve(&manifests, name.unwrap_or(&first))
            .map_err(|error| UnknownSystem(format!("{error} in {}", path.display())))?;
        let (mode, origin) = (Some(mode.name), Origin::Manifest(path.to_owned()));
        Ok(System::Adapted(Box::new(Subject::new(manifest, mode, origin))))
    }

    /// The system that a command of the user starts in the working directory.
    pub fn of_command(command: &str, mode: Option<&str>) -> Result<System, UnknownSystem> {
        let words = shlex::split(command).filter(|words| !words.is_empty());
        let words = words.ok_or_else(|| {
            UnknownSystem("--command needs a program with its arguments, its quotes closed".to_owned())
        })?;
        // No shell expands `~` inside the quotes of the command, and reports write the user's home as `~`.
        let words = words.into_iter().map(names::at_home).collect();
        let folder = std::env::current_dir()
            .map_err(|error| UnknownSystem(format!("there is no working folder: {error}")))?;
        let manifest = Manifest::of_command(words, folder);
        let (mode, origin) = (mode.map(str::to_owned), Origin::Command(command.to_owned()));
        Ok(System::Adapted(Box::new(Subject::new(manifest, mode, origin))))
    }

    /// The same system with all waits multiplied by `factor`. Our own agent in this process needs no longer
    /// waits.
    pub fn with_patience(self, factor: f64) -> System {
        match self {
            System::Adapted(subject) => {
                let manifest = subject.manifest.with_patience(factor);
                System::Adapted(Box::new(Subject {
                    manifest,
                    patience: subject.patience * factor,
                    ..*subject
                }))
            }
            System::Simulated(_) | System::Live(..) => self,
        }
    }

    /// The same system with a change to its store before a session is loaded. Our own agents have no store to
    /// repair.
    pub fn with_mend(self, mend: Mend) -> System {
        match self {
            System::Adapted(subject) => System::Adapted(Box::new(Subject { mend: Some(mend), ..*subject })),
            System::Simulated(_) | System::Live(..) => self,
        }
    }

    /// The same system with an SDK version that differs from the lockfile's.
    pub fn with_sdk_version(self, version: &str) -> Result<System, UnknownSystem> {
        match self {
            _ if version.trim().is_empty() => {
                Err(UnknownSystem("--sdk-version needs a version, such as `6.0.300` or `latest`".to_owned()))
            }
            System::Adapted(subject) if subject.manifest.install != Install::None => {
                let manifest = subject.manifest.with_sdk_version(version);
                Ok(System::Adapted(Box::new(Subject { manifest, ..*subject })))
            }
            other => Err(UnknownSystem(format!(
                "--sdk-version does not apply to {}: its SDK is not installed by Brickbat",
                other.name()
            ))),
        }
    }
}

/// A running system, with the server that it talks to.
pub(super) struct Running {
    name: String,
    how: How,
}

enum How {
    Simulated(Option<Canary>),
    Live { canary: Option<Canary>, delivery: Delivery, server: Server },
    Adapted(Box<Adapted>),
}

/// One adapter process for many plans. It is replaced when it dies.
struct Adapted {
    dialects: Vec<Dialect>,
    /// The provider, if it is the own client of one.
    vendor: Option<String>,
    mode: String,
    /// The duties of an application that the adapter has.
    application: Application,
    pace: Pace,
    server: Server,
    adapter: Mutex<Adapter>,
    /// Sessions that the process has been asked for.
    n_sessions: AtomicUsize,
    /// The number of the process, from 1.
    number: AtomicU32,
    /// The number of the last process that has failed a plan; 0 if none has.
    sick: AtomicU32,
    /// The number of the process in which each plan ran last.
    homes: std::sync::Mutex<BTreeMap<PlanId, u32>>,
    capabilities: crate::driver::Capabilities,
    n_states: AtomicU64,
    mend: Option<Mend>,
    /// Dropped after the adapter, and waits for it.
    prepared: Prepared,
}

impl Running {
    pub(super) async fn start(
        system: &System,
        supervisor: &Path,
        note: Progress<'_>,
    ) -> Result<Running, DriverError> {
        let how = match system {
            System::Simulated(canary) => How::Simulated(*canary),
            System::Live(canary, delivery) => {
                How::Live { canary: *canary, delivery: *delivery, server: server().await? }
            }
            System::Adapted(subject) => {
                let prepared = Prepared::new(subject, supervisor, note).await?;
                let adapter = prepared.start().await?;
                let about = adapter.about().clone();
                let mode = mode_of(&about, subject)?;
                let name = match &subject.origin {
                    Origin::Command(_) => format!("{}@{}/{mode}", about.sdk, about.version),
                    Origin::Own(_) => system.name(),
                    _ => format!("{}@{}/{mode}", subject.manifest.name, about.version),
                };
                let how = How::Adapted(Box::new(Adapted {
                    pace: match subject.origin {
                        Origin::Own(_) => Pace::OWN,
                        _ => Pace::adapted(subject.manifest.waits.silence, subject.manifest.stop_of(&mode)),
                    },
                    dialects: subject.manifest.dialects_of(Some(&mode)),
                    vendor: subject.manifest.vendor.clone(),
                    application: subject.manifest.application(&mode),
                    capabilities: subject.manifest.capabilities_of(&mode, about.capabilities),
                    mode,
                    server: server().await?,
                    adapter: Mutex::new(adapter),
                    n_sessions: AtomicUsize::new(0),
                    number: AtomicU32::new(1),
                    sick: AtomicU32::new(0),
                    homes: std::sync::Mutex::default(),
                    n_states: AtomicU64::new(0),
                    mend: subject.mend.clone(),
                    prepared,
                }));
                return Ok(Running { name, how });
            }
        };
        Ok(Running { name: system.name(), how })
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    fn adapted(&self) -> Option<&Adapted> {
        match &self.how {
            How::Adapted(adapted) => Some(adapted),
            How::Simulated(_) | How::Live { .. } => None,
        }
    }

    /// The capabilities that the system lacks for a plan, as text.
    pub(super) fn missing(&self, plan: &Plan) -> Option<String> {
        let lacks = |need: &&Need| match &self.how {
            How::Adapted(adapted) => !adapted.capabilities.meets(**need),
            How::Live { delivery, .. } => match need {
                Need::Saving | Need::FailingWrites => true,
                Need::EagerTools | Need::Streaming => *delivery == Delivery::Whole,
                _ => false,
            },
            How::Simulated(_) => false,
        };
        let known = self.adapted().map(|adapted| &adapted.dialects);
        let unknown = plan.dialects().into_iter().find(|own| known.is_some_and(|known| !known.contains(own)));
        if let Some(unknown) = unknown {
            return Some(format!("{} does not speak {unknown}", self.name));
        }
        if let Some(why) = &plan.impossible {
            return Some(why.clone());
        }
        if let Some(why) = self.other_host(plan) {
            return Some(why);
        }
        plan.needs.iter().find(lacks).map(|need| format!("{} lacks {}", self.name, need.name()))
    }

    /// The reason why a plan at another host says nothing about the provider's own client.
    fn other_host(&self, plan: &Plan) -> Option<String> {
        let vendor = self.adapted()?.vendor.as_ref()?;
        let host = plan.profile.as_deref().and_then(Profile::named)?;
        let is_own = host.provider == Profile::newest(host.dialect).provider;
        (!is_own).then(|| {
            format!("{} is {vendor}'s own client, and the plan is about {}", self.name, host.provider)
        })
    }

    /// The plan as this system sees it: with the names under which it offers the tools to the model.
    pub(super) fn named(&self, plan: &Arc<Plan>) -> Arc<Plan> {
        self.adapted().map_or_else(|| Arc::clone(plan), |adapted| adapted.prepared.offered(plan))
    }

    /// The number of plans that may run at once. A system that answers no barrier gets one plan at a time,
    /// because Brickbat watches its processes to learn what it has consumed.
    pub(super) fn n_jobs(&self, wanted: usize) -> usize {
        let is_watched =
            |adapted: &Adapted| adapted.prepared.agent.is_some() || !adapted.capabilities.has("barrier");
        if self.adapted().is_some_and(is_watched) { 1 } else { wanted }
    }

    /// The part of the work that an application does, not the system.
    pub(super) fn application(&self) -> Application {
        self.adapted().map(|adapted| adapted.application.clone()).unwrap_or_default()
    }

    /// The grade of receipt that this system can give.
    pub(super) fn grade(&self) -> Confidence {
        let has_barrier = self.adapted().is_none_or(|adapted| adapted.capabilities.has("barrier"));
        if has_barrier { Confidence::Observed } else { Confidence::Read }
    }

    /// The number of times to run each plan against this system. Our own agent is deterministic, so
    /// nothing needs confirming.
    pub(super) fn repeat(&self, wanted: Repeat) -> Repeat {
        Repeat { confirm: wanted.confirm && self.adapted().is_some(), ..wanted }
    }

    /// Drives one plan. With a redactor, everything that is observed is recorded.
    pub(super) async fn drive(
        &self,
        plan: &Arc<Plan>,
        profile: &'static Profile,
        width: Option<usize>,
        company: Company,
        keep: Option<&Redactor>,
    ) -> DriveResult {
        let provider = Provider::new(Arc::clone(plan), profile);
        match &self.how {
            How::Simulated(canary) => {
                let agent = Agent::of_plan(plan, Delivery::Streamed, *canary);
                let path = agent.path().to_owned();
                let run = simulate(plan, profile, agent, width);
                let observed = |_| Observed::of_simulation(plan, profile, &path, &run.trace);
                let kept = keep.map(observed).zip(keep.cloned());
                DriveResult { run: Ok(run), kept }
            }
            How::Live { canary, delivery, server } => {
                let opener = OwnAgent { plan, canary: *canary, delivery: *delivery, server };
                live::drive(server, plan, provider, width, Pace::OWN, keep.cloned(), &opener).await
            }
            How::Adapted(adapted) => {
                let server = match adapted.prepared.server(&adapted.server).await {
                    Ok(server) => &server.clone(),
                    Err(error) => return error.into(),
                };
                let number = adapted.n_states.fetch_add(1, Ordering::Relaxed);
                let opener = AdaptedSystem { adapted, plan, server, number };
                let state = adapted.prepared.path().to_string_lossy();
                let keep = keep.map(|redactor| redactor.clone().with_path(&state, "<state>"));
                let pace = match company {
                    Company::Others | Company::Alone => adapted.pace,
                    Company::Suspect => adapted.pace.longer(),
                };
                live::drive(server, plan, provider, width, pace, keep, &opener).await
            }
        }
    }

    /// The number of the adapter's process in which a plan ran last, if there is one.
    pub(super) fn process_of(&self, plan: &Plan) -> Option<u32> {
        self.adapted()?.homes().get(&plan.id).copied()
    }

    /// Prevents later plans from using the process that has failed a plan.
    pub(super) fn shun(&self, plan: &Plan, error: &DriverError) {
        if let (Some(adapted), false) = (self.adapted(), error.is_of_a_healthy_process()) {
            let number = self.process_of(plan).unwrap_or_default();
            adapted.sick.fetch_max(number, Ordering::Relaxed);
        }
    }
}

struct OwnAgent<'a> {
    plan: &'a Plan,
    canary: Option<Canary>,
    delivery: Delivery,
    server: &'a Server,
}

impl Opener for OwnAgent<'_> {
    fn open<'a>(
        &'a self,
        base_path: &'a str,
        settings: &'a Settings,
        remains: Option<&'a Remains>,
    ) -> Opening<'a> {
        Box::pin(async move {
            let base_url = format!("http://{}{base_path}", self.server.addr());
            let mut agent = Agent::of_plan(self.plan, self.delivery, self.canary).at(settings.dialect);
            agent = agent.offering(settings.tools.iter().map(Tool::from).collect());
            if let Some(Remains::Saved(saved)) = remains {
                let resumed = agent.with_thread(saved);
                agent = resumed.map_err(|error| DriverError::harness("cannot resume the agent", error))?;
            }
            let endpoints = Endpoints::of_plan(&base_url, agent.path(), &self.plan.tools)
                .map_err(|error| DriverError::harness("cannot open the provider's address", error))?;
            Ok(live::SystemSession::InProcess(InProcess::start(agent, endpoints)))
        })
    }
}

/// A system with its adapter, for one plan; `number` names the plan's state folder.
struct AdaptedSystem<'a> {
    adapted: &'a Adapted,
    plan: &'a Plan,
    server: &'a Server,
    number: u64,
}

impl Opener for AdaptedSystem<'_> {
    fn open<'a>(
        &'a self,
        base_path: &'a str,
        settings: &'a Settings,
        remains: Option<&'a Remains>,
    ) -> Opening<'a> {
        Box::pin(async move {
            let base_url = format!("http://{}{base_path}", self.server.addr());
            let spec = self.adapted.spec(self.plan, settings, base_url, self.number)?;
            self.adapted.open(self.plan, spec, remains).await
        })
    }
}

impl Adapted {
    async fn open(
        &self,
        plan: &Plan,
        spec: SessionSpec,
        remains: Option<&Remains>,
    ) -> Result<live::SystemSession, DriverError> {
        let shows_history = self.capabilities.has("history");
        let entered = |session| live::SystemSession::of(session, shows_history);
        // Other plans share a living process. A process that will be killed has its plan to itself, and so
        // has its successor.
        match remains {
            Some(Remains::Stored(id)) => {
                // An agent may open its store when it starts.
                self.mend(plan, &spec, id);
                let heir = self.prepared.start().await?;
                return Ok(entered(heir.load(id, &spec).await?));
            }
            None if plan.kills() => {
                let own = self.prepared.start().await?;
                return Ok(entered(self.enter(&own, plan, &spec).await?));
            }
            Some(Remains::Saved(_)) | None => {}
        }
        let mut adapter = self.adapter.lock().await;
        if self.prepared.is_worn(self.n_sessions.load(Ordering::Relaxed))
            || adapter.is_over()
            || self.sick.load(Ordering::Relaxed) == self.number.load(Ordering::Relaxed)
        {
            // It failed an earlier plan, which reports this; the next plan gets a new process.
            *adapter = self.start_anew().await?;
        }
        self.n_sessions.fetch_add(1, Ordering::Relaxed);
        let session = match self.enter(&adapter, plan, &spec).await {
            Err(DriverError::AdapterExited { .. } | DriverError::AnswerTimedOut { .. }) => {
                *adapter = self.start_anew().await?;
                self.enter(&adapter, plan, &spec).await
            }
            other => other,
        };
        // A plan that got no session was in this process, too.
        self.homes().insert(plan.id.clone(), self.number.load(Ordering::Relaxed));
        session.map(entered)
    }

    /// Opens a session, or loads it if a history is given.
    async fn enter(
        &self,
        adapter: &Adapter,
        plan: &Plan,
        spec: &SessionSpec,
    ) -> Result<driver::Session, DriverError> {
        match plan.given.as_slice() {
            [] => adapter.open(spec).await,
            given => {
                let id = self.prepared.give(adapter, spec, given).await?;
                self.mend(plan, spec, &id);
                adapter.load(&id, spec).await
            }
        }
    }

    /// Changes a plan's store as requested, while no process has it open.
    fn mend(&self, plan: &Plan, spec: &SessionSpec, id: &str) {
        let Some(Mend(mend)) = &self.mend else { return };
        // An agent without an adapter does not know the state folder, and stores in its home.
        let is_shared = self.prepared.agent.is_some();
        let home = crate::driver::home_of(self.prepared.path());
        let folder = if is_shared { home.as_path() } else { &spec.state_dir };
        let model = plan.model.as_deref();
        mend(StoredSession { plan: &plan.id, id, folder, is_shared, model });
    }

    async fn start_anew(&self) -> Result<Adapter, DriverError> {
        let adapter = self.prepared.start().await?;
        self.n_sessions.store(0, Ordering::Relaxed);
        self.number.fetch_add(1, Ordering::Relaxed);
        Ok(adapter)
    }

    fn homes(&self) -> std::sync::MutexGuard<'_, BTreeMap<PlanId, u32>> {
        self.homes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The parameters of a session; `number` names its state folder.
    fn spec(
        &self,
        plan: &Plan,
        settings: &Settings,
        base_url: String,
        number: u64,
    ) -> Result<SessionSpec, DriverError> {
        let state_dir = self.prepared.path().join(STATE).join(number.to_string());
        std::fs::create_dir_all(&state_dir)
            .map_err(|error| DriverError::harness("cannot create the state folder", error))?;
        let dialect = settings.dialect;
        let tools = ToolSpec::all(&settings.tools, &base_url);
        let mode = self.mode.clone();
        let (thinking, search) = (plan.thinks(), !plan.searches.is_empty());
        // The model belongs to the plan's own provider.
        let model = plan.model.clone().filter(|_| dialect == plan.dialect);
        let max_steps = plan.step_limit;
        let saving_url = plan.holds_saves().then(|| format!("{base_url}{SAVING}"));
        let plain = SessionSpec::plain(base_url, dialect, state_dir);
        Ok(SessionSpec { model, thinking, search, max_steps, mode, tools, saving_url, ..plain })
    }
}

/// The subfolder of the run's folder that contains each plan's state folder.
const STATE: &str = "state";

#[cfg(test)]
mod tests;
