//! Searches that the provider runs itself: checks them, and adds them to the plan.

use std::collections::BTreeMap;

use serde_json::json;

use crate::plan::{Plan, PlannedSearch, Script, ScriptBlock, SearchKey, ServerBlock};
use crate::scenario::{Block, Found, Reply, Scenario, Search, Stop, Turn};
use crate::wire;
use brickbat_rules::dialect::Dialect;

use super::fragments::cut;
use super::ids::IdSource;
use super::limits;
use super::position::BlockPosition;
use super::problem::{Problem, Problems};
use super::providers;
use super::tools;

/// The number of deltas in which a search query is sent.
const N_DELTAS: usize = 2;

/// The result of a search in the control plan if the scenario's turn ends before the search does.
const FOUND: &str = "A page";

/// The searches of a plan.
#[derive(Debug, Default)]
pub(super) struct SearchTable<'a> {
    pub searches: Vec<PlannedSearch>,
    names: BTreeMap<&'a str, SearchKey>,
}

impl<'a> SearchTable<'a> {
    /// The searches that the scenario wrote, in file order.
    pub fn of(scenario: &'a Scenario, ids: IdSource<'_>) -> SearchTable<'a> {
        let mut table = SearchTable::default();
        for (_, block) in blocks(scenario) {
            match block {
                Block::Search(Search { name, query, finds }) => {
                    let key = table.add(PlannedSearch {
                        name: name.clone(),
                        id: ids.search_id(table.searches.len() as u32),
                        query: query.clone(),
                        deltas: cut(&json!({ "query": query }).to_string(), N_DELTAS),
                        finds: finds.clone(),
                    });
                    table.names.insert(name, key);
                }
                Block::Found(Found { search, finds }) => {
                    if let Some(key) = table.find(search) {
                        table.searches[key.0 as usize].finds = Some(finds.clone());
                    }
                }
                Block::Think(_) | Block::Text(_) | Block::Call(_) => {}
            }
        }
        table
    }

    /// The search with this name in the scenario.
    pub fn find(&self, name: &str) -> Option<SearchKey> {
        self.names.get(name).copied()
    }

    /// The names of all searches.
    pub fn names(&self) -> Vec<&'a str> {
        self.names.keys().copied().collect()
    }

    /// The plan blocks for a scenario block: a search that ends immediately becomes two blocks.
    pub fn blocks(&self, block: &Block) -> Vec<ScriptBlock> {
        let of = |name: &str, made: &[fn(SearchKey) -> ServerBlock]| match self.find(name) {
            Some(key) => made.iter().map(|made| ScriptBlock::Server(made(key))).collect(),
            None => Vec::new(),
        };
        match block {
            Block::Search(search) if search.finds.is_some() => {
                of(&search.name, &[ServerBlock::Search, ServerBlock::Found])
            }
            Block::Search(search) => of(&search.name, &[ServerBlock::Search]),
            Block::Found(found) => of(&found.search, &[ServerBlock::Found]),
            Block::Think(_) | Block::Text(_) | Block::Call(_) => Vec::new(),
        }
    }

    /// New searches for the copy of a reply that a retrying client gets. Searches that have ended in the
    /// reply get new ids. A search that continues in the next reply keeps its id, by which that reply refers
    /// to it.
    pub fn again(&mut self, script: &Script, ids: IdSource<'_>) -> BTreeMap<SearchKey, SearchKey> {
        let is_over = |key: SearchKey| {
            let found = |block: ServerBlock| matches!(block, ServerBlock::Found(other) if other == key);
            script.server_blocks().any(found)
        };
        let called = script.server_blocks().filter(|block| matches!(block, ServerBlock::Search(_)));
        let mut again = BTreeMap::new();
        for key in called.map(ServerBlock::key).filter(|key| is_over(*key)) {
            let mut search = self.searches[key.0 as usize].clone();
            search.id = ids.search_id(self.searches.len() as u32);
            again.insert(key, self.add(search));
        }
        again
    }

    fn add(&mut self, search: PlannedSearch) -> SearchKey {
        let key = SearchKey(self.searches.len() as u32);
        self.searches.push(search);
        key
    }
}

/// Checks every search and every result.
pub(super) fn check(scenario: &Scenario, problems: &mut Problems) {
    let mut named: Vec<&str> = Vec::new();
    for (place, block) in blocks(scenario) {
        match block {
            Block::Search(search) => {
                let pointer = format!("{place}/search");
                tools::check_name(&format!("{pointer}/as"), "search", &search.name, problems);
                problems.add_if(named.contains(&search.name.as_str()), || {
                    let message = format!("two searches are named `{}`", search.name);
                    Problem::new(format!("{pointer}/as"), message)
                        .with_hint("give every search of the file its own name")
                });
                named.push(&search.name);
                limits::text(&format!("{pointer}/query"), "the query", &search.query, problems);
                if let Some(finds) = &search.finds {
                    limits::text(&format!("{pointer}/finds"), "what is found", finds, problems);
                }
            }
            Block::Found(found) => {
                limits::text(&format!("{place}/found/finds"), "what is found", &found.finds, problems);
            }
            Block::Think(_) | Block::Text(_) | Block::Call(_) => {}
        }
    }
    for (turn, said) in scenario.turns.iter().enumerate().filter(|(_, said)| said.searches()) {
        check_turn(turn, said, problems);
    }
    let pauses = scenario.turns.iter().any(|turn| turn.replies.iter().any(Reply::pauses));
    problems.add_if(pauses && scenario.limits.steps.is_some(), || {
        Problem::new("/limits/steps", "systems disagree on whether a reply that pauses is a step")
            .with_hint("leave out `steps` or `stop: pause`")
    });
}

/// Checks that each search has its result at an allowed position: after its call in the same reply, with no
/// text in between, or at the beginning of the next reply, if its own reply left it open.
fn check_turn(turn: usize, said: &Turn, problems: &mut Problems) {
    let mut waiting: Vec<&str> = Vec::new();
    for (index, reply) in said.replies.iter().enumerate() {
        let before = std::mem::take(&mut waiting);
        let base = format!("/turns/{turn}/replies/{index}");
        for (attempt, blocks) in reply.attempts.iter().enumerate() {
            let of_attempt = Attempt { base: format!("{base}/attempts/{attempt}"), blocks, before: &before };
            let open = of_attempt.check(problems);
            let is_left =
                reply.stop == Some(Stop::Pause) || blocks.iter().any(|block| block.call().is_some());
            problems.add_if(!open.is_empty() && !is_left, || {
                let message = format!("the reply ends before the search `{}` is over", open[0]);
                Problem::new(&of_attempt.base, message)
                    .with_hint("give it `finds`, or end the reply with `stop: pause` or with a call")
            });
            waiting = open;
        }
        let has_calls = || reply.calls().next().is_some();
        problems.add_if(reply.stop == Some(Stop::Pause) && reply.is_of_search() && has_calls(), || {
            Problem::new(format!("{base}/stop"), "a provider does not pause while a client call is open")
        });
        problems.add_if(reply.pauses() && index + 1 == said.replies.len(), || {
            Problem::new(format!("{base}/stop"), "nothing follows the pause")
                .with_hint("write the reply that follows it, even if the turn ends earlier")
        });
    }
}

/// One attempt of a reply.
struct Attempt<'a, 's> {
    base: String,
    blocks: &'s [Block],
    /// The searches of the previous reply that are not over.
    before: &'a [&'s str],
}

impl<'s> Attempt<'_, 's> {
    /// Returns the searches that are not over after the attempt.
    fn check(&self, problems: &mut Problems) -> Vec<&'s str> {
        let mut open: Vec<&str> = self.before.to_vec();
        let mut called = false;
        for (index, block) in self.blocks.iter().enumerate() {
            let pointer = |key: &str| format!("{}/{index}/{key}", self.base);
            match block {
                Block::Found(found) => match open.iter().position(|name| *name == found.search) {
                    Some(_) if called => problems.add(after_a_call(pointer("found"))),
                    Some(at) => drop(open.remove(at)),
                    None => problems.add(Problem::unknown(
                        pointer("found/search"),
                        "search that is not over",
                        &found.search,
                        "at this point, these are not:",
                        &open,
                    )),
                },
                Block::Search(search) if search.finds.is_some() && called => {
                    problems.add(after_a_call(pointer("search")))
                }
                Block::Search(search) if search.finds.is_none() && !is_waiting(&open, self.before) => {
                    open.push(&search.name);
                }
                Block::Call(_) if !is_waiting(&open, self.before) => called = true,
                Block::Search(_) | Block::Think(_) | Block::Text(_) | Block::Call(_) => {
                    if let Some(name) = open.first() {
                        let message =
                            format!("the search `{name}` is not over, and the model is waiting for it");
                        problems.add(
                            Problem::new(format!("{}/{index}", self.base), message)
                                .with_hint("move the `found` of the search before this block"),
                        );
                        return Vec::new();
                    }
                }
            }
        }
        open
    }
}

/// True if a search of the previous reply still awaits its result, which must come before everything else.
fn is_waiting(open: &[&str], before: &[&str]) -> bool {
    open.iter().any(|name| before.contains(name))
}

fn after_a_call(pointer: String) -> Problem {
    Problem::new(pointer, "the provider stops searching once a call waits for the client")
        .with_hint("move it before the call, or to the next reply")
}

/// The reason why a scenario cannot be run, if one of its providers does not run searches.
pub(super) fn impossible(scenario: &Scenario, first: Dialect) -> Option<String> {
    let dialects = providers::of_turns(scenario, first);
    let mut turns = scenario.turns.iter().zip(dialects).filter(|(turn, _)| turn.searches());
    let (_, dialect) = turns.find(|(_, dialect)| !wire::of(*dialect).searches())?;
    Some(format!("our {dialect} provider runs no tools itself"))
}

/// Removes the pauses from a control plan: each search ends where it is called, and a reply that paused is
/// merged with the reply that continues it.
pub(super) fn unpause(control: &mut Plan) {
    for search in control.searches.iter_mut().filter(|search| search.finds.is_none()) {
        search.finds = Some(FOUND.to_owned());
    }
    for turn in 0..control.turns.len() {
        let mut at = 0;
        while at < control.turns[turn].replies.len() {
            let replies = &mut control.turns[turn].replies;
            let pauses = replies[at].attempts.iter().any(Script::pauses) && at + 1 < replies.len();
            if !pauses {
                replies[at].attempts.iter_mut().for_each(close);
                at += 1;
                continue;
            }
            let next = replies.remove(at + 1);
            for (own, next) in replies[at].attempts.iter_mut().zip(next.attempts) {
                own.stop = next.stop;
                own.blocks.extend(next.blocks);
            }
            let later = control.calls.iter_mut().filter(|call| call.turn == turn && call.reply > at);
            later.for_each(|call| call.reply -= 1);
        }
    }
}

/// Moves each search result directly behind its call.
fn close(script: &mut Script) {
    let blocks = std::mem::take(&mut script.blocks);
    for block in blocks {
        match block {
            ScriptBlock::Server(ServerBlock::Found(_)) => {}
            ScriptBlock::Server(ServerBlock::Search(key)) => {
                script.blocks.extend([block, ScriptBlock::Server(ServerBlock::Found(key))]);
            }
            ScriptBlock::Think(_) | ScriptBlock::Text(_) | ScriptBlock::Call(_) => script.blocks.push(block),
        }
    }
}

/// Every block of a scenario with its position, in file order.
fn blocks(scenario: &Scenario) -> impl Iterator<Item = (BlockPosition, &Block)> {
    scenario.turns.iter().enumerate().flat_map(|(turn, said)| {
        said.replies.iter().enumerate().flat_map(move |(reply, said)| {
            said.attempts.iter().enumerate().flat_map(move |(attempt, said)| {
                let at = move |block| BlockPosition { turn, reply, attempt, block, within: None };
                said.iter().enumerate().map(move |(block, said)| (at(block), said))
            })
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lower::{control, plans};
    use crate::parse::Diagnostic;
    use crate::plan::CallKey;
    use crate::scenario::Need;

    const DIALECTS: [Dialect; 2] = [Dialect::AnthropicMessages, Dialect::OpenaiChat];

    fn lowered(replies: &str) -> Result<Vec<Plan>, Diagnostic> {
        let text = format!(
            "schema: 1\ncomment: A search.\nclass: [server-tool]\n\
             tools: {{ t: {{ returns: fine }} }}\nturns:\n- user: Go.\n  replies:\n{replies}"
        );
        plans("x", "x.yaml", &text, &DIALECTS, 0)
    }

    #[test]
    fn a_search_becomes_two_blocks_with_one_id_if_the_provider_searches() {
        let plans = lowered("  - - search: { as: s, query: q, finds: f }\n    - text: Yes.\n").unwrap();
        let (search, found) = (ServerBlock::Search(SearchKey(0)), ServerBlock::Found(SearchKey(0)));
        let script = &plans[0].turns[0].replies[0].attempts[0];
        assert_eq!(script.server_blocks().collect::<Vec<_>>(), [search, found]);
        assert!(plans[0].searches[0].id.starts_with("srvtoolu_01"));
        assert!(plans[0].needs.contains(&Need::ServerTools) && plans[0].impossible.is_none());
        assert!(plans[1].impossible.as_ref().unwrap().contains("runs no tools itself"));
    }

    #[test]
    fn a_control_plan_has_no_pause() {
        let paused = "  - { blocks: [{ search: { as: s, query: q } }], stop: pause }\n\
                      \x20 - - found: { search: s, finds: f }\n    - call: { as: a, tool: t }\n\
                      \x20 - - text: Yes.\n";
        let plan = &lowered(paused).unwrap()[0];
        assert!(plan.turns[0].replies[0].attempts[0].pauses());
        let control = control(plan);
        assert_eq!(control.turns[0].replies.len(), 2);
        assert_eq!(control.calls[0].reply, 0);
        let script = &control.turns[0].replies[0].attempts[0];
        let key = SearchKey(0);
        let blocks = [ServerBlock::Search(key), ServerBlock::Found(key)].map(ScriptBlock::Server);
        assert_eq!(script.blocks, [&blocks[..], &[ScriptBlock::Call(CallKey(0))]].concat());
        assert_eq!(script.stop, None);
    }

    #[test]
    fn impossible_searches_are_rejected() {
        for (replies, message) in [
            ("  - - search: { as: s, query: q }\n    - text: Yes.\n", "the model is waiting for it"),
            ("  - - search: { as: s, query: q }\n", "ends before the search `s` is over"),
            ("  - - found: { search: s, finds: f }\n", "no search that is not over `s`"),
            (
                "  - - call: { as: a, tool: t }\n    - search: { as: s, query: q, finds: f }\n  - - text: Yes.\n",
                "stops searching once a call waits",
            ),
            ("  - { blocks: [{ search: { as: s, query: q } }], stop: pause }\n", "nothing follows the pause"),
            (
                "  - { blocks: [{ search: { as: s, query: q } }], stop: pause }\n  - - text: Yes.\n",
                "the search `s` is not over",
            ),
            ("  - - search: { as: s, query: ' ', finds: f }\n", "the query is empty"),
            (
                "  - - search: { as: s, query: q, finds: f }\n    - search: { as: s, query: q, finds: f }\n",
                "two searches are named `s`",
            ),
        ] {
            let error = lowered(replies).unwrap_err().to_string();
            assert!(error.contains(message), "{replies}{error}");
        }
    }
}
