//! A strict provider inside `cargo test`. Point your agent at it, and stop the agent at an exact point or
//! break a reply. The test fails if the provider refuses the next request.
//!
//! It is the provider of `brickbat serve`, in its own thread on a free local port, so it works for tests with
//! and without a runtime and for clients that block. Replies are improvised: they call tools that the request
//! offers, two or three at a time, and answer in text once the results have arrived.
//!
//! ```
//! use brickbat::fixture::StrictProvider;
//!
//! # struct Agent;
//! # impl Agent { fn new(_: &str) -> Agent { Agent } fn turn(&self, _: &str) {} }
//! # fn a_thread_continues_after_a_broken_stream() {
//! let provider = StrictProvider::start();
//! let agent = Agent::new(provider.anthropic());
//! let fault = provider.fault("reset", "after end a");
//! agent.turn("What is the weather in Oslo and in Rome?");
//! agent.turn("And in Bergen?");
//! assert_eq!(fault.followed_by().as_deref(), Some("accepted"));
//! // When `provider` is dropped, the test fails if a request was refused or none arrived.
//! # }
//! ```

mod history;
mod served;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::mpsc as std_mpsc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};

use brickbat_drive::strict_server::variables::{base_urls, for_url};
use brickbat_engine::improvise::Manner;
use brickbat_engine::standalone::{Behaviour, Followed, Order, Ordered, Strictness};
use brickbat_rules::Profile;
use brickbat_scenario::lower;
use brickbat_scenario::plan::Plan;

pub use brickbat_engine::standalone::Faults;
pub use brickbat_rules::Dialect;
pub use brickbat_rules::check::CheckOptions;
pub use history::assert_history;
use served::{Ask, Told};

/// The time limit for events that should have happened long before. It measures nothing.
const PATIENCE: Duration = Duration::from_secs(30);

/// The behaviour of a provider, and the conditions that do not fail a test.
#[derive(Debug, Clone)]
pub struct Options {
    /// The profile to judge by in its dialect, such as `anthropic-messages@2026-05`. Otherwise the path, the
    /// model or the newest profile decides.
    pub profile: Option<&'static str>,
    /// The host that the agent believes it talks to, such as `api.deepseek.com`.
    pub host: Option<&'static str>,
    /// The model to judge by, regardless of the model in the requests.
    pub model: Option<&'static str>,
    /// The text of a scenario that supplies the replies. By default, they are improvised.
    pub scenario: Option<&'static str>,
    /// The seed of improvised replies.
    pub seed: u64,
    /// The number of times that the model calls tools after a prompt before it answers.
    pub rounds: u32,
    /// The input token count that each reply reports, to trigger history compaction.
    pub usage: Option<u64>,
    /// Faults in replies, in addition to those that [`StrictProvider::fault`] injects.
    pub faults: Option<Faults>,
    /// How long a stalled reply stays silent.
    pub stall: Duration,
    /// Do not fail the test if a request is refused.
    pub allow_refusals: bool,
    /// Do not fail the test if no request arrives.
    pub allow_unused: bool,
}

impl Options {
    /// The newest rules, improvised replies and no faults. A refused request fails the test, and so does a
    /// test without requests.
    pub const STANDARD: Options = Options {
        profile: None,
        host: None,
        model: None,
        scenario: None,
        seed: 0,
        rounds: 1,
        usage: None,
        faults: None,
        stall: PATIENCE,
        allow_refusals: false,
        allow_unused: false,
    };

    /// The behaviour, or a panic if an option is wrong.
    fn behaviour(&self) -> Behaviour {
        let profile = self.profile.map(|name| {
            Profile::named(name)
                .unwrap_or_else(|| panic!("the strict provider: there is no profile `{name}`"))
        });
        let scripted = self.scenario.map(|text| {
            lower::plans("scenario", "scenario.yaml", text, &Dialect::ALL, self.seed)
                .unwrap_or_else(|error| panic!("the strict provider: {error}"))
        });
        Behaviour {
            strictness: Strictness {
                profile,
                host: self.host.map(str::to_owned),
                model: self.model.map(str::to_owned),
            },
            manner: Manner { seed: self.seed, n_rounds: self.rounds },
            scripted: first_of_each_dialect(scripted.unwrap_or_default()),
            usage: self.usage,
            faults: self.faults.clone(),
            stops: Vec::new(),
        }
    }
}

fn first_of_each_dialect(plans: Vec<Plan>) -> Vec<Plan> {
    let mut first: Vec<Plan> = Vec::new();
    for plan in plans {
        if plan.impossible.is_none() && first.iter().all(|other| other.dialect != plan.dialect) {
            first.push(plan);
        }
    }
    first
}

/// A refused request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The 0-based number of the request.
    pub exchange: u32,
    /// The broken rule; `brickbat explain RULE` describes it.
    pub rule: &'static str,
    /// The location in the body, as a JSON pointer.
    pub pointer: String,
    /// The provider's error message.
    pub message: String,
    /// The profile that judged the request.
    pub profile: &'static str,
    /// The HTTP status.
    pub status: u16,
    /// The request's history, on one line.
    pub shape: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Refusal { exchange, rule, pointer, message, profile, status, shape } = self;
        let place = if pointer.is_empty() { "the body" } else { pointer };
        write!(
            f,
            "request {exchange}: {rule} at {place} ({profile}, status {status})\n    {message}\n    {shape}"
        )
    }
}

/// A strict provider for one test. When dropped, it panics with the problems that [`StrictProvider::problems`]
/// lists. If the test has already failed, it prints them instead.
#[derive(Debug)]
pub struct StrictProvider {
    url: String,
    base_urls: BTreeMap<Dialect, String>,
    asks: Asks,
    thread: Option<JoinHandle<()>>,
    allow_refusals: bool,
    allow_unused: bool,
}

/// Sends requests to the provider's thread.
type Asks = mpsc::UnboundedSender<Ask>;

impl StrictProvider {
    /// Starts a provider with [`Options::STANDARD`].
    #[track_caller]
    pub fn start() -> StrictProvider {
        StrictProvider::with(Options::STANDARD)
    }

    /// Starts a provider.
    ///
    /// # Panics
    ///
    /// If an option is wrong, or no port is available.
    #[track_caller]
    pub fn with(options: Options) -> StrictProvider {
        let (asks, asked) = mpsc::unbounded_channel();
        let (ready, started) = std_mpsc::channel();
        let behaviour = options.behaviour();
        let stall = options.stall;
        let thread = thread::Builder::new()
            .name("brickbat".to_owned())
            .spawn(move || served::serve(behaviour, stall, &ready, asked))
            .unwrap_or_else(|error| panic!("cannot start the thread of the strict provider: {error}"));
        let url = match started.recv() {
            Ok(Ok(url)) => url,
            Ok(Err(error)) => panic!("the strict provider cannot listen: {error}"),
            Err(_) => panic!("the strict provider has ended"),
        };
        StrictProvider {
            base_urls: base_urls(&url),
            url,
            asks,
            thread: Some(thread),
            allow_refusals: options.allow_refusals,
            allow_unused: options.allow_unused,
        }
    }

    /// The address for all dialects, without a trailing slash.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The base URL for a dialect, in the form that the vendor's SDK takes.
    pub fn base_url(&self, dialect: Dialect) -> &str {
        &self.base_urls[&dialect]
    }

    /// The base URL for Anthropic's SDKs.
    pub fn anthropic(&self) -> &str {
        self.base_url(Dialect::AnthropicMessages)
    }

    /// The base URL for OpenAI's SDKs, for Chat Completions and Responses.
    pub fn openai(&self) -> &str {
        self.base_url(Dialect::OpenaiChat)
    }

    /// The base URL for Google's SDKs.
    pub fn gemini(&self) -> &str {
        self.base_url(Dialect::Gemini)
    }

    /// The endpoint for the Bedrock clients in the AWS SDKs.
    pub fn bedrock(&self) -> &str {
        self.base_url(Dialect::BedrockConverse)
    }

    /// The base URL for Mistral's SDKs.
    pub fn mistral(&self) -> &str {
        self.base_url(Dialect::Mistral)
    }

    /// The environment variables with which known programs find their provider, with made-up keys, for
    /// `Command::envs`.
    pub fn variables(&self) -> BTreeMap<String, String> {
        for_url(&self.url, |name| std::env::var(name).ok())
    }

    /// Holds a reply at a point, such as `after calls` or `after end a of reply 2`: stop the agent there.
    /// Replies are counted from this call.
    ///
    /// # Panics
    ///
    /// If the point does not exist.
    #[track_caller]
    pub fn stop_at(&self, at: &str) -> Armed {
        self.arm("stop", at)
    }

    /// Injects a fault into a reply at a point: `eof`, `reset`, `end-early`, `error` or `stall`. Before the
    /// headers, it can replace the reply: `overloaded` or `rate-limit`.
    ///
    /// # Panics
    ///
    /// If the fault cannot happen at that point.
    #[track_caller]
    pub fn fault(&self, kind: &str, at: &str) -> Armed {
        self.arm(kind, at)
    }

    /// The refused requests.
    pub fn refusals(&self) -> Vec<Refusal> {
        self.told().refusals
    }

    /// The number of requests for a reply so far.
    pub fn n_requests(&self) -> u64 {
        self.told().n_requests
    }

    /// The problems that fail the test, one or more lines each: refused requests, no requests, and ordered
    /// points that were never reached.
    pub fn problems(&self) -> Vec<String> {
        let told = self.told();
        let mut problems = Vec::new();
        if !told.refusals.is_empty() && !self.allow_refusals {
            let lines = told.refusals.iter().map(|refusal| format!("\n  {refusal}"));
            problems.push(format!("the strict provider refused a request{}", lines.collect::<String>()));
        }
        if told.n_requests == 0 && !self.allow_unused {
            let unread = told.unread.iter().map(|words| format!("\n  {words}")).collect::<String>();
            let url = &self.url;
            problems
                .push(format!("no request came to the strict provider at {url}: nothing was judged{unread}"));
        }
        let never = told.orders.iter().filter(|order| order.receipt.is_none());
        problems.extend(never.map(|order| format!("`{}` did not happen; {UNREACHED}", order.words)));
        problems
    }

    #[track_caller]
    fn arm(&self, what: &str, at: &str) -> Armed {
        let Some(ordered) = Ordered::named(what) else {
            panic!("`{what}` is not a fault that can be ordered")
        };
        let order =
            at.parse().and_then(|at| Order::new(ordered, at)).unwrap_or_else(|error| panic!("{error}"));
        let words = order.to_string();
        match asked(&self.asks, |answer| Ask::Arm(order, answer)) {
            Ok(number) => Armed { asks: self.asks.clone(), number, words },
            Err(error) => panic!("{error}"),
        }
    }

    fn told(&self) -> Told {
        asked(&self.asks, Ask::Report)
    }
}

impl Drop for StrictProvider {
    fn drop(&mut self) {
        let problems = self.problems().join("\n");
        // The thread ends when the last sender is gone; an armed point may outlive the provider.
        let _ = self.asks.send(Ask::End);
        if let Some(thread) = self.thread.take() {
            // If it panicked, its message is already on standard error.
            let _ = thread.join();
        }
        match (problems.is_empty(), thread::panicking()) {
            (true, _) => {}
            // The provider's problems usually explain the failure.
            (false, true) => eprintln!("{problems}"),
            (false, false) => panic!("{problems}"),
        }
    }
}

/// Hints for a point that was never reached.
const UNREACHED: &str = "only replies to requests that offer tools are counted, a reply calls two or three tools, and a \
reply that is not streamed has only its headers";

/// A stop or a fault at a point in a reply.
#[derive(Debug)]
pub struct Armed {
    asks: Asks,
    number: usize,
    words: String,
}

impl Armed {
    /// Waits until the point of the stop is reached; the reply is then held there. This blocks the thread. In
    /// a test with a runtime, use [`Armed::reached`].
    ///
    /// # Panics
    ///
    /// If it takes too long.
    #[track_caller]
    pub fn wait(&self) {
        let (answer, answered) = std_mpsc::channel();
        self.ask(Ask::Reached(self.number, Box::new(move |is_reached| _ = answer.send(is_reached))));
        self.expect(answered.recv().unwrap_or(false));
    }

    /// The asynchronous form of `wait`, for any runtime.
    ///
    /// # Panics
    ///
    /// If it takes too long.
    pub async fn reached(&self) {
        let (answer, answered) = oneshot::channel();
        self.ask(Ask::Reached(self.number, Box::new(move |is_reached| _ = answer.send(is_reached))));
        self.expect(answered.await.unwrap_or(false));
    }

    /// Releases a held reply. A reply without a reader does not need this.
    pub fn release(&self) {
        self.ask(Ask::Release(self.number));
    }

    /// The receipt of the fault: `read` if the client had nothing left to read of everything sent before it.
    pub fn receipt(&self) -> Option<String> {
        let told = asked(&self.asks, Ask::Report);
        told.orders[self.number].receipt.map(|grade| grade.name().to_owned())
    }

    /// The outcome of the next request in that dialect: `accepted`, or the rule by which it was refused.
    pub fn followed_by(&self) -> Option<String> {
        let told = asked(&self.asks, Ask::Report);
        told.orders[self.number].then.map(|followed| match followed {
            Followed::Accepted => "accepted".to_owned(),
            Followed::Refused(rule) => rule.to_owned(),
        })
    }

    fn ask(&self, ask: Ask) {
        // Without a provider no one answers; the caller notices when it waits for the answer.
        let _ = self.asks.send(ask);
    }

    #[track_caller]
    fn expect(&self, is_reached: bool) {
        assert!(is_reached, "`{}` was not reached in {} s; {UNREACHED}", self.words, PATIENCE.as_secs());
    }
}

/// Asks the provider's thread, which answers immediately.
fn asked<T>(asks: &Asks, ask: impl FnOnce(std_mpsc::Sender<T>) -> Ask) -> T {
    let (answer, answered) = std_mpsc::channel();
    let _ = asks.send(ask(answer));
    answered.recv().unwrap_or_else(|_| panic!("the strict provider has ended"))
}
