//! A strict provider inside `cargo test`: point your agent at it, stop the agent at an exact point or break a reply, and the
//! test fails if the provider refuses what comes next.
//!
//! It is the provider of `brickbat serve`, in a thread of its own on a free port of this machine, so that it serves tests
//! with and without a runtime, and clients that block. Replies are improvised: they call tools that the request offers, two
//! or three at once, and answer in text when the results have come.
//!
//! ```
//! use brickbat::fixture::StrictProvider;
//!
//! # struct Agent;
//! # impl Agent { fn new(_: &str) -> Agent { Agent } fn turn(&self, _: &str) {} }
//! # fn a_thread_goes_on_after_a_broken_stream() {
//! let provider = StrictProvider::start();
//! let agent = Agent::new(provider.anthropic());
//! let fault = provider.fault("reset", "after end a");
//! agent.turn("What is the weather in Oslo and in Rome?");
//! agent.turn("And in Bergen?");
//! assert_eq!(fault.followed_by().as_deref(), Some("accepted"));
//! // Here it is dropped, and the test fails if it has refused a request, or if none came.
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
use brickbat_engine::standalone::{Behaviour, Faults, Followed, Order, Ordered, Strictness};
use brickbat_rules::Profile;
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::lower;

pub use history::assert_history;
use served::{Ask, Told};

/// How long something is waited for that should have happened long ago. Nothing is measured by it.
const PATIENCE: Duration = Duration::from_secs(30);

/// How a provider behaves, and what does not fail a test.
#[derive(Debug, Clone)]
pub struct Options {
    /// The profile that judges in its dialect, such as `anthropic-messages@2026-05`; otherwise the path, the model or the
    /// newest profile decide.
    pub profile: Option<&'static str>,
    /// Whom the agent believes to speak with, such as `api.deepseek.com`.
    pub host: Option<&'static str>,
    /// The model by whose rules is judged, whichever the requests name.
    pub model: Option<&'static str>,
    /// The text of a scenario from which replies are taken; without it they are improvised.
    pub scenario: Option<&'static str>,
    /// What improvised replies are drawn from.
    pub seed: u64,
    /// How often the model calls tools after a prompt before it answers.
    pub rounds: u32,
    /// The tokens that each reply reports for its request, so that an agent compacts its history.
    pub usage: Option<u64>,
    /// What goes wrong with replies, besides what [`StrictProvider::fault`] orders.
    pub faults: Option<Faults>,
    /// How long a stalled reply is silent.
    pub stall: Duration,
    /// A refused request does not fail the test.
    pub allow_refusals: bool,
    /// A test in which no request came does not fail.
    pub allow_unused: bool,
}

impl Options {
    /// The newest rules, improvised replies, no faults; a refusal fails the test, and so does a test without a request.
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

    fn behaviour(&self) -> Result<Behaviour, String> {
        let profile = match self.profile {
            Some(name) => Some(Profile::named(name).ok_or_else(|| format!("there is no profile `{name}`"))?),
            None => None,
        };
        let scripted = match self.scenario {
            Some(text) => lower::plans("scenario", "scenario.yaml", text, &Dialect::ALL, self.seed)
                .map_err(|error| error.to_string())?,
            None => Vec::new(),
        };
        Ok(Behaviour {
            strictness: Strictness {
                profile,
                host: self.host.map(str::to_owned),
                model: self.model.map(str::to_owned),
            },
            manner: Manner { seed: self.seed, n_rounds: self.rounds },
            scripted: first_of_each_dialect(scripted),
            usage: self.usage,
            faults: self.faults.clone(),
            stops: Vec::new(),
        })
    }
}

fn first_of_each_dialect(plans: Vec<crate::plan::Plan>) -> Vec<crate::plan::Plan> {
    let mut first: Vec<crate::plan::Plan> = Vec::new();
    for plan in plans {
        if plan.impossible.is_none() && first.iter().all(|other| other.dialect != plan.dialect) {
            first.push(plan);
        }
    }
    first
}

/// A request that was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The number of the request, from 0.
    pub exchange: u32,
    /// The rule that it broke; `brickbat explain RULE` says more.
    pub rule: &'static str,
    /// Where in the body, as a JSON pointer.
    pub pointer: String,
    /// The provider's words.
    pub message: String,
    /// Whose rules judged it, and of when.
    pub profile: &'static str,
    /// The HTTP status.
    pub status: u16,
    /// The history of the request in a line.
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

/// A strict provider of one test. When it is dropped, it panics with what [`StrictProvider::problems`] gives, unless the
/// test has failed already: then it prints them.
#[derive(Debug)]
pub struct StrictProvider {
    url: String,
    base_urls: BTreeMap<Dialect, String>,
    asks: Asks,
    thread: Option<JoinHandle<()>>,
    allow_refusals: bool,
    allow_unused: bool,
}

/// How the thread of the provider is asked.
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
    /// If an option is wrong, or the machine gives it no port.
    #[track_caller]
    pub fn with(options: Options) -> StrictProvider {
        let (asks, asked) = mpsc::unbounded_channel();
        let (ready, started) = std_mpsc::channel();
        let behaviour = options.behaviour().unwrap_or_else(|why| panic!("the strict provider: {why}"));
        let stall = options.stall;
        let thread = thread::Builder::new()
            .name("brickbat".to_owned())
            .spawn(move || served::serve(behaviour, stall, &ready, asked))
            .unwrap_or_else(|error| panic!("the strict provider has no thread: {error}"));
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

    /// The address below which all dialects are spoken, without a slash at its end.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The base URL for a dialect, as the SDK of its vendor takes it.
    pub fn base_url(&self, dialect: Dialect) -> &str {
        &self.base_urls[&dialect]
    }

    /// The base URL of Anthropic's SDKs.
    pub fn anthropic(&self) -> &str {
        self.base_url(Dialect::AnthropicMessages)
    }

    /// The base URL of OpenAI's SDKs, for Chat Completions and Responses.
    pub fn openai(&self) -> &str {
        self.base_url(Dialect::OpenaiChat)
    }

    /// The base URL of Google's SDKs.
    pub fn gemini(&self) -> &str {
        self.base_url(Dialect::Gemini)
    }

    /// The endpoint of AWS's SDKs for Bedrock.
    pub fn bedrock(&self) -> &str {
        self.base_url(Dialect::BedrockConverse)
    }

    /// The base URL of Mistral's SDKs.
    pub fn mistral(&self) -> &str {
        self.base_url(Dialect::Mistral)
    }

    /// The variables by which known programs find their provider, with made-up keys, for `Command::envs`.
    pub fn variables(&self) -> BTreeMap<String, String> {
        for_url(&self.url, |name| std::env::var(name).ok())
    }

    /// Holds a reply at a point, such as `after calls` or `after end a of reply 2`: stop the agent there. Replies are
    /// counted from here on.
    ///
    /// # Panics
    ///
    /// If there is no such point.
    #[track_caller]
    pub fn stop_at(&self, at: &str) -> Armed {
        self.arm("stop", at)
    }

    /// Spoils a reply at a point: `eof`, `reset`, `end-early`, `error` or `stall`; or, before the headers, gives another
    /// answer in its place: `overloaded` or `rate-limit`.
    ///
    /// # Panics
    ///
    /// If that cannot happen there.
    #[track_caller]
    pub fn fault(&self, kind: &str, at: &str) -> Armed {
        self.arm(kind, at)
    }

    /// The requests that were refused.
    pub fn refusals(&self) -> Vec<Refusal> {
        self.told().refusals
    }

    /// How many requests for a reply have come.
    pub fn n_requests(&self) -> u64 {
        self.told().n_requests
    }

    /// What the test fails with, a line or more for each: refused requests, no request at all, and points that were ordered
    /// and never reached.
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
        let Some(ordered) = Ordered::named(what) else { panic!("`{what}` is no fault that can be ordered") };
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
        // It ends with the last that could ask it; an armed point may outlive the provider.
        let _ = self.asks.send(Ask::End);
        if let Some(thread) = self.thread.take() {
            // If it has panicked, it has said so.
            let _ = thread.join();
        }
        match (problems.is_empty(), thread::panicking()) {
            (true, _) => {}
            // What the provider said is why, more often than not.
            (false, true) => eprintln!("{problems}"),
            (false, false) => panic!("{problems}"),
        }
    }
}

/// Where a point that was never reached may have been missed.
const UNREACHED: &str = "replies to requests that offer tools are counted, a reply calls two or three tools, and one that \
                         is not streamed has only its headers";

/// A stop or a fault at a point of a reply.
#[derive(Debug)]
pub struct Armed {
    asks: Asks,
    number: usize,
    words: String,
}

impl Armed {
    /// Waits until the point of a stop is reached; the reply is then held there. It blocks the thread: in a test with a
    /// runtime, [`Armed::reached`] does not.
    ///
    /// # Panics
    ///
    /// If that takes too long.
    #[track_caller]
    pub fn wait(&self) {
        let (answer, answered) = std_mpsc::channel();
        self.ask(Ask::Reached(self.number, Box::new(move |is_reached| _ = answer.send(is_reached))));
        self.expect(answered.recv().unwrap_or(false));
    }

    /// The same in a coroutine, of any runtime.
    ///
    /// # Panics
    ///
    /// If that takes too long.
    pub async fn reached(&self) {
        let (answer, answered) = oneshot::channel();
        self.ask(Ask::Reached(self.number, Box::new(move |is_reached| _ = answer.send(is_reached))));
        self.expect(answered.await.unwrap_or(false));
    }

    /// Lets a reply go on that is held. One whose reader has gone needs none.
    pub fn release(&self) {
        self.ask(Ask::Release(self.number));
    }

    /// The proof that it happened: `read` if nothing that was sent before it was left to read for the client.
    pub fn receipt(&self) -> Option<String> {
        let told = asked(&self.asks, Ask::Report);
        told.orders[self.number].receipt.map(|grade| grade.name().to_owned())
    }

    /// What became of the next request in that dialect: `accepted`, or the rule by which it was refused.
    pub fn followed_by(&self) -> Option<String> {
        let told = asked(&self.asks, Ask::Report);
        told.orders[self.number].then.map(|followed| match followed {
            Followed::Accepted => "accepted".to_owned(),
            Followed::Refused(rule) => rule.to_owned(),
        })
    }

    fn ask(&self, ask: Ask) {
        // Without a provider nobody answers, which is seen where an answer is awaited.
        let _ = self.asks.send(ask);
    }

    #[track_caller]
    fn expect(&self, is_reached: bool) {
        assert!(is_reached, "`{}` was not reached in {} s; {UNREACHED}", self.words, PATIENCE.as_secs());
    }
}

/// Asks the thread of the provider, which answers at once.
fn asked<T>(asks: &Asks, ask: impl FnOnce(std_mpsc::Sender<T>) -> Ask) -> T {
    let (answer, answered) = std_mpsc::channel();
    let _ = asks.send(ask(answer));
    answered.recv().unwrap_or_else(|_| panic!("the strict provider has ended"))
}
