//! The scenario format: a description of the model's output, the tools' behaviour, and the faults.
//!
//! A scenario is an authored YAML file. JSON is also accepted, because it is valid YAML. It is neutral: it
//! names no provider and contains no wire ids, bytes or times. Events happen at *points*, which are positions
//! in causal order, never at a time. These types define the file format; `scenarios/scenario.schema.json` is
//! generated from them.
//!
//! [`crate::parse`] resolves `vary` and the `$name` placeholders before it fills these types,
//! so a [`Scenario`] value is always one variant with every choice made.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::point::{Region, Side};
use crate::premise::Premise;

mod compaction;
mod given;
mod limits;
mod malformation;
mod picture;
mod provenance;
mod search;
mod shorthand;
mod sub_agent;
mod tool;

pub use malformation::{CallId, Indices, Stop};

pub use limits::{InterruptCause, Limits};

pub use provenance::{Frequency, Provenance};

pub use sub_agent::SubAgent;

pub use tool::Tool;

pub use crate::action::{Action, ErrorKind, HttpFault, ProviderChoice, SOON_MS};
pub use crate::point::{Point, Which};

pub use search::{Found, Search};

pub use given::{Given, GivenBlock, GivenHistory, GivenMessage, GivenResult, GivenThought, Signature};

pub use picture::{Picture, PictureFormat};

/// One scenario file, or one variant of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Version of this format; 1 is the only one.
    pub schema: u32,
    /// A sentence or two about what happens, for a reader new to Brickbat. Each built-in scenario has one; your
    /// own need none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub comment: String,
    /// The failure classes that this scenario belongs to, for example `abort-batch`. Each built-in scenario
    /// has one; your own need none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub class: Vec<String>,
    /// Public threads that show the failure, as `owner/repo#number` or an address.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
    /// The single cause that the scenario was found to trigger; absent if the scenario was written by hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<Provenance>,
    /// A profile, which is a named and dated set of rules, such as `mistral@2025-07`, if the failure shows
    /// only at that provider. The scenario then runs only in the profile's dialect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// The model that the system is asked to use, by the provider's name for it, if the failure shows only
    /// with that model. `profile` names the provider that offers it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The capabilities that a system needs for this scenario; without them, its plans are `unsupported`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<Need>,
    /// Who does the unusual thing, if the actions, the tools and the model's replies do not show it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub premise: Option<Premise>,
    /// Names, each with the values that it takes in turn; `$name` is replaced by the value elsewhere in the
    /// file.
    /// Every combination is a variant.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub vary: BTreeMap<String, Sweep>,
    /// The history in the system's store when the scenario begins; the store is empty if this is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given: Option<Given>,
    /// The tools that the model may call, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tools: BTreeMap<String, Tool>,
    /// The limits that the system sets for a turn, and the model for a request.
    #[serde(default, skip_serializing_if = "Limits::is_none")]
    pub limits: Limits,
    /// The turns. Each is a user message and everything that follows until the system is idle again.
    pub turns: Vec<Turn>,
    /// The requirements of this scenario beyond those that every plan must meet.
    #[serde(default, skip_serializing_if = "Expect::is_empty")]
    pub expect: Expect,
}

impl Scenario {
    /// Creates a scenario without tools and turns.
    pub fn new(comment: impl Into<String>) -> Scenario {
        Scenario {
            schema: 1,
            comment: comment.into(),
            class: Vec::new(),
            evidence: Vec::new(),
            found: None,
            profile: None,
            model: None,
            needs: Vec::new(),
            premise: None,
            vary: BTreeMap::new(),
            given: None,
            tools: BTreeMap::new(),
            limits: Limits::default(),
            turns: Vec::new(),
            expect: Expect::default(),
        }
    }

    /// The calls in all turns, in file order.
    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        self.turns.iter().flat_map(Turn::calls)
    }

    /// The calls in all turns and their sub-agents, in file order.
    pub fn all_calls(&self) -> impl Iterator<Item = &Call> {
        self.turns.iter().flat_map(Turn::all_calls)
    }

    /// True if the model thinks in any reply.
    pub fn thinks(&self) -> bool {
        let replies = self.turns.iter().flat_map(|turn| &turn.replies);
        replies.flat_map(|reply| &reply.attempts).flatten().any(|block| matches!(block, Block::Think(_)))
    }

    /// True if the provider runs a search in any turn.
    pub fn searches(&self) -> bool {
        self.turns.iter().any(Turn::searches)
    }

    /// Mutable version of [`Scenario::calls`].
    pub fn calls_mut(&mut self) -> impl Iterator<Item = &mut Call> {
        let replies = self.turns.iter_mut().flat_map(|turn| &mut turn.replies);
        replies.flat_map(|reply| &mut reply.attempts).flatten().filter_map(Block::call_mut)
    }
}

/// The values that a name in `vary` takes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Sweep {
    /// A list of values.
    Values(Vec<serde_json::Value>),
    /// `0..3`, `permutations(a, b, c)`, or `points(turn 1)`: every point of the turn's first reply and of its
    /// tools. `points(turn 1, reply 2)` gives the points in another reply.
    Words(String),
}

crate::named! {
    /// A capability that a system may lack.
    pub enum Need {
        /// The user can stop a running turn.
        Cancel = "cancel",
        /// Tools start while the reply is still streaming.
        EagerTools = "eager-tools",
        /// The system asks the provider for streams.
        Streaming = "streaming",
        /// The system asks the user before it runs a tool that needs approval.
        Approvals = "approvals",
        /// A session outlives the process of the system: a new process can load it.
        Resume = "resume",
        /// The system asks the model to think if the scenario contains thinking.
        Thinking = "thinking",
        /// The harness can write a history into the system's store before the system loads the session.
        GivenHistory = "given-history",
        /// A given history may contain the model's thinking, with the part of the signature that the store kept.
        GivenThinking = "given-thinking",
        /// A given history may contain images.
        GivenPictures = "given-pictures",
        /// A given history may contain entries that exist only in a store: instructions in between, failed replies and compactions.
        GivenMarks = "given-marks",
        /// A given history may contain results of calls that the store has lost.
        GivenOrphans = "given-orphans",
        /// A given history may contain arguments that are not a JSON object.
        GivenRawArguments = "given-raw-arguments",
        /// Two processes can have one session open at the same time.
        SharedSession = "shared-session",
        /// The harness can hold the writes of the store, one by one.
        Saving = "saving",
        /// The harness can let a write of the system's store fail.
        FailingWrites = "failing-writes",
        /// The user can send a message to a running turn, which then continues.
        Steer = "steer",
        /// The user can send another prompt while a turn runs: the system queues it, refuses it, or stops the turn.
        SecondPrompt = "second-prompt",
        /// The system can be made to end a turn with one of its own exceptions.
        Interrupt = "interrupt",
        /// The system ends a turn after a number of steps.
        StepLimit = "step-limit",
        /// The system has tools that end the turn with their result.
        FinalTools = "final-tools",
        /// The system has tools that hand the conversation over to another agent.
        Handoffs = "handoffs",
        /// A tool can be an agent itself: it sends requests to the same provider and calls the same tools.
        SubAgents = "sub-agents",
        /// The system returns the calls of some tools to the application and continues when it gets their results.
        ClientTools = "client-tools",
        /// Hooks of the application add context for the model while tools run.
        Hooks = "hooks",
        /// The history can be cut.
        Trim = "trim",
        /// The history can be summarised.
        Summarise = "summarise",
        /// The history can be cut or summarised while tools run, if the system does so at all.
        ChangeInFlight = "change-in-flight",
        /// The system compacts its history without a command when the provider reports 190,000 tokens for a request.
        AutoCompaction = "auto-compaction",
        /// The user can take messages back.
        Rewind = "rewind",
        /// The user can ask something outside the conversation.
        Aside = "aside",
        /// The model's thinking can be switched on and off between two turns.
        ThinkingSwitch = "thinking-switch",
        /// A thread can continue with another provider between two turns.
        ProviderSwitch = "provider-switch",
        /// The list of tools can be changed between two turns.
        ToolChanges = "tool-changes",
        /// The list of tools can be changed while tools run, so that the next request of the turn offers the new list.
        ToolChangesInTurn = "tool-changes-in-turn",
        /// The system offers the model a search that the provider runs itself.
        ServerTools = "server-tools",
    }
}

/// Everything from a user message until the system is idle again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Turn {
    /// The user's message.
    pub user: String,
    /// The process that runs the turn: 1, or 2. Process 2 loads the session when it is first used, while
    /// process 1 keeps running.
    #[serde(default = "Turn::first", skip_serializing_if = "Turn::is_first")]
    pub process: u32,
    /// The model's replies, one for each request in the turn.
    pub replies: Vec<Reply>,
    /// The order in which this turn's calls settle. Calls that are not listed settle last, in their own
    /// order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settle: Vec<String>,
    /// The actions in the turn, each at its point.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub at: Vec<At>,
}

impl Turn {
    /// Creates a turn of the first process without actions.
    pub fn new(user: impl Into<String>, replies: Vec<Reply>) -> Turn {
        Turn { user: user.into(), process: Turn::first(), replies, settle: Vec::new(), at: Vec::new() }
    }

    fn first() -> u32 {
        1
    }

    fn is_first(process: &u32) -> bool {
        *process == 1
    }

    /// The calls in all replies, in file order.
    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        self.replies.iter().flat_map(Reply::calls)
    }

    /// The calls in all replies and their sub-agents, in file order.
    pub fn all_calls(&self) -> impl Iterator<Item = &Call> {
        self.replies.iter().flat_map(Reply::all_calls)
    }

    /// The number of calls that can settle.
    pub fn n_calls(&self) -> u32 {
        self.replies.iter().map(Reply::n_calls).sum()
    }

    /// True if the provider runs a search in this turn.
    pub fn searches(&self) -> bool {
        self.replies.iter().any(Reply::is_of_search)
    }

    /// The number of entries that the turn writes to the store.
    pub fn n_saved(&self) -> u32 {
        n_saved(self.n_calls())
    }
}

/// The number of entries that a turn with `n_calls` calls writes to the store: the user's message, then each
/// call and each result.
pub(crate) fn n_saved(n_calls: u32) -> u32 {
    1 + 2 * n_calls
}

/// One model reply: a list of blocks, or an object if the reply needs other fields.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Reply {
    /// The blocks of each attempt. The second attempt is served when the first has failed and the system asks
    /// again.
    pub attempts: Vec<Vec<Block>>,
    /// The argument deltas of the calls are interleaved instead of sent one call after the other. Only
    /// `openai-chat` can send this; in other dialects the scenario's plans are unsupported.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub interleave: bool,
    /// The stop reason to send, whatever the reply contains. After a search, `pause` leaves the turn open:
    /// the system sends the reply back as the last message, and the next reply continues it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<Stop>,
    /// How the calls in the stream are numbered, if not in sequence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub indices: Option<Indices>,
}

impl Reply {
    /// Creates a reply that is served once.
    pub fn new(blocks: Vec<Block>) -> Reply {
        Reply { attempts: vec![blocks], interleave: false, stop: None, indices: None }
    }

    /// The calls in all attempts, in file order.
    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        self.attempts.iter().flatten().filter_map(Block::call)
    }

    /// The calls in all attempts and their sub-agents, in file order.
    pub fn all_calls(&self) -> impl Iterator<Item = &Call> {
        self.calls().flat_map(|call| {
            let within = call.agent.iter().flat_map(|agent| &agent.replies).flatten();
            std::iter::once(call).chain(within.filter_map(Block::call))
        })
    }

    /// The number of calls that can settle. Only one of several attempts is completed.
    pub fn n_calls(&self) -> u32 {
        let of_attempt = |blocks: &Vec<Block>| blocks.iter().filter_map(Block::call).count() as u32;
        self.attempts.iter().map(of_attempt).max().unwrap_or(0)
    }

    /// True if the provider runs a search in this reply.
    pub(crate) fn is_of_search(&self) -> bool {
        self.attempts.iter().flatten().any(Block::is_of_search)
    }

    /// True if the provider pauses in this reply: it ends with a search, and the model continues when the
    /// reply is sent back.
    pub fn pauses(&self) -> bool {
        self.stop == Some(Stop::Pause) && self.attempts.iter().any(|blocks| ends_with_search(blocks))
    }

    /// True if a call has the id of another call, given by that call's name or as the same text in one
    /// attempt.
    pub fn repeats_ids(&self) -> bool {
        self.attempts.iter().any(|blocks| {
            let ids: Vec<&CallId> =
                blocks.iter().filter_map(Block::call).filter_map(|call| call.id.as_ref()).collect();
            ids.iter().enumerate().any(|(n, id)| match id {
                CallId::Same(_) => true,
                CallId::Text(text) => !text.is_empty() && ids[..n].contains(id),
                CallId::Missing => false,
            })
        })
    }
}

/// True if the blocks end with a search and contain no call for the client to answer.
pub(crate) fn ends_with_search(blocks: &[Block]) -> bool {
    blocks.last().is_some_and(Block::is_of_search) && blocks.iter().all(|block| block.call().is_none())
}

/// A block of a reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Block {
    /// The model thinks, before everything else in the reply. The thinking is sent in two fragments. Only
    /// some dialects expose it.
    Think(String),
    /// The model writes text, which is sent in two fragments. An empty text is opened but not filled.
    Text(String),
    /// The model calls a tool.
    Call(Call),
    /// The model has the provider search the web within the reply. Only for dialects whose provider runs
    /// searches.
    Search(Search),
    /// The result of a search that was not complete when it was called.
    Found(Found),
}

impl Block {
    /// True for a search that the provider runs, and for its result.
    pub fn is_of_search(&self) -> bool {
        matches!(self, Block::Search(_) | Block::Found(_))
    }

    /// The call, if this block is one.
    pub fn call(&self) -> Option<&Call> {
        match self {
            Block::Call(call) => Some(call),
            Block::Think(_) | Block::Text(_) | Block::Search(_) | Block::Found(_) => None,
        }
    }

    /// Mutable version of [`Block::call`].
    pub fn call_mut(&mut self) -> Option<&mut Call> {
        match self {
            Block::Call(call) => Some(call),
            Block::Think(_) | Block::Text(_) | Block::Search(_) | Block::Found(_) => None,
        }
    }
}

/// A tool call with a symbolic name; the harness mints the wire id.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// The name that the rest of the scenario uses for this call.
    #[serde(rename = "as")]
    pub name: String,
    /// The tool that is called.
    pub tool: String,
    /// The arguments, by name.
    #[serde(default)]
    pub args: BTreeMap<String, serde_json::Value>,
    /// The text of the arguments exactly as the model writes it, valid JSON or not, instead of `args`. No
    /// tool can run with it, because every harness tool requires an argument that an author cannot know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<String>,
    /// The id that the model gives the call, if it is not a new id in the provider's form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<CallId>,
    /// The number of deltas in which the arguments are sent, 1 to 16.
    #[serde(default = "Call::default_deltas")]
    pub deltas: u32,
    /// The conversation of the sub-agent that the call starts. Only for a tool that is an `agent`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<SubAgent>,
}

/// The maximum number of deltas in which a call's arguments are sent.
pub const MAX_DELTAS: u32 = 16;

impl Call {
    /// Creates a call without arguments.
    pub fn new(name: impl Into<String>, tool: impl Into<String>) -> Call {
        Call {
            name: name.into(),
            tool: tool.into(),
            args: BTreeMap::new(),
            raw: None,
            id: None,
            deltas: Call::default_deltas(),
            agent: None,
        }
    }

    fn default_deltas() -> u32 {
        3
    }
}

/// Something that happens at a point in the turn. Give exactly one of `before` and `after`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct At {
    /// The 1-based number of the reply to which a stream point belongs.
    #[serde(default = "At::first")]
    pub reply: u32,
    /// The 1-based number of the attempt at that reply.
    #[serde(default = "At::first")]
    pub attempt: u32,
    /// Just before this point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Point>,
    /// Just after this point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Point>,
    /// The action at that point.
    #[serde(rename = "do", deserialize_with = "crate::action::written")]
    #[schemars(schema_with = "crate::action::schema")]
    pub action: Action,
}

impl At {
    fn first() -> u32 {
        1
    }

    /// An action on one side of a point: a point in the turn, or in the first attempt at its first reply.
    pub fn new(side: Side, point: Point, action: Action) -> At {
        let (before, after) = match side {
            Side::Before => (Some(point), None),
            Side::After => (None, Some(point)),
        };
        At { reply: 1, attempt: 1, before, after, action }
    }

    /// The side and the point, if exactly one of `before` and `after` is given.
    pub fn place(&self) -> Option<(Side, &Point)> {
        match (&self.before, &self.after) {
            (Some(point), None) => Some((Side::Before, point)),
            (None, Some(point)) => Some((Side::After, point)),
            _ => None,
        }
    }

    /// The point that it names.
    pub fn point(&self) -> Option<&Point> {
        self.before.as_ref().or(self.after.as_ref())
    }

    /// Mutable version of [`At::point`].
    pub fn point_mut(&mut self) -> Option<&mut Point> {
        self.before.as_mut().or(self.after.as_mut())
    }

    /// The region of its point, if something can happen there.
    pub fn region(&self) -> Option<Region> {
        let (side, point) = self.place()?;
        point.region(side).ok()
    }

    /// True if its point belongs to one attempt of one reply; other points belong to the turn.
    pub fn is_of_reply(&self) -> bool {
        self.point().is_some_and(|point| point.spec().is_of_reply())
    }

    /// True if it happens between two turns, before the turn that lists it.
    pub fn is_between_turns(&self) -> bool {
        self.before == Some(Point::Prompt)
    }

    /// True if the action ends its own turn.
    pub fn ends_turn(&self) -> bool {
        self.action.ends_turn() && !self.is_between_turns()
    }

    /// A description such as `reset after delta b 2 of reply 1`.
    pub fn words(&self) -> String {
        let side = if self.before.is_some() { Side::Before } else { Side::After };
        let mut words = format!("{} {}", self.action, side.name());
        let Some(point) = self.point() else { return words };
        words.push_str(&format!(" {point}"));
        if point.spec().is_of_reply() {
            words.push_str(&format!(" of reply {}", self.reply));
            if self.attempt > 1 {
                words.push_str(&format!(", attempt {}", self.attempt));
            }
        }
        words
    }
}

/// The requirements of a scenario beyond those that every plan must meet.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// How often each of these calls may really run.
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
