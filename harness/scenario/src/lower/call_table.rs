//! All calls in a plan, and how texts and arguments are split for sending.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::plan::{
    CallKey, MARKER, PlannedCall, PlannedReply, PlannedSubAgent, Script, ScriptBlock, SearchKey, ServerBlock,
    ToolOutcome, sub_agent_arguments,
};
use crate::scenario::{Block, Call, CallId, Reply, Scenario};
use brickbat_rules::dialect::Dialect;

use super::fragments::{cut, fragments};
use super::ids::IdSource;
use super::malformations;
use super::position::{self, BlockPosition};
use super::providers;
use super::searches::SearchTable;
use super::sub_agents;
use super::tool_changes;
use super::tools;

/// The calls in a plan.
#[derive(Debug)]
pub(super) struct CallTable<'a> {
    pub calls: Vec<PlannedCall>,
    names: BTreeMap<&'a str, CallKey>,
    /// The searches that the provider runs itself.
    pub searches: SearchTable<'a>,
    scenario: &'a Scenario,
    ids: IdSource<'a>,
    /// The dialect of each turn.
    dialects: Vec<Dialect>,
}

impl<'a> CallTable<'a> {
    /// The calls written in the scenario, in file order. The calls in the attempts that a control plan runs
    /// come before all others, so the calls of a control plan have the same keys.
    pub fn of(scenario: &'a Scenario, ids: IdSource<'a>) -> CallTable<'a> {
        let dialects = providers::of_turns(scenario, ids.dialect);
        let searches = SearchTable::of(scenario, ids);
        let mut table =
            CallTable { calls: Vec::new(), names: BTreeMap::new(), searches, scenario, ids, dialects };
        let plain = position::calls(scenario).filter(|(place, _)| position::is_plain(scenario, *place));
        let others = position::calls(scenario).filter(|(place, _)| !position::is_plain(scenario, *place));
        let mut starter = None;
        for (place, call) in plain.chain(others) {
            let key = table.add(place, call);
            if place.within.is_none() {
                starter = Some(key);
            } else {
                table.calls[key.0 as usize].within = starter;
            }
            table.names.insert(&call.name, key);
        }
        table
    }

    /// True if a call starts a sub-agent.
    pub fn is_sub_agent(&self, key: CallKey) -> bool {
        self.scenario.tools.get(&self[key].tool).is_some_and(|tool| tool.agent)
    }

    /// The sub-agents that calls in the scenario start.
    pub fn sub_agents(&self) -> Vec<PlannedSubAgent> {
        let agent = |(_, call): (BlockPosition, &Call)| {
            let (said, key) = (call.agent.as_ref()?, self.find(&call.name)?);
            let last = |text: String| fragments(&sub_agents::last_words(&text, &self[key].marker));
            let mut replies: Vec<Script> = said.replies.iter().map(|blocks| self.script(blocks)).collect();
            if let Some(said) = replies.last_mut() {
                *said = Script::saying(last(said.text()));
            }
            Some(PlannedSubAgent { call: key, replies, refused: said.refused })
        };
        position::calls(self.scenario).filter_map(agent).collect()
    }

    /// The dialect of a turn.
    pub fn dialect(&self, turn: usize) -> Dialect {
        self.dialects.get(turn).copied().unwrap_or(self.ids.dialect)
    }

    /// The dialect of a turn, if it is not the plan's.
    pub fn other_dialect(&self, turn: usize) -> Option<Dialect> {
        Some(self.dialect(turn)).filter(|dialect| *dialect != self.ids.dialect)
    }

    /// The scenario whose calls these are.
    pub fn scenario(&self) -> &'a Scenario {
        self.scenario
    }

    /// The call with this name in the scenario.
    pub fn find(&self, name: &str) -> Option<CallKey> {
        self.names.get(name).copied()
    }

    /// The names of the calls that the scenario wrote, in the order of their keys.
    pub fn written_names(&self) -> Vec<&str> {
        let calls = (0..).map(CallKey).zip(&self.calls);
        let written = calls.filter(|(key, call)| self.find(&call.name) == Some(*key));
        written.map(|(_, call)| call.name.as_str()).collect()
    }

    /// The names of the calls in a turn.
    pub fn names_in(&self, turn: usize) -> Vec<&'a str> {
        self.names.iter().filter(|(_, key)| self[**key].turn == turn).map(|(name, _)| *name).collect()
    }

    /// The calls that the scenario wrote for a turn, in file order.
    pub fn of_turn(&self, turn: usize) -> Vec<CallKey> {
        let mut keys: Vec<CallKey> =
            self.names.values().copied().filter(|key| self[*key].turn == turn).collect();
        keys.sort_unstable();
        keys
    }

    /// A reply, with every attempt that the scenario wrote.
    pub fn reply(&self, said: &Reply) -> PlannedReply {
        let (interleave, stop, indices) = (said.interleave, said.stop, said.indices);
        let attempts = said.attempts.iter().map(|blocks| self.script(blocks));
        let attempts = attempts.map(|script| Script { interleave, stop, indices, ..script });
        PlannedReply { attempts: attempts.collect() }
    }

    fn script(&self, blocks: &[Block]) -> Script {
        Script::new(blocks.iter().flat_map(|block| self.blocks(block)).collect())
    }

    fn blocks(&self, block: &Block) -> Vec<ScriptBlock> {
        match block {
            Block::Think(text) => vec![ScriptBlock::Think(fragments(text))],
            Block::Text(text) => vec![ScriptBlock::Text(fragments(text))],
            Block::Call(call) => self.find(&call.name).map(ScriptBlock::Call).into_iter().collect(),
            Block::Search(_) | Block::Found(_) => self.searches.blocks(block),
        }
    }

    /// A copy of a reply's last attempt with new calls, as a retrying client gets it.
    pub fn again(&mut self, script: &Script, attempt: usize) -> Script {
        let searches = self.searches.again(script, self.ids);
        let search = |key: SearchKey| searches.get(&key).copied().unwrap_or(key);
        let mut block = |block: &ScriptBlock| match block {
            ScriptBlock::Call(key) => ScriptBlock::Call(self.call_again(*key, attempt)),
            ScriptBlock::Server(ServerBlock::Search(key)) => {
                ScriptBlock::Server(ServerBlock::Search(search(*key)))
            }
            ScriptBlock::Server(ServerBlock::Found(key)) => {
                ScriptBlock::Server(ServerBlock::Found(search(*key)))
            }
            ScriptBlock::Think(_) | ScriptBlock::Text(_) => block.clone(),
        };
        Script { blocks: script.blocks.iter().map(&mut block).collect(), ..script.clone() }
    }

    fn call_again(&mut self, key: CallKey, attempt: usize) -> CallKey {
        let scenario = self.scenario;
        let PlannedCall { turn, reply, name, .. } = &self[key];
        let (turn, reply) = (*turn, *reply);
        let written = position::calls(scenario).find(|(_, call)| call.name == *name);
        match written {
            Some((_, call)) => self.add(BlockPosition { turn, reply, attempt, block: 0, within: None }, call),
            None => key,
        }
    }

    /// Adds a call in the given history. It cannot be found by its name, because no turn refers to it.
    pub fn give(&mut self, message: usize, call: &Call) -> CallKey {
        let place = BlockPosition { turn: 0, reply: message, attempt: 0, block: 0, within: None };
        let key = self.add(place, call);
        let call = &mut self.calls[key.0 as usize];
        (call.given, call.hands_over) = (true, false);
        key
    }

    /// The id of a call that the given history has lost. The call is not one of the plan's calls, because no
    /// system can have it.
    pub fn lost_id(&self, n: u32, call: &Call) -> String {
        match &call.id {
            Some(CallId::Text(id)) => id.clone(),
            _ => self.ids.wire_id(FIRST_LOST + n, 0),
        }
    }

    /// Sets the outcome of a call in the given history.
    pub fn settle_given(&mut self, key: CallKey, outcome: ToolOutcome) {
        self.calls[key.0 as usize].outcome = outcome;
    }

    fn add(&mut self, place: BlockPosition, call: &Call) -> CallKey {
        let key = CallKey(self.calls.len() as u32);
        let marker = self.ids.marker(&call.name, key.0, self.calls.iter().map(|call| call.marker.as_str()));
        let own = call.args.iter().map(|(name, value)| (name.clone(), value.clone()));
        let args = match &call.agent {
            Some(agent) => sub_agent_arguments(&agent.asked, &marker),
            None => Value::Object(own.chain([(MARKER.to_owned(), Value::from(marker.as_str()))]).collect()),
        };
        let tool = &self.scenario.tools[&call.tool];
        let outcome = match &call.agent {
            Some(agent) => sub_agents::outcome(agent, &marker),
            None => tools::outcome(tool, &call.args, &marker),
        };
        let mut planned = PlannedCall {
            deltas: cut(&args.to_string(), call.deltas as usize),
            outcome,
            deaf: tool.deaf,
            asks: tool.asks,
            hangs: tool.hangs,
            hands_over: tool.hands_over,
            marker,
            turn: place.turn,
            reply: place.reply,
            attempt: place.attempt,
            ..PlannedCall::new(
                &call.name,
                self.ids.with(self.dialect(place.turn)).wire_id(key.0, place.attempt),
                &call.tool,
                args,
            )
        };
        let named = |name: &str| self.calls.iter().rev().find(|call| call.name == name);
        let is_gone = tool_changes::is_gone(self.scenario, call, (place.turn, place.reply));
        malformations::apply(&mut planned, call, (tool, is_gone), |name| {
            named(name).map(|call| call.id.clone())
        });
        if planned.is_invalid() {
            planned.outcome = ToolOutcome::Error("no system can run this call".to_owned());
            planned.hands_over = false;
        }
        self.calls.push(planned);
        key
    }
}

/// The number of the first lost call, from which its id is minted. It is larger than the number of calls in
/// any plan.
const FIRST_LOST: u32 = 1 << 16;

impl std::ops::Index<CallKey> for CallTable<'_> {
    type Output = PlannedCall;

    fn index(&self, key: CallKey) -> &PlannedCall {
        &self.calls[key.0 as usize]
    }
}
