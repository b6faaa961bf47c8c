//! A plan: one variant of a scenario on one dialect with one seed, and with every choice made.
//!
//! [`crate::lower`] makes plans; the `brickbat-engine` crate drives, serves and judges them. A plan contains
//! no bytes: the provider encodes them when it is asked.

mod call;
mod change;
mod delivered;
mod given;
mod handoff;
mod malformation;
mod mark;
mod search;
mod sub_agent;
mod tool;
mod tool_list;

pub use crate::point::Side;
pub use call::PlannedCall;
pub use change::{BoundAction, Change, Prompts, Shortening};
pub use delivered::is_made_up;
pub use given::{GivenBlock, GivenMessage, GivenPicture, GivenResult};
pub use malformation::{Malformation, WellFormedCall};
pub use mark::Mark;
pub use search::{PlannedSearch, SearchKey, ServerBlock};
pub(crate) use sub_agent::arguments as sub_agent_arguments;
pub use sub_agent::{PROMPT, PlannedSubAgent, marker_in};
pub use tool::{MARKER, PlannedTool, ToolOutcome};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::premise::Premise;
use crate::scenario::{Indices, Need, Stop, Times};
use brickbat_rules::Profile;
use brickbat_rules::dialect::Dialect;

/// The suffix that marks the name of a control plan.
pub const CONTROL: &str = "+control";

/// The name of one plan: `abort/mid-batch#k=1@anthropic-messages`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PlanId {
    /// The scenario's path below `scenarios/`, without the extension.
    pub scenario: String,
    /// The values of `vary`, such as `k=1`; empty if the scenario does not vary.
    pub variant: String,
    /// The dialect of the plan's first provider.
    pub dialect: Dialect,
    /// True for the control plan: the same conversation, in which nothing goes wrong.
    pub control: bool,
}

impl PlanId {
    /// Names the plan of a scenario that does not vary.
    pub fn new(scenario: impl Into<String>, dialect: Dialect) -> PlanId {
        PlanId { scenario: scenario.into(), variant: String::new(), dialect, control: false }
    }
}

impl std::fmt::Display for PlanId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.scenario)?;
        if !self.variant.is_empty() {
            write!(f, "#{}", self.variant)?;
        }
        write!(f, "@{}", self.dialect)?;
        if self.control { f.write_str(CONTROL) } else { Ok(()) }
    }
}

/// One variant of a scenario on one dialect, with every choice made.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Plan {
    /// The name of the plan.
    #[serde(skip)]
    pub id: PlanId,
    /// The dialect of the provider, in turns that do not name another.
    pub dialect: Dialect,
    /// The seed from which wire ids and markers are minted.
    pub seed: u64,
    /// The model that the system is asked to use; `None` for the system's default.
    #[serde(skip)]
    pub model: Option<String>,
    /// The capabilities that the system needs.
    #[serde(skip)]
    pub needs: Vec<Need>,
    /// The failure classes of the scenario.
    #[serde(skip)]
    pub classes: Vec<String>,
    /// Who does the unusual thing in the scenario. A control plan keeps the premise of its scenario.
    #[serde(skip)]
    pub premise: Premise,
    /// The profile that the provider applies, if the scenario names one.
    #[serde(skip)]
    pub profile: Option<String>,
    /// The reason why no provider of this dialect can run the plan, if there is one: a point that its streams
    /// lack, or an ending that leaves nothing out. Such a plan is never run, and is reported as unsupported.
    #[serde(skip)]
    pub impossible: Option<String>,
    /// The tools that the system is given.
    pub tools: Vec<PlannedTool>,
    /// Tools that the model calls although the system is never given them. Only a control plan provides them.
    #[serde(skip)]
    pub missing: Vec<PlannedTool>,
    /// The number of replies with calls after which the system ends a turn on its own, if it has a step
    /// limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step_limit: Option<u32>,
    /// The bytes of tool results that fit the model's window, if the window is limited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<u32>,
    /// All calls that the plan's replies make; a [`CallKey`] is an index into this list.
    pub calls: Vec<PlannedCall>,
    /// All searches that the provider runs itself; a [`SearchKey`] is an index into this list.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub searches: Vec<PlannedSearch>,
    /// The sub-agents that calls in the plan start.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sub_agents: Vec<PlannedSubAgent>,
    /// The history that the system finds in its store; empty if the store is empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub given: Vec<GivenMessage>,
    /// The turns, with the follow-up turns last.
    pub turns: Vec<PlannedTurn>,
    /// How often calls may run, if the scenario limits it. The key is the call written in the scenario. Every
    /// run of a call with its name counts, see [`Plan::calls_named`].
    #[serde(skip)]
    pub executed: Vec<(CallKey, Times)>,
}

impl Plan {
    /// Creates a plan without turns.
    pub fn new(id: PlanId, seed: u64) -> Plan {
        Plan {
            dialect: id.dialect,
            id,
            seed,
            model: None,
            needs: Vec::new(),
            classes: Vec::new(),
            premise: Premise::User,
            profile: None,
            impossible: None,
            tools: Vec::new(),
            missing: Vec::new(),
            step_limit: None,
            window: None,
            calls: Vec::new(),
            searches: Vec::new(),
            sub_agents: Vec::new(),
            given: Vec::new(),
            turns: Vec::new(),
            executed: Vec::new(),
        }
    }

    /// The plan for a system that offers its tools to the model under different names, which `name` returns.
    /// Only the model's calls change; gates, ledger and reports keep the names of the scenario.
    pub fn with_tool_names(&self, name: impl Fn(&str) -> String) -> Plan {
        let mut plan = self.clone();
        for call in plan.calls.iter_mut().filter(|call| !call.is_malformed(|it| it.tool)) {
            call.tool = name(&call.tool);
        }
        plan.given.iter_mut().for_each(|message| message.rename_tools(&name));
        plan
    }

    /// The plan for a system that is asked to use `model`.
    pub fn with_model(&self, model: &str) -> Plan {
        Plan { model: Some(model.to_owned()), ..self.clone() }
    }

    /// The call with this wire id, if exactly one call has it.
    pub fn call_with_id(&self, id: &str) -> Option<CallKey> {
        let mut known = (0..).zip(&self.calls).filter(|(_, call)| call.id == id && !id.is_empty());
        let (key, _) = known.next()?;
        known.next().is_none().then_some(CallKey(key))
    }

    /// The call to which a tool run belongs, found by the marker in its arguments.
    pub fn call_with_marker(&self, args: &str) -> Option<CallKey> {
        let args: Value = serde_json::from_str(args).ok()?;
        let marker = marker_in(&args)?;
        let at = self.calls.iter().position(|call| call.marker == marker)?;
        Some(CallKey(at as u32))
    }

    /// The profile that judges the plan: the one in its scenario, otherwise the one for its dialect in
    /// `given`, otherwise the newest.
    pub fn profile_from(&self, given: &[&'static Profile]) -> &'static Profile {
        let named = self.profile.as_deref().and_then(Profile::named);
        let of_dialect = || given.iter().copied().find(|profile| profile.dialect == self.dialect);
        named.or_else(of_dialect).unwrap_or_else(|| Profile::newest(self.dialect))
    }

    /// The dialect of the provider that a turn asks.
    pub fn dialect_of(&self, turn: usize) -> Dialect {
        self.turns.get(turn).and_then(|turn| turn.dialect).unwrap_or(self.dialect)
    }

    /// The dialects of all turns, with the plan's own first.
    pub fn dialects(&self) -> Vec<Dialect> {
        let mut dialects = vec![self.dialect];
        for dialect in self.turns.iter().filter_map(|turn| turn.dialect) {
            if !dialects.contains(&dialect) {
                dialects.push(dialect);
            }
        }
        dialects
    }

    /// True if the model thinks in any reply.
    pub fn thinks(&self) -> bool {
        let replies = self.turns.iter().flat_map(|turn| &turn.replies);
        replies.flat_map(|reply| &reply.attempts).any(Script::thinks)
    }

    /// True if the system's process is killed in this plan.
    pub fn kills(&self) -> bool {
        let mut actions = self.turns.iter().flat_map(|turn| &turn.actions);
        actions.any(|action| action.what.ends_process())
    }

    /// True if something happens to a request for a summary.
    pub fn has_compactions(&self) -> bool {
        let mut actions = self.turns.iter().flat_map(|turn| &turn.actions);
        actions.any(|action| matches!(action.at, PlannedPoint::Compaction(..)))
    }

    /// True if something happens between two writes to the store.
    pub fn holds_saves(&self) -> bool {
        let mut actions = self.turns.iter().flat_map(|turn| &turn.actions);
        actions.any(|action| matches!(action.at, PlannedPoint::Saved(..)))
    }

    /// The calls with this name: the one written in the scenario, and those that lowering added for attempts
    /// after a failed one.
    pub fn calls_named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = CallKey> + 'a {
        let named = self.calls.iter().zip(0..).filter(move |(call, _)| call.name == name);
        named.map(|(_, index)| CallKey(index))
    }
}

/// A call in a plan, as an index into [`Plan::calls`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallKey(pub u32);

/// One turn in a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannedTurn {
    /// The user's message.
    pub user: String,
    /// The process that runs the turn, 1 or 2.
    pub process: u32,
    /// The dialect of the provider that the turn asks, if it is not the plan's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialect: Option<Dialect>,
    /// True if the harness added this turn to see whether the thread survives.
    pub follow_up: bool,
    /// The scripted replies.
    pub replies: Vec<PlannedReply>,
    /// The order in which this turn's calls settle.
    pub settle: Vec<CallKey>,
    /// The actions in the turn, in file order.
    pub actions: Vec<PlannedAction>,
}

impl PlannedTurn {
    /// Creates a turn of the first process without actions.
    pub fn new(user: impl Into<String>, replies: Vec<PlannedReply>) -> PlannedTurn {
        PlannedTurn {
            user: user.into(),
            process: 1,
            dialect: None,
            follow_up: false,
            replies,
            settle: Vec::new(),
            actions: Vec::new(),
        }
    }

    /// The index of the reply attempt that is served if nothing goes wrong.
    pub(crate) fn plain_attempt(&self, reply: usize) -> usize {
        let goes_on = self.replies[reply].attempts.iter().map(Script::goes_on);
        plain_attempt(goes_on, reply + 1 == self.replies.len())
    }
}

/// The index of the attempt that is served if nothing goes wrong. It is the first one, or, if another reply
/// follows, the first that makes calls or pauses, because otherwise the turn would have ended. `goes_on` has
/// one value for each attempt.
pub(crate) fn plain_attempt(goes_on: impl IntoIterator<Item = bool>, is_last: bool) -> usize {
    goes_on.into_iter().position(|goes_on| is_last || goes_on).unwrap_or(0)
}

/// One reply with its attempts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannedReply {
    /// The attempts; each is served when the one before it has failed.
    pub attempts: Vec<Script>,
}

impl PlannedReply {
    /// The number of calls that can settle. Only one of several attempts is completed.
    pub fn n_calls(&self) -> u32 {
        self.attempts.iter().map(|script| script.calls().count() as u32).max().unwrap_or(0)
    }
}

/// The content of one attempt at a reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Script {
    /// The blocks, in order.
    pub blocks: Vec<ScriptBlock>,
    /// True if the argument deltas of the calls are interleaved.
    pub interleave: bool,
    /// The stop reason to send, if it differs from that of the content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Stop>,
    /// How the calls are numbered, if not in sequence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub indices: Option<Indices>,
}

impl Script {
    /// Creates a reply with these blocks.
    pub fn new(blocks: Vec<ScriptBlock>) -> Script {
        Script { blocks, interleave: false, stop: None, indices: None }
    }

    /// A reply with one text, in these fragments.
    pub fn saying(fragments: Vec<String>) -> Script {
        Script::new(vec![ScriptBlock::Text(fragments)])
    }

    /// The calls in this attempt, in order.
    pub fn calls(&self) -> impl Iterator<Item = CallKey> + '_ {
        self.blocks.iter().filter_map(|block| match block {
            ScriptBlock::Call(key) => Some(*key),
            ScriptBlock::Think(_) | ScriptBlock::Text(_) | ScriptBlock::Server(_) => None,
        })
    }

    /// True if the model thinks before it speaks.
    pub fn thinks(&self) -> bool {
        self.blocks.iter().any(|block| matches!(block, ScriptBlock::Think(_)))
    }

    /// The script for a client that has not asked the model to think.
    pub fn without_thinking(&self) -> Script {
        let spoken = self.blocks.iter().filter(|block| !matches!(block, ScriptBlock::Think(_)));
        Script { blocks: spoken.cloned().collect(), ..self.clone() }
    }

    /// The script for a client that has asked the model to think: the model first thinks `thought`.
    pub fn with_thought(&self, thought: &str) -> Script {
        let thought = ScriptBlock::Think(vec![thought.to_owned()]);
        let blocks = std::iter::once(thought).chain(self.blocks.iter().cloned()).collect();
        Script { blocks, ..self.clone() }
    }

    /// The stop reason: the planned one, or that of the content.
    pub fn stop(&self) -> Stop {
        self.stop.unwrap_or(if self.has_calls() { Stop::Calls } else { Stop::End })
    }

    /// True if the model or its provider sends something wrong in it. `calls` are the plan's calls.
    pub fn is_wrong(&self, calls: &[PlannedCall]) -> bool {
        let mut slips = self.calls().filter(|key| calls[key.0 as usize].malformation.is_some());
        let is_odd_stop = self.stop.is_some() && !self.pauses();
        is_odd_stop || self.indices.is_some() || slips.next().is_some()
    }

    /// Removes everything unusual: the script then has texts that are not empty, followed by the calls, one
    /// after the other.
    pub fn put_right(&mut self) {
        let is_empty =
            |block: &ScriptBlock| matches!(block, ScriptBlock::Text(text) if text.concat().is_empty());
        self.blocks.retain(|block| !is_empty(block));
        if self.blocks.is_empty() {
            self.blocks.push(ScriptBlock::Text(vec!["Done.".to_owned()]));
        }
        self.blocks.sort_by_key(|block| matches!(block, ScriptBlock::Call(_)));
        self.interleave = false;
        (self.stop, self.indices) = (None, None);
    }

    /// True if the provider pauses after it: it ends with a search that the provider runs, the client has
    /// nothing to run, and the model continues when the reply is sent back.
    pub fn pauses(&self) -> bool {
        let ends_with_search = matches!(self.blocks.last(), Some(ScriptBlock::Server(_)));
        self.stop == Some(Stop::Pause) && ends_with_search && !self.has_calls()
    }

    /// True if the turn continues after it: it makes calls, or the provider pauses.
    pub fn goes_on(&self) -> bool {
        self.has_calls() || self.pauses()
    }

    /// The searches that the provider runs in it, and their results.
    pub fn server_blocks(&self) -> impl Iterator<Item = ServerBlock> + '_ {
        self.blocks.iter().filter_map(|block| match block {
            ScriptBlock::Server(block) => Some(*block),
            ScriptBlock::Think(_) | ScriptBlock::Text(_) | ScriptBlock::Call(_) => None,
        })
    }

    /// True if it makes calls.
    pub fn has_calls(&self) -> bool {
        self.calls().next().is_some()
    }

    /// All text of the model in it.
    pub fn text(&self) -> String {
        let fragments = self.blocks.iter().flat_map(|block| match block {
            ScriptBlock::Text(fragments) => fragments.as_slice(),
            ScriptBlock::Think(_) | ScriptBlock::Call(_) | ScriptBlock::Server(_) => &[],
        });
        fragments.map(String::as_str).collect()
    }
}

/// A block of a script.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScriptBlock {
    /// The model's thinking, in the fragments in which it is sent.
    Think(Vec<String>),
    /// Text, in the fragments in which it is sent.
    Text(Vec<String>),
    /// A call by the model.
    Call(CallKey),
    /// A search that the provider runs itself, or its result.
    Server(ServerBlock),
}

/// An action at a point.
#[expect(missing_docs, reason = "the names are self-explanatory")]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannedAction {
    /// The human-readable point in the scenario's terms: `after end b of reply 1`.
    pub words: String,
    pub at: PlannedPoint,
    pub what: BoundAction,
}

impl PlannedAction {
    /// True if nothing more is planned for its turn after it: the user stops the turn, or the turn dies.
    pub fn ends_turn(&self) -> bool {
        self.what.ends_turn() && !self.is_between_turns()
    }

    /// True if it happens while no turn runs: the previous turn has ended, and its own has not begun.
    pub fn is_between_turns(&self) -> bool {
        self.at == PlannedPoint::Prompt
    }
}

/// A resolved point.
#[expect(missing_docs, reason = "the names are self-explanatory")]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlannedPoint {
    /// The previous turn has ended, and the system has not been given the user's message of this turn.
    Prompt,
    /// A point in the stream of one reply attempt; reply and attempt are counted from 0.
    Stream { reply: usize, attempt: usize, mark: Mark, side: Side },
    /// The user has been asked about that call.
    Asked(CallKey),
    /// This many of the turn's tools have started.
    StartedCount(u32),
    /// The tool of this call has started.
    Started(CallKey),
    /// This many results of the turn have been delivered.
    SettledCount(u32),
    /// The result of this call has been delivered, or is about to be.
    Settled(CallKey, Side),
    /// The write of an entry to the store, counted from 1 within its turn.
    Saved(u32, Side),
    /// The reply to a request of the turn for a summary, counted from 1.
    Compaction(u32, Side),
    /// This many replies in the turn have ended, with their results.
    Step(u32),
}
