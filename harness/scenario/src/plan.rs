//! A plan: one variant of a scenario on one dialect with one seed, every choice made.
//!
//! Plans are made by [`crate::lower`], and driven, served and judged by the crate `brickbat-engine`. A plan holds no
//! bytes: the provider encodes them when it is asked.

mod change;
mod delivered;
mod given;
mod handoff;
mod malformation;
mod mark;
mod search;
mod sub_agent;

pub use change::{BoundAction, Change, Prompts};
pub use delivered::is_made_up;
pub use given::{GivenBlock, GivenMessage, GivenPicture, GivenResult};
pub use malformation::{Malformation, WellFormedCall};
pub use mark::Mark;
pub use search::{PlannedSearch, SearchKey, ServerBlock};
pub(crate) use sub_agent::arguments as sub_agent_arguments;
pub use sub_agent::{PROMPT, PlannedSubAgent, marker_in};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::action::Action;
use crate::scenario::{Indices, Need, Stop, Times};
use crate::surrogate;
use brickbat_rules::Profile;
use brickbat_rules::dialect::Dialect;

/// What stands at the end of the name of a control plan.
pub const CONTROL: &str = "+control";

/// Names one plan: `abort/mid-batch#k=1@anthropic-messages`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PlanId {
    /// The scenario's path below `scenarios/`, without the ending.
    pub scenario: String,
    /// The values of `vary` in words, such as `k=1`; empty where the scenario does not vary.
    pub variant: String,
    /// The dialect.
    pub dialect: Dialect,
    /// Whether this is the control plan: the same conversation with nothing going wrong.
    pub control: bool,
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

/// One plan.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Plan {
    /// Its name.
    #[serde(skip)]
    pub id: PlanId,
    /// The dialect that the provider speaks, in turns that do not name another.
    pub dialect: Dialect,
    /// Wire ids and markers are minted from this.
    pub seed: u64,
    /// The model that the system is asked to use; none if it takes the one that it would take unasked.
    #[serde(skip)]
    pub model: Option<String>,
    /// What the system must be able to do.
    #[serde(skip)]
    pub needs: Vec<Need>,
    /// The failure classes of its scenario.
    #[serde(skip)]
    pub classes: Vec<String>,
    /// The profile by which the provider judges, where the scenario names one.
    #[serde(skip)]
    pub profile: Option<String>,
    /// Why no provider of this dialect can play the plan, if so: a point that its streams do not have, or an end
    /// that leaves nothing out. Such a plan is never run, and is reported as unsupported.
    #[serde(skip)]
    pub impossible: Option<String>,
    /// The tools that the system is given.
    pub tools: Vec<PlannedTool>,
    /// Tools that the model calls and the system is never given. Only a control plan gives them.
    #[serde(skip)]
    pub missing: Vec<PlannedTool>,
    /// Replies with calls after which the system ends a turn by itself, if it is to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step_limit: Option<u32>,
    /// Bytes of tool results that the model's window holds, if that matters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<u32>,
    /// Every call that any reply of the plan makes; a [`CallKey`] is an index into this list.
    pub calls: Vec<PlannedCall>,
    /// Every search that the provider runs itself; a [`SearchKey`] is an index into this list.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub searches: Vec<PlannedSearch>,
    /// The sub-agents that calls of the plan start.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sub_agents: Vec<PlannedSubAgent>,
    /// The history that the system finds in its store; none if it begins with an empty one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub given: Vec<GivenMessage>,
    /// The turns, the follow-up turns last.
    pub turns: Vec<PlannedTurn>,
    /// How often calls may run, where the scenario says so. The key is the call that the scenario wrote; what is
    /// counted is every run of a call of its name, see [`Plan::calls_named`].
    #[serde(skip)]
    pub executed: Vec<(CallKey, Times)>,
}

impl Plan {
    /// The plan for a system that offers its tools to the model under other names: `name` gives the name of each.
    /// Only the model's calls change; gates, ledger and reports keep the names of the scenario.
    pub fn with_tool_names(&self, name: impl Fn(&str) -> String) -> Plan {
        let mut plan = self.clone();
        for call in plan.calls.iter_mut().filter(|call| !call.is_malformed(|it| it.tool)) {
            call.tool = name(&call.tool);
        }
        plan.given.iter_mut().for_each(|message| message.rename_tools(&name));
        plan
    }

    /// The same plan for a system that is asked to use that model.
    pub fn with_model(&self, model: &str) -> Plan {
        Plan { model: Some(model.to_owned()), ..self.clone() }
    }

    /// The call that has that wire id, if it is the only one.
    pub fn call_with_id(&self, id: &str) -> Option<CallKey> {
        let mut known = (0..).zip(&self.calls).filter(|(_, call)| call.id == id && !id.is_empty());
        let (key, _) = known.next()?;
        known.next().is_none().then_some(CallKey(key))
    }

    /// The call that a tool run belongs to, by the marker in its arguments.
    pub fn call_with_marker(&self, args: &str) -> Option<CallKey> {
        let args: Value = serde_json::from_str(args).ok()?;
        let marker = marker_in(&args)?;
        let at = self.calls.iter().position(|call| call.marker == marker)?;
        Some(CallKey(at as u32))
    }

    /// By which profile the plan is judged: the one that its scenario names, else the one of its dialect among those
    /// given, else the newest.
    pub fn profile_from(&self, given: &[&'static Profile]) -> &'static Profile {
        let named = self.profile.as_deref().and_then(Profile::named);
        let of_dialect = || given.iter().copied().find(|profile| profile.dialect == self.dialect);
        named.or_else(of_dialect).unwrap_or_else(|| Profile::newest(self.dialect))
    }

    /// The dialect of the provider that is asked in a turn.
    pub fn dialect_of(&self, turn: usize) -> Dialect {
        self.turns.get(turn).and_then(|turn| turn.dialect).unwrap_or(self.dialect)
    }

    /// The dialects of all its turns, the plan's own first.
    pub fn dialects(&self) -> Vec<Dialect> {
        let mut dialects = vec![self.dialect];
        for dialect in self.turns.iter().filter_map(|turn| turn.dialect) {
            if !dialects.contains(&dialect) {
                dialects.push(dialect);
            }
        }
        dialects
    }

    /// Whether the model thinks in any reply.
    pub fn thinks(&self) -> bool {
        let replies = self.turns.iter().flat_map(|turn| &turn.replies);
        replies.flat_map(|reply| &reply.attempts).any(Script::thinks)
    }

    /// Whether the process of the system is killed in this plan.
    pub fn kills(&self) -> bool {
        let mut actions = self.turns.iter().flat_map(|turn| &turn.actions);
        actions.any(|action| action.what == Action::Kill)
    }

    /// Whether something happens between two writes of the store.
    pub fn holds_saves(&self) -> bool {
        let mut actions = self.turns.iter().flat_map(|turn| &turn.actions);
        actions.any(|action| matches!(action.at, PlannedPoint::Saved(..)))
    }

    /// The calls of that name: the one that the scenario wrote, and the ones that lowering added for attempts
    /// after a failed one.
    pub fn calls_named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = CallKey> + 'a {
        let named = self.calls.iter().zip(0..).filter(move |(call, _)| call.name == name);
        named.map(|(_, index)| CallKey(index))
    }
}

/// A call of a plan, as an index into [`Plan::calls`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallKey(pub u32);

/// A tool as it is declared to the system.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlannedTool {
    /// Its name.
    pub name: String,
    /// The names of its arguments besides the marker; all are of type string, number or boolean as first used.
    pub params: Vec<(String, &'static str)>,
    /// Whether the system's tool must not pass the stop on to the gate.
    pub deaf: bool,
    /// Whether the user is asked before it runs.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub asks: bool,
    /// Whether the turn ends with its result.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub ends: bool,
    /// Whether it hands the conversation over to another agent.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub hands_over: bool,
    /// Whether it is a sub-agent, which may call all tools that are none.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub agent: bool,
    /// Whether it runs on the user's side.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub client: bool,
}

impl PlannedTool {
    /// The JSON Schema of the arguments, the marker included.
    pub fn input_schema(&self) -> Value {
        if self.agent {
            return sub_agent::input_schema();
        }
        let params = self.params.iter().map(|(name, kind)| (name.clone(), json!({ "type": kind })));
        let marker = (MARKER.to_owned(), json!({ "type": "string" }));
        let properties: Map<String, Value> = params.chain(std::iter::once(marker)).collect();
        // Calls of one tool may leave arguments out; only the marker is in every call.
        json!({ "type": "object", "properties": properties, "required": [MARKER], "additionalProperties": false })
    }
}

/// The argument by which the harness knows a call again when the system hides its id from the tool.
pub const MARKER: &str = "ref";

/// One call that the model makes.
#[expect(missing_docs, reason = "the names are self-explanatory")]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannedCall {
    /// The scenario's name for it, such as `a`.
    pub name: String,
    pub id: String,
    /// The tool, under the name by which the model calls it.
    pub tool: String,
    /// The complete arguments, marker included, as the model sends them.
    pub args: Value,
    /// The same as text, cut into deltas.
    pub deltas: Vec<String>,
    /// The marker inside the arguments, unique in the plan.
    pub marker: String,
    /// How the tool ends.
    pub outcome: ToolOutcome,
    /// Whether the tool ignores the user's stop.
    pub deaf: bool,
    /// Whether the user is asked before the tool runs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub asks: bool,
    /// What is wrong with it as the model makes it, if anything is.
    #[serde(rename = "slip", default, skip_serializing_if = "Option::is_none")]
    pub malformation: Option<Box<Malformation>>,
    /// Whether the tool does not settle while its turn runs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hangs: bool,
    /// Whether its tool hands the conversation over to another agent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hands_over: bool,
    pub turn: usize,
    /// The reply of the turn, from 0.
    pub reply: usize,
    /// The attempt of the reply, from 0.
    pub attempt: usize,
    /// Whether it stands in the given history: then its tool never runs, its turn says nothing, and its reply is the
    /// number of its message.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub given: bool,
    /// The call whose sub-agent makes it; its turn, reply and attempt are then those of that call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<CallKey>,
}

impl PlannedCall {
    /// Whether the user is asked about it and says no, so that its tool never runs.
    pub fn is_refused(&self) -> bool {
        self.asks && matches!(self.outcome, ToolOutcome::Deny(_))
    }

    /// Whether no system can run it: it knows no such tool, or the arguments are not what the tool takes.
    pub fn is_invalid(&self) -> bool {
        self.is_malformed(|it| it.tool || it.args)
    }

    /// Whether its tool never runs in a right system.
    pub fn never_runs(&self) -> bool {
        self.is_refused() || self.is_invalid()
    }

    /// Its id on the wire, if it has one there.
    pub fn sent_id(&self) -> Option<&str> {
        (!self.is_malformed(|it| it.no_id)).then_some(self.id.as_str())
    }

    /// Whether something is wrong with it, and that of it.
    pub fn is_malformed(&self, of_it: impl Fn(&Malformation) -> bool) -> bool {
        self.malformation.as_ref().is_some_and(|malformation| of_it(malformation))
    }
}

/// How a tool ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind", content = "text")]
pub enum ToolOutcome {
    /// It returns a text.
    Return(String),
    /// It answers with an error result.
    Error(String),
    /// It throws.
    Throw(String),
    /// The user refuses the call.
    Deny(String),
}

impl ToolOutcome {
    /// The text that it carries.
    pub fn text(&self) -> &str {
        match self {
            ToolOutcome::Return(text)
            | ToolOutcome::Error(text)
            | ToolOutcome::Throw(text)
            | ToolOutcome::Deny(text) => text,
        }
    }

    /// What its gate answers.
    pub fn gate_answer(&self) -> String {
        surrogate::halved(&serde_json::to_string(self).expect("a tagged text is always JSON"))
    }

    /// Reads what a gate has answered.
    pub fn of_gate(answer: &[u8]) -> Result<ToolOutcome, serde_json::Error> {
        serde_json::from_slice(answer)
            .or_else(|_| serde_json::from_str(&surrogate::whole(&String::from_utf8_lossy(answer))))
    }

    /// Whether the tool did what it was called for.
    pub fn is_success(&self) -> bool {
        matches!(self, ToolOutcome::Return(_))
    }
}

/// One turn of a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannedTurn {
    /// What the user says.
    pub user: String,
    /// The process that takes the turn, 1 or 2.
    pub process: u32,
    /// The dialect of the provider that is asked in it, where that is not the plan's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialect: Option<Dialect>,
    /// Whether the harness added this turn to see if the thread survives.
    pub follow_up: bool,
    /// The scripted replies.
    pub replies: Vec<PlannedReply>,
    /// The order in which the calls of this turn settle.
    pub settle: Vec<CallKey>,
    /// What goes wrong, in the order of the file.
    pub actions: Vec<PlannedAction>,
}

impl PlannedTurn {
    /// The attempt of a reply that is served where nothing goes wrong.
    pub(crate) fn plain_attempt(&self, reply: usize) -> usize {
        let goes_on = self.replies[reply].attempts.iter().map(Script::goes_on);
        plain_attempt(goes_on, reply + 1 == self.replies.len())
    }
}

/// The attempt of a reply that is served where nothing goes wrong: the first, or, if another reply comes after this one,
/// the first that makes calls or pauses, since else the turn would be over. `goes_on` says it of each attempt.
pub(crate) fn plain_attempt(goes_on: impl IntoIterator<Item = bool>, is_last: bool) -> usize {
    goes_on.into_iter().position(|goes_on| is_last || goes_on).unwrap_or(0)
}

/// One reply with its attempts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannedReply {
    /// The attempts; the next is served when the one before has failed.
    pub attempts: Vec<Script>,
}

impl PlannedReply {
    /// Calls that can settle: of several attempts only one comes to its end.
    pub fn n_calls(&self) -> u32 {
        self.attempts.iter().map(|script| script.calls().count() as u32).max().unwrap_or(0)
    }
}

/// What one attempt of a reply says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Script {
    /// The blocks, in order.
    pub blocks: Vec<ScriptBlock>,
    /// Whether the deltas of the calls arrive in turns.
    pub interleave: bool,
    /// The stop reason that is sent, if not that of the content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Stop>,
    /// How the calls are numbered, if not one after the other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub indices: Option<Indices>,
}

impl Script {
    /// A reply of one text, in these fragments.
    pub fn saying(fragments: Vec<String>) -> Script {
        Script { blocks: vec![ScriptBlock::Text(fragments)], interleave: false, stop: None, indices: None }
    }

    /// The calls of this attempt, in order.
    pub fn calls(&self) -> impl Iterator<Item = CallKey> + '_ {
        self.blocks.iter().filter_map(|block| match block {
            ScriptBlock::Call(key) => Some(*key),
            ScriptBlock::Think(_) | ScriptBlock::Text(_) | ScriptBlock::Server(_) => None,
        })
    }

    /// Whether the model thinks before it speaks.
    pub fn thinks(&self) -> bool {
        self.blocks.iter().any(|block| matches!(block, ScriptBlock::Think(_)))
    }

    /// The same for a client that has not asked the model to think.
    pub fn without_thinking(&self) -> Script {
        let spoken = self.blocks.iter().filter(|block| !matches!(block, ScriptBlock::Think(_)));
        Script { blocks: spoken.cloned().collect(), ..self.clone() }
    }

    /// The same for a client that has asked the model to think, where the model thinks this first.
    pub fn with_thought(&self, thought: &str) -> Script {
        let thought = ScriptBlock::Think(vec![thought.to_owned()]);
        let blocks = std::iter::once(thought).chain(self.blocks.iter().cloned()).collect();
        Script { blocks, ..self.clone() }
    }

    /// The stop reason: the one that is planned, or that of the content.
    pub fn stop(&self) -> Stop {
        self.stop.unwrap_or(if self.has_calls() { Stop::Calls } else { Stop::End })
    }

    /// Whether the model, or its provider, says something wrong in it. `calls` are the calls of the plan.
    pub fn is_wrong(&self, calls: &[PlannedCall]) -> bool {
        let mut slips = self.calls().filter(|key| calls[key.0 as usize].malformation.is_some());
        let is_odd_stop = self.stop.is_some() && !self.pauses();
        is_odd_stop || self.indices.is_some() || slips.next().is_some()
    }

    /// The same with nothing uncommon about it: texts that say something, then the calls, one after the other.
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

    /// Whether the provider pauses after it: it ends with a search of the provider's, the client has nothing to run, and the
    /// model goes on when the reply is sent back.
    pub fn pauses(&self) -> bool {
        let ends_with_search = matches!(self.blocks.last(), Some(ScriptBlock::Server(_)));
        self.stop == Some(Stop::Pause) && ends_with_search && !self.has_calls()
    }

    /// Whether the turn goes on after it: it makes calls, or the provider pauses.
    pub fn goes_on(&self) -> bool {
        self.has_calls() || self.pauses()
    }

    /// The searches of the provider in it, and what they found.
    pub fn server_blocks(&self) -> impl Iterator<Item = ServerBlock> + '_ {
        self.blocks.iter().filter_map(|block| match block {
            ScriptBlock::Server(block) => Some(*block),
            ScriptBlock::Think(_) | ScriptBlock::Text(_) | ScriptBlock::Call(_) => None,
        })
    }

    /// Whether it makes any.
    pub fn has_calls(&self) -> bool {
        self.calls().next().is_some()
    }

    /// All its text.
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
    /// What the model thinks, in the fragments in which it is sent.
    Think(Vec<String>),
    /// Text, in the fragments in which it is sent.
    Text(Vec<String>),
    /// A call.
    Call(CallKey),
    /// A search that the provider runs itself, or what one found.
    Server(ServerBlock),
}

/// Something that happens at a point.
#[expect(missing_docs, reason = "the names are self-explanatory")]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannedAction {
    /// Where, as the scenario says it, for people: `after end b of reply 1`.
    pub words: String,
    pub at: PlannedPoint,
    pub what: BoundAction,
}

impl PlannedAction {
    /// Whether nothing more is planned for its turn after it: the user stops the turn, or it dies.
    pub fn ends_turn(&self) -> bool {
        self.what.ends_turn() && !self.is_between_turns()
    }

    /// Whether it happens when no turn runs: the turn before is over, and its own has not begun.
    pub fn is_between_turns(&self) -> bool {
        self.at == PlannedPoint::Prompt
    }
}

/// A point, resolved.
#[expect(missing_docs, reason = "the names are self-explanatory")]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlannedPoint {
    /// The turn before is over, and what the user says in this one has not been given to the system.
    Prompt,
    /// In the stream of one attempt of one reply (both from 0).
    Stream { reply: usize, attempt: usize, mark: Mark, side: Side },
    /// The user has been asked about that call.
    Asked(CallKey),
    /// So many of the turn's tools have started.
    StartedCount(u32),
    /// That tool has started.
    Started(CallKey),
    /// So many results of the turn have been delivered.
    SettledCount(u32),
    /// The result of that call has been delivered, or is about to be.
    Settled(CallKey, Side),
    /// The write of an entry to the store, counted from 1 in its turn.
    Saved(u32, Side),
    /// So many replies of the turn are over, with their results.
    Step(u32),
}

crate::named! {
    /// Before or after.
    pub enum Side {
        /// Just before.
        Before = "before",
        /// Just after.
        After = "after",
    }
}
