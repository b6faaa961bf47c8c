//! A scenario: what the model says, what the tools do, and what goes wrong, in words.
//!
//! A scenario is an authored YAML file (JSON is accepted, being YAML).
//! It is neutral: no provider, no wire ids, no bytes, no clocks.
//! Things happen at *points*, positions in causal order, never at a time.
//! These types are the reference of the file format; `scenarios/scenario.schema.json` is made from them.
//!
//! `vary` and the `$name` placeholders are resolved by [`crate::parse`] before these types are filled,
//! so a [`Scenario`] value is always one variant with every choice made.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

mod causes;
mod found;
mod given;
mod shorthand;
mod slip;

pub use slip::{CallId, Indices, Stop};

pub use causes::{Cause, Limits};

pub use found::{Found, Seen};

pub use given::{Given, GivenHistory, GivenMessage, GivenResult};

/// One scenario file, or one variant of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Version of this format; 1 is the only one.
    pub schema: u32,
    /// What happens, in a sentence or two, for a reader who has never seen the tool.
    pub comment: String,
    /// The failure classes that this scenario belongs to, for example `abort-batch`.
    pub class: Vec<String>,
    /// Public threads that show the failure, as `owner/repo#number` or an address.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
    /// The one cause that the scenario was found to show; missing where nobody found it by a run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<Found>,
    /// A named, dated strictness, such as `mistral@2025-07`, where the failure shows only at that provider. The scenario
    /// is then played on its dialect alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// What a system must be able to do for this scenario to apply; otherwise its plans are `unsupported`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<Need>,
    /// Names and the values that each takes in turn; `$name` stands for the value elsewhere in the file.
    /// Every combination is a variant.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub vary: BTreeMap<String, Sweep>,
    /// What the system finds in its store when the scenario begins; nothing if it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given: Option<Given>,
    /// The tools that the model may call, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tools: BTreeMap<String, Tool>,
    /// What the system allows a turn.
    #[serde(default, skip_serializing_if = "Limits::is_none")]
    pub limits: Limits,
    /// What the user says, and all that follows until the system is idle again.
    pub turns: Vec<Turn>,
    /// What must be true beyond what every plan is held to.
    #[serde(default, skip_serializing_if = "Expect::is_empty")]
    pub expect: Expect,
}

/// The values that a name of `vary` takes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Sweep {
    /// These.
    Values(Vec<serde_json::Value>),
    /// `0..3`, `permutations(a, b, c)`, or `points(turn 1)`: every point of the turn's first reply and of its tools;
    /// `points(turn 1, reply 2)` are those of another reply.
    Words(String),
}

/// A capability that a system may lack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Need {
    /// The user can stop a running turn.
    Cancel,
    /// Tools start while the reply is still streaming.
    EagerTools,
    /// The system asks the provider for streams.
    Streaming,
    /// The system asks the user before a tool runs that needs it.
    Approvals,
    /// A session outlives the process of the system: a new process can load it.
    Resume,
    /// The system asks the model to think, where the scenario has it think.
    Thinking,
    /// A history can be put into the system's store before it loads the session.
    GivenHistory,
    /// Two processes can have one session open at the same time.
    SharedSession,
    /// The harness can hold the writes of the store, one by one.
    Saving,
    /// The user can say something to a running turn, which then goes on.
    Steer,
    /// The user can send another prompt while a turn runs: it is queued or refused, or stops the turn.
    SecondPrompt,
    /// The system can be told to end a turn by an exception of its own.
    Interrupt,
    /// The system ends a turn after so many steps.
    StepLimit,
    /// The system knows tools that end the turn with their result.
    FinalTools,
    /// Hooks of the application add context for the model while tools run.
    Hooks,
    /// The history can be cut.
    Trim,
    /// The history can be summarised.
    Summarise,
    /// The user can take back what was said.
    Rewind,
    /// The user can ask something beside the conversation.
    Aside,
}

impl Need {
    /// The word that scenario files and reports use.
    pub fn name(self) -> &'static str {
        match self {
            Need::Cancel => "cancel",
            Need::EagerTools => "eager-tools",
            Need::Streaming => "streaming",
            Need::Approvals => "approvals",
            Need::Resume => "resume",
            Need::Thinking => "thinking",
            Need::GivenHistory => "given-history",
            Need::SharedSession => "shared-session",
            Need::Saving => "saving",
            Need::Steer => "steer",
            Need::SecondPrompt => "second-prompt",
            Need::Interrupt => "interrupt",
            Need::StepLimit => "step-limit",
            Need::FinalTools => "final-tools",
            Need::Hooks => "hooks",
            Need::Trim => "trim",
            Need::Summarise => "summarise",
            Need::Rewind => "rewind",
            Need::Aside => "aside",
        }
    }
}

/// How a tool ends when the harness lets it. Exactly one of `returns`, `fails`, `throws` and `denies` is given, unless
/// the tool is `missing`. `{key}` in a text stands for the argument `key` of the call. An empty text is a tool that says
/// nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tool {
    /// The tool returns this text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub returns: Option<String>,
    /// The tool answers with an error result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fails: Option<String>,
    /// The tool throws.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throws: Option<String>,
    /// The user refuses the call: with `asks` the answer is no and the tool never runs, else the tool throws a
    /// refusal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub denies: Option<String>,
    /// The tool does not hear the user's stop: it goes on and settles late.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deaf: bool,
    /// The user is asked before the tool runs. The answer is yes, unless the tool `denies`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub asks: bool,
    /// The model calls it, and the system was never given it. It does not end, because it never runs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub missing: bool,
    /// The name by which the model calls it, exactly as it stands on the wire, where that is no name that a tool could
    /// have. Only for a tool that is `missing`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub called: Option<String>,
    /// The tool does not settle while its turn runs; if it is also `deaf`, it settles in the next one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hangs: bool,
    /// The turn ends with the result of this tool, and the model is not asked again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ends: bool,
}

/// From a user message to the moment when the system is idle again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Turn {
    /// What the user says.
    pub user: String,
    /// The process that takes the turn: 1, or 2, which loads the session when it is first used, while 1 lives on.
    #[serde(default = "Turn::first", skip_serializing_if = "Turn::is_first")]
    pub process: u32,
    /// What the model answers, one reply for each request of the turn.
    pub replies: Vec<Reply>,
    /// The order in which the calls of this turn settle; calls that are not named settle last, in their own order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settle: Vec<String>,
    /// What goes wrong, and where.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub at: Vec<At>,
}

impl Turn {
    fn first() -> u32 {
        1
    }

    fn is_first(process: &u32) -> bool {
        *process == 1
    }
}

/// One reply of the model: a list of blocks, or an object where there is more to say.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Reply {
    /// The blocks of each attempt. The second is served when the first has failed and the system asks again.
    pub attempts: Vec<Vec<Block>>,
    /// The argument deltas of the calls arrive in turns instead of one call after the other.
    /// Only `openai-chat` can say this; elsewhere the calls stay in sequence.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub interleave: bool,
    /// The stop reason that is sent, whatever the reply says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<Stop>,
    /// How the calls of the stream are numbered, if not one after the other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub indices: Option<Indices>,
}

/// A piece of a reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Block {
    /// The model thinks, before all else that it says. It is sent in two fragments. Only some dialects show it.
    Think(String),
    /// The model says something. It is sent in two fragments. An empty text is opened and not filled.
    Text(String),
    /// The model calls a tool.
    Call(Call),
}

/// A tool call with a symbolic name; the harness mints the wire id.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// The name by which the rest of the scenario speaks of this call.
    #[serde(rename = "as")]
    pub name: String,
    /// The tool that is called.
    pub tool: String,
    /// The arguments.
    #[serde(default)]
    pub args: BTreeMap<String, serde_json::Value>,
    /// The text of the arguments as the model writes it, JSON or not, instead of `args`. No tool is fit to run with it,
    /// because every tool of the harness demands an argument that an author cannot know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<String>,
    /// The id that the model gives the call, where it is not one of its own in the provider's form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<CallId>,
    /// Number of deltas in which the arguments are sent, 1 to 16.
    #[serde(default = "Call::default_deltas")]
    pub deltas: u32,
}

impl Call {
    fn default_deltas() -> u32 {
        3
    }
}

/// Something that happens at a point of the turn. Exactly one of `before` and `after` is given.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct At {
    /// Which reply of the turn a point of the stream belongs to, from 1.
    #[serde(default = "At::first")]
    pub reply: u32,
    /// Which attempt of that reply, from 1.
    #[serde(default = "At::first")]
    pub attempt: u32,
    /// Just before this point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Point>,
    /// Just after this point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Point>,
    /// What happens there.
    #[serde(rename = "do")]
    pub action: Action,
}

impl At {
    fn first() -> u32 {
        1
    }
}

/// A position in causal order.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Point {
    /// What the user says in this turn (only `before`): the turn before is over, and the system is idle.
    Prompt,
    /// The status line and headers of the reply.
    Headers,
    /// Fragment K of what the model thinks, from 1. The signature of the whole comes after the last.
    Think(u32),
    /// Fragment K of the reply's text, from 1.
    Text(u32),
    /// The call's opening: id and tool name.
    Start(String),
    /// Delta K of the call's arguments, from 1.
    Delta(String, u32),
    /// The call is complete on the wire.
    End(String),
    /// The last call of the reply is complete, the stop reason is not yet sent.
    Calls,
    /// The stop reason.
    Stop,
    /// The terminal event of the reply.
    Reply,
    /// The user has been asked about the call, and has not answered yet.
    Asked(String),
    /// A tool has started: a call by name, or the K-th of the turn.
    Started(Which),
    /// A result has been delivered: of a call by name, or the K-th of the turn. 0 means that all calls have started.
    Settled(Which),
    /// The K-th entry of the turn is written to the store, from 1: what the user said, then each call and each result.
    Saved(u32),
}

/// A call by its name, or a count.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Which {
    /// So many.
    Count(u32),
    /// That one.
    Call(String),
}

/// What happens at a point.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// The user stops the turn.
    Abort,
    /// The process of the system is killed (SIGKILL). A new one is started and loads the session for the next turn.
    Kill,
    /// The provider falls silent for good, and the user stops the turn when nothing has come for a while.
    Stall,
    /// The provider is silent until all it sent has been taken in, then goes on.
    Pause,
    /// The connection is reset (RST).
    Reset,
    /// The connection is closed inside the body (FIN).
    Eof,
    /// The body ends as HTTP wants it, but the terminal event of the stream never came.
    EndEarly,
    /// An error event inside the stream that began with status 200; then the connection closes.
    Error(ErrorKind),
    /// The request is answered with an HTTP error, a number of times, and served normally after that.
    /// Belongs to `before: headers`.
    Http(HttpFault),
    /// This call settles here, earlier or later than it would.
    Settle(String),
    /// What is sent at this point is sent twice. Belongs to `after`.
    Duplicate,
    /// A frame is sent that is cut off in the middle, and the reply goes on behind it.
    Malformed,
    /// The user stops the turn, and stops it once more at once.
    StopAgain,
    /// An exception leaves the system's loop.
    Interrupt(Cause),
    /// The user says this to the running turn, which then goes on.
    Steer(String),
    /// The user sends this as another prompt while the turn runs.
    Prompt(String),
    /// A hook adds this context for the model, behind a result.
    Inject(String),
    /// The user leaves the question open until nothing else happens.
    Ignore,
    /// The history is cut: the last N messages stay, or as many more or less as it takes to keep together what
    /// belongs together.
    Trim(u32),
    /// A summary takes the place of the history, but for the last N messages, or a few more or less.
    Summarise(u32),
    /// The user takes back all from the message of that turn on, counted from 1. Belongs to `before: prompt`.
    Rewind(u32),
    /// The user asks this beside the conversation, of which it does not become a part. Belongs to `before: prompt`.
    Aside(String),
}

/// What an error event inside a stream says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorKind {
    /// The provider is overloaded.
    Overloaded,
    /// The provider failed inside.
    Server,
    /// The account is over its rate.
    RateLimit,
}

/// An HTTP error in place of a reply.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct HttpFault {
    /// The status, 400 to 599.
    pub status: u16,
    /// How many requests get it before the reply is served, 1 to 20.
    #[serde(default = "HttpFault::once")]
    pub times: u32,
    /// Milliseconds in the header `retry-after-ms`, 250 if nothing is said.
    #[serde(default = "HttpFault::soon")]
    pub retry_after_ms: u32,
}

/// The pause that a fault asks for if nothing is said: short enough to wait for, and longer than a busy machine takes to
/// carry a request that does not wait.
pub const SOON_MS: u32 = 250;

impl HttpFault {
    fn once() -> u32 {
        1
    }

    fn soon() -> u32 {
        SOON_MS
    }
}

/// What must be true of a plan beyond what every plan is held to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// How often a call may really have run.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub executed: BTreeMap<String, Times>,
}

impl Expect {
    fn is_empty(&self) -> bool {
        self.executed.is_empty()
    }
}

/// How often something may have happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Times {
    /// Not at all.
    Never,
    /// Exactly once.
    Once,
    /// Not at all, or once.
    AtMostOnce,
}
